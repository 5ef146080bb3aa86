"""The visible parts of a panel: widgets of the open tabs, and their text."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Any

import ipywidgets as widgets

_LINE = re.compile(r"</?(?:div|p|br|li|ul|tr|table|caption|h\d|pre)\b[^>]*>")
_CELL = re.compile(r"</t[dh]>")
_TAG = re.compile(r"<[^>]+>")
_SPACES = re.compile(r"[ \n]*\n[ \n]*")


def visible_widgets(widget: Any) -> Iterator[Any]:
    """Yield a widget and the visible ones inside it, from the top down."""
    layout = getattr(widget, "layout", None)
    if layout is not None and layout.display == "none":
        return
    yield widget
    children = getattr(widget, "children", ())
    if isinstance(widget, widgets.Tab):
        children = children[widget.selected_index or 0 :][:1]
    elif isinstance(widget, widgets.Accordion):
        children = () if widget.selected_index is None else [children[widget.selected_index]]
    for child in children:
        yield from visible_widgets(child)


def plain_text(marked: str) -> str:
    """Return the text of HTML: a line for each block, tabs between the cells of a table."""
    text = _TAG.sub("", _CELL.sub("\t", _LINE.sub("\n", marked)))
    return _SPACES.sub("\n", html.unescape(text)).strip()


def visible_text(widget: Any) -> str:
    """Return the visible sentences, tables and code inside a widget, without those of controls."""
    shown = (
        one for one in visible_widgets(widget) if isinstance(one, (widgets.HTML, widgets.Textarea))
    )
    texts = (
        one.value if isinstance(one, widgets.Textarea) else plain_text(one.value) for one in shown
    )
    return "\n".join(text for text in texts if text)
