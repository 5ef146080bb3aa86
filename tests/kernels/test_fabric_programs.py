"""Fluid messages against the plain simulator, closed forms, and what max-min fairness means."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from kernels.fabric_programs import fluid as kernel, layout, max_min
from tests.cases import examples
from tests.kernels.test_llamp import random_graph
from tests.reference.flow import FlowSimulator, max_min as filled
from workbench.programs.collectives import schedule
from workbench.programs.graph import SEND
from workbench.simulate.fabric.channel_rates import byte_ticks
from workbench.simulate.fabric.fabric import Fabric
from workbench.simulate.fabric.paths import latencies, message_paths
from workbench.simulate.fabric.program import replay_on
from workbench.topology import parse_topology


def network_of(paths, delays, latency=0, weights=None, byte=0):
    """Return channels that take ``delays`` ticks a byte, with these paths; a message ``byte``."""
    start = np.concatenate([[0], np.cumsum([len(path) for path in paths])]).astype(np.int64)
    channel = np.array([c for path in paths for c in path], np.int32)
    weight = np.ones(len(channel))
    if weights is not None:
        weight[:] = [float(one) for own in weights for one in own]
    return layout.empty_network(
        1.0 / np.asarray(delays, float),
        start,
        channel,
        weight,
        np.full(len(paths), latency, np.int64),
        np.full(len(paths), latency, np.int64),
        1.0 / byte if byte else np.inf,
    )


class Fluid:
    """Flows begun and ended by hand."""

    def __init__(self, paths, delays, weights=None, slots=64, byte=0):
        self.network = network_of(paths, delays, weights=weights, byte=byte)
        self.stride = max(map(len, paths))
        self.flows = layout.no_flows(slots, self.stride)
        self.cells = np.zeros(layout.N_CELLS, np.int64)
        self.slot_of = {}

    def begin(self, path, size=1000):
        self.slot_of[path] = int(self.flows.unused[self.cells[layout.FLOWS]])
        max_min.begin(self.network, self.flows, self.cells, self.stride, path, path, size)

    def finish(self, path):
        slot = self.slot_of.pop(path)
        max_min.finish(self.network, self.flows, self.cells, self.stride, slot)

    def share(self):
        max_min.share_out(self.network, self.flows, self.cells, self.stride)
        return {path: self.flows.rate[slot] for path, slot in self.slot_of.items()}


def rates_of(paths, delays, byte=0):
    fluid = Fluid(paths, delays, byte=byte)
    for path in range(len(paths)):
        fluid.begin(path)
    return list(fluid.share().values())


def test_two_flows_on_a_link_have_half_of_it_each() -> None:
    assert rates_of([[0], [0]], [10]) == [0.05, 0.05]


def test_in_a_parking_lot_the_long_flow_has_the_share_of_the_tightest_link() -> None:
    """Three links; one flow over all, one more on the first, two more on the second."""
    rates = rates_of([[0, 1, 2], [0], [1], [1]], [12, 12, 12])
    assert rates == pytest.approx([1 / 36, 1 / 12 - 1 / 36, 1 / 36, 1 / 36], rel=1e-14)


def test_a_flow_over_two_ways_loads_each_with_its_half() -> None:
    """It is as fast as both together allow; one beside it on one way takes what is left there."""
    fluid = Fluid([[0, 1, 2], [1]], [1, 10, 10], [[1, 0.5, 0.5], [1]])
    fluid.begin(0)
    assert fluid.share() == {0: 0.2}
    fluid.begin(1)
    assert list(fluid.share().values()) == pytest.approx([0.1 / 1.5] * 2, rel=1e-15)
    assert fluid.network.carried.tolist() == [1000, 1500, 500]


def test_a_flow_alone_has_all_of_its_slowest_channel() -> None:
    assert rates_of([[0, 1, 2]], [3, 7, 5]) == [1 / 7]


def test_no_flow_has_more_than_one_may() -> None:
    """Alone it has its own limit, of two one is held by a link and the other has the limit."""
    assert rates_of([[0]], [10], byte=25) == [0.04]
    assert rates_of([[0], [0]], [10], byte=25) == [0.04, 0.04]
    assert rates_of([[0], [0], [0]], [10], byte=25) == pytest.approx([1 / 30] * 3, rel=1e-15)
    assert rates_of([[0, 1], [0]], [10, 50], byte=15) == pytest.approx([0.02, 1 / 15], rel=1e-15)


@examples(60)
@given(st.integers(0, 2**32 - 1), st.booleans(), st.sampled_from([0, 3, 12, 40]))
def test_rates_after_any_starts_and_ends_are_those_of_a_filling_of_all(seed, spread, byte) -> None:
    """Only flows near a change are looked at; the rates are all the same max-min fair."""
    rng = np.random.default_rng(seed)
    channels = int(rng.integers(1, 12))
    delays = rng.integers(1, 9, channels)
    paths = [
        rng.permutation(channels)[: rng.integers(1, min(channels, 4) + 1)].tolist()
        for _ in range(24)
    ]
    weights = [[Fraction(int(rng.integers(1, 5)), 4 if spread else 1) for _ in p] for p in paths]
    if not spread:
        weights = [[Fraction(1)] * len(path) for path in paths]
    fluid = Fluid(paths, delays, weights, byte=byte)
    limit = Fraction(1, byte) if byte else None
    for _ in range(30):
        for _ in range(int(rng.integers(1, 4))):
            path = int(rng.integers(len(paths)))
            if path in fluid.slot_of:
                fluid.finish(path)
            else:
                fluid.begin(path)
        rates = fluid.share()
        live = list(rates)
        capacity = [Fraction(1, int(delay)) for delay in delays]
        own = [weights[path] for path in live]
        wanted = filled([paths[path] for path in live], capacity, own, limit)
        # Sums of at most 24 rates: 24 eps, and the same again for what they leave.
        assert [rates[path] for path in live] == pytest.approx(
            [float(rate) for rate in wanted], rel=1e-13
        )


def test_a_change_far_away_leaves_rates_alone() -> None:
    """The ripple ends where nobody's bottleneck has gone."""
    fluid = Fluid([[0], [0, 1], [1], [2], [2]], [10, 1, 1, 10])
    for path in range(4):
        fluid.begin(path)
    fluid.share()
    given_before = fluid.cells[layout.RATES]
    fluid.begin(4)
    fluid.share()
    assert fluid.cells[layout.RATES] - given_before == 2


