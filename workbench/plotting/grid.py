"""Small multiples: many little figures on shared axes, one key for all of them."""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypedDict

from bokeh.layouts import column
from bokeh.models import (
    Div,
    FixedTicker,
    GridBox,
    LayoutDOM,
    Range1d,
)
from bokeh.plotting import figure

from workbench.plotting import palette
from workbench.plotting.axes import message_size_axis, plain_log_ticks
from workbench.plotting.theme import AS_DRAWN, NOTE, TEXT, figure_styles

_AXIS_PX = 78  # room for the labels of a vertical axis, which only the first column has
_MOST_TICKS = 4  # names of 11 px on a figure of 130 px
_STEPS = (
    (1.0,),
    (1.0, 5.0),
    (1.0, 2.0, 5.0),
    (1.0, 2.0, 3.0, 4.0, 6.0, 8.0),
    tuple(1 + tenth / 10 for tenth in range(90)),
)
_DASHES_SVG = {
    "solid": "",
    "dashed": "6 3",
    "dotted": "2 3",
    "dotdash": "2 3 6 3",
    "dashdot": "6 3 2 3",
}


class Stroke(TypedDict):
    """The look of a line."""

    colour: str
    dash: str
    width: float  # px


@dataclass(frozen=True)
class Series:
    """One line, or one kind of point, with the same meaning in every small figure."""

    name: str  # in the key
    colour: str
    dash: str = "solid"  # one of `palette.DASHES`; empty for points
    width: float = 2.0  # px

    @property
    def stroke(self) -> Stroke:
        """The line's look as `Marks.line` and `rule` take it."""
        return {"colour": self.colour, "dash": self.dash, "width": self.width}


# Wide under narrow: RMSRE and RMSPE, MSE and RMSE, and MAE and Huber often end on the same model.
_STYLES = (
    (palette.BLUE, "solid", 3.5),
    (palette.ORANGE, "dashed", 1.6),
    (palette.GREEN, "dotdash", 3.0),
    (palette.VERMILLION, "dashdot", 2.6),
    (palette.PURPLE, "dotted", 1.8),
    (palette.SKY_BLUE, "solid", 1.3),
    (palette.FAINT, "dashed", 2.6),
)


def line_series(names: Sequence[str]) -> dict[str, Series]:
    """Return a style by name; colour, dash and width differ, so that coinciding lines all show."""
    return {name: Series(name, *_STYLES[at % len(_STYLES)]) for at, name in enumerate(names)}


def key(series: Sequence[Series]) -> Div:
    """Return the key of all the small figures: one line of samples with their names."""
    return Div(
        text="".join(
            "<span style='display:inline-block;margin-right:16px;white-space:nowrap'>"
            f"{_sample(item)} {html.escape(item.name)}</span>"
            for item in series
        ),
        sizing_mode="stretch_width",
        styles={"font-size": "12px", "color": TEXT},
    )


def _sample(item: Series) -> str:
    head = (
        f"<svg width='30' height='10' style='vertical-align:middle;{AS_DRAWN}' aria-hidden='true'>"
    )
    if not item.dash:
        return (
            f"{head}<circle cx='15' cy='5' r='3.2' fill='white' stroke='{item.colour}' "
            "stroke-width='1.5'/></svg>"
        )
    return (
        f"{head}<line x1='1' y1='5' x2='29' y2='5' stroke='{item.colour}' "
        f"stroke-width='{item.width}' stroke-dasharray='{_DASHES_SVG[item.dash]}'/></svg>"
    )


def heading(text: str, below: str = "") -> Div:
    """Return a title over a group of figures, with a smaller second line."""
    small = f"<br><span style='color:{NOTE}'>{html.escape(below)}</span>" if below else ""
    return Div(
        text=f"<b>{html.escape(text)}</b>{small}",
        sizing_mode="stretch_width",
        styles={"font-size": "13px", "color": TEXT},
    )


def sentence(text: str) -> Div:
    """Return the sentence that stands under a figure."""
    return Div(
        text=html.escape(text),
        sizing_mode="stretch_width",
        styles={"font-size": "13px", "color": TEXT},
    )


