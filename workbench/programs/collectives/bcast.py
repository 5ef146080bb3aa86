"""Broadcast: the root's vector reaches every rank."""

from __future__ import annotations

import numpy as np

from workbench.programs.collectives import allgather, gather_scatter
from workbench.programs.collectives.rounds import Algorithm, CollectiveCase, Rounds, powers, single


def linear(case: CollectiveCase) -> Rounds:
    """Send from the root to every other rank, all at once."""
    ranks = case.virtual
    yield single(np.repeat(ranks[:1], case.ranks - 1), ranks[1:], 0)


def knomial(case: CollectiveCase) -> Rounds:
    """Send from each holder to the next ``fanout - 1`` subtrees, the largest first."""
    ranks, k = case.virtual, case.fanout
    weight = 1
    while weight * k < case.ranks:
        weight *= k
    while weight:
        holders = np.arange(0, case.ranks, weight * k)
        targets = holders[:, None] + weight * np.arange(1, k)
        here = targets < case.ranks
        sources = np.broadcast_to(holders[:, None], targets.shape)
        yield single(ranks[sources[here]], ranks[targets[here]], 0)
        weight //= k


def doubling(case: CollectiveCase) -> Rounds:
    """Send from each of the first 1, 2, 4, ... ranks to the one that many places on."""
    ranks = case.virtual
    for distance in powers(case.ranks):
        target = np.arange(distance, min(2 * distance, case.ranks))
        yield single(ranks[target - distance], ranks[target], 0)


def binary(case: CollectiveCase) -> Rounds:
    """Send from rank r to ranks 2r + 1 and 2r + 2, both at once, level by level."""
    ranks, first = case.virtual, 1
    while first < case.ranks:
        target = np.arange(first, min(2 * first + 1, case.ranks))
        yield single(ranks[(target - 1) // 2], ranks[target], 0)
        first = 2 * first + 1


def chains(case: CollectiveCase) -> Rounds:
    """Send from the root to the first of ``fanout`` chains of ranks, each of which forwards."""
    ranks = case.virtual
    length = -(-(case.ranks - 1) // case.fanout)
    for step in range(length):
        target = np.arange(1 + step, case.ranks, length)
        source = target - 1 if step else np.zeros_like(target)
        yield single(ranks[source], ranks[target], 0)


def pipeline(case: CollectiveCase) -> Rounds:
    """Forward the segments from rank to rank, one while the next is received."""
    ranks = case.virtual
    for step in range(case.segments + case.ranks - 2):
        low, high = max(0, step - case.segments + 1), min(step, case.ranks - 2)
        place = np.arange(low, high + 1)
        yield single(ranks[place], ranks[place + 1], step - place)


def scatter_allgather(case: CollectiveCase) -> Rounds:
    """Scatter the vector from the root by a binomial tree, then send its blocks round a ring."""
    yield from gather_scatter.binomial(case)
    yield from allgather.ring(case)


def scatter_doubling(case: CollectiveCase) -> Rounds:
    """Scatter the vector from the root by a binomial tree, then exchange its blocks in pairs."""
    yield from gather_scatter.binomial(case)
    yield from allgather.recursive_doubling(case)


_OPEN_MPI = "Pjesivac-Grbovic et al., Performance analysis of MPI collective operations, 2007"

ALGORITHMS = (
    Algorithm("linear", "The root sends to every other rank.", _OPEN_MPI, linear),
    Algorithm(
        "binomial",
        "Every rank that has the vector sends it on, so that their number doubles.",
        "Thakur, Rabenseifner, Gropp, Optimization of collective communication operations in "
        "MPICH, 2005, section 3.2",
        knomial,
    ),
    Algorithm(
        "knomial",
        "Every rank that has the vector sends it to k - 1 others, so that their number grows k "
        "times.",
        "Bruck, Ho, Kipnis, Upfal, Weathersby, Efficient algorithms for all-to-all communications "
        "in multiport message-passing systems, 1997; the k-port binomial tree",
        knomial,
        parameter="fanout",
        value=4,
    ),
    Algorithm(
        "binomial-doubling",
        "Rank r sends to r + 1, r + 2, r + 4, ...: the nearest ranks have the vector first.",
        f"{_OPEN_MPI}; the binomial tree of Open MPI's coll_base_topo.c",
        doubling,
    ),
    Algorithm("binary", "Rank r sends to 2r + 1 and 2r + 2, level by level.", _OPEN_MPI, binary),
    Algorithm(
        "chains",
        "The root sends to the first of several chains of ranks, each of which forwards it.",
        _OPEN_MPI,
        chains,
        parameter="fanout",
        value=4,
    ),
    Algorithm("chain", "Every rank forwards the whole vector to the next.", _OPEN_MPI, pipeline),
    Algorithm(
        "pipeline",
        "Every rank forwards segments to the next, one while it receives another.",
        _OPEN_MPI,
        pipeline,
        split=lambda case: case.segments,
        parameter="segment_bytes",
        value=8192,
    ),
    Algorithm(
        "scatter-allgather",
        "The vector is scattered by a binomial tree and collected in a ring.",
        "Barnett et al., Interprocessor collective communication library, 1994; "
        "Thakur, Rabenseifner, Gropp 2005, section 3.2",
        scatter_allgather,
        split=lambda case: case.ranks,
    ),
    Algorithm(
        "scatter-doubling",
        "The vector is scattered by a binomial tree and collected by pairs, then pairs of pairs.",
        "Thakur, Rabenseifner, Gropp 2005, section 3.2: for vectors of middling length",
        scatter_doubling,
        split=lambda case: case.ranks,
    ),
)
