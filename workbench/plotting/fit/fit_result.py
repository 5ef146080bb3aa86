"""A fit as one picture: curves over the measurement, errors by size, residuals, convergence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bokeh.layouts import column
from bokeh.models import LayoutDOM

from workbench.plotting.descriptions import describe_convergence, describe_errors
from workbench.plotting.fit.convergence import plot_convergence
from workbench.plotting.fit.curves import plot_curve
from workbench.plotting.fit.error_heatmap import plot_percent_error
from workbench.plotting.fit.residuals import plot_residuals
from workbench.plotting.grid import sentence

if TYPE_CHECKING:
    from workbench.fit import FitResult


def plot_fit(result: FitResult) -> LayoutDOM:
    """Return the figures of a fit, each with its sentence.

    Args:
        result: of `workbench.fit.fit`; one that failed shows the measurement and why it failed.
    """
    parts: list[LayoutDOM] = [plot_curve(result.measured, fitted=result.simulated)]
    if result.simulated is None:
        parts.append(sentence(result.message))
    else:
        parts += [
            plot_percent_error(result.measured, result.simulated),
            sentence(describe_errors(result.measured, result.simulated)),
            plot_residuals(result.measured, result.simulated),
        ]
    parts += [
        plot_convergence(result.losses, loss=result.loss),
        sentence(describe_convergence(result.losses, loss=result.loss)),
    ]
    return column(parts, sizing_mode="stretch_width")
