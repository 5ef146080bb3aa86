"""What a sweep finds: T and its slopes at one latency, at several, and where they change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from workbench.sensitivity.tangents import Bend
from workbench.simulate.picoseconds import PS_PER_S

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class SweepPoint:
    """A program's time at one latency, and its slopes in the parameters.

    lambda_G and lambda_o are those of a critical path with most latencies; others may differ.
    """

    L_s: float
    T_s: float
    lambda_L_left: int  # slope of T below L: fewest latencies on a critical path
    lambda_L_right: int  # slope of T above L: most latencies on a critical path
    lambda_G: int  # dT/dG in bytes, after the first of each message
    lambda_o: int  # dT/do, overheads on the path
    rho_L: float  # L lambda_L_right / T, as LLAMP's text says; its formula prints the inverse
    T_ps: int  # rounded to picoseconds
    lambda_g: int = 0  # dT/dg, always 0: g is not in LLAMP's graph


class SweepCurve(NamedTuple):
    """T and its slopes at several latencies."""

    T_s: FloatArray  # (k,)
    lambda_left: IntArray  # (k,)
    lambda_right: IntArray  # (k,)


@dataclass(frozen=True, eq=False)
class CriticalLatencies:
    """Latencies inside an interval at which T(L) changes its slope.

    Those between the same two picoseconds are merged, with the slopes before the first and after
    the last of them.
    """

    L_s: FloatArray  # (k,) ascending
    T_s: FloatArray  # (k,) T at each
    lambda_left: IntArray  # (k,) slope below each
    lambda_right: IntArray  # (k,) slope above each
    exact_ps: tuple[Fraction, ...]  # L_s without rounding
    lo_s: float  # start of the interval
    hi_s: float  # its end
    passes: int  # number of passes over the program
    lanes: int  # (latency, side) pairs solved in them

    @classmethod
    def of(
        cls, bends: Sequence[Bend], lo_ps: int, hi_ps: int, *, passes: int, lanes: int
    ) -> CriticalLatencies:
        """Return the critical latencies for bends in ascending order."""
        T_ps = [bend.left.intercept_ps + bend.left.slope * bend.x_ps for bend in bends]
        return cls(
            L_s=np.array([float(bend.x_ps / PS_PER_S) for bend in bends], np.float64),
            T_s=np.array([float(T / PS_PER_S) for T in T_ps], np.float64),
            lambda_left=np.array([bend.left.slope for bend in bends], np.int64),
            lambda_right=np.array([bend.right.slope for bend in bends], np.int64),
            exact_ps=tuple(bend.x_ps for bend in bends),
            lo_s=lo_ps / PS_PER_S,
            hi_s=hi_ps / PS_PER_S,
            passes=passes,
            lanes=lanes,
        )

    def __len__(self) -> int:
        return len(self.L_s)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Return the latencies in s, so that the value may be used as their array."""
        return np.array(self.L_s, dtype=dtype)


@dataclass(frozen=True, eq=False)
class ClassPoint:
    """A program's time where each message's latency is a sum over classes, such as of wires."""

    T_s: float
    lambdas: IntArray  # (classes,) dT/dl_c; a subgradient where several paths are critical
    T_ps: int


@dataclass(frozen=True, eq=False)
class PairCounts:
    """Latencies and bytes of pairs of ranks on a critical path, sender by receiver."""

    lambda_L: IntArray  # (ranks, ranks) latencies
    lambda_G: IntArray  # (ranks, ranks) bytes after the first of each message
