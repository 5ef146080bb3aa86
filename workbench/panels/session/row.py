"""The row of a panel's session: undo and redo, save, open, and copy a link."""

from __future__ import annotations

import html
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import ipywidgets as widgets

from workbench.panels.error_line import ErrorLine
from workbench.panels.kernel import after_each_cell, kernel_loop
from workbench.panels.session.history import UndoHistory
from workbench.panels.session.page import page_of, session_of_page
from workbench.panels.session.session import Files, Session, read_session
from workbench.panels.style import push_button, wrapping_row
from workbench.panels.upload import Upload

if TYPE_CHECKING:
    from workbench.panels.session.carrier import Carrier

_UNDO, _REDO = "workbench-undo", "workbench-redo"
"""CSS classes of two buttons, which undo_keys.js presses."""

_QUIET_S = 0.6
"""Time without a change after which the changes before it are one step of undo."""


class HasSession(Protocol):
    """A panel, as its row uses it."""

    _history: UndoHistory

    @property
    def controls(self) -> Mapping[str, Any]:
        """The controls of the settings, by name."""

    def session(self) -> Session:
        """Return the present state."""

    def load_session(self, source: Session) -> tuple[str, ...]:
        """Restore a state; return a sentence for each setting that it lacks."""

    def _move(self, by: int) -> bool:
        """Go some steps of undo ahead, or back if negative."""


class SessionRow:
    """The buttons, what they say, and their errors."""

    def __init__(self, panel: HasSession) -> None:
        self._panel = panel
        self._carrier: Carrier | None = None
        self._loop: Any = None
        self._changed_at, self._waits = 0.0, False
        self.undo = push_button("↶ Undo", "Undo the last change (Ctrl+Z)", width="76px")
        self.redo = push_button("↷ Redo", "Redo it (Ctrl+Shift+Z)", width="76px")
        self.save = push_button(
            "Save session", "Save the state of all controls as a small file", width="108px"
        )
        self.error = ErrorLine()
        self.open = Upload(
            "Open session",
            self._open,
            self.error,
            width="108px",
            tooltip="Open a state that was saved here or on another machine",
            accept=".json",
        )
        self.copy = push_button(
            "Copy link", "Copy a link that opens this state in Voilà", width="88px"
        )
        self._said = widgets.HTML()
        self._place = widgets.VBox()
        buttons = (self.undo, self.redo, self.save, self.open, self.copy)
        self.widget = widgets.VBox([wrapping_row(*buttons, self._said), self.error, self._place])
        self.undo.add_class(_UNDO)
        self.redo.add_class(_REDO)
        self.undo.disabled = self.redo.disabled = True
        self.undo.on_click(lambda _: self._move(-1))
        self.redo.on_click(lambda _: self._move(1))
        self.save.on_click(lambda _: self._guarded(self._save))
        self.copy.on_click(lambda _: self._guarded(self._copy))

    @property
    def views(self) -> Sequence[Any]:
        """The live view of what was sent to the page, if there is one."""
        return tuple(self._place.children)

    def say(self, sentences: Iterable[str]) -> None:
        """Show sentences beside the buttons."""
        self._said.value = "<br>".join(html.escape(f"{one}.") for one in sentences)

    def open_page(self) -> None:
        """Open the session in the page's address, if there is one for this panel."""
        self._guarded(self._open_page)

    def watch(self) -> None:
        """Notice changes of the controls, which are as many steps of undo as there are pauses."""
        self._loop = kernel_loop()
        for control in _parts(self._panel.controls.values()):
            control.observe(self._noticed, "value")
        self._panel._history.settle()
        self._free()

    def _open_page(self) -> None:
        session = session_of_page(type(self._panel).__name__)
        if session is None:
            return
        self._load(session, "Opened from the link")
        # Voilà runs the whole notebook, whose further cells set the panel to other values.
        opened = self._panel.session()
        after_each_cell(lambda: self.error.guard(lambda: self._keep(opened)))

    def _keep(self, session: Session) -> None:
        """Open a session again if the panel is in another state."""
        if self._panel.session() != session:
            self._panel.load_session(session)
            self._free()

    def _load(self, session: Session, done: str) -> None:
        said = self._panel.load_session(session)
        self.say([done, *said])
        self._free()

    def _save(self) -> None:
        session = self._panel.session()
        name = f"{session.panel}-session.json"
        self._carry().save(name, session.to_json())
        self.say([f"{name} was sent to the browser", *session.notes])

    def _copy(self) -> None:
        session = self._panel.session()
        query = session.to_query()
        self._carry().copy(query, page_of(session.panel))
        self.say(session.notes)

    def _carry(self) -> Carrier:
        """Return the document that sends files and links to the page; made at the first use."""
        if self._carrier is None:
            from workbench.panels.session.carrier import Carrier

            self._carrier = Carrier()
            self._place.children = [self._carrier.view]
        return self._carrier

    def _open(self, files: Files) -> None:
        ((name, content),) = files.items()
        self.say(())
        self._load(read_session(content), f"{name} is open")

    def _guarded(self, action: Any) -> None:
        self.error.say("")
        self.say(())
        self.error.guard(action)

    def _move(self, by: int) -> None:
        self._panel._move(by)
        self._free()

    def _noticed(self, _change: Any) -> None:
        """Take the settings as a step once the controls have been left alone for a while."""
        self._changed_at = time.monotonic()
        if self.undo.disabled:
            self.undo.disabled = False
        if self._loop is not None and not self._waits:
            self._waits = True
            self._loop.call_soon_threadsafe(self._loop.call_later, _QUIET_S, self._settle)

    def _settle(self) -> None:
        left = self._changed_at + _QUIET_S - time.monotonic()
        if left > 0:
            self._loop.call_later(left, self._settle)
            return
        self._waits = False
        self.watch()

    def _free(self) -> None:
        """Enable the buttons that have a step to go."""
        back, ahead = self._panel._history.steps
        self.undo.disabled, self.redo.disabled = not back, not ahead


def _parts(controls: Iterable[Any]) -> Iterator[Any]:
    """Yield the widgets that hold the settings: a slider has two, its handle and its text."""
    for control in controls:
        held = [getattr(control, name, None) for name in ("input", "text")]
        for one in held if any(held) else [control]:
            if isinstance(one, widgets.Widget) and not isinstance(one, Upload):
                yield one
