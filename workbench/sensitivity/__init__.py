"""How a program's time depends on the network: sensitivities, tolerances, placements.

from workbench import machines, programs, sensitivity

model = machines.load("azure-hb96v3-hdr").loggps
sensitivity.analyse(programs.load("cg-8"), model).plot()
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy import lazy_exports

if TYPE_CHECKING:
    from workbench.sensitivity.analysis import analyse as analyse
    from workbench.sensitivity.bandwidth import (
        BandwidthSensitivity as BandwidthSensitivity,
        analyse_bandwidth as analyse_bandwidth,
    )
    from workbench.sensitivity.contention import (
        ContentionReport as ContentionReport,
        ResourceShare as ResourceShare,
        compare_contention as compare_contention,
    )
    from workbench.sensitivity.findings import findings as findings, icon_like as icon_like
    from workbench.sensitivity.lp import LatencyLP as LatencyLP
    from workbench.sensitivity.lp_certificate import LatencyCertificate as LatencyCertificate
    from workbench.sensitivity.lp_ranging import Ranging as Ranging
    from workbench.sensitivity.lp_result import LPSolution as LPSolution
    from workbench.sensitivity.lp_solvers import LinearSystem as LinearSystem
    from workbench.sensitivity.lp_text import PathLine as PathLine
    from workbench.sensitivity.mean_size import (
        MeanSizeOverhead as MeanSizeOverhead,
        overhead_at_mean_size as overhead_at_mean_size,
    )
    from workbench.sensitivity.pairs import (
        PairSensitivity as PairSensitivity,
        pair_sensitivity as pair_sensitivity,
    )
    from workbench.sensitivity.placement import (
        Placement as Placement,
        compare_placements as compare_placements,
        place as place,
    )
    from workbench.sensitivity.result import LatencySensitivity as LatencySensitivity
    from workbench.sensitivity.run_prediction import (
        RunPrediction as RunPrediction,
        TracePredictions as TracePredictions,
        predict_from_traces as predict_from_traces,
        predict_runs as predict_runs,
    )
    from workbench.sensitivity.running_example import running_example as running_example
    from workbench.sensitivity.slack import CriticalPath as CriticalPath, Slack as Slack
    from workbench.sensitivity.solver_times import (
        SolverTimes as SolverTimes,
        time_solvers as time_solvers,
    )
    from workbench.sensitivity.sweep import Sweep as Sweep
    from workbench.sensitivity.sweep_points import (
        ClassPoint as ClassPoint,
        CriticalLatencies as CriticalLatencies,
        PairCounts as PairCounts,
        SweepCurve as SweepCurve,
        SweepPoint as SweepPoint,
    )
    from workbench.sensitivity.wires import (
        WireSensitivity as WireSensitivity,
        analyse_wires as analyse_wires,
        topology_study as topology_study,
        wire_sensitivity as wire_sensitivity,
        wire_tolerance as wire_tolerance,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)
