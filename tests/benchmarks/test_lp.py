"""Speed of building and solving the linear program, against PuLP row by row and against a sweep.

All figures of a line are of one run, process CPU time, so that other work on the machine counts
little. Solving the optimum itself is the same HiGHS either way; what differs is what it is handed.
"""

import time

import pulp
import pytest

from tests.reference import lp as reference
from tests.reference.llamp import Costs
from workbench.models import LogGPS
from workbench.programs import generate
from workbench.tolerance.lp import LatencyLP
from workbench.tolerance.sweep import Sweep

MODEL = LogGPS(L=3e-6, o=1.5e-6, g=0.0, G=0.018e-9, O=0.0, S=262144)
COSTS = Costs(3_000_000, 1_500_000, 18.0, 262144)

CASES = {
    "halo 216 ranks, 26 neighbours": lambda: generate.halo(
        (6, 6, 6), neighbours=26, cells=32, iterations=9
    ),
    "halo 64 ranks, 6 neighbours": lambda: generate.halo((4, 4, 4), cells=32, iterations=120),
}


def seconds(action):
    """Return CPU time of a call, and what it returned."""
    begin = time.process_time()
    result = action()
    return time.process_time() - begin, result


def fastest(action, repeats):
    """Return the least CPU time of some calls, and what the last returned."""
    runs = [seconds(action) for _ in range(repeats)]
    return min(run[0] for run in runs), runs[-1][1]


@pytest.mark.parametrize("name", CASES)
def test_arrays_against_row_by_row_at_a_hundred_thousand_vertices(name):
    graph = CASES[name]().graph()
    LatencyLP(generate.cg(4, iterations=1), MODEL).solve()
    built, lp = fastest(lambda: LatencyLP(graph, MODEL), 3)
    solved, found = fastest(lp.solve, 3)
    objects_built, problem = seconds(lp.to_pulp)
    objects_solved, _ = seconds(lambda: problem.solve(pulp.HiGHS(msg=False)))
    slow_built, slow = seconds(lambda: reference.model(graph, COSTS))
    slow_solved, T_us = seconds(lambda: slow.solve(pulp.HiGHS(msg=False)))
    sweep = Sweep(graph, MODEL)
    swept, point = fastest(sweep.at, 5)
    _, T_ps = seconds(sweep.makespan_ps)
    once = fastest(sweep.makespan_ps, 20)[0]
    print(
        f"\n{name}: {graph.num_ops} operations, {lp.num_rows} rows, {lp.num_columns} columns\n"
        f"  arrays: built {built * 1e3:.1f} ms, solved {solved:.3f} s\n"
        f"  row by row: built {slow_built:.2f} s, solved {slow_solved:.2f} s; "
        f"{(slow_built + slow_solved) / (built + solved):.1f} times the arrays'\n"
        f"  PuLP's objects, one for each row: built {objects_built:.2f} s, solved "
        f"{objects_solved:.2f} s; {(objects_built + objects_solved) / (built + solved):.1f} times\n"
        f"  sweep: T {once * 1e3:.3f} ms, T and all slopes {swept * 1e3:.2f} ms; the solve takes "
        f"{solved / once:.0f} and {solved / swept:.0f} times as long"
    )
    assert found.T == pytest.approx(T_us * 1e-6, rel=1e-9)
    assert found.T == pytest.approx(pulp.value(problem.objective) * 1e-6, rel=1e-9)
    assert found.T == pytest.approx(T_ps * 1e-12, rel=1e-9)
    assert point.T_ps == T_ps


def test_tolerance_by_the_largest_latency(table):
    """Of 1 %, from path to path with its proof; HiGHS maximises l on the same rows."""
    cases = {
        "halo, 64 ranks": generate.halo((4, 4, 4), cells=32, iterations=69),
        "conjugate gradients, 64 ranks": generate.cg(64, iterations=20),
    }
    for name, program in cases.items():
        lp, sweep = LatencyLP(program, MODEL), Sweep(program, MODEL)
        T = sweep.makespan() * 1.01
        took, found = fastest(lambda lp=lp, T=T: lp.certify(T), 5)
        highs, largest = seconds(lambda lp=lp, T=T: lp.largest_latency(T, solver="highs"))
        assert largest == pytest.approx(found.L, rel=1e-9)
        assert abs(found.gap) < 1e-16
        assert 0 <= found.L - sweep.tolerance([1])[1] < 1.1e-12
        table.add(
            "10",
            f"largest l for 1 %, {lp.num_rows:,} rows, {name}, gap {abs(found.gap):.0e} s",
            took,
            "s",
            at_most=0.02,
            ratio=took / highs,
            reference="HiGHS, interior point",
        )
