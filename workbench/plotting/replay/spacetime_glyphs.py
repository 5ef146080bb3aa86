"""The parts of a space-time diagram: image, bars, messages, critical path, key."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from bokeh.events import DoubleTap
from bokeh.models import (
    BasicTicker,
    ColumnDataSource,
    CustomJS,
    CustomJSHover,
    CustomJSTickFormatter,
    HoverTool,
    LinearColorMapper,
    WheelZoomTool,
)
from bokeh.plotting import figure

from workbench.plotting.axes import legend_above
from workbench.plotting.palette import mix
from workbench.plotting.replay import spacetime_js as js
from workbench.plotting.replay.spacetime_lod import LEVELS
from workbench.plotting.replay.style import (
    COMPUTE,
    CRITICAL,
    MESSAGE,
    RECEIVE_OVERHEAD,
    SEND_OVERHEAD,
    WAITING,
)
from workbench.plotting.replay.timeline import KINDS
from workbench.programs.program import MPI_CALLS

_COLOURS = (COMPUTE, SEND_OVERHEAD, RECEIVE_OVERHEAD)
_TIP = "<div style='font-size:12px;max-width:420px'>{}</div>"


def add_image(fig: figure, lives: ColumnDataSource, image: ColumnDataSource) -> None:
    """Draw the time until each rank's end, light, and the image of `spacetime_lod` over it."""
    fig.quad(
        left=0,
        right="right",
        top="top",
        bottom="bottom",
        source=lives,
        fill_color=WAITING,
        line_color=None,
    )
    shades = [
        mix(WAITING, colour, (level + 1) / LEVELS) for colour in _COLOURS for level in range(LEVELS)
    ]
    mapper = LinearColorMapper(
        palette=shades, low=0.5, high=len(shades) + 0.5, low_color="rgba(0, 0, 0, 0)"
    )
    painted = fig.image(
        image="image", x="x", y="y", dw="dw", dh="dh", source=image, color_mapper=mapper
    )
    text = CustomJSHover(args={"kinds": list(KINDS), "levels": LEVELS}, code=js.IMAGE_TEXT)
    fig.add_tools(
        HoverTool(
            renderers=[painted],
            tooltips=_TIP.format("@image{custom}"),
            formatters={"@image": text},
            filters={"@image": CustomJS(code=js.IMAGE_FILTER)},
            visible=False,
        )
    )


def add_waits(
    fig: figure, waits: ColumnDataSource, labels: ColumnDataSource, calls: Sequence[str]
) -> None:
    """Let the waits of `View.waits` say what they wait for; write the names of `View.labels`."""
    args = {"source": waits, "calls": list(calls)}
    drawn = fig.quad(
        left="left",
        right="right",
        top="top",
        bottom="bottom",
        source=waits,
        fill_alpha=0,
        line_color=None,
        hover_fill_alpha=0,
        hover_line_color="black",
    )
    fig.add_tools(
        HoverTool(
            renderers=[drawn],
            tooltips=_TIP.format("@rank{custom}<br>@culprit{custom}"),
            formatters={
                "@rank": CustomJSHover(args=args, code=js.WAITS_TEXT),
                "@culprit": CustomJSHover(args=args, code=js.CULPRIT_TEXT),
            },
            limit=1,
            attachment="vertical",
            visible=False,
        )
    )
    fig.text(
        x="x",
        y="y",
        text="text",
        source=labels,
        text_align="center",
        text_baseline="middle",
        text_font_size="10px",
        text_color="black",
        level="annotation",
    )


def add_bars(fig: figure, bars: ColumnDataSource, place: str) -> None:
    """Draw the operations of `View.bars`; `place` is ``line`` of a file or ``op`` of a rank."""
    mapper = LinearColorMapper(palette=list(_COLOURS), low=-0.5, high=len(_COLOURS) - 0.5)
    drawn = fig.quad(
        left="left",
        right="right",
        top="top",
        bottom="bottom",
        source=bars,
        fill_color={"field": "kind", "transform": mapper},
        line_color="white",
        line_width=0.7,
        line_alpha="edge",
        hover_line_color="black",
        hover_line_alpha=1,
        hover_fill_color={"field": "kind", "transform": mapper},
    )
    args = {"source": bars, "place": place, "kinds": list(KINDS), "calls": list(MPI_CALLS)}
    fig.add_tools(
        HoverTool(
            renderers=[drawn],
            tooltips=_TIP.format("@op{custom}<br>@left{custom}<br>@right{custom}"),
            formatters={
                "@op": CustomJSHover(args=args, code=js.BAR_TEXT),
                "@left": CustomJSHover(args=args, code=js.WHEN_TEXT),
                "@right": CustomJSHover(args=args, code=js.WAIT_TEXT),
            },
            limit=2,
            attachment="horizontal",
        )
    )


