"""What a notebook's file holds of a panel or a figure: its last picture, shown where none lives.

The widget itself is in the kernel, and nothing of it in the file. Its picture is an output of its
own below it, as JupyterLab would show no fallback in one and the same output; the widget hides it.
"""

from __future__ import annotations

import base64
from typing import Any

import ipywidgets as widgets
from bokeh.io.notebook import CommsHandle, install_notebook_hook, load_notebook, show_app, show_doc
from bokeh.models import LayoutDOM
from IPython.display import display

from workbench.panels.live_view import LiveView
from workbench.panels.session.page import is_of_voila

HINT = "Run → Run All Cells makes this live."

_VIEW = "application/vnd.jupyter.widget-view+json"
_CLASS = "workbench-picture"


class LastPicture:
    """A box of widgets in a notebook, and the last picture of its figures, which it hides."""

    def __init__(self, widget: Any) -> None:
        self._widget = widget
        self._name = f"{_CLASS}-{widget.model_id}"
        self._view: LiveView | None = None
        self._place: Any = None
        rule = widgets.HTML(f"<style>.{self._name} {{ display: none; }}</style>")
        rule.layout.display = "none"
        widget.children = (*widget.children, rule)

    def display(self, view: LiveView | None) -> None:
        """Display the widget, and on a page that can be saved the picture of one of its views."""
        if is_of_voila():
            display(self._widget)  # type: ignore[no-untyped-call]
            return
        display(self._widget, include=[_VIEW])  # type: ignore[no-untyped-call]
        self._place = display(self._output(b""), raw=True, display_id=True)  # type: ignore[no-untyped-call]
        self.follow(view)

    def follow(self, view: LiveView | None) -> None:
        """Take the picture of another view from now on."""
        if self._place is None or view is self._view:
            return
        if self._view is not None:
            self._view.on_picture(None)
        self._view = view
        if view is not None:
            view.on_picture(self._take)

    def _take(self, png: bytes) -> None:
        self._place.update(self._output(png), raw=True)

    def _output(self, png: bytes) -> dict[str, str]:
        """Return the picture and the hint, which hide the message that the widget is missing."""
        data = base64.b64encode(png).decode("ascii")
        image = f'<img src="data:image/png;base64,{data}" alt="the last picture">' if png else ""
        missing = f":has(+ * .{self._name}) > .jupyter-widgets:not(:has(> *)) {{ display: none; }}"
        html = f"{image}<p><i>{HINT}</i></p><style>{missing}</style>"
        return {"text/html": f'<div class="{_CLASS} {self._name}">{html}</div>', "text/plain": HINT}


def show_figures_live() -> None:
    """Let a cell's figures be live views from now on, of which a file keeps the picture."""
    install_notebook_hook("jupyter", load_notebook, _show, show_app, overwrite=True)


def _show(figure: Any, state: Any, notebook_handle: Any) -> CommsHandle | None:
    if notebook_handle or not isinstance(figure, LayoutDOM):
        return show_doc(figure, state, notebook_handle)
    view = LiveView(figure, widgets.Layout(width="100%"))
    LastPicture(widgets.VBox([view])).display(view)
    return None
