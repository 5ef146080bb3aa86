"""A Bokeh document inside ipywidgets that stays right when the page is reloaded, and downloads."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

from bokeh.document import Document
from bokeh.events import DocumentReady
from bokeh.models import ColumnDataSource, CustomJS, LayoutDOM
from bokeh.protocol import Protocol
from jupyter_bokeh import BokehModel

from workbench.panels.spoken import SPEAK
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
# tests/browser/test_tuning_study_panel.py holds that none of them is sent.
_TELL_OWN = """
const tell = cb_obj._trigger_on_change.bind(cb_obj)
cb_obj._trigger_on_change = event => {
  if ((event.events ?? [event]).some(one => one.sync)) {
    tell(event)
  }
}
"""


class LiveView(BokehModel):  # type: ignore[misc]
    """A view of a layout that is written to from Python.

    A plain `BokehModel` keeps the document as it was when it was made, so that a page which is
    loaded again, or a second view, would show old data; this one hands out the present document.
    Its page tells of what happens there, and does not send back what it was told.

    Args:
        model: the layout.
        options: of the widget.
    """

    _held: list[Any] | None = None
    _heard: frozenset[str] = frozenset()

    def __init__(self, model: LayoutDOM, **options: Any) -> None:
        document = model.document
        if document is None:
            document = Document()
            document.add_root(model)
        document.js_on_event(DocumentReady, CustomJS(code=_TELL_OWN), CustomJS(code=SPEAK))
        super().__init__(model, **options)

    def hear(self, source: ColumnDataSource) -> None:
        """Take back from the page what is selected in a source: a click on what it draws.

        Args:
            source: of the view's document; its ``selected.on_change`` tells of clicks.
        """
        self._heard |= {source.selected.id}

    @contextmanager
    def one_patch(self) -> Iterator[None]:
        """Send everything that is written inside as one patch, which the page draws at once."""
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
        if self._held is not None:
            self._held.append(event)
        else:
            self._send_patch([event])

    def _sync_model(self, model: Any, content: dict[str, Any], buffers: list[Any]) -> None:
        """Take back what is selected and nothing else: other echoes are older than what is here."""
        changed = content.get("model")
        about = changed.get("id") if isinstance(changed, dict) else None
        if about in self._heard and content.get("attr") == "indices":
            super()._sync_model(model, content, buffers)

    def _send_patch(self, events: list[Any]) -> None:
        message = Protocol().create("PATCH-DOC", events)
        for part in (message.header_json, message.metadata_json, message.content_json):
            self.send({"msg": "patch", "payload": part})
        for buffer in message.buffers:
            self.send({"msg": "patch", "payload": json.dumps(buffer.ref)})
            self.send({"msg": "patch"}, [buffer.to_bytes()])

    def get_state(self, key: Any = None, drop_defaults: bool = False) -> dict[str, Any]:
        """Return the widget's state with the document as it is now.

        Args:
            key: names of the traits that are asked for; None for all.
            drop_defaults: leave out traits that have their default.
        """
        if key is None and self._model.document is not None:
            self._trait_values["render_bundle"] = self._model_to_traits(self._model)
        return dict(super().get_state(key, drop_defaults))


class WindowView(LiveView):
    """A live view whose page tells Python which window of a figure it shows."""

    _asked: str = ""

    def hear_windows(self, asked: ColumnDataSource, told: Callable[[], None]) -> None:
        """Take back the window that a page writes into a source.

        Args:
            asked: of the view's document.
            told: called after each.
        """
        self._asked = asked.id
        asked.on_change("data", lambda _attr, _old, _new: told())

    def _sync_model(self, model: Any, content: dict[str, Any], buffers: list[Any]) -> None:
        changed = content.get("model")
        about = changed.get("id") if isinstance(changed, dict) else None
        if about is not None and about == self._asked and content.get("attr") == "data":
            # Past what LiveView lets through, selections only.
            super(LiveView, self)._sync_model(model, content, buffers)
        else:
            super()._sync_model(model, content, buffers)


def renew(*views: LiveView) -> None:
    """Send the documents as they are now, before they are shown: what was drawn since is in them.

    Patches that were sent while no page showed a view have reached nobody.

    Args:
        views: the views that are about to be shown.
    """
    for view in views:
        view.update_from_model(view._model)


class Downloads:
    """Hands files to the browser through a live document: no server route, no limit of a link.

    Works wherever the figure itself works, JupyterLab and Voilà alike, and needs no network.
    """

    def __init__(self, layout: LayoutDOM) -> None:
        self._file = ColumnDataSource(data={"token": [], "name": [], "mime": [], "base64": []})
        self._file.js_on_change("data", CustomJS(code=_SAVE_BYTES))
        self._picture = ColumnDataSource(data={"token": [], "name": [], "caption": []})
        self._picture.js_on_change("data", CustomJS(args={"layout": layout}, code=_SAVE_PICTURE))
        # Only what hangs on the document reaches the browser; the tags carry the two sources.
        layout.tags = [*layout.tags, self._file, self._picture]

    def offer(self, name: str, content: str | bytes, mime: str = "text/plain") -> None:
        """Let the browser save a file.

        Args:
            name: file name that is proposed.
            content: text, written as UTF-8, or bytes.
            mime: media type.
        """
        data = content.encode() if isinstance(content, str) else content
        self._file.data = {
            "token": [uuid4().hex],
            "name": [name],
            "mime": [mime],
            "base64": [base64.b64encode(data).decode("ascii")],
        }

    def offer_picture(self, name: str, caption: str = "") -> None:
        """Let the browser save the layout as a picture for a paper, the same on every screen.

        Args:
            name: file name that is proposed, with ``.png`` or ``.svg``.
            caption: written below the drawing, such as where the values come from.
        """
        self._picture.data = {"token": [uuid4().hex], "name": [name], "caption": [caption]}
