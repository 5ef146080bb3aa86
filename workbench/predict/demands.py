"""What each round of a collective demands of ranks, nodes and links, without any time.

The rounds are those of ``workbench.programs.collectives``; rank r is on node r // ranks a node.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import FloatArray, IntArray
from workbench.predict.node_groups import NodeGroups
from workbench.programs.collectives.registry import find_algorithm
from workbench.programs.collectives.rounds import Round
from workbench.programs.collectives.schedule import case_of
from workbench.uq.collectives.models import WHOLE_VECTOR
from workbench.uq.collectives.round_costs import (
    CollectivePlaces,
    count_rounds,
    link_blocks,
    network_of,
)


class _Demand(NamedTuple):
    """The demand of one round; blocks are those of the collective."""

    node_messages: float  # in or out of the busiest node
    rank_messages: float  # in or out of the busiest rank, between nodes
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
        most,
        float(sent.max(initial=0.0)),
        float(len(np.unique(np.minimum(out, into) * places.nodes + np.maximum(out, into)))),
        bool(len(np.intersect1d(out, into))),
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


def _is_ring(one: Round, ranks: int) -> bool:
    """Return whether each rank sends to the next one."""
    return len(one.source) == ranks and bool((one.target == (one.source + 1) % ranks).all())


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
    shape = np.array(places.shape)[:, None]
    ends = (np.array(np.unravel_index(end, places.shape)) for end in (source, target))
    apart = np.abs(np.subtract(*ends))
    return max(float(np.minimum(apart, shape - apart).sum(axis=0).max()) - 1.0, 0.0)


@lru_cache(maxsize=4)
def _routers_passed(spec: str, nodes: int) -> NDArray[np.uint8]:
    """Return the routers on a way between the first hosts, uint8[nodes, nodes]."""
    return network_of(spec).hops(np.arange(nodes))
