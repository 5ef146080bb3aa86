"""Latency and bandwidth over message size: measured points with their spread, simulated lines."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from bokeh.layouts import column, row
from bokeh.models import (
    BoxSelectTool,
    ColumnDataSource,
    Div,
    LayoutDOM,
    Range1d,
    TapTool,
)
from bokeh.plotting import figure

from workbench.measure.curve import OSU_SIZES, OSUCurve, Spread, byte_label
from workbench.plotting import palette
from workbench.plotting.axes import (
    log_range,
    message_size_axis,
    new_figure,
    place_legend,
    plain_log_ticks,
    set_range,
)
from workbench.plotting.marks import Marks, hover
from workbench.plotting.theme import NOTE

if TYPE_CHECKING:
    from workbench.fit import Bolted

_CHOOSE = "Leave points out of the fit, or take them back"
_SPREAD_COLUMNS = ("low", "p25", "p75", "high")


@dataclass(frozen=True, eq=False)
class CurveFigures:
    """A latency and a bandwidth figure that share their sources, so one write redraws both.

    Attributes:
        latency, bandwidth: the figures.
        measured: source of the measured points and whiskers, the columns of `measured_columns`.
        simulated: source of the simulated lines, the columns of `simulated_columns`.
        fitted: source of a second simulated line, dashed: what a fit has found.
        pinned: source of another machine's measured points, the columns of `simulated_columns`.
        layout: both figures side by side in one document.
    """

    latency: figure
    bandwidth: figure
    measured: ColumnDataSource
    simulated: ColumnDataSource
    fitted: ColumnDataSource
    pinned: ColumnDataSource
    layout: LayoutDOM

    def choose_points(self) -> None:
        """Let a click, or a box drawn with the tool for it, select measured points."""
        for fig in (self.latency, self.bandwidth):
            drawn = [one for one in fig.renderers if one.data_source is self.measured]
            for one in drawn:
                one.nonselection_glyph = None  # a choice is shown by what Python draws after it
            points = drawn[-1:]
            fig.toolbar_inner = False  # beside the title: inside, it would cover points
            fig.add_tools(
                TapTool(renderers=points, description=_CHOOSE),
                BoxSelectTool(renderers=points, description=_CHOOSE),
            )

    def pin(self, curve: OSUCurve | None) -> None:
        """Draw another machine's measured points beside those shown; None removes them.

        Args:
            curve: what was measured there.
        """
        self.pinned.data = simulated_columns(curve)
        for fig in (self.latency, self.bandwidth):
            item = next(one for one in fig.legend[0].items if one.name == "pinned")
            if curve is not None:
                item.label = {"value": curve.name}
            item.visible = curve is not None
        self.fit_ranges()

    def fit_ranges(self) -> None:
        """Let the axes hold all that is drawn; a view that was zoomed stays where that suffices."""
        sources = (self.measured, self.simulated, self.fitted, self.pinned)
        points, *lines = (source.data for source in sources)
        sizes = [size for drawn in (points, *lines) for size in drawn["size"]] or list(OSU_SIZES)
        for what, fig in (("latency", self.latency), ("bandwidth", self.bandwidth)):
            columns = [points[f"{what}_low"], points[f"{what}_high"], *(d[what] for d in lines)]
            set_range(fig.y_range, log_range(chain(points[what], *columns)))
            set_range(fig.x_range, (min(sizes) / 1.5, max(sizes) * 1.5))

    def name_machine(self, measured: OSUCurve | None) -> None:
        """Put the measured curve's name and origin into both titles.

        Args:
            measured: the curve of the points.
        """
        whose = f", {measured.name} ({measured.provenance.origin})" if measured is not None else ""
        self.latency.title.text = f"Latency{whose}"
        self.bandwidth.title.text = f"Bandwidth{whose}"

    def name_in_legend(self, name: str, shown: bool) -> None:
        """Let the legends name only what is drawn.

        Args:
            name: ``measured``, ``simulated`` or ``fitted``.
            shown: whether it is drawn now.
        """
        for fig in (self.latency, self.bandwidth):
            for item in fig.legend[0].items:
                if item.label["value"] == name and item.visible != shown:
                    item.visible = shown


def plot_curve(
    curve: OSUCurve,
    simulated: OSUCurve | None = None,
    fitted: OSUCurve | None = None,
    *,
    height: int = 300,
) -> LayoutDOM:
    """Return a curve as two figures side by side, with the captions of its provenance below.

    Args:
        curve: what was measured; a curve that was simulated is drawn as a line.
        simulated: drawn over `curve` as a line.
        fitted: drawn over both as a dashed line.
        height: height of each figure in pixels.
    """
    measured = None if curve.provenance.origin == "simulated" else curve
    line = curve if measured is None else simulated
    figures = curve_figures(measured, line, fitted, height=height)
    shown = [item for item in (measured, line, fitted) if item is not None]
    caption = Div(
        text="<br>".join(item.provenance.caption() for item in shown),
        sizing_mode="stretch_width",
        styles={"font-size": "12px", "color": NOTE},
    )
    return column(figures.layout, caption, sizing_mode="stretch_width")


def plot_bolted_curves(bolted: Bolted, *, height: int = 300) -> LayoutDOM:
    """Return the measured curve and the one that two models bolted together give.

    Args:
        bolted: the two models.
        height: height of each figure in pixels.
    """
    return plot_curve(bolted.measured, fitted=bolted.simulated, height=height)


def curve_figures(
    measured: OSUCurve | None,
    simulated: OSUCurve | None = None,
    fitted: OSUCurve | None = None,
    *,
    height: int = 300,
) -> CurveFigures:
    """Return the pair of figures with its sources; any curve may be missing and be set later.

    Args:
        measured: drawn as points with whiskers.
        simulated: drawn as a line.
        fitted: drawn as a dashed line.
        height: height of each figure in pixels.
    """
    sources = {
        "measured": ColumnDataSource(data=measured_columns(measured), name="measured"),
        "simulated": ColumnDataSource(data=simulated_columns(simulated), name="simulated"),
        "fitted": ColumnDataSource(data=simulated_columns(fitted), name="fitted"),
        "pinned": ColumnDataSource(data=simulated_columns(None), name="pinned"),
    }
    shown = [curve for curve in (measured, simulated, fitted) if curve is not None]
    sizes = shown[0].sizes.tolist() if shown else list(OSU_SIZES)
    latency = _pane("latency", "latency (µs)", sources, height, sizes)
    bandwidth = _pane("bandwidth", "bandwidth (MB/s)", sources, height, sizes)
    place_legend(latency, "top_left")
    place_legend(bandwidth, "bottom_right")
    figures = CurveFigures(
        latency, bandwidth, **sources, layout=row(latency, bandwidth, sizing_mode="stretch_width")
    )
    figures.name_machine(measured)
    figures.fit_ranges()
    for name, source in sources.items():
        figures.name_in_legend(name, bool(source.data["size"]))
    return figures


def measured_columns(
    curve: OSUCurve | None, left_out: Collection[int] = ()
) -> dict[str, list[Any]]:
    """Return the columns of `CurveFigures.measured`; empty ones for None.

    Points of sizes that a fit leaves out are hollow. Plain lists travel to the page as one message,
    arrays as one each.
    """
    if curve is None:
        names = [f"{what}_{part}" for what in ("latency", "bandwidth") for part in _SPREAD_COLUMNS]
        return {name: [] for name in ("size", "label", "fill", "latency", "bandwidth", *names)}
    columns: dict[str, list[Any]] = {
        "size": curve.sizes.tolist(),
        "label": [byte_label(size) for size in curve.sizes.tolist()],
        "fill": [
            palette.WHITE if size in left_out else palette.MEASURED for size in curve.sizes.tolist()
        ],
        "latency": curve.latency_us.tolist(),
        "bandwidth": curve.bandwidth_MBps.tolist(),
    }
    for what, spread, scale, middle in (
        ("latency", curve.latency_spread, 1e6, curve.latency_us),
        ("bandwidth", curve.bandwidth_spread, 1e-6, curve.bandwidth_MBps),
    ):
        columns.update(_spread_columns(what, spread, scale, middle))
    return columns


def simulated_columns(curve: OSUCurve | None) -> dict[str, list[Any]]:
    """Return the columns of `CurveFigures.simulated`; empty ones for None."""
    if curve is None:
        return {"size": [], "label": [], "latency": [], "bandwidth": []}
    return {
        "size": curve.sizes.tolist(),
        "label": [byte_label(size) for size in curve.sizes.tolist()],
        "latency": curve.latency_us.tolist(),
        "bandwidth": curve.bandwidth_MBps.tolist(),
    }


def _spread_columns(
    what: str, spread: Spread | None, scale: float, middle: np.ndarray[Any, Any]
) -> dict[str, list[float]]:
    if spread is None:
        return {f"{what}_{part}": middle.tolist() for part in _SPREAD_COLUMNS}
    parts = (spread.minimum, spread.p25, spread.p75, spread.maximum)
    return {
        f"{what}_{part}": (values * scale).tolist()
        for part, values in zip(_SPREAD_COLUMNS, parts, strict=True)
    }


def _pane(
    what: str, y_label: str, sources: dict[str, ColumnDataSource], height: int, sizes: list[int]
) -> figure:
    """Return one figure of the pair, reading the columns named after `what`."""
    fig = new_figure(
        title=what.capitalize(),
        y_label=y_label,
        height=height,
        file_name=what,
        x_range=Range1d(),
        y_range=Range1d(),
    )
    plain_log_ticks(fig.yaxis)
    message_size_axis(fig, sizes, count=5)
    marks = {name: Marks(fig, source, x="size") for name, source in sources.items()}
    measured, pinned = marks["measured"], marks["pinned"]
    measured.spans(f"{what}_low", f"{what}_high", palette.FAINT)
    measured.spans(f"{what}_p25", f"{what}_p75", palette.FAINT, width=5, alpha=0.6)
    black, green = palette.MEASURED, palette.GREEN
    drawn = [measured.points(what, black, fill="fill", width=1.5, legend="measured")]
    pinned.line(what, green, legend="pinned")
    drawn.append(pinned.points(what, green, marker="triangle", size=7, alpha=0.5, legend="pinned"))
    fig.legend[0].items[-1].name = "pinned"
    for name, colour, dash in (
        ("simulated", palette.SIMULATED, "solid"),
        ("fitted", palette.FITTED, "dashed"),
    ):
        drawn.append(marks[name].line(what, colour, dash=dash, width=2.5, legend=name))
    hover(fig, drawn, [("size", "@label"), (y_label, f"@{what}{{0.00}}")])
    fig.legend.click_policy = "hide"
    return fig
