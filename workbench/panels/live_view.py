"""A Bokeh document inside ipywidgets that survives a reload of the page, and downloads."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import ipywidgets as widgets
import traitlets
from anywidget import AnyWidget
from bokeh.document import Document
from bokeh.document.events import ColumnDataChangedEvent, DocumentPatchedEvent
from bokeh.models import ColumnDataSource, CustomJS, LayoutDOM, Plot
from bokeh.protocol import Protocol

from workbench.errors import ParameterError
from workbench.panels.kernel import on_loop
from workbench.plotting.picture import SAVE_PICTURE

# A second view of the panel runs the same code; the token lets only one of them save the file.
_SAVE_BYTES = """
const {token, name, mime, base64} = cb_obj.data
if (token.length > 0) {
  const seen = (window.workbenchDownloads ??= new Set())
  if (!seen.has(token[0])) {
    seen.add(token[0])
    const bytes = Uint8Array.from(atob(base64[0]), c => c.charCodeAt(0))
    const link = document.createElement('a')
    link.href = URL.createObjectURL(new Blob([bytes], {type: mime[0]}))
    link.download = name[0]
    link.click()
    setTimeout(() => URL.revokeObjectURL(link.href), 60000)
  }
}
"""

_SAVE_PICTURE = f"""
{SAVE_PICTURE}
const {{token, name, caption}} = cb_obj.data
if (token.length > 0) {{
  const seen = (window.workbenchDownloads ??= new Set())
  if (!seen.has(token[0]) && window.Bokeh.index.find_one(layout) != null) {{
    seen.add(token[0])
    savePicture(layout, name[0], caption[0])
  }}
}}
"""


_PAGE = "\n".join(
    Path(__file__).with_name(name).read_text(encoding="utf-8")
    for name in ("screen_reader.js", "undo_keys.js", "live_view.js")
)
AT_ONCE = "at once"
"""Tag of a model whose changes are sent also while its figure is out of sight."""
_EVERYWHERE = {"everywhere"}
_MOST_HELD = 100  # events; the whole document is sent after more of them


class LiveView(AnyWidget):
    """A view of a layout that Python updates; live_view.js draws it.

    The page draws the last sent document and applies the patches sent since; where it lacks some,
    as after a reload, it gets the present document. What changes in figures that no page has in
    sight, below the fold or in a closed tab, is sent when one has.
    """

    _esm = traitlets.Unicode(_PAGE).tag(sync=True)
    document = traitlets.Unicode().tag(sync=True)
    """The layout as BokehJS reads it, and the number of patches it holds."""
    figures: Any = traitlets.List().tag(sync=True)
    """Identifiers of the figures, of which the page reports whether they are in sight."""
    heard: Any = traitlets.List().tag(sync=True)
    """Identifier and property of each model that Python listens to."""
    pictured = traitlets.Bool().tag(sync=True)
    """Whether the page sends a picture whenever the figures have come to rest."""

    def __init__(self, model: LayoutDOM, layout: widgets.Layout | None = None) -> None:
        self.figure = model
        if model.document is None:
            Document().add_root(model)
        self._number = self._inside = 0
        self._documents_number = 0  # of patches that the last sent document holds
        self._events: list[Any] = []
        self._behind = False
        self._in_sight: dict[str, dict[str, bool]] = {}
        self._figures_of: dict[str, set[str]] = {}
        self._shown: Callable[[], None] | None = None
        self._pictured: Callable[[bytes], None] | None = None
        figures = [one.id for one in model.select({"type": Plot})]
        super().__init__(
            document=self._written(), figures=figures, layout=layout or widgets.Layout()
        )
        model.document.on_change(self._changed)
        self.on_msg(lambda _view, content, buffers: on_loop(lambda: self.receive(content, buffers)))

    @property
    def drawn_by_a_page(self) -> bool:
        """Whether a page has drawn the view and still has it."""
        return bool(self._in_sight)

    def hear(self, source: ColumnDataSource) -> None:
        """Accept selections in a source from the page: clicks reach ``selected.on_change``."""
        self.heard = [*self.heard, [source.selected.id, "indices"]]

    def on_window(self, requests: ColumnDataSource, handler: Callable[[], None]) -> None:
        """Accept the windows that the page writes into a source; call ``handler`` after each."""
        self.heard = [*self.heard, [requests.id, "data"]]
        requests.on_change("data", lambda _attr, _old, _new: handler())

    def on_shown(self, action: Callable[[], None]) -> None:
        """Call an action each time a page has drawn the view."""
        self._shown = action

    def on_picture(self, action: Callable[[bytes], None] | None) -> None:
        """Call an action with the PNG of the figures when they have come to rest; None ends it."""
        self._pictured, self.pictured = action, action is not None

    def drawn(self, name: str) -> dict[str, Any] | None:
        """Return the data of the source with a name, None where there is none."""
        return next((dict(source.data) for source in self._sources(name)), None)

    def select(self, name: str, rows: Sequence[int]) -> None:
        """Select rows of the sources with a name, as a click on their points does."""
        for source in self._sources(name):
            source.selected.indices = list(rows)

    def selected(self, name: str) -> list[int] | None:
        """Return the selected rows of the source with a name, None where there is none."""
        return next((list(source.selected.indices) for source in self._sources(name)), None)

    def titles(self) -> list[str]:
        """Return the titles of the visible figures."""
        return [fig.title.text for fig in _visible_figures(self.figure)]

    def _sources(self, name: str) -> list[ColumnDataSource]:
        return list(self.figure.select({"type": ColumnDataSource, "name": name}))

    @contextmanager
    def one_patch(self) -> Iterator[None]:
        """Send all updates made inside, and inside of inner ones, as one patch, drawn at once."""
        self._inside += 1
        try:
            yield
        finally:
            self._inside -= 1
            self._send_events()

    def renew(self) -> None:
        """Send the present document, unless the last one sent is the present one."""
        if self._events or self._behind or self._documents_number != self._number:
            self._events, self._behind = [], False
            self._documents_number = self._number
            self.document = self._written()

    def _written(self) -> str:
        """Return the document as JSON, with the number of patches that are part of it."""
        document = self.figure.document.to_json(deferred=False)
        item = {"number": self._number, "root_id": self.figure.id, "doc": document}
        return json.dumps(item, separators=(",", ":"))

    def _changed(self, event: Any) -> None:
        """Note a change of the document."""
        if not isinstance(event, DocumentPatchedEvent) or event.setter is self:
            return
        # A property that changes twice is laid out once, and not at all if it changes back.
        if isinstance(event, ColumnDataChangedEvent) and event.cols is None:
            self._events = [one for one in self._events if not _same_data(one, event)]
        if not any(held.combine(event) for held in self._events):
            self._events.append(event)
        if isinstance(getattr(event, "model", None), LayoutDOM):
            self._figures_of.clear()
        if not self._inside:
            self._send_events()

    def _send_events(self) -> None:
        """Send what was noted as one patch; what nobody can see stays noted."""
        now, self._events = self._events, []
        unseen = self._unseen()
        if unseen and not any(map(_is_urgent, now)):
            self._events = [one for one in now if self._places(one) <= unseen]
            now = [one for one in now if one not in self._events]
        if len(self._events) > _MOST_HELD:
            self._events, self._behind = [], True
        if self._behind and not unseen:
            self.renew()
        elif now:
            patch = Protocol().create("PATCH-DOC", now)
            self._number += 1
            content = {"number": self._number, "patch": patch.content_json}
            arrays = [buffer.ref["id"] for buffer in patch.buffers]
            self.send(content | {"arrays": arrays}, [one.to_bytes() for one in patch.buffers])

    def _unseen(self) -> set[str]:
        """Return the figures that are out of sight on all pages."""
        views = self._in_sight.values()
        return {one for one in self.figures if views and not any(v.get(one, True) for v in views)}

    def _places(self, event: Any) -> set[str]:
        """Return the figures that an event changes, `_EVERYWHERE` where that is not known."""
        id = getattr(getattr(event, "model", None), "id", "")
        if id not in self._figures_of:
            for figure in self.figure.select({"type": Plot}):
                for one in figure.references():
                    self._figures_of.setdefault(one.id, set()).add(figure.id)
        return self._figures_of.get(id, _EVERYWHERE)

    def receive(self, content: Mapping[str, Any], buffers: Sequence[Any] = ()) -> None:
        """Take a message of a page: what it has drawn, has in sight or lacks, or a change."""
        kind, view = content.get("kind"), content.get("view", "")
        if kind == "changed":
            changed = self.figure.document.get_model_by_id(content["id"])
            if changed is not None and [changed.id, content["attr"]] in self.heard:
                changed.set_from_json(content["attr"], content["value"], setter=self)
        elif kind == "picture":
            if self._pictured is not None:
                self._pictured(bytes(buffers[0]))
        elif kind == "gone":
            self._in_sight.pop(view, None)
        elif kind == "lacks":
            # Else it asked before the present document reached it.
            if content["number"] >= self._documents_number:
                self.renew()
        elif kind in ("shown", "seen"):
            self._in_sight.setdefault(view, {}).update(content.get("seen", ()))
            if kind == "shown" and content["number"] < self._number:
                # Behind the patches that are on their way, the page compares it with what it has.
                self.send({"number": self._number})
            self._send_events()
            if kind == "shown" and self._shown is not None:
                self._shown()


def _is_urgent(event: Any) -> bool:
    """Return whether an event is sent at once, with all that was noted before."""
    # A figure that appears, and one that is saved, must not show old values.
    model = getattr(event, "model", None)
    return isinstance(model, LayoutDOM) or AT_ONCE in getattr(model, "tags", ())


def _same_data(event: Any, later: ColumnDataChangedEvent) -> bool:
    """Return whether an event is about the data that a later one replaces as a whole."""
    about = getattr(event, "model", None), getattr(event, "attr", None)
    return about == (later.model, later.attr)


def _visible_figures(layout: Any) -> Iterator[Plot]:
    """Yield the visible figures of a layout, from the top down."""
    if layout.visible and isinstance(layout, Plot):
        yield layout
    elif layout.visible:
        for child in getattr(layout, "children", ()):
            yield from _visible_figures(child[0] if isinstance(child, tuple) else child)


class Downloads:
    """Sends files to the browser through a live document, without a server route or size limit."""

    def __init__(self, layout: LayoutDOM) -> None:
        self._file = ColumnDataSource(
            data={"token": [], "name": [], "mime": [], "base64": []}, name="file", tags=[AT_ONCE]
        )
        self._file.js_on_change("data", CustomJS(code=_SAVE_BYTES))
        self._picture = ColumnDataSource(
            data={"token": [], "name": [], "caption": []}, name="picture", tags=[AT_ONCE]
        )
        self._picture.js_on_change("data", CustomJS(args={"layout": layout}, code=_SAVE_PICTURE))
        # Only models that the document refers to reach the browser; the tags carry the two sources.
        layout.tags = [*layout.tags, self._file, self._picture]

    def offer(self, name: str, content: str | bytes, mime: str = "text/plain") -> None:
        """Let the browser save text (as UTF-8) or bytes under a file name."""
        data = content.encode() if isinstance(content, str) else content
        self._file.data = {
            "token": [uuid4().hex],
            "name": [name],
            "mime": [mime],
            "base64": [base64.b64encode(data).decode("ascii")],
        }

    def offer_picture(self, name: str, caption: str = "") -> None:
        """Let the browser save the layout as ``.png`` or ``.svg``, with a caption below it."""
        self._picture.data = {"token": [uuid4().hex], "name": [name], "caption": [caption]}


class ShownDownloads(Downloads):
    """Sends files through a live part of the page, and pictures through the shown figure."""

    def __init__(self, carrier: LayoutDOM, shown: Callable[[], Downloads | None]) -> None:
        super().__init__(carrier)
        self._shown = shown

    def offer_picture(self, name: str, caption: str = "") -> None:
        """Let the browser save the shown figure, with a caption below it."""
        downloads = self._shown()
        if downloads is None:
            raise ParameterError("a picture needs a figure, and none is drawn yet")
        downloads.offer_picture(name, caption)
