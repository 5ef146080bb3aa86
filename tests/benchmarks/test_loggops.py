"""Speed and memory of the replay: events a second, and bytes an operation.

An event is an operation or a message, as LogGOPSim counts them. LogGOPSim itself, built with -O2,
was recorded on a machine of this kind at 1.0 million events a second on the halo exchange below
and at 24 thousand on the alltoall, where it retries each pending operation 128 times.
"""

from __future__ import annotations

import itertools
import json
import re
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.benchmarks.other_simulators import cpu_seconds
from workbench.models import LogGPS
from workbench.programs import generate, write_goal
from workbench.programs.graph import CALC, RECV, SEND, Dependents, ExecutionGraph
from workbench.simulate.replay import replay

MODEL = LogGPS(L=2500e-9, o=1500e-9, g=1000e-9, G=6e-9, O=0.0, S=65535)

HALO_TARGET = 5e6
ALLTOALL_TARGET = 2.4e6
BYTES_AN_OPERATION = 60


def no_dependencies(n):
    return Dependents(np.zeros(n + 1, np.int32), np.zeros(0, np.int32))


def halo(side: int, iterations: int) -> ExecutionGraph:
    """Return ranks in an open cube, 26 neighbours each; work beside the exchange, then allreduce.

    The allreduce doubles recursively among the first 2^k ranks, the others hand their part in and
    get the result. One iteration is made rank by rank and then repeated.
    """
    ranks = side**3
    inner = 2 ** (ranks.bit_length() - 1)
    places = np.array(np.unravel_index(np.arange(ranks), (side,) * 3)).T
    ways = [way for way in itertools.product((-1, 0, 1), repeat=3) if any(way)]
    ops, edges, counts = [], [], []
    for rank in range(ranks):
        own = [(CALC, 10, 0, 0)]
        there = places[rank] + ways
        near = [
            (way, int(np.ravel_multi_index(tuple(place), (side,) * 3)))
            for way, place in enumerate(there)
            if (place >= 0).all() and (place < side).all()
        ]
        own += [(RECV, 8192, other, 25 - way) for way, other in near]
        own += [(SEND, 8192, other, way) for way, other in near]
        own += [(CALC, 100_000 + 37 * rank % 20_000, 0, 0)]
        join = len(own)
        own += [(CALC, 0, 0, 0)]
        own_edges = [(op, 0) for op in range(1, join)] + [(join, op) for op in range(1, join)]

        def after(last, *new, own=own, own_edges=own_edges):
            own_edges += [(len(own) + k, last) for k in range(len(new))]
            own.extend(new)
            return len(own) - 1

        if rank >= inner:
            join = after(join, (SEND, 8, rank - inner, 30))
            join = after(join, (RECV, 8, rank - inner, 31))
        else:
            if rank + inner < ranks:
                join = after(join, (RECV, 8, rank + inner, 30))
            for distance in (2**k for k in range(inner.bit_length() - 1)):
                partner = rank ^ distance
                last = after(join, (SEND, 8, partner, 32), (RECV, 8, partner, 32))
                own_edges += [(last + 1, last - 1), (last + 1, last)]
                own.append((CALC, 0, 0, 0))
                join = last + 1
            if rank + inner < ranks:
                join = after(join, (SEND, 8, rank + inner, 31))
        ops.append(np.array(own))
        edges.append(np.array(own_edges))
        counts.append(len(own))
    return repeated(ops, edges, np.array(counts), iterations)