def simulate(
    graph,
    paths,
    delays,
    latencies,
    hosts,
    *,
    o=0,
    O=0,  # noqa: E741 - the field's letter
    S=2**62,
    in_turn=True,
    byte=0,
    startup=0,
    control=None,
):
    """Run a graph in the kernel; return start, end, arrived."""
    from kernels.loggops.llamp import match_in_order

    n = graph.num_ops
    match = np.empty(n, np.int32)
    assert match_in_order(graph.rank_start, graph.kind, graph.peer, graph.tag, match) == 0
    ranks = np.repeat(np.arange(graph.num_ranks), np.diff(graph.rank_start))
    number = {pair: i for i, pair in enumerate(sorted(paths))}
    of_send = [
        number.get((hosts[ranks[op]], hosts[graph.peer[op]]), -1) if kind == SEND else -1
        for op, kind in enumerate(graph.kind)
    ]
    ordered = [paths[pair] for pair in sorted(paths)] or [[0]]
    source = np.array([pair[0] for pair in sorted(paths)] or [0], np.int32)
    network = network_of(ordered, delays, byte=byte)
    short = latencies if control is None else control
    network.latency[: len(number)] = [latencies[pair] for pair in sorted(paths)]
    network.control[: len(number)] = [short[pair] for pair in sorted(paths)]
    program = layout.Program(
        graph.kind,
        graph.size,
        match,
        graph.requires.start,
        graph.requires.ops,
        graph.irequires.start,
        graph.irequires.ops,
        ranks.astype(np.int32),
        np.array(of_send, np.int32),
        source,
    )
    total = max(hosts) + 1
    pending = layout.Pending(
        np.empty(n, np.int32),
        np.zeros(n, np.int64),
        np.full(n, -1, np.int64),
        np.full(n, -1, np.int64),
        np.zeros(n, np.uint8),
        np.zeros(n, np.uint8),
        np.zeros(graph.num_ranks, np.int64),
        np.full(n, -1, np.int32),
        np.full(total, -1, np.int32),
        np.full(total, -1, np.int32),
        np.zeros(total, np.uint8),
    )
    room = 2 * n + 8
    events = layout.Events(np.empty(room, np.int64), np.empty(room, np.int64))
    cells = np.zeros(layout.N_CELLS, np.int64)
    stride = max(map(len, ordered))
    flows = layout.no_flows(1, stride)
    kernel.make_first(program, pending, events, cells)
    costs = layout.Costs(o, O, S, in_turn, 0, startup)
    halt, progress = np.zeros(1, np.int8), np.zeros(1, np.int64)
    while (
        status := kernel.run(
            program, costs, pending, events, network, flows, cells, stride, halt, progress
        )
    ) == layout.FULL:
        flows = layout.more_flows(flows, stride)
    assert (status == layout.OK) == (progress[0] == n)
    after = [(int(a), int(b), False) for a, b in zip(*graph.requires.pairs(), strict=True)]
    after += [(int(a), int(b), True) for a, b in zip(*graph.irequires.pairs(), strict=True)]
    sends = [op for op in range(n) if graph.kind[op] == SEND]
    pairs = {op: (hosts[ranks[op]], hosts[graph.peer[op]]) for op in sends}
    reference = FlowSimulator(
        kind=graph.kind.tolist(),
        size=graph.size.tolist(),
        match=match.tolist(),
        after=after,
        core=ranks.tolist(),
        paths={op: paths.get(pairs[op]) for op in sends},
        source={op: pairs[op][0] for op in sends},
        capacity=[Fraction(1, int(delay)) for delay in delays],
        latency={op: latencies.get(pairs[op], 0) for op in sends},
        o=o,
        O=O,
        S=S,
        in_turn=in_turn,
        limit=Fraction(1, byte) if byte else None,
        startup=startup,
        control={op: short.get(pairs[op], 0) for op in sends},
    )
    return pending, reference


