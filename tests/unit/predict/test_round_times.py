"""Sums of rounds: equal to a replay on straight lines, and by hand for each other part."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.cases import for_each
from tests.unit.predict.machines import STRAIGHT, straight_machine
from workbench.errors import ParameterError
from workbench.predict import (
    LevelCurves,
    MessageCurve,
    PointToPoint,
    machine_of,
    predict_collective,
    replay_collective,
)

EQUAL = [
    ("allreduce", "recursive-doubling"),
    ("allreduce", "rabenseifner"),
    ("allreduce", "ring"),
    ("allreduce", "reduce-bcast"),
    ("allgather", "ring"),
    ("allgather", "bruck"),
    ("allgather", "recursive-doubling"),
    ("allgather", "neighbour-exchange"),
    ("alltoall", "pairwise"),
    ("alltoall", "bruck"),
    ("bcast", "binomial-doubling"),
    ("bcast", "chain"),
    ("gather", "binomial"),
    ("gather", "linear"),
    ("reduce", "binomial"),
    ("reduce_scatter", "recursive-halving"),
    ("reduce_scatter", "ring"),
    ("reduce_scatter", "pairwise"),
]
MACHINE = straight_machine()


@for_each("ranks", [2, 8, 32])
@for_each("collective, algorithm", EQUAL)
def test_rounds_take_what_a_replay_takes(collective: str, algorithm: str, ranks: int) -> None:
    """Every rank waits for its own messages only: nothing of a replay is lost in rounds."""
    sizes = [4096, 65536]
    found = predict_collective(MACHINE, collective, ranks, sizes, algorithm=algorithm)
    replayed = [replay_collective(STRAIGHT, collective, algorithm, ranks, size) for size in sizes]
    # A receive's own overhead overlaps the next send's by o at most in each round.
    slack = STRAIGHT.o * found.rounds
    assert (np.abs(found.times - replayed) <= slack + 1e-12).all()
    if ranks == 2:
        assert found.times == pytest.approx(replayed, rel=1e-9)


@for_each("ranks", [4, 16, 64])
@for_each("collective, algorithm", [("gather", "binomial"), ("allreduce", "recursive-doubling")])
def test_what_a_root_or_an_exchange_takes_is_exact(
    collective: str, algorithm: str, ranks: int
) -> None:
    found = predict_collective(MACHINE, collective, ranks, [8192], algorithm=algorithm)
    exact = replay_collective(STRAIGHT, collective, algorithm, ranks, 8192)
    assert found.times[0] == pytest.approx(exact, rel=1e-9)


@for_each("ranks", [3, 17])
@for_each("collective, algorithm", [("gather", "binomial"), ("allreduce", "recursive-doubling")])
def test_beyond_a_power_of_two_a_message_may_come_early(
    collective: str, algorithm: str, ranks: int
) -> None:
    """In a replay it takes the receiver's interface before its round: up to a message more."""
    found = predict_collective(MACHINE, collective, ranks, [8192], algorithm=algorithm)
    exact = replay_collective(STRAIGHT, collective, algorithm, ranks, 8192)
    assert abs(found.times[0] - exact) <= float(MACHINE.between.latency.at(8192))


def test_a_binomial_gather_is_the_sum_of_its_doubling_messages() -> None:
    found = predict_collective(MACHINE, "gather", 512, [16384], algorithm="binomial")
    sizes = 16384 * 2.0 ** np.arange(9)
    assert found.rounds.tolist() == [9]
    assert found.times[0] == pytest.approx(MACHINE.between.latency.at(sizes).sum(), rel=1e-12)


def test_segments_follow_at_the_interval_and_take_the_latency_once_a_step() -> None:
    found = predict_collective(MACHINE, "bcast", 8, [2**16], algorithm="pipeline:4096")
    latency, interval = (
        float(MACHINE.curves("between").latency.at(4096)),
        float(MACHINE.interval("between").at(4096)),
    )
    # 7 steps of the first segment, and 15 segments behind it.
    assert found.times[0] == pytest.approx(7 * latency + 15 * interval, rel=1e-12)
    exact = replay_collective(STRAIGHT, "bcast", "pipeline:4096", 8, 2**16)
    # A replay's core spends o on the receive and again on the send of each of 15 segments, and
    # half of its steps wait for the core.
    assert 0 <= exact - found.times[0] <= 22 * (2 * STRAIGHT.o + 0.2 * 4096 * STRAIGHT.G)


