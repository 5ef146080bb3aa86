"""Speed of making a program, and of turning it into operations with another algorithm.

Rates are per operation of the graph that comes of it. The slider's case is conjugate gradients on
64 ranks with 100 iterations: choosing another allreduce must feel instant.
"""

import statistics
import time
import tracemalloc

import pytest

from tests.reference import lowering as reference
from workbench.programs import generate

CASES = {
    "cg 64 ranks, 100 iterations": lambda: generate.cg(64, iterations=100),
    "halo 216 ranks, 26 neighbours, 80 iterations": lambda: generate.halo(
        (6, 6, 6), neighbours=26, cells=32, iterations=80
    ),
    "halo 1024 ranks, 26 neighbours, 100 iterations": lambda: generate.halo(
        (16, 8, 8), neighbours=26, cells=32, iterations=100
    ),
    "cg 1024 ranks, 100 iterations": lambda: generate.cg(1024, iterations=100),
}


def seconds(action, repeats=3):
    """Return the median wall time of a call."""
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        action()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


@pytest.mark.parametrize("name", CASES)
def test_generate_and_lower(name):
    made = seconds(CASES[name], 1)
    program = CASES[name]()
    graph = program.graph()
    lowered = seconds(program.graph)
    print(
        f"\n{name}: {program.num_calls} calls made in {made * 1e3:.0f} ms; {graph.num_ops} "
        f"operations, {len(graph.requires) + len(graph.irequires)} dependencies in "
        f"{lowered * 1e3:.0f} ms, {graph.num_ops / lowered / 1e6:.1f} M operations/s"
    )
    assert graph.num_ops > program.num_calls / 2


def test_another_algorithm_in_a_notebook():
    program = CASES["cg 64 ranks, 100 iterations"]()
    for algorithm in ("recursive-doubling", "ring", "rabenseifner", "reduce-bcast"):
        first = seconds(lambda name=algorithm: program.graph(allreduce=name), 1)
        again = seconds(lambda name=algorithm: program.graph(allreduce=name), 5)
        ops = program.graph(allreduce=algorithm).num_ops
        print(f"\n{algorithm}: {ops} operations, {first * 1e3:.0f} ms, again {again * 1e3:.0f} ms")
        assert ops > 0


def test_against_the_reference():
    program = generate.cg(16, iterations=20)
    expected = reference.lower(program, {})
    assert program.graph() == expected
    ratio = seconds(lambda: reference.lower(program, {}), 1) / seconds(program.graph)
    print(f"\ncompiled lowering is {ratio:.0f} times as fast as the reference")
    assert ratio > 0


def test_ten_million_operations():
    program = generate.halo((16, 8, 8), neighbours=26, cells=32, iterations=185)
    wall = seconds(program.graph, 1)
    tracemalloc.start()
    graph = program.graph()
    held, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    print(
        f"\n{graph.num_ops} operations in {wall:.1f} s; the graph holds "
        f"{held / graph.num_ops:.0f} B an operation, making it took {peak / graph.num_ops:.0f} B"
    )
    assert graph.num_ops > 10_000_000
