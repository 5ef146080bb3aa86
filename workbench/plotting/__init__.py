"""Results as Bokeh figures: pure functions, units on every axis, one palette.

Each `plot_…` function returns a figure for a notebook or a file; each `…_figure` or `…_figures`
function returns the same with its sources, for panels that redraw by one write.
"""

from __future__ import annotations

from workbench.plotting.convergence import ConvergenceFigure, convergence_figure, plot_convergence
from workbench.plotting.curves import CurveFigures, curve_figures, plot_curve
from workbench.plotting.fitted import plot_fit
from workbench.plotting.heatmap import (
    ErrorFigure,
    error_figure,
    plot_percent_error,
)
from workbench.plotting.reading import read_convergence, read_errors, read_size
from workbench.plotting.standalone import standalone_html

__all__ = [
    "ConvergenceFigure",
    "CurveFigures",
    "ErrorFigure",
    "convergence_figure",
    "curve_figures",
    "error_figure",
    "plot_convergence",
    "plot_curve",
    "plot_fit",
    "plot_percent_error",
    "read_convergence",
    "read_errors",
    "read_size",
    "standalone_html",
]