def test_links_of_a_torus_are_shared_and_engines_feed_a_root() -> None:
    size = 2**20
    one = MACHINE.on("torus:4x4x4")
    linear = predict_collective(one, "gather", 64, [size], algorithm="linear").times[0]
    # One engine: all 63 blocks one after another. The links bring them no slower.
    blocks = float(MACHINE.between.latency.at(size)) + 62 * float(
        MACHINE.interval("between").at(size)
    )
    assert linear == pytest.approx(blocks, rel=1e-3)
    six = replace(one, engines=6)
    faster = predict_collective(six, "gather", 64, [size], algorithm="linear").times[0]
    # The busiest link brings between 24 (ties divided) and 32 blocks (all one way) of 63.
    per_block = size * MACHINE.between.latency.per_byte
    assert faster == pytest.approx(28 * per_block, rel=0.01)
    free = predict_collective(replace(MACHINE, engines=6), "gather", 64, [size], algorithm="linear")
    assert free.times[0] < faster


def test_routers_on_the_way_add_their_latency() -> None:
    far = replace(MACHINE, hop_s=1e-6).on("torus:8x8x8")
    near = predict_collective(MACHINE.on("torus:8x8x8"), "gather", 512, [8], algorithm="binomial")
    with_hops = predict_collective(far, "gather", 512, [8], algorithm="binomial")
    # Each dimension has distances 1, 2 and 4; the first router of each way is in the latency.
    assert with_hops.times[0] - near.times[0] == pytest.approx(3 * (0 + 1 + 3) * 1e-6, rel=1e-9)


def test_an_exchange_costs_more_where_both_ways_were_measured() -> None:
    between = replace(
        MACHINE.between,
        both_ways=MessageCurve(np.array([1.0, 2.0**22]), np.array([1e-2, 2e-2])),
    )
    slow = replace(MACHINE, between=between)
    allreduce = predict_collective(slow, "allreduce", 8, [1], algorithm="recursive-doubling")
    assert allreduce.times[0] == pytest.approx(3 * 1e-2, rel=1e-9)
    gather = predict_collective(slow, "gather", 8, [1], algorithm="binomial")
    alone = predict_collective(MACHINE, "gather", 8, [1], algorithm="binomial")
    assert gather.times.tolist() == alone.times.tolist()


def test_a_rank_handles_one_message_after_another() -> None:
    """An exchange takes 3 us more than one message: 3 us a pair of messages, half for one."""
    both = MessageCurve(MACHINE.between.latency.sizes, MACHINE.between.latency.times + 3e-6)
    slow = replace(MACHINE, between=replace(MACHINE.between, both_ways=both))
    latency = float(MACHINE.between.latency.at(1))
    for collective, time in (
        ("alltoall", latency + 3e-6 + 6 * 3e-6),
        ("reduce", latency + 6 * 1.5e-6),
        ("gather", latency + 6 * STRAIGHT.g),
    ):
        found = predict_collective(slow, collective, 8, [1], algorithm="linear")
        assert found.times[0] == pytest.approx(time, rel=1e-6)


def test_combining_and_copying_move_three_bytes_a_byte() -> None:
    slow = replace(MACHINE, core_Bps=3e9)  # 1 ns a byte
    for collective, algorithm, moved in (
        ("reduce", "binomial", 3 * 1000),
        ("allgather", "bruck", 2 * 8 * 1000),
        # Packed and unpacked in each of three rounds of four blocks, and rotated twice.
        ("alltoall", "bruck", (2 * 3 * 4 + 2 * 8) * 1000),
        ("gather", "binomial", 0),
    ):
        times = [
            predict_collective(one, collective, 8, [1000], algorithm=algorithm).times[0]
            for one in (slow, MACHINE)
        ]
        assert times[0] - times[1] == pytest.approx(moved * 1e-9, rel=1e-6, abs=1e-15)