def repeated(ops, edges, counts, iterations) -> ExecutionGraph:
    """Return each rank's operations over and over, the first after the last of the time before."""
    starts = np.concatenate([[0], np.cumsum(counts * iterations)])
    n = int(starts[-1])
    columns = [np.empty(n, t) for t in (np.uint8, np.int64, np.int32, np.uint32)]
    after, before = [], []
    times = np.arange(iterations)[:, None]
    for rank, (own, own_edges) in enumerate(zip(ops, edges, strict=True)):
        for column, values in zip(columns, own.T, strict=True):
            column[starts[rank] : starts[rank + 1]] = np.tile(values, iterations)
        shift = starts[rank] + times * len(own)
        after += [(own_edges[:, 0] + shift).ravel(), shift[1:, 0]]
        before += [(own_edges[:, 1] + shift).ravel(), shift[1:, 0] - 1]
    kind, size, peer, tag = columns
    return ExecutionGraph(
        starts.astype(np.int64),
        kind,
        size,
        peer,
        tag,
        np.zeros(n, np.uint8),
        np.zeros(n, np.uint8),
        Dependents.from_pairs(np.concatenate(after), np.concatenate(before), n),
        no_dependencies(n),
        source=f"halo of {len(ops)} ranks, {iterations} iterations",
    )


