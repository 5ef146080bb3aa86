"""How much latency, or how little bandwidth, a program tolerates: sensitivities, critical values.

from workbench import machines, programs, tolerance

model = machines.load("azure-hb96v3-hdr").loggps
tolerance.analyse(programs.load("cg-8"), model).plot()
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy import lazy_exports

if TYPE_CHECKING:
    from workbench.tolerance.analysis import (
        analyse as analyse,
        analyse_bandwidth as analyse_bandwidth,
    )
    from workbench.tolerance.arrivals import analyse_by_arrival as analyse_by_arrival
    from workbench.tolerance.claims import findings as findings, icon_like as icon_like
    from workbench.tolerance.contention import (
        ContentionReport as ContentionReport,
        ResourceShare as ResourceShare,
        compare_contention as compare_contention,
    )
    from workbench.tolerance.curve import (
        BandwidthSensitivity as BandwidthSensitivity,
        LatencySensitivity as LatencySensitivity,
    )
    from workbench.tolerance.figure import (
        ToleranceFigure as ToleranceFigure,
        describe_run_prediction as describe_run_prediction,
        describe_tolerance as describe_tolerance,
        plot_run_prediction as plot_run_prediction,
        plot_tolerance as plot_tolerance,
        plot_trace_predictions as plot_trace_predictions,
        tolerance_figure as tolerance_figure,
    )
    from workbench.tolerance.figure_lp import (
        plot_linear_program as plot_linear_program,
        plot_solver_times as plot_solver_times,
    )
    from workbench.tolerance.figure_network import (
        PairsFigure as PairsFigure,
        describe_pairs as describe_pairs,
        pairs_figure as pairs_figure,
        plot_pairs as plot_pairs,
    )
    from workbench.tolerance.lp import LatencyLP as LatencyLP
    from workbench.tolerance.lp_solvers import (
        LatencyCertificate as LatencyCertificate,
        LinearSystem as LinearSystem,
        LPSolution as LPSolution,
        Ranging as Ranging,
    )
    from workbench.tolerance.lp_text import PathLine as PathLine
    from workbench.tolerance.mean_size import (
        MeanSizeOverhead as MeanSizeOverhead,
        overhead_at_mean_size as overhead_at_mean_size,
    )
    from workbench.tolerance.pairs import (
        PairSensitivity as PairSensitivity,
        pair_sensitivity as pair_sensitivity,
    )
    from workbench.tolerance.run_prediction import (
        RunPrediction as RunPrediction,
        TracePredictions as TracePredictions,
        predict_from_traces as predict_from_traces,
        predict_runs as predict_runs,
    )
    from workbench.tolerance.running_example import running_example as running_example
    from workbench.tolerance.slack import CriticalPath as CriticalPath, Slack as Slack
    from workbench.tolerance.solver_times import (
        SolverTimes as SolverTimes,
        time_solvers as time_solvers,
    )
    from workbench.tolerance.sweep import (
        ClassPoint as ClassPoint,
        CriticalLatencies as CriticalLatencies,
        PairCounts as PairCounts,
        Sweep as Sweep,
        SweepCurve as SweepCurve,
        SweepPoint as SweepPoint,
    )
    from workbench.tolerance.wires import (
        WireSensitivity as WireSensitivity,
        analyse_wires as analyse_wires,
        topology_study as topology_study,
        wire_sensitivity as wire_sensitivity,
        wire_tolerance as wire_tolerance,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)
