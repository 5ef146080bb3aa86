"""Passes with a latency for each message against the plain longest path, and by convexity."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tests.cases import examples
from tests.kernels.loggops_programs import random_graph, random_model
from tests.kernels.test_llamp import FIG4, chains
from tests.reference.llamp import Costs, longest_paths
from workbench.errors import ParameterError, ProgramError
from workbench.models import LogGPS
from workbench.placement.message_graph import MessageGraph
from workbench.simulate.picoseconds import PicosecondCosts
from workbench.tolerance.sweep import Sweep

seeds = st.integers(0, 2**32 - 1)
EXAMPLES = examples(40)


def made_ready(seed):
    """Return a random program that runs to its end, with a generator."""
    rng = np.random.default_rng(seed)
    while True:
        graph = random_graph(rng, ranks=int(rng.integers(1, 5)), wildcards=0.2)
        try:
            return MessageGraph(graph, random_model(rng)), rng
        except ProgramError:
            continue


def random_times(messages, rng):
    """Return latencies and bytes' times in ps, many of them alike."""
    return tuple(rng.integers(0, 40, messages.num_messages) * 1000 for _ in range(2))


@given(seeds)
@EXAMPLES
def test_one_latency_for_all_gives_the_reference(seed):
    messages, _ = made_ready(seed)
    costs = PicosecondCosts.of(messages.model)
    match = dict(enumerate(messages.match.tolist()))
    _, ends = longest_paths(messages.graph, Costs(costs.L, costs.o, costs.G.real, costs.S), match)
    assert messages.makespan_ps(np.full(messages.num_messages, costs.L)) == max(ends, default=0)


@given(seeds)
@EXAMPLES
def test_a_latency_for_each_gives_the_sweep(seed):
    messages, rng = made_ready(seed)
    latency, bytes_time = random_times(messages, rng)
    sweep = Sweep(messages.graph, messages.model, match=messages.match).along(
        constant_s=latency / 1e12, through_s=bytes_time / 1e12
    )
    assert messages.makespan_ps(latency, bytes_time) == sweep.makespan_ps(0)


@given(seeds)
@EXAMPLES
def test_a_path_is_a_subgradient(seed):
    """T is convex: what lies on a longest path bounds it from below for all other times."""
    messages, rng = made_ready(seed)
    latency, bytes_time = random_times(messages, rng)
    T_ps = messages.makespan_ps(latency, bytes_time)
    path = messages.path()
    assert path.T_ps == T_ps
    assert (path.latencies >= path.bytes_times).all()
    assert set(path.latencies) <= ({0, 1} if not messages.meets.any() else {0, 1, 3, 4})
    for _ in range(5):
        other, bytes_other = random_times(messages, rng)
        bound = path.latencies @ (other - latency) + path.bytes_times @ (bytes_other - bytes_time)
        assert messages.makespan_ps(other, bytes_other) >= T_ps + bound


@given(seeds)
@EXAMPLES
def test_each_operation_on_a_path_leads_to_the_next(seed):
    messages, rng = made_ready(seed)
    messages.makespan_ps(*random_times(messages, rng))
    graph, path = messages.graph, messages.path()
    for one, other in zip(path.ops[:-1], path.ops[1:], strict=True):
        waiting = {*graph.requires.of(one), *graph.irequires.of(one), messages.match[one]}
        assert other in waiting
    crossings = int((np.diff(graph.rank_of(path.ops)) != 0).sum())
    assert crossings <= int((path.latencies > 0).sum()) * 2


def test_figure_4b_with_a_latency_of_its_own():
    model = LogGPS(L=9.0, o=0, g=0, G=5e-9, O=0, S=1000)
    messages = MessageGraph(chains(*FIG4), model)
    assert messages.makespan_ps(np.array([385_000])) == 385_000 + 2_015_000
    path = messages.path()
    assert (path.latencies.tolist(), path.bytes_times.tolist()) == ([1], [1])
    assert messages.by_pair(path)[1].tolist() == [[0, 3], [0, 0]]
    assert messages.makespan_ps(np.array([0]), np.array([0])) == 2_000_000


def test_above_s_both_sides_have_the_latency_four_times_or_three():
    model = LogGPS(L=0, o=0, g=0, G=1e-9, O=0, S=3)
    messages = MessageGraph(chains(*FIG4), model)
    for latency, times in ((2000, 4), (0, 4)):
        messages.makespan_ps(np.array([latency]))
        assert messages.path().latencies.tolist() == [times]
    late = MessageGraph(chains(FIG4[1][::-1][:1] + FIG4[0][1:], FIG4[1]), model)
    assert late.meets.tolist() == [True]
    early = MessageGraph(chains(((1, 4),), ((3, 500), (2, 4))), model)
    early.makespan_ps(np.array([100]))
    assert early.path().latencies.tolist() == [3]


def test_times_beyond_the_clock_are_refused():
    messages = MessageGraph(chains(*FIG4), LogGPS(L=0, o=0, g=0, G=0, O=0, S=1000))
    with pytest.raises(ParameterError, match="must end before"):
        messages.makespan_ps(np.array([2**62]))
