"""T over latency or the gap per byte with its zones, and the slope and the share below it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from bokeh.layouts import column
from bokeh.models import (
    ColumnDataSource,
    CustomJSHover,
    CustomJSTickFormatter,
    FactorRange,
    GlyphRenderer,
    HoverTool,
    LayoutDOM,
    LegendItem,
    Range1d,
)
from bokeh.plotting import figure

from workbench.plotting import palette
from workbench.plotting.axes import legend_above, new_figure, set_range
from workbench.plotting.marks import Marks, hover
from workbench.plotting.replay.spacetime_js import TIME_TICK
from workbench.plotting.replay.style import caption, time_axis
from workbench.tolerance.figure_columns import (
    corner_columns,
    curve_columns,
    limit_columns,
    zone_columns,
)
from workbench.tolerance.figure_measured import MeasuredMarks, add_measured, predictions_of
from workbench.tolerance.figure_sentence import (
    by_name,
    is_relative,
    origin_of,
)

if TYPE_CHECKING:
    from workbench.tolerance.curve import CurveParameter
    from workbench.tolerance.figure_measured import Measured
    from workbench.tolerance.figure_sentence import Results

_LEFT_PX = 78  # one width for all, so that the latencies stand above one another
_ROW_PX = 24  # a strip of 17 px with texts of 11
_BESIDE = 0.015  # of the axis: room for half a measured point
_PERCENT_TICK = "return `${tick > 0 ? '+' : ''}${Number(tick.toFixed(3))} %`"
_GAP_TICK = "return `${Number(tick.toPrecision(6))} ns/B`"
_BANDWIDTH_TICK = """
const gap = `${Number(tick.toPrecision(6))} ns/B`
return tick > 0 ? `${gap}\\n${Number((1 / tick).toPrecision(3))} GB/s` : gap
"""
_COUNT_TICK = "return tick.toLocaleString('en')"
_BYTES_TICK = """
const most = Math.max(...ticks.map(Math.abs))
const [unit, scale] = [['GB', 1e9], ['MB', 1e6], ['kB', 1e3]]
  .find(([_, size]) => most >= size) ?? ['B', 1]
return `${Number((tick / scale).toPrecision(6))} ${unit}`
"""
_HOVER_GAP = """
const gap = `${Number(value.toPrecision(5))} ns/B`
return value > 0 ? `${gap} (${Number((1 / value).toPrecision(4))} GB/s)` : gap
"""
_HOVER_PERCENT = "return `${value > 0 ? '+' : ''}${Number(value.toPrecision(4))} %`"
_HOVER_TIME = """
const [unit, scale] = [['s', 1e9], ['ms', 1e6], ['µs', 1e3], ['ns', 1]]
  .find(([_, size]) => Math.abs(value) >= size) ?? ['ns', 1]
