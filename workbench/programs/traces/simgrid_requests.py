"""Pending requests of a rank of a SimGrid trace, and how its waits name them.

A wait names sender, receiver and tag of a message; of equal ones the oldest ends first. The
request of a non-blocking collective is named by its tag, a negative one for each operation (SimGrid
4.0, src/smpi/include/private.hpp and src/smpi/colls/smpi_nbc_impl.cpp); sender and receiver are
then the rank itself, or what its number looks like.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence

from workbench.programs.graph import ANY_SOURCE
from workbench.programs.traces.calls import TraceCall

Key = tuple[int, int, int]
"""Sender, receiver and tag, where a wildcard is its own number."""

_TAGS = {
    "reduce": "-112",
    "scatter": "-223",
    "scatterv": "-334",
    "gather": "-445",
    "allgather": "-556",
    "allgatherv": "-667",
    "barrier": "-778",
    "scan": "-888",
    "exscan": "-888",
    "reducescatter": "-889",
    "alltoallv": "-1000",
    "alltoall": "-1112",
    "gatherv": "-2223",
    "bcast": "-3334",
    "allreduce": "-4445",
}
_ALLTOALLW = "-1020"  # written as alltoallv
COLLECTIVE_KEYS: dict[str, Key] = {
    **{tag: (ANY_SOURCE, ANY_SOURCE, int(tag)) for tag in _TAGS.values()},
    _ALLTOALLW: (ANY_SOURCE, ANY_SOURCE, int(_TAGS["alltoallv"])),
}
"""The key of a collective's requests, by the tag in a wait."""


def key_of_collective(name: str) -> Key:
    """Return the key of a non-blocking collective's requests; ``name`` is the blocking one's."""
    return COLLECTIVE_KEYS[_TAGS[name]]


def waited_for(lines: Sequence[tuple[int, list[str]]]) -> frozenset[Key]:
    """Return the keys of the collectives that a wait of a rank may end, from (number, words)."""
    ends = [words for _, words in lines if words[1].lower() in ("wait", "waitall")]
    if any(words[1].lower() == "waitall" for words in ends):
        return frozenset(COLLECTIVE_KEYS.values())
    return frozenset(COLLECTIVE_KEYS[w[4]] for w in ends if len(w) > 4 and w[4] in COLLECTIVE_KEYS)


class Pending:
    """The pending requests of one rank, each with its own number."""

    def __init__(self) -> None:
        self._calls: dict[int, TraceCall] = {}  # oldest first
        self._by_key: dict[Key, deque[int]] = {}  # those that have ended are taken out when met
        self._key: dict[int, Key] = {}
        self._tests: dict[int, TraceCall] = {}
        self._number = 0

    def add(self, key: Key, call: TraceCall) -> None:
        """Add a pending request; a wait will name its key."""
        self._calls[self._number] = call
        self._key[self._number] = key
        self._by_key.setdefault(key, deque()).append(self._number)
        self._number += 1

    def oldest(self, key: Key) -> int | None:
        """Return the oldest pending request of a key, None where there is none."""
        numbers = self._by_key.get(key)
        while numbers and numbers[0] not in self._calls:
            numbers.popleft()
        return numbers[0] if numbers else None

    def newest(self) -> int | None:
        """Return the newest pending request, None where there is none."""
        if not self._calls:
            return None
        number, call = self._calls.popitem()
        self._calls[number] = call
        return number

    def end(self, request: int) -> TraceCall:
        """Remove a request and return the call that began it."""
        self._tests.pop(request, None)
        del self._key[request]
        return self._calls.pop(request)

    def end_all(self) -> list[TraceCall]:
        """Remove all requests and return the calls that began them, oldest first."""
        ended = list(self._calls.values())
        for kept in (self._calls, self._by_key, self._key, self._tests):
            kept.clear()
        return ended

    def test(self, request: int, test: TraceCall) -> None:
        """Record a test of a request; the next test of the key takes another request."""
        self._tests[request] = test
        alike = self._by_key[self._key[request]]
        if alike[0] == request:
            alike.rotate(-1)

    def left(self) -> Iterator[tuple[TraceCall, TraceCall | None]]:
        """Yield the calls whose requests no wait ended, each with its last test or None."""
        for number, call in self._calls.items():
            yield call, self._tests.get(number)
