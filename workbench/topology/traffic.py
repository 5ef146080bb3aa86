"""Who sends to whom: patterns that networks are compared under, and programs' own.

A host sends with its link's whole bandwidth, rate 1, unless its pattern leaves it silent. The
patterns are those of Dally, Towles: Principles and Practices of Interconnection Networks, 2004,
section 3.2; ``adversarial`` is that of Kim et al.'s dragonfly paper, ISCA 2008;
``longest-matching`` that of Jyothi, Singla, Godfrey, Kolla: Measuring and Understanding Throughput
of Network Topologies, SC 2016.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from workbench.arrays import FloatArray, IntArray
from workbench.errors import ParameterError
from workbench.named_options import named_options
from workbench.suggestions import did_you_mean
from workbench.topology.topology import Topology

Random = np.random.Generator | int | None

LARGEST_MATRIX = 2**14
"""Most routers whose traffic is given as a matrix: 2 GiB."""

LARGEST_MATCHING = 6000
"""Most rows of the matrix that the longest matching is found in: 300 MB."""


@dataclass(frozen=True, eq=False)
class Traffic:
    """Rates between hosts, as shares of a host's bandwidth; what is even is not listed.

    Attributes:
        name: of the pattern.
        topology: the network.
        source: int32[flows], hosts.
        target: int32[flows], hosts.
        rate: float64[flows], what the one sends to the other.
        everywhere: what each host sends besides, to all others equally.
        seed: of random choices; None where none were made.
    """

    name: str
    topology: Topology
    source: NDArray[np.int32]
    target: NDArray[np.int32]
    rate: FloatArray
    everywhere: float = 0.0
    seed: int | None = None

    @property
    def total(self) -> float:
        """The sum of the rates of all hosts."""
        return float(self.rate.sum()) + self.everywhere * self.topology.num_hosts

    def between_routers(self) -> FloatArray:
        """Return the rates from the hosts of each router to those of each other, float64[R, R].

        What stays at a router is left out: the diagonal is 0.

        Raises:
            ParameterError: there are more than `LARGEST_MATRIX` routers.
        """
        refuse_matrix(self.topology)
        n, at = self.topology.num_routers, self.topology.host_router
        hosts = np.bincount(at, minlength=n).astype(np.float64)
        if self.everywhere:
            share = self.everywhere / max(self.topology.num_hosts - 1, 1)
            found: FloatArray = np.outer(hosts * share, hosts)
        else:
            found = np.zeros((n, n))
        np.add.at(found, (at[self.source], at[self.target]), self.rate)
        np.fill_diagonal(found, 0.0)
        return found

    def between_hosts(self) -> FloatArray:
        """Return the rate from each host to each other, float64[hosts, hosts]."""
        n = self.topology.num_hosts
        found: FloatArray = np.full((n, n), self.everywhere / max(n - 1, 1))
        np.fill_diagonal(found, 0.0)
        np.add.at(found, (self.source, self.target), self.rate)
        return found

    def __repr__(self) -> str:
        hosts = self.topology.num_hosts
        return (
            f"Traffic({self.name} on {self.topology.name}: {self.total:g} of {hosts} hosts' rate)"
        )


def refuse_matrix(topology: Topology) -> None:
    """Refuse a network with more than `LARGEST_MATRIX` routers."""
    if topology.num_routers > LARGEST_MATRIX:
        raise ParameterError(
            f"traffic between routers is a matrix of at most {LARGEST_MATRIX:,} routers; "
            f"{topology.name} has {topology.num_routers:,}: take a smaller network",
            key="topology",
        )


class PatternOptions(TypedDict, total=False):
    """What single patterns of traffic take."""

    rng: Random
    hot: ArrayLike
    share: float


@named_options(PatternOptions)
def traffic(topology: Topology, pattern: str, **options: Unpack[PatternOptions]) -> Traffic:
    """Return a pattern's traffic on a network.

    Args:
        topology: the network.
        pattern: one of ``PATTERNS``.
        options: what the pattern takes: ``rng`` of permutation, ``hot`` and ``share`` of hotspot.

    Raises:
        ParameterError: there is no such pattern, or the network has no place for it.
    """
    if pattern not in PATTERNS:
        raise ParameterError(
            f"a traffic pattern must be one of {', '.join(PATTERNS)}; got {pattern!r}"
            f"{did_you_mean(pattern, PATTERNS)}",
            key="pattern",
        )
    return PATTERNS[pattern](topology, **options)


def pattern_for(topology: Topology, name: str) -> str:
    """Return the pattern, or longest-matching for adversarial where there are no two groups."""
    grouped = int(topology.group[topology.host_router].min(initial=0)) >= 0
    if name == "adversarial" and not (grouped and len(set(topology.group.tolist()) - {-1}) > 1):
        return "longest-matching"
    return name


def uniform(topology: Topology) -> Traffic:
    """Return the traffic of each host to all others equally."""
    none = np.zeros(0, np.int32)
    everywhere = 1.0 if topology.num_hosts > 1 else 0.0
    return Traffic("uniform", topology, none, none, np.zeros(0), everywhere)


def permutation(topology: Topology, *, rng: Random = 0) -> Traffic:
    """Return the traffic of each host to the next on a random cycle of all hosts."""
    n = topology.num_hosts
    order = np.random.default_rng(rng).permutation(n)
    target = np.empty(n, np.int64)
    # One cycle through all hosts: none sends to itself.
    target[order] = np.roll(order, -1)
    return _one_each("permutation", topology, target, rng if isinstance(rng, int) else None)


def tornado(topology: Topology) -> Traffic:
    """Return the traffic of each host to the one nearly half the ring away.

    In a torus or HyperX that is ⌈k/2⌉ - 1 routers on, in each dimension of k; elsewhere ⌈N/2⌉ - 1
    hosts on, of N.
    """
    n = topology.num_hosts
    on_a_grid = topology.family in ("torus", "hyperx") and topology.coordinates.size
    if not on_a_grid:
        return _one_each("tornado", topology, (np.arange(n) + max((n + 1) // 2 - 1, 1)) % n)
    place = topology.coordinates.astype(np.int64)
    sizes = place.max(axis=0) + 1
    radix = np.concatenate(([1], np.cumprod(sizes[:-1])))
    router = np.empty(int(sizes.prod()), np.int64)
    router[place @ radix] = np.arange(topology.num_routers)
    moved = router[(place + (sizes + 1) // 2 - 1) % sizes @ radix]
    return _one_each("tornado", topology, _same_place(topology, moved))


def transpose(topology: Topology) -> Traffic:
    """Return the traffic of a transposed matrix of C columns: host r·C + q sends to q·R + r.

    The hosts are R rows, the largest divisor of their number that is no more than its root.
    """
    n = topology.num_hosts
    rows = next((r for r in range(int(n**0.5), 1, -1) if n % r == 0), 1)
    if rows == 1:
        raise ParameterError(
            f"transpose needs hosts that form a rectangle; {n} has no divisor: change the number "
            "of hosts or take another pattern",
            key="pattern",
        )
    target = np.arange(n).reshape(rows, n // rows)
    place = np.arange(n).reshape(n // rows, rows).T
    moved = np.empty(n, np.int64)
    moved[target.ravel()] = place.ravel()
    return _one_each("transpose", topology, moved)


def bit_complement(topology: Topology) -> Traffic:
    """Return the traffic of host i to host N - 1 - i, which are complements where N = 2ᵇ."""
    n = topology.num_hosts
    return _one_each("bit-complement", topology, n - 1 - np.arange(n))


def adversarial(topology: Topology, *, shift: int = 1) -> Traffic:
    """Return the traffic of host j of each group to host j of the group ``shift`` further."""
    group = topology.group[topology.host_router]
    names, number, members = np.unique(group, return_inverse=True, return_counts=True)
    if len(names) < 2 or names[0] < 0:
        raise ParameterError(
            f"adversarial traffic needs two groups of hosts; {topology.name} has none: take "
            "longest-matching",
            key="pattern",
        )
    if shift % len(names) == 0:
        raise ParameterError(
            f"shift must lead to another one of {len(names)} groups; got {shift}", key="shift"
        )
    order = np.argsort(number, kind="stable")
    first = np.cumsum(members) - members
    place = np.empty(len(group), np.int64)
    place[order] = np.arange(len(group)) - np.repeat(first, members)
    to = (number + shift) % len(names)
    return _one_each("adversarial", topology, order[first[to] + place % members[to]])


def hotspot(topology: Topology, *, hot: ArrayLike = (0,), share: float = 0.2) -> Traffic:
    """Return the traffic with a share of each host's rate to a few hot hosts, the rest uniform."""
    if not 0 <= share <= 1:
        raise ParameterError(f"share must be 0 to 1; got {share}", key="share")
    hosts = np.unique(topology.checked_hosts(hot))
    if not len(hosts):
        raise ParameterError("hotspot traffic needs one hot host at least", key="hot")
    source = np.repeat(np.arange(topology.num_hosts), len(hosts))
    target = np.tile(hosts, topology.num_hosts)
    other = source != target
    source, target = source[other], target[other]
    fan = np.bincount(source, minlength=topology.num_hosts)
    return Traffic(
        "hotspot",
        topology,
        source.astype(np.int32),
        target.astype(np.int32),
        share / fan[source],
        1.0 - share,
    )


