"""Waits for any of several requests, until it is settled which request each of them ended.

An open wait has a range of places. Its candidates are the requests at these places that began
before it and are still pending. An open wait is settled

- by a request that must have ended in a wait: the oldest open wait of which it is a candidate;
- when all its candidates are about to end in another call: it has ended the first of them.

The open waits of a place are found in the tree of ``ranges``. Each open wait watches one of its
candidates, chosen at random, and looks for another one only when that one ends. When n requests end
one by one, an open wait therefore searches about log(n) times.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from workbench.programs.traces.calls import TraceCall
from workbench.programs.traces.ranges import NEVER, PendingRequests, leaves, nodes


@dataclass(slots=True, eq=False)
class OpenWait:
    """One wait that ended one request of a range of places."""

    entry: TraceCall
    first: int
    end: int
    settled: bool = False


@dataclass(slots=True)
class _Row:
    """The open waits whose range covers all places below a node, oldest first."""

    lines: list[int] = field(default_factory=list)
    open_waits: list[OpenWait] = field(default_factory=list)
    onward: list[int] = field(default_factory=list)  # from a settled one: where to look on
    open: int = 0

    def add(self, open_wait: OpenWait) -> None:
        self.lines.append(open_wait.entry.line)
        self.open_waits.append(open_wait)
        self.onward.append(len(self.open_waits))
        self.open += 1

    def oldest_settled(self) -> None:
        self.open -= 1
        if not self.open:
            self.lines, self.open_waits, self.onward = [], [], []

    def after(self, line: int) -> OpenWait | None:
        """Return the oldest wait after a line that is open."""
        start = at = bisect_right(self.lines, line)
        while at < len(self.open_waits) and self.open_waits[at].settled:
            at = self.onward[at]
        while start < at:  # next time in one step
            self.onward[start], start = at, self.onward[start]
        return self.open_waits[at] if at < len(self.open_waits) else None


class OpenWaits:
    """The unsettled waits of one rank; ``requests`` are (place, line) of the pending ones."""

    def __init__(self, num_places: int, requests: Iterable[tuple[int, int]]) -> None:
        self._size = leaves(num_places)
        self._rows: dict[int, _Row] = {}
        self._eyed: dict[int, list[OpenWait]] = {}
        self._open: dict[int, OpenWait] = {}
        self._turn = 0  # of the linear congruential generator of Numerical Recipes, section 7.1
        self._begun = PendingRequests(num_places)
        for place, line in requests:
            self._begun.set(place, line)

    def __iter__(self) -> Iterator[OpenWait]:
        """Iterate over the open waits, oldest first."""
        return iter(list(self._open.values()))

    def add(self, entry: TraceCall, first: int, end: int) -> None:
        """Add a wait that has candidates at the places ``first`` to ``end - 1``."""
        open_wait = OpenWait(entry, first, end)
        self._open[entry.line] = open_wait
        for node in nodes(first, end, self._size):
            self._rows.setdefault(node, _Row()).add(open_wait)
        self._watch_candidate(open_wait, 0, 0)

    def begin(self, place: int, line: int) -> None:
        """Record that a request at a place began at a line."""
        self._begun.set(place, line)

    def end(self, place: int) -> None:
        """Record that the request of a place has ended; open waits without candidates close."""
        self._begun.set(place, NEVER)
        for open_wait in self._eyed.pop(place, ()):
            if not open_wait.settled and not self._watch_candidate(open_wait, 0, 0):
                self.settle(open_wait)

    def oldest(self, place: int, line: int) -> OpenWait | None:
        """Return the oldest open wait that may have ended a place's request, begun at ``line``."""
        found, node = None, place + self._size
        while node:
            row = self._rows.get(node)
            open_wait = row.after(line) if row else None
            if open_wait and (found is None or open_wait.entry.line < found.entry.line):
                found = open_wait
            node >>= 1
        return found

    def candidate(self, open_wait: OpenWait) -> int:
        """Return the place of an open wait's first candidate, -1 where it has none."""
        return self._begun.first(open_wait.first, open_wait.end, open_wait.entry.line)

    def settle(self, open_wait: OpenWait) -> None:
        """Close an open wait."""
        open_wait.settled = True
        del self._open[open_wait.entry.line]
        for node in nodes(open_wait.first, open_wait.end, self._size):
            self._rows[node].oldest_settled()

    def only_among(self, places: Iterable[int], first: int, end: int) -> list[OpenWait]:
        """Return the open waits with candidates in a range only, oldest first."""
        found = []
        for place in places:
            for open_wait in self._eyed.pop(place, ()):
                if not open_wait.settled and not self._watch_candidate(open_wait, first, end):
                    found.append(open_wait)
        return sorted(found, key=lambda open_wait: open_wait.entry.line)

    def _watch_candidate(self, open_wait: OpenWait, first: int, end: int) -> bool:
        """Let an open wait watch a candidate outside a range; return whether there is one."""
        line, begun = open_wait.entry.line, self._begun.first
        parts = (
            (open_wait.first, min(open_wait.end, first)),
            (max(open_wait.first, end), open_wait.end),
        )
        for low, high in parts:
            lowest = begun(low, high, line) if low < high else -1
            if lowest >= 0:
                # a random one, so that open waits do not all watch the candidate that ends next
                self._turn = (self._turn * 1664525 + 1013904223) % 2**32
                place = begun(lowest + (self._turn * (high - lowest) >> 32), high, line)
                self._eyed.setdefault(lowest if place < 0 else place, []).append(open_wait)
                return True
        return False
