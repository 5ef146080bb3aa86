"""Solvers behind PuLP: HiGHS fed from arrays, and any other of PuLP's row by row.

PuLP holds the variables one would ask about, their bounds, the objective and what is added to the
linear program; the program's own rows stay in arrays. HiGHS takes those as they are, which is where
the time goes otherwise; other solvers get a PuLP constraint for each row.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from shutil import which
from typing import Any

import highspy
import numpy as np
import pulp
from numpy.typing import NDArray
from pulp.apis.coin_api import pulp_cbc_path

from workbench.atomic_write import atomic_write
from workbench.errors import ParameterError, WorkbenchError

OPTIMAL, INFEASIBLE, UNBOUNDED = "Optimal", "Infeasible", "Unbounded"
_TIME_OVER = "Time limit reached"

SOLVERS = ("highs", "cbc")
"""Names of solvers; objects of PuLP's are taken as well."""


class SolverError(WorkbenchError):
    """A linear program has no optimum, or its solver found none; ``status`` is its own text."""

    def __init__(self, message: str, *, status: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, eq=False)
class LinearSystem:
    """Rows ``lower <= matrix @ columns`` in CSR form, and PuLP's variables for some columns.

    Attributes:
        start: int32[rows + 1], where each row's entries begin.
        index: int32[nonzeros], column of each entry.
        value: float64[nonzeros], coefficient of each entry.
        lower: float64[rows], µs.
        num_columns: number of columns; those without a variable of PuLP's are free.
        variables: PuLP's variables by column.
        names: of all columns; needed in files only.
    """

    start: NDArray[np.int32]
    index: NDArray[np.int32]
    value: NDArray[np.float64]
    lower: NDArray[np.float64]
    num_columns: int
    variables: dict[int, pulp.LpVariable]
    names: list[str] | None = None


@dataclass(frozen=True, eq=False)
class SolverResult:
    """The result of a solver."""

    status: str  # Optimal, Infeasible, Unbounded or another text of the solver's
    objective: float
    columns: NDArray[np.float64]  # (columns,) values; NaN where the solver returned none
    reduced_costs: NDArray[np.float64]  # (columns,) likewise
    duals: NDArray[np.float64]  # (rows,) growth of the objective with each row's lower bound
    seconds: float  # passing the rows and solving
    highs: highspy.Highs | None = None  # None if another solver was used


class ArrayHiGHS(pulp.HiGHS):  # type: ignore[misc]
    """PuLP's HiGHS with rows from arrays; the problem may use only the variables of ``system``."""

    def __init__(
        self, system: LinearSystem, time_limit_s: float | None = None, method: str = "choose"
    ) -> None:
        super().__init__(mip=False, msg=False, timeLimit=time_limit_s, solver=method)
        self.system = system

    def buildSolverModel(self, lp: pulp.LpProblem) -> None:
        """Pass the arrays to HiGHS, then the rows of the problem itself."""
        system, rows = self.system, len(self.system.lower)
        cost = np.zeros(system.num_columns)
        lower = np.full(system.num_columns, -highspy.kHighsInf)
        upper = np.full(system.num_columns, highspy.kHighsInf)
        for column, variable in system.variables.items():
            variable.index = column
            if variable.lowBound is not None:
                lower[column] = variable.lowBound
            if variable.upBound is not None:
                upper[column] = variable.upBound
        sense = 1
        if lp.sense == pulp.LpMaximize:
            sense = -1
        for variable, coefficient in lp.objective.items():
            cost[variable.index] = coefficient
        status = lp.solverModel.passModel(
            system.num_columns,
            rows,
            len(system.index),
            int(highspy.MatrixFormat.kRowwise),
            sense,
            0.0,
            cost,
            lower,
            upper,
            system.lower,
            np.full(rows, highspy.kHighsInf),
            system.start,
            system.index,
            system.value,
            np.zeros(system.num_columns, np.int32),  # none is integer; HiGHS reads them all
        )
        if status == highspy.HighsStatus.kError:
            raise SolverError("HiGHS does not take the linear program", status="Model error")
        if system.names is not None:
            for column, name in enumerate(system.names):
                lp.solverModel.passColName(column, name)
        for number, constraint in enumerate(lp.constraints()):
            constraint.index = rows + number
            least, most = constraint.getLb(), constraint.getUb()
            lp.solverModel.addRow(
                -highspy.kHighsInf if least is None else least,
                highspy.kHighsInf if most is None else most,
                len(constraint),
                [variable.index for variable in constraint],
                list(constraint.values()),
            )

    def findSolutionValues(self, lp: pulp.LpProblem) -> tuple[int, int]:
        """Set the values of PuLP's variables and constraints, and return PuLP's status codes."""
        solution = lp.solverModel.getSolution()
        values, costs = list(solution.col_value), list(solution.col_dual)
        activities, duals = list(solution.row_value), list(solution.row_dual)
        for column, variable in self.system.variables.items():
            variable.varValue, variable.dj = values[column], costs[column]
        for constraint in lp.constraints():
            slack = constraint.constant + activities[constraint.index]
            constraint.slack = -slack if constraint.sense == pulp.LpConstraintLE else slack
            constraint.pi = duals[constraint.index]
        return _PULP_STATUS.get(
            lp.solverModel.getModelStatus(),
            (pulp.LpStatusNotSolved, pulp.LpSolutionNoSolutionFound),
        )


