"""Results as Bokeh figures: pure functions, units on every axis, one palette.

Each `plot_…` function returns a figure for a notebook or a file; each `…_figure` or `…_figures`
function returns the same with its sources, for panels that redraw by one write.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy import lazy_exports
from workbench.plotting.embedding import (
    load_bokeh,
    show_by_themselves,
    slides_html,
    standalone_html,
)

if TYPE_CHECKING:
    from workbench.plotting.descriptions import describe_convergence, describe_errors, describe_size
    from workbench.plotting.fit.baseline import describe_baseline, plot_baseline
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
    from workbench.plotting.fit.engines import describe_engines, plot_engines
    from workbench.plotting.fit.error_heatmap import (
        ErrorFigure,
        error_figure,
        plot_percent_error,
    )
    from workbench.plotting.fit.fit_result import plot_fit
    from workbench.plotting.fit.identifiability import (
        describe_identifiability,
        plot_correlation,
        plot_identifiability,
        plot_intervals,
    )
    from workbench.plotting.fit.pareto import describe_pareto, plot_pareto
    from workbench.plotting.fit.regimes import (
        ThresholdFigure,
        describe_bolted,
        describe_threshold,
        plot_bolted,
        plot_threshold,
        threshold_figure,
    )
    from workbench.plotting.fit.residuals import plot_residuals
    from workbench.plotting.placement.comparison import describe_placements, plot_placements
    from workbench.plotting.placement.map import PlacementMap, placement_map, plot_placement
    from workbench.plotting.placement.times import PlacementTimes, placement_times
    from workbench.plotting.predict.emulated import plot_emulated_collectives
    from workbench.plotting.predict.errors import describe_prediction_errors, plot_prediction_errors
    from workbench.plotting.predict.measured import plot_measured_collective
    from workbench.plotting.predict.times import plot_collective_prediction, plot_machine_profile
    from workbench.plotting.replay.breakdown import (
        BreakdownFigure,
        breakdown_figure,
        describe_breakdown,
        plot_breakdown,
    )
    from workbench.plotting.replay.communication import (
        CommunicationFigure,
        communication_figure,
        communication_table,
        describe_communication,
        plot_communication_matrix,
    )
    from workbench.plotting.replay.fabric_jobs import plot_jobs
    from workbench.plotting.replay.message_sizes import (
        MessageSizesFigure,
        describe_message_sizes,
        message_size_table,
        message_sizes_figure,
        plot_message_sizes,
    )
    from workbench.plotting.replay.spacetime import (
        SpacetimeFigure,
        describe_spacetime,
        plot_spacetime,
        spacetime_figure,
    )
    from workbench.plotting.searches.heatmap import plot_search_methods
    from workbench.plotting.study.convergence import (
        describe_study_convergence,
        plot_study_convergence,
    )
    from workbench.plotting.study.errors import (
        describe_study_curves,
        describe_study_errors,
        plot_study_curves,
        plot_study_errors,
    )
    from workbench.plotting.study.heatmap import (
        StudyHeatmap,
        describe_study,
        plot_study,
        study_heatmap,
    )
    from workbench.plotting.study.influence import (
        InfluenceFigure,
        describe_influence,
        influence_figure,
        plot_influence,
    )
    from workbench.plotting.tolerance.descriptions import describe_tolerance
    from workbench.plotting.tolerance.linear_program import plot_linear_program
    from workbench.plotting.tolerance.pairs import (
        PairsFigure,
        describe_pairs,
        pairs_figure,
        plot_pairs,
    )
    from workbench.plotting.tolerance.run_prediction import (
        describe_run_prediction,
        plot_run_prediction,
        plot_trace_predictions,
    )
    from workbench.plotting.tolerance.solver_times import plot_solver_times
    from workbench.plotting.tolerance.tolerance import (
        ToleranceFigure,
        plot_tolerance,
        tolerance_figure,
    )
    from workbench.plotting.tolerance.validation import (
        plot_program_recording,
        plot_validation_report,
    )
    from workbench.plotting.topology.collective_times import plot_collective_times
    from workbench.plotting.topology.load_curves import (
        LoadCurve,
        plot_latency_load,
        plot_load_curves,
    )
    from workbench.plotting.topology.map import plot_fabric_replay, plot_link_loads, plot_topology
    from workbench.plotting.topology.resilience import plot_resilience
    from workbench.plotting.topology.traffic import plot_traffic
    from workbench.plotting.tuning.trajectory import plot_trajectory
    from workbench.plotting.uq.algorithms import describe_algorithms, plot_algorithms
    from workbench.plotting.uq.calibration_check import plot_calibration_check
    from workbench.plotting.uq.chains import plot_chains
    from workbench.plotting.uq.collective_validation import plot_collective_validation
    from workbench.plotting.uq.engines import describe_root_engines, plot_root_engines
    from workbench.plotting.uq.fit import plot_posterior_fit
    from workbench.plotting.uq.measured_validation import plot_measured_validation
    from workbench.plotting.uq.noise_checks import describe_noise_checks, plot_noise_checks
    from workbench.plotting.uq.osu_bands import plot_osu_bands
    from workbench.plotting.uq.pairs import plot_posterior_pairs
    from workbench.plotting.uq.posterior import describe_posterior, plot_posterior
    from workbench.plotting.uq.prediction import describe_prediction, plot_prediction
    from workbench.plotting.uq.problem import describe_calibration_problem, plot_calibration_problem
    from workbench.plotting.uq.pushed import (
        describe_pushed_curves,
        describe_pushed_forward,
        plot_comparison,
        plot_crossover,
        plot_pushed_curves,
        plot_pushed_forward,
    )
    from workbench.plotting.uq.runs import describe_simulator_runs, plot_simulator_runs
    from workbench.plotting.uq.sobol import describe_sobol, plot_sobol
    from workbench.plotting.uq.surrogate import plot_surrogate_choice, plot_surrogate_slice
    from workbench.plotting.uq.system_coverage import describe_system_coverage, plot_system_coverage
    from workbench.plotting.variability.blame import describe_blame, plot_blame
    from workbench.plotting.variability.blame_methods import (
        describe_blame_methods,
        plot_blame_methods,
    )
    from workbench.plotting.variability.blame_scores import describe_blame_scores, plot_blame_scores
    from workbench.plotting.variability.counter_tables import plot_importances, plot_relevance
    from workbench.plotting.variability.deviation import describe_deviation, plot_deviation
    from workbench.plotting.variability.forecast import describe_forecast, plot_forecast
    from workbench.plotting.variability.forecast_grid import (
        describe_forecast_grid,
        plot_forecast_grid,
    )
    from workbench.plotting.variability.leakage import describe_leakage, plot_leakage
    from workbench.plotting.variability.link_traffic import plot_link_traffic
    from workbench.plotting.variability.long_forecast import (
        describe_long_forecast,
        plot_long_forecast,
    )
    from workbench.plotting.variability.mean_steps import describe_mean_steps, plot_mean_steps
    from workbench.plotting.variability.relevance_cause import (
        describe_relevance_and_cause,
        plot_relevance_and_cause,
    )
    from workbench.plotting.variability.report import (
        describe_variability_report,
        plot_variability_report,
    )
    from workbench.plotting.variability.routine_times import (
        describe_routine_times,
        plot_routine_times,
    )
    from workbench.plotting.variability.run_dates import describe_run_dates, plot_run_dates
    from workbench.plotting.variability.run_forecast import describe_run_forecast, plot_run_forecast
    from workbench.plotting.variability.run_steps import describe_run_steps, plot_run_steps
    from workbench.plotting.variability.run_times import describe_run_times, plot_run_times
    from workbench.plotting.variability.stall_check import describe_stall_check, plot_stall_check
    from workbench.plotting.variability.world_map import describe_run_scene, plot_run_scene
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
    "describe_algorithms",
    "describe_baseline",
    "describe_blame",
    "describe_blame_methods",
    "describe_blame_scores",
    "describe_bolted",
    "describe_breakdown",
    "describe_calibration_problem",
    "describe_communication",
    "describe_convergence",
    "describe_deviation",
    "describe_engines",
    "describe_errors",
    "describe_forecast",
    "describe_forecast_grid",
    "describe_identifiability",
    "describe_influence",
    "describe_leakage",
    "describe_long_forecast",
    "describe_mean_steps",
    "describe_message_sizes",
    "describe_noise_checks",
    "describe_pairs",
    "describe_pareto",
    "describe_placements",
    "describe_posterior",
    "describe_prediction",
    "describe_prediction_errors",
    "describe_pushed_curves",
    "describe_pushed_forward",
    "describe_relevance_and_cause",
    "describe_root_engines",
    "describe_routine_times",
    "describe_run_dates",
    "describe_run_forecast",
    "describe_run_prediction",
    "describe_run_scene",
    "describe_run_steps",
    "describe_run_times",
    "describe_simulator_runs",
    "describe_size",
    "describe_sobol",
    "describe_spacetime",
    "describe_stall_check",
    "describe_study",
    "describe_study_convergence",
    "describe_study_curves",
    "describe_study_errors",
    "describe_system_coverage",
    "describe_threshold",
    "describe_tolerance",
    "describe_variability_report",
    "error_figure",
    "influence_figure",
    "load_bokeh",
    "message_size_table",
    "message_sizes_figure",
    "pairs_figure",
    "placement_map",
    "placement_times",
    "plot_algorithms",
    "plot_baseline",
    "plot_blame",
    "plot_blame_methods",
    "plot_blame_scores",
    "plot_bolted",
    "plot_bolted_curves",
    "plot_breakdown",
    "plot_calibration_check",
    "plot_calibration_problem",
    "plot_chains",
    "plot_collective_prediction",
    "plot_collective_times",
    "plot_collective_validation",
    "plot_communication_matrix",
    "plot_comparison",
    "plot_convergence",
    "plot_correlation",
    "plot_crossover",
    "plot_curve",
    "plot_deviation",
    "plot_emulated_collectives",
    "plot_engines",
    "plot_fabric_replay",
    "plot_fit",
    "plot_forecast",
    "plot_forecast_grid",
    "plot_identifiability",
    "plot_importances",
    "plot_influence",
    "plot_intervals",
    "plot_jobs",
    "plot_latency_load",
    "plot_leakage",
    "plot_linear_program",
    "plot_link_loads",
    "plot_link_traffic",
    "plot_load_curves",
    "plot_long_forecast",
    "plot_machine_profile",
    "plot_mean_steps",
    "plot_measured_collective",
    "plot_measured_validation",
    "plot_message_sizes",
    "plot_noise_checks",
    "plot_osu_bands",
    "plot_pairs",
    "plot_pareto",
    "plot_percent_error",
    "plot_placement",
    "plot_placements",
    "plot_posterior",
    "plot_posterior_fit",
    "plot_posterior_pairs",
    "plot_prediction",
    "plot_prediction_errors",
    "plot_program_recording",
    "plot_pushed_curves",
    "plot_pushed_forward",
    "plot_relevance",
    "plot_relevance_and_cause",
    "plot_residuals",
    "plot_resilience",
    "plot_root_engines",
    "plot_routine_times",
    "plot_run_dates",
    "plot_run_forecast",
    "plot_run_prediction",
    "plot_run_scene",
    "plot_run_steps",
    "plot_run_times",
    "plot_search_methods",
    "plot_simulator_runs",
    "plot_sobol",
    "plot_solver_times",
    "plot_spacetime",
    "plot_stall_check",
    "plot_study",
    "plot_study_convergence",
    "plot_study_curves",
    "plot_study_errors",
    "plot_surrogate_choice",
    "plot_surrogate_slice",
    "plot_system_coverage",
    "plot_threshold",
    "plot_tolerance",
    "plot_topology",
    "plot_trace_predictions",
    "plot_traffic",
    "plot_trajectory",
    "plot_validation_report",
    "plot_variability_report",
    "slides_html",
    "spacetime_figure",
    "standalone_html",
    "study_heatmap",
    "threshold_figure",
    "tolerance_figure",
]

show_by_themselves()
