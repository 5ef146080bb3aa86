"""Which request each wait ends.

A liballprof trace names a request by the address of its variable, an array of requests by the
address of the first; the distance of two of them, the stride, is 8 bytes with Open MPI (a pointer)
and 4 with MPICH or in Fortran (an integer). Output arguments are not in the trace: which request a
Waitany ended and whether a Test succeeded shows only by what happens to the variables afterwards:

- a variable that a new call overwrites was free: what it held had ended in the last call that may
  have ended it, a Waitany, Waitsome or Test;
- a Waitany that no such clue settles ended the first of its requests that were still open;
- a request tested in vain or in success ends at its Wait, or else in the last Test.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from workbench.programs.traces.calls import Debt, Entry, Request
from workbench.programs.traces.notes import Notes

Spec = Callable[[int], Request | None]
"""Begins again what a persistent request stands for, at a line, and returns the new request."""

MOST_CANDIDATES = 2**20
"""Most candidates of waits for any of several that are kept open; then the oldest is settled."""

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


@dataclass(slots=True)
class Slot:
    """One variable or number of a request: what is under way, and what MPI_Start begins again."""

    active: Request | None
    spec: Spec | None = None


class RequestTable:
    """The requests of one rank, by address or by number.

    Args:
        rank: whose they are.
        stride: bytes from one request of an array to the next.
        notes: where doubts are noted.
    """

    def __init__(self, rank: int, stride: int, notes: Notes) -> None:
        self.rank = rank
        self.stride = stride
        self.notes = notes
        self._slots: dict[int, Slot] = {}
        self._made: set[int] = set()
        self._open: dict[int, Debt] = {}
        self._open_candidates = 0

    def array(self, base: int, count: int) -> list[int]:
        """Return the addresses in an array of requests at which one is known, in order.

        Args:
            base: address of the first.
            count: how many there are.
        """
        stride = self.stride
        if count <= 2 * len(self._slots) + 8:
            end = base + stride * count
            return [a for a in range(base, end, stride) if a in self._slots]
        end = base + stride * count
        return sorted(a for a in self._slots if base <= a < end and (a - base) % stride == 0)

    def put(self, key: int, request: Request | None, spec: Spec | None = None) -> None:
        """Let a variable hold a new request.

        Args:
            key: its address or number.
            request: what has begun, or None for a persistent request that was only made.
            spec: what MPI_Start is to begin, None for a request that is used once.
        """
        self._made.add(key)
        old = self._slots.get(key)
        if old is not None and old.active is not None:
            self._overwritten(old.active)
        self._slots[key] = Slot(request, spec)

    def spec(self, key: int) -> Spec | None:
        """Return what MPI_Start begins for a variable, None where it is not persistent.

        Args:
            key: its address or number.
        """
        slot = self._slots.get(key)
        return slot.spec if slot else None

    def was_made(self, key: int) -> bool:
        """Return whether a variable has ever held a request.

        Args:
            key: its address or number.
        """
        return key in self._made

    def holds(self, key: int) -> bool:
        """Return whether a variable holds a request at present.

        Args:
            key: its address or number.
        """
        return key in self._slots

    def drop(self, key: int) -> Request | None:
        """Forget a variable; return the request that was under way, None where there was none.

        Args:
            key: its address or number.
        """
        slot = self._slots.pop(key, None)
        return slot.active if slot else None

    def active(self, key: int) -> Request | None:
        """Return the request that is under way, None where there is none.

        Args:
            key: its address or number.
        """
        slot = self._slots.get(key)
        return slot.active if slot else None

    def complete(self, keys: Iterable[int], entry: Entry) -> None:
        """End the requests of some variables.

        Args:
            keys: their addresses or numbers.
            entry: the wait that ends them.
        """
        ended = [(key, slot) for key in keys if (slot := self._slots.get(key))]
        self._settle_those_of([slot.active for _, slot in ended if slot.active])
        finished: list[Request] = []
        for key, slot in ended:
            if slot.active is not None and not slot.active.completed:
                self._completed(slot.active)
                finished.append(slot.active)
            if slot.spec is None:
                self._slots.pop(key, None)
            else:
                slot.active = None
        entry.end(*finished)

    def test(self, keys: Iterable[int], entry: Entry) -> None:
        """Note that the requests of some variables may have ended.

        Args:
            keys: their addresses or numbers.
            entry: the call that may have ended them.
        """
        for key in keys:
            if (request := self.active(key)) is not None:
                request.tested = entry

    def any(self, keys: Iterable[int], entry: Entry) -> None:
        """Note that one of the requests of some variables has ended.

        Args:
            keys: their addresses or numbers.
            entry: the call that has ended it.
        """
        candidates = [r for key in keys if (r := self.active(key)) and not r.completed]
        if len(candidates) == 1:
            self._end(candidates[0], entry)
        elif candidates:
            debt = Debt(entry, candidates, len(candidates))
            self._open[id(debt)] = debt
            self._open_candidates += len(candidates)
            for request in candidates:
                request.debts[id(debt)] = debt
            while self._open_candidates > MOST_CANDIDATES:
                self._settle(next(iter(self._open.values())))

    def finish(self) -> None:
        """Settle what is open at the end of the trace."""
        for debt in list(self._open.values()):
            self._settle(debt)
        for slot in self._slots.values():
            if slot.active is not None:
                self._overwritten(slot.active)

    def _end(self, request: Request, entry: Entry) -> None:
        if not request.completed:
            self._completed(request)
            entry.end(request)

    def _completed(self, request: Request) -> None:
        request.completed = True
        for debt in request.debts.values():
            debt.left -= 1
        request.debts = {}

    def _close(self, debt: Debt) -> None:
        """Settle a debt as far as its candidates are concerned."""
        if self._open.pop(id(debt), None) is not None:
            self._open_candidates -= len(debt.candidates)
            for request in debt.candidates:
                request.debts.pop(id(debt), None)

    def _settle(self, debt: Debt) -> None:
        """Let the first request that is still open be the one that was ended."""
        self._close(debt)
        first = next((r for r in debt.candidates if not r.completed), None)
        if first is not None:
            self.notes.count(UNSETTLED, self.rank, debt.entry.line)
            self._end(first, debt.entry)

    def _settle_those_of(self, ended: Sequence[Request]) -> None:
        """Settle the debts whose open candidates are all among requests that now end."""
        covered = Counter(key for request in ended for key in request.debts)
        for key, times in covered.items():
            debt = self._open.get(key)
            if debt is not None and times >= debt.left:
                self._settle(debt)

    def _overwritten(self, request: Request) -> None:
        if request.completed or request.cancelled:
            return
        debt = next(iter(request.debts.values()), None)
        if debt is not None:
            self._close(debt)
            self._end(request, debt.entry)
        elif request.tested is not None:
            self.notes.count(TESTED, self.rank, request.tested.line)
            self._end(request, request.tested)
        else:
            self.notes.count(UNWAITED, self.rank, request.line)


def detect_stride(made: Iterable[int], arrays: Iterable[tuple[int, int]]) -> tuple[int, bool]:
    """Return the bytes from one request of an array to the next, and whether the trace tells it.

    The stride is the one with which more elements of the arrays that are waited for are variables
    of requests that were made; a variable at an odd multiple of 4 settles a tie.

    Args:
        made: addresses of the variables that calls gave a request.
        arrays: address and number of elements of the arrays in waits, tests and MPI_Startall.
    """
    known = sorted(set(made))
    hits = {4: 0, 8: 0}
    wanted = {(base, count) for base, count in arrays if count > 1}
    for base, count in wanted:
        for stride in hits:
            inside = known[bisect_left(known, base) : bisect_left(known, base + stride * count)]
            hits[stride] += sum((address - base) % stride == 0 for address in inside)
    if hits[4] != hits[8]:
        return (4 if hits[4] > hits[8] else 8), True
    if any(address % 8 for address in known):
        return 4, True
    return 8, not wanted or not known