def add_messages(fig: figure, messages: ColumnDataSource, *, shown: bool) -> None:
    """Draw a line from the departure to the arrival of each message, if `shown`."""
    if not shown:
        return
    lines = fig.segment(
        x0="x0",
        x1="x1",
        y0="y0",
        y1="y1",
        source=messages,
        line_color=MESSAGE,
        line_alpha="alpha",
        hover_line_color="black",
        hover_line_alpha=1,
    )
    fig.add_tools(
        HoverTool(
            renderers=[lines],
            tooltips=_TIP.format("@size{custom}"),
            formatters={
                "@size": CustomJSHover(args={"source": messages}, code=js.MESSAGE_TEXT),
            },
            filters={"@alpha": CustomJS(code=js.CLEAR_FILTER)},
            limit=2,
            attachment="vertical",
            visible=False,
        )
    )


def add_path(fig: figure, path: ColumnDataSource, *, shown: bool) -> None:
    """Draw the critical path, if `shown`: bold on a white rim, to be visible on every colour."""
    if shown:
        fig.line(x="x", y="y", source=path, line_color="white", line_width=4.5, line_alpha=0.8)
        fig.line(x="x", y="y", source=path, line_color=CRITICAL, line_width=2.2)


def add_key(fig: figure, *, messages: bool, critical: bool) -> None:
    """Explain colours and lines above the figure, whether or not they occur."""
    nan = [float("nan")]  # a glyph without a row has no sample in the key
    for name, colour in zip((*KINDS, "waiting"), (*_COLOURS, WAITING), strict=True):
        fig.quad(
            left=nan,
            right=nan,
            top=nan,
            bottom=nan,
            fill_color=colour,
            line_color=None,
            legend_label=name,
        )
    lines = (("message", MESSAGE, 1.0, messages), ("critical path", CRITICAL, 2.5, critical))
    for name, colour, wide, shown in lines:
        if shown:
            fig.line(x=nan, y=nan, line_color=colour, line_width=wide, legend_label=name)
    legend_above(fig)
    fig.toolbar_inner = False
    fig.min_border_right = 24
    fig.legend.glyph_width = 18
    fig.legend.glyph_height = 14


def name_ranks(fig: figure, ranks: Sequence[int] | np.ndarray) -> None:
    """Label the vertical axis with the ranks, from the top down."""
    in_order = np.array_equal(ranks, np.arange(len(ranks)))
    names = {"ranks": [] if in_order else [int(r) for r in ranks], "count": len(ranks)}
    axis = fig.yaxis[0]
    # A slider leaves the ranks as they are; models that are put in anew are sent anew.
    if isinstance(axis.formatter, CustomJSTickFormatter) and axis.formatter.args == names:
        return
    axis.ticker = BasicTicker(min_interval=1, mantissas=[1, 2, 4, 8], base=16)
    axis.formatter = CustomJSTickFormatter(args=names, code=js.RANK_TICK)
    axis.minor_tick_line_color = None
    fig.ygrid.grid_line_color = None


def ask_for_windows(fig: figure, asked: ColumnDataSource, moved: ColumnDataSource) -> None:
    """Let the page write its window to `asked` after a zoom; a new `moved` makes it show all."""
    # Only models that the document refers to reach the browser.
    fig.tags = [*fig.tags, asked, moved]
    moved.js_on_change("data", CustomJS(args={"figure": fig}, code=js.MOVE))
    fig.js_on_event(DoubleTap, CustomJS(args={"figure": fig}, code=js.RESET))
    ask = CustomJS(args={"figure": fig, "asked": asked, "moved": moved}, code=js.ASK)
    for shown in (fig.x_range, fig.y_range):
        shown.js_on_change("start", ask)
        shown.js_on_change("end", ask)
    for side in ("inner_width", "inner_height"):
        fig.js_on_change(side, ask)
    for wheel in fig.select(type=WheelZoomTool):
        # Without a key the wheel scrolls the page.
        wheel.update(
            modifiers={"ctrl": True},
            dimensions="width",
            description="Zoom along time (Ctrl and wheel)",
        )
    fig.toolbar.active_scroll = fig.select_one(WheelZoomTool)
