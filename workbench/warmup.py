"""Compile every kernel once, so that the first figure need not wait for it."""

from __future__ import annotations

import argparse
import os
import sys
import threading
import time
from typing import TYPE_CHECKING

from workbench import warming

if TYPE_CHECKING:
    from workbench.models import LogGPS
    from workbench.simulate.fabric.fabric import Congestion
    from workbench.simulate.replay_result import ReplayResult, Semantics


def main() -> int:
    """Compile all kernels, or a part of them, and return the command's status."""
    parser = argparse.ArgumentParser(prog="python -m workbench.warmup", description=__doc__)
    parser.add_argument(
        "part",
        nargs="?",
        choices=PARTS,
        default="all",
        help="first: what notebook 00 needs, for which numba is enough of the packages "
        "(default: all)",
    )
    parser.add_argument(
        "--while",
        dest="process",
        type=int,
        metavar="PID",
        help="end when this process does, and report a failure in one line",
    )
    arguments = parser.parse_args()
    if arguments.process is not None:
        threading.Thread(target=_end_with, args=[arguments.process], daemon=True).start()
    compile_part = PARTS[arguments.part]
    try:
        with warming.marked():
            compile_part()
    except Exception as error:
        if arguments.process is None:
            raise
        sys.stderr.write(f"compiling the kernels ahead of their use failed: {error!r}\n")
        return 1
    return 0


def _end_with(process: int) -> None:
    """End this process at once when another one has ended."""
    while True:
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            os._exit(1)
        except PermissionError:
            pass  # it runs, as another user
        time.sleep(0.2)


def _compile_first() -> None:
    """Compile the simulation of two nodes, which most panels draw first, by runs of no window.

    A process skips what repeats, which takes a variant of its own, when it has simulated a while.
    """
    import numpy as np

    from kernels.two_node import layout, run

    state = np.zeros(layout.state_cells(1, 1, 0, 8), np.int64)
    parameters = np.zeros(layout.N_PARAMETERS + 5 * layout.N_SIZE_COLUMNS, np.int64)
    parameters[layout.P_RESUMED] = 1
    ticks, set_back = np.zeros(1, np.int64), np.zeros(1, np.bool_)
    for kept in (None, state[:0]):
        run.osu(state, kept, parameters, np.zeros(1, np.int8), ticks, set_back, None)


def _compile_networks() -> None:
    """Simulate two nodes with each model, and larger networks in each way."""
    from workbench.models import MODELS
    from workbench.simulate import simulate_osu

    _compile_first()
    for model in MODELS.values():
        simulate_osu(model())
    _traffic()
    _collectives()
    for congestion in ("packet", "packet-flow", "flow"):
        _on_fabric(congestion)


def _compile_programs() -> None:
    """Measure a topology; read, lower, replay, draw, analyse, place and calibrate a program."""
    _topology()
    _goal()
    _traces()
    _lowering()
    _replay("loggopsim")
    _replay("llamp")
    _drawing()
    _tolerance()
    _placement()
    _calibration()


def _compile_all() -> None:
    """Compile every kernel."""
    _compile_networks()
    _compile_programs()


# Two processes may compile networks and programs at once: they share few kernels.
PARTS = {
    "all": _compile_all,
    "first": _compile_first,
    "networks": _compile_networks,
    "programs": _compile_programs,
}


def _goal() -> None:
    from workbench.programs import read_goal

    graph = read_goal("num_ranks 1\nrank 0 {\ncalc 1\n}\n")
    graph.check()
    read_goal(graph.to_goal(binary=True)).to_goal()


def _traces() -> None:
    from workbench.programs import read_trace

    read_trace({"trace-0.txt": b"MPI_Init:-:1:2:3\nMPI_Barrier:4:9,0,1:5\nMPI_Finalize:6:-\n"})
    read_trace({"trace.txt": b"0 barrier\n"})


def _lowering() -> None:
    from workbench.programs import generate

    generate.cg(4, iterations=1).graph()
    generate.training(2, iterations=1).graph()


def _model() -> LogGPS:
    from workbench.models import LogGPS

    return LogGPS(L=2.5e-6, o=1.5e-6, g=1e-6, G=6e-9, O=0.0, S=65535)


def _replay(semantics: Semantics) -> ReplayResult:
    from kernels.loggops import matching
    from workbench.programs import generate
    from workbench.simulate import replay

    matching.with_more_room(matching.empty_waiting(1))  # as a program with many messages needs
    model, program = _model(), generate.cg(4, iterations=1)
    if semantics == "loggopsim":
        replay(program, model, compatible=True)
    return replay(program, model, semantics=semantics, times=True)


def _drawing() -> None:
    from workbench.plotting.replay.spacetime_lod import visible
    from workbench.plotting.replay.timeline import timeline

    shown = timeline(_replay("loggopsim"))
    visible(shown, (0, shown.makespan_ns), (-0.5, 3.5), (200, 100), most_bars=1)


def _tolerance() -> None:
    from workbench.programs import generate
    from workbench.tolerance import analyse

    program = generate.cg(4, iterations=1)
    for lp in (False, True):
        analyse(program, _model(), lp=lp)


def _placement() -> None:
    from workbench.placement import place
    from workbench.programs import generate
    from workbench.tolerance import pair_sensitivity
    from workbench.topology import fat_tree

    program = generate.cg(4, iterations=1)
    pair_sensitivity(program, _model())
    place(program, _model(), fat_tree(4), method="search", evaluations=2)


def _calibration() -> None:
    import numpy as np

    from workbench import uq

    box = uq.ParameterBox([uq.Parameter("latency", "s", 1e-6, 2e-6)])
    points = uq.design(box, 8)
    surrogate = uq.fit_surrogate(box, points, points)
    measured = uq.Replicas.of([np.array([1.5e-6, 1.6e-6])])
    uq.calibrate(surrogate, measured, chains=1, draws=1, burn_in=1)


def _topology() -> None:
    from workbench import topology
    from workbench.topology.link_load import link_loads

    network = topology.dragonfly(4, 2, 2)
    topology.summary(network, traffic=["longest-matching"], method="bounds")
    topology.summary(topology.fat_tree(4))
    link_loads(network, routing="valiant")


def _traffic() -> None:
    from workbench.simulate.fabric import Fabric, run_traffic
    from workbench.topology import dragonfly

    run_traffic(Fabric(dragonfly(4, 2, 2)), "uniform", 0.1, messages=10)


def _on_fabric(congestion: Congestion) -> None:
    from workbench.programs import generate
    from workbench.simulate.fabric import Fabric, replay_on
    from workbench.topology import dragonfly

    replay_on(generate.cg(4, iterations=1), Fabric(dragonfly(4, 2, 2), congestion=congestion))


def _collectives() -> None:
    from workbench.models import PISCES, SNAPPR
    from workbench.simulate.fabric import run_collective

    network = {
        "topology.name": "torus",
        "topology.geometry": "[2,2]",
        "switch.router.name": "torus_minimal",
        "node.app1.launch_cmd": "aprun -n 4 -N 1",
        "node.app1.mode": "allgather",
        "node.app1.min_size": "1024",
        "node.app1.max_size": "1024",
    }
    for model in (SNAPPR(), PISCES()):
        run_collective(model.to_ini(v10=False), network)


if __name__ == "__main__":
    sys.exit(main())
