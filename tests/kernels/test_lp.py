"""The kernels of the linear program on arrays small enough to read."""

from __future__ import annotations

import numpy as np
import pytest

from kernels import lp as kernel
from tests.kernels.test_llamp import FIG4C, chains
from workbench.models import LogGPS
from workbench.tolerance.lp import LatencyLP

MODEL = LogGPS(L=1e-6, o=1e-8, g=0.0, G=5e-9, O=0.0, S=65535)


def int32(*values):
    return np.array(values, np.int32)


def test_times_rest_on_the_nearest_column():
    # 2 waits for 1, 1 for 0 which waits for nothing; 5 for 4 for 3, which has column 7.
    N, S = kernel.NOTHING, kernel.SEVERAL
    parent = int32(N, 0, 1, S, 3, 4)
    ps = np.array([0, 10, 5, 0, 100, 1], np.int64)
    overheads = int32(0, 1, 1, 0, 0, 2)
    root = np.empty(6, np.int32)
    kernel.collapse(parent, ps, overheads, int32(-1, -1, -1, 7, -1, -1), root)
    assert root.tolist() == [-1, -1, -1, 7, 7, 7]
    assert ps.tolist() == [0, 10, 15, 0, 100, 101]
    assert overheads.tolist() == [0, 1, 2, 0, 0, 2]


@pytest.mark.parametrize("order", [range(40), range(39, -1, -1)])
def test_long_chains_are_summed_whichever_end_is_met_first(order):
    places = list(order)
    parent = np.empty(40, np.int32)
    for here, vertex in enumerate(places):
        parent[vertex] = places[here - 1] if here else kernel.NOTHING
    ps, overheads = np.ones(40, np.int64), np.ones(40, np.int32)
    root = np.empty(40, np.int32)
    kernel.collapse(parent, ps, overheads, np.full(40, -1, np.int32), root)
    assert [ps[vertex] for vertex in places] == list(range(40))
    assert [overheads[vertex] for vertex in places] == list(range(40))


def example():
    return LatencyLP(chains(*FIG4C), MODEL)


def test_the_matrix_is_that_of_the_paper_s_example():
    lp = example()
    dense = lp.matrix.toarray()
    t, y, l, g, o = range(5)  # noqa: E741 - the paper's letters
    expected = {
        (100_000, ((y, 1), (l, -1), (g, -0.003), (o, -2))),
        (500_000, ((y, 1), (o, -1))),
        (1_100_000, ((t, 1), (o, -1))),
        (1_000_000, ((t, 1), (y, -1))),
    }
    found = {
        (int(ps), tuple((int(c), dense[row, c]) for c in np.flatnonzero(dense[row])))
        for row, ps in enumerate(lp.rows.ps)
    }
    assert {(ps, frozenset(terms)) for ps, terms in found} == {
        (ps, frozenset(terms)) for ps, terms in expected
    }


def test_the_path_follows_multipliers_back_to_the_start():
    rows = example().rows
    dual = np.zeros(len(rows.head))
    # t >= y + 1, and y >= l + 0.1 rather than y >= 0.5.
    dual[rows.ps == 1_000_000] = 1
    dual[rows.ps == 100_000] = 1
    assert rows.critical_path(dual).tolist() == [0, 1, 4, 5]
    dual[rows.ps == 500_000] = 2
    assert rows.critical_path(dual).tolist() == [3, 4, 5]
    assert rows.critical_path(np.zeros(len(rows.head))).tolist() == []


def test_multipliers_that_go_in_a_circle_end_the_walk():
    N, S = kernel.NOTHING, kernel.SEVERAL
    path = np.empty(3, np.int32)
    length = kernel.walk(
        int32(S, N, S),
        int32(1, -1, 0),
        int32(0, 1),
        int32(0, 0),
        np.ones(2),
        np.empty(2, np.int32),
        path,
    )
    assert length == 3


@pytest.mark.parametrize("seed", range(4))
def test_times_are_those_of_the_longest_of_all_paths(seed):
    rng = np.random.default_rng(seed)
    columns = 7
    # Column 0 is the end; the others wait for smaller numbers, or for time zero.
    pairs = [(head, tail) for head in (*range(1, columns), columns) for tail in range(1, head)]
    kept = [pair for pair in pairs if rng.random() < 0.6]
    kept += [(head, 0) for head in range(1, columns + 1)]
    head, tail = (np.array(ends) for ends in zip(*kept, strict=True))
    shuffled = rng.permutation(len(head))
    head, tail = (head % columns)[shuffled].astype(np.int32), (tail - (tail == 0))[shuffled]
    tail = tail.astype(np.int32)
    constant = rng.integers(0, 9, len(head)).astype(float)
    multiple = rng.integers(0, 3, len(head)).astype(float)
    order = np.empty(len(head), np.int32)
    kernel.in_order(head, tail, columns, order)
    assert sorted(order.tolist()) == list(range(len(head)))
    done = {-1}
    for place, row in enumerate(order.tolist()):
        assert tail[row] in done
        if head[row] not in head[order[place + 1 :]]:
            done.add(int(head[row]))

    def paths(column):
        for row in np.flatnonzero(head == column):
            before = paths(tail[row]) if tail[row] >= 0 else [(0.0, 0.0)]
            yield from ((c + constant[row], n + multiple[row]) for c, n in before)

    base, latencies = np.empty(columns), np.empty(columns)
    before = np.empty(columns, np.int32)
    for latency in (0.0, 1.5, 40.0):
        kernel.longest(order, head, tail, constant, multiple, latency, base, latencies, before)
        for column in range(columns):
            found = list(paths(column))
            assert base[column] + latencies[column] * latency == max(
                c + n * latency for c, n in found
            )
            assert (base[column], latencies[column]) in found
            assert head[before[column]] == column
