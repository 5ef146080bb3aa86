"""Solvers behind PuLP: HiGHS fed from arrays, and any other of PuLP's row by row.

PuLP holds the variables one would ask about, their bounds, the objective and what is added to the
linear program; the program's own rows stay in arrays. HiGHS takes those as they are, which is where
the time goes otherwise; other solvers get a PuLP constraint for each row.
"""

from __future__ import annotations

import time
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

from workbench.errors import ParameterError, WorkbenchError
from workbench.replacing import replacing

OPTIMAL, INFEASIBLE, UNBOUNDED = "Optimal", "Infeasible", "Unbounded"
_TIME_OVER = "Time limit reached"

SOLVERS = ("highs", "cbc")
"""Names of solvers; objects of PuLP's are taken as well."""


class SolverError(WorkbenchError):
    """A linear program has no optimum, or its solver did not find it.

    Attributes:
        status: what the solver says, in its words.
    """

    def __init__(self, message: str, *, status: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, eq=False)
class System:
    """Rows ``lower <= matrix @ columns``, and the columns that PuLP knows.

    Attributes:
        start: int32[rows + 1], where each row begins in the next two.
        index: int32[nonzeros], columns.
        value: float64[nonzeros].
        lower: float64[rows].
        num_columns: how many columns there are; those PuLP does not know are free.
        variables: PuLP's variables by column.
        names: of all columns, or None; they are wanted in files only.
    """

    start: NDArray[np.int32]
    index: NDArray[np.int32]
    value: NDArray[np.float64]
    lower: NDArray[np.float64]
    num_columns: int
    variables: dict[int, pulp.LpVariable]
    names: list[str] | None = None


@dataclass(frozen=True, eq=False)
class Answer:
    """What a solver found.

    Attributes:
        status: ``Optimal``, ``Infeasible``, ``Unbounded``, or another word of the solver's.
        objective: at the optimum.
        columns: float64[columns], values of the known variables by column; NaN for others where
            the solver did not say.
        reduced_costs: float64[columns], the same.
        duals: float64[rows], what the objective grows by with each row's lower bound.
        seconds: for handing over and solving.
        highs: the solver, if it was HiGHS.
    """

    status: str
    objective: float
    columns: NDArray[np.float64]
    reduced_costs: NDArray[np.float64]
    duals: NDArray[np.float64]
    seconds: float
    highs: highspy.Highs | None = None


class ArrayHiGHS(pulp.HiGHS):  # type: ignore[misc]
    """PuLP's HiGHS with rows from arrays beside those of the problem it is given.

    Args:
        system: the rows in arrays; the problem may use its variables only.
        options: HiGHS's, by name.
    """

    def __init__(self, system: System, **options: Any) -> None:
        super().__init__(mip=False, msg=False, **options)
        self.system = system

    def buildSolverModel(self, lp: pulp.LpProblem) -> None:
        """Hand the arrays to HiGHS, then the rows of the problem itself.

        Args:
            lp: the problem.

        Raises:
            SolverError: HiGHS does not take them.
        """
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
        """Give PuLP's variables and constraints their values, and return PuLP's status words.

        Args:
            lp: the problem that was solved.
        """
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
    system: System,
    solver: str | pulp.LpSolver = "highs",
    *,
    time_limit_s: float | None = None,
    interior: bool = False,
) -> Answer:
    """Solve a problem together with the rows in arrays.

    Args:
        problem: its objective, and rows besides those in arrays.
        system: rows in arrays.
        solver: one of ``SOLVERS``, or a solver of PuLP's, which gets all rows through PuLP.
        time_limit_s: when to give up, s; None is never.
        interior: have HiGHS use its interior-point method with crossover, not the simplex method.

    Raises:
        ParameterError: there is no such solver.
        SolverError: the solver failed, or it is not installed.
    """
    if isinstance(solver, str) and solver not in SOLVERS:
        raise ParameterError(
            f"solver must be {' or '.join(SOLVERS)}, or one of PuLP's; got {solver!r}", key="solver"
        )
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
    return Answer(
        status=pulp.LpStatus[problem.status],
        objective=float(pulp.value(problem.objective) or 0.0),
        columns=columns,
        reduced_costs=reduced,
        duals=np.array([np.nan if row.pi is None else row.pi for row in rows]),
        seconds=time.perf_counter() - began,
    )


def _solve_arrays(
    problem: pulp.LpProblem,
    system: System,
    time_limit_s: float | None,
    began: float,
    method: str,
) -> Answer:
    engine = ArrayHiGHS(system, timeLimit=time_limit_s, solver=method)
    problem.solve(engine)
    highs = problem.solverModel
    solution = highs.getSolution()
    rows = len(system.lower)
    return Answer(
        status=_words(highs),
        objective=highs.getObjectiveValue(),
        columns=np.array(solution.col_value),
        reduced_costs=np.array(solution.col_dual),
        duals=np.array(solution.row_dual)[:rows],
        seconds=time.perf_counter() - began,
        highs=highs,
    )


def _words(highs: highspy.Highs) -> str:
    return str(highs.modelStatusToString(highs.getModelStatus()))


def add_rows(problem: pulp.LpProblem, system: System) -> list[pulp.LpConstraint]:
    """Add the rows in arrays to a problem of PuLP's, one constraint each, and return them.

    Args:
        problem: what to add to.
        system: the rows; columns that PuLP does not know become free variables.
    """
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


def write(problem: pulp.LpProblem, system: System, path: Path, suffix: str) -> None:
    """Write a problem together with the rows in arrays to a file that solvers read.

    Args:
        problem: its objective, and rows besides those in arrays.
        system: rows in arrays.
        path: the file, whatever its name.
        suffix: ``.lp`` or ``.mps``, the format.

    Raises:
        SolverError: HiGHS could not write the file.
        OSError: the file cannot be written there.
    """
    engine = ArrayHiGHS(system)
    engine.createAndConfigureSolver(problem)
    engine.buildSolverModel(problem)
    # HiGHS goes by a file's ending, and crashes (1.15.1) where it cannot open the file.
    with replacing(path, suffix) as beside:
        beside.touch()
        if problem.solverModel.writeModel(str(beside)) == highspy.HighsStatus.kError:
            raise SolverError(f"HiGHS could not write {path}", status="Write error")


def _name(system: System, column: int) -> str:
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


def check_optimal(answer: Answer) -> None:
    """Refuse an answer that is no optimum.

    Args:
        answer: what a solver found.

    Raises:
        SolverError: it is none; with the solver's word for it.
    """
    if answer.status != OPTIMAL:
        raise failure(answer)


def failure(answer: Answer) -> SolverError:
    """Return the error for an answer that is no optimum.

    Args:
        answer: what a solver found.
    """
    return SolverError(
        f"the solver must find the optimum; it says {answer.status!r} after "
        f"{answer.seconds:.1f} s: raise time_limit_s if that was it, or take another solver",
        status=answer.status,
    )
