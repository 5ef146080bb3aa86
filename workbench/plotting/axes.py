"""Axes with units: sizes in B, KiB and MiB, logarithmic scales, one look for every figure."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from bokeh.models import FixedTicker, LogTicker, NumeralTickFormatter, Range1d, SaveTool
from bokeh.plotting import figure

from workbench.measure.curve import byte_label
from workbench.plotting import palette
from workbench.plotting.theme import figure_styles

FONT_SIZE = "12px"


def size_ticks(smallest: float, largest: float, count: int = 6) -> list[int]:
    """Return powers of two from `smallest` to `largest`, at most `count`, evenly spaced in the log.

    Args:
        smallest: first size, bytes.
        largest: last size, bytes.
        count: how many labels fit.
    """
    low, high = int(smallest).bit_length() - 1, int(largest).bit_length() - 1
    low, high = max(low, 0), max(high, 0)
    step = max(1, -(-(high - low) // max(count - 1, 1)))
    return [1 << k for k in range(low, high + 1, step)]


def new_figure(
    *,
    title: str,
    y_label: str,
    height: int,
    x_type: str = "log",
    y_type: str = "log",
    file_name: str = "figure",
    **options: Any,
) -> figure:
    """Return an empty figure with the project's look, tools and no logo.

    Args:
        title: what is drawn, in a few words.
        y_label: quantity and unit of the vertical axis.
        height: pixels.
        x_type: Bokeh axis type, ``log``, ``linear`` or ``auto``.
        y_type: the same for the vertical axis.
        file_name: name, without suffix, of the PNG that the save tool writes.
        options: handed to `bokeh.plotting.figure`.
    """
    fig = figure(
        title=title,
        height=height,
        sizing_mode="stretch_width",
        x_axis_type=x_type,
        y_axis_type=y_type,
        tools="pan,box_zoom,wheel_zoom,reset",
        active_drag="box_zoom",
        active_scroll=None,
        toolbar_location="above",
        min_width=220,
        stylesheets=figure_styles(),
        background_fill_color=None,
        border_fill_color=None,
        **options,
    )
    fig.add_tools(SaveTool(filename=file_name))
    fig.toolbar.logo = None
    fig.toolbar.autohide = True
    fig.toolbar_inner = True
    fig.yaxis.axis_label = y_label
    for axis in (*fig.xaxis, *fig.yaxis):
        axis.axis_label_text_font_size = FONT_SIZE
        axis.axis_label_text_font_style = "normal"
        axis.major_label_text_font_size = "11px"
    fig.title.text_font_size = "13px"
    fig.xgrid.grid_line_color = fig.ygrid.grid_line_color = palette.GRID
    fig.outline_line_color = None
    return fig


def live_figure(
    *, height: int, file_name: str, title: str = "", y_label: str = "", **options: Any
) -> figure:
    """Return an empty figure with two linear axes whose ends are set with what is drawn.

    Args:
        height: pixels.
        file_name: name, without suffix, of the PNG that the save tool writes.
        title: what is drawn, in a few words; empty where that is written with it.
        y_label: quantity and unit of the vertical axis, likewise.
        options: handed to `new_figure`.
    """
    return new_figure(
        title=title,
        y_label=y_label,
        height=height,
        x_type="linear",
        y_type="linear",
        file_name=file_name,
        **({"x_range": Range1d(), "y_range": Range1d()} | options),
    )


def plain_log_ticks(axis: Any, count: int = 6) -> None:
    """Write a logarithmic axis as 1, 10, 100 instead of powers with raised exponents.

    Args:
        axis: a Bokeh axis, or what ``fig.yaxis`` gives.
        count: how many labels there is room for.
    """
    axis.ticker = LogTicker(mantissas=[1, 2, 5], desired_num_ticks=count)
    axis.formatter = NumeralTickFormatter(format="0.[0000]")


def steady_log_ticks(axis: Any) -> None:
    """Write a logarithmic axis at 1, 2 and 5 times the powers of ten, wherever its ends move to.

    Bokeh's own choice may leave most of an axis of one or two decades without a number.

    Args:
        axis: a Bokeh axis, or what ``fig.yaxis`` gives.
    """
    ticks = [float(f"{step}e{power}") for power in range(-4, 7) for step in (1, 2, 5)]
    axis.ticker = FixedTicker(ticks=ticks)
    axis.formatter = NumeralTickFormatter(format="0.[0000]")


def message_size_axis(fig: figure, sizes: Sequence[float], count: int = 6) -> None:
    """Tick the horizontal axis at powers of two and name it.

    Args:
        fig: figure whose horizontal axis holds bytes.
        sizes: the sizes drawn, bytes.
        count: how many labels fit.
    """
    ticks = size_ticks(min(sizes), max(sizes), count)
    powers = size_ticks(min(sizes), max(sizes), 64)
    axis = fig.xaxis[0]
    axis.ticker = FixedTicker(ticks=ticks, minor_ticks=[p for p in powers if p not in ticks])
    axis.major_label_overrides = {tick: byte_label(tick) for tick in ticks}
    axis.axis_label = "message size"


def log_range(values: Iterable[float]) -> tuple[float, float]:
    """Return ends of a logarithmic axis that hold the values, on 1, 2 or 5 times a power of ten.

    Round ends seldom change while a curve moves; an axis that does is laid out anew, which takes
    longer than drawing what is on it.

    Args:
        values: what is drawn; what has no place on the axis, nan and zero, is left out.
    """
    known = [value for value in values if 0 < value < math.inf]
    if not known:
        return 0.1, 10.0
    low, high = min(known) / 1.1, max(known) * 1.1
    return max(r for r in _rounds(low) if r <= low), min(r for r in _rounds(high) if r >= high)


def _rounds(value: float) -> list[float]:
    power = math.floor(math.log10(value))
    return [float(f"{step}e{power}") for step in (1, 2, 5, 10)]


def set_range(shown: Range1d, ends: tuple[float, float]) -> None:
    """Give an axis its ends, also for the reset tool, if they are others than before.

    Args:
        shown: the range of a figure's axis.
        ends: least and greatest value.
    """
    if (shown.reset_start, shown.reset_end) != ends:
        start, end = ends
        shown.update(start=start, end=end, reset_start=start, reset_end=end)


def tools_beside(fig: figure) -> None:
    """Put the tools to the right of a heatmap, where they cover no number; nothing there zooms.

    Args:
        fig: figure of `new_figure`.
    """
    fig.toolbar.active_drag = None
    fig.toolbar.tools = [tool for tool in fig.toolbar.tools if isinstance(tool, SaveTool)]
    fig.toolbar_inner = False
    fig.toolbar_location = "right"


def legend_above(fig: figure) -> None:
    """Put the legend in one line over the figure, where nothing is drawn.

    Args:
        fig: figure with at least one labelled glyph.
    """
    legend = fig.legend[0]
    fig.add_layout(legend, "above")
    legend.orientation = "horizontal"
    legend.label_text_font_size = "11px"
    legend.border_line_color = None
    legend.padding, legend.margin, legend.spacing = 2, 0, 12
    legend.location = "left"


def place_legend(fig: figure, location: str) -> None:
    """Put the legend where the data leave room, small and without a frame.

    Args:
        fig: figure with at least one labelled glyph.
        location: a Bokeh legend location such as ``top_left``.
    """
    fig.legend.location = location
    fig.legend.label_text_font_size = "11px"
    fig.legend.border_line_color = None
    fig.legend.background_fill_alpha = 0.6
    fig.legend.padding = 4
    fig.legend.spacing = 0
    fig.legend.margin = 4
    fig.legend.glyph_height = 14
