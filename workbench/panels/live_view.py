"""A Bokeh document inside ipywidgets that survives a reload of the page, and downloads."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import ipywidgets as widgets
from bokeh.core.serialization import Serializer
from bokeh.document import Document
from bokeh.events import DocumentReady
from bokeh.models import ColumnDataSource, CustomJS, LayoutDOM, Plot
from bokeh.protocol.messages.patch_doc import patch_doc
from jupyter_bokeh import BokehModel

from workbench.errors import ParameterError
from workbench.panels.quick_layers import QUICK_LAYERS
from workbench.panels.quick_redraw import QUICK_REDRAW
from workbench.panels.quick_segments import QUICK_SEGMENTS
from workbench.panels.screen_reader import LABEL_SLIDERS
from workbench.panels.session.keys import UNDO_KEYS
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


# jupyter_bokeh sends every change of a document to the kernel, also those that have just come from
# there; BokehJS marks these as not to be synced, and sends none of them by itself.
# tests/browser/test_search_comparison_panel.py holds that none of them is sent.
_TELL_OWN = """
const tell = cb_obj._trigger_on_change.bind(cb_obj)
cb_obj._trigger_on_change = event => {
  if ((event.events ?? [event]).some(one => one.sync)) {
    tell(event)
  }
}
"""


class LiveView(BokehModel):  # type: ignore[misc]
    """A view of a layout that Python updates."""

    # BokehModel keeps the document as it was at the start: a reloaded page or a second view would
    # show old data. This one sends the present document, and its page does not send updates back.

    _held: list[Any] | None = None
    _heard: frozenset[str] = frozenset()

    def __init__(self, model: LayoutDOM, layout: widgets.Layout | None = None) -> None:
        document = model.document
        if document is None:
            document = Document()
            document.add_root(model)
        scripts = (_TELL_OWN, LABEL_SLIDERS, UNDO_KEYS, QUICK_REDRAW, QUICK_SEGMENTS, QUICK_LAYERS)
        for code in scripts:
            document.js_on_event(DocumentReady, CustomJS(code=code))
        super().__init__(model, layout=layout or widgets.Layout())

    def hear(self, source: ColumnDataSource) -> None:
        """Accept selections in a source from the page: clicks reach ``selected.on_change``."""
        self._heard |= {source.selected.id}

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
        return [fig.title.text for fig in _visible_figures(self._model)]

    def _sources(self, name: str) -> list[ColumnDataSource]:
        return list(self._model.select({"type": ColumnDataSource, "name": name}))

    @contextmanager
    def one_patch(self) -> Iterator[None]:
        """Send all updates made inside, and inside of inner ones, as one patch, drawn at once."""
        if self._held is not None:
            yield
            return
        self._held = []
        try:
            yield
        finally:
            events, self._held = self._held, None
            if events:
                self._send_patch(events)

    def _document_patched(self, event: Any) -> None:
        if event.setter is self:
            return
        if self._held is None:
            self._send_patch([event])
        # A property that changes twice is laid out once, and not at all if it changes back.
        elif not any(held.combine(event) for held in self._held):
            self._held.append(event)

    def _sync_model(self, model: Any, content: dict[str, Any], buffers: list[Any]) -> None:
        """Accept selections only: other echoes from the page are older than the present state."""
        changed = content.get("model")
        about = changed.get("id") if isinstance(changed, dict) else None
        if about in self._heard and content.get("attr") == "indices":
            super()._sync_model(model, content, buffers)

    def _send_patch(self, events: list[Any]) -> None:
        # Arrays inside the content: each takes two messages by itself, of which a space-time
        # diagram has 30. 147 messages a move are 17 then (tests/benchmarks/test_slider.py).
        models = self._model.document.models
        serializer = Serializer(references=models.synced_references, deferred=False)
        content = patch_doc(patch_doc.create_header(), {}, {"events": serializer.encode(events)})
        models.flush_synced(lambda model: not serializer.has_ref(model))
        for part in (content.header_json, content.metadata_json, content.content_json):
            self.send({"msg": "patch", "payload": part})

    def update_from_model(self, model: LayoutDOM) -> None:
        """Show a layout; `get_state` writes it as JSON, which takes time, when it is sent."""
        self._model = model
        model.document.on_change_dispatch_to(self)

    def get_state(self, key: Any = None, drop_defaults: bool = False) -> dict[str, Any]:
        """Return the widget's state with the present document; ``key`` None means all traits."""
        if key is None or key == "render_bundle":
            self._trait_values["render_bundle"] = self._model_to_traits(self._model)
        return dict(super().get_state(key, drop_defaults))


def _visible_figures(layout: Any) -> Iterator[Plot]:
    """Yield the visible figures of a layout, from the top down."""
    if layout.visible and isinstance(layout, Plot):
        yield layout
    elif layout.visible:
        for child in getattr(layout, "children", ()):
            yield from _visible_figures(child[0] if isinstance(child, tuple) else child)


class WindowView(LiveView):
    """A live view whose page reports the visible window of a figure."""

    _requests: str = ""

    def on_window(self, requests: ColumnDataSource, handler: Callable[[], None]) -> None:
        """Accept the windows that the page writes into a source; call ``handler`` after each."""
        self._requests = requests.id
        requests.on_change("data", lambda _attr, _old, _new: handler())

    def _sync_model(self, model: Any, content: dict[str, Any], buffers: list[Any]) -> None:
        changed = content.get("model")
        about = changed.get("id") if isinstance(changed, dict) else None
        if about is not None and about == self._requests and content.get("attr") == "data":
            # Bypasses LiveView, which accepts selections only.
            super(LiveView, self)._sync_model(model, content, buffers)
        else:
            super()._sync_model(model, content, buffers)


def renew(*views: LiveView) -> None:
    """Send the present documents, before the views are shown."""
    # Patches that were sent while no page showed a view are lost.
    for view in views:
        view.send_state("render_bundle")


class Downloads:
    """Sends files to the browser through a live document, without a server route or size limit."""

    def __init__(self, layout: LayoutDOM) -> None:
        self._file = ColumnDataSource(
            data={"token": [], "name": [], "mime": [], "base64": []}, name="file"
        )
        self._file.js_on_change("data", CustomJS(code=_SAVE_BYTES))
        self._picture = ColumnDataSource(
            data={"token": [], "name": [], "caption": []}, name="picture"
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
