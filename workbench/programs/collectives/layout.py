"""Operations and dependencies from rounds of messages, and a cache of the results.

A rank's operations of a round wait for all those of its previous round in the same lane. Where
several operations wait for several, and that would take more dependencies than operations, a
computation of 0 ns is inserted as a join. A computation that combines waits for its receive; where
the rank also sends in that round it waits for the whole round, as after ``MPI_Sendrecv``.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.programs.collectives.rounds import (
    Algorithm,
    CollectiveCase,
    Ints,
    check_number,
    ragged_arange,
)
from workbench.programs.graph import CALC, RECV, SEND

# places of a rank's operations within a round
_JOIN, _REDUCED, _RECV, _SEND, _COMBINE = range(5)
_KINDS = np.array([CALC, RECV, RECV, SEND, CALC], np.uint8)
_TAGGED = _KINDS != CALC

_KEPT_BYTES = 256 * 2**20  # a ring allreduce of 1024 ranks has 187 MiB, made in seconds


@dataclass(frozen=True, eq=False)
class Messages:
    """All messages of a collective, round after round."""

    round: NDArray[np.int32]  # (messages,) number of the round
    lane: NDArray[np.int32]  # (messages,) see ``Round``
    source: NDArray[np.int32]  # (messages,) sending rank
    target: NDArray[np.int32]  # (messages,) receiving rank
    reduce: NDArray[np.bool_]  # (messages,) whether the receiver combines
    block_start: Ints  # (messages + 1,) each message's first place in ``blocks``
    blocks: NDArray[np.int32]  # numbers of the blocks that the messages carry

    def sizes(self, block_bytes: Ints) -> Ints:
        """Return the bytes of each message, int64[messages]; ``block_bytes`` is int64[blocks]."""
        each = block_bytes[self.blocks]
        if len(each) == len(self.round) or not len(each):
            return each
        return np.add.reduceat(each, self.block_start[:-1])

    def keep(self, which: NDArray[np.bool_]) -> Messages:
        """Return the messages that a mask selects."""
        counts = np.diff(self.block_start)
        return Messages(
            self.round[which],
            self.lane[which],
            self.source[which],
            self.target[which],
            self.reduce[which],
            _starts(counts[which]),
            self.blocks[np.repeat(which, counts)],
        )


@dataclass(frozen=True, eq=False)
class Layout:
    """The operations of a collective without their sizes."""

    rank_start: Ints  # (ranks + 1,) each rank's first operation
    kind: NDArray[np.uint8]  # (n,) SEND, RECV or CALC
    peer: NDArray[np.int32]  # (n,) rank a message goes to or comes from; 0 for CALC
    tag: NDArray[np.int32]  # (n,) to be added to the collective's tag
    message: NDArray[np.int32]  # (n,) message sent, received or combined; -1 for joins
    after: NDArray[np.int32]  # (edges,) operation that waits, ascending
    before: NDArray[np.int32]  # (edges,) operation it waits for
    messages: Messages

    @property
    def nbytes(self) -> int:
        """Memory of the arrays in bytes."""
        return sum(
            array.nbytes
            for holder in (self, self.messages)
            for array in (getattr(holder, f.name) for f in fields(holder))
            if isinstance(array, np.ndarray)
        )


def gather_messages(algorithm: Algorithm, case: CollectiveCase) -> Messages:
    """Return all messages of an algorithm; too many are refused, see ``MOST``."""
    rounds, number, blocks = [], 0, 0
    if case.ranks > 1:
        for one in algorithm.rounds(case):
            rounds.append(one)
            number += len(one.source)
            blocks += int(one.counts.sum())
            check_number(number, "messages")
            check_number(blocks, "blocks in messages")
    lengths = [len(one.source) for one in rounds]

    def per_round(values: Iterable[int]) -> NDArray[np.int32]:
        return np.repeat(np.fromiter(values, np.int32, len(rounds)), lengths)

    def joined(parts: Iterable[NDArray[Any]]) -> NDArray[np.int32]:
        return np.concatenate([np.zeros(0, np.int32), *parts], dtype=np.int32)

    return Messages(
        per_round(range(len(rounds))),
        per_round(one.lane for one in rounds),
        joined(one.source for one in rounds),
        joined(one.target for one in rounds),
        per_round(one.reduce for one in rounds).astype(bool),
        _starts(joined(one.counts for one in rounds)),
        joined(one.blocks() for one in rounds),
    )


def lay_out(messages: Messages, ranks: int, *, combining: bool) -> Layout:
    """Return the operations of messages; ``combining`` adds a computation per combined receive."""
    number = np.arange(len(messages.round), dtype=np.int32)
    combined = number[messages.reduce] if combining else number[:0]
    receive = np.where(messages.reduce & combining, _REDUCED, _RECV).astype(np.int8)
    m = messages
    message = np.concatenate([number, number, combined])
    rank = np.concatenate([m.target, m.source, m.target[combined]])
    peer = np.concatenate([m.source, m.target, np.zeros(len(combined), np.int32)])
    place = np.concatenate(
        [receive, np.full_like(receive, _SEND), np.full(len(combined), _COMBINE, np.int8)]
    )
    lanes = int(m.lane.max(initial=0)) + 1
    rounds = int(m.round.max(initial=0)) + 1
    group = (rank.astype(np.int64) * lanes + m.lane[message]) * rounds + m.round[message]

    columns = _ordered(group, place, message, peer)
    groups = _Groups(columns[0], columns[1], rounds)
    joins = groups.key[groups.needs_join]
    if len(joins):
        added = (joins, *(np.full(len(joins), value) for value in (_JOIN, -1, 0)))
        both = zip(columns, added, strict=True)
        columns = _ordered(*(np.concatenate([old, new.astype(old.dtype)]) for old, new in both))
        groups = _Groups(columns[0], columns[1], rounds)
    _, place, message, peer = columns
    after, before = groups.edges()
    tag = np.zeros(len(place), np.int32)
    if lanes > 1:
        tag = np.where(_TAGGED[place], m.lane[message], 0).astype(np.int32)
    return _read_only(
        Layout(
            groups.first_of(np.arange(ranks + 1) * (rounds * lanes)),
            _KINDS[place],
            peer,
            tag,
            message,
            after,
            before,
            messages,
        )
    )


class _Groups:
    """The operations in groups, one for each rank, lane and round, in order."""

    def __init__(self, of_op: Ints, place: NDArray[np.int8], rounds: int) -> None:
        self._place = place
        self.start = np.flatnonzero(np.diff(of_op, prepend=-1)).astype(np.int32)
        self.key = of_op[self.start]
        self.follows = np.diff(self.key // rounds, prepend=-1) == 0
        self._end = np.append(self.start[1:], np.int32(len(of_op)))
        length = self._end - self.start
        self._group = np.repeat(np.arange(len(self.start), dtype=np.int32), length)
        self._reduced, self._sends, self._combines = (
            self._count(which) for which in (_REDUCED, _SEND, _COMBINE)
        )
        self._joined = self._count(_JOIN)
        # computations wait for the sends of their round; without sends each for its receive only
        waited = np.where((self._sends > 0) & (self._combines > 0), self._end - self._combines, 0)
        first = self.start + self._joined + np.where(self._combines > 0, self._reduced, 0)
        self._exit_start = np.where(waited > 0, waited, first)

    def first_of(self, keys: Ints) -> Ints:
        """Return the first operation of the first group whose key is at least the given, int64."""
        return np.append(self.start, self._end[-1:])[np.searchsorted(self.key, keys)].astype(
            np.int64
        )

    @property
    def needs_join(self) -> NDArray[np.bool_]:
        """Whether a join saves dependencies, bool[groups]."""
        ins = self._exits_before()
        outs = self._end - self.start - self._joined - self._combines
        needs: NDArray[np.bool_] = self.follows & (ins * outs > ins + outs + 1)
        return needs

    def edges(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return pairs (after, before), int32[edges], by ascending ``after``."""
        group, place = self._group, self._place
        first = np.roll(self._exit_start, 1)[group]
        count = np.where(self.follows, self._exits_before(), 0)[group]

        led = np.flatnonzero((self._joined > 0)[group] & (place != _JOIN))
        first[led], count[led] = self.start[group[led]], 1

        combines = np.flatnonzero(place == _COMBINE)
        of = group[combines]
        entries = self.start[of] + self._joined[of]
        sends = self._sends[of] > 0
        which = combines - (self._end[of] - self._combines[of])
        first[combines] = entries + np.where(sends, 0, which)
        count[combines] = np.where(sends, self._end[of] - self._combines[of] - entries, 1)
        op = np.arange(len(place), dtype=np.int32)
        return np.repeat(op, count), np.repeat(first, count) + ragged_arange(count)

    def _exits_before(self) -> NDArray[np.int32]:
        return np.roll(self._end - self._exit_start, 1)

    def _count(self, which: int) -> NDArray[np.int32]:
        of = self._group[self._place == which]
        return np.bincount(of, minlength=len(self.start)).astype(np.int32)