def small_multiples(
    rows: Sequence[str],
    columns: Sequence[str],
    draw: Callable[[figure, str, str], None],  # draws into (figure, row, column)
    *,
    row_labels: Callable[[str], str],  # quantity and unit of a row's vertical axis
    x_label: str,  # quantity and unit
    x_range: tuple[float, float],
    y_ranges: Callable[[str], tuple[float, float]],  # of a row
    sizes: Sequence[float] = (),  # message sizes, bytes, if the horizontal axis holds them
    height: int = 130,  # of one figure, px
    y_ticks: Callable[[figure], None] | None = None,  # None: round numbers
) -> GridBox:
    """Return rows by columns of small figures that share their ranges; outer ones have labels."""
    shared_x = Range1d(*x_range)
    cells = []
    for at, row in enumerate(rows):
        shared_y = Range1d(*y_ranges(row))
        for across, name in enumerate(columns):
            first, last = across == 0, at == len(rows) - 1
            fig = _little(shared_x, shared_y, height + 17 * (at == 0) + 34 * last)
            if at == 0:
                fig.title.text = folded(name, 22 if len(columns) <= 5 else 13)
                fig.title.text_font_size = "12px"
                fig.title.align = "center"
            if sizes:
                message_size_axis(fig, sizes, count=4)
            else:
                plain_log_ticks(fig.xaxis, count=4)
            if y_ticks is None:
                _log_ticks(fig, (shared_y.start, shared_y.end))
            else:
                y_ticks(fig)
            fig.xaxis.axis_label = x_label if last else None
            fig.yaxis.axis_label = row_labels(row) if first else None
            fig.xaxis.visible, fig.yaxis.visible = last, first
            fig.xaxis.major_label_text_font_size = fig.yaxis.major_label_text_font_size = "10px"
            fig.xaxis.axis_label_text_font_size = fig.yaxis.axis_label_text_font_size = "11px"
            fig.min_border_left = _AXIS_PX if first else 4
            draw(fig, row, name)
            cells.append((fig, at, across))
    share = f"calc((100% - {_AXIS_PX}px) / {len(columns)})"
    first_share = f"calc((100% - {_AXIS_PX}px) / {len(columns)} + {_AXIS_PX - 4}px)"
    return GridBox(
        children=cells,
        cols=[first_share, *[share] * (len(columns) - 1)],
        sizing_mode="stretch_width",
    )


def stacked(*parts: LayoutDOM) -> LayoutDOM:
    """Return the parts below one another, as wide as the page."""
    return column(*parts, sizing_mode="stretch_width")


def folded(name: str, width: int) -> str:
    """Return a name longer than `width` characters on two lines, split at a hyphen."""
    if len(name) <= width or "-" not in name:
        return name
    parts = name.split("-")
    cuts = [("-".join(parts[:n]) + "-", "-".join(parts[n:])) for n in range(1, len(parts))]
    return "\n".join(min(cuts, key=lambda cut: max(map(len, cut))))


def _little(x_range: Range1d, y_range: Range1d, height: int) -> figure:
    fig = figure(
        height=height,
        sizing_mode="stretch_width",
        min_width=60,
        x_axis_type="log",
        y_axis_type="log",
        x_range=x_range,
        y_range=y_range,
        tools="box_zoom,reset",
        toolbar_location=None,
        min_border=4,
        stylesheets=figure_styles(),
        background_fill_color=None,
        border_fill_color=None,
    )
    fig.outline_line_color = palette.FRAME
    fig.xgrid.grid_line_color = fig.ygrid.grid_line_color = palette.GRID
    for axis in (*fig.xaxis, *fig.yaxis):
        axis.axis_label_text_font_style = "normal"
        axis.axis_line_color = None
        axis.minor_tick_line_color = None
        axis.major_tick_in, axis.major_tick_out = 0, 3
    return fig


def _log_ticks(fig: figure, ends: tuple[float, float]) -> None:
    """Tick a low axis: powers of ten, or 1, 2 and 5 times them, none so near an end that it is cut.

    Bokeh's own choice is 2, 4, 6, 8 within a decade, which overlap at this height.
    """
    low, high = math.log10(ends[0]), math.log10(ends[1])
    margin = 0.06 * (high - low)
    powers = range(math.floor(low), math.ceil(high) + 1)
    for steps in _STEPS:
        fine = [step * 10.0**power for power in powers for step in steps]
        ticks = [t for t in fine if low + margin <= math.log10(t) <= high - margin]
        if len(ticks) >= 2:
            break
    ticks = ticks[:: -(-len(ticks) // _MOST_TICKS) or 1]
    fig.yaxis.ticker = FixedTicker(ticks=ticks)
    fig.yaxis.major_label_overrides = {tick: short_number(tick) for tick in ticks}


def short_number(value: float) -> str:
    """Return a positive number in few characters: ``0.02``, ``300``, ``20k``, ``5M``."""
    for scale, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= scale * 0.9995:
            return f"{value / scale:.3g}{letter}"
    return f"{value:.3g}"
