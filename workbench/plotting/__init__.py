"""Results as Bokeh figures: pure functions, units on every axis, one palette.

Each `plot_…` function returns a figure for a notebook or a file; each `…_figure` or `…_figures`
function returns the same with its sources, for panels that redraw by one write.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy import lazy_exports
from workbench.plotting.embedding import (
    load_bokeh as load_bokeh,
    show_by_themselves,
    slides_html as slides_html,
    standalone_html as standalone_html,
)

if TYPE_CHECKING:
    from workbench.plotting.descriptions import (
        describe_convergence as describe_convergence,
        describe_errors as describe_errors,
        describe_size as describe_size,
    )
    from workbench.plotting.fit.baseline import (
        describe_baseline as describe_baseline,
        plot_baseline as plot_baseline,
    )
    from workbench.plotting.fit.convergence import (
        ConvergenceFigure as ConvergenceFigure,
        convergence_figure as convergence_figure,
        plot_convergence as plot_convergence,
    )
    from workbench.plotting.fit.curves import (
        CurveFigures as CurveFigures,
        curve_figures as curve_figures,
        plot_bolted_curves as plot_bolted_curves,
        plot_curve as plot_curve,
    )
    from workbench.plotting.fit.engines import (
        describe_engines as describe_engines,
        plot_engines as plot_engines,
    )
    from workbench.plotting.fit.error_heatmap import (
        ErrorFigure as ErrorFigure,
        error_figure as error_figure,
        plot_percent_error as plot_percent_error,
    )
    from workbench.plotting.fit.fit_result import plot_fit as plot_fit
    from workbench.plotting.fit.identifiability import (
        describe_identifiability as describe_identifiability,
        plot_correlation as plot_correlation,
        plot_identifiability as plot_identifiability,
        plot_intervals as plot_intervals,
    )
    from workbench.plotting.fit.pareto import (
        describe_pareto as describe_pareto,
        plot_pareto as plot_pareto,
    )
    from workbench.plotting.fit.regimes import (
        ThresholdFigure as ThresholdFigure,
        describe_bolted as describe_bolted,
        describe_threshold as describe_threshold,
        plot_bolted as plot_bolted,
        plot_threshold as plot_threshold,
        threshold_figure as threshold_figure,
    )
    from workbench.plotting.fit.residuals import plot_residuals as plot_residuals
    from workbench.plotting.placement.comparison import (
        describe_placements as describe_placements,
        plot_placements as plot_placements,
    )
    from workbench.plotting.placement.map import (
        PlacementMap as PlacementMap,
        placement_map as placement_map,
        plot_placement as plot_placement,
    )
    from workbench.plotting.placement.times import (
        PlacementTimes as PlacementTimes,
        placement_times as placement_times,
    )
    from workbench.plotting.predict.emulated import (
        plot_emulated_collectives as plot_emulated_collectives,
    )
    from workbench.plotting.predict.errors import (
        describe_prediction_errors as describe_prediction_errors,
        plot_prediction_errors as plot_prediction_errors,
    )
    from workbench.plotting.predict.measured import (
        plot_measured_collective as plot_measured_collective,
    )
    from workbench.plotting.predict.times import (
        plot_collective_prediction as plot_collective_prediction,
        plot_machine_profile as plot_machine_profile,
    )
    from workbench.plotting.replay.breakdown import (
        BreakdownFigure as BreakdownFigure,
        breakdown_figure as breakdown_figure,
        describe_breakdown as describe_breakdown,
        plot_breakdown as plot_breakdown,
    )
    from workbench.plotting.replay.communication import (
        CommunicationFigure as CommunicationFigure,
        communication_figure as communication_figure,
        communication_table as communication_table,
        describe_communication as describe_communication,
        plot_communication_matrix as plot_communication_matrix,
    )
    from workbench.plotting.replay.fabric_jobs import plot_jobs as plot_jobs
    from workbench.plotting.replay.message_sizes import (
        MessageSizesFigure as MessageSizesFigure,
        describe_message_sizes as describe_message_sizes,
        message_size_table as message_size_table,
        message_sizes_figure as message_sizes_figure,
        plot_message_sizes as plot_message_sizes,
    )
    from workbench.plotting.replay.spacetime import (
        SpacetimeFigure as SpacetimeFigure,
        describe_spacetime as describe_spacetime,
        plot_spacetime as plot_spacetime,
        spacetime_figure as spacetime_figure,
    )
    from workbench.plotting.searches.heatmap import plot_search_methods as plot_search_methods
    from workbench.plotting.study.convergence import (
        describe_study_convergence as describe_study_convergence,
        plot_study_convergence as plot_study_convergence,
    )
    from workbench.plotting.study.errors import (
        describe_study_curves as describe_study_curves,
        describe_study_errors as describe_study_errors,
        plot_study_curves as plot_study_curves,
        plot_study_errors as plot_study_errors,
    )
    from workbench.plotting.study.heatmap import (
        StudyHeatmap as StudyHeatmap,
        describe_study as describe_study,
        plot_study as plot_study,
        study_heatmap as study_heatmap,
    )
    from workbench.plotting.study.influence import (
        InfluenceFigure as InfluenceFigure,
        describe_influence as describe_influence,
        influence_figure as influence_figure,
        plot_influence as plot_influence,
    )
    from workbench.plotting.topology.collective_times import (
        plot_collective_times as plot_collective_times,
    )
    from workbench.plotting.topology.load_curves import (
        LoadCurve as LoadCurve,
        plot_latency_load as plot_latency_load,
        plot_load_curves as plot_load_curves,
    )
    from workbench.plotting.topology.map import (
        plot_fabric_replay as plot_fabric_replay,
        plot_link_loads as plot_link_loads,
        plot_topology as plot_topology,
    )
    from workbench.plotting.topology.resilience import plot_resilience as plot_resilience
    from workbench.plotting.topology.traffic import plot_traffic as plot_traffic
    from workbench.plotting.tuning.trajectory import plot_trajectory as plot_trajectory
    from workbench.plotting.uq.algorithms import (
        describe_algorithms as describe_algorithms,
        plot_algorithms as plot_algorithms,
    )
    from workbench.plotting.uq.calibration_check import (
        plot_calibration_check as plot_calibration_check,
    )
    from workbench.plotting.uq.chains import plot_chains as plot_chains
    from workbench.plotting.uq.collective_validation import (
        plot_collective_validation as plot_collective_validation,
    )
    from workbench.plotting.uq.engines import (
        describe_root_engines as describe_root_engines,
        plot_root_engines as plot_root_engines,
    )
    from workbench.plotting.uq.fit import plot_posterior_fit as plot_posterior_fit
    from workbench.plotting.uq.measured_validation import (
        plot_measured_validation as plot_measured_validation,
    )
    from workbench.plotting.uq.noise_checks import (
        describe_noise_checks as describe_noise_checks,
        plot_noise_checks as plot_noise_checks,
    )
    from workbench.plotting.uq.osu_bands import plot_osu_bands as plot_osu_bands
    from workbench.plotting.uq.pairs import plot_posterior_pairs as plot_posterior_pairs
    from workbench.plotting.uq.posterior import (
        describe_posterior as describe_posterior,
        plot_posterior as plot_posterior,
    )
    from workbench.plotting.uq.prediction import (
        describe_prediction as describe_prediction,
        plot_prediction as plot_prediction,
    )
    from workbench.plotting.uq.problem import (
        describe_calibration_problem as describe_calibration_problem,
        plot_calibration_problem as plot_calibration_problem,
    )
    from workbench.plotting.uq.pushed import (
        describe_pushed_curves as describe_pushed_curves,
        describe_pushed_forward as describe_pushed_forward,
        plot_comparison as plot_comparison,
        plot_crossover as plot_crossover,
        plot_pushed_curves as plot_pushed_curves,
        plot_pushed_forward as plot_pushed_forward,
    )
    from workbench.plotting.uq.runs import (
        describe_simulator_runs as describe_simulator_runs,
        plot_simulator_runs as plot_simulator_runs,
    )
    from workbench.plotting.uq.sobol import (
        describe_sobol as describe_sobol,
        plot_sobol as plot_sobol,
    )
    from workbench.plotting.uq.surrogate import (
        plot_surrogate_choice as plot_surrogate_choice,
        plot_surrogate_slice as plot_surrogate_slice,
    )
    from workbench.plotting.uq.system_coverage import (
        describe_system_coverage as describe_system_coverage,
        plot_system_coverage as plot_system_coverage,
    )
    from workbench.plotting.variability.blame import (
        describe_blame as describe_blame,
        plot_blame as plot_blame,
    )
    from workbench.plotting.variability.blame_methods import (
        describe_blame_methods as describe_blame_methods,
        plot_blame_methods as plot_blame_methods,
    )
    from workbench.plotting.variability.blame_scores import (
        describe_blame_scores as describe_blame_scores,
        plot_blame_scores as plot_blame_scores,
    )
    from workbench.plotting.variability.counter_tables import (
        plot_importances as plot_importances,
        plot_relevance as plot_relevance,
    )
    from workbench.plotting.variability.deviation import (
        describe_deviation as describe_deviation,
        plot_deviation as plot_deviation,
    )
    from workbench.plotting.variability.forecast import (
        describe_forecast as describe_forecast,
        plot_forecast as plot_forecast,
    )
    from workbench.plotting.variability.forecast_grid import (
        describe_forecast_grid as describe_forecast_grid,
        plot_forecast_grid as plot_forecast_grid,
    )
    from workbench.plotting.variability.leakage import (
        describe_leakage as describe_leakage,
        plot_leakage as plot_leakage,
    )
    from workbench.plotting.variability.link_traffic import plot_link_traffic as plot_link_traffic
    from workbench.plotting.variability.long_forecast import (
        describe_long_forecast as describe_long_forecast,
        plot_long_forecast as plot_long_forecast,
    )
    from workbench.plotting.variability.mean_steps import (
        describe_mean_steps as describe_mean_steps,
        plot_mean_steps as plot_mean_steps,
    )
    from workbench.plotting.variability.relevance_cause import (
        describe_relevance_and_cause as describe_relevance_and_cause,
        plot_relevance_and_cause as plot_relevance_and_cause,
    )
    from workbench.plotting.variability.report import (
        describe_variability_report as describe_variability_report,
        plot_variability_report as plot_variability_report,
    )
    from workbench.plotting.variability.routine_times import (
        describe_routine_times as describe_routine_times,
        plot_routine_times as plot_routine_times,
    )
    from workbench.plotting.variability.run_dates import (
        describe_run_dates as describe_run_dates,
        plot_run_dates as plot_run_dates,
    )
    from workbench.plotting.variability.run_forecast import (
        describe_run_forecast as describe_run_forecast,
        plot_run_forecast as plot_run_forecast,
    )
    from workbench.plotting.variability.run_steps import (
        describe_run_steps as describe_run_steps,
        plot_run_steps as plot_run_steps,
    )
    from workbench.plotting.variability.run_times import (
        describe_run_times as describe_run_times,
        plot_run_times as plot_run_times,
    )
    from workbench.plotting.variability.stall_check import (
        describe_stall_check as describe_stall_check,
        plot_stall_check as plot_stall_check,
    )
    from workbench.plotting.variability.world_map import (
        describe_run_scene as describe_run_scene,
        plot_run_scene as plot_run_scene,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)

show_by_themselves()
