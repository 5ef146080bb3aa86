"""Ranges of numbered places: what begins at a place, and what reaches over many at once.

Trees over 2^k places, laid out as heaps: node 1 is the root, node i has the children 2i and 2i + 1,
and the places are the last 2^k nodes (de Berg, van Kreveld, Overmars, Schwarzkopf: Computational
Geometry, section 10.3). Each question costs a number of steps that grows with log(places), however
long the range is.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator

NEVER = 2**63
"""A line after all lines: nothing has begun at a place."""


def leaves(num_places: int) -> int:
    """Return the number of places of a tree: a power of two.

    Args:
        num_places: how many are needed.
    """
    return 1 << max(0, num_places - 1).bit_length()


def nodes(first: int, end: int, size: int) -> Iterator[int]:
    """Yield the fewest nodes that have the places of a range below them, from left to right.

    Args:
        first: first place.
        end: place after the last.
        size: places of the tree.
    """
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


class Places:
    """The addresses of variables, numbered so that an array of them is a range of places.

    Args:
        addresses: of all variables of requests of a rank.
        stride: bytes from one variable of an array to the next.
    """

    def __init__(self, addresses: Iterable[int], stride: int) -> None:
        self.stride = stride
        # arrays that overlap by half a variable have no variable in common
        self._order = sorted((address % stride, address) for address in addresses)
        self.addresses = [address for _, address in self._order]
        self.of = {address: place for place, address in enumerate(self.addresses)}
        self._ranges: dict[tuple[int, int], tuple[int, int]] = {}

    def array(self, base: int, count: int) -> tuple[int, int]:
        """Return the first place of an array and the one after its last.

        Args:
            base: address of its first variable.
            count: how many variables it has.
        """
        found = self._ranges.get((base, count))
        if found is None:
            row, end = base % self.stride, base + self.stride * count
            found = bisect_left(self._order, (row, base)), bisect_left(self._order, (row, end))
            self._ranges[base, count] = found
        return found


class Begun:
    """At which line what is under way at each place began.

    Args:
        num_places: how many places there are.
    """

    def __init__(self, num_places: int) -> None:
        self._size = leaves(num_places)
        self._earliest = [NEVER] * (2 * self._size)

    def set(self, place: int, line: int) -> None:
        """Note when what is under way at a place began.

        Args:
            place: which.
            line: of the trace, or ``NEVER``.
        """
        earliest, node = self._earliest, place + self._size
        earliest[node] = line
        while node := node >> 1:
            line = min(earliest[2 * node], earliest[2 * node + 1])
            if earliest[node] == line:
                break
            earliest[node] = line

    def first(self, first: int, end: int, line: int) -> int:
        """Return the first place of a range at which something began before a line, or -1.

        Args:
            first: first place.
            end: place after the last.
            line: of the trace.
        """
        earliest, size = self._earliest, self._size
        for node in nodes(first, end, size):
            if earliest[node] < line:
                while node < size:
                    node *= 2
                    node += earliest[node] >= line
                return node - size
        return -1


class Latest:
    """Which line reached each place last.

    Args:
        num_places: how many places there are.
    """

    def __init__(self, num_places: int) -> None:
        self._size = leaves(num_places)
        self._lines = [-1] * (2 * self._size)

    def reach(self, first: int, end: int, line: int) -> None:
        """Note that a line reaches all places of a range.

        Args:
            first: first place.
            end: place after the last.
            line: of the trace, after all lines before.
        """
        for node in nodes(first, end, self._size):
            self._lines[node] = line

    def at(self, place: int) -> int:
        """Return the last line that reached a place, -1 where none did.

        Args:
            place: which.
        """
        node, line = place + self._size, -1
        while node:
            line = max(line, self._lines[node])
            node >>= 1
        return line
