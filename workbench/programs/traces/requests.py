"""The requests that each wait ends.

A liballprof trace names a request by the address of its variable, an array of requests by the
address of the first; the distance of two of them, the stride, is 8 bytes with Open MPI (a pointer)
and 4 with MPICH or in Fortran (an integer). Output arguments are not in the trace: which request a
Waitany ended and whether a Test succeeded shows only by what happens to the variables afterwards:

- a variable that a new call overwrites was free: what it held had ended in the last call that may
  have ended it, a Waitany, Waitsome or Test;
- a Waitany that no such clue settles ended the first of its requests that were still open;
- a request that was tested, with success or not, ends at its Wait, or else in the last Test.

An array of n variables is a short line, so nothing is done here for each of the n: the cost of a
line grows with the number of requests that it ends and with log(n).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from kernels.traces import layout
from workbench.programs.traces.calls import TraceCall, TraceCalls
from workbench.programs.traces.open_waits import OpenWait, OpenWaits
from workbench.programs.traces.ranges import Latest, RequestVariables

UNSETTLED = (
    "which request MPI_Waitany or MPI_Waitsome ended is not in the trace: the first that was still "
    "open is taken"
)
TESTED = (
    "whether MPI_Test succeeded is not in the trace: a request that no wait ends is taken to end "
    "in the last test of it"
)
UNKNOWN = (
    "a wait or test names a request that no call made, as a copied variable does: it waits for "
    "nothing"
)
UNWAITED = "a request is never waited for"


@dataclass(slots=True, eq=False)
class CallGroup:
    """Messages of one request, which is no call of its own."""

    line: int
    parts: list[TraceCall]
    cancelled: bool = False

    def cancel(self) -> None:
        """Note that the request was cancelled."""
        self.cancelled = True


StartedCall = TraceCall | CallGroup
Spec = Callable[[int], StartedCall | None]
"""Starts a persistent request again, at a line, and returns the new call."""


class RequestTable:
    """The requests of one rank by number or address: those pending, and those to start again.

    A key has a place in arrays that kernels know too; what has none, and groups, are kept apart.
    """

    def __init__(self, calls: TraceCalls, rank: int, lowest: int, num_places: int) -> None:
        self.rank = rank
        self.notes = calls.notes
        self._calls = calls.of_rank[rank]
        self._lowest = lowest
        self._active = np.full(num_places, layout.IDLE, np.int64)
        self._open, self._lasting = bytearray(num_places), bytearray(num_places)
        self._made = bytearray(num_places)
        self._apart: dict[int, StartedCall] = {}
        self._specs: dict[int, Spec] = {}
        flags = (self._lasting, self._made, self._open)
        empty = np.empty(0, np.uint8)
        self.arrays = (
            self._active,
            *(np.frombuffer(each, np.uint8) if each else empty for each in flags),
            np.empty(max(num_places, 1), np.int64),
        )

    def put(self, key: int, call: StartedCall | None, spec: Spec | None = None) -> None:
        """Assign a request to a variable; ``call`` is None where nothing has begun yet."""
        old = self._pop(key)
        if old is not None:
            self._overwritten(key, old)
        if call is not None:
            self._set(key, call)
        if spec is not None:
            self._specs[key] = spec
        elif self._specs:
            self._specs.pop(key, None)
        if (place := self.place(key)) >= 0:
            self._made[place] = 1
            self._lasting[place] = spec is not None
            self._open[place] = call is not None

    def spec(self, key: int) -> Spec | None:
        """Return the function that starts a variable's request, None where it is not persistent."""
        return self._specs.get(key)

    def active(self, key: int) -> StartedCall | None:
        """Return the call that began a variable's pending request, None where none is pending."""
        place = self.place(key)
        if place >= 0 and self._active[place] != layout.GROUP:
            at = int(self._active[place])
            return TraceCall(self._calls, at) if at >= 0 else None
        return self._apart.get(key)

    def drop(self, key: int) -> None:
        """Remove a variable; its request then completes without a wait."""
        self._pop(key)
        self._specs.pop(key, None)
        if (place := self.place(key)) >= 0:
            self._lasting[place] = 0

    def complete(self, keys: Iterable[int], wait: TraceCall) -> None:
        """Let a wait end the requests of some variables."""
        for key in keys:
            call = self._pop(key)
            if isinstance(call, CallGroup):
                wait.end(*call.parts)
            elif call is not None:
                wait.end(call)

    def finish(self) -> None:
        """Settle the requests that are pending at the end of the trace."""
        pending = [(self.key(place), self.active(self.key(place))) for place in self._pending()]
        pending += [(key, call) for key, call in self._apart.items() if self.place(key) < 0]
        known = [(key, call) for key, call in pending if call is not None]
        for key, call in sorted(known, key=lambda item: item[1].line):
            self._overwritten(key, call)

    def all_made(self) -> None:
        """Take every key as one that some call made."""
        self._made[:] = b"\x01" * len(self._made)

    def place(self, key: int) -> int:
        """Return a key's place in the arrays, -1 where it has none."""
        place = key - self._lowest
        return place if 0 <= place < len(self._active) else -1

    def key(self, place: int) -> int:
        """Return the key that has a place."""
        return place + self._lowest

    def _pending(self) -> list[int]:
        places: list[int] = np.flatnonzero(self._active != layout.IDLE).tolist()
        return places

    def _set(self, key: int, call: StartedCall) -> None:
        place = self.place(key)
        if place >= 0:
            self._active[place] = call.at if isinstance(call, TraceCall) else layout.GROUP
        if place < 0 or not isinstance(call, TraceCall):
            self._apart[key] = call
            self._calls.state[layout.ODD] = len(self._apart)

    def _pop(self, key: int) -> StartedCall | None:
        call, place = self.active(key), self.place(key)
        if place >= 0:
            self._active[place] = layout.IDLE
            self._open[place] = 0
        if self._apart and self._apart.pop(key, None) is not None:
            self._calls.state[layout.ODD] = len(self._apart)
        return call

    def _overwritten(self, key: int, call: StartedCall) -> None:
        if not call.cancelled:
            self.notes.count(UNWAITED, self.rank, call.line)


