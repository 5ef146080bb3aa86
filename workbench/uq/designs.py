"""Designs of computer experiments: at which values of its parameters a simulator is run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

import numpy as np
from scipy.stats import qmc

from workbench.arrays import FloatArray
from workbench.checks import whole
from workbench.errors import ParameterError
from workbench.suggestions import did_you_mean
from workbench.uq.parameters import ParameterBox

DesignMethod = Literal["sobol", "latin-hypercube", "grid"]
METHODS: tuple[str, ...] = get_args(DesignMethod)
MOST_POINTS = 1_000_000  # chosen: a simulator that takes 1 ms runs for 17 minutes


def design(
    box: ParameterBox,
    points: int,
    method: DesignMethod = "sobol",
    seed: int = 0,
    skip: int = 0,
) -> FloatArray:
    """Return values at which to run a simulator, spread evenly over a box's coordinates.

    A Sobol' sequence with the same seed begins with the same points however many are asked for, so
    that a design can be extended: ``design(box, 100, skip=200)`` are the points 200 to 299. About
    three times as many points as a surrogate has terms are enough where the simulator is smooth.

    Args:
        box: what is varied; its priors do not count.
        points: number of points; of a grid, along each parameter, bounds included.
        method: ``sobol`` (scrambled; Owen 1998), ``latin-hypercube`` or ``grid``.
        seed: seed of the points: of the scrambling or of the hypercube.
        skip: number of points of the Sobol' sequence that are left out at its start.

    Returns:
        float64[n, parameters], in the units of the box; along a grid the last parameter varies
        fastest.

    Raises:
        ParameterError: an argument is not accepted, or there would be more than a million points.
    """
    if method not in METHODS:
        raise ParameterError(
            f"method must be one of {', '.join(METHODS)}; got {method!r}"
            f"{did_you_mean(method, METHODS)}",
            key="method",
        )
    seed, skip = whole(seed, "seed", 0), whole(skip, "skip", 0)
    points = whole(points, "points", 2 if method == "grid" else 1)
    if skip and method != "sobol":
        raise ParameterError(
            f"skip must be 0 for a {method}, which has no further points; got {skip}; choose sobol",
            key="skip",
        )
    total = points ** len(box) if method == "grid" else points + skip
    if total > MOST_POINTS:
        sides = f"{points} points along each of {len(box)} parameters are {total:.3g}"
        what = sides if method == "grid" else f"{total} were asked for"
        raise ParameterError(
            f"a design must have at most {MOST_POINTS} points; {what}; ask for fewer"
            + (", or choose sobol" if method == "grid" else ""),
            key="points",
        )
    return box.from_unit(_COORDINATES[method](len(box), points, seed, skip))


def sobol_points(dimensions: int, points: int, seed: int, skip: int) -> FloatArray:
    """Return float64[points, dimensions] from -1 to 1 of a scrambled Sobol' sequence."""
    sequence = qmc.Sobol(dimensions, scramble=True, rng=seed)
    drawn = sequence.random_base2((points + skip - 1).bit_length())
    return np.asarray(2 * drawn[skip : skip + points] - 1)


def _latin_hypercube(dimensions: int, points: int, seed: int, _: int) -> FloatArray:
    """Return float64[points, dimensions] from -1 to 1 of a random Latin hypercube."""
    return np.asarray(2 * qmc.LatinHypercube(dimensions, rng=seed).random(points) - 1)


def _grid(dimensions: int, points: int, *_: int) -> FloatArray:
    """Return float64[points ** dimensions, dimensions] from -1 to 1, the last axis fastest."""
    axes = np.meshgrid(*[np.linspace(-1, 1, points)] * dimensions, indexing="ij")
    return np.stack(axes, axis=-1).reshape(-1, dimensions)


_COORDINATES: dict[str, Callable[[int, int, int, int], FloatArray]] = {
    "sobol": sobol_points,
    "latin-hypercube": _latin_hypercube,
    "grid": _grid,
}