return `${Number((value / scale).toPrecision(6))} ${unit}`
"""


@dataclass(eq=False)
class ToleranceFigure:
    """T(L), λ_L and ρ_L over one axis, and their sources.

    Attributes:
        layout: all figures in one document.
        time: T over L, or its growth where the programs are far apart.
        slope: λ_L over L, a step at each critical latency.
        share: ρ_L over L.
        strips: the zones of several programs, a row each; hidden for one.
        curves: a row for each program: T.
        slopes: a row for each program: λ_L.
        shares: a row for each program: ρ_L.
        zones: a row for each zone of each program.
        limits: a row for each tolerance that the axis holds.
        corners: a row for each critical latency that is marked.
        measured: points of measured runs on T, and their slopes on λ_L, where there are some.
        pointers: of each figure, column ``L``: the chosen latency, ns, or nothing. What only one
            figure draws is not drawn while that figure is out of sight.
        bands: the zones behind the curve, shown for one program.
        height_in_words: words T, or its growth, beside the pointer.
        position_in_words: words the latency, or the gap, beside the pointer.
        critical: entry of the marks in the legend.
        relative: draw growth in percent; None where the figure decides.
    """

    layout: LayoutDOM
    time: figure
    slope: figure
    share: figure
    strips: figure
    curves: ColumnDataSource
    slopes: ColumnDataSource
    shares: ColumnDataSource
    zones: ColumnDataSource
    limits: ColumnDataSource
    corners: ColumnDataSource
    measured: MeasuredMarks
    pointers: tuple[ColumnDataSource, ...]
    bands: GlyphRenderer
    height_in_words: CustomJSHover
    position_in_words: CustomJSHover
    critical: LegendItem
    relative: bool | None

    def show(self, results: Results, measured: Measured | None = None) -> None:
        """Draw other analyses.

        Args:
            results: one, several, or several by name.
            measured: runs, as in `plot_tolerance`.

        Raises:
            ParameterError: there is none, or it holds no latency of the runs.
        """
        named = by_name(results)
        predictions = predictions_of(named, measured)
        relative = is_relative(named) if self.relative is None else self.relative
        curves = curve_columns(named, relative=relative)
        for source, columns in (
            (self.curves, ("name", "L", "T")),
            (self.slopes, ("steps", "slope")),
            (self.shares, ("rho_L", "rho")),
        ):
            source.data = {name: curves[name] for name in (*columns, "colour", "dash")}
        self.zones.data = zone_columns(named)
        self.limits.data = limit_columns(named, relative=relative)
        self.corners.data = corner_columns(named, relative=relative)
        several = len(named) > 1
        self.strips.y_range.factors = list(reversed(named))
        self.strips.update(visible=several, height=40 + _ROW_PX * len(named))
        # Without room, visible axes would make BokehJS lay all four figures out at each change.
        self.strips.axis.visible = several
        self.bands.visible = not several
        parameter = next(iter(named.values())).parameter
        self.critical.update(
            visible=bool(self.corners.data["L"]), label={"value": parameter.critical}
        )
        set_range(self.time.x_range, _ends(curves["L"], _BESIDE if predictions else 0.0))
        self.measured.show(predictions, relative=relative)
        steepest = self.measured.steepest(float(max(map(max, curves["slope"]))))
        set_range(self.time.y_range, _with_room([*curves["T"], *self.measured.heights()]))
        set_range(self.slope.y_range, _with_room([*curves["slope"], *steepest], least=0.0))
        set_range(self.share.y_range, _with_room(curves["rho"], least=0.0))
        axis = self.time.yaxis[0]
        axis.axis_label = "growth of T" if relative else "run time T"
        axis.formatter.code = _PERCENT_TICK if relative else TIME_TICK
        self.height_in_words.code = _HOVER_PERCENT if relative else _HOVER_TIME
        self._say_position(parameter)
        whose = f"{len(named)} {parameter.several}" if several else next(iter(named))
        self.time.title.text = f"{parameter.title}: {whose}"
        runs = [one.runs.provenance for one in predictions.values()]
        caption(self.share, [origin_of(named), *runs])

    def _say_position(self, parameter: CurveParameter) -> None:
        """Write the parameter, its slope and its share at the axes; of a gap the bandwidth too."""
        gap = parameter.quantity == "gap"
        self.share.xaxis.axis_label = parameter.axis
        self.slope.yaxis.axis_label = parameter.slope
        self.share.yaxis.axis_label = parameter.share
        for fig in (self.time, self.slope, self.strips):
            fig.xaxis[0].formatter.code = _GAP_TICK if gap else TIME_TICK
        self.share.xaxis[0].formatter.code = _BANDWIDTH_TICK if gap else TIME_TICK
        self.slope.yaxis[0].formatter.code = _BYTES_TICK if gap else _COUNT_TICK
        self.position_in_words.code = _HOVER_GAP if gap else _HOVER_TIME

    def mark(self, L: float | None) -> None:
        """Move the upright line that shows the latency, or the gap per byte, in use.

        Args:
            L: s or s/B; None takes it away.
        """
        for pointer in self.pointers:
            pointer.data = {"L": [] if L is None else [L * 1e9]}


def plot_tolerance(
    results: Results,
    *,
    measured: Measured | None = None,
    relative: bool | None = None,
    L: float | None = None,
    height: int = 300,
) -> LayoutDOM:
    """Return T(L) of programs, and below it λ_L and ρ_L on the same axis; or T(G), λ_G and ρ_G.

    One program shows its zones behind the curve, as in Shen et al., LLAMP, Fig. 1: green up to the
    first tolerance, then orange, then red. Several show them in a row each.

    Measured run times are points on T, each the median of its repeats, with a line from the lower
    to the upper quartile and a dash at the minimum. On λ_L they are the slopes between neighbouring
    points, with lines from the least to the greatest slope between their quartiles.

    Args:
        results: of ``workbench.tolerance.analyse`` or ``analyse_bandwidth``: one, several, or
            several by name.
        measured: run times by added latency, of the one program or of all, whose base is the L
            of the first analysis; or those of each program by the name of its analysis.
        relative: draw how much T grows, in percent; None does where one program takes more than
            three times as long as another.
        L: a latency, or a gap per byte, to mark, s or s/B.
        height: of the upper figure, pixels.

    Raises:
        ParameterError: there is nothing to draw, or no measured latency within the analysis.
    """
    drawn = tolerance_figure(results, measured=measured, relative=relative, height=height)
    drawn.mark(L)
    return drawn.layout


def tolerance_figure(
    results: Results,
    *,
    measured: Measured | None = None,
    relative: bool | None = None,
    height: int = 300,
) -> ToleranceFigure:
    """Return the live form of `plot_tolerance`.

    Args:
        results: as in `plot_tolerance`.
        measured: as in `plot_tolerance`.
        relative: as in `plot_tolerance`.
        height: of the upper figure, pixels.

    Raises:
        ParameterError: there is nothing to draw, or no measured latency within the analysis.
    """
    shared = Range1d()
    curves = ColumnDataSource(name="curves")
    slopes, shares, zones, limits, corners = (ColumnDataSource() for _ in range(5))
    time = _pane("", height, shared, "run-time-over-latency")
    slope = _pane("", round(height * 0.55), shared, "lambda")
    share = _pane("", round(height * 0.55) + 36, shared, "rho")
    strips = _pane("", 100, shared, "zones", FactorRange(range_padding=0.1))
    time.yaxis.formatter = CustomJSTickFormatter(code=TIME_TICK)
    slope.yaxis.formatter = CustomJSTickFormatter(code=_COUNT_TICK)
    bands = _add_bands(time, zones)
    lines = _add_lines(time, curves, "T", legend="name")
    _add_lines(slope, slopes, "slope")
    _add_lines(share, shares, "rho")
    critical = _add_marks(time, corners, limits)
    _add_strips(strips, zones)
    pointers = tuple(_add_pointer(fig) for fig in (time, slope, share, strips))
    height_in_words, position_in_words = CustomJSHover(), CustomJSHover()
    time.add_tools(
        HoverTool(
            renderers=[lines],
            tooltips=[("", "@name"), ("at", "$x{custom}"), ("T", "$snap_y{custom}")],
            formatters={"$x": position_in_words, "$snap_y": height_in_words},
            line_policy="interp",
            attachment="above",
        )
    )
    marks = add_measured(time, slope)
    legend_above(time)
    made = ToleranceFigure(
        layout=column(time, strips, slope, share, sizing_mode="stretch_width"),
        time=time,
        slope=slope,
        share=share,
        strips=strips,
        curves=curves,
        slopes=slopes,
        shares=shares,
        zones=zones,
        limits=limits,
        corners=corners,
        measured=marks,
        pointers=pointers,
        bands=bands,
        height_in_words=height_in_words,
        position_in_words=position_in_words,
        critical=critical,
        relative=relative,
    )
    made.show(results, measured)
    return made


def _pane(
    y_label: str, height: int, shared: Range1d, name: str, rows: FactorRange | None = None
) -> figure:
    fig = new_figure(
        title="",
        y_label=y_label,
        height=height,
        x_type="linear",
        y_type="linear" if rows is None else "auto",
        file_name=name,
        x_range=shared,
        y_range=Range1d() if rows is None else rows,
    )
    fig.min_border_left = _LEFT_PX
    time_axis(fig.xaxis[0])
    fig.xaxis.axis_label = None
    return fig


def _add_lines(fig: figure, source: ColumnDataSource, y: str, legend: str = "") -> Any:
    return fig.multi_line(
        xs="rho_L" if y == "rho" else f"{'steps' if y == 'slope' else 'L'}",
        ys=y,
        source=source,
        line_color="colour",
        line_dash="dash",
        line_width=2,
        **({"legend_field": legend} if legend else {}),
    )


def _add_pointer(fig: figure) -> ColumnDataSource:
    source = ColumnDataSource(data={"L": []})
    fig.vspan(x="L", source=source, line_color=palette.BLACK, line_dash="dotted", line_width=2)
    return source


def _add_bands(fig: figure, zones: ColumnDataSource) -> GlyphRenderer:
    """Draw the zones behind the curve, each with its own colour and hatch."""
    drawn: GlyphRenderer = fig.vstrip(
        x0="from",
        x1="to",
        source=zones,
        fill_color="colour",
        fill_alpha=0.22,
        line_color=None,
        hatch_pattern="hatch",
        hatch_color="colour",
        hatch_alpha=0.45,
        hatch_scale=10,
    )
    return drawn


def _add_strips(fig: figure, zones: ColumnDataSource) -> None:
    bars = fig.hbar(
        y="name",
        left="from",
        right="to",
        height=0.7,
        source=zones,
        fill_color="colour",
        fill_alpha=0.45,
        line_color="white",
        hatch_pattern="hatch",
        hatch_color="colour",
        hatch_scale=8,
    )
    Marks(fig, zones, y="name").texts("label", "to", align="right", offset=-3)
    hover(fig, [bars], [("", "@name"), ("within @percent_text", "@text")])
    fig.ygrid.grid_line_color = None
    fig.yaxis.axis_label = None


def _add_marks(fig: figure, corners: ColumnDataSource, limits: ColumnDataSource) -> LegendItem:
    """Draw critical values and tolerances; return the legend's entry of the former."""
    marks = Marks(fig, corners, x="L").points("T", "colour", fill="white")
    entry = LegendItem(label={"value": ""}, renderers=[marks])
    fig.legend[0].items.append(entry)
    fig.add_tools(
        HoverTool(
            renderers=[marks],
            attachment="below",
            tooltips=[
                ("", "@name"),
                ("critical", "@text"),
                ("slope", "@below{0,0} to @above{0,0}"),
            ],
        )
    )
    Marks(fig, limits, x="L").points("T", "colour", edge=None, marker="square", size=7)
    fig.text(
        x="L",
        y="T",
        text="text",
        source=limits,
        text_align="align",
        text_baseline="baseline",
        text_font_size="11px",
        x_offset="x_offset",
    )
    return entry


def _ends(lines: list[Any], room: float) -> tuple[float, float]:
    """Return the ends of the axis, with some of its length for a point at the left end."""
    low, high = min(line[0] for line in lines), max(line[-1] for line in lines)
    return float(low - room * (high - low)), float(high)


def _with_room(lines: list[Any], least: float | None = None) -> tuple[float, float]:
    low = float(min(np.min(line) for line in lines)) if least is None else least
    high = float(max(np.max(line) for line in lines))
    room = 0.05 * (high - low) or max(abs(high) * 0.05, 1.0)
    return (low - room if least is None else least), high + room
