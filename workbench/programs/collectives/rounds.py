"""The terms in which an algorithm is written: rounds of messages, all ranks at once.

A round is a set of messages. What a rank sends and receives in one round is posted together; what
it does in a later round waits until that is finished. A rank without a message in a round does not
wait for it: rounds order the steps of each rank and are no barriers.

Messages carry blocks. A vector that all ranks share is cut into blocks; gather, scatter, allgather
and reduce_scatter have one block for each rank, alltoall has block ``sender * ranks + receiver``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import IntArray
from workbench.errors import ParameterError

MOST = {"messages": 2**24, "blocks in messages": 2**26, "block sizes": 2**24}
"""The most of each that a schedule may have."""


@dataclass(frozen=True)
class CollectiveCase:
    """All that the messages of a collective depend on, except their sizes in bytes.

    Attributes:
        ranks: number of ranks.
        root: the root's rank, 0 where there is none.
        fanout: base of k-nomial trees.
        segments: number of pieces that a pipeline divides its data into.
    """

    ranks: int
    root: int = 0
    fanout: int = 2
    segments: int = 1

    @property
    def virtual(self) -> IntArray:
        """The ranks counted from the root: ``virtual[0]`` is the root, int64[ranks]."""
        ranks: IntArray = np.roll(np.arange(self.ranks), -self.root)
        return ranks

    @property
    def power(self) -> int:
        """Largest power of two that is at most the number of ranks."""
        return 1 << (self.ranks.bit_length() - 1)

    @property
    def others(self) -> IntArray:
        """The ranks left out where a power of two is needed, int64[ranks - power]."""
        # one of each of the first pairs (2i, 2i + 1), and not the root
        even = 2 * np.arange(self.ranks - self.power)
        others: IntArray = even + (even == self.root)
        return others

    @property
    def participants(self) -> IntArray:
        """The partners of ``others``, then all further ranks, int64[power]."""
        extra = self.ranks - self.power
        partners = 4 * np.arange(extra) + 1 - self.others
        return np.concatenate([partners, np.arange(2 * extra, self.ranks)])


@dataclass(frozen=True, eq=False)
class Round:
    """Messages that are posted together."""

    source: IntArray  # (messages,) sending rank
    target: IntArray  # (messages,) receiving rank
    counts: IntArray  # (messages,) number of blocks
    blocks: Callable[[], NDArray[Any]]  # block numbers, (sum(counts),); called after the size check
    reduce: bool = False  # whether the receiver combines them with its own
    lane: int = 0  # rounds of different lanes do not wait for each other


Rounds = Iterator[Round]
MakeRounds = Callable[[CollectiveCase], Rounds]


@dataclass(frozen=True)
class Algorithm:
    """One way to carry out a collective.

    Attributes:
        name: how it is asked for.
        description: a sentence.
        reference: where it is described.
        rounds: the messages for a case.
        split: number of blocks that a vector of all ranks is cut into; not asked where the
            operation itself says what the blocks are.
        few: algorithm of the operation that runs instead where the vector has fewer elements than
            these blocks; empty where blocks may be empty.
        order: ``always`` where reductions combine neighbouring ranges of ranks only, so that
            operators that do not commute are safe; ``root 0`` where that holds for this root only,
            ``never``, or empty where nothing is combined.
        parameter: ``fanout``, ``segment_bytes`` or empty.
        value: of that parameter.
    """

    name: str
    description: str
    reference: str
    rounds: MakeRounds
    split: Callable[[CollectiveCase], int] = lambda case: 1
    few: str = ""
    order: str = ""
    parameter: str = ""
    value: int = 0

    @property
    def label(self) -> str:
        """The name, with the value of its parameter: ``pipeline:8192``."""
        return f"{self.name}:{self.value}" if self.parameter else self.name

    def __str__(self) -> str:
        return self.label


def single(
    source: IntArray,
    target: IntArray,
    block: IntArray | int,
    *,
    reduce: bool = False,
    lane: int = 0,
) -> Round:
    """Return a round whose messages carry one block each; ``block`` is per message or for all."""
    counts = np.ones(len(source), np.int64)
    return Round(source, target, counts, lambda: counts * block, reduce, lane)


def spans(
    source: IntArray,
    target: IntArray,
    first: IntArray,
    counts: IntArray,
    around: int,
    *,
    reduce: bool = False,
) -> Round:
    """Return a round whose messages carry ``counts`` blocks from ``first``, modulo ``around``."""

    def blocks() -> NDArray[Any]:
        return (np.repeat(first, counts) + ragged_arange(counts)) % around

    return Round(source, target, counts, blocks, reduce)


def around(case: CollectiveCase, ahead: int, *, reduce: bool = False) -> Rounds:
    """Yield the rounds of a ring: rank r first sends block ``r + ahead``, then those before it.

    All rounds share the arrays of ranks and counts, so that what is alike can be told at once.
    """
    ranks = np.arange(case.ranks)
    following, counts = (ranks + 1) % case.ranks, np.ones(case.ranks, np.int64)
    for step in range(case.ranks - 1):
        for lane in range(case.segments):
            blocks = partial(_ring_blocks, case, ahead - step, lane)
            yield Round(ranks, following, counts, blocks, reduce, lane)


def _ring_blocks(case: CollectiveCase, ahead: int, lane: int) -> IntArray:
    """Return the block that each rank sends, int64[ranks]."""
    blocks: IntArray = (np.arange(case.ranks) + ahead) % case.ranks * case.segments + lane
    return blocks


def mirror(rounds: Iterable[Round], *, reduce: bool = False) -> Rounds:
    """Yield rounds backwards, with senders and receivers exchanged.

    A broadcast becomes a reduction, a scatter a gather, an allgather a reduce_scatter (Chan et al.:
    Collective communication: theory, practice, and experience, 2007, section 3).
    """
    for one in reversed(list(rounds)):
        yield replace(one, source=one.target, target=one.source, reduce=reduce)


def powers(ranks: int) -> list[int]:
    """Return the powers of two below a number of ranks, ascending."""
    return [1 << bit for bit in range((ranks - 1).bit_length())]


def ragged_arange(counts: NDArray[Any]) -> NDArray[np.int32]:
    """Return ``0 .. counts[0] - 1, 0 .. counts[1] - 1, ...`` as int32[sum(counts)]."""
    total = int(counts.sum(dtype=np.int64))
    starts = np.cumsum(counts, dtype=np.int32) - counts
    within = np.arange(total, dtype=np.int32)
    within -= np.repeat(starts.astype(np.int32), counts)
    return within


def check_number(number: int, what: str) -> None:
    """Refuse a schedule with more of ``what``, a key of ``MOST``, than allowed."""
    if number > MOST[what]:
        raise ParameterError(
            f"a collective's schedule may have {MOST[what]} {what}; got {number} or more: take "
            "fewer ranks, longer segments or another algorithm",
            key="ranks",
        )
