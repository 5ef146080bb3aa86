"""Latency tolerance of a program: T(L) with its zones, and λ_L and ρ_L below on the same axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    Range1d,
)
from bokeh.plotting import figure

from workbench.errors import ParameterError
from workbench.plotting import palette
from workbench.plotting.axes import legend_above, new_figure, set_range
from workbench.plotting.descriptions import plain_percent
from workbench.plotting.replay.spacetime_js import TIME_TICK
from workbench.plotting.replay.style import caption, time_axis, time_text
from workbench.plotting.tolerance.columns import (
    MOST_MARKS,
    corner_columns,
    curve_columns,
    limit_columns,
    zone_columns,
)
from workbench.provenance import Provenance
from workbench.sensitivity.result import (
    RENDEZVOUS,
    latencies_text,
    latency_text,
    more_than_messages,
)

if TYPE_CHECKING:
    from workbench.sensitivity.result import LatencySensitivity

    Results = LatencySensitivity | Sequence[LatencySensitivity] | Mapping[str, LatencySensitivity]

_LEFT_PX = 78  # one width for all, so that the latencies stand above one another
_ROW_PX = 24
_APART = 3.0  # times between the longest T and the shortest from which on T is drawn in percent
_CRITICAL = "critical latency"
# By the variable of an analysis: its axis, the slope's, and what several analyses are of.
_WORDS = {
    "L": ("latency L", "λ_L (latencies)", "programs"),
    "l_wire": ("latency of a wire", "λ_wire (wires)", "topologies"),
}
_PERCENT_TICK = "return `${tick > 0 ? '+' : ''}${Number(tick.toFixed(3))} %`"
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
        curves: a row for each program: its lines.
        zones: a row for each zone of each program.
        limits: a row for each tolerance that the axis holds.
        corners: a row for each critical latency that is marked.
        pointer: column ``L``: the chosen latency, ns, or nothing.
        bands: the zones behind the curve, shown for one program.
        height_in_words: words T, or its growth, beside the pointer.
        relative: draw growth in percent; None where the figure decides.
    """

    layout: LayoutDOM
    time: figure
    slope: figure
    share: figure
    strips: figure
    curves: ColumnDataSource
    zones: ColumnDataSource
    limits: ColumnDataSource
    corners: ColumnDataSource
    pointer: ColumnDataSource
    bands: GlyphRenderer
    height_in_words: CustomJSHover
    relative: bool | None

    def show(self, results: Results) -> None:
        """Draw other analyses.

        Args:
            results: one, several, or several by name.

        Raises:
            ParameterError: there is none.
        """
        named = by_name(results)
        relative = is_relative(named) if self.relative is None else self.relative
        curves = curve_columns(named, relative=relative)
        self.curves.data = curves
        self.zones.data = zone_columns(named)
        self.limits.data = limit_columns(named, relative=relative)
        self.corners.data = corner_columns(named, relative=relative)
        several = len(named) > 1
        self.strips.y_range.factors = list(reversed(named))
        self.strips.update(visible=several, height=40 + _ROW_PX * len(named))
        self.bands.visible = not several
        for item in self.time.legend[0].items:
            if getattr(item.label, "value", None) == _CRITICAL:
                item.visible = bool(self.corners.data["L"])
        set_range(self.time.x_range, _ends(curves["L"]))
        set_range(self.time.y_range, _with_room(curves["T"]))
        set_range(self.slope.y_range, _with_room(curves["slope"], least=0.0))
        set_range(self.share.y_range, _with_room(curves["rho"], least=0.0))
        axis = self.time.yaxis[0]
        axis.axis_label = "growth of T" if relative else "run time T"
        axis.formatter.code = _PERCENT_TICK if relative else TIME_TICK
        self.height_in_words.code = _HOVER_PERCENT if relative else _HOVER_TIME
        first = next(iter(named.values()))
        axis_label, slope_label, noun = _WORDS[first.variable]
        self.share.xaxis.axis_label = axis_label
        self.slope.yaxis.axis_label = slope_label
        whose = f"{len(named)} {noun}" if several else next(iter(named))
        self.time.title.text = f"Run time over latency: {whose}"
        caption(self.share, _origin(named))

    def mark(self, L: float | None) -> None:
        """Move the upright line that shows the latency in use.

        Args:
            L: s; None takes it away.
        """
        self.pointer.data = {"L": [] if L is None else [L * 1e9]}


