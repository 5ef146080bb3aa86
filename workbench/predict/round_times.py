"""Times of the rounds of a collective on a machine, by its measured messages.

A round takes

    the latency of its largest message (of an exchange, where a node sends and receives), of the
      slowest pair of nodes, where pairs differ as the runs of the benchmark did
    + a gap for each further message of the busiest rank (where it sends and receives, what an
      exchange takes beyond one message; half of that where it combines what it receives; shared by
      its engines where it only receives, for the interval is a sender's work), or the
      bytes beyond the largest message, or the bytes of the busiest link, or the wait for the other
      ranks of the node, as osu_multi_lat showed it (twice in an exchange), whichever is longest. A
      node that only sends, or only receives, has its bytes divided among its engines
    + the routers on the way + the combining of what is received,

and takes the longer of this and the same within a node; in a ring, where a block passes all ranks
in turn, the mean over them. The rounds follow one another: with LogGPS's straight lines that is
what a replay computes (``tests/unit/predict/test_round_times.py``). Segments of one vector follow
at the interval of messages instead; their latency counts once for each step that one segment takes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench.arrays import FloatArray
from workbench.errors import ParameterError
from workbench.predict.demands import Demands, demands_of
from workbench.predict.machine import TRAFFIC, MachineProfile
from workbench.predict.point_to_point import Level, LevelCurves
from workbench.predict.tofu_shapes import torus_of
from workbench.programs.collectives import find_algorithm
from workbench.uq.collectives.round_costs import CollectivePlaces

TIES = 0.5
"""Share of the messages that may go either way round a torus which all take the same way."""


@dataclass(frozen=True)
class AlgorithmTime:
    """The time of a collective in s, and the number of rounds that follow one another."""

    seconds: float
    rounds: float
    combining: float  # s of it in which data are combined and copied


def places_of(machine: MachineProfile, nodes: int) -> CollectivePlaces:
    """Return where the ranks of so many nodes are; refuse a topology or a job with fewer."""
    if machine.groups is not None and len(machine.groups.switches) < nodes:
        raise ParameterError(
            f"the placement must have a switch for each of {nodes} nodes; got "
            f"{len(machine.groups.switches)}; give fewer nodes or another job",
            key="nodes",
        )
    shape, spec = torus_of(machine.topology) if machine.topology else (None, "")
    return CollectivePlaces(nodes, machine.ranks_per_node, shape, spec)


def algorithm_time(
    machine: MachineProfile, collective: str, algorithm: str, nodes: int, block_bytes: int
) -> AlgorithmTime:
    """Return the time of an algorithm on the first nodes of a machine."""
    places = places_of(machine, nodes)
    if places.ranks < 2:
        raise ParameterError(
            f"a collective needs two ranks or more; got {nodes} node with "
            f"{machine.ranks_per_node} rank; give more nodes",
            key="nodes",
        )
    groups = machine.groups
    demands, block = demands_of(collective, algorithm, places, block_bytes, groups)
    steps = float(demands.count.sum())
    segmented = find_algorithm(collective, algorithm).parameter == "segment_bytes"
    if segmented:
        whole, _ = demands_of(collective, algorithm, places, 0, groups)
        steps = min(steps, float(whole.count.sum()))
    times = _between(machine, demands, block, segmented)
    within = _within(machine, demands, block, segmented)
    share = demands.within_share
    levels = np.where(share > 0, share * within + (1.0 - share) * times, np.maximum(times, within))
    combining = float(demands.count @ _local(machine, demands, block))
    total = float(demands.count @ levels) + combining
    if segmented:
        level: Level = "between" if demands.largest.any() else "within"
        largest = block * (demands.largest if level == "between" else demands.within_largest).max()
        latency = machine.curves(level).latency.at(largest)
        total += steps * float(latency - machine.interval(level).at(largest))
    copied = _copied_blocks(collective, algorithm, places.ranks, demands) * block
    copying = copied * machine.combine_s_per_byte
    return AlgorithmTime(total + copying, steps, combining + copying)


def _between(
    machine: MachineProfile, demands: Demands, block: float, segmented: bool
) -> FloatArray:
    """Return the time of each kind of round between nodes, s, float64[kinds]."""
    curves, interval = machine.between, machine.interval("between")
    largest, node = demands.largest * block, demands.node_blocks * block
    first = interval.at(largest) if segmented else curves.latency_of(largest, demands.pairs)
    both = demands.both_ways > 0
    messages = np.maximum(demands.rank_messages, 1.0)
    mean = node / np.maximum(demands.node_messages, 1.0)
    # One of two that exchange handles a send and a receive; one that combines, each receive alone.
    handled = np.where(both, 1.0, 0.5 * (demands.combined > 0))
    gap = np.maximum(interval.at(1), handled * _exchange(curves, mean))
    first = first + both * _exchange(curves, largest)
    cards = np.where(both, 1, machine.engines)
    # An interval is a sender's work; who only receives takes messages as its cards bring them.
    taken = (demands.rank_sent < demands.rank_messages) & (demands.combined == 0)
    gaps = (messages - 1.0) * gap / np.where(taken, cards, 1)
    serial = (np.maximum(messages / cards, 1.0) - 1.0) * interval.at(mean)
    engines = np.minimum(cards, np.maximum(demands.node_messages, 1.0))
    rate = machine.node_s_per_byte
    shared = np.maximum(node / engines - largest, 0.0) * rate
    links = demands.link_blocks + TIES * (demands.tied_blocks - demands.link_blocks)
    link = np.maximum(links * block - largest, 0.0) * curves.latency.per_byte
    # Of pairs that answer each other half the messages are on the way at once: an exchange has all.
    each = np.maximum(machine.node_gap_s, np.where(both, 2.0, 1.0) * curves.wait_of(mean))
    cards_gaps = (demands.node_messages - 1.0) * each
    waits = np.maximum.reduce([gaps, serial, shared, cards_gaps, link])
    found = first + waits + demands.hops * machine.hop_s
    return np.where(demands.node_messages > 0, found, 0.0)


def _exchange(curves: LevelCurves, size: FloatArray) -> FloatArray:
    """Return what an exchange takes beyond the latency, s, of the shape of ``size``."""
    if curves.both_ways is None:
        return np.zeros_like(size)
    return np.maximum(curves.both_ways.at(size) - curves.latency.at(size), 0.0)


def _within(machine: MachineProfile, demands: Demands, block: float, segmented: bool) -> FloatArray:
    """Return the time of each kind of round within nodes, s, float64[kinds]."""
    curves, interval = machine.within, machine.interval("within")
    largest = demands.within_largest * block
    first = interval.at(largest) if segmented else curves.latency.at(largest)
    messages = np.maximum(demands.within_messages, 1.0)
    waits = (messages - 1.0) * interval.at(demands.within_blocks * block / messages)
    traffic = demands.within_node_blocks * block * TRAFFIC / machine.memory_Bps
    return np.where(demands.within_messages > 0, np.maximum(first + waits, traffic), 0.0)


def _local(machine: MachineProfile, demands: Demands, block: float) -> FloatArray:
    """Return the time to combine what a round brings, s, float64[kinds]."""
    return np.asarray(demands.combined * block * machine.combine_s_per_byte)


def _copied_blocks(collective: str, algorithm: str, ranks: int, demands: Demands) -> float:
    """Return the blocks that a rank copies besides: Bruck packs, unpacks and rotates.

    An alltoall packs and unpacks what each round moves, and rotates all blocks before and after; an
    allgather rotates them once, by way of another buffer.
    """
    if find_algorithm(collective, algorithm).name != "bruck":
        return 0.0
    moved = np.maximum(demands.largest, demands.within_largest)
    packed = 2.0 * float(demands.count @ moved) if collective == "alltoall" else 0.0
    return packed + 2.0 * ranks
