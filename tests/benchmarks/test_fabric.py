"""Speed of the packet core: packet hops a second, beside SST/macro's own time for the same runs.

A hop is a packet that an output port sends, that of a NIC included; ports have credits. Where
SST/macro is there (SSTMACRO=/path/to/sstmac) it takes turns with the workbench on the same machine,
collective and size, and both must print the same time; else the ratio is to wall seconds that were
recorded elsewhere.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.benchmarks.other_simulators import SSTMacro
from workbench.simulate.fabric.sst import run_collective
from workbench.simulate.fabric.sst_configuration import read_configuration

MACHINES = Path(__file__).parents[1] / "conformance" / "sstmacro-fabric"
TORUS = {"topology.name": "torus", "switch.router.name": "torus_minimal"}
TORUS_64 = {**TORUS, "topology.geometry": "[4,4,4]", "node.app1.launch_cmd": "aprun -n 64 -N 1"}
TORUS_512 = {**TORUS, "topology.geometry": "[8,8,8]", "node.app1.launch_cmd": "aprun -n 512 -N 1"}
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


@dataclass(frozen=True)
class Run:
    """A collective on a machine.

    Attributes:
        machine: overrides of the .ini.
        mode: of the collective.
        size: in bytes.
        recorded_s: wall seconds of SST/macro v11.1, of two shared cores of another day; None where
            there are none.
        turns: how often both take their turn.
        ini: the machine's file.
    """

    machine: dict[str, str]
    mode: str
    size: int
    recorded_s: float | None = None
    turns: int = 3
    ini: str = "snappr.ini"


RUNS = {
    "allgather 8 KB, 4x4x4 torus": Run(TORUS_64, "allgather", 8192, turns=7),
    "allgather 8 KB, 4x4x4 torus, PISCES": Run(
        TORUS_64, "allgather", 8192, turns=7, ini="pisces.ini"
    ),
    "allgather 8 KB, dragonfly of 288": Run(DRAGONFLY, "allgather", 8192, 3.7, 2),
    "allgather 8 KB, 8x8x8 torus": Run(TORUS_512, "allgather", 8192, 15.4, 1),
    "alltoall 64 B, 16x8x8 torus": Run(TORUS_1024, "alltoall", 64, turns=1),
}
LONG_RUNS = {
    "alltoall 1 KB, 8x8x8 torus": Run(TORUS_512, "alltoall", 1024, 7.9),
    "alltoall 1 KB, 16x8x8 torus": Run(TORUS_1024, "alltoall", 1024, 54.0),
}


def overrides_of(run: Run) -> dict[str, str]:
    """Return what is set on top of a machine's file."""
    return {
        "topology.concentration": "1",
        **run.machine,
        "node.app1.mode": run.mode,
        "node.app1.min_size": str(run.size),
        "node.app1.max_size": str(run.size),
    }


def configuration_of(run: Run):
    """Return what the workbench simulates."""
    return read_configuration(MACHINES / run.ini, overrides_of(run))


def timed(configuration):
    """Return a result and the seconds of this thread that it took."""
    began = time.thread_time()
    result = run_collective(configuration)
    return result, time.thread_time() - began


def sstmacro_run(sstmacro: SSTMacro, run: Run) -> tuple[float, float]:
    """Return the time that SST/macro prints, in us, and the processor's seconds that it took."""
    seconds, printed = sstmacro.run(
        MACHINES / run.ini, {**overrides_of(run), "node.app1.coll_iters": "1"}
    )
    return printed[f"{run.mode} {run.size}"], seconds


@pytest.mark.parametrize("name", RUNS)
def test_beside_sstmacro(name, table, beside_events, sstmacro):
    run = RUNS[name]
    configuration = configuration_of(run)
    result, _ = timed(configuration)
    ours, theirs = [], []
    for _ in range(run.turns):
        ours += [timed(configuration)[1] for _ in range(2)]
        if sstmacro is not None:
            printed_us, seconds = sstmacro_run(sstmacro, run)
            assert result.time_us()[run.size] == pytest.approx(printed_us, rel=1e-8, abs=0.6e-9)
            theirs.append(seconds)
    best = min(ours)
    rate = result.packet_hops / best / 1e6
    beside = beside_events(1 / rate)
    table.add("7", f"{name}, million packet-hops/s", rate, "", at_most=1.05, **beside)
    if theirs:
        what = "  as fast as SST/macro, processor time"
        table.add("7", what, min(theirs) / best, "x", at_least=10)


@pytest.mark.parametrize("name", LONG_RUNS)
def test_collective(name):
    run = LONG_RUNS[name]
    configuration = configuration_of(run)
    run_collective(configuration)
    result, best = min((timed(configuration) for _ in range(run.turns)), key=lambda one: one[1])
    bytes_held = result.state.s.nbytes + result.state.q.nbytes + result.state.t.nbytes
    print(
        f"\n{name}: simulated {result.time_us()[run.size]:.1f} us; {best:.2f} s, "
        f"{result.packet_hops / best / 1e6:.1f} M packet hops/s with credits, "
        f"{bytes_held / 1e6:.0f} MB; {run.recorded_s / best:.0f} times as fast as SST/macro's "
        f"recorded {run.recorded_s} s"
    )
    assert result.packet_hops > 0
