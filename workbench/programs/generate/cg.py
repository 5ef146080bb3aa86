"""Krylov solvers: a stencil's exchange and two small reductions over all ranks each iteration."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workbench.checks import number
from workbench.programs.builder import ProgramBuilder
from workbench.programs.generate.grids import stencil
from workbench.programs.generate.tiling import jittered, repeat
from workbench.programs.program import Program

_SHARES = (0.5, 0.25)
"""Shares of an iteration's work before its two reductions: the product, then the vectors."""


def cg(
    ranks: int | Sequence[int] = 64,
    *,
    dims: int = 2,
    cells: int | Sequence[int] = 256,
    iterations: int = 10,
    ns_per_cell: float = 2.0,
    scaling: str = "weak",
    periodic: bool = False,
    jitter: float = 0.0,
    rng: np.random.Generator | int | None = None,
) -> Program:
    """Return conjugate gradients for Poisson's equation (Hestenes, Stiefel 1952) on a grid.

    An iteration exchanges the border of the search direction with the nearest neighbours, does the
    matrix–vector product (half of the work), adds up its scalar product with an allreduce of one
    double, brings solution and residual up to date (a quarter), adds up the residual with another,
    and takes the next direction (a quarter).

    Args:
        ranks: how many, or how many along each axis; a number is spread over ``dims`` axes as
            evenly as it allows.
        dims: number of axes, 1 to 3.
        cells: along each axis, one number for all; of each rank if scaling is weak, of all ranks
            together if it is strong.
        iterations: how many.
        ns_per_cell: time that a cell takes in an iteration, in ns.
        scaling: ``weak`` or ``strong``.
        periodic: whether the last rank along an axis is the first one's neighbour.
        jitter: each computation takes its time multiplied by a uniform ``1 ± jitter``.
        rng: random generator or seed, of the jitter.

    Raises:
        ParameterError: an argument is none of these, or a rank would have no cell.
    """
    number(ns_per_cell, "ns_per_cell", 0)
    grid = stencil(
        ranks,
        dims,
        None,
        cells,
        bytes_per_cell=8,
        width=1,
        scaling=scaling,
        periodic=periodic,
    )
    work = np.prod(grid.cells, axis=1) * ns_per_cell
    product, vectors = (np.rint(work * share).astype(np.int64).tolist() for share in _SHARES)
    direction = np.rint(work * (1 - sum(_SHARES))).astype(np.int64).tolist()
    builder = ProgramBuilder(grid.num_ranks, source=f"cg {'×'.join(map(str, grid.shape))}")
    for rank in range(grid.num_ranks):
        builder.wait(rank, grid.post(builder, rank))
        builder.compute(rank, product[rank])
    builder.collective("allreduce", 8)
    for rank in range(grid.num_ranks):
        builder.compute(rank, vectors[rank])
    builder.collective("allreduce", 8)
    for rank in range(grid.num_ranks):
        builder.compute(rank, direction[rank])
    return jittered(repeat(builder.build(), iterations), jitter, rng)