def test_ranks_of_a_node_talk_within_it_and_share_its_cards() -> None:
    within = LevelCurves(MessageCurve(np.array([1.0, 2.0]), np.array([1e-8, 1e-8])))
    shared = MessageCurve(np.array([1.0, 2.0**20, 2.0**22]), np.array([4e-6, 1.0, 4.0]))
    measured = PointToPoint("two", replace(MACHINE.between, shared=shared, pairs=4), within)
    two = machine_of(measured, ranks_per_node=4, hop_s=0.0, core_Bps=1e30)
    found = predict_collective(two, "allreduce", 2, [1], algorithm="recursive-doubling")
    # Two rounds within the nodes; then four messages leave each, 1 us apart.
    latency = float(MACHINE.between.latency.at(1))
    assert found.times[0] == pytest.approx(2e-8 + latency + 3 * 1e-6, rel=1e-6)
    # A block of a ring passes two hops between nodes of eight.
    ring = predict_collective(two, "allgather", 2, [1], algorithm="ring")
    assert ring.times[0] == pytest.approx(7 * (0.75e-8 + 0.25 * latency), rel=1e-6)


def test_messages_wait_for_those_of_other_ranks_of_their_node_as_measured() -> None:
    """Four pairs at once take 30 us more than one: 10 us a message, twice that in an exchange."""
    alone = MACHINE.between
    crowded = MessageCurve(alone.latency.sizes, alone.latency.times + 30e-6)
    measured = PointToPoint("two", replace(alone, crowded=crowded, crowd=4))
    two = machine_of(measured, ranks_per_node=4, hop_s=0.0, core_Bps=1e30)
    without = two.uncrowded()
    assert (two.crowd_measured, without.crowd_measured) == (True, False)

    def more(collective: str, algorithm: str) -> float:
        found, other = (
            predict_collective(one, collective, 2, [1], algorithm=algorithm).times[0]
            for one in (two, without)
        )
        return float(found - other)

    # All four ranks exchange: three others wait, both ways.
    gap = float(MACHINE.interval("between").at(1))
    rate = 3 * without.node_s_per_byte
    exchanged = more("allreduce", "recursive-doubling")
    assert exchanged == pytest.approx(3 * 20e-6 - rate, rel=1e-6)
    # The root's four messages go one way, a gap apart where none waits.
    assert more("scatter", "linear") == pytest.approx(3 * 10e-6 - 3 * gap, rel=1e-6)
    # One message of a binomial tree has the node for itself.
    assert more("gather", "binomial") == pytest.approx(0.0, abs=1e-15)
    words = [one for one in without.assumed if one.startswith("ranks of a node at once")]
    assert len(words) == 1
    assert not any(one.startswith("ranks of a node at once") for one in two.assumed)
    assert not any(one.startswith("ranks of a node") for one in MACHINE.assumed)


def test_ranks_of_a_node_share_its_memory() -> None:
    within = LevelCurves(MessageCurve(np.array([1.0, 2.0]), np.array([1e-9, 1e-9])))
    measured = PointToPoint("one", MACHINE.between, within)
    node = machine_of(measured, ranks_per_node=8, core_Bps=1e9, memory_Bps=6e9)
    found = predict_collective(node, "allgather", 1, [1000], algorithm="ring")
    # Eight messages of 1000 B in each of seven rounds, 3 B of traffic a byte.
    assert found.times[0] == pytest.approx(7 * 8 * 3000 / 6e9, rel=1e-9)
    # Eight cores of 1 GB/s would take more than the node has: each gets 6 / 8 of it.
    assert node.combine_s_per_byte == pytest.approx(8 * 3 / 6e9)
    alone = machine_of(measured, core_Bps=1e9, memory_Bps=6e9)
    assert alone.combine_s_per_byte == pytest.approx(3e-9)


def test_one_rank_is_no_collective() -> None:
    with pytest.raises(ParameterError, match="needs two ranks or more"):
        predict_collective(MACHINE, "gather", 1, [8], algorithm="binomial")
