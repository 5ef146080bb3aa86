"""Times that surrogates in Legendre polynomials predict."""

from __future__ import annotations

import math

import numpy as np

from kernels import helper, kernel


@helper
def evaluate(coordinates, indices, coefficients, logarithmic, workspace, out):
    """Write the times of all tests at one point.

    Args:
        coordinates: float64[parameters], each from -1 to 1.
        indices: int64[terms, parameters], degree of each term in each parameter.
        coefficients: float64[terms, tests].
        logarithmic: bool[tests], where the polynomial is of the logarithm of the time.
        workspace: float64[parameters, degree + 1] with the highest degree in ``indices``, or more;
            overwritten with the Legendre polynomials of each coordinate.
        out: float64[tests], overwritten with the times.
    """
    parameters = len(coordinates)
    for i in range(parameters):
        x = coordinates[i]
        before, here = 0.0, 1.0
        workspace[i, 0] = here
        for n in range(workspace.shape[1] - 1):
            # Bonnet's recursion: (n + 1) P_{n+1} = (2n + 1) x P_n - n P_{n-1}
            before, here = here, ((2 * n + 1) * x * here - n * before) / (n + 1)
            workspace[i, n + 1] = here
    tests = len(out)
    for test in range(tests):
        out[test] = 0.0
    for term in range(len(indices)):
        product = 1.0
        for i in range(parameters):
            product *= workspace[i, indices[term, i]]
        for test in range(tests):
            out[test] += coefficients[term, test] * product
    for test in range(tests):
        if logarithmic[test]:
            out[test] = math.exp(out[test])


@kernel(cache=True, nogil=True)
def predict_many(coordinates, indices, coefficients, logarithmic, degree, out):
    """Write the times of all tests at many points.

    Args:
        coordinates: float64[points, parameters].
        indices: int64[terms, parameters].
        coefficients: float64[terms, tests].
        logarithmic: bool[tests].
        degree: the highest in ``indices``.
        out: float64[points, tests], overwritten.
    """
    workspace = np.empty((coordinates.shape[1], degree + 1))
    for point in range(len(coordinates)):
        evaluate(coordinates[point], indices, coefficients, logarithmic, workspace, out[point])
