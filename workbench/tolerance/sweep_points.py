"""What a sweep finds: T and its slopes at one latency, at several, and where they change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import FloatArray, IntArray
from workbench.simulate.picoseconds import PS_PER_S
from workbench.tolerance.tangents import Bend


@dataclass(frozen=True)
class SweepPoint:
    """A program's time at one latency, and its slopes in the parameters.

    The slopes over G and o are those of a critical path with the most latencies; other critical
    paths may have other slopes. g is not in LLAMP's graph: lambda_g is 0.

    Attributes:
        L: the latency, s.
        T: the makespan, s.
        lambda_L_left: slope of T(L) below L: fewest latencies on a critical path.
        lambda_L_right: slope of T(L) above L: most latencies on a critical path.
        lambda_G: dT/dG in bytes: those after the first of each message on the path.
        lambda_o: dT/do: overheads on the path.
        rho_L: L lambda_L_right / T, the share of latency in the critical path. The paper's text
            defines it so; its formula prints the inverse.
        T_ps: the makespan in whole picoseconds.
        lambda_g: dT/dg, always 0.
    """

    L: float
    T: float
    lambda_L_left: int
    lambda_L_right: int
    lambda_G: int
    lambda_o: int
    rho_L: float
    T_ps: int
    lambda_g: int = 0


class SweepCurve(NamedTuple):
    """T and its slopes at several latencies.

    Attributes:
        T: float64[k], makespan at each, s.
        lambda_left: int64[k], slope below each.
        lambda_right: int64[k], slope above each.
    """

    T: FloatArray
    lambda_left: IntArray
    lambda_right: IntArray


@dataclass(frozen=True, eq=False)
class CriticalLatencies:
    """Latencies inside an interval at which T(L) changes its slope.

    Between two neighbouring picoseconds at most one is kept: those between the same two are
    merged, with the slopes before the first and after the last of them.

    Attributes:
        L: float64[k], the critical latencies, ascending, s.
        T: float64[k], makespan at each, s.
        lambda_left: int64[k], slope below each.
        lambda_right: int64[k], slope above each.
        exact_ps: the latencies as fractions, ps.
        lo_s: start of the interval, s.
        hi_s: end of the interval, s.
        passes: number of passes over the program.
        lanes: number of latencies and slopes computed in these passes.
    """

    L: FloatArray
    T: FloatArray
    lambda_left: IntArray
    lambda_right: IntArray
    exact_ps: tuple[Fraction, ...]
    lo_s: float
    hi_s: float
    passes: int
    lanes: int

    @classmethod
    def of(
        cls, bends: Sequence[Bend], lo_ps: int, hi_ps: int, *, passes: int, lanes: int
    ) -> CriticalLatencies:
        """Return the critical latencies from the bends of T(L).

        Args:
            bends: ascending.
            lo_ps: start of the interval.
            hi_ps: end of the interval.
            passes: number of passes over the program.
            lanes: number of latencies and slopes computed in these passes.
        """
        T_ps = [bend.left.intercept_ps + bend.left.slope * bend.x_ps for bend in bends]
        return cls(
            L=np.array([float(bend.x_ps / PS_PER_S) for bend in bends], np.float64),
            T=np.array([float(T / PS_PER_S) for T in T_ps], np.float64),
            lambda_left=np.array([bend.left.slope for bend in bends], np.int64),
            lambda_right=np.array([bend.right.slope for bend in bends], np.int64),
            exact_ps=tuple(bend.x_ps for bend in bends),
            lo_s=lo_ps / PS_PER_S,
            hi_s=hi_ps / PS_PER_S,
            passes=passes,
            lanes=lanes,
        )

    def __len__(self) -> int:
        return len(self.L)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Return the latencies in s, so that the value may be used as their array."""
        return np.array(self.L, dtype=dtype)


@dataclass(frozen=True, eq=False)
class ClassPoint:
    """A program's time where each message's latency is a sum over classes, such as of wires.

    Attributes:
        T: the makespan, s.
        lambdas: int64[classes], number of times that each class's latency is on a critical path:
            dT/dl_c if that path is the only one, else one of the subgradients.
        T_ps: the makespan in whole picoseconds.
    """

    T: float
    lambdas: IntArray
    T_ps: int


@dataclass(frozen=True, eq=False)
class PairCounts:
    """Latencies and bytes of pairs of ranks on a critical path.

    Attributes:
        lambda_L: int64[ranks, ranks], latencies of messages from row to column.
        lambda_G: int64[ranks, ranks], bytes after the first of each message.
    """

    lambda_L: IntArray
    lambda_G: IntArray
