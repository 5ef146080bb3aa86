"""Requests under way at a rank of a SimGrid trace, and how its waits name them.

A wait names sender, receiver and tag of a message; of those alike the oldest ends first. The
request of a non-blocking collective is named by its tag, a negative one for each operation (SimGrid
4.0, src/smpi/include/private.hpp and src/smpi/colls/smpi_nbc_impl.cpp); sender and receiver are
then the rank itself, or what its number looks like.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence

from workbench.programs.graph import ANY_SOURCE
from workbench.programs.traces.calls import Entry

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
    """Return the key of the requests of a non-blocking collective.

    Args:
        name: of the blocking one, such as ``bcast``.
    """
    return COLLECTIVE_KEYS[_TAGS[name]]


def waited_for(lines: Sequence[tuple[int, list[str]]]) -> frozenset[Key]:
    """Return the keys of those collectives whose requests some line of a rank may end.

    Args:
        lines: number and words of each.
    """
    ends = [words for _, words in lines if words[1].lower() in ("wait", "waitall")]
    if any(words[1].lower() == "waitall" for words in ends):
        return frozenset(COLLECTIVE_KEYS.values())
    return frozenset(COLLECTIVE_KEYS[w[4]] for w in ends if len(w) > 4 and w[4] in COLLECTIVE_KEYS)


class Pending:
    """The requests under way at one rank, each under a number of its own."""

    def __init__(self) -> None:
        self._calls: dict[int, Entry] = {}  # oldest first
        self._by_key: dict[Key, deque[int]] = {}  # those that have ended are taken out when met
        self._key: dict[int, Key] = {}
        self._tests: dict[int, Entry] = {}
        self._number = 0

    def add(self, key: Key, call: Entry) -> None:
        """Take in a request.

        Args:
            key: what a wait will name.
            call: that began it.
        """
        self._calls[self._number] = call
        self._key[self._number] = key
        self._by_key.setdefault(key, deque()).append(self._number)
        self._number += 1

    def oldest(self, key: Key) -> int | None:
        """Return the oldest request that a wait names, None where there is none.

        Args:
            key: what the wait names.
        """
        numbers = self._by_key.get(key)
        while numbers and numbers[0] not in self._calls:
            numbers.popleft()
        return numbers[0] if numbers else None

    def newest(self) -> int | None:
        """Return the newest request of all, None where there is none."""
        if not self._calls:
            return None
        number, call = self._calls.popitem()
        self._calls[number] = call
        return number

    def end(self, request: int) -> Entry:
        """Take out a request and return the call that began it.

        Args:
            request: its number.
        """
        self._tests.pop(request, None)
        del self._key[request]
        return self._calls.pop(request)

    def end_all(self) -> list[Entry]:
        """Take out all requests and return the calls that began them, oldest first."""
        ended = list(self._calls.values())
        for kept in (self._calls, self._by_key, self._key, self._tests):
            kept.clear()
        return ended

    def test(self, request: int, test: Entry) -> None:
        """Note that a request may have ended; the next test asks for another one like it.

        Args:
            request: its number.
            test: the call.
        """
        self._tests[request] = test
        alike = self._by_key[self._key[request]]
        if alike[0] == request:
            alike.rotate(-1)

    def left(self) -> Iterator[tuple[Entry, Entry | None]]:
        """Yield what no wait ended, and the last test of it or None."""
        for number, call in self._calls.items():
            yield call, self._tests.get(number)
