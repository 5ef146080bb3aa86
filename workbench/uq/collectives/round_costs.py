"""What the rounds of a collective's algorithm demand of nodes and links, without any time.

    costs = round_costs("gather", "binomial", CollectivePlaces(64, shape=(4, 4, 4)))

The algorithms are those of ``workbench.programs.collectives``. Rank r is on node r // ranks a node;
node n is router n of a torus, or host n of another topology.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import TypeVar

import numpy as np

from kernels.uq.torus_loads import add_both_ways
from workbench.arrays import FloatArray, IntArray
from workbench.errors import ParameterError
from workbench.programs.collectives.registry import find_algorithm
from workbench.programs.collectives.rounds import Algorithm, CollectiveCase, Round
from workbench.topology.link_load import link_loads
from workbench.topology.spec import parse_topology
from workbench.topology.topology import Topology

RoundDemand = TypeVar("RoundDemand", bound=Hashable)

_MOST_MESSAGES = 2**22  # of one round


@dataclass(frozen=True)
class CollectivePlaces:
    """Where the ranks of a collective are: on the first nodes of a torus, of a network, or free."""

    nodes: int
    ranks_per_node: int = 1
    shape: tuple[int, ...] | None = None
    topology: str = ""  # spec of a network that is no torus

    def __post_init__(self) -> None:
        if self.shape is not None and self.topology:
            raise ParameterError(
                f"a test must have a torus' shape or a topology; got both, {self.shape} and "
                f"{self.topology}",
                key="topology",
            )
        known = self.topology or ("" if self.shape is None else f"torus:{_by(self.shape)}")
        hosts = self.nodes
        if self.topology:
            hosts = network_of(self.topology).num_hosts
        elif self.shape is not None:
            hosts = prod(self.shape)
        if hosts < self.nodes:
            raise ParameterError(
                f"the topology must have a host for each of {self.nodes} nodes; {known} has "
                f"{hosts}; give a larger one or fewer nodes",
                key="topology",
            )

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return self.nodes * self.ranks_per_node


@dataclass(frozen=True, eq=False)
class RoundCosts:
    """The demands of an algorithm's rounds; alike rounds are counted, not repeated."""

    count: FloatArray  # [kinds] rounds of a kind
    messages: FloatArray  # [kinds] in or out of the busiest node, or rank if more
    blocks: FloatArray  # [kinds] in or out of the busiest node, or rank if more
    largest: FloatArray  # [kinds] blocks of the largest message
    # [kinds] blocks over the busiest link; 0 without a topology. On a torus, messages that may go
    # either way round are divided between both, or all go upwards.
    link_blocks: FloatArray
    tied_blocks: FloatArray
    split: int  # blocks that the vector of an allreduce, bcast or reduce is cut into


def placed_on(spec: str) -> tuple[tuple[int, ...] | None, str]:
    """Return the shape of a plain torus that a spec names, and the spec where it is another one.

    Args:
        spec: of ``workbench.topology.parse_topology``, such as ``torus:16x16x16``.

    Raises:
        ParameterError: it names no topology.
    """
    found = parse_topology(spec)
    plain = found.family == "torus" and set(found.parameters) == {"dims", "hosts"}
    if plain and found.num_hosts == found.num_routers:
        return tuple(int(part) for part in str(found.parameters["dims"]).split("x")), ""
    return None, spec


@lru_cache(maxsize=512)
def round_costs(collective: str, algorithm: str, places: CollectivePlaces) -> RoundCosts:
    """Return the demands of a collective among ranks at their places.

    On a torus routes are dimension by dimension; on another topology messages are divided among
    all minimal routes, as ``workbench.topology.link_load`` does.
    """
    chosen, case = find_algorithm(collective, algorithm), CollectiveCase(places.ranks)
    if chosen.parameter == "fanout":
        case = CollectiveCase(places.ranks, fanout=chosen.value)
    kinds = count_rounds(chosen, case, lambda one: _demand(one, places))
    rows = np.array([(count, *kind) for kind, count in kinds.items()], np.float64).reshape(-1, 6)
    count, messages, blocks, largest, link_blocks, tied_blocks = rows.T
    split = chosen.split(case)
    return RoundCosts(count, messages, blocks, largest, link_blocks, tied_blocks, split)


