"""Speed of the sweep: beside the same loops in C++, beside the linear program, and its largest.

All ratios are taken within one run. With SWEEP_VERTICES=50000000 the largest program takes two
minutes and 6 GB.
"""

from __future__ import annotations

import ctypes
import os
import resource
import shutil
import statistics
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from kernels import sweep as kernels
from workbench.models import LogGPS
from workbench.programs import generate
from workbench.tolerance.sweep import Sweep

MODEL = LogGPS(L=2.5e-6, o=1.5e-6, g=1e-6, G=6.3e-9, O=0.0, S=65535)
RANKS = 512
CG_OPS_PER_ITERATION = 23_872  # 512 ranks: halo and allreduces

SOURCE = Path(__file__).with_name("sweep.cpp")
BITS = 14


def cg(vertices):
    """Return the graph of a conjugate gradient, halo and allreduce, of about so many operations."""
    iterations = max(1, round(vertices / CG_OPS_PER_ITERATION))
    return generate.cg(RANKS, iterations=iterations, jitter=0.02, rng=1).graph()


def wide_halo(vertices):
    """Return the graph of an exchange with 26 neighbours, all of it eager."""
    iterations = max(1, round(vertices / (RANKS * 53)))
    return generate.halo(
        RANKS, dims=3, neighbours=26, cells=64, iterations=iterations, jitter=0.02, rng=1
    ).graph()


def cpu_seconds(actions, repeats=9):
    """Return the median thread time of each of several actions, which take turns."""
    times = [[] for _ in actions]
    for action in actions:
        action()
    for _ in range(repeats):
        for action, mine in zip(actions, times, strict=True):
            began = time.thread_time()
            action()
            mine.append(time.thread_time() - began)
    return [statistics.median(mine) for mine in times]


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """The same loops, compiled here."""
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("no C++ compiler here")
    target = tmp_path_factory.mktemp("sweep") / "sweep.so"
    flags = ["-O3", "-march=native", "-shared", "-fPIC", "-o", str(target)]
    subprocess.run([compiler, *flags, str(SOURCE)], check=True)
    return ctypes.CDLL(str(target))


@pytest.mark.parametrize("lanes", [1, 8])
@pytest.mark.parametrize("program", [cg, wide_halo])
def test_beside_the_same_loop_in_cpp(library, program, lanes):
    """At least 0.8 of its speed is aimed at."""
    sweep = Sweep(program(1_000_000), MODEL)
    packed, costs = sweep._packed, sweep._costs
    table = ((costs.constant_ps + costs.multiples * 2_500_000) << BITS) + costs.multiples
    own, per_ns = costs.o_ps << BITS, 1000 << BITS
    shape = () if lanes == 1 else (lanes,)
    table = table if lanes == 1 else np.repeat(table[:, None], lanes, axis=1).copy()
    kernel = kernels.passes.keys if lanes == 1 else kernels.lanes.keys
    registers, slots = ([np.zeros((k, *shape), np.int64) for _ in range(2)]
                        for k in (packed.registers, packed.slots))  # fmt: skip
    streams = (packed.code, packed.slot, costs.row, packed.calc_ns)

    def numba():
        registers[0][:] = 0
        kernel(*streams, table, own, per_ns, registers[0], slots[0])

    def cpp():
        registers[1][:] = 0
        pointers = [ctypes.c_void_p(stream.ctypes.data) for stream in streams]
        getattr(library, f"sweep_{lanes}")(
            pointers[0],
            ctypes.c_int64(len(packed.code)),
            ctypes.c_int(packed.width),
            *pointers[1:],
            ctypes.c_void_p(table.ctypes.data),
            ctypes.c_int64(own),
            ctypes.c_int64(per_ns),
            ctypes.c_void_p(registers[1].ctypes.data),
            ctypes.c_void_p(slots[1].ctypes.data),
        )

    ours, theirs = cpu_seconds([numba, cpp])
    rate = sweep.vertices * lanes / 1e6
    print(
        f"\n{program.__name__}, {lanes} lanes: {rate / ours:.0f} M vertices·L/s, C++ "
        f"{rate / theirs:.0f}: {theirs / ours:.2f} of its speed; "
        f"{sweep.bytes_per_vertex:.2f} B/vertex"
    )
    assert (registers[0] == registers[1]).all()
    assert sweep.bytes_per_vertex <= 9


