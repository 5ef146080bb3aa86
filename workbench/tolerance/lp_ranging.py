"""Algorithm 2 of Shen et al., LLAMP: critical latencies from ranges of optimal bases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workbench.errors import ParameterError
from workbench.simulate.picoseconds import PS_PER_S
from workbench.tolerance.lp_solvers import check_optimal, failure, solve
from workbench.tolerance.lp_variables import PS_PER_US

if TYPE_CHECKING:
    from workbench.tolerance.lp import LatencyLP

LEAST_EPSILON_S = 1e-13
"""HiGHS lets rows be short of 1e-7 µs, which is this."""

_SLOPE_TOLERANCE = 1e-6  # slopes count latencies: whole but for HiGHS's 1e-7 on a reduced cost


@dataclass(frozen=True, eq=False)
class Ranging:
    """The solves and the result of Algorithm 2 of Shen et al. (LLAMP).

    Attributes:
        latencies: float64[found], the critical latencies that it returns inside the interval,
            descending, s.
        L: float64[solves], latencies that were solved for, s.
        lower: float64[solves], lower end of the range in which each solve's basis stays optimal, s;
            -inf if it has none.
        lambda_L: float64[solves], slope of T at each.
    """

    latencies: NDArray[np.float64]
    L: NDArray[np.float64]
    lower: NDArray[np.float64]
    lambda_L: NDArray[np.float64]


def critical_latencies(
    lp: LatencyLP, low_s: float, high_s: float, step_s: float, epsilon_s: float
) -> Ranging:
    """Return the result of Algorithm 2; ``LatencyLP.critical_latencies`` has the arguments."""
    accepted = 0 <= low_s <= high_s < np.inf and 0 <= step_s < np.inf
    if not (accepted and LEAST_EPSILON_S <= epsilon_s < np.inf):
        raise ParameterError(
            "there must be an interval 0 <= low <= high, a step of at least 0 and an epsilon of at "
            f"least {LEAST_EPSILON_S} s; got {low_s} to {high_s}, {step_s} and {epsilon_s} s",
            key="step_s",
        )
    found: list[float] = []
    visited: list[tuple[float, float, float]] = []
    L = high_s
    while low_s <= L:
        lower, slope = _basis_range(lp, L)
        if not visited or abs(slope - visited[-1][2]) > _SLOPE_TOLERANCE * max(slope, 1.0):
            found.append(lower)
        visited.append((L, lower, slope))
        L = min(L - step_s, lower - epsilon_s)
    kept = [latency for latency in found if low_s <= latency <= high_s]
    columns = np.array(visited).T
    return Ranging(np.array(kept, float), columns[0], columns[1], columns[2])


def _basis_range(lp: LatencyLP, L: float) -> tuple[float, float]:
    """Return the lower end of l's range with this basis (Gurobi's SALBLow), s, and the slope."""
    problem, system = lp.problem()
    column = lp.matrix.first_latency
    # Not rounded to a picosecond: epsilon may be less.
    system.variables[column].lowBound = L * PS_PER_S / PS_PER_US
    answer = solve(problem, system)
    check_optimal(answer)
    if answer.highs is None:
        raise failure(answer)
    _, ranging = answer.highs.getRanging()
    slope = float(answer.reduced_costs[column])
    if abs(slope) <= _SLOPE_TOLERANCE:
        # l is not what holds the run time: its bound may fall without end.
        return -float("inf"), slope
    return min(float(ranging.col_bound_dn.value_[column]) * PS_PER_US / PS_PER_S, L), slope
