"""Networks of many routers: packets, fluid, collectives and programs over them.

from workbench import programs, topology
from workbench.simulate.fabric import Fabric, load_curve, replay_on, run_traffic

fabric = Fabric(topology.dragonfly(a=8, p=4, h=4), routing="ugal-l")
load_curve(fabric, "adversarial", [0.1, 0.3, 0.5]).plot()
replay_on(programs.load("cg-64"), fabric).makespan_s
run_traffic(fabric, "uniform", 0.5).plot()
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy import lazy_exports

if TYPE_CHECKING:
    from workbench.simulate.fabric.collectives import collective_times as collective_times
    from workbench.simulate.fabric.concurrent_jobs import (
        SharedRun as SharedRun,
        run_jobs as run_jobs,
    )
    from workbench.simulate.fabric.fabric import Fabric as Fabric
    from workbench.simulate.fabric.hosts import PLACEMENTS as PLACEMENTS, place_jobs as place_jobs
    from workbench.simulate.fabric.latency_load import (
        LatencyLoad as LatencyLoad,
        load_curve as load_curve,
    )
    from workbench.simulate.fabric.network_interface import NetworkInterface as NetworkInterface
    from workbench.simulate.fabric.open_loop import run_traffic as run_traffic
    from workbench.simulate.fabric.program import replay_on as replay_on
    from workbench.simulate.fabric.program_result import FabricReplay as FabricReplay
    from workbench.simulate.fabric.result import (
        ChannelStatistics as ChannelStatistics,
        FabricResult as FabricResult,
        QueueSeries as QueueSeries,
    )
    from workbench.simulate.fabric.sst import (
        CollectiveTimes as CollectiveTimes,
        run_collective as run_collective,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)
