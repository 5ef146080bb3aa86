"""Wavefronts: work passes from one corner of a grid of ranks to the other, block by block."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.checks import number, whole
from workbench.errors import ParameterError
from workbench.programs.builder import ProgramBuilder
from workbench.programs.generators.grids import even_parts, grid_shape
from workbench.programs.generators.tiling import jittered, repeat
from workbench.programs.program import Program

# Steps along x and y of the sweeps from each corner of the grid.
_CORNERS = ((1, 1), (1, -1), (-1, 1), (-1, -1))


def sweep(
    ranks: int | Sequence[int] = 64,
    *,
    cells: tuple[int, int, int] = (32, 32, 64),
    blocks: int = 8,
    angles: int = 6,
    corners: int = 8,
    iterations: int = 1,
    ns_per_cell: float = 10.0,
    jitter: float = 0.0,
    rng: np.random.Generator | int | None = None,
) -> Program:
    """Return discrete-ordinates sweeps on a two-dimensional grid of ranks (Koch et al. 1992).

    A rank waits for a block's values from the two ranks upstream, computes the block, and sends to
    the two ranks downstream, with blocking calls; as Sweep3D does (Hoisie, Lubeck, Wasserman,
    IJHPCA 14, 2000). The pipeline fills and empties with each corner.

    Args:
        ranks: how many, or how many along both axes.
        cells: of each rank along x, y and z.
        blocks: parts that the cells along z are cut into.
        angles: values of a cell that a message carries, 8 bytes each.
        corners: 8 or 4; with 8 the sweep goes up and down along z from each of the four corners.
        iterations: how many.
        ns_per_cell: time of a cell for each corner, in ns.
        jitter: each computation takes its time multiplied by a uniform ``1 ± jitter``.
        rng: random generator or seed, of the jitter.

    Raises:
        ParameterError: an argument is none of these.
    """
    shape = grid_shape(ranks, 2)
    if len(shape) != 2:
        raise ParameterError(f"ranks must lie along two axes; got {shape}", key="ranks")
    if corners not in (4, 8):
        raise ParameterError(f"corners must be 4 or 8; got {corners}", key="corners")
    for name, value in (("cells", min(cells)), ("blocks", blocks), ("angles", angles)):
        whole(value, name, 1)
    number(ns_per_cell, "ns_per_cell", 0)
    along_x, along_y, along_z = cells
    depths = [depth for depth in even_parts(along_z, blocks) if depth]
    builder = ProgramBuilder(shape[0] * shape[1], source=f"sweep {shape[0]}×{shape[1]}")
    for rank in range(builder.num_ranks):
        x, y = divmod(rank, shape[1])
        for corner in range(corners):
            step_x, step_y = _CORNERS[corner * 4 // corners]
            before = _rank(shape, x - step_x, y), _rank(shape, x, y - step_y)
            behind = _rank(shape, x + step_x, y), _rank(shape, x, y + step_y)
            for depth in depths:
                sizes = along_y * depth * angles * 8, along_x * depth * angles * 8
                for axis, peer in enumerate(before):
                    if peer >= 0:
                        builder.recv(rank, peer, sizes[axis], corner)
                builder.compute(rank, round(along_x * along_y * depth * ns_per_cell))
                for axis, peer in enumerate(behind):
                    if peer >= 0:
                        builder.send(rank, peer, sizes[axis], corner)
    return jittered(repeat(builder.build(), iterations), jitter, rng)


def _rank(shape: tuple[int, ...], x: int, y: int) -> int:
    """Return the rank at a place, -1 where there is none."""
    inside = 0 <= x < shape[0] and 0 <= y < shape[1]
    return x * shape[1] + y if inside else -1
