"""Linear programs in arrays, and what solves them: HiGHS, any other solver of PuLP's, or paths.

HiGHS takes the arrays as they are, which is where the time goes otherwise; other solvers get a PuLP
constraint for each row.

The linear program that maximises l under t <= T needs no solver: from a latency that is too large,
l is lowered to where the longest path takes T, until no path takes longer. Whether the result is
the optimum is then checked against the linear program's rows, whichever way it was found: times
that keep every row show that l is possible, and multipliers of the rows, that no larger l is (weak
duality; Chvátal, Linear Programming, 1983, chapter 5).
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import highspy
import numpy as np
import pulp
from scipy import sparse

from kernels import lp as kernel
from workbench.arrays import FloatArray, IntArray
from workbench.atomic_write import atomic_write
from workbench.errors import ParameterError, WorkbenchError
from workbench.result import StoredResult
from workbench.tolerance.lp_rows import US_PER_S, Rows

if TYPE_CHECKING:
    import pandas as pd

SOLVERS = ("highs", "cbc")
"""Names of solvers; objects of PuLP's are taken as well."""

COST_TOLERANCE = 1e-6  # reduced costs count latencies: whole but for HiGHS's 1e-7

_ROWS_US = 1e-7
"""How short of its cost HiGHS lets a row be."""

_RELATIVE = 1e-12
"""Of run times: rounding of sums over the rows of a path."""

_CBC_PATHS = ("cbc", pulp.PULP_CBC_CMD.pulp_cbc_path)  # on the PATH, or PuLP's own

_OPTIMAL, _TIME_OVER = "Optimal", "Time limit reached"


class SolverError(WorkbenchError):
    """A linear program has no optimum, or its solver found none; ``status`` is its own text."""

    def __init__(self, message: str, *, status: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, eq=False)
class LinearSystem:
    """A linear program in arrays: ``lower <= matrix @ columns`` and ``least <= columns``.

    Column 0, the run time, is minimised, or another one is maximised. Times are µs, gaps µs/kB.

    Attributes:
        matrix: csr_array[rows, columns], float64.
        lower: float64[rows].
        least: float64[columns], -inf for those that are free.
        maximised: the column that is maximised; 0 if the run time is minimised.
        names: of the last columns, which are no times.
        longest: what the run time may be at most.
    """

    matrix: sparse.csr_array
    lower: FloatArray
    least: FloatArray
    names: tuple[str, ...]
    maximised: int = 0
    longest: float = np.inf


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
            critical latency this is one of the slopes between those on its two sides.
        tight: int64[ops], operations on a critical path from the first to the last: those whose
            rows have a multiplier. A send above S is listed before and after its receive if both
            its start and its end are on the path.
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
    tight: IntArray = field(repr=False)
    dual_objective_s: float = field(repr=False)
    status: str
    seconds: float
    solver: str

    def to_frame(self) -> pd.DataFrame:
        """Return one row a variable: ``variable`` and ``sensitivity``, its reduced cost."""
        import pandas as pd

        return pd.DataFrame(self.reduced_costs.items(), columns=["variable", "sensitivity"])


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

    latencies: FloatArray
    L: FloatArray
    lower: FloatArray
    lambda_L: FloatArray


@dataclass(frozen=True, eq=False)
class Optimum:
    """What a solver found."""

    objective: float
    reduced_costs: FloatArray  # (columns,); NaN where the solver returned none
    duals: FloatArray  # (rows,) growth of the objective with each row's lower bound; likewise
    seconds: float  # passing the rows and solving


def solve(
    system: LinearSystem,
    solver: str | pulp.LpSolver = "highs",  # one of SOLVERS; PuLP's get every row through PuLP
    *,
    time_limit_s: float | None = None,  # None: no limit
    interior: bool = False,  # HiGHS's interior-point method with crossover instead of simplex
) -> Optimum:
    """Return the optimum, or raise a SolverError where there is none."""
    check_solver(solver, SOLVERS)
    began = time.perf_counter()
    if solver == "highs":
        # Of problems without an optimum the simplex method says more surely which they are.
        methods = ("ipm", "simplex") if interior else ("choose",)
        highs = _solved(system, time_limit_s, methods)
        solution = highs.getSolution()
        objective = highs.getObjectiveValue()
        reduced_costs, duals = solution.col_dual, solution.row_dual
    else:
        times = range(1, len(system.least) - len(system.names))
        names = ["t", *(f"y{column}" for column in times), *system.names]
        problem, variables = to_pulp(system, names)
        engine: Any = _cbc(time_limit_s) if solver == "cbc" else solver
        try:
            problem.solve(engine)
        except pulp.PulpSolverError as error:
            raise SolverError(f"{engine.name} failed: {error}", status="Solver error") from error
        _check_optimal(pulp.LpStatus[problem.status], began)
        objective = pulp.value(problem.objective) or 0.0
        reduced_costs = [variable.dj for variable in variables]
        duals = [row.pi for row in problem.constraints()]
    return Optimum(
        objective=float(objective),
        reduced_costs=np.array(reduced_costs, float),
        duals=np.array(duals, float),
        seconds=time.perf_counter() - began,
    )