def alltoall(ranks: int) -> ExecutionGraph:
    """Return all ranks sending a byte to all others at once, none waiting for another."""
    rank, step = np.divmod(np.arange(ranks * (ranks - 1)), ranks - 1)
    peers = np.stack([(rank + step + 1) % ranks, (rank - step - 1) % ranks], axis=1).ravel()
    n = len(peers)
    return ExecutionGraph(
        np.arange(ranks + 1) * 2 * (ranks - 1),
        np.tile(np.array([SEND, RECV], np.uint8), n // 2),
        np.ones(n, np.int64),
        peers.astype(np.int32),
        np.zeros(n, np.uint32),
        np.zeros(n, np.uint8),
        np.zeros(n, np.uint8),
        no_dependencies(n),
        no_dependencies(n),
        source=f"alltoall of {ranks} ranks",
    )


def rate(graph: ExecutionGraph, **options) -> float:
    """Return events a second of thread time, the best of five calls after one that compiles."""
    events = replay(graph, MODEL, **options).events
    times = []
    for _ in range(5):
        begin = time.thread_time()
        replay(graph, MODEL, **options)
        times.append(time.thread_time() - begin)
    return events / min(times)


@pytest.mark.parametrize(
    ("make", "target"),
    [
        (lambda: halo(6, 8), HALO_TARGET),
        (lambda: halo(6, 80), HALO_TARGET),
        (lambda: alltoall(256), ALLTOALL_TARGET),
    ],
    ids=["halo, 8 iterations", "halo, 80 iterations", "alltoall"],
)
def test_events_a_second(make, target):
    graph = make()
    plain, kept = rate(graph), rate(graph, times=True)
    print(
        f"\n{graph.source}: {graph.num_ops:,} operations, {plain / 1e6:.2f} M events/s "
        f"({plain / target:.1f} of the target), {kept / 1e6:.2f} with times"
    )


def spread_over(graph: ExecutionGraph, cores: int) -> ExecutionGraph:
    """Return a program whose operations go round the cores of their rank."""
    return replace(graph, cpu=(np.arange(graph.num_ops) % cores).astype(np.uint8))


def loggopsim_run(program: Path, file: Path) -> tuple[float, int]:
    """Return LogGOPSim's processor time, s, with reading the file; and the latest end, ns."""
    values = {"L": 2500, "o": 1500, "g": 1000, "G": 6, "O": 0, "S": 65535}
    options = [word for name, value in values.items() for word in (f"-{name}", str(value))]
    took, printed = cpu_seconds([str(program), "-b", "-f", str(file), *options])
    return took, int(re.search(r"finishing time at host \d+: (\d+)", printed)[1])


AGAINST_LOGGOPSIM = {
    "generators.halo of 216 ranks": (lambda: generate.halo(216, iterations=100).graph(), 5),
    "generators.halo of 216 ranks, 26 neighbours": (
        lambda: generate.halo(216, dims=3, neighbours=26, cells=32, iterations=20).graph(),
        5,
    ),
    "halo of LogGOPSim's kind, 216 ranks": (lambda: halo(6, 20), 5.5),
    "alltoall of 128 ranks": (lambda: alltoall(128), 60),
}


@pytest.mark.parametrize("name", AGAINST_LOGGOPSIM)
def test_replays_against_loggopsim(table, beside_events, loggopsim, tmp_path, name):
    make, target = AGAINST_LOGGOPSIM[name]
    graph = make()
    result = replay(graph, MODEL, ties="libstdc++")
    ours, theirs = [], []
    file = write_goal(graph, tmp_path / "program.bin", binary=True)
    for _ in range(5):
        began = time.thread_time()
        replay(graph, MODEL, ties="libstdc++")
        ours.append(time.thread_time() - began)
        if loggopsim is not None:
            took, end = loggopsim_run(loggopsim, file)
            theirs.append(took)
            assert end == result.makespan_ns
    rate = result.events / min(ours) / 1e6
    beside = beside_events(1 / rate)
    table.add("8", f"replay: {name}", rate, "M events/s", at_most=1.3, **beside)
    if theirs:
        times = min(theirs) / min(ours)
        table.add(
            "8", "  as fast as LogGOPSim, which reads its file too", times, "x", at_least=target
        )


@pytest.mark.parametrize("ranks", [216, 64])
def test_replays_with_64_cores_a_rank(table, ranks):
    one = generate.halo(ranks, iterations=100).graph()
    many = spread_over(one, 64)
    single, several = rate(one), rate(many)
    what = f"replay: generators.halo of {ranks} ranks with 64 cores each"
    slower = {"ratio": single / several, "reference": "the same with one core"}
    table.add("8", what, several / 1e6, "M events/s", at_most=2, **slower)


def test_what_retries_cost():
    for graph in (halo(6, 8), alltoall(128)):
        fast, slow = rate(graph), rate(graph, compatible=True)
        print(f"\n{graph.source}: {slow / 1e6:.2f} M events/s with retries, {fast / slow:.1f} less")


MEASURE = """
import json, resource, sys, time
import numpy as np
from tests.benchmarks.test_loggops import MODEL, halo, loaded, replay

def memory(name):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(name)) * 1024

replay(halo(2, 1), MODEL)
bare = memory("VmRSS")
graph = loaded(sys.argv[1])
begin = time.perf_counter()
result = replay(graph, MODEL)
seconds = time.perf_counter() - begin
print(json.dumps({"ops": graph.num_ops, "events": result.events, "seconds": seconds,
                  "grown": memory("VmHWM") - bare, "peak": memory("VmHWM")}))
"""


def loaded(path: str) -> ExecutionGraph:
    """Return a graph whose arrays were saved; building one leaves memory behind."""
    with np.load(path) as arrays:
        columns = [arrays[f"arr_{i}"] for i in range(7)]
        dependents = [Dependents(arrays[f"arr_{i}"], arrays[f"arr_{i + 1}"]) for i in (7, 9)]
    return ExecutionGraph(*columns, *dependents)


@pytest.mark.parametrize("iterations", [80, 880])
def test_memory_of_a_long_program(root, tmp_path, iterations):
    g = halo(6, iterations)
    arrays = [g.rank_start, g.kind, g.size, g.peer, g.tag, g.cpu, g.nic]
    arrays += [g.requires.start, g.requires.ops, g.irequires.start, g.irequires.ops]
    np.savez(tmp_path / "graph.npz", *arrays)
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, str(tmp_path / "graph.npz")],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    )
    m = json.loads(done.stdout)
    print(
        f"\n{m['ops']:,} operations: {m['seconds']:.2f} s, {m['events'] / m['seconds'] / 1e6:.2f} "
        f"M events/s, graph and run {m['grown'] / m['ops']:.0f} B an operation (target "
        f"{BYTES_AN_OPERATION}), of which {sum(a.nbytes for a in arrays) / m['ops']:.0f} are the "
        f"graph's arrays; resident set at most {m['peak'] / 1e6:.0f} MB"
    )
    assert m["grown"] / m["ops"] < BYTES_AN_OPERATION