class AddressTable(RequestTable):
    """The requests of one rank by the addresses of their variables."""

    def __init__(self, calls: TraceCalls, rank: int, places: RequestVariables) -> None:
        super().__init__(calls, rank, 0, len(places.addresses))
        self.places = places
        self._open_waits: OpenWaits | None = None
        self._tests: dict[int, TraceCall] = {}  # by their lines
        self._tested: Latest | None = None

    def place(self, key: int) -> int:
        """Return a variable's place in the arrays, -1 where no call gives it a request."""
        return self.places.of.get(key, -1)

    def key(self, place: int) -> int:
        """Return the address of the variable that has a place."""
        return self.places.addresses[place]

    def put(self, key: int, call: StartedCall | None, spec: Spec | None = None) -> None:
        """Assign a request to a variable; see ``RequestTable.put``."""
        super().put(key, call, spec)
        if self._open_waits is not None and call is not None:
            self._open_waits.begin(self.places.of[key], call.line)

    def drop(self, key: int) -> None:
        """Remove a variable; its request then completes without a wait."""
        super().drop(key)
        if (place := self.place(key)) >= 0:
            self._closed(place)

    def was_made(self, base: int, count: int) -> bool:
        """Return whether a variable of an array has ever held a request."""
        return self._made.find(1, *self.places.array(base, count)) >= 0

    def lasting(self, base: int, count: int) -> list[int]:
        """Return the addresses of the persistent requests in an array, in order."""
        return self._addresses(self._lasting, *self.places.array(base, count))

    def wait(self, base: int, count: int, wait: TraceCall) -> None:
        """Let a wait end all requests of an array."""
        first, end = self.places.array(base, count)
        if self._open_waits is not None:
            self._settle_those_within(self._open_waits, first, end)
        ended = self._addresses(self._open, first, end)
        self.complete(ended, wait)
        for address in ended:
            self._closed(self.places.of[address])

    def under_way(self, base: int, count: int) -> bool:
        """Return whether a request of an array is pending."""
        return self._open.find(1, *self.places.array(base, count)) >= 0

    def test(self, base: int, count: int, test: TraceCall) -> None:
        """Record a test that may have ended requests of an array."""
        if self._tested is None:
            self._tested = Latest(len(self._open))
        self._tested.reach(*self.places.array(base, count), test.line)
        self._tests[test.line] = test

    def any(self, base: int, count: int, wait: TraceCall) -> None:
        """Record a wait that has ended one of an array's requests, of which some are pending."""
        first, end = self.places.array(base, count)
        one = self._open.find(1, first, end)
        if self._open.find(1, one + 1, end) < 0:
            self._end(one, wait)
            return
        if self._open_waits is None:
            under_way = [
                (place, call.line)
                for place in self._pending()
                if (call := self.active(self.key(place))) is not None
            ]
            self._open_waits = OpenWaits(len(self._open), under_way)
            self._calls.state[layout.BUSY] = 1
        self._open_waits.add(wait, first, end)

    def finish(self) -> None:
        """Settle the waits and requests that are open at the end of the trace."""
        if self._open_waits is not None:
            for open_wait in self._open_waits:
                if not open_wait.settled:
                    self._settle(self._open_waits, open_wait)
        super().finish()

    def _addresses(self, flags: bytearray, first: int, end: int) -> list[int]:
        """Return the addresses of the places in a range whose flag is set."""
        found, addresses = [], self.places.addresses
        place = flags.find(1, first, end)
        while place >= 0:
            found.append(addresses[place])
            place = flags.find(1, place + 1, end)
        return found

    def _closed(self, place: int) -> None:
        self._open[place] = 0
        if self._open_waits is not None:
            self._open_waits.end(place)

    def _end(self, place: int, wait: TraceCall) -> None:
        """End the request of a place."""
        self.complete([self.places.addresses[place]], wait)
        self._closed(place)

    def _settle(self, open_waits: OpenWaits, open_wait: OpenWait) -> None:
        """End the first candidate of a wait for any in that wait."""
        open_waits.settle(open_wait)
        place = open_waits.candidate(open_wait)
        if place >= 0:
            self.notes.count(UNSETTLED, self.rank, open_wait.entry.line)
            self._end(place, open_wait.entry)

    def _settle_those_within(self, open_waits: OpenWaits, first: int, end: int) -> None:
        """Settle the waits whose candidates all lie in a range that now ends."""
        of = self.places.of
        places = [of[address] for address in self._addresses(self._open, first, end)]
        for open_wait in open_waits.only_among(places, first, end):
            self._settle(open_waits, open_wait)

    def _overwritten(self, key: int, call: StartedCall) -> None:
        """End a request, whose variable is used again, in the call that must have ended it."""
        place = self.places.of[key]
        open_wait = None if self._open_waits is None else self._open_waits.oldest(place, call.line)
        tested = -1 if self._tested is None else self._tested.at(place)
        if call.cancelled or isinstance(call, CallGroup):
            pass
        elif self._open_waits is not None and open_wait is not None:
            self._open_waits.settle(open_wait)
            open_wait.entry.end(call)
        elif tested > call.line:
            self.notes.count(TESTED, self.rank, tested)
            self._tests[tested].end(call)
        else:
            super()._overwritten(key, call)
        self._closed(place)


def detect_stride(made: Iterable[int], arrays: Iterable[tuple[int, int]]) -> tuple[int, bool]:
    """Return the bytes between the requests of an array, and whether the trace determines them.

    The stride, 4 or 8, is the one with which more elements of ``arrays`` (address, count) are
    variables that were made; a variable at an odd multiple of 4 settles a tie.
    """
    known = sorted(set(made))
    wanted = {(base, count) for base, count in arrays if count > 1}
    hits = {4: 0, 8: 0}
    for stride in hits:
        rows: dict[int, list[int]] = {}
        for address in known:
            rows.setdefault(address % stride, []).append(address)
        for base, count in wanted:
            row = rows.get(base % stride, [])
            hits[stride] += bisect_left(row, base + stride * count) - bisect_left(row, base)
    if hits[4] != hits[8]:
        return (4 if hits[4] > hits[8] else 8), True
    if any(address % 8 for address in known):
        return 4, True
    return 8, not wanted or not known