def basis_range(system: LinearSystem, column: int) -> tuple[float, float]:
    """Return the least bound of a column with which HiGHS's basis stays optimal, and its cost."""
    highs = _solved(system)
    cost = float(highs.getSolution().col_dual[column])
    if abs(cost) <= COST_TOLERANCE:
        # The column is not what holds the optimum: its bound may fall without end.
        return -np.inf, cost
    _, ranging = highs.getRanging()
    return min(float(ranging.col_bound_dn.value_[column]), float(system.least[column])), cost


def check_solver(solver: str | pulp.LpSolver, names: Sequence[str]) -> None:
    """Refuse a name that is none of these."""
    if isinstance(solver, str) and solver not in names:
        raise ParameterError(
            f"solver must be {', '.join(names[:-1])} or {names[-1]}, or one of PuLP's; got "
            f"{solver!r}",
            key="solver",
        )


def to_pulp(
    system: LinearSystem, names: Sequence[str]
) -> tuple[pulp.LpProblem, list[pulp.LpVariable]]:
    """Return a linear program as a problem of PuLP's, and the variables of its columns."""
    sense = pulp.LpMaximize if system.maximised else pulp.LpMinimize
    problem = pulp.LpProblem("run_time", sense)
    variables = [
        problem.add_variable(name, None if least == -np.inf else least)
        for name, least in zip(names, system.least.tolist(), strict=True)
    ]
    variables[0].upBound = None if system.longest == np.inf else system.longest
    problem.setObjective(variables[system.maximised])
    index, value = system.matrix.indices.tolist(), system.matrix.data.tolist()
    ends = zip(pairwise(system.matrix.indptr.tolist()), system.lower.tolist(), strict=True)
    for row, ((first, last), lower) in enumerate(ends):
        terms = [(variables[index[i]], value[i]) for i in range(first, last)]
        problem += pulp.LpAffineExpression(terms) >= lower, f"r{row}"
    return problem, variables


def write(system: LinearSystem, names: Sequence[str], path: str | Path, suffix: str) -> Path:
    """Write a linear program to a file in the format of a suffix, ``.lp`` or ``.mps``."""
    highs = _passed(system)
    for column, name in enumerate(names):
        highs.passColName(column, name)
    # HiGHS goes by a file's ending, and crashes (1.15.1) where it cannot open the file.
    with atomic_write(path, suffix) as temporary:
        temporary.touch()
        if highs.writeModel(str(temporary)) == highspy.HighsStatus.kError:
            raise SolverError(f"HiGHS could not write {path}", status="Write error")
    return Path(path)


def _solved(
    system: LinearSystem,
    time_limit_s: float | None = None,
    methods: Sequence[str] = ("choose",),  # the next one if one finds no optimum
) -> highspy.Highs:
    """Return HiGHS with the optimum, or raise a SolverError."""
    began = time.perf_counter()
    for method in methods:
        highs = _passed(system)
        highs.setOptionValue("solver", method)
        if time_limit_s is not None:
            highs.setOptionValue("time_limit", float(time_limit_s))
        highs.run()
        status = highs.modelStatusToString(highs.getModelStatus())
        if status in (_OPTIMAL, _TIME_OVER):
            break
    _check_optimal(status, began)
    return highs


def _passed(system: LinearSystem) -> highspy.Highs:
    """Return HiGHS with a linear program's arrays."""
    rows, columns = system.matrix.shape
    cost, most = np.zeros(columns), np.full(columns, np.inf)
    cost[system.maximised] = 1.0
    most[0] = system.longest
    highs = highspy.Highs()  # type: ignore[no-untyped-call]
    highs.setOptionValue("output_flag", False)
    status = highs.passModel(
        columns,
        rows,
        system.matrix.nnz,
        int(highspy.MatrixFormat.kRowwise),
        -1 if system.maximised else 1,
        0.0,
        cost,
        system.least,
        most,
        system.lower,
        np.full(rows, np.inf),
        system.matrix.indptr,
        system.matrix.indices,
        system.matrix.data,
        np.zeros(columns, np.int32),  # none is integer; HiGHS reads them all
    )
    if status == highspy.HighsStatus.kError:
        raise SolverError("HiGHS does not take the linear program", status="Model error")
    return highs


def _cbc(time_limit_s: float | None) -> pulp.LpSolver:
    for path in _CBC_PATHS:
        engine = pulp.COIN_CMD(path=path, msg=False, mip=False, timeLimit=time_limit_s)
        if engine.available():
            return engine
    raise SolverError(
        "CBC must be installed for solver='cbc': put cbc on the PATH, or leave solver out for "
        "HiGHS",
        status="Not installed",
    )


