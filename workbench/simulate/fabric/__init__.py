"""Networks of many routers: packets, fluid, collectives and programs over them.

from workbench import programs, topology
from workbench.simulate.fabric import Fabric, load_curve, replay_on, run_traffic

fabric = Fabric(topology.dragonfly(a=8, p=4, h=4), routing="ugal-l")
load_curve(fabric, "adversarial", [0.1, 0.3, 0.5]).plot()
replay_on(programs.load("cg-64"), fabric).makespan_s
run_traffic(fabric, "uniform", 0.5).plot()
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.simulate.fabric.collectives import collective_times
    from workbench.simulate.fabric.fabric import Fabric
    from workbench.simulate.fabric.hosts import PLACEMENTS, place_jobs
    from workbench.simulate.fabric.latency_load import LatencyLoad, load_curve
    from workbench.simulate.fabric.open_loop import run_traffic
    from workbench.simulate.fabric.program import replay_on
    from workbench.simulate.fabric.program_result import FabricReplay
    from workbench.simulate.fabric.result import ChannelStatistics, FabricResult, QueueSeries
    from workbench.simulate.fabric.shared import SharedRun, run_jobs
    from workbench.simulate.fabric.sst import CollectiveTimes, run_collective

__all__ = [
    "PLACEMENTS",
    "ChannelStatistics",
    "CollectiveTimes",
    "Fabric",
    "FabricReplay",
    "FabricResult",
    "LatencyLoad",
    "QueueSeries",
    "SharedRun",
    "collective_times",
    "load_curve",
    "place_jobs",
    "replay_on",
    "run_collective",
    "run_jobs",
    "run_traffic",
]

# Looked up late: each brings compiled kernels with it.
_HOME = {
    "PLACEMENTS": "hosts",
    "ChannelStatistics": "result",
    "CollectiveTimes": "sst",
    "Fabric": "fabric",
    "FabricReplay": "program_result",
    "FabricResult": "result",
    "LatencyLoad": "latency_load",
    "QueueSeries": "result",
    "SharedRun": "shared",
    "collective_times": "collectives",
    "load_curve": "latency_load",
    "place_jobs": "hosts",
    "replay_on": "program",
    "run_collective": "sst",
    "run_jobs": "shared",
    "run_traffic": "open_loop",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(
            f"workbench.simulate.fabric has no attribute {name!r}; it has {', '.join(__all__)}"
        )
    value = getattr(import_module(f"workbench.simulate.fabric.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> Iterable[str]:
    return sorted(__all__)
