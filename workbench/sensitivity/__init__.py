"""How a program's time depends on the network: sensitivities, tolerances, placements.

from workbench import models, programs, sensitivity

model = models.profile("azure-hb96v3-hdr").loggps
sensitivity.analyse(programs.load("cg-8"), model).plot()
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.sensitivity.analysis import analyse
    from workbench.sensitivity.contention import ContentionReport, ResourceShare, compare_contention
    from workbench.sensitivity.critical import CriticalPath, Slack
    from workbench.sensitivity.lp import LatencyLP
    from workbench.sensitivity.lp_ranging import Ranging
    from workbench.sensitivity.lp_result import LPSolution
    from workbench.sensitivity.pairs import PairSensitivity, pair_sensitivity
    from workbench.sensitivity.placement import Placement, compare_placements, place
    from workbench.sensitivity.points import (
        ClassPoint,
        CriticalLatencies,
        PairCounts,
        SweepCurve,
        SweepPoint,
    )
    from workbench.sensitivity.result import LatencySensitivity
    from workbench.sensitivity.sweep import Sweep
    from workbench.sensitivity.wires import (
        WireSensitivity,
        topology_study,
        wire_sensitivity,
        wire_tolerance,
    )

__all__ = [
    "ClassPoint",
    "ContentionReport",
    "CriticalLatencies",
    "CriticalPath",
    "LPSolution",
    "LatencyLP",
    "LatencySensitivity",
    "PairCounts",
    "PairSensitivity",
    "Placement",
    "Ranging",
    "ResourceShare",
    "Slack",
    "Sweep",
    "SweepCurve",
    "SweepPoint",
    "WireSensitivity",
    "analyse",
    "compare_contention",
    "compare_placements",
    "pair_sensitivity",
    "place",
    "topology_study",
    "wire_sensitivity",
    "wire_tolerance",
]

_HOME = {
    "ClassPoint": "points",
    "ContentionReport": "contention",
    "CriticalLatencies": "points",
    "CriticalPath": "critical",
    "LPSolution": "lp_result",
    "LatencyLP": "lp",
    "LatencySensitivity": "result",
    "PairCounts": "points",
    "PairSensitivity": "pairs",
    "Placement": "placement",
    "Ranging": "lp_ranging",
    "ResourceShare": "contention",
    "Slack": "critical",
    "Sweep": "sweep",
    "SweepCurve": "points",
    "SweepPoint": "points",
    "WireSensitivity": "wires",
    "analyse": "analysis",
    "compare_contention": "contention",
    "compare_placements": "placement",
    "pair_sensitivity": "pairs",
    "place": "placement",
    "topology_study": "wires",
    "wire_sensitivity": "wires",
    "wire_tolerance": "wires",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(
            f"workbench.sensitivity has no attribute {name!r}; it has {', '.join(sorted(__all__))}"
        )
    value = getattr(import_module(f"workbench.sensitivity.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> Iterable[str]:
    return sorted(__all__)