class _Cache:
    """The layouts used last, up to an amount of memory."""

    def __init__(self) -> None:
        self._held: OrderedDict[tuple[str, str, CollectiveCase, bool], Layout] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def get(
        self, operation: str, algorithm: Algorithm, case: CollectiveCase, combining: bool
    ) -> Layout:
        key = (operation, algorithm.name, case, combining)
        with self._lock:
            found = self._held.get(key)
            if found is not None:
                self._held.move_to_end(key)
                return found
        made = lay_out(gather_messages(algorithm, case), case.ranks, combining=combining)
        with self._lock:
            if key not in self._held and made.nbytes <= _KEPT_BYTES:
                self._held[key] = made
                self._bytes += made.nbytes
                while self._bytes > _KEPT_BYTES:
                    self._bytes -= self._held.popitem(last=False)[1].nbytes
        return made


_CACHE = _Cache()


def layout(
    operation: str, algorithm: Algorithm, case: CollectiveCase, *, combining: bool
) -> Layout:
    """Return the layout of a collective; those used last are cached."""
    return _CACHE.get(operation, algorithm, case, combining)


def _ordered(group: Ints, place: NDArray[np.int8], *others: Any) -> tuple[Any, ...]:
    """Return the columns sorted by group and place (stable)."""
    key = group * len(_KINDS) + place
    order = np.argsort(key, kind="stable")
    return tuple(column[order] for column in (group, place, *others))


def _starts(counts: NDArray[Any]) -> Ints:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)])


def _read_only(made: Layout) -> Layout:
    for holder in (made, made.messages):
        for f in fields(holder):
            array = getattr(holder, f.name)
            if isinstance(array, np.ndarray):
                array.flags.writeable = False
    return made