def test_beside_the_linear_program():
    """At least 1000 sweeps in the time of one HiGHS solve at 10^5 vertices are aimed at."""
    lp = pytest.importorskip("workbench.tolerance.lp")
    graph = cg(100_000)
    sweep = Sweep(graph, MODEL)
    problem = lp.LatencyLP(graph, MODEL)
    solution = problem.solve()
    began = time.process_time()
    for _ in range(3):
        problem.solve()
    solving = (time.process_time() - began) / 3
    began = time.process_time()
    for _ in range(50):
        T = sweep.makespan_ps()
    swept = (time.process_time() - began) / 50
    print(
        f"\n{graph.num_ops} vertices: HiGHS {solving:.3f} s, sweep {swept * 1e6:.0f} µs: "
        f"{solving / swept:.0f} sweeps in the time of a solve"
    )
    assert solution.T == pytest.approx(T / 1e12, rel=1e-9)


def test_lanes_of_critical_latencies_and_passes_of_tolerances():
    graph = generate.cg(64, iterations=100, jitter=0.5, rng=3).graph()
    sweep = Sweep(graph, MODEL)
    began = time.thread_time()
    found = sweep.critical_latencies(0.0, 20e-6)
    seconds = time.thread_time() - began
    print(
        f"\n{sweep.vertices} vertices: {len(found)} critical latencies in {found.passes} passes, "
        f"{found.lanes} lanes, {seconds * 1e3:.1f} ms"
    )
    assert len(found) > 20
    assert found.lanes <= 4 * len(found)
    before = sweep.passes
    sweep.tolerance((1, 2, 5))
    print(f"three tolerances in {sweep.passes - before} passes")
    assert sweep.passes - before <= 5


def test_packing_ten_million_operations(table):
    """Beside numpy's copy of what the packing reads and returns."""
    graph = cg(10_000_000)
    Sweep(cg(RANKS * 53), MODEL)
    packing, sweep = [], None
    for _ in range(5):
        sweep = None  # its memory is free for the next
        began = time.thread_time()
        sweep = Sweep(graph, MODEL)
        packing.append(time.thread_time() - began)
    packed = sweep._packed
    arrays = [graph.kind, graph.size, sweep.match, graph.requires.start, graph.requires.ops]
    arrays += [graph.irequires.start, graph.irequires.ops, packed.code, packed.slot]
    arrays += [packed.calc_ns, packed.role_of, packed.message_of, packed.op_of]
    (copied,) = cpu_seconds([lambda: [one.copy() for one in arrays]], repeats=3)
    table.add(
        "11",
        f"packed for sweeps: {graph.num_ops / 1e6:.1f} M operations of {RANKS} ranks, CPU time",
        min(packing),
        "s",
        at_most=20,
        ratio=min(packing) / copied,
        reference=f"numpy's copy of the same {sum(one.nbytes for one in arrays) / 1e6:.0f} MB",
    )


def test_the_largest():
    graph = cg(int(os.environ.get("SWEEP_VERTICES", "10000000")))
    print(f"\n{graph.num_ops} vertices")

    def timed(what, action):
        wall, cpu = time.perf_counter(), time.thread_time()
        result = action()
        print(
            f"  {what}: {time.perf_counter() - wall:.2f} s, CPU {time.thread_time() - cpu:.2f} s, "
            f"peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.1f} GB"
        )
        return result

    sweep = timed("pack", lambda: Sweep(graph, MODEL))
    T = timed("T", sweep.makespan_ps)
    point = timed("T, slopes, path", sweep.at)
    timed("4 latencies, both slopes", lambda: sweep.curve([1e-6, 2e-6, 3e-6, 4e-6]))
    tolerance = timed("tolerances of 1, 2, 5 %", sweep.tolerance)
    found = timed("critical latencies to 13 µs", lambda: sweep.critical_latencies(2.5e-6, 13e-6))
    print(f"  {len(found)} critical latencies, {found.passes} passes, {found.lanes} lanes")
    assert point.T_ps == T
    assert 2.5e-6 < tolerance[1.0] < tolerance[2.0] < tolerance[5.0]
