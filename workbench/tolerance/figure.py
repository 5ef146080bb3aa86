"""T over latency or the gap per byte with its zones, the slope and the share, and sentences."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from bokeh.layouts import column
from bokeh.models import (
    ColumnDataSource,
    CustomJSHover,
    CustomJSTickFormatter,
    FactorRange,
    GlyphRenderer,
    LayoutDOM,
    LegendItem,
    Range1d,
)
from bokeh.plotting import figure

from workbench.plotting import palette
from workbench.plotting.axes import legend_above, live_figure, set_range
from workbench.plotting.descriptions import plain_percent
from workbench.plotting.grid import sentence, stacked
from workbench.plotting.marks import Marks, hover
from workbench.plotting.replay.spacetime_js import TIME_TEXT, TIME_TICK
from workbench.plotting.replay.style import caption, time_text
from workbench.provenance import Provenance
from workbench.tolerance.curve import (
    RENDEZVOUS,
    BandwidthSensitivity,
    LatencySensitivity,
    more_than_messages,
)
from workbench.tolerance.figure_columns import (
    MOST_MARKS,
    by_name,
    corner_columns,
    curve_columns,
    limit_columns,
    measured_columns,
    predictions_of,
    value_text,
    zone_columns,
)

if TYPE_CHECKING:
    from workbench.tolerance.curve import ToleranceCurve
    from workbench.tolerance.figure_columns import Measured, Named, Predictions, Results
    from workbench.tolerance.run_prediction import RunPrediction, TracePredictions

_LEFT_PX = 78  # one width for all, so that the latencies stand above one another
_ROW_PX = 24  # a strip of 17 px with texts of 11
_BESIDE = 0.015  # of the axis: room for half a measured point
_STEEPEST = 1.5  # of the predicted slopes: what noise makes steeper does not set the axis
_APART = 3.0  # times between the longest T and the shortest from which on T is drawn in percent
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
_HOVER_TIME = f"{TIME_TEXT}return text(value)"


class ToleranceFigure:
    """T(L), λ_L and ρ_L over one axis, and their sources.

    Attributes:
        layout: all figures in one document.
        time: T over L, or its growth where the programs are far apart.
        slope: λ_L over L, a step at each critical latency.
        share: ρ_L over L.
        strips: the zones of several programs, a row each; hidden for one.
        curves, slopes, shares: a row for each program: T, λ_L, ρ_L. What only one figure draws is
            not drawn while that figure is out of sight, so that each has a source of its own.
        zones: a row for each zone of each program.
        limits: a row for each tolerance that the axis holds.
        corners: a row for each critical latency that is marked.
        measured: points of measured runs on T, and their slopes on λ_L, where there are some.
        pointers: of each figure, column ``L``: the chosen latency, ns, or nothing.
        bands: the zones behind the curve, shown for one program.
    """

    def __init__(self, *, relative: bool | None = None, height: int = 300) -> None:
        """Make the figures, which are empty until ``show``; arguments as in `plot_tolerance`."""
        self._relative = relative
        shared, lower = Range1d(), round(height * 0.55)
        self.time = _pane("run-time-over-latency", height, shared)
        self.slope = _pane("lambda", lower, shared)
        self.share = _pane("rho", lower + 36, shared)
        self.strips = _pane("zones", 100, shared, FactorRange(range_padding=0.1))
        self.time.yaxis.formatter = CustomJSTickFormatter()
        self.slope.yaxis.formatter = CustomJSTickFormatter()
        sources = [ColumnDataSource() for _ in range(6)]
        self.curves, self.slopes, self.shares, self.zones, self.corners, self.limits = sources
        self.curves.name = "curves"

        self.bands = _add_zones(self.time, self.strips, self.zones)
        lines = _add_lines(self.time, self.curves, "L", "T", legend_field="name")
        _add_lines(self.slope, self.slopes, "steps", "slope")
        _add_lines(self.share, self.shares, "rho_L", "rho")

        self._critical = Marks(self.time, self.corners, x="L")
        marks = self._critical.points("T", "colour", fill="white", legend="critical")
        tips = [("", "@name"), ("critical", "@text"), ("slope", "@below{0,0} to @above{0,0}")]
        hover(self.time, [marks], tips, attachment="below")
        within = Marks(self.time, self.limits, x="L")
        within.points("T", "colour", edge=None, marker="square", size=7)
        at = {"text_align": "align", "text_baseline": "baseline", "x_offset": "x_offset"}
        self.time.text("L", "T", "text", source=self.limits, text_font_size="11px", **at)

        figures = (self.time, self.strips, self.slope, self.share)
        self.pointers = tuple(ColumnDataSource({"L": []}) for _ in figures)
        dotted = {"line_color": palette.BLACK, "line_dash": "dotted", "line_width": 2}
        for fig, source in zip(figures, self.pointers, strict=True):
            fig.vspan("L", source=source, **dotted)
        self._position, self._height = CustomJSHover(), CustomJSHover()
        how = {"formatters": {"$x": self._position, "$snap_y": self._height}}
        tips = [("", "@name"), ("at", "$x{custom}"), ("T", "$snap_y{custom}")]
        hover(self.time, [lines], tips, line_policy="interp", attachment="above", **how)
        self.measured = MeasuredMarks(self.time, self.slope)
        legend_above(self.time)
        self.layout: LayoutDOM = column(*figures, sizing_mode="stretch_width")

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
        times = [one.T for one in named.values()]
        apart = min(times) > 0 and max(times) > _APART * min(times)
        relative = apart if self._relative is None else self._relative
        first, several = next(iter(named)), len(named) > 1
        parameter = named[first].parameter
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
        self._critical.entry(parameter.critical if self.corners.data["L"] else "")
        self.strips.y_range.factors = list(reversed(named))
        self.strips.update(visible=several, height=40 + _ROW_PX * len(named))
        # Without room, visible axes would make BokehJS lay all four figures out at each change.
        self.strips.axis.visible = several
        self.bands.visible = not several
        self.measured.show(predictions, relative=relative)
        self._set_ranges(curves, _BESIDE if predictions else 0.0)
        self._say_units(relative, gap=parameter.quantity == "gap")
        self.share.xaxis.axis_label = parameter.axis
        self.slope.yaxis.axis_label = parameter.slope
        self.share.yaxis.axis_label = parameter.share
        whose = f"{len(named)} {parameter.several}" if several else first
        self.time.title.text = f"{parameter.title}: {whose}"
        runs = [one.runs.provenance for one in predictions.values()]
        caption(self.share, [_origin_of(named), *runs])

    def _set_ranges(self, curves: dict[str, list[Any]], beside: float) -> None:
        """Let the axes hold lines and points; `beside`: of the length, for a point at the left."""
        low, high = min(line[0] for line in curves["L"]), max(line[-1] for line in curves["L"])
        set_range(self.time.x_range, (low - beside * (high - low), high))
        points, slopes = self.measured.points.data, self.measured.slopes.data["slope"]
        heights = (*curves["T"], points["least"], points["high"])
        set_range(self.time.y_range, _with_room(heights))
        steepest = _STEEPEST * max(map(max, curves["slope"]))
        not_noise = [slope for slope in slopes if slope <= steepest]
        set_range(self.slope.y_range, _with_room((*curves["slope"], not_noise), least=0.0))
        set_range(self.share.y_range, _with_room(curves["rho"], least=0.0))

    def _say_units(self, relative: bool, *, gap: bool) -> None:
        """Write the units at the axes and in the tips; of a gap the bandwidth too."""
        for fig in (self.time, self.slope, self.strips):
            fig.xaxis[0].formatter.code = _GAP_TICK if gap else TIME_TICK
        self.share.xaxis[0].formatter.code = _BANDWIDTH_TICK if gap else TIME_TICK
        self.slope.yaxis[0].formatter.code = _BYTES_TICK if gap else _COUNT_TICK
        self.time.yaxis[0].formatter.code = _PERCENT_TICK if relative else TIME_TICK
        self.time.yaxis.axis_label = "growth of T" if relative else "run time T"
        self._position.code = _HOVER_GAP if gap else _HOVER_TIME
        self._height.code = _HOVER_PERCENT if relative else _HOVER_TIME

    def mark(self, L: float | None) -> None:
        """Move the upright line that shows the latency, or the gap per byte, in use.

        Args:
            L: s or s/B; None takes it away.
        """
        for pointer in self.pointers:
            pointer.data = {"L": [] if L is None else [L * 1e9]}


class MeasuredMarks:
    """Measured points on T(L), and the slopes between them on λ_L.

    ``points`` has a row for each added latency: median, quartiles and minimum; ``slopes`` one for
    each pair of neighbouring points. ``legend`` is the entry of the points, hidden without any.
    """

    def __init__(self, time: figure, slope: figure) -> None:
        points, slopes = measured_columns({}, relative=False)
        marks = Marks(time, points, x="L", name="measured")
        marks.spans("low", "high", "colour", width=2)
        marks.points("least", "colour", marker="dash", size=9)
        dots = marks.points("T", "colour", edge="white", marker="diamond", size=9, width=0.5)
        tips = [("", "@name"), ("added", "@added"), ("median", "@text"), ("runs", "@repeats")]
        hover(time, [dots], [*tips, ("predicted", "@error")], attachment="right")
        between = Marks(slope, slopes, y="slope", name="measured slopes")
        between.spans("from", "to", "colour", width=2)
        Marks(slope, between.source, x="middle").spans("low", "high", "colour")
        self.points, self.slopes = marks.source, between.source
        self.legend = LegendItem(label={"value": ""}, renderers=[dots], visible=False)
        time.legend[0].items.append(self.legend)

    def show(self, predictions: Predictions, *, relative: bool) -> None:
        """Draw the runs of some predictions, by the names of their curves; of none, nothing."""
        if not predictions and not self.legend.visible:
            return  # a slider moves, and nothing is measured
        self.points.data, self.slopes.data = measured_columns(predictions, relative=relative)
        origins = dict.fromkeys(one.runs.provenance.origin for one in predictions.values())
        label = f"{' and '.join(origins)} runs: median, quartiles, minimum"
        self.legend.update(visible=bool(predictions), label={"value": label})


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
    """Return the live form of `plot_tolerance`, with the same arguments and errors."""
    drawn = ToleranceFigure(relative=relative, height=height)
    drawn.show(results, measured)
    return drawn


def plot_run_prediction(result: RunPrediction, *, height: int = 300) -> LayoutDOM:
    """Return T(L) with the measured run times, and λ_L with the slopes between them.

    Args:
        result: of ``workbench.tolerance.predict_runs``.
        height: of the upper figure, pixels.
    """
    drawn = plot_tolerance({result.name: result.analysis}, measured=result.runs, height=height)
    return stacked(drawn, sentence(describe_run_prediction(result)))


def plot_trace_predictions(result: TracePredictions, *, height: int = 300) -> LayoutDOM:
    """Return T(L) from each trace of a program, and the measured run times (LLAMP, Fig. 12).

    Args:
        result: of ``workbench.tolerance.predict_from_traces``.
        height: of the upper figure, pixels.
    """
    drawn = tolerance_figure(result.analyses, measured=result.runs, relative=False, height=height)
    program = result.predictions[0].name
    drawn.time.title.text = f"Run time over latency: {program}, {len(result.traced_s)} traces"
    return drawn.layout


def describe_tolerance(results: Results) -> str:
    """Return sentences on the latency tolerance of the programs, and their critical paths.

    Args:
        results: as in `plot_tolerance`.

    Raises:
        ParameterError: there is none.
    """
    named = by_name(results)
    if len(named) > 1:
        return _describe_several(named)
    result = next(iter(named.values()))
    words, say = result.parameter, partial(value_text, result.variable)
    text = f"At {result.variable} = {say(result.base)} the program takes "
    text += f"{time_text(result.T * 1e9)}, and {plain_percent(100 * result.rho)} of that "
    warnings: tuple[str, ...] = ()
    if isinstance(result, LatencySensitivity):
        text += f"is latency: {_latencies(result)}."
        warnings = result.warnings
        if more_than_messages(result):
            text += f" {RENDEZVOUS[0].upper()}{RENDEZVOUS[1:]}."
    elif isinstance(result, BandwidthSensitivity):
        text += f"is bytes: {result.lambda_G:,} of them on the critical path."
    if result.tolerance:
        borne = ", ".join(f"{_borne(result, p)} for {p:g} %" for p in result.tolerance)
        text += f" It tolerates {words.a_value} of at most {borne}."
    count = len(result.critical)
    noun = words.critical if count == 1 else words.criticals
    text += f" {count:,} {noun} between {' and '.join(say(end) for end in result.interval)}"
    text += f", of which {MOST_MARKS} are marked." if count > MOST_MARKS else "."
    return text + "".join(f" Warning: {warning}." for warning in warnings)


def describe_run_prediction(result: RunPrediction) -> str:
    """Return sentences on how far measured run times are from the predicted ones, and where.

    Args:
        result: of ``workbench.tolerance.predict_runs``.
    """
    zones = ", ".join(
        f"{plain_percent(error)} in the {zone} zone"
        for zone, error in result.zone_rrmse_percent.items()
    )
    begins, ends = (time_text(1e9 * edge) for edge in result.zone_edges_s)
    added, errors = result.added_s.tolist(), result.error_percent
    worst = int(np.argmax(np.abs(errors)))
    most = (
        ", the most"
        if worst == 0
        else f", and most with {time_text(1e9 * added[worst])} added, by {errors[worst]:+.2f} %"
    )
    text = (
        f"Predicted and {result.runs.provenance.origin} run times differ by "
        f"{plain_percent(result.rrmse_percent)} (root mean square error over the mean of "
        f"{len(added)} medians): {zones}. With {time_text(1e9 * added[0])} added the prediction is "
        f"off by {errors[0]:+.2f} %{most}. The predicted λ_L begins to rise at {begins} of added "
        f"latency, and has risen at {ends}."
    )
    left_out = len(np.unique(result.runs.added_s)) - len(added)
    points = "1 point lies" if left_out == 1 else f"{left_out} points lie"
    text += f" {points} outside the axis." if left_out else ""
    said = result.analysis.warnings
    return text + "".join(f" {warning[0].upper()}{warning[1:]}." for warning in said)


def _pane(name: str, height: int, shared: Range1d, rows: FactorRange | None = None) -> figure:
    """Return an empty figure whose horizontal axis is shared, and whose axes get units later."""
    fig = live_figure(height=height, file_name=name, y_range=rows)
    fig.x_range = shared
    fig.min_border_left = _LEFT_PX
    fig.xaxis.formatter = CustomJSTickFormatter()
    return fig


def _add_lines(fig: figure, source: ColumnDataSource, x: str, y: str, **legend: str) -> Any:
    look = {"line_color": "colour", "line_dash": "dash", "line_width": 2}
    return fig.multi_line(x, y, source=source, **look, **legend)


def _add_zones(time: figure, strips: figure, zones: ColumnDataSource) -> GlyphRenderer:
    """Draw the zones of one program behind its curve, which is returned, and of several as rows."""
    look: dict[str, Any] = {"fill_color": "colour", "hatch_pattern": "hatch"}
    look["hatch_color"] = "colour"
    behind = look | {"line_color": None, "fill_alpha": 0.22, "hatch_alpha": 0.45, "hatch_scale": 10}
    bands: GlyphRenderer = time.vstrip("from", "to", source=zones, **behind)
    look |= {"line_color": "white", "fill_alpha": 0.45, "hatch_scale": 8}
    bars = strips.hbar("name", left="from", right="to", height=0.7, source=zones, **look)
    Marks(strips, zones, y="name").texts("label", "to", align="right", offset=-3)
    hover(strips, [bars], [("", "@name"), ("within @percent_text", "@text")])
    strips.ygrid.grid_line_color = None
    return bands


def _with_room(lines: Any, least: float | None = None) -> tuple[float, float]:
    """Return the ends of an axis that holds lines, of which some may be empty, with some room."""
    values = np.concatenate(lines)
    low, high = float(values.min()) if least is None else least, float(values.max())
    room = 0.05 * (high - low) or max(abs(high) * 0.05, 1.0)
    return (low - room if least is None else least), high + room


def _origin_of(named: Named) -> Provenance:
    """Return the provenance of one analysis, or a common one for several."""
    first, *others = named.values()
    if not others:
        return first.provenance
    alike = all(other.model == first.model for other in others)
    model = str(first.model) if alike else "each with its own parameters"
    what = f"{len(named)} {first.parameter.several}, LLAMP's semantics, no contention, {model}"
    return Provenance("simulated", what)


def _describe_several(named: Named) -> str:
    percents = set.intersection(*(set(result.tolerance) for result in named.values()))
    words = next(iter(named.values())).parameter
    parts = (f"{name} {plain_percent(100 * result.rho)}" for name, result in named.items())
    shares = f"{words.share_of} share of the critical path: {', '.join(parts)}."
    if not percents:
        return shares
    percent = min(percents)
    least, *_, most = sorted(named, key=lambda name: named[name].tolerance[percent])
    return (
        f"Within {percent:g} % {most} tolerates the most, {words.a_value} of "
        f"{_borne(named[most], percent)}, and {least} the least, {_borne(named[least], percent)}. "
        f"{shares}"
    )


def _borne(result: ToleranceCurve, percent: float) -> str:
    """Return a tolerance as text; ``any latency`` or ``any gap`` where it is infinite."""
    largest = result.tolerance[percent]
    if math.isfinite(largest):
        return value_text(result.variable, largest)
    return f"any {result.parameter.kind}"


def _latencies(result: LatencySensitivity) -> str:
    """Return λ_L, and the messages it is of, as text: ``96 latencies …, of 24 messages``."""
    noun = "latency" if result.lambda_L == 1 else "latencies"
    text = f"{result.lambda_L:,} {noun} on the critical path"
    if result.critical_messages is None:
        return text
    noun = "message" if result.critical_messages == 1 else "messages"
    return f"{text}, of {result.critical_messages:,} {noun}"
