"""How a program's time depends on the network: sensitivities, tolerances, placements.

from workbench import machines, programs, sensitivity

model = machines.load("azure-hb96v3-hdr").loggps
sensitivity.analyse(programs.load("cg-8"), model).plot()
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy import lazy_exports

if TYPE_CHECKING:
    from workbench.sensitivity.analysis import analyse
    from workbench.sensitivity.bandwidth import BandwidthSensitivity, analyse_bandwidth
    from workbench.sensitivity.contention import ContentionReport, ResourceShare, compare_contention
    from workbench.sensitivity.findings import findings, icon_like
    from workbench.sensitivity.lp import LatencyLP
    from workbench.sensitivity.lp_certificate import LatencyCertificate
    from workbench.sensitivity.lp_ranging import Ranging
    from workbench.sensitivity.lp_result import LPSolution
    from workbench.sensitivity.lp_solvers import LinearSystem
    from workbench.sensitivity.lp_text import PathLine
    from workbench.sensitivity.mean_size import MeanSizeOverhead, overhead_at_mean_size
    from workbench.sensitivity.pairs import PairSensitivity, pair_sensitivity
    from workbench.sensitivity.placement import Placement, compare_placements, place
    from workbench.sensitivity.result import LatencySensitivity
    from workbench.sensitivity.run_prediction import (
        RunPrediction,
        TracePredictions,
        predict_from_traces,
        predict_runs,
    )
    from workbench.sensitivity.running_example import running_example
    from workbench.sensitivity.slack import CriticalPath, Slack
    from workbench.sensitivity.solver_times import SolverTimes, time_solvers
    from workbench.sensitivity.sweep import Sweep
    from workbench.sensitivity.sweep_points import (
        ClassPoint,
        CriticalLatencies,
        PairCounts,
        SweepCurve,
        SweepPoint,
    )
    from workbench.sensitivity.wires import (
        WireSensitivity,
        analyse_wires,
        topology_study,
        wire_sensitivity,
        wire_tolerance,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)

__all__ = [
    "BandwidthSensitivity",
    "ClassPoint",
    "ContentionReport",
    "CriticalLatencies",
    "CriticalPath",
    "LPSolution",
    "LatencyCertificate",
    "LatencyLP",
    "LatencySensitivity",
    "LinearSystem",
    "MeanSizeOverhead",
    "PairCounts",
    "PairSensitivity",
    "PathLine",
    "Placement",
    "Ranging",
    "ResourceShare",
    "RunPrediction",
    "Slack",
    "SolverTimes",
    "Sweep",
    "SweepCurve",
    "SweepPoint",
    "TracePredictions",
    "WireSensitivity",
    "analyse",
    "analyse_bandwidth",
    "analyse_wires",
    "compare_contention",
    "compare_placements",
    "findings",
    "icon_like",
    "overhead_at_mean_size",
    "pair_sensitivity",
    "place",
    "predict_from_traces",
    "predict_runs",
    "running_example",
    "time_solvers",
    "topology_study",
    "wire_sensitivity",
    "wire_tolerance",
]