def count_rounds(
    algorithm: Algorithm, case: CollectiveCase, demand: Callable[[Round], RoundDemand]
) -> Counter[RoundDemand]:
    """Return the number of rounds of each demand; rounds alike are asked for once."""
    kinds: Counter[RoundDemand] = Counter()
    known: dict[bytes, RoundDemand] = {}
    before: Round | None = None
    kind: RoundDemand | None = None
    for one in algorithm.rounds(case):
        if not len(one.source):
            continue
        # Rounds of a ring share their arrays, which need not be compared: 18x on 4096 ranks.
        if before is not None and kind is not None and _same_arrays(one, before):
            kinds[kind] += 1
            continue
        if len(one.source) > _MOST_MESSAGES:
            raise ParameterError(
                f"a round may have {_MOST_MESSAGES} messages; {algorithm.name} among "
                f"{case.ranks} ranks has {len(one.source)}; take fewer nodes or another "
                "algorithm",
                key="nodes",
            )
        parts = (one.source, one.target, one.counts)
        key = bytes([one.reduce]) + b"".join(part.tobytes() for part in parts)
        if key not in known:
            known[key] = demand(one)
        before, kind = one, known[key]
        kinds[kind] += 1
    return kinds


def _same_arrays(one: Round, other: Round) -> bool:
    """Return whether two rounds hold the very same arrays of ranks and counts."""
    same = one.source is other.source and one.target is other.target and one.counts is other.counts
    return same and one.reduce == other.reduce


def _demand(one: Round, places: CollectivePlaces) -> tuple[float, ...]:
    """Return the demands of a round, in the order of ``RoundCosts``."""
    ends, blocks = (one.source, one.target), one.counts.astype(np.float64)
    busiest = [(np.bincount(end).max(), np.bincount(end, blocks).max()) for end in ends]
    source, target = (end // places.ranks_per_node for end in ends)
    between = source != target
    source, target, sent = source[between], target[between], blocks[between]
    if places.ranks_per_node > 1 and len(sent):
        busiest += [(np.bincount(n).max(), np.bincount(n, sent).max()) for n in (source, target)]
    split, tied = link_blocks(source, target, sent, places)
    messages, most = (float(max(part)) for part in zip(*busiest, strict=True))
    return messages, most, float(blocks.max()), split, tied


def link_blocks(
    source: IntArray,  # [messages] nodes
    target: IntArray,  # [messages] nodes
    blocks: FloatArray,  # [messages]
    places: CollectivePlaces,
) -> tuple[float, float]:
    """Return the blocks over the busiest link, with ties divided and with all ties upwards."""
    if not len(blocks) or (places.shape is None and not places.topology):
        return 0.0, 0.0
    if len(blocks) == 1:  # it has its links to itself
        return float(blocks[0]), float(blocks[0])
    if places.topology:
        network = network_of(places.topology)
        routers = network.host_router
        traffic = np.zeros((network.num_routers, network.num_routers))
        np.add.at(traffic, (routers[source], routers[target]), blocks)
        found = float(link_loads(network, traffic).channel.max(initial=0.0))
        return found, found
    shape = places.shape or ()
    load = np.zeros((2, prod(shape), len(shape), 2))
    add_both_ways(np.array(shape), coordinates_of(shape), source, target, blocks, load)
    return float(load[0].max()), float(load[1].max())


@lru_cache(maxsize=16)
def coordinates_of(shape: tuple[int, ...]) -> IntArray:
    """Return the coordinates of each router of a torus, int64[routers, dimensions]."""
    return np.ascontiguousarray(np.indices(shape).reshape(len(shape), -1).T.astype(np.int64))


@lru_cache(maxsize=8)
def network_of(spec: str) -> Topology:
    """Return the topology of a spec; those asked for last are kept."""
    return parse_topology(spec)


def _by(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape))
