"""A stand-in for a simulator of a collective: four parameters, 20 tests, cubic polynomials."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import ArrayLike, NDArray

from workbench.parameters import Parameter
from workbench.uq import Replicas
from workbench.uq.parameters import ParameterBox
from workbench.uq.surrogate import Surrogate

FloatArray = NDArray[np.float64]

NODES, KB = (
    axis.ravel().astype(np.float64)
    for axis in np.meshgrid([128, 192, 256, 384, 512], [8, 16, 24, 32], indexing="ij")
)
COLUMNS: dict[str, ArrayLike] = {"nodes": NODES, "KB": KB}
BOX = ParameterBox(
    (
        Parameter("Max BW", "GB/s", 1.5, 2.2),
        Parameter("Link BW", "GB/s", 2.0, 3.0),
        Parameter("Inj Lat", "us", 0.3, 0.9),
        Parameter("Hop Lat", "ns", 50.0, 200.0),
    )
)
TRUTH = np.array([1.8, 2.6, 0.6, 100.0])


def simulate(values: FloatArray) -> FloatArray:
    """Return times[n, 20] in seconds."""
    bandwidth, link, injection, hop = (column[:, None] for column in np.asarray(values).T)
    us = KB * 1.024 * (1 - NODES / 1000) / bandwidth + KB * 1.024 * NODES / 800 / link
    return np.asarray(NODES * (us + 3 * injection + hop * np.cbrt(NODES) / 300) * 1e-6)


def polynomials(
    box: ParameterBox,
    indices: NDArray[np.int64],
    coefficients: FloatArray,
    logarithmic: bool,
) -> Surrogate:
    """Return a surrogate that has these coefficients."""
    tests = coefficients.shape[1]
    degree = int(indices.max())
    return Surrogate(
        box,
        indices,
        np.ascontiguousarray(coefficients),
        np.full(tests, logarithmic),
        loo_error=np.zeros(tests),
        chosen=((degree, 1.0),) * tests,
        points=0,
    )


def ring() -> Surrogate:
    """Return a surrogate of the logarithms of ``simulate``."""
    indices = np.array([i for i in itertools.product(range(4), repeat=4) if sum(i) <= 3], np.int64)
    unit = np.random.default_rng(0).uniform(-1, 1, (150, 4))
    basis = np.ones((len(unit), len(indices)))
    for i in range(4):
        basis *= np.polynomial.legendre.legvander(unit[:, i], 3)[:, indices[:, i]]
    times = simulate(BOX.from_unit(unit))
    coefficients = np.asarray(np.linalg.lstsq(basis, np.log(times), rcond=None)[0], np.float64)
    return polynomials(BOX, indices, coefficients, True)


def measured(
    *, tau: float = 0.0, s: float = 0.05, replicas: int = 20, seed: int = 0, columns: bool = True
) -> Replicas:
    """Return times of the 20 tests at the truth, with errors of their logarithms."""
    rng = np.random.default_rng(seed)
    expected = simulate(TRUTH[None])[0] * np.exp(tau * rng.standard_normal(len(NODES)))
    times = expected[:, None] * np.exp(s * rng.standard_normal((len(NODES), replicas)))
    return Replicas.of(list(times), columns=COLUMNS if columns else None)


def line(
    slopes: FloatArray, constants: FloatArray, *, mean: float | None = None, sd: float | None = None
) -> Surrogate:
    """Return times that are linear in coordinates of parameters from 0 to 1."""
    d = slopes.shape[1]
    box = ParameterBox(tuple(Parameter(f"p{i}", "", 0.0, 1.0, mean=mean, sd=sd) for i in range(d)))
    indices = np.concatenate([np.zeros((1, d)), np.eye(d)]).astype(np.int64)
    return polynomials(box, indices, np.vstack([constants, slopes.T]), False)