def _check_optimal(status: str, began: float) -> None:
    if status != _OPTIMAL:
        raise SolverError(
            f"the solver must find the optimum; it reports {status!r} after "
            f"{time.perf_counter() - began:.1f} s: raise time_limit_s if it ran out of time, or "
            "take another solver",
            status=status,
        )


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
    ops: IntArray
    passes: int

    @property
    def gap(self) -> float:
        """What separates the bounds of the largest latency, s: 0, except for rounding."""
        return self.upper - self.L if np.isfinite(self.L) else 0.0


def certified_latency(
    rows: Rows, system: LinearSystem, column: int, T_s: float
) -> LatencyCertificate:
    """Return the largest latency in a column, where the others have their values, and its proof."""
    over, T_us = _RowsOverLatency(rows, system, column), T_s * US_PER_S
    allowed = _ROWS_US + _RELATIVE * abs(T_us)
    least = over.longest(0.0)[0]
    if least > T_us + allowed:
        raise below_least(least / US_PER_S, T_s)
    latency, charged, duals = over.largest(T_us)
    bounded = np.isfinite(latency)
    # No row has a latency that is unbounded, so the same times keep them all.
    short = over.shortfall_us(latency if bounded else 0.0, T_us)
    upper = over.upper_us(duals, T_us) if bounded else np.inf
    if short > allowed or (bounded and upper - latency > allowed):
        raise SolverError(
            f"times and multipliers must prove the largest latency to {allowed:.2g} µs; rows are "
            f"short of {short:.2g} µs and bounds {upper - latency:.2g} µs apart: take "
            "solver='highs'",
            status="Not proved",
        )
    return LatencyCertificate(
        L=latency / US_PER_S,
        T=T_s,
        upper=upper / US_PER_S,
        shortfall=short / US_PER_S,
        latencies=charged,
        ops=rows.critical_path(duals),
        passes=over.passes,
    )


def below_least(least_s: float, T_s: float) -> ParameterError:
    """Return the error for a run time that no latency allows."""
    return ParameterError(
        f"the run time allowed must be at least {least_s:.9g} s, which the program takes without "
        f"that latency; got {T_s:.9g} s",
        key="T",
    )


class _RowsOverLatency:
    """The rows at values of all variables but one latency; times are µs."""

    def __init__(self, rows: Rows, system: LinearSystem, column: int) -> None:
        self.rows, self.system, self.column = rows, system, column
        self.known = np.where(np.isfinite(system.least), system.least, 0.0)
        self.known[column] = 0.0
        self.constant = system.lower - system.matrix @ self.known
        self.multiple = -system.matrix[:, [column]].toarray().ravel()
        self.order = np.empty(len(rows.head), np.int32)
        kernel.in_order(rows.head, rows.tail, rows.num_columns, self.order)
        self.base, self.latencies = np.empty(rows.num_columns), np.empty(rows.num_columns)
        self.before = np.empty(rows.num_columns, np.int32)
        self.passes = 0

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

    def largest(self, T_us: float) -> tuple[float, float, FloatArray]:
        """Return the largest latency, how often its path is charged it, and the multipliers."""
        charged = self.multiple[self.multiple > 0]
        if not len(charged):
            return np.inf, 0.0, np.zeros(len(self.multiple))
        # One latency alone takes longer than T.
        cost, times = self.longest(max(T_us, 0.0) / float(charged.min()) + 1.0)
        while True:
            duals = np.zeros(len(self.multiple))
            duals[self.path()] = 1.0 / times
            latency, before = max((T_us - cost) / times, 0.0), times
            cost, times = self.longest(latency)
            # Latencies on the longest path get fewer as the latency falls. Where rounding keeps it
            # above T they stay, or it has none.
            if cost + times * latency <= T_us or not 0 < times < before:
                return latency, before, duals

    def path(self) -> list[int]:
        """Return the rows of the longest path, last to first."""
        found, at = [], 0
        while at >= 0:
            found.append(int(self.before[at]))
            at = self.rows.tail[found[-1]]
        return found

    def shortfall_us(self, latency_us: float, T_us: float) -> float:
        """Return the most that the last pass's times are short of a row, or beyond T."""
        x = self.known.copy()
        x[: self.rows.num_columns] = self.base + self.latencies * latency_us
        x[self.column] = latency_us
        short = self.system.lower - self.system.matrix @ x
        return max(float(short.max(initial=0.0)), float(x[0] - T_us))

    def upper_us(self, duals: FloatArray, T_us: float) -> float:
        """Return the bound on the latency by multipliers of the rows; infinite if they are none.

        Rows summed with the multipliers are reduced · x >= duals · lower, in which times of
        vertices cancel, the latency stands once, and all else is at most at its bound.
        """
        reduced, first = duals @ self.system.matrix, self.rows.num_columns
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
        known = float(others @ self.known[first:] - duals @ self.system.lower)
        return float(reduced[0]) * T_us + known
