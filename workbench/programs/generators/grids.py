"""Ranks on a grid of two or three dimensions: their cells, their neighbours, their messages."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workbench.errors import ParameterError
from workbench.programs.builder import ProgramBuilder

_FACES = {1: 2, 2: 4, 3: 6}
_ALL = {1: 2, 2: 8, 3: 26}


@dataclass(frozen=True)
class Stencil:
    """A grid of ranks that exchange the cells at their borders.

    Directions come in an order whose reverse is that of the opposite directions.

    Attributes:
        shape: ranks along each axis; the last axis runs fastest.
        cells: int64[ranks, axes], cells that each rank has along each axis.
        peers: int64[ranks, directions], the rank there, -1 where there is none.
        message_bytes: int64[ranks, directions], bytes exchanged with it.
    """

    shape: tuple[int, ...]
    cells: NDArray[np.int64]
    peers: NDArray[np.int64]
    message_bytes: NDArray[np.int64]

    @property
    def num_ranks(self) -> int:
        """Number of ranks."""
        return math.prod(self.shape)

    def post(self, builder: ProgramBuilder, rank: int) -> list[int]:
        """Begin a rank's receives, then its sends, and return their requests.

        A message's tag is the number of the direction that it goes in.

        Args:
            builder: takes the calls.
            rank: whose border is exchanged.
        """
        peers, sizes = self.peers[rank].tolist(), self.message_bytes[rank].tolist()
        last = len(peers) - 1
        there = [at for at, peer in enumerate(peers) if peer >= 0]
        requests = [builder.irecv(rank, peers[at], sizes[at], last - at) for at in there]
        return requests + [builder.isend(rank, peers[at], sizes[at], at) for at in there]

    def inner_cells(self, width: int) -> NDArray[np.int64]:
        """Return how many cells of each rank no neighbour's cells are needed for, int64[ranks].

        Args:
            width: cells that the border is deep.
        """
        inner: NDArray[np.int64] = np.prod(np.maximum(self.cells - 2 * width, 0), axis=1)
        return inner


def stencil(
    ranks: int | Sequence[int],
    dims: int,
    neighbours: int | None,
    cells: int | Sequence[int],
    *,
    bytes_per_cell: int,
    width: int,
    scaling: str,
    periodic: bool,
) -> Stencil:
    """Return the grid of a halo exchange.

    Args:
        ranks: how many, or how many along each axis.
        dims: number of axes, 1 to 3, where ``ranks`` is a number.
        neighbours: 4 or 8 in two dimensions, 6 or 26 in three; None takes the fewer.
        cells: along each axis, one number for all; of each rank if scaling is weak, of all ranks
            together if it is strong.
        bytes_per_cell: bytes that a cell's values take in a message.
        width: cells that the border is deep.
        scaling: ``weak`` or ``strong``.
        periodic: whether the last rank along an axis is the first one's neighbour. A rank is
            never its own neighbour.

    Raises:
        ParameterError: an argument is none of these, or a rank would have no cell.
    """
    shape = grid_shape(ranks, dims)
    axes = len(shape)
    wanted = neighbours if neighbours is not None else _FACES[axes]
    if wanted not in (_FACES[axes], _ALL[axes]):
        raise ParameterError(
            f"neighbours must be {_FACES[axes]} or {_ALL[axes]} in {axes} dimensions; got "
            f"{neighbours}",
            key="neighbours",
        )
    at_least("bytes_per_cell", bytes_per_cell, 0)
    at_least("width", width, 1)
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
    """Return ranks along each axis, as equal as the number of ranks allows, the most first.

    Args:
        ranks: how many; or the answer.
        dims: number of axes, where ``ranks`` is a number.

    Raises:
        ParameterError: there is no rank, or the axes are not 1 to 3.
    """
    if not isinstance(ranks, int | np.integer):
        shape = tuple(int(along) for along in ranks)
        if not 1 <= len(shape) <= 3 or min(shape) < 1:
            raise ParameterError(
                f"ranks must be a number, or 1 to 3 numbers of at least 1; got {shape}",
                key="ranks",
            )
        return shape
    at_least("ranks", int(ranks), 1)
    if dims not in _FACES:
        raise ParameterError(f"dims must be 1, 2 or 3; got {dims}", key="dims")
    return _balanced(int(ranks), dims)


def even_parts(total: int, parts: int) -> list[int]:
    """Return a total cut into whole parts that differ by at most one, the larger ones first.

    Args:
        total: what is cut.
        parts: into how many.
    """
    return [total // parts + (at < total % parts) for at in range(parts)]


def at_least(name: str, value: float, least: float) -> None:
    """Refuse a value that is too small.

    Args:
        name: of the argument.
        value: its value.
        least: the smallest that is allowed.

    Raises:
        ParameterError: it is smaller.
    """
    if not value >= least:
        raise ParameterError(f"{name} must be at least {least}; got {value}", key=name)


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
    whole = tuple(
        int(along)
        for along in ([cells] * len(shape) if isinstance(cells, int | np.integer) else cells)
    )
    if len(whole) != len(shape):
        raise ParameterError(
            f"cells must be a number, or one along each of {len(shape)} axes; got {whole}",
            key="cells",
        )
    if scaling not in ("weak", "strong"):
        raise ParameterError(f"scaling must be weak or strong; got {scaling!r}", key="scaling")
    least = shape if scaling == "strong" else (1,) * len(shape)
    if any(have < need for have, need in zip(whole, least, strict=True)):
        raise ParameterError(
            f"cells must give each rank one at least along each axis, so be {least} or more; got "
            f"{whole}",
            key="cells",
        )
    if scaling == "weak":
        return np.tile(np.array(whole, np.int64), (len(coordinates), 1))
    parts = [np.array(even_parts(n, p)) for n, p in zip(whole, shape, strict=True)]
    return np.stack([part[coordinates[:, axis]] for axis, part in enumerate(parts)], axis=1)