@pytest.mark.deep
def test_flows_with_equal_rates_end_together_as_in_the_plain_simulator() -> None:
    """An alltoall on 7x7 nodes: apart in a rate's last bit, flows would end 0.006 µs later."""
    fabric = Fabric(parse_topology("torus:7,7"), congestion="flow")
    graph = schedule("alltoall", "pairwise", 49, size=1024).graph()
    pairs = [(a, b) for a in range(49) for b in range(49) if a != b]
    made = message_paths(fabric.channels, *np.array(pairs).T)
    of_pair = dict(zip(pairs, made.of_message, strict=True))
    paths = {
        pair: made.channel[made.start[path] : made.start[path + 1]].tolist()
        for pair, path in of_pair.items()
    }
    ticks = latencies(made, fabric.channels, fabric.ports)
    delays = byte_ticks(fabric.channels, fabric.ports).astype(np.int64)
    waits = {pair: int(ticks[path]) for pair, path in of_pair.items()}
    pending, reference = simulate(graph, paths, delays, waits, range(49))
    reference.run()
    ends = [reference.end[op] for op in range(graph.num_ops)]
    assert np.abs(pending.end - ends).max() <= 10
    assert abs(max(ends) - round(1e16 * replay_on(graph, fabric).makespan_s)) <= 10


@examples(80)
@given(st.integers(0, 2**32 - 1), st.booleans(), st.sampled_from([0, 2_500, 12_000]))
def test_a_program_runs_as_in_the_plain_simulator(seed, in_turn, byte) -> None:
    rng = np.random.default_rng(seed)
    ranks = int(rng.integers(2, 6))
    graph = random_graph(rng, ranks, int(rng.integers(1, 25)))
    hosts = rng.integers(0, ranks, ranks).tolist()
    delays = rng.integers(1_000, 9_000, 2 * ranks + 3)
    paths, latencies, control = {}, {}, {}
    for a in set(hosts):
        for b in set(hosts) - {a}:
            between = 2 * ranks + rng.permutation(3)[: rng.integers(0, 4)]
            paths[a, b] = [a, *between.tolist(), ranks + b]
            latencies[a, b] = int(rng.integers(0, 10**7))
            control[a, b] = int(rng.integers(0, 10**7))
    pending, reference = simulate(
        graph,
        paths,
        delays,
        latencies,
        hosts,
        o=int(rng.integers(0, 10**6)),
        O=int(rng.integers(0, 10**3)),
        S=int(rng.choice([0, 64, 2**40])),
        in_turn=in_turn,
        byte=byte,
        startup=int(rng.choice([0, 10**6])) if byte else 0,
        control=control if byte else None,
    )
    reference.run()
    # Where a flow ends between two ticks, doubles and fractions may round it differently; each
    # message may add one such tick to what comes after it.
    ticks = int((graph.kind == SEND).sum())
    for op in range(graph.num_ops):
        # Of messages above S to a rank itself some never end, in both.
        if pending.missing[op] == -1 or op in reference.start:
            assert abs(int(pending.start[op]) - reference.start[op]) <= ticks
        for mine, other in ((pending.end, reference.end), (pending.arrived, reference.arrived)):
            assert (mine[op] >= 0) == (op in other)
            assert abs(int(mine[op]) - other.get(op, -1)) <= ticks


def test_a_halt_ends_the_run_at_the_next_look() -> None:
    fluid = Fluid([[0]], [1])
    fluid.begin(0)
    one = np.zeros(1, np.int32)
    program = layout.Program(
        np.full(1, SEND, np.uint8), np.ones(1, np.int64), one, *[np.zeros(2, np.int32), one] * 2,
        one, one, one,
    )  # fmt: skip
    pending = layout.Pending(
        one, *[np.zeros(1, np.int64)] * 3, *[np.zeros(1, np.uint8)] * 2, np.zeros(1, np.int64),
        one, one - 1, one, np.zeros(1, np.uint8),
    )  # fmt: skip
    events = layout.Events(np.empty(8, np.int64), np.empty(8, np.int64))
    status = kernel.run(
        program, layout.Costs(0, 0, 2**62, True, 0, 0), pending, events, fluid.network, fluid.flows,
        fluid.cells, 1, np.ones(1, np.int8), np.zeros(1, np.int64),
    )  # fmt: skip
    assert status == layout.HALTED
