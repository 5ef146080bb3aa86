"""The packed sweep against the pass over the graph, against all paths, and lane against lane."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

from kernels import sweep as kernels
from kernels.sweep.layout import NARROW, RECV, SEND, WIDE
from tests.cases import examples
from tests.kernels.loggops_programs import random_graph, random_model
from tests.kernels.test_llamp import FIG4, chains, graph_of
from tests.reference.sweep import lines_of, makespan, slopes
from workbench.errors import ProgramError
from workbench.models import LogGPS
from workbench.programs.graph import CALC
from workbench.simulate.llamp import forward_pass, match_messages
from workbench.simulate.picoseconds import PicosecondCosts
from workbench.tolerance.passes import Passes, costs_of, pack


def passes_of(graph, model, match=None):
    costs = PicosecondCosts.of(model)
    match = match_messages(graph, model) if match is None else match
    packed = pack(graph, match, costs.S, model)
    return Passes(packed, costs_of(packed, costs.o, costs.G))


def drawn(seed, **options):
    """Return a program and a model on which it ends."""
    rng = np.random.default_rng(seed)
    model = random_model(rng, whole=bool(rng.random() < 0.5))
    graph = random_graph(rng, **options)
    try:
        match = match_messages(graph, model)
        finish = forward_pass(graph, model, match=match).finish_ps
    except ProgramError:
        assume(False)
    return graph, model, match, finish


@examples(150)
@given(
    seed=st.integers(0, 2**32),
    ranks=st.integers(1, 6),
    events=st.integers(0, 40),
    irequires=st.sampled_from([0.0, 0.2, 0.8]),
    fan=st.integers(0, 4),
    wildcards=st.sampled_from([0.0, 0.0, 0.3]),
)
def test_agrees_with_the_pass_over_the_graph(seed, ranks, events, irequires, fan, wildcards):
    graph, model, match, finish = drawn(
        seed,
        ranks=ranks,
        events=events,
        irequires=irequires,
        fan=fan,
        wildcards=wildcards,
        empty=True,
    )
    passes = passes_of(graph, model, match)
    for latency_ps in (0, PicosecondCosts.of(model).L, 123_457):
        other = model.replace(L=latency_ps * 1e-12)
        expected = forward_pass(graph, other, match=match).finish_ps
        assert passes.finish_ps(latency_ps, ranks).tolist() == expected.tolist()
        assert passes.makespan_ps(latency_ps) == expected.max()
    assert finish.max() == passes.makespan_ps(PicosecondCosts.of(model).L)


@examples(60)
@given(seed=st.integers(0, 2**32), ranks=st.integers(1, 4), events=st.integers(1, 12))
def test_agrees_with_all_paths_in_time_and_both_slopes(seed, ranks, events):
    graph, model, match, _ = drawn(seed, ranks=ranks, events=events, irequires=0.3)
    costs = PicosecondCosts.of(model)
    G = float(costs.G.whole) if costs.G.whole >= 0 else costs.G.real
    lines = lines_of(graph, costs.o, G, costs.S)
    passes = passes_of(graph, model, match)
    steepest = max(lines)
    assert (passes.steepest.slope, passes.steepest.intercept_ps) == steepest
    for latency_ps in (1, 999, 1000, 17_000, 60_000):
        left, right = passes.lines([(latency_ps, "left"), (latency_ps, "right")])
        T = makespan(lines, latency_ps)
        assert (left.slope, right.slope) == slopes(lines, latency_ps)
        assert left.at(latency_ps) == right.at(latency_ps) == T


@examples(40)
@given(seed=st.integers(0, 2**32), latencies=st.lists(st.integers(1, 10**6), min_size=1))
def test_every_form_of_the_pass_gives_the_same_lines(seed, latencies):
    """One lane, eight, two numbers, the pass with notes, and wide registers."""
    graph, model, match, _ = drawn(seed)
    passes = passes_of(graph, model, match)
    narrow = passes.packed
    wide = replace(
        narrow,
        code=widened(narrow),
        width=WIDE,
        slot=narrow.slot.astype(np.uint32),
        calc_ns=narrow.calc_ns.astype(np.int64),
    )
    rows = replace(passes.costs, row=passes.costs.row.astype(np.uint32))
    points = [(x, side) for x in latencies for side in ("left", "right")]
    together = passes.lines(points)
    assert together == [passes.lines([point])[0] for point in points]
    assert together == [passes._slowly(*point)[0] for point in points]
    assert together == Passes(wide, rows).lines(points)
    both = [line for x in latencies for line in passes.point(x)[:2]]
    assert together == both


def widened(packed):
    code = packed.code.astype(np.uint64)
    mask = (1 << NARROW) - 1
    kind, source, target = code >> np.uint64(2 * NARROW), (code >> np.uint64(NARROW)), code
    return (
        (kind << np.uint64(2 * WIDE))
        | ((source & np.uint64(mask)) << np.uint64(WIDE))
        | (target & np.uint64(mask))
    )


def test_too_few_bits_for_time_and_slope_make_two_numbers():
    """A day of computation, and messages to and fro."""
    day_ns = 86_400 * 10**9
    passes = passes_of(chains(*FIG4), LogGPS(1e-6, 0, 0, 0, 0, 65535))
    assert passes._bits(10**6) is not None
    pings = ((2, 4), (1, 4)) * 200
    graph = chains(((CALC, day_ns), (1, 4), *pings), ((2, 4), *((1, 4), (2, 4)) * 200))
    long = passes_of(graph, LogGPS(1e-6, 0, 0, 0, 0, 65535))
    assert long._bits(10**6) is None
    left, right = long.lines([(10**6, "left"), (10**6, "right")])
    assert left.slope == right.slope == 401
    assert left.at(10**6) == day_ns * 1000 + 401 * 10**6
    assert long.point(10**6)[:2] == (left, right)


def test_what_waits_for_the_same_has_one_register():
    """Send and receive of a step both wait for both of the step before: no joins are left over."""
    steps, ranks = 5, []
    for rank in range(2):
        ranks.append([(kind, 1, 1 - rank, 0) for _ in range(steps) for kind in (1, 2)])
    requires = [
        (rank, 2 * step + i, 2 * step - 2 + j)
        for rank in range(2)
        for step in range(1, steps)
        for i in range(2)
        for j in range(2)
    ]
    graph = graph_of(ranks, requires)
    model = LogGPS(1e-6, 1e-7, 0, 0, 0, 65535)
    packed = pack(graph, match_messages(graph, model), 65535, model)
    assert len(packed.code) == graph.num_ops
    kinds = (packed.code >> np.uint32(2 * NARROW)) & ~np.uint32(1)
    assert set(kinds.tolist()) == {SEND, RECV}


def test_registers_and_slots_are_used_again():
    """A thousand rounds of a ring take no more of them than one."""

    def ring(rounds):
        ranks = [[(1, 8, (r + 1) % 8, 0), (2, 8, (r - 1) % 8, 0)] * rounds for r in range(8)]
        chain = [(r, i, i - 1) for r in range(8) for i in range(1, 2 * rounds)]
        graph = graph_of(ranks, chain)
        model = LogGPS(1e-6, 1e-7, 0, 0, 0, 65535)
        return pack(graph, match_messages(graph, model), 65535, model)

    one, many = ring(1), ring(1000)
    assert (many.registers, many.slots) == (one.registers, one.slots) == (9, 8)


def test_a_chain_of_computations_reads_four_bytes_and_four():
    graph = chains(((CALC, 5),) * 3, ())
    packed = pack(graph, np.full(3, -1, np.int32), 9, LogGPS(0, 0, 0, 0, 0, 9))
    assert (packed.code.dtype, packed.calc_ns.dtype) == (np.uint32, np.int32)
    assert (len(packed.code), len(packed.slot)) == (3, 0)


@pytest.mark.parametrize("count", [1, 3, 1 << 15])
def test_equal_values_get_equal_numbers(count):
    rng = np.random.default_rng(count)
    values = rng.integers(0, 2**60, count)[rng.integers(0, count, 2 * count)]
    numbers = np.empty(len(values), np.int32)
    distinct = np.empty(1 << 14, np.int64)
    table = np.empty(1 << 16, np.int32)
    found = kernels.alike.number_distinct(values, table, numbers, len(distinct), distinct)
    if count > 1 << 14:
        assert found == -1
    else:
        assert found == len(set(values.tolist()))
        assert (distinct[numbers] == values).all()
