"""Waits for any of several requests, until it is settled which request each of them ended.

A wait is a doubt: it names a range of places, and its candidates are the requests at these places
that began before it and are still pending. A doubt is settled

- by a request that must have ended in a doubt: the oldest doubt of which it is a candidate;
- when all its candidates are about to end in another call: it has ended the first of them.

All doubts of a place are found in the tree of ``ranges``. Each doubt watches one of its candidates,
chosen at random, and looks for another one only when that one ends. When n requests end one by
one, a doubt therefore searches about log(n) times.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from workbench.programs.traces.calls import Entry
from workbench.programs.traces.ranges import NEVER, Begun, leaves, nodes


@dataclass(slots=True, eq=False)
class Doubt:
    """One wait that ended one request of a range of places."""

    entry: Entry
    first: int
    end: int
    settled: bool = False


@dataclass(slots=True)
class _Row:
    """The doubts that name all places below a node, oldest first."""

    lines: list[int] = field(default_factory=list)
    doubts: list[Doubt] = field(default_factory=list)
    onward: list[int] = field(default_factory=list)  # from a settled one: where to look on
    open: int = 0

    def add(self, doubt: Doubt) -> None:
        self.lines.append(doubt.entry.line)
        self.doubts.append(doubt)
        self.onward.append(len(self.doubts))
        self.open += 1

    def settled_one(self) -> None:
        self.open -= 1
        if not self.open:
            self.lines, self.doubts, self.onward = [], [], []

    def after(self, line: int) -> Doubt | None:
        """Return the oldest open doubt after a line."""
        start = at = bisect_right(self.lines, line)
        while at < len(self.doubts) and self.doubts[at].settled:
            at = self.onward[at]
        while start < at:  # next time in one step
            self.onward[start], start = at, self.onward[start]
        return self.doubts[at] if at < len(self.doubts) else None


class Doubts:
    """The unsettled waits of one rank; ``requests`` are (place, line) of the pending ones."""

    def __init__(self, num_places: int, requests: Iterable[tuple[int, int]]) -> None:
        self._size = leaves(num_places)
        self._rows: dict[int, _Row] = {}
        self._eyed: dict[int, list[Doubt]] = {}
        self._open: dict[int, Doubt] = {}
        self._turn = 0  # of the linear congruential generator of Numerical Recipes, section 7.1
        self._begun = Begun(num_places)
        for place, line in requests:
            self._begun.set(place, line)

    def __iter__(self) -> Iterator[Doubt]:
        """Iterate over the open doubts, oldest first."""
        return iter(list(self._open.values()))

    def add(self, entry: Entry, first: int, end: int) -> None:
        """Add a wait that has candidates at the places ``first`` to ``end - 1``."""
        doubt = Doubt(entry, first, end)
        self._open[entry.line] = doubt
        for node in nodes(first, end, self._size):
            self._rows.setdefault(node, _Row()).add(doubt)
        self._eye(doubt, 0, 0)

    def begin(self, place: int, line: int) -> None:
        """Record that a request at a place began at a line."""
        self._begun.set(place, line)

    def end(self, place: int) -> None:
        """Record that a place's request has ended in any call; doubts without candidates close."""
        self._begun.set(place, NEVER)
        for doubt in self._eyed.pop(place, ()):
            if not doubt.settled and not self._eye(doubt, 0, 0):
                self.settle(doubt)

    def oldest(self, place: int, line: int) -> Doubt | None:
        """Return the oldest doubt that may have ended a place's request, begun at ``line``."""
        found, node = None, place + self._size
        while node:
            row = self._rows.get(node)
            doubt = row.after(line) if row else None
            if doubt and (found is None or doubt.entry.line < found.entry.line):
                found = doubt
            node >>= 1
        return found

    def candidate(self, doubt: Doubt) -> int:
        """Return the place of a doubt's first candidate, -1 where it has none."""
        return self._begun.first(doubt.first, doubt.end, doubt.entry.line)

    def settle(self, doubt: Doubt) -> None:
        """Close an open doubt."""
        doubt.settled = True
        del self._open[doubt.entry.line]
        for node in nodes(doubt.first, doubt.end, self._size):
            self._rows[node].settled_one()

    def only_among(self, places: Iterable[int], first: int, end: int) -> list[Doubt]:
        """Return the doubts with candidates in a range only, oldest first."""
        found = []
        for place in places:
            for doubt in self._eyed.pop(place, ()):
                if not doubt.settled and not self._eye(doubt, first, end):
                    found.append(doubt)
        return sorted(found, key=lambda doubt: doubt.entry.line)

    def _eye(self, doubt: Doubt, first: int, end: int) -> bool:
        """Let a doubt watch a candidate outside a range; return whether there is one."""
        line, begun = doubt.entry.line, self._begun.first
        parts = (doubt.first, min(doubt.end, first)), (max(doubt.first, end), doubt.end)
        for low, high in parts:
            lowest = begun(low, high, line) if low < high else -1
            if lowest >= 0:
                # any of them, lest the next one that ends is what all have their eyes on
                self._turn = (self._turn * 1664525 + 1013904223) % 2**32
                place = begun(lowest + (self._turn * (high - lowest) >> 32), high, line)
                self._eyed.setdefault(lowest if place < 0 else place, []).append(doubt)
                return True
        return False
