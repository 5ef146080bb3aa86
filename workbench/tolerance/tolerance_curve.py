"""T over a parameter of the network: convex, piecewise linear, and never falling."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from workbench.arrays import FloatArray, IntArray
from workbench.errors import ParameterError
from workbench.facts import facts_json
from workbench.models import LogGPS
from workbench.provenance import Provenance
from workbench.result import StoredResult

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class CurveParameter:
    """What a curve is over: a quantity, and its words in figures, tables and sentences."""

    symbol: str
    quantity: Literal["time", "gap"]
    unit: str
    column: str  # its unit in the names of a table's columns
    slope_column: str
    kind: str  # what a program bears any of, where its tolerance is infinite
    network: str  # what no value of slows such a program down
    share_of: str  # whose share of the critical path ρ is
    axis: str
    slope: str
    share: str
    title: str
    critical: str  # one value at which the slope changes
    criticals: str
    several: str = "programs"  # what several curves are of

    @property
    def a_value(self) -> str:
        """The symbol with its article: ``an L``."""
        return f"{'a' if self.symbol == 'G' else 'an'} {self.symbol}"


_L = CurveParameter(
    "L",
    "time",
    "s",
    "ns",
    "lambda_L",
    "latency",
    "latency",
    "Latency's",
    "latency L",
    "λ_L (latencies)",
    "ρ_L (%)",
    "Run time over latency",
    "critical latency",
    "critical latencies",
)
PARAMETERS = {
    "L": _L,
    "l_wire": replace(
        _L,
        symbol="l_wire",
        axis="latency of a wire",
        slope="λ_wire (wires)",
        several="topologies",
    ),
    "G": CurveParameter(
        "G",
        "gap",
        "s/B",
        "ns_per_byte",
        "lambda_G",
        "gap",
        "bandwidth",
        "Bytes'",
        "gap per byte G, and bandwidth, its inverse",
        "λ_G (bytes)",
        "ρ_G (%)",
        "Run time over gap per byte",
        "critical gap",
        "critical gaps",
    ),
}
"""What curves are over, by ``variable``."""


class ToleranceCurve(StoredResult):
    """Base of the analyses of a program's time over latency, and over the gap per byte."""

    source: str  # name of the program
    model: LogGPS
    T: float  # run time at the base, s
    tolerance: Mapping[float, float]  # by percent, the largest value at which T is within it
    corners: FloatArray  # float64[k + 2]: both ends of the interval, and where the slope changes
    corner_T: FloatArray  # float64[k + 2], s: T there
    slopes: IntArray  # int64[k + 1]: dT by the parameter, between neighbouring corners
    provenance: Provenance

    @property
    @abstractmethod
    def variable(self) -> str:
        """The parameter's symbol: ``L``, ``l_wire`` or ``G``."""

    @property
    def parameter(self) -> CurveParameter:
        """The parameter's quantity and words."""
        return PARAMETERS[self.variable]

    @property
    @abstractmethod
    def base(self) -> float:
        """The model's value of the parameter, s or s/B."""

    @property
    @abstractmethod
    def rho(self) -> float:
        """The parameter's share of T at the base, between 0 and 1."""

    @property
    def interval(self) -> tuple[float, float]:
        """First and last value of the curve, s or s/B."""
        return float(self.corners[0]), float(self.corners[-1])

    @property
    def critical(self) -> FloatArray:
        """Values within the interval at which the slope changes, float64[k], s or s/B."""
        return self.corners[1:-1]

    def T_of(self, at: ArrayLike) -> FloatArray:
        """Return T in s at values within the interval.

        Args:
            at: s or s/B, of any shape.

        Raises:
            ParameterError: a value lies outside the interval.
        """
        return np.interp(self._within(at), self.corners, self.corner_T)

    def lambda_of(self, at: ArrayLike) -> IntArray:
        """Return the slope at values within the interval; at a critical one, the slope above it.

        Args:
            at: s or s/B, of any shape.

        Raises:
            ParameterError: a value lies outside the interval.
        """
        piece = np.searchsorted(self.corners, self._within(at), side="right") - 1
        slopes: IntArray = self.slopes[np.minimum(piece, len(self.slopes) - 1)]
        return slopes

    def rho_of(self, at: ArrayLike) -> FloatArray:
        """Return the parameter's share of T at values within the interval; 0 where T is 0.

        Args:
            at: s or s/B, of any shape.

        Raises:
            ParameterError: a value lies outside the interval.
        """
        values = self._within(at)
        T = self.T_of(values)
        return np.where(T > 0, values * self.lambda_of(values) / np.maximum(T, 1e-300), 0.0)

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be known before the numbers are used, a sentence each."""
        what = self.parameter.network
        without = [f"{p:g} %" for p, most in self.tolerance.items() if math.isinf(most)]
        return (f"no {what} makes the program slower by {', '.join(without)}",) if without else ()

    def summary(self) -> dict[str, Any]:
        """Return the command's JSON values: times in ns, tolerances as the largest value."""
        return facts_json(self.facts())

    def to_dict(self) -> dict[str, Any]:
        """Return ``summary``, the program, the model and the curve as values that JSON can hold."""
        return {
            "program": self.source,
            "model": self.model.to_dict(),
            **self.summary(),
            "curve": self.to_frame().to_dict("list"),
            "provenance": self.provenance.to_dict(),
        }

    def to_frame(self) -> pd.DataFrame:
        """Return one row a piece of the curve, between neighbouring critical values.

        Returns:
            ``from_ns``, ``to_ns``, ``lambda_L``, ``T_from_ns``, ``T_to_ns``, ``rho_from``,
            ``rho_to``; over the gap per byte ``from_ns_per_byte``, ``to_ns_per_byte`` and
            ``lambda_G`` instead of the first three.
        """
        import pandas as pd

        low, high = self.corners[:-1], self.corners[1:]
        T_low, T_high = self.corner_T[:-1], self.corner_T[1:]
        return pd.DataFrame(
            {
                f"from_{self.parameter.column}": low * 1e9,
                f"to_{self.parameter.column}": high * 1e9,
                self.parameter.slope_column: self.slopes,
                "T_from_ns": T_low * 1e9,
                "T_to_ns": T_high * 1e9,
                "rho_from": _share(low * self.slopes, T_low),
                "rho_to": _share(high * self.slopes, T_high),
            }
        )

    @abstractmethod
    def tolerances(self) -> pd.DataFrame:
        """Return one row a percentage."""

    @abstractmethod
    def _rounding(self) -> float:
        """Return how far outside of the interval a value may be by rounding."""

    def _check(self) -> None:
        corners = len(self.corners)
        if corners < 2 or len(self.corner_T) != corners or len(self.slopes) != corners - 1:
            raise ParameterError("a curve needs as many times as corners, and a slope between two")
        if not (np.diff(self.corners) >= 0).all() or not np.isfinite(self.corner_T).all():
            raise ParameterError("a curve's corners must ascend, and its times be finite")

    def _within(self, at: ArrayLike) -> FloatArray:
        values = np.asarray(at, float)
        low, high = self.interval
        outside = np.maximum(low - values, values - high) > self._rounding()
        if outside.any() or np.isnan(values).any():
            unit = self.parameter.unit
            raise ParameterError(
                f"{self.variable} must lie within the analysed interval, {low:g} to {high:g} "
                f"{unit}; got {values.min():g} to {values.max():g} {unit}: analyse with a wider "
                "interval",
                key=self.variable,
            )
        clipped: FloatArray = np.clip(values, low, high)
        return clipped


def _share(part: FloatArray, whole: FloatArray) -> FloatArray:
    """Return the quotient of two arrays, 0 where the second is 0."""
    return np.where(whole > 0, part / np.maximum(whole, 1e-300), 0.0)