def plot_tolerance(
    results: Results, *, relative: bool | None = None, L: float | None = None, height: int = 300
) -> LayoutDOM:
    """Return T(L) of programs, and below it λ_L and ρ_L on the same axis.

    One program shows its zones behind the curve, as in Shen et al., LLAMP, Fig. 1: green up to the
    first tolerance, then orange, then red. Several show them in a row each.

    Args:
        results: of ``workbench.sensitivity.analyse``: one, several, or several by name.
        relative: draw how much T grows, in percent; None does where one program takes more than
            three times as long as another.
        L: a latency to mark, s.
        height: of the upper figure, pixels.

    Raises:
        ParameterError: there is nothing to draw.
    """
    drawn = tolerance_figure(results, relative=relative, height=height)
    drawn.mark(L)
    return drawn.layout


def tolerance_figure(
    results: Results, *, relative: bool | None = None, height: int = 300
) -> ToleranceFigure:
    """Return the live form of `plot_tolerance`.

    Args:
        results: as in `plot_tolerance`.
        relative: as in `plot_tolerance`.
        height: of the upper figure, pixels.

    Raises:
        ParameterError: there is nothing to draw.
    """
    shared = Range1d()
    curves, zones, limits, corners = (ColumnDataSource() for _ in range(4))
    curves.name = "curves"
    pointer = ColumnDataSource(data={"L": []})
    time = _pane("", height, shared, "run-time-over-latency")
    slope = _pane("", round(height * 0.55), shared, "lambda")
    share = _pane("ρ_L (%)", round(height * 0.55) + 36, shared, "rho")
    strips = _pane("", 100, shared, "zones", FactorRange(range_padding=0.1))
    time.yaxis.formatter = CustomJSTickFormatter(code=TIME_TICK)
    bands = _add_bands(time, zones)
    lines = _add_lines(time, curves, "T", legend="name")
    _add_lines(slope, curves, "slope")
    _add_lines(share, curves, "rho")
    _add_marks(time, corners, limits)
    _add_strips(strips, zones)
    for fig in (time, slope, share, strips):
        fig.vspan(x="L", source=pointer, line_color=palette.BLACK, line_dash="dotted", line_width=2)
    height_in_words = CustomJSHover()
    time.add_tools(
        HoverTool(
            renderers=[lines],
            tooltips=[("", "@name"), ("L", "$x{custom}"), ("T", "$snap_y{custom}")],
            formatters={"$x": CustomJSHover(code=_HOVER_TIME), "$snap_y": height_in_words},
            line_policy="interp",
            attachment="above",
        )
    )
    legend_above(time)
    made = ToleranceFigure(
        layout=column(time, strips, slope, share, sizing_mode="stretch_width"),
        time=time,
        slope=slope,
        share=share,
        strips=strips,
        curves=curves,
        zones=zones,
        limits=limits,
        corners=corners,
        pointer=pointer,
        bands=bands,
        height_in_words=height_in_words,
        relative=relative,
    )
    made.show(results)
    return made


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
    text = (
        f"At {result.variable} = {time_text(result.L * 1e9)} the program takes "
        f"{time_text(result.T * 1e9)}, and {plain_percent(100 * result.rho_L)} of that is latency: "
        f"{latencies_text(result)}."
    )
    if more_than_messages(result):
        text += f" {RENDEZVOUS[0].upper()}{RENDEZVOUS[1:]}."
    if result.tolerance:
        borne = ", ".join(
            f"{latency_text(largest)} for {percent:g} %"
            for percent, largest in result.tolerance.items()
        )
        text += f" It tolerates an {result.variable} of at most {borne}."
    count = len(result.critical_latencies)
    noun = "critical latency" if count == 1 else "critical latencies"
    text += f" {count:,} {noun} between {' and '.join(time_text(e * 1e9) for e in result.interval)}"
    text += f", of which {MOST_MARKS} are marked." if count > MOST_MARKS else "."
    return text + "".join(f" Warning: {warning}." for warning in result.warnings)


