"""Gather and scatter: every rank's block goes to the root, or comes from it."""

from __future__ import annotations

import numpy as np

from workbench.arrays import IntArray
from workbench.programs.collectives.rounds import (
    Algorithm,
    CollectiveCase,
    Rounds,
    mirror,
    powers,
    single,
    spans,
)


def linear(case: CollectiveCase) -> Rounds:
    """Send every other rank its block from the root, all at once."""
    ranks = case.virtual
    yield single(np.repeat(ranks[:1], case.ranks - 1), ranks[1:], ranks[1:])


def sequential(case: CollectiveCase) -> Rounds:
    """Send every other rank its block from the root, one after another."""
    ranks = case.virtual
    for target in range(1, case.ranks):
        yield single(ranks[:1], ranks[[target]], ranks[[target]])


def binomial(case: CollectiveCase) -> Rounds:
    """Send the blocks of each range's upper half to the half's first rank, then halve again."""
    ranks = case.virtual
    for distance in reversed(powers(case.ranks)):
        target = np.arange(distance, case.ranks, 2 * distance)
        counts = np.minimum(distance, case.ranks - target)
        yield spans(ranks[target - distance], ranks[target], ranks[target], counts, case.ranks)


def gather_pieces(case: CollectiveCase, owners: IntArray) -> Rounds:
    """Gather pieces at the root by a binomial tree; ``owners``, int64[pieces], include the root."""
    pieces = len(owners)
    own = int(np.flatnonzero(owners == case.root)[0])
    for size in powers(pieces):
        # a place is a piece's number with the bits flipped that are set in the root's: its own is 0
        place = np.arange(size, pieces, 2 * size)
        first = (place ^ own) // size * size
        counts = np.full(len(place), size)
        yield spans(owners[place ^ own], owners[(place - size) ^ own], first, counts, pieces)


_BINOMIAL = (
    "Thakur, Rabenseifner, Gropp, Optimization of collective communication operations in MPICH, "
    "2005, section 3.2"
)
_LINEAR = "Pjesivac-Grbovic et al., Performance analysis of MPI collective operations, 2007"

SCATTER = (
    Algorithm("linear", "The root sends every other rank its block.", _LINEAR, linear),
    Algorithm(
        "sequential",
        "The root sends every other rank its block, one after another.",
        _LINEAR,
        sequential,
    ),
    Algorithm(
        "binomial",
        "Blocks go down a binomial tree, those of a whole subtree in one message.",
        _BINOMIAL,
        binomial,
    ),
)
GATHER = (
    Algorithm(
        "linear",
        "Every other rank sends its block to the root.",
        _LINEAR,
        lambda case: mirror(linear(case)),
    ),
    Algorithm(
        "sequential",
        "Every other rank sends its block to the root, one after another.",
        _LINEAR,
        lambda case: mirror(sequential(case)),
    ),
    Algorithm(
        "binomial",
        "Blocks go up a binomial tree, those of a whole subtree in one message.",
        _BINOMIAL,
        lambda case: mirror(binomial(case)),
    ),
)
