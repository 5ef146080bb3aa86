"""Least squares in multivariate Legendre polynomials, with leave-one-out residuals."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.polynomial.legendre import legvander
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from threadpoolctl import ThreadpoolController

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

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
    powers = legvander(coordinates, int(indices.max(initial=0)))  # [n, parameters, degree + 1]
    found = np.ones((len(coordinates), len(indices)))
    for i in range(indices.shape[1]):
        found *= powers[:, i, indices[:, i]]
    return found


def rows_of(indices: IntArray, among: IntArray) -> NDArray[np.intp]:
    """Return the row of each of ``indices`` in ``among``, which holds them all."""
    places = {tuple(row): at for at, row in enumerate(among.tolist())}
    return np.array([places[tuple(row)] for row in indices.tolist()], np.intp)


def union(*sets: IntArray) -> IntArray:
    """Return the rows of all sets once, by rising total degree, earlier parameters first."""
    rows = {tuple(row) for indices in sets for row in indices.tolist()}
    return np.array(sorted(rows, key=lambda row: (sum(row), [-n for n in row])), np.int64)


@contextmanager
def one_thread() -> Iterator[None]:
    """Let linear algebra use one thread in the block: the same digits on every machine.

    It is faster too, 14 times on two busy cores: the matrices are small. The limit is the whole
    process's: it ends with the last block of all threads, or it would end within another's.
    """
    _LIMIT.enter()
    try:
        yield
    finally:
        _LIMIT.leave()


class _SharedLimit:
    """The limit of one thread, while any block needs it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._blocks = 0
        self._limit: Any = None

    def enter(self) -> None:
        """Begin the limit with the first block."""
        with self._lock:
            if not self._blocks:
                self._limit = _libraries().limit(limits=1, user_api="blas")
            self._blocks += 1

    def leave(self) -> None:
        """End the limit with the last block."""
        with self._lock:
            self._blocks -= 1
            if not self._blocks:
                self._limit.restore_original_limits()


_LIMIT = _SharedLimit()


@cache
def _libraries() -> ThreadpoolController:
    """Return the thread pools of the libraries that are loaded."""
    return ThreadpoolController()
