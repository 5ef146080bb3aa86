"""What each round of a collective demands of ranks, nodes and links, without any time.

The rounds are those of ``workbench.programs.collectives``; rank r is on node r // ranks a node.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, fields
from functools import lru_cache
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import BoolArray, FloatArray, IntArray
from workbench.predict.node_groups import NodeGroups
from workbench.programs.collectives.registry import find_algorithm
from workbench.programs.collectives.rounds import Round
from workbench.programs.collectives.schedule import case_of
from workbench.topology.link_load import link_loads
from workbench.uq.collectives.models import WHOLE_VECTOR
from workbench.uq.collectives.round_costs import (
    CollectivePlaces,
    coordinates_of,
    count_rounds,
    link_blocks,
    network_of,
)


class _Demand(NamedTuple):
    """The demand of one round; blocks are those of the collective."""

    node_messages: float  # in or out of the busiest node
    rank_messages: float  # in or out of the busiest rank, between nodes
    rank_sent: float  # out of the busiest rank, between nodes
    node_blocks: float  # in or out of the busiest node
    largest: float  # of one message between nodes
    pairs: float  # of nodes that exchange messages, or send one way
    both_ways: bool  # whether a node sends and receives
    within_messages: float  # in or out of the busiest rank, within its node
    within_blocks: float  # in or out of the busiest rank, within its node
    within_largest: float
    within_node_blocks: float  # of all messages within the busiest node
    within_share: float  # of a ring's messages that stay within a node; 0 where it is no ring
    combined: float  # blocks that the busiest rank combines with its own
    hops: float  # routers on the longest way, beyond those between the first two nodes
    link_blocks: float  # over the busiest link, ties divided
    tied_blocks: float  # over the busiest link, ties all one way


@dataclass(frozen=True, eq=False)
class Demands:
    """The rounds of an algorithm; ``count`` says how many are alike. Arrays are float64[kinds]."""

    count: FloatArray
    node_messages: FloatArray
    rank_messages: FloatArray
    rank_sent: FloatArray
    node_blocks: FloatArray
    largest: FloatArray
    pairs: FloatArray
    both_ways: FloatArray
    within_messages: FloatArray
    within_blocks: FloatArray
    within_largest: FloatArray
    within_node_blocks: FloatArray
    within_share: FloatArray
    combined: FloatArray
    hops: FloatArray
    link_blocks: FloatArray
    tied_blocks: FloatArray
    split: int = 1  # blocks that the vector of an allreduce, bcast or reduce is cut into


def demands_of(
    collective: str,
    algorithm: str,
    places: CollectivePlaces,
    block_bytes: int,
    groups: NodeGroups | None = None,
) -> tuple[Demands, float]:
    """Return the rounds of an algorithm, and the bytes of one of their blocks.

    Only algorithms that cut data into segments ask for the size.
    """
    chosen = find_algorithm(collective, algorithm)
    segmented = chosen.parameter == "segment_bytes"
    found = _demands(collective, algorithm, places, block_bytes if segmented else 0, groups)
    if collective not in WHOLE_VECTOR:
        return found, float(block_bytes)
    return found, max(block_bytes / found.split, min(1.0, block_bytes))


@lru_cache(maxsize=1024)
def _demands(
    collective: str,
    algorithm: str,
    places: CollectivePlaces,
    size: int,
    groups: NodeGroups | None,
) -> Demands:
    chosen = find_algorithm(collective, algorithm)
    case = case_of(chosen, places.ranks, 0, size)
    if (collective, chosen.name) == ("alltoall", "linear"):
        kinds = Counter([_all_to_all(places, groups)])
    else:
        kinds = count_rounds(chosen, case, lambda one: _demand(one, places, groups))
    rows = np.array([(count, *kind) for kind, count in kinds.items()], np.float64)
    names = [each.name for each in fields(Demands)[:-1]]
    columns = dict(zip(names, rows.reshape(-1, len(names)).T, strict=True))
    return Demands(**columns, split=chosen.split(case))


def _demand(one: Round, places: CollectivePlaces, groups: NodeGroups | None) -> _Demand:
    blocks = one.counts.astype(np.float64)
    nodes = [end // places.ranks_per_node for end in (one.source, one.target)]
    between = nodes[0] != nodes[1]
    out, into = (end[between] for end in nodes)
    sent = blocks[between]
    messages, most = _busiest((out, into), sent)
    rank_messages, _ = _busiest((one.source[between], one.target[between]), sent)
    inside = blocks[~between]
    within_messages, within_blocks = _busiest((one.source[~between], one.target[~between]), inside)
    _, in_node = _busiest((nodes[0][~between],), inside)
    split, tied = link_blocks(out, into, sent, places)
    return _Demand(
        messages,
        rank_messages,
        _busiest((one.source[between],), sent)[0],
        most,
        float(sent.max(initial=0.0)),
        _distinct(np.minimum(out, into) * places.nodes + np.maximum(out, into)),
        bool((_taking_part(out, places) & _taking_part(into, places)).any()),
        within_messages,
        within_blocks,
        float(inside.max(initial=0.0)),
        in_node,
        float(np.mean(~between)) if _is_ring(one, places.ranks) else 0.0,
        float(np.bincount(one.target, blocks).max()) if one.reduce else 0.0,
        _hops(out, into, places, groups),
        split,
        tied,
    )


def _all_to_all(places: CollectivePlaces, groups: NodeGroups | None) -> _Demand:
    """Return the demand of the one round in which every rank sends a block to every other one.

    Counted without its messages, the square of the ranks: all nodes are alike, and links carry a
    flow of blocks for each pair of nodes.
    """
    nodes, each = places.nodes, places.ranks_per_node
    away = float(places.ranks - each)
    between, inside = float(nodes > 1), each - 1.0
    split, tied = _all_to_all_links(places)
    return _Demand(
        node_messages=each * away,
        rank_messages=away,
        rank_sent=away,
        node_blocks=each * away,
        largest=between,
        pairs=nodes * (nodes - 1) / 2.0,
        both_ways=nodes > 1,
        within_messages=inside,
        within_blocks=inside,
        within_largest=float(each > 1),
        within_node_blocks=each * inside,
        within_share=float(nodes == 1 and each == 2),  # two ranks are a ring,
        combined=0.0,
        hops=_farthest(places, groups),
        link_blocks=split,
        tied_blocks=tied,
    )


def _all_to_all_links(places: CollectivePlaces) -> tuple[float, float]:
    """Return the blocks over the busiest link, with ties divided and with all ties one way."""
    each = float(places.ranks_per_node) ** 2
    if places.topology:
        network = network_of(places.topology)
        hosts = np.bincount(network.host_router[: places.nodes], minlength=network.num_routers)
        found = each * float(link_loads(network, np.outer(hosts, hosts)).channel.max(initial=0.0))
        return found, found
    if places.shape is None:
        return 0.0, 0.0
    # Dimension by dimension a message on a line of dimension d has the target's coordinates before
    # d and the source's after it. So what goes from a to b along the line is the number of nodes
    # with the source's a and those after it, times that with the target's b and those before it.
    there = (np.arange(prod(places.shape)) < places.nodes).astype(np.float64).reshape(places.shape)
    split, tied = 0.0, 0.0
    for axis, size in enumerate(places.shape):
        sent = there.sum(axis=tuple(range(axis))).reshape(1, size, -1)
        received = there.sum(axis=tuple(range(axis + 1, there.ndim))).reshape(-1, size, 1)
        one, other = _ring_loads(sent, received)
        split, tied = max(split, one), max(tied, other)
    return each * split, each * tied


def _ring_loads(sent: FloatArray, received: FloatArray) -> tuple[float, float]:
    """Return the most on a link of rings, ties divided and all upwards.

    What goes from a to b is sent[:, a] * received[:, b]; the second axis is along the ring.
    """
    size = sent.shape[1]
    shape = np.broadcast_shapes(sent.shape, received.shape)
    up, down, tied = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    for distance in range(1, size // 2 + 1):
        ahead = _last(sent * np.roll(received, -distance, axis=1), distance)
        back = _last((sent * np.roll(received, distance, axis=1))[:, ::-1], distance)[:, ::-1]
        if 2 * distance == size:
            tied = ahead
            up, down = up + 0.5 * ahead, down + 0.5 * back
        else:
            up, down = up + ahead, down + back
    upwards = up + 0.5 * tied
    if size == 2:  # up and down are the same link
        return float((up + down).max()), float(upwards.max())
    downwards = down - 0.5 * back if size % 2 == 0 else down
    return float(np.maximum(up, down).max()), float(np.maximum(upwards, downwards).max())


def _last(flow: FloatArray, width: int) -> FloatArray:
    """Return the sum of the last so many places round the ring, at each place."""
    before = flow[:, flow.shape[1] - width + 1 :]
    sums = np.cumsum(np.concatenate([np.zeros_like(flow[:, :1]), before, flow], axis=1), axis=1)
    return np.asarray(sums[:, width:] - sums[:, :-width])


def _farthest(places: CollectivePlaces, groups: NodeGroups | None) -> float:
    """Return the routers on the longest way between any two nodes, as ``_hops`` counts them."""
    if places.nodes == 1:
        return 0.0
    if groups is not None:
        return groups.most_routers(places.nodes) - 1.0
    if places.topology:
        routers = _routers_passed(places.topology, places.nodes)
        return max(float(routers.max()) - float(routers[0, 1]), 0.0)
    if places.shape is None:
        return 0.0
    # The first nodes fill whole lines of the last dimensions, so that these have opposite places.
    axis, below = 0, prod(places.shape[1:])
    while places.nodes <= below:
        axis += 1
        below //= places.shape[axis]
    lines = -(-places.nodes // below)
    opposite = sum(size // 2 for size in places.shape[axis + 1 :])
    return float(min(lines - 1, places.shape[axis] // 2) + opposite) - 1.0


def _is_ring(one: Round, ranks: int) -> bool:
    """Return whether each rank sends to the next one."""
    return len(one.source) == ranks and bool((one.target == (one.source + 1) % ranks).all())


def _distinct(keys: IntArray) -> float:
    """Return how many different keys there are; ``np.unique`` takes far longer."""
    return float(np.count_nonzero(np.diff(np.sort(keys))) + min(len(keys), 1))


def _taking_part(nodes: IntArray, places: CollectivePlaces) -> BoolArray:
    """Return whether each node is among some, bool[nodes]."""
    found = np.zeros(places.nodes, np.bool_)
    found[nodes] = True
    return found


def _busiest(ends: tuple[IntArray, ...], blocks: FloatArray) -> tuple[float, float]:
    """Return the most messages and the most blocks of one rank or node."""
    if not len(blocks):
        return 0.0, 0.0
    return (
        float(max(np.bincount(end).max() for end in ends)),
        float(max(np.bincount(end, blocks).max() for end in ends)),
    )


def _hops(
    source: IntArray, target: IntArray, places: CollectivePlaces, groups: NodeGroups | None
) -> float:
    """Return the routers on the longest way beyond those between nodes 0 and 1; 0 if unknown."""
    if not len(source):
        return 0.0
    if groups is not None:  # messages are measured through one switch
        return float(groups.routers(source, target).max()) - 1.0
    if places.topology:
        routers = _routers_passed(places.topology, places.nodes)
        return max(float(routers[source, target].max()) - float(routers[0, 1]), 0.0)
    if places.shape is None:
        return 0.0
    places_of = coordinates_of(places.shape)
    apart = np.abs(places_of[source] - places_of[target])
    return max(
        float(np.minimum(apart, np.array(places.shape) - apart).sum(axis=1).max()) - 1.0, 0.0
    )


@lru_cache(maxsize=4)
def _routers_passed(spec: str, nodes: int) -> NDArray[np.uint8]:
    """Return the routers on a way between the first hosts, uint8[nodes, nodes]."""
    return network_of(spec).hops(np.arange(nodes))
