"""Least squares in multivariate Legendre polynomials, with leave-one-out residuals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.polynomial.legendre import legvander
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from workbench.arrays import FloatArray, IntArray

_DEPENDENT = 1e-10  # what is a rounding error beside 1


@dataclass(frozen=True, eq=False)
class LegendreBasis:
    """The QR decomposition of a basis at the points of a design.

    ``indices`` is int64[terms, parameters], ``q`` float64[n, terms], ``r`` float64[terms, terms],
    and ``leverage`` float64[n] the diagonal of the hat matrix.
    """

    indices: IntArray
    q: FloatArray
    r: FloatArray
    leverage: FloatArray

    @classmethod
    def at(cls, coordinates: FloatArray, indices: IntArray) -> LegendreBasis:
        """Return the basis at coordinates[n, parameters]."""
        q, r = np.linalg.qr(polynomial_values(coordinates, indices))
        return cls(indices, q, r, (q**2).sum(axis=1))

    @property
    def determined(self) -> bool:
        """Whether the points determine the coefficients, even without any one of the points."""
        diagonal = np.abs(np.diagonal(self.r))
        independent = diagonal.min() > _DEPENDENT * diagonal.max()
        return bool(independent and self.leverage.max() < 1 - _DEPENDENT)

    def coefficients(self, values: FloatArray) -> FloatArray:
        """Return float64[terms, columns], the least-squares fit to values[n, columns]."""
        return np.asarray(solve_triangular(self.r, self.q.T @ values))

    def fitted(self, values: FloatArray) -> FloatArray:
        """Return float64[n, columns], the least-squares fit at the points."""
        return self.q @ (self.q.T @ values)

    def left_out(self, values: FloatArray) -> FloatArray:
        """Return float64[n, columns], values minus predictions of fits without that point."""
        return (values - self.fitted(values)) / (1 - self.leverage)[:, None]


def polynomial_values(coordinates: FloatArray, indices: IntArray) -> FloatArray:
    """Return float64[n, terms], each term of a basis at coordinates[n, parameters]."""
    powers = legvander(coordinates.T, int(indices.max(initial=0)))  # [parameters, n, degree + 1]
    found = np.ones((len(indices), len(coordinates)))
    for values, degrees in zip(powers, indices.T, strict=True):
        terms = np.flatnonzero(degrees)  # most terms have few parameters
        found[terms] *= values.T[degrees[terms]]
    return np.ascontiguousarray(found.T)


def rows_of(indices: IntArray, among: IntArray) -> NDArray[np.intp]:
    """Return the row of each of ``indices`` in ``among``, which holds them all."""
    places = {tuple(row): at for at, row in enumerate(among.tolist())}
    return np.array([places[tuple(row)] for row in indices.tolist()], np.intp)


def union(*sets: IntArray) -> IntArray:
    """Return the rows of all sets once, by rising total degree, earlier parameters first."""
    rows = {tuple(row) for indices in sets for row in indices.tolist()}
    return np.array(sorted(rows, key=lambda row: (sum(row), [-n for n in row])), np.int64)
