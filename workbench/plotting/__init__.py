"""Results as Bokeh figures: pure functions, units on every axis, one palette.

Each `plot_…` function returns a figure for a notebook or a file; each `…_figure` or `…_figures`
function returns the same with its sources, for panels that redraw by one write.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy import lazy_exports
from workbench.plotting.fit.baseline import plot_baseline, read_baseline
from workbench.plotting.fit.convergence import (
    ConvergenceFigure,
    convergence_figure,
    plot_convergence,
)
from workbench.plotting.fit.curves import (
    CurveFigures,
    curve_figures,
    plot_bolted_curves,
    plot_curve,
)
from workbench.plotting.fit.engines import plot_engines, read_engines
from workbench.plotting.fit.error_heatmap import (
    ErrorFigure,
    error_figure,
    plot_percent_error,
)
from workbench.plotting.fit.fitted import plot_fit
from workbench.plotting.fit.identifiability import (
    plot_correlation,
    plot_identifiability,
    plot_intervals,
    read_identifiability,
)
from workbench.plotting.fit.regimes import (
    ThresholdFigure,
    plot_bolted,
    plot_threshold,
    read_bolted,
    read_threshold,
    threshold_figure,
)
from workbench.plotting.notebook import load_bokeh, show_by_themselves
from workbench.plotting.placement.comparison import plot_placements, read_placements
from workbench.plotting.placement.map import PlacementMap, placement_map, plot_placement
from workbench.plotting.placement.times import PlacementTimes, placement_times
from workbench.plotting.reading import read_convergence, read_errors, read_size
from workbench.plotting.replay.breakdown import (
    BreakdownFigure,
    breakdown_figure,
    plot_breakdown,
    read_breakdown,
)
from workbench.plotting.replay.communication import (
    CommunicationFigure,
    communication_figure,
    communication_table,
    plot_communication_matrix,
    read_communication,
)
from workbench.plotting.replay.fabric_jobs import plot_jobs
from workbench.plotting.replay.message_sizes import (
    MessageSizesFigure,
    message_size_table,
    message_sizes_figure,
    plot_message_sizes,
    read_message_sizes,
)
from workbench.plotting.replay.spacetime import (
    SpacetimeFigure,
    plot_spacetime,
    read_spacetime,
    spacetime_figure,
)
from workbench.plotting.standalone import standalone_html
from workbench.plotting.study.convergence import plot_study_convergence, read_study_convergence
from workbench.plotting.study.errors import (
    plot_study_curves,
    plot_study_errors,
    read_study_curves,
    read_study_errors,
)
from workbench.plotting.study.heatmap import StudyHeatmap, plot_study, read_study, study_heatmap
from workbench.plotting.study.influence import (
    InfluenceFigure,
    influence_figure,
    plot_influence,
    read_influence,
)
from workbench.plotting.tolerance.pairs import PairsFigure, pairs_figure, plot_pairs, read_pairs
from workbench.plotting.tolerance.tolerance import (
    ToleranceFigure,
    plot_tolerance,
    read_tolerance,
    tolerance_figure,
)
from workbench.plotting.topology.collective_times import plot_collective_times
from workbench.plotting.topology.load_curves import LoadCurve, plot_latency_load, plot_load_curves
from workbench.plotting.topology.map import plot_fabric_replay, plot_link_loads, plot_topology
from workbench.plotting.topology.resilience import plot_resilience
from workbench.plotting.topology.traffic import plot_traffic
from workbench.plotting.tuning.trajectory import plot_trajectory

if TYPE_CHECKING:  # it needs workbench.tune, an eighth more to import than all other figures need
    from workbench.plotting.searches.heatmap import plot_search_methods
else:
    __getattr__, __dir__ = lazy_exports(__name__)

__all__ = [
    "BreakdownFigure",
    "CommunicationFigure",
    "ConvergenceFigure",
    "CurveFigures",
    "ErrorFigure",
    "InfluenceFigure",
    "LoadCurve",
    "MessageSizesFigure",
    "PairsFigure",
    "PlacementMap",
    "PlacementTimes",
    "SpacetimeFigure",
    "StudyHeatmap",
    "ThresholdFigure",
    "ToleranceFigure",
    "breakdown_figure",
    "communication_figure",
    "communication_table",
    "convergence_figure",
    "curve_figures",
    "error_figure",
    "influence_figure",
    "load_bokeh",
    "message_size_table",
    "message_sizes_figure",
    "pairs_figure",
    "placement_map",
    "placement_times",
    "plot_baseline",
    "plot_bolted",
    "plot_bolted_curves",
    "plot_breakdown",
    "plot_collective_times",
    "plot_communication_matrix",
    "plot_convergence",
    "plot_correlation",
    "plot_curve",
    "plot_engines",
    "plot_fabric_replay",
    "plot_fit",
    "plot_identifiability",
    "plot_influence",
    "plot_intervals",
    "plot_jobs",
    "plot_latency_load",
    "plot_link_loads",
    "plot_load_curves",
    "plot_message_sizes",
    "plot_pairs",
    "plot_percent_error",
    "plot_placement",
    "plot_placements",
    "plot_resilience",
    "plot_search_methods",
    "plot_spacetime",
    "plot_study",
    "plot_study_convergence",
    "plot_study_curves",
    "plot_study_errors",
    "plot_threshold",
    "plot_tolerance",
    "plot_topology",
    "plot_traffic",
    "plot_trajectory",
    "read_baseline",
    "read_bolted",
    "read_breakdown",
    "read_communication",
    "read_convergence",
    "read_engines",
    "read_errors",
    "read_identifiability",
    "read_influence",
    "read_message_sizes",
    "read_pairs",
    "read_placements",
    "read_size",
    "read_spacetime",
    "read_study",
    "read_study_convergence",
    "read_study_curves",
    "read_study_errors",
    "read_threshold",
    "read_tolerance",
    "spacetime_figure",
    "standalone_html",
    "study_heatmap",
    "threshold_figure",
    "tolerance_figure",
]

show_by_themselves()