_PULP_STATUS = {
    highspy.HighsModelStatus.kOptimal: (pulp.LpStatusOptimal, pulp.LpSolutionOptimal),
    highspy.HighsModelStatus.kInfeasible: (pulp.LpStatusInfeasible, pulp.LpSolutionInfeasible),
    highspy.HighsModelStatus.kUnbounded: (pulp.LpStatusUnbounded, pulp.LpSolutionUnbounded),
    # The problems here are feasible unless they are bounded, see `solve`.
    highspy.HighsModelStatus.kUnboundedOrInfeasible: (
        pulp.LpStatusUndefined,
        pulp.LpSolutionNoSolutionFound,
    ),
}


def solve(
    problem: pulp.LpProblem,
    system: LinearSystem,
    solver: str | pulp.LpSolver = "highs",  # one of SOLVERS; PuLP's get every row through PuLP
    *,
    time_limit_s: float | None = None,  # None: no limit
    interior: bool = False,  # HiGHS's interior-point method with crossover instead of simplex
) -> SolverResult:
    """Solve a problem together with the rows in arrays."""
    check_solver(solver, SOLVERS)
    began = time.perf_counter()
    if solver == "highs":
        answer = _solve_arrays(
            problem, system, time_limit_s, began, "ipm" if interior else "choose"
        )
        if interior and answer.status not in (OPTIMAL, _TIME_OVER):
            # Of problems without an optimum the simplex method says more surely which they are.
            answer = _solve_arrays(problem, system, time_limit_s, began, "simplex")
        return answer
    engine: Any = _cbc(time_limit_s) if solver == "cbc" else solver
    rows = add_rows(problem, system)
    try:
        problem.solve(engine)
    except pulp.PulpSolverError as error:
        raise SolverError(f"{engine.name} failed: {error}", status="Solver error") from error
    columns = np.full(system.num_columns, np.nan)
    reduced = np.full(system.num_columns, np.nan)
    for column, variable in system.variables.items():
        columns[column] = np.nan if variable.varValue is None else variable.varValue
        reduced[column] = np.nan if variable.dj is None else variable.dj
    return SolverResult(
        status=pulp.LpStatus[problem.status],
        objective=float(pulp.value(problem.objective) or 0.0),
        columns=columns,
        reduced_costs=reduced,
        duals=np.array([np.nan if row.pi is None else row.pi for row in rows]),
        seconds=time.perf_counter() - began,
    )


