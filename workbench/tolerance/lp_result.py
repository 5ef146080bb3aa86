"""The result of the linear program of a program's run time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workbench.result import StoredResult
from workbench.tolerance.lp_variables import BYTES_PER_KB

if TYPE_CHECKING:
    import pandas as pd
    import pulp

    from workbench.tolerance.lp import LatencyLP
    from workbench.tolerance.lp_solvers import LinearSystem, SolverResult
    from workbench.tolerance.lp_variables import VariableValues

US_PER_S = 1e6
"""Times are µs in the linear program, and gaps ns/B, which is µs/kB."""


@dataclass(frozen=True, eq=False)
class LPSolution(StoredResult):
    """A program's run time, its sensitivities and its critical path.

    Attributes:
        T: run time, s.
        lambda_L: slope of T over L, dT/dL: latencies on the critical path. With several latency
            variables: the slope where all grow together.
        lambda_G: dT/dG in bytes: bytes on the critical path after the first of each message.
        lambda_o: dT/do: overheads on the critical path.
        rho_L: share of latency in the critical path, L lambda_L / T; 0 where T is 0. Shen et al.
            define this share in their text, but print the inverse, T / (L lambda_L).
        reduced_costs: the sensitivities by variable: latencies, gaps (bytes) and ``o``. At a
            critical latency this is one of the slopes between that to its left and that to its
            right.
        tight: int64[ops], operations on the critical path from the first to the last: those whose
            rows have a multiplier. A send above S is listed before and after its receive if both
            its start and its end are on the path. One of several critical paths, if there are
            several.
        dual_objective_s: lower bound of T from the multipliers, s: T, except for rounding.
        status: the solver's status, ``Optimal``.
        seconds: time for passing the rows to the solver and solving; building is not included.
        solver: its name.
    """

    T: float
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

    def to_frame(self) -> pd.DataFrame:
        """Return one row a variable: ``variable`` and ``sensitivity``, its reduced cost."""
        import pandas as pd

        return pd.DataFrame(self.reduced_costs.items(), columns=["variable", "sensitivity"])


def solution_of(
    lp: LatencyLP,
    values: VariableValues,
    system: LinearSystem,
    answer: SolverResult,
    solver: str | pulp.LpSolver,
) -> LPSolution:
    """Return a run time, sensitivities and critical path from an optimum at the given values."""
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
        T=T / US_PER_S,
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
