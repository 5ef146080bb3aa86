"""Speed of the packet core: packet hops a second, beside SST/macro's own on the same runs.

A hop is a packet that an output port sends, that of a NIC included; ports have credits. SST/macro's
wall times were recorded on two shared cores of another day, so the ratio to them is a rough one.
"""

import time
from pathlib import Path

import pytest

from workbench.simulate.fabric.sst import run_collective
from workbench.simulate.fabric.sst_configuration import read_configuration

MACHINES = Path(__file__).parents[1] / "conformance" / "sstmacro-fabric"
TORUS = {"topology.name": "torus", "switch.router.name": "torus_minimal"}
TORUS_512 = {
    **TORUS,
    "topology.geometry": "[8,8,8]",
    "node.app1.launch_cmd": "aprun -n 512 -N 1",
}
TORUS_1024 = {
    **TORUS,
    "topology.geometry": "[16,8,8]",
    "node.app1.launch_cmd": "aprun -n 1024 -N 1",
}
DRAGONFLY = {
    "topology.name": "dragonfly",
    "topology.geometry": "[8,9]",
    "topology.h": "4",
    "topology.inter_group": "circulant",
    "topology.concentration": "4",
    "switch.router.name": "dragonfly_minimal",
    "node.app1.launch_cmd": "aprun -n 256 -N 1",
}
RUNS = {
    "allgather 8 KB, 8x8x8 torus": (TORUS_512, "allgather", 8192, 15.4),
    "alltoall 1 KB, 8x8x8 torus": (TORUS_512, "alltoall", 1024, 7.9),
    "alltoall 1 KB, 16x8x8 torus": (TORUS_1024, "alltoall", 1024, 54.0),
    "allgather 8 KB, dragonfly of 288": (DRAGONFLY, "allgather", 8192, 3.7),
}
"""Machine, collective, size in bytes, and the wall seconds of SST/macro v11.1."""

REPEATS = 3


@pytest.mark.parametrize("name", RUNS)
def test_collective(name):
    machine, mode, size, recorded_s = RUNS[name]
    overrides = {
        **machine,
        "node.app1.mode": mode,
        "node.app1.min_size": str(size),
        "node.app1.max_size": str(size),
    }
    configuration = read_configuration(MACHINES / "snappr.ini", overrides)
    run_collective(configuration)
    times = []
    for _ in range(REPEATS):
        begin = time.thread_time()
        result = run_collective(configuration)
        times.append(time.thread_time() - begin)
    best = min(times)
    bytes_held = result.state.s.nbytes + result.state.q.nbytes + result.state.t.nbytes
    print(
        f"\n{name}: simulated {result.time_us()[size]:.1f} us; {best:.2f} s, "
        f"{result.packet_hops / best / 1e6:.1f} M packet hops/s with credits, "
        f"{bytes_held / 1e6:.0f} MB; {recorded_s / best:.0f} times as fast as SST/macro's "
        f"recorded {recorded_s} s"
    )
    assert result.packet_hops > 0