def check_solver(solver: str | pulp.LpSolver, names: Sequence[str]) -> None:
    """Refuse a name that is none of these."""
    if isinstance(solver, str) and solver not in names:
        raise ParameterError(
            f"solver must be {', '.join(names[:-1])} or {names[-1]}, or one of PuLP's; got "
            f"{solver!r}",
            key="solver",
        )


def _solve_arrays(
    problem: pulp.LpProblem,
    system: LinearSystem,
    time_limit_s: float | None,
    began: float,
    method: str,
) -> SolverResult:
    engine = ArrayHiGHS(system, time_limit_s, method)
    problem.solve(engine)
    highs = problem.solverModel
    solution = highs.getSolution()
    rows = len(system.lower)
    return SolverResult(
        status=_status_text(highs),
        objective=highs.getObjectiveValue(),
        columns=np.array(solution.col_value),
        reduced_costs=np.array(solution.col_dual),
        duals=np.array(solution.row_dual)[:rows],
        seconds=time.perf_counter() - began,
        highs=highs,
    )


def _status_text(highs: highspy.Highs) -> str:
    return str(highs.modelStatusToString(highs.getModelStatus()))


def add_rows(problem: pulp.LpProblem, system: LinearSystem) -> list[pulp.LpConstraint]:
    """Add the rows in arrays to a PuLP problem and return them; unknown columns become free."""
    # Not `get(column) or ...`: PuLP's variables are false while they have no value.
    known = system.variables
    variables = [
        known[column] if column in known else problem.add_variable(_name(system, column))
        for column in range(system.num_columns)
    ]
    start, index = system.start.tolist(), system.index.tolist()
    value, lower = system.value.tolist(), system.lower.tolist()
    rows = []
    for row, (first, last) in enumerate(pairwise(start)):
        terms = [(variables[index[i]], value[i]) for i in range(first, last)]
        expression = pulp.LpAffineExpression(terms)
        constraint = pulp.LpConstraint(expression, pulp.LpConstraintGE, f"r{row}", lower[row])
        problem.addConstraint(constraint)
        rows.append(constraint)
    return rows


def write(problem: pulp.LpProblem, system: LinearSystem, path: Path, suffix: str) -> None:
    """Write a problem with the rows in arrays to a file; ``suffix`` is ``.lp`` or ``.mps``."""
    engine = ArrayHiGHS(system)
    engine.createAndConfigureSolver(problem)
    engine.buildSolverModel(problem)
    # HiGHS goes by a file's ending, and crashes (1.15.1) where it cannot open the file.
    with atomic_write(path, suffix) as temporary:
        temporary.touch()
        if problem.solverModel.writeModel(str(temporary)) == highspy.HighsStatus.kError:
            raise SolverError(f"HiGHS could not write {path}", status="Write error")


def _name(system: LinearSystem, column: int) -> str:
    return f"y{column}" if system.names is None else system.names[column]


def _cbc(time_limit_s: float | None) -> pulp.LpSolver:
    path = which("cbc") or (pulp_cbc_path if Path(pulp_cbc_path).exists() else None)
    if path is None:
        raise SolverError(
            "CBC must be installed for solver='cbc': put cbc on the PATH, or leave solver out for "
            "HiGHS",
            status="Not installed",
        )
    return pulp.COIN_CMD(path=str(path), msg=False, mip=False, timeLimit=time_limit_s)


def check_optimal(answer: SolverResult) -> None:
    """Refuse an answer that is no optimum."""
    if answer.status != OPTIMAL:
        raise failure(answer)


def failure(answer: SolverResult) -> SolverError:
    """Return the error for an answer that is no optimum."""
    return SolverError(
        f"the solver must find the optimum; it reports {answer.status!r} after "
        f"{answer.seconds:.1f} s: raise time_limit_s if it ran out of time, or take another solver",
        status=answer.status,
    )
