"""Ranks on a grid of two or three dimensions: their cells, their neighbours, their messages."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workbench.checks import whole, whole_each
from workbench.errors import ParameterError
from workbench.programs.builder import ProgramBuilder

# Neighbours by the number of dimensions n.
_FACES = {1: 2, 2: 4, 3: 6}  # 2n
_ALL = {1: 2, 2: 8, 3: 26}  # 3**n - 1


@dataclass(frozen=True)
class Stencil:
    """A grid of ranks that exchange border cells; direction ``i`` is opposite to ``-1 - i``."""

    shape: tuple[int, ...]  # ranks along each axis; the last axis runs fastest
    cells: NDArray[np.int64]  # (ranks, axes) cells along each axis
    peers: NDArray[np.int64]  # (ranks, directions) neighbouring rank, -1 for none
    message_bytes: NDArray[np.int64]  # (ranks, directions)

    @property
    def num_ranks(self) -> int:
        """Number of ranks."""
        return math.prod(self.shape)

    def post(self, builder: ProgramBuilder, rank: int) -> list[int]:
        """Begin a rank's receives, then its sends, tagged by direction; return their requests."""
        peers, sizes = self.peers[rank].tolist(), self.message_bytes[rank].tolist()
        last = len(peers) - 1
        there = [at for at, peer in enumerate(peers) if peer >= 0]
        requests = [builder.irecv(rank, peers[at], sizes[at], last - at) for at in there]
        return requests + [builder.isend(rank, peers[at], sizes[at], at) for at in there]

    def inner_cells(self, width: int) -> NDArray[np.int64]:
        """Return the number of cells of each rank that need no neighbour's cells, int64[ranks]."""
        inner: NDArray[np.int64] = np.prod(np.maximum(self.cells - 2 * width, 0), axis=1)
        return inner


def stencil(
    ranks: int | Sequence[int],  # in all, or along each axis
    dims: int,  # 1 to 3, where ``ranks`` is a number
    neighbours: int | None,  # 4 or 8 in 2D, 6 or 26 in 3D; None takes the fewer
    cells: int | Sequence[int],  # along each axis: per rank if scaling is weak, in all if strong
    *,
    bytes_per_cell: int,
    width: int,  # depth of the border in cells
    scaling: str,  # weak or strong
    periodic: bool,  # wraps around, but never makes a rank its own neighbour
) -> Stencil:
    """Return the grid of a halo exchange."""
    shape = grid_shape(ranks, dims)
    axes = len(shape)
    wanted = neighbours if neighbours is not None else _FACES[axes]
    if wanted not in (_FACES[axes], _ALL[axes]):
        raise ParameterError(
            f"neighbours must be {_FACES[axes]} or {_ALL[axes]} in {axes} dimensions; got "
            f"{neighbours}",
            key="neighbours",
        )
    whole(bytes_per_cell, "bytes_per_cell", 0)
    whole(width, "width", 1)
    coordinates = np.stack(np.unravel_index(np.arange(math.prod(shape)), shape), axis=1)
    own = _cells(shape, coordinates, cells, scaling)
    directions = np.array(
        [
            step
            for step in itertools.product((-1, 0, 1), repeat=axes)
            if any(step) and (wanted == _ALL[axes] or sum(map(abs, step)) == 1)
        ]
    )
    there = coordinates[:, np.newaxis, :] + directions
    wrapped = there % np.array(shape)
    peers = np.ravel_multi_index(tuple(np.moveaxis(wrapped, 2, 0)), shape)
    outside = (there != wrapped).any(axis=2) & (not periodic)
    myself = peers == np.arange(len(peers))[:, np.newaxis]
    depth = np.where(directions != 0, np.minimum(width, own[:, np.newaxis, :]), own[:, np.newaxis])
    return Stencil(
        shape=shape,
        cells=own,
        peers=np.where(outside | myself, -1, peers),
        message_bytes=np.prod(depth, axis=2) * bytes_per_cell,
    )


def grid_shape(ranks: int | Sequence[int], dims: int) -> tuple[int, ...]:
    """Return balanced ranks along each axis, the most first; a given shape is only checked."""
    if not isinstance(ranks, int | np.integer):
        shape = whole_each(ranks, "ranks")
        if not 1 <= len(shape) <= 3 or min(shape) < 1:
            raise ParameterError(
                f"ranks must be a number, or 1 to 3 numbers of at least 1; got {shape}",
                key="ranks",
            )
        return shape
    ranks = whole(ranks, "ranks", 1)
    if dims not in _FACES:
        raise ParameterError(f"dims must be 1, 2 or 3; got {dims}", key="dims")
    return _balanced(ranks, dims)


def even_parts(total: int, parts: int) -> list[int]:
    """Return a total cut into whole parts that differ by at most one, the larger ones first."""
    return [total // parts + (at < total % parts) for at in range(parts)]


def _balanced(ranks: int, dims: int) -> tuple[int, ...]:
    if dims == 1:
        return (ranks,)
    candidates = (
        (along, *_balanced(ranks // along, dims - 1))
        for along in range(1, ranks + 1)
        if ranks % along == 0
    )
    return min(
        (tuple(sorted(shape, reverse=True)) for shape in candidates),
        key=lambda shape: (max(shape) - min(shape), shape),
    )


def _cells(
    shape: tuple[int, ...],
    coordinates: NDArray[np.int64],
    cells: int | Sequence[int],
    scaling: str,
) -> NDArray[np.int64]:
    """Return int64[ranks, axes], cells that each rank has along each axis."""
    if isinstance(cells, int | np.integer):
        cells = [cells] * len(shape)
    along = whole_each(cells, "cells")
    if len(along) != len(shape):
        raise ParameterError(
            f"cells must be a number, or one along each of {len(shape)} axes; got {along}",
            key="cells",
        )
    if scaling not in ("weak", "strong"):
        raise ParameterError(f"scaling must be weak or strong; got {scaling!r}", key="scaling")
    least = shape if scaling == "strong" else (1,) * len(shape)
    if any(have < need for have, need in zip(along, least, strict=True)):
        raise ParameterError(
            f"cells must give each rank one at least along each axis, so be {least} or more; got "
            f"{along}",
            key="cells",
        )
    if scaling == "weak":
        return np.tile(np.array(along, np.int64), (len(coordinates), 1))
    parts = [np.array(even_parts(n, p)) for n, p in zip(along, shape, strict=True)]
    return np.stack([part[coordinates[:, axis]] for axis, part in enumerate(parts)], axis=1)
