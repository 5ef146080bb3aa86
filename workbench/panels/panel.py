"""The common base of the panels: settings that are attributes, and jobs to wait for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar

import ipywidgets as widgets

from workbench import tasks
from workbench.errors import ParameterError
from workbench.panels.error_line import ErrorLine
from workbench.panels.job_controls import wait_for
from workbench.panels.kernel import after_each_cell
from workbench.panels.last_picture import LastPicture
from workbench.panels.live_view import LiveView
from workbench.panels.session.row import SessionRow
from workbench.panels.session.session import Session, read_session
from workbench.panels.session.stateful import Stateful
from workbench.panels.settings import Setting
from workbench.panels.style import is_stale, panel_box
from workbench.panels.ticker import Ticker
from workbench.panels.visible import visible_text, visible_widgets
from workbench.suggestions import MissingAttributeError, did_you_mean

_T = TypeVar("_T")


class Panel(Stateful, ABC, Generic[_T]):
    """A panel in a notebook whose settings are attributes; `wait` returns what it shows."""

    SETTINGS: ClassVar[tuple[str, ...]] = ()
    """Names of settings that are the values of the ``controls`` of these names."""

    NOT_SAVED: ClassVar[tuple[str, ...]] = ()
    """Those of them that are of this machine, or of a result: a session leaves them alone."""

    widget: Any
    _row: SessionRow | None = None
    _last_picture: LastPicture | None = None

    def __init__(self) -> None:
        super().__init__()
        self._ticker = Ticker(self.refresh)

    @property
    def controls(self) -> Mapping[str, Any]:
        """The controls of the settings, by name."""
        settings = self._all_settings().items()
        return {name: one.control for name, one in settings if one.control is not None}

    @property
    def buttons(self) -> dict[str, bool]:
        """The visible buttons by their text, and whether each can be pressed."""
        found: dict[str, bool] = {}
        for button in self._visible(widgets.Button):
            text = button.description
            found[text] = found.get(text, False) or not button.disabled
        return found

    @property
    def text(self) -> str:
        """The visible sentences, tables and code, as plain text."""
        return visible_text(self.widget)

    @property
    def figures(self) -> list[str]:
        """The titles of the visible figures, from the top down."""
        return [title for view in self._visible(LiveView) for title in view.titles()]

    @property
    def stale(self) -> bool:
        """Whether figures are dimmed, as they are of earlier values."""
        return any(map(is_stale, self._visible(widgets.DOMWidget)))

    @property
    def progress(self) -> list[float]:
        """The shares, 0 to 1, that the visible progress bars show, from the top down."""
        return [bar.value for bar in self._visible(widgets.FloatProgress)]

    @property
    def running(self) -> bool:
        """Whether a job runs in the background."""
        return any(job is not None for job in self._jobs())

    @property
    def error(self) -> str:
        """The error messages that the panel shows, empty where there are none."""
        own = [] if self._row is None else [self._row.error]
        return "\n".join(line.message for line in (*self._errors(), *own) if line.message)

    def press(self, text: str) -> None:
        """Press the visible button with a text."""
        if not self.buttons.get(text, False):
            known = [name for name, free in self.buttons.items() if free]
            raise ParameterError(
                f"button must be one of {', '.join(known)}; got {text!r}{did_you_mean(text, known)}"
            )
        buttons = self._visible(widgets.Button)
        next(one for one in buttons if one.description == text and not one.disabled).click()

    def open(self, title: str) -> None:
        """Open the visible tab with a title."""
        tabs = self._visible(widgets.Tab, widgets.Accordion)
        known = {name: (tab, at) for tab in tabs for at, name in enumerate(tab.titles)}
        if title not in known:
            raise ParameterError(
                f"tab must be one of {', '.join(known)}; got {title!r}{did_you_mean(title, known)}"
            )
        tab, at = known[title]
        tab.selected_index = at

    def drawn(self, name: str) -> dict[str, Any]:
        """Return the data of the figures' source with a name, each column by its name."""
        for view in self._live_views():
            data = view.drawn(name)
            if data is not None:
                return data
        raise ParameterError(f"no figure has a source named {name!r}")

    def select(self, name: str, *rows: int) -> None:
        """Click the points of some rows of the figures' source with a name."""
        self.drawn(name)
        for view in self._live_views():
            view.select(name, rows)

    def selected(self, name: str) -> list[int]:
        """Return the selected rows of the figures' source with a name."""
        self.drawn(name)
        return next(
            rows for view in self._live_views() if (rows := view.selected(name)) is not None
        )

    def session(self) -> Session:
        """Return the present state: the settings, and the user's own files among them.

        Returns:
            The state, to be saved, or opened in another panel of this class. Results of jobs are
            not in it; its ``notes`` name those that it lacks.
        """
        return self._session()

    def save_session(self, path: str | Path) -> Path:
        """Write the present state as a JSON file, see `session`.

        Args:
            path: file to write.

        Raises:
            ParameterError: the user's own files are too large for a session.
        """
        return self._session().save(path)

    def load_session(self, source: Session | str | Path) -> tuple[str, ...]:
        """Set the state of a session; nothing changes where it is refused.

        What chooses among results is set once the jobs that make them have ended, see `wait`.

        Args:
            source: the session, or its file.

        Returns:
            What the session lacks or holds too much, a sentence each.

        Raises:
            ParseError: the file is no session, damaged, or of a newer version.
            ParameterError: it is of another panel, or a value or a dataset in it is not known here.
        """
        session = source if isinstance(source, Session) else read_session(source)
        said = self._load(session)
        self.refresh()
        return said

    @classmethod
    def from_session(cls, source: Session | str | Path) -> Self:
        """Return a new panel with the state of a session.

        Args:
            source: the session, or its file.

        Raises:
            ParseError: the file is no session, damaged, or of a newer version.
            ParameterError: it is of another panel, or a value or a dataset in it is not known here.
        """
        panel = cls()
        panel.load_session(source)
        return panel

    def undo(self) -> bool:
        """Set the settings as they were before the last change; return whether there was one."""
        return self._move(-1)

    def redo(self) -> bool:
        """Set the settings as they were before the last `undo`; return whether there was one."""
        return self._move(1)

    def wait(self, timeout: float | None = None) -> _T:
        """Wait for all jobs, at most ``timeout`` seconds (None: no limit); return the result."""
        wait_for(self.refresh, timeout)
        return self._outcome()

    def refresh(self) -> bool:
        """Show progress and results, and return whether a job runs; the kernel's loop calls it."""
        running = self._refresh()
        if self._late and not running:
            refused = self._apply_late()
            if self._row is not None and refused:
                self._row.error.say("; ".join(refused))
            running = self._refresh()
        if self._last_picture is not None and not running:
            self._last_picture.follow(self._main_view())
        return running

    def _move(self, by: int) -> bool:
        """Go some steps of undo ahead, or back if negative; return whether there were as many."""
        moved = self._history.move(by)
        self.refresh()
        return moved

    def _boxed(self, children: list[Any]) -> Any:
        """Return the panel's outermost box: its parts, and below them the row of its session."""
        self._row = SessionRow(self)
        return panel_box([*children, self._row.widget])

    def _main_view(self) -> LiveView | None:
        """Return the first visible view of figures, whose picture the notebook's file holds."""
        return next((view for view in self._visible(LiveView) if view.titles()), None)

    def _visible(self, *kinds: type[Any]) -> list[Any]:
        """Return the visible widgets of some kinds, from the top down."""
        return [widget for widget in visible_widgets(self.widget) if isinstance(widget, kinds)]

    @abstractmethod
    def _live_views(self) -> Iterable[LiveView]:
        """Return the figures, which are sent again before they are shown."""

    @abstractmethod
    def _errors(self) -> list[ErrorLine]:
        """Return the lines for error messages, from the top of the panel down."""

    @abstractmethod
    def _outcome(self) -> _T:
        """Return the displayed result."""

    def _jobs(self) -> list[tasks.Job[Any] | None]:
        """Return the jobs that make the panel a running one."""
        return []

    def _refresh(self) -> bool:
        """Show progress and results, and return whether a job runs."""
        return False

    def _all_settings(self) -> Mapping[str, Setting]:
        controls, names = self.controls, self._setting_names()
        saved = [name for name in names if name not in self.NOT_SAVED]
        return {
            name: Setting(
                controls.get(name),
                session="at once" if name in saved else "no",
                attribute=name in names,
            )
            for name in dict.fromkeys((*names, *controls))
        }

    def _setting_names(self) -> tuple[str, ...]:
        return self.SETTINGS or super()._setting_names()

    def _ipython_display_(self) -> None:
        if self._row is not None:
            self._row.open_page()
            self._row.watch()
        for view in (*self._live_views(), *(() if self._row is None else self._row.views)):
            view.renew()
        if self._last_picture is None:
            self._last_picture = LastPicture(self.widget)
            after_each_cell(self._show_without_a_page)
        self._last_picture.display(self._main_view())

    def _show_without_a_page(self) -> None:
        """Show what jobs have computed where nobody looks yet, as when a notebook is converted."""
        views = list(self._live_views())
        if not any(view.drawn_by_a_page for view in views):
            if self._ticker.ticking:
                self.refresh()
            for view in views:
                view.renew()

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._setting_names()})

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or hasattr(type(self), name):
            # There, but a property that failed for an attribute of something else: its error.
            return object.__getattribute__(self, name)
        if name in self._setting_names():
            return self._get(name)
        raise MissingAttributeError(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_") or name == "widget":
            object.__setattr__(self, name, value)
        elif name in self._setting_names():
            if self._history.changed:
                self._history.settle()
            self._set(name, value)
            self._history.changed = True
        else:
            names = self._setting_names()
            hint = did_you_mean(name, names) or f"; {', '.join(names)} can"
            raise AttributeError(f"{name} cannot be set{hint}")
