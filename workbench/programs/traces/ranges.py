"""Ranges of numbered places: what begins at a place, and what reaches over many at once.

Trees over 2^k places, laid out as heaps: node 1 is the root, node i has the children 2i and 2i + 1,
and the places are the last 2^k nodes (de Berg, van Kreveld, Overmars, Schwarzkopf: Computational
Geometry, section 10.3). The cost of each query grows with log(places), however long the range is.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator

NEVER = 2**63
"""A line number after all lines: no request was started at the place."""


def leaves(num_places: int) -> int:
    """Return the number of places of a tree for ``num_places``: the next power of two."""
    return 1 << max(0, num_places - 1).bit_length()


def nodes(first: int, end: int, size: int) -> Iterator[int]:
    """Yield the fewest nodes that cover the places ``first`` to ``end - 1``, from left to right."""
    left, right, after = first + size, end + size, []
    while left < right:
        if left & 1:
            yield left
            left += 1
        if right & 1:
            right -= 1
            after.append(right)
        left, right = left >> 1, right >> 1
    yield from reversed(after)


class RequestVariables:
    """The addresses of request variables, numbered so that an array is a range of places."""

    def __init__(self, addresses: Iterable[int], stride: int) -> None:
        self.stride = stride
        # arrays that overlap by half a variable have no variable in common
        self._order = sorted((address % stride, address) for address in addresses)
        self.addresses = [address for _, address in self._order]
        self.of = {address: place for place, address in enumerate(self.addresses)}
        self._ranges: dict[tuple[int, int], tuple[int, int]] = {}

    def array(self, base: int, count: int) -> tuple[int, int]:
        """Return the first place of an array of ``count`` variables, and the one after its last."""
        found = self._ranges.get((base, count))
        if found is None:
            row, end = base % self.stride, base + self.stride * count
            found = bisect_left(self._order, (row, base)), bisect_left(self._order, (row, end))
            self._ranges[base, count] = found
        return found


class PendingRequests:
    """The line at which the pending request of each place began."""

    def __init__(self, num_places: int) -> None:
        self._size = leaves(num_places)
        self._earliest = [NEVER] * (2 * self._size)

    def set(self, place: int, line: int) -> None:
        """Record the line at which the pending request of a place began, ``NEVER`` for none."""
        earliest, node = self._earliest, place + self._size
        earliest[node] = line
        while node := node >> 1:
            line = min(earliest[2 * node], earliest[2 * node + 1])
            if earliest[node] == line:
                break
            earliest[node] = line

    def first(self, first: int, end: int, line: int) -> int:
        """Return the first place of a range at which a request began before a line, or -1."""
        earliest, size = self._earliest, self._size
        for node in nodes(first, end, size):
            if earliest[node] < line:
                while node < size:
                    node *= 2
                    node += earliest[node] >= line
                return node - size
        return -1


class Latest:
    """The last line that reached each place."""

    def __init__(self, num_places: int) -> None:
        self._size = leaves(num_places)
        self._lines = [-1] * (2 * self._size)

    def reach(self, first: int, end: int, line: int) -> None:
        """Record that a line, after all before, reaches the places ``first`` to ``end - 1``."""
        for node in nodes(first, end, self._size):
            self._lines[node] = line

    def at(self, place: int) -> int:
        """Return the last line that reached a place, -1 where none did."""
        node, line = place + self._size, -1
        while node:
            line = max(line, self._lines[node])
            node >>= 1
        return line
