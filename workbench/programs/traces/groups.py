"""How a call divides the ranks of a communicator, from its arguments or from what ranks show.

Everything is counted in places, the ranks within the parent communicator.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

RankAndSize = Mapping[int, tuple[int, int]]
"""For a place in the parent: the rank and size that the new communicator shows there."""

MOST_RANKS = 2**16
"""Most ranks of a grid that is searched for its divisions."""


def by_color(colors: Mapping[int, tuple[int, int]]) -> list[list[int]]:
    """Return MPI_Comm_split's groups from (color, key) by place: by color, then key, then place."""
    groups: dict[int, list[tuple[int, int]]] = {}
    for place, (color, key) in sorted(colors.items()):
        if color >= 0:
            groups.setdefault(color, []).append((key, place))
    return [[place for _, place in sorted(group)] for _, group in sorted(groups.items())]


def by_place(shown: RankAndSize) -> list[list[int]] | None:
    """Return the one group whose places all show their rank, None where they do not form one."""
    group = {rank: place for place, (rank, _) in shown.items()}
    sizes = {size for _, size in shown.values()}
    if sizes != {len(group)} or len(group) != len(shown) or max(group) != len(group) - 1:
        return None
    return [[group[rank] for rank in range(len(group))]]


def by_order(num_places: int, shown: RankAndSize, *, reorder: bool) -> list[list[int]] | None:
    """Return the one group of a topology: the parent's first places, in their or a shown order."""
    sizes = {size for _, size in shown.values()}
    if len(sizes) != 1 or (size := sizes.pop()) > num_places or size < 1:
        return None
    group: list[int | None] = [None] * size
    for place, (rank, _) in shown.items():
        if not 0 <= rank < size or group[rank] is not None:
            return None
        group[rank] = place
    if not reorder and any(place not in (None, rank) for rank, place in enumerate(group)):
        reorder = True  # an implementation's own order; what is shown holds
    taken = {place for place in group if place is not None}
    free = iter([place for place in range(num_places) if place not in taken])
    return [[next(free) if place is None else place for place in group]]


def in_subgrids(num_places: int, shown: RankAndSize) -> tuple[list[list[int]] | None, bool]:
    """Return the groups of a grid that keep some dimensions, and whether no other groups fit.

    Places count row by row (MPI 4.0, section 8.2). Each division into five blocks of dimensions, of
    which the second and fourth are kept, is compared with what is shown.
    """
    sizes = {size for _, size in shown.values()}
    if len(sizes) != 1 or not 1 <= num_places <= MOST_RANKS:
        return None, False
    size = sizes.pop()
    if size < 1 or num_places % size:
        return None, False
    places = np.arange(num_places)
    at = np.array(list(shown), np.int64)
    ranks = np.array([rank for rank, _ in shown.values()], np.int64)
    found: list[list[list[int]]] = []
    for outer, kept, middle, inner_kept in _divisions(num_places, size):
        inner = num_places // (outer * kept * middle * inner_kept)
        extents = (middle * inner_kept * inner, kept, inner, inner_kept)
        if not np.array_equal(_rank_in_group(at, *extents), ranks):
            continue
        rank_of = _rank_in_group(places, *extents)
        group_of = (
            places // (kept * middle * inner_kept * inner) * middle
            + places // (inner_kept * inner) % middle
        ) * inner + places % inner
        order = np.lexsort((rank_of, group_of)).reshape(-1, size).tolist()
        if order not in found:
            found.append(order)
        if len(found) > 1:
            break
    return (found[0] if found else None), len(found) == 1


def _divisions(num_places: int, size: int) -> Iterator[tuple[int, int, int, int]]:
    """Yield outer, kept, middle and inner kept extents; one kept block comes first."""
    others = num_places // size
    for outer in reversed(_divisors(others)):  # neighbours first
        yield outer, size, 1, 1
    for kept in _divisors(size)[1:-1]:
        for outer in _divisors(others):
            for middle in _divisors(others // outer)[1:]:
                yield outer, kept, middle, size // kept


def _rank_in_group(
    places: NDArray[np.int64], outer_stride: int, kept: int, inner_stride: int, inner_kept: int
) -> NDArray[np.int64]:
    return places // outer_stride % kept * inner_kept + places // inner_stride % inner_kept


@lru_cache(maxsize=4096)
def _divisors(number: int) -> Sequence[int]:
    return [d for d in range(1, number + 1) if number % d == 0]