def longest_matching(topology: Topology, *, rng: Random = None) -> Traffic:
    """Return the traffic that matches hosts with the largest sum of distances.

    It is nearly the worst case of any traffic. ``rng`` selects one of equally long matchings, None
    that of the routers' order; some of them fit better than others.
    """
    from scipy.optimize import linear_sum_assignment

    hosts = np.bincount(topology.host_router, minlength=topology.num_routers)
    each = max(int(np.gcd.reduce(hosts)), 1)
    routers = np.repeat(np.arange(topology.num_routers), hosts // each)
    if len(routers) > LARGEST_MATCHING:
        raise ParameterError(
            f"a longest matching must have at most {LARGEST_MATCHING} routers; {topology.name} has "
            f"{len(routers)}: take permutation",
            key="pattern",
        )
    away = topology.router_hops[np.ix_(routers, routers)].astype(np.float64)
    order = np.arange(len(routers))
    if rng is not None:
        order = np.random.default_rng(rng).permutation(order)
    to = np.empty(len(order), np.int64)
    to[order] = order[linear_sum_assignment(away[np.ix_(order, order)], maximize=True)[1]]
    # Hosts by router, `each` of them in a row of the matrix.
    by_router = np.argsort(topology.host_router, kind="stable").reshape(-1, each)
    target = np.empty(topology.num_hosts, np.int64)
    target[by_router.ravel()] = by_router[to].ravel()
    seed = rng if isinstance(rng, int) else None
    return _one_each("longest-matching", topology, target, seed)


def _same_place(topology: Topology, router: IntArray) -> IntArray:
    """Return for each host the one at the same place of the router ``router[its own]``."""
    hosts = np.bincount(topology.host_router, minlength=topology.num_routers)
    first = np.cumsum(hosts) - hosts
    order = np.argsort(topology.host_router, kind="stable")
    place = np.empty(topology.num_hosts, np.int64)
    place[order] = np.arange(topology.num_hosts) - np.repeat(first, hosts)
    to = router[topology.host_router]
    found: IntArray = order[first[to] + place % np.maximum(hosts[to], 1)]
    return found


def _one_each(name: str, topology: Topology, target: IntArray, seed: int | None = None) -> Traffic:
    """Return the traffic of each host to one other; a host with itself as target is silent."""
    source = np.flatnonzero(target != np.arange(topology.num_hosts))
    return Traffic(
        name,
        topology,
        source.astype(np.int32),
        target[source].astype(np.int32),
        np.ones(len(source)),
        seed=seed,
    )


PATTERNS: Mapping[str, Callable[..., Traffic]] = MappingProxyType(
    {
        "uniform": uniform,
        "permutation": permutation,
        "tornado": tornado,
        "transpose": transpose,
        "bit-complement": bit_complement,
        "adversarial": adversarial,
        "hotspot": hotspot,
        "longest-matching": longest_matching,
    }
)
"""The patterns by their names."""
