"""What the linear program of a program's run time says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workbench.jsonfile import Result

if TYPE_CHECKING:
    import pulp

    from workbench.sensitivity.lp import LatencyLP
    from workbench.sensitivity.lp_solvers import Answer, System
    from workbench.sensitivity.lp_variables import VariableValues

US_PER_S = 1e6
"""Times are µs in the linear program, and gaps ns/B, which is µs/kB."""

BYTES_PER_KB = 1e3


@dataclass(frozen=True, eq=False)
class LPSolution(Result):
    """A program's run time, what it depends on, and the path it rests on.

    Attributes:
        T_s: run time, s.
        lambda_L: what T grows by with each latency, dT/dL: latencies on the critical path. Where
            there are several variables, with all of them together.
        lambda_G: dT/dG in bytes: bytes on the critical path after each message's first.
        lambda_o: dT/do: overheads on the critical path.
        rho_L: share of latency in the critical path, L lambda_L / T; 0 where T is. Shen et al.
            print the inverse, T / (L lambda_L), and mean this.
        reduced_costs: the same sensitivities by variable: of latencies, gaps (bytes) and ``o``.
            At a critical latency this is one of the slopes between that to its left and that to
            its right.
        tight: int64[ops], operations on the critical path from the first to the last: those whose
            rows have a multiplier. A send above S stands before and after its receive where both
            its start and its end are on it. Where there are several critical paths, one of them.
        dual_objective_s: what the multipliers prove T to be at least, s: T, but for rounding.
        status: the solver's word, ``Optimal``.
        seconds: for handing over and solving; building comes once before.
        solver: its name.
    """

    T_s: float
    lambda_L: float
    lambda_G: float
    lambda_o: float
    rho_L: float
    reduced_costs: Mapping[str, float] = field(repr=False)
    tight: NDArray[np.int64] = field(repr=False)
    dual_objective_s: float = field(repr=False)
    status: str
    seconds: float
    solver: str


def solution_of(
    lp: LatencyLP,
    values: VariableValues,
    system: System,
    answer: Answer,
    solver: str | pulp.LpSolver,
) -> LPSolution:
    """Return what an optimum says.

    Args:
        lp: the linear program.
        values: of its variables.
        system: its rows with these values.
        answer: the optimum.
        solver: that found it.
    """
    matrix, charged = lp.matrix, lp.message_variables
    bounds = values.bounds()
    known = answer.reduced_costs[matrix.first_latency :]
    latencies, gaps, overhead = np.split(known, [len(charged.latency_names), len(known) - 1])
    gap_bytes = gaps * BYTES_PER_KB
    named = zip(
        (*charged.latency_names, *charged.gap_names, "o"),
        (*latencies.tolist(), *gap_bytes.tolist(), float(overhead[0])),
        strict=True,
    )
    # A latency's own value, which the solver may exceed where nothing waits for it.
    of_latency = float(bounds[: len(latencies)] @ latencies)
    T = answer.objective
    return LPSolution(
        T_s=T / US_PER_S,
        lambda_L=float(latencies.sum()),
        lambda_G=float(gap_bytes.sum()),
        lambda_o=float(overhead[0]),
        rho_L=of_latency / T if T > 0 else 0.0,
        reduced_costs=dict(named),
        tight=lp.rows.critical_path(answer.duals),
        dual_objective_s=float(system.lower @ answer.duals + bounds @ known) / US_PER_S,
        status=answer.status,
        seconds=answer.seconds,
        solver=solver if isinstance(solver, str) else str(solver.name),
    )
