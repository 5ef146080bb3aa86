"""The largest latency from path to path, and the linear program's proof that none is larger.

The linear program that maximises l under t <= T is solved without a solver: from a latency that is
too large, l is lowered to where the longest path takes T, until no path takes longer. Whether the
result is the optimum is then checked against the linear program's rows, whichever way it was found:
times that keep every row show that l is possible, and multipliers of the rows, that no larger l is
(weak duality; Chvátal, Linear Programming, 1983, chapter 5).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kernels import lp as kernel
from workbench.arrays import FloatArray
from workbench.errors import ParameterError
from workbench.tolerance.lp_result import US_PER_S
from workbench.tolerance.lp_solvers import SolverError
from workbench.tolerance.lp_variables import VariableValues

if TYPE_CHECKING:
    from workbench.tolerance.lp import LatencyLP


PATHS = "paths"
"""In place of a solver: from path to path, and a proof."""

_ROWS_US = 1e-7
"""How short of its cost HiGHS lets a row be."""

_RELATIVE = 1e-12
"""Of run times: rounding of sums over the rows of a path."""


@dataclass(frozen=True, eq=False)
class LatencyCertificate:
    """A largest latency, and how exactly the linear program's rows prove it.

    Attributes:
        L: the largest latency, s; infinite where no latency makes the program slower.
        T: run time allowed, s.
        upper: no larger latency is possible, by the multipliers of the rows, s.
        shortfall: most that the times at ``L`` are short of a row, or beyond ``T``, s.
        latencies: charged on the path that allows no more.
        ops: int64[ops], operations on that path from the first to the last.
        passes: over the rows, until no path took longer.
    """

    L: float
    T: float
    upper: float
    shortfall: float
    latencies: float
    ops: NDArray[np.int64]
    passes: int

    @property
    def gap(self) -> float:
        """What separates the bounds of the largest latency, s: 0, except for rounding."""
        return self.upper - self.L if np.isfinite(self.L) else 0.0


class _Rows:
    """The rows at values of all variables but one latency; times are µs."""

    def __init__(self, lp: LatencyLP, values: VariableValues, number: int) -> None:
        matrix, rows = lp.matrix, lp.rows
        self.matrix, self.rows = matrix, rows
        self.column = matrix.first_latency + number
        self.lower = rows.lower_us(lp.message_variables, values)
        self.bounds = values.bounds()
        self.row = np.repeat(np.arange(len(rows.head)), np.diff(matrix.start))
        charge = np.zeros(matrix.num_columns)
        charge[matrix.first_latency :] = self.bounds
        charge[self.column] = 0.0
        self.constant = self.lower - self._times(charge)
        charge[:] = 0.0
        charge[self.column] = 1.0
        self.multiple = -self._times(charge)
        self.order = np.empty(len(rows.head), np.int32)
        kernel.in_order(rows.head, rows.tail, rows.num_columns, self.order)
        self.base, self.latencies = np.empty(rows.num_columns), np.empty(rows.num_columns)
        self.before = np.empty(rows.num_columns, np.int32)
        self.passes = 0

    def _times(self, x: FloatArray) -> FloatArray:
        """Return the matrix times a value of each column."""
        matrix, rows = self.matrix, len(self.rows.head)
        products = matrix.value * x[matrix.index]
        return np.bincount(self.row, products, rows).astype(np.float64)

    def longest(self, latency_us: float) -> tuple[float, float]:
        """Return the longest path's time without the latency, and how often it is charged."""
        self.passes += 1
        kernel.longest(
            self.order,
            self.rows.head,
            self.rows.tail,
            self.constant,
            self.multiple,
            latency_us,
            self.base,
            self.latencies,
            self.before,
        )
        return float(self.base[0]), float(self.latencies[0])

    def path(self) -> NDArray[np.int64]:
        """Return the rows of the longest path, last to first."""
        found, at = [], 0
        before, tail = self.before, self.rows.tail
        while at >= 0:
            found.append(before[at])
            at = tail[before[at]]
        return np.array(found, np.int64)

    def shortfall_us(self, latency_us: float, T_us: float) -> float:
        """Return the most that the last pass's times are short of a row, or beyond T."""
        x = np.empty(self.matrix.num_columns)
        x[: self.rows.num_columns] = self.base + self.latencies * latency_us
        x[self.matrix.first_latency :] = self.bounds
        x[self.column] = latency_us
        return max(float((self.lower - self._times(x)).max(initial=0.0)), float(x[0] - T_us))

    def upper_us(self, duals: FloatArray, T_us: float) -> float:
        """Return the bound on the latency by multipliers of the rows; infinite if they are none.

        Rows summed with the multipliers are reduced · x >= duals · lower, in which times of
        vertices cancel, the latency stands once, and all else is at most at its bound.
        """
        matrix, first = self.matrix, self.matrix.first_latency
        reduced = np.bincount(
            matrix.index, matrix.value * duals[self.row], minlength=matrix.num_columns
        )
        others = reduced[first:].copy()
        others[self.column - first] = 0.0
        wrong = max(
            float(np.abs(reduced[1:first]).max(initial=0.0)),
            abs(float(reduced[self.column]) + 1.0),
            float(others.max(initial=0.0)),
            -float(duals.min(initial=0.0)),
        )
        if wrong > _RELATIVE * max(1.0, float(np.abs(reduced).max())):
            return np.inf
        return float(reduced[0]) * T_us + float(others @ self.bounds - duals @ self.lower)


