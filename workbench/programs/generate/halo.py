"""Stencil codes: every iteration the ranks exchange the borders of their part of a grid."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.checks import number, whole
from workbench.errors import ParameterError
from workbench.programs.builder import ProgramBuilder
from workbench.programs.generate.grids import stencil
from workbench.programs.generate.tiling import jittered, repeat
from workbench.programs.program import Program


def halo(
    ranks: int | Sequence[int] = 64,
    *,
    dims: int = 2,
    neighbours: int | None = None,
    cells: int | Sequence[int] = 256,
    bytes_per_cell: int = 8,
    width: int = 1,
    iterations: int = 10,
    ns_per_cell: float = 1.0,
    scaling: str = "weak",
    overlap: bool = False,
    periodic: bool = True,
    reduce_every: int = 0,
    jitter: float = 0.0,
    rng: np.random.Generator | int | None = None,
) -> Program:
    """Return a halo exchange: non-blocking messages with all neighbours, then a computation.

    Args:
        ranks: how many, or how many along each axis; a number is spread over ``dims`` axes as
            evenly as it allows.
        dims: number of axes, 1 to 3.
        neighbours: 4 or 8 in two dimensions, 6 or 26 in three; None takes the fewer.
        cells: along each axis, one number for all; of each rank if scaling is weak, of all ranks
            together if it is strong.
        bytes_per_cell: bytes that a cell's values take in a message.
        width: cells that the border is deep.
        iterations: how many.
        ns_per_cell: time that a cell's computation takes in an iteration, in ns.
        scaling: ``weak`` or ``strong``.
        overlap: whether cells that need no neighbour are computed while messages are on their way.
        periodic: whether the last rank along an axis is the first one's neighbour. A rank is
            never its own neighbour.
        reduce_every: after this many iterations an allreduce of one double, as climate and
            hydrodynamics codes have it; 0 for none.
        jitter: each computation takes its time multiplied by a uniform ``1 ± jitter``.
        rng: random generator or seed, of the jitter.

    Raises:
        ParameterError: an argument is none of these, a rank would have no cell, or
            ``reduce_every`` does not divide the iterations.
    """
    number(ns_per_cell, "ns_per_cell", 0)
    rounds = whole(reduce_every, "reduce_every", 0) or 1
    if iterations % rounds:
        raise ParameterError(
            f"reduce_every must divide the {iterations} iterations; got {reduce_every}",
            key="reduce_every",
        )
    grid = stencil(
        ranks,
        dims,
        neighbours,
        cells,
        bytes_per_cell=bytes_per_cell,
        width=width,
        scaling=scaling,
        periodic=periodic,
    )
    inner = grid.inner_cells(width) if overlap else np.zeros(grid.num_ranks, np.int64)
    before = np.rint(inner * ns_per_cell).astype(np.int64).tolist()
    after = np.rint((np.prod(grid.cells, axis=1) - inner) * ns_per_cell).astype(np.int64).tolist()
    builder = ProgramBuilder(grid.num_ranks, source=f"halo {'×'.join(map(str, grid.shape))}")
    for _ in range(rounds):
        for rank in range(grid.num_ranks):
            requests = grid.post(builder, rank)
            builder.compute(rank, before[rank])
            builder.wait(rank, requests)
            builder.compute(rank, after[rank])
    if reduce_every:
        builder.collective("allreduce", 8)
    return jittered(repeat(builder.build(), iterations // rounds), jitter, rng)
