"""Allgather: every rank's block reaches every rank."""

from __future__ import annotations

import numpy as np

from workbench.programs.collectives.rounds import (
    Algorithm,
    CollectiveCase,
    Rounds,
    around,
    powers,
    single,
    spans,
)


def ring(case: CollectiveCase) -> Rounds:
    """Forward the block received last to the next rank; segments go round independently."""
    return around(case, 0)


def bruck(case: CollectiveCase) -> Rounds:
    """Send all blocks held so far to the rank 1, 2, 4, ... places before."""
    ranks = np.arange(case.ranks)
    for distance in powers(case.ranks):
        counts = np.full(case.ranks, min(distance, case.ranks - distance))
        yield spans(ranks, (ranks - distance) % case.ranks, ranks, counts, case.ranks)


def recursive_doubling(case: CollectiveCase) -> Rounds:
    """Exchange all blocks in pairs, then in pairs of pairs, among a power of two of the ranks."""
    others, participants = case.others, case.participants
    extra, count = len(others), len(participants)
    yield single(others, participants[:extra], others)
    place = np.arange(count)
    # place i and those before it stand for this many ranks, in the order of ranks
    start = np.arange(count + 1) + np.minimum(np.arange(count + 1), extra)
    for distance in powers(count):
        group = place // distance * distance
        counts = start[group + distance] - start[group]
        partner = participants[place ^ distance]
        yield spans(participants, partner, start[group], counts, case.ranks)
    rest = np.full(extra, case.ranks - 1)
    yield spans(participants[:extra], others, others + 1, rest, case.ranks)


def neighbour_exchange(case: CollectiveCase) -> Rounds:
    """Exchange two blocks with either neighbour in turn; an odd number of ranks runs the ring."""
    if case.ranks % 2:
        yield from ring(case)
        return
    ranks = np.arange(case.ranks)
    towards = 1 - 2 * (ranks % 2)
    yield single(ranks, ranks + towards, ranks)
    pair = ranks // 2
    for step in range(1, case.ranks // 2):
        partner = (ranks + towards * (-1) ** step) % case.ranks
        yield spans(ranks, partner, 2 * pair, np.full(case.ranks, 2), case.ranks)
        pair = pair[partner]


_THAKUR = (
    "Thakur, Rabenseifner, Gropp, Optimization of collective communication operations in MPICH, "
    "2005, section 3.1"
)

ALGORITHMS = (
    Algorithm("ring", "Every rank forwards the block it received last to the next.", _THAKUR, ring),
    Algorithm(
        "bruck",
        "Every rank sends all it has 1, 2, 4, ... places back; the last message is what is left.",
        "Bruck, Ho, Kipnis, Upfal, Weathersby, Efficient algorithms for all-to-all communications "
        "in multiport message-passing systems, 1997",
        bruck,
    ),
    Algorithm(
        "recursive-doubling",
        "Pairs exchange all they have, then pairs of pairs; ranks beyond a power of two send "
        "their block to a partner first and receive all others from it last.",
        _THAKUR,
        recursive_doubling,
    ),
    Algorithm(
        "neighbour-exchange",
        "Every rank exchanges two blocks with its two neighbours in turn; an odd number of ranks "
        "runs the ring.",
        "Chen, Zhang, Zhang, Yuan, Performance evaluation of allgather algorithms on "
        "terascale Linux cluster with fast Ethernet, 2005",
        neighbour_exchange,
    ),
)