def certified_latency(
    lp: LatencyLP, values: VariableValues, number: int, T_s: float
) -> LatencyCertificate:
    """Return the largest latency of a number, where the others have their values, and its proof."""
    rows, T_us = _Rows(lp, values, number), T_s * US_PER_S
    least = sum(rows.longest(0.0)[:1])
    if least > T_us + _ROWS_US + _RELATIVE * abs(T_us):
        raise below_least(least / US_PER_S, T_s)
    charged = rows.multiple[rows.multiple > 0]
    if not len(charged):
        return _certificate(lp, rows, np.inf, T_s, np.zeros(len(rows.lower)), 0.0)
    # One latency alone takes longer than T.
    latency = max(T_us, 0.0) / float(charged.min()) + 1.0
    cost, times = rows.longest(latency)
    while True:
        duals = np.zeros(len(rows.lower))
        duals[rows.path()] = 1.0 / times
        latency, before = max((T_us - cost) / times, 0.0), times
        cost, times = rows.longest(latency)
        # Latencies on the longest path get fewer as the latency falls. Where rounding keeps it
        # above T they stay, or it has none.
        if cost + times * latency <= T_us or not 0 < times < before:
            return _certificate(lp, rows, latency, T_s, duals, before)


def below_least(least_s: float, T_s: float) -> ParameterError:
    """Return the error for a run time that no latency allows."""
    return ParameterError(
        f"the run time allowed must be at least {least_s:.9g} s, which the program takes without "
        f"that latency; got {T_s:.9g} s",
        key="T",
    )


def _certificate(
    lp: LatencyLP, rows: _Rows, latency_us: float, T_s: float, duals: FloatArray, times: float
) -> LatencyCertificate:
    """Return the certificate of a latency, or refuse what it does not prove."""
    T_us = T_s * US_PER_S
    bounded = np.isfinite(latency_us)
    short = rows.shortfall_us(latency_us if bounded else 0.0, T_us)
    # No row has a latency that is unbounded, so the same times keep them all.
    upper = rows.upper_us(duals, T_us) if bounded else np.inf
    allowed = _ROWS_US + _RELATIVE * abs(T_us)
    if short > allowed or (bounded and upper - latency_us > allowed):
        raise SolverError(
            f"times and multipliers must prove the largest latency to {allowed:.2g} µs; rows are "
            f"short of {short:.2g} µs and bounds {upper - latency_us:.2g} µs apart: take "
            "solver='highs'",
            status="Not proved",
        )
    return LatencyCertificate(
        L=latency_us / US_PER_S,
        T=T_s,
        upper=upper / US_PER_S,
        shortfall=short / US_PER_S,
        latencies=times,
        ops=lp.rows.critical_path(duals),
        passes=rows.passes,
    )
