"""The table of the papers' rows, and what ours of a row looks like."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Iterable
from typing import Any

import ipywidgets as widgets
import pandas as pd
from bokeh.layouts import column
from bokeh.models import Div, LayoutDOM

from workbench.findings import Finding, Findings
from workbench.html_table import bold, html_table
from workbench.panels import inputs
from workbench.papers import PaperIndex, PaperRow, figure_of
from workbench.plotting.theme import NOTE, TEXT

_COLUMNS = "display:grid;grid-template-columns:minmax(0,1fr) 110px 130px;column-gap:12px"
_HEAD = ("title", "data", "verdict")


class IndexTable:
    """A table of all rows, of which some are shown; the button of a row chooses it."""

    def __init__(self, rows: PaperIndex, chosen: Callable[[str], None]) -> None:
        # One layout and one style for all of them: each is a model of the page.
        wide, style = widgets.Layout(width="auto", height="auto", margin="0"), widgets.ButtonStyle()
        self._lines: dict[str, tuple[Any, Any]] = {}
        for row in rows:
            button = inputs.Button(description=row.id, layout=wide, style=style)
            button.on_click(lambda _, id=row.id: chosen(id))
            self._lines[row.id] = button, widgets.HTML(_line(row), layout=wide)
        self._body = widgets.GridBox(
            layout=widgets.Layout(
                grid_template_columns="190px minmax(0, 1fr)",
                grid_gap="2px 12px",
                max_height="330px",
                border="1px solid var(--jp-border-color2)",
                overflow="hidden auto",
                width="100%",
                flex="0 0 auto",
            )
        )
        self._body.add_class("workbench-index")
        head = widgets.HTML(_cells(_HEAD, bold), layout=widgets.Layout(margin="0 0 0 202px"))
        self.widget = widgets.VBox([head, self._body], layout=widgets.Layout(width="100%"))

    def show(self, rows: PaperIndex) -> None:
        """Show these rows."""
        self._body.children = [part for row in rows for part in self._lines[row.id]]

    def mark(self, chosen: str) -> None:
        """Mark the row of an id."""
        for id, (button, _) in self._lines.items():
            style = "primary" if id == chosen else ""
            if button.button_style != style:
                button.button_style = style


def _line(row: PaperRow) -> str:
    texts = row.to_dict()
    return _cells([texts[name] for name in _HEAD], html.escape)


def _cells(texts: Iterable[str], written: Callable[[str], str]) -> str:
    cells = "".join(
        f'<span style="color:{colour}">{written(text)}</span>'
        for text, colour in zip(texts, (TEXT, NOTE, NOTE), strict=True)
    )
    return f'<div style="{_COLUMNS};font-size:12.5px;line-height:1.3;padding:3px 0">{cells}</div>'


def shown(result: Any) -> LayoutDOM:
    """Return the result of a row's call as a layout: a figure, a table or a text."""
    figure = figure_of(result)
    if figure is result:
        return figure
    text = _as_html(result)
    return text if figure is None else column(figure, text, sizing_mode="stretch_width")


def _as_html(result: Any) -> Div:
    if isinstance(result, Finding):
        result = Findings((result,))
    if isinstance(result, pd.DataFrame):
        text = _frame_html(result)
    elif hasattr(result, "_repr_html_"):
        text = result._repr_html_()
    else:
        text = f"<pre>{html.escape(str(result))}</pre>"
    styles = {"font-size": "13px", "color": TEXT, "overflow-x": "auto"}
    return Div(text=text, sizing_mode="stretch_width", styles=styles)


def _frame_html(frame: pd.DataFrame) -> str:
    if any(frame.index.names):
        frame = frame.reset_index()
    align = "".join("r" if kind.kind in "iuf" else "l" for kind in frame.dtypes)
    rows = ([_text(cell) for cell in row] for row in frame.itertuples(index=False))
    return html_table(rows, [str(name) for name in frame.columns], align=align)


def _text(cell: Any) -> str:
    if isinstance(cell, float):
        return "" if math.isnan(cell) else f"{cell:.4g}"
    return str(cell)