def by_name(results: Results) -> dict[str, LatencySensitivity]:
    """Return analyses by unique names, in their order."""
    if isinstance(results, Mapping):
        named = dict(results)
    else:
        several = list(results) if isinstance(results, Sequence) else [results]
        named = {}
        for result in several:
            name, number = result.source, 1
            while name in named:
                number += 1
                name = f"{result.source} ({number})"
            named[name] = result
    if not named:
        raise ParameterError("at least one analysis must be given; got none", key="results")
    return named


def is_relative(named: Mapping[str, LatencySensitivity]) -> bool:
    """Return whether run times differ so much that only their growth can share an axis."""
    times = [result.T for result in named.values()]
    return min(times) > 0 and max(times) > _APART * min(times)


def _origin(named: Mapping[str, LatencySensitivity]) -> Provenance:
    """Return the provenance of one analysis, or a common one for several."""
    first, *others = named.values()
    if not others:
        return first.provenance
    alike = all(other.model == first.model for other in others)
    model = str(first.model) if alike else "each with its own parameters"
    noun = _WORDS[first.variable][2]
    return Provenance(
        "simulated", f"{len(named)} {noun}, LLAMP's semantics, no contention, {model}"
    )


def _describe_several(named: Mapping[str, LatencySensitivity]) -> str:
    percents = set.intersection(*(set(result.tolerance) for result in named.values()))
    shares = ", ".join(
        f"{name} {plain_percent(100 * result.rho_L)}" for name, result in named.items()
    )
    if not percents:
        return f"Latency's share of the critical path: {shares}."
    percent = min(percents)
    order = sorted(named, key=lambda name: named[name].tolerance[percent])
    least, most = order[0], order[-1]
    return (
        f"Within {percent:g} % {most} tolerates the most, an L of "
        f"{latency_text(named[most].tolerance[percent])}, and {least} the least, "
        f"{latency_text(named[least].tolerance[percent])}. Latency's share of the critical path: "
        f"{shares}."
    )


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
    fig.text(
        x="to",
        y="name",
        text="label",
        source=zones,
        text_align="right",
        text_baseline="middle",
        text_font_size="11px",
        x_offset=-3,
    )
    fig.add_tools(
        HoverTool(renderers=[bars], tooltips=[("", "@name"), ("within @percent_text", "@text")])
    )
    fig.ygrid.grid_line_color = None
    fig.yaxis.axis_label = None


def _add_marks(fig: figure, corners: ColumnDataSource, limits: ColumnDataSource) -> None:
    marks = fig.scatter(
        x="L",
        y="T",
        source=corners,
        marker="circle",
        size=6,
        fill_color="white",
        line_color="colour",
        legend_label=_CRITICAL,
    )
    fig.add_tools(
        HoverTool(
            renderers=[marks],
            attachment="below",
            tooltips=[
                ("", "@name"),
                ("critical L", "@text"),
                ("λ_L", "@below{0,0} to @above{0,0}"),
            ],
        )
    )
    fig.scatter(
        x="L", y="T", source=limits, marker="square", size=7, fill_color="colour", line_color=None
    )
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


def _ends(lines: list[Any]) -> tuple[float, float]:
    return float(min(line[0] for line in lines)), float(max(line[-1] for line in lines))


def _with_room(lines: list[Any], least: float | None = None) -> tuple[float, float]:
    low = float(min(np.min(line) for line in lines)) if least is None else least
    high = float(max(np.max(line) for line in lines))
    room = 0.05 * (high - low) or max(abs(high) * 0.05, 1.0)
    return (low - room if least is None else least), high + room
