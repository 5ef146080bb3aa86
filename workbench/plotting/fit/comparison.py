"""One fit, or two side by side: their curves over the measured points, their errors by size."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

from bokeh.layouts import column
from bokeh.models import ColumnDataSource, LayoutDOM

from workbench.measure import OSUCurve
from workbench.plotting import palette
from workbench.plotting.axes import log_range, set_range
from workbench.plotting.fit.curves import (
    CurveFigures,
    curve_figures,
    measured_columns,
    simulated_columns,
)
from workbench.plotting.fit.error_heatmap import ErrorFigure, error_figure
from workbench.plotting.marks import Marks


@dataclass(frozen=True)
class ComparedCurves:
    """One side of a comparison."""

    name: str
    measured: OSUCurve  # of the machine
    simulated: OSUCurve | None  # at the same sizes; None without a fitted model


@dataclass(frozen=True, eq=False)
class ComparisonFigures:
    """The figures of a comparison and their sources."""

    curves: CurveFigures  # ``fitted`` is the line of the second side
    other: ColumnDataSource  # measured points of the second side, if another curve
    errors: ErrorFigure  # percent errors of the first side
    other_errors: ErrorFigure  # of the second side; hidden if there is none
    layout: LayoutDOM  # both error figures; the curves have their own layout

    def show(self, first: ComparedCurves, second: ComparedCurves | None = None) -> None:
        """Draw one fit as a solid line, and the second dashed, with squares for its own points."""
        points = None
        if second is not None and second.measured.name != first.measured.name:
            points = second.measured
        curves = self.curves
        curves.measured.data = measured_columns(first.measured)
        curves.simulated.data = simulated_columns(first.simulated)
        curves.fitted.data = simulated_columns(second.simulated if second else None)
        self.other.data = measured_columns(points)
        for what, fig in (("Latency", curves.latency), ("Bandwidth", curves.bandwidth)):
            fig.title.text = f"{what}, {first.measured.name}"
            origin = first.measured.provenance.origin
            names = (
                (f"measured ({origin})", True),
                (f"{first.name}, simulated", first.simulated is not None),
                (f"{second.name}, simulated" if second else "", second is not None),
                (f"{second.name}, measured" if second else "", points is not None),
            )
            items = [item for item in fig.legend[0].items if item.name != "pinned"]
            for item, (name, shown) in zip(items, names, strict=True):
                item.update(label={"value": name}, visible=shown)
        self._fit_ranges()
        for drawn, side in ((self.errors, first), (self.other_errors, second)):
            if side is not None:
                drawn.show(side.measured, side.simulated)
                drawn.figure.title.text = f"Percent error of {side.name} by message size"
        self.other_errors.figure.visible = second is not None

    def _fit_ranges(self) -> None:
        """Let the axes hold everything; nothing is drawn beyond the sizes of the curves."""
        curves = self.curves
        points = (curves.measured.data, self.other.data)
        lines = (curves.simulated.data, curves.fitted.data)
        sizes = [size for data in (*points, *lines) for size in data["size"]]
        for what, fig in (("latency", curves.latency), ("bandwidth", curves.bandwidth)):
            spread = [data[f"{what}_{end}"] for data in points for end in ("low", "high")]
            set_range(fig.y_range, log_range(chain(*spread, *(data[what] for data in lines))))
            set_range(fig.x_range, (min(sizes) / 1.5, max(sizes) * 1.5))


def comparison_figures(
    first: ComparedCurves, second: ComparedCurves | None = None, *, height: int = 230
) -> ComparisonFigures:
    """Return the figures of one fit or two; `height` is that of each figure of curves, px."""
    curves = curve_figures(first.measured, height=height)
    # Beside a heatmap it would cover the points; the latency's names the same.
    curves.bandwidth.legend.visible = False
    other = ColumnDataSource(data=measured_columns(None), name="other")
    for what, fig in (("latency", curves.latency), ("bandwidth", curves.bandwidth)):
        Marks(fig, other, x="size").points(
            what, palette.FITTED, fill="white", marker="square", width=1.5, legend="other"
        )
    errors = error_figure(first.measured, None, height=100)
    other_errors = error_figure(first.measured, None, height=100)
    other_errors.source.name = "other_errors"
    layout = column(other_errors.figure, errors.figure, sizing_mode="stretch_width")
    drawn = ComparisonFigures(curves, other, errors, other_errors, layout)
    drawn.show(first, second)
    return drawn
