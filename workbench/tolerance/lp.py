"""How much latency a program tolerates, by linear programming: LLAMP's analysis.

The run time of a program without contention is the optimum of a linear program (Shen et al., LLAMP,
section II.C, Algorithm 1). The latency l, the gap per byte g and the overhead o are variables in
it, held at L, G and o by their lower bounds: their reduced costs are the sensitivities of the run
time, rows that the optimum rests on are the critical path, and the largest l for a given run time
is its tolerance.

``LatencyLP(graph, model).solve()`` takes times to the picosecond that
``simulate.replay(..., semantics="llamp")`` takes, in µs: doubles hold 16 digits, and HiGHS lets
rows be short of 1e-7 µs, so run times agree to about 1e-9 of them, or 0.1 ps.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, Self

import numpy as np
import pulp
from numpy.typing import ArrayLike, NDArray

from workbench.checks import number
from workbench.errors import ParameterError
from workbench.models import LogGPS
from workbench.programs.find_program import ProgramLike, graph_of
from workbench.result import Drawing
from workbench.simulate.llamp import forward_pass, match_messages
from workbench.simulate.picoseconds import PicosecondCosts
from workbench.tolerance.lp_arrays import Matrix, Rows
from workbench.tolerance.lp_certificate import (
    PATHS,
    LatencyCertificate,
    below_least,
    certified_latency,
)
from workbench.tolerance.lp_ranging import Ranging, critical_latencies
from workbench.tolerance.lp_result import US_PER_S, LPSolution, solution_of
from workbench.tolerance.lp_solvers import (
    INFEASIBLE,
    OPTIMAL,
    SOLVERS,
    UNBOUNDED,
    LinearSystem,
    add_rows,
    check_optimal,
    check_solver,
    failure,
    solve,
    write,
)
from workbench.tolerance.lp_text import PathLine, paths_of, text_of
from workbench.tolerance.lp_variables import MessageVariables, PerVariable, VariableValues, listed


class LatencyLP:
    """A program's run time as a linear program in latency l, gap per byte g and overhead o.

    Building takes the matching of messages from the program's order, or where it has wildcards
    from a run with LogGOPSim's semantics.

    Attributes:
        graph: the program.
        model: L, G and o are the variables' values unless others are given; S decides which
            messages wait for their receiver; g and O do not appear.
        message_variables: what each message is charged.
        rows: what waits for what.
        matrix: the rows' coefficients.

    Args:
        graph: the program.
        model: the network's parameters.
        match: int32[n], the other end of each message, if it is known from a run before.
        message_variables: latencies and gaps of messages; one l and one g if left out.

    Raises:
        ProgramError: operations wait for one another, or a message has no other end.
        ParameterError: a time would go beyond what 64 bits of picoseconds hold.
    """

    plot = Drawing("plot_linear_program", package="workbench.tolerance")

    def __init__(
        self,
        graph: ProgramLike,
        model: LogGPS,
        *,
        match: NDArray[np.int32] | None = None,
        message_variables: MessageVariables | None = None,
    ) -> None:
        self.graph = graph_of(graph)
        self.model = model
        joined = match_messages(self.graph, model) if match is None else match
        # Refuses what can never end, and times out of range: the rows are of finite graphs.
        forward_pass(self.graph, model, match=joined)
        self.message_variables = message_variables or MessageVariables.uniform(self.graph, model)
        self.rows = Rows.of(self.graph, joined, PicosecondCosts.of(model).S)
        self.matrix = Matrix.of(self.rows, self.message_variables)

    @classmethod
    def by_class(
        cls,
        graph: ProgramLike,
        model: LogGPS,
        latency_s: Mapping[str, float],
        multiples: ArrayLike,
        constant_s: ArrayLike = 0.0,
        *,
        match: NDArray[np.int32] | None = None,
    ) -> Self:
        """Return a linear program with a latency ``l_NAME`` for each class of link.

        Shen et al., LLAMP, appendix H: message ``m`` takes ``constant_s[m]`` and
        ``multiples[m, c]`` times the latency of class ``c``.

        Args:
            graph: the program.
            model: the network's parameters; L is not used.
            latency_s: latency of each class, s.
            multiples: float[messages, classes], in the order of the program's sends.
            constant_s: float[messages] or one number, s.
            match: int32[n], the other end of each message, if it is known.

        Raises:
            ParameterError: shapes do not fit, or a number is negative or not finite.
            ProgramError: as for the linear program itself.
        """
        plain = graph_of(graph)
        variables = MessageVariables.of_classes(plain, model, latency_s, multiples, constant_s)
        return cls(plain, model, match=match, message_variables=variables)

    @classmethod
    def by_pair(
        cls,
        graph: ProgramLike,
        model: LogGPS,
        latency_s: ArrayLike | None = None,
        gap_s: ArrayLike | None = None,
        *,
        match: NDArray[np.int32] | None = None,
    ) -> Self:
        """Return a linear program with ``l_3_5`` and ``g_3_5`` for what rank 3 sends to rank 5.

        Shen et al., LLAMP, appendix I. Pairs without messages have no variables.

        Args:
            graph: the program.
            model: the network's parameters.
            latency_s: float[ranks, ranks], from row to column, s; the model's L if left out.
            gap_s: float[ranks, ranks], s/B; the model's G if left out.
            match: int32[n], the other end of each message, if it is known.

        Raises:
            ParameterError: shapes do not fit, or a number is negative or not finite.
            ProgramError: as for the linear program itself.
        """
        plain = graph_of(graph)
        variables = MessageVariables.of_pairs(plain, model, latency_s, gap_s)
        return cls(plain, model, match=match, message_variables=variables)

    @property
    def num_rows(self) -> int:
        """Number of rows."""
        return len(self.rows.head)

    @property
    def num_columns(self) -> int:
        """Number of columns: the run time, times of operations, l, g and o."""
        return self.matrix.num_columns

    def solve(
        self,
        *,
        L: PerVariable | None = None,
        G: PerVariable | None = None,
        o: float | None = None,
        solver: str | pulp.LpSolver = "highs",
        time_limit_s: float | None = None,
    ) -> LPSolution:
        """Return the run time and its sensitivities for values of the network's parameters.

        Args:
            L: latency, s: one for all, by name, or one for each; the model's if left out.
            G: gap per byte, s/B, in the same ways.
            o: overhead, s.
            solver: ``highs``, ``cbc``, or a solver of PuLP's; the latter two get every row through
                PuLP and are slow. CBC writes its answer as text of some 9 digits.
            time_limit_s: when the solver gives up, s; None is never.

        Raises:
            ParameterError: a value is not accepted, or has a name that no variable has.
            SolverError: the solver failed or ran out of time.
        """
        values = self._values(L, G, o)
        problem, system = self.problem(values)
        answer = solve(problem, system, solver, time_limit_s=time_limit_s)
        check_optimal(answer)
        return solution_of(self, values, system, answer, solver)

    def largest_latency(
        self,
        T: float,
        *,
        of: str | None = None,
        L: PerVariable | None = None,
        G: PerVariable | None = None,
        o: float | None = None,
        solver: str | pulp.LpSolver = PATHS,
        time_limit_s: float | None = None,
    ) -> float:
        """Return the largest latency with which a program takes no longer than given, s.

        Shen et al., LLAMP, section II.D: l is maximised under t <= T. It is infinite where no
        latency makes the program slower.

        Args:
            T: run time allowed, s.
            of: name of the latency, where there are several; the others keep their values.
            L: values of the others, s, as for ``solve``.
            G: gap per byte, s/B, as for ``solve``.
            o: overhead, s.
            solver: ``paths`` goes from path to path and proves the optimum, as ``certify`` does;
                the others solve the linear program, as for ``solve``.
            time_limit_s: when such a solver gives up, s.

        Raises:
            ParameterError: the program takes longer even without that latency, or there is no
                such latency.
            SolverError: the solver failed or ran out of time.
        """
        if isinstance(solver, str) and solver == PATHS:
            return self.certify(T, of=of, L=L, G=G, o=o).L
        check_solver(solver, (PATHS, *SOLVERS))
        number = self._latency(of)
        values = self._values(L, G, o)
        values.latency_ps[number] = 0
        problem, system = self.problem(values)
        variables = system.variables
        problem.sense = pulp.LpMaximize
        problem.setObjective(variables[self.matrix.first_latency + number])
        problem += variables[0] <= T * US_PER_S
        # With l in the basis presolve no longer solves it; the interior-point method took 3.5 s
        # where the simplex method took more than 45 s (conjugate gradients, 105,024 rows), and the
        # paths 0.01 s (tests/benchmarks/test_lp.py).
        answer = solve(problem, system, solver, time_limit_s=time_limit_s, interior=True)
        if answer.status == OPTIMAL:
            return answer.objective / US_PER_S
        if answer.status in (INFEASIBLE, UNBOUNDED) or "nbounded" in answer.status:
            # Solvers may say that it is one or the other: what takes no time settles it.
            problem, system = self.problem(values)
            least = solve(problem, system, solver, time_limit_s=time_limit_s)
            check_optimal(least)
            if least.objective <= T * US_PER_S:
                return float("inf")
            raise below_least(least.objective / US_PER_S, T)
        raise failure(answer)

    def certify(
        self,
        T: float,
        *,
        of: str | None = None,
        L: PerVariable | None = None,
        G: PerVariable | None = None,
        o: float | None = None,
    ) -> LatencyCertificate:
        """Return the largest latency for a run time, and how exactly the rows prove it.

        Longest paths find it, and duality proves that the linear program's optimum is no other.

        Args:
            T: run time allowed, s.
            of: name of the latency, where there are several; the others keep their values.
            L: values of the others, s, as for ``solve``.
            G: gap per byte, s/B, as for ``solve``.
            o: overhead, s.

        Raises:
            ParameterError: the program takes longer even without that latency, or there is no
                such latency.
            SolverError: rounding leaves a gap of more than HiGHS's own tolerance.
        """
        number = self._latency(of)
        values = self._values(L, G, o)
        values.latency_ps[number] = 0
        return certified_latency(self, values, number, T)

    def tolerance(
        self,
        percent: Sequence[float],
        base_L: float | None = None,
        *,
        solver: str | pulp.LpSolver = PATHS,
    ) -> dict[float, float]:
        """Return the largest latency, s, for which a program is slower by at most some percent.

        These are latencies, not increases of it: for a program that never gets slower they are
        infinite.

        Args:
            percent: how much slower it may get.
            base_L: latency that is slower than, s; the model's if left out.
            solver: as for ``largest_latency``; with ``paths`` HiGHS finds the time at the base.

        Raises:
            ParameterError: a percentage is negative or not finite, or there are several latencies.
            SolverError: the solver failed.
        """
        for share in percent:
            number(share, "percent", 0)
        self._latency(None)
        plain = isinstance(solver, str) and solver == PATHS
        base = self.solve(L=base_L, solver="highs" if plain else solver)
        return {
            share: self.largest_latency(base.T * (1 + share / 100), solver=solver)
            for share in percent
        }

    def critical_latencies(
        self, low_s: float, high_s: float, *, step_s: float, epsilon_s: float = 1e-12
    ) -> Ranging:
        """Return latencies at which the critical path changes, as Algorithm 2 finds them.

        Shen et al., LLAMP, appendix D: from the highest latency down, the linear program is solved,
        and the next latency is just below the range in which its basis stays optimal, or ``step_s``
        below the last if that is lower. When the slope differs from the last one, the lower end of
        that range is kept.

        It is here for comparison; ``Sweep.critical_latencies`` is exact and has no step. Bases
        change far more often than slopes do, for reasons that do not show in T. What is kept is the
        end of the first basis seen with a slope, which is too high wherever a second basis has the
        same slope, and the last of them may be none at all. A step below the spacing of bases costs
        a solve for each of them; a larger one may pass a critical latency, or a slope, unseen.

        Args:
            low_s: lower end of the interval, s.
            high_s: upper end, s.
            step_s: least that latency is lowered by after each solve, s; 0 stops at every basis.
            epsilon_s: how far below the end of a range the next latency lies, s; HiGHS lets rows
                be short of 1e-7 µs, so at least 1e-13.

        Raises:
            ParameterError: the interval, the step or epsilon is not accepted, or there are several
                latencies.
            SolverError: the solver failed.
        """
        self._latency(None)
        return critical_latencies(self, low_s, high_s, step_s, epsilon_s)

    def pair_matrices(
        self, solution: LPSolution
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return sensitivities to l and g (bytes) of each pair, float64[ranks, ranks] each.

        Args:
            solution: of a linear program made ``by_pair``.

        Raises:
            ParameterError: this one has no variables for pairs.
        """
        charged, ranks = self.message_variables, self.graph.num_ranks
        if charged.pairs is None:
            raise ParameterError(
                "there must be variables for pairs of ranks: make this with LatencyLP.by_pair",
                key="solution",
            )
        result = np.zeros((2, ranks, ranks))
        for matrix, names in zip(result, (charged.latency_names, charged.gap_names), strict=True):
            matrix[charged.pairs[0], charged.pairs[1]] = [
                solution.reduced_costs[name] for name in names
            ]
        return result[0], result[1]

    def to_pulp(self) -> pulp.LpProblem:
        """Return the linear program as a problem of PuLP's with all its rows, to change or solve.

        Times are µs, g ns/B. It takes about 10 µs a row.
        """
        problem, system = self.problem(names=True)
        add_rows(problem, system)
        return problem

    def to_text(
        self,
        T: float | None = None,
        *,
        variables: Sequence[str] | None = None,
        most_rows: int = 60,
    ) -> str:
        """Return the linear program as Shen et al., LLAMP, print it in equation 6 and figure 15.

        A time that several constraints bound is a y, numbered so that each is bounded before it is
        used; t is the run time. ``to_lp`` writes all of a large one to a file.

        Args:
            T: run time allowed, s: the program of figure 6, which maximises the latency under it;
                None for that of least run time.
            variables: names that stay letters, of the latencies, the gaps and ``o``; the others
                are replaced by their values. None keeps the latencies, as the paper does.
            most_rows: how many constraints are printed.

        Raises:
            ParameterError: there is no variable of a name, or no single latency to maximise.
        """
        return text_of(self, T, variables, most_rows)

    def paths(self) -> list[PathLine]:
        """Return every path through a small program: T is the greatest of their lines.

        Shen et al., LLAMP, equations 2 and 3. One number of latencies may have several paths.

        Raises:
            ParameterError: there are more than 200, or several latencies.
        """
        return paths_of(self)

    def to_lp(self, path: str | Path) -> Path:
        """Write the linear program in the LP format; times are µs, g ns/B. Return the path.

        Args:
            path: file to write.

        Raises:
            SolverError: HiGHS could not write it.
            OSError: the file cannot be written there.
        """
        return self._write(path, ".lp")

    def to_mps(self, path: str | Path) -> Path:
        """Write the linear program in the MPS format; times are µs, g ns/B. Return the path.

        Args:
            path: file to write.

        Raises:
            SolverError: HiGHS could not write it.
            OSError: the file cannot be written there.
        """
        return self._write(path, ".mps")

    def __repr__(self) -> str:
        return (
            f"LatencyLP({self.graph.source}: {self.graph.num_ops} operations, {self.num_rows} "
            f"rows, {self.num_columns} columns, {self.model})"
        )

    def _write(self, path: str | Path, suffix: Literal[".lp", ".mps"]) -> Path:
        problem, system = self.problem(names=True)
        write(problem, system, Path(path), suffix)
        return Path(path)

    def _values(
        self, L: PerVariable | None = None, G: PerVariable | None = None, o: float | None = None
    ) -> VariableValues:
        return VariableValues.of(self.message_variables, self.model, L, G, o)

    def _latency(self, name: str | None) -> int:
        names = self.message_variables.latency_names
        if name is None and len(names) == 1:
            return 0
        if name not in names:
            raise ParameterError(
                f"one of the latencies must be named: {listed(names)}; got {name!r}", key="of"
            )
        return names.index(name)

    def problem(
        self, values: VariableValues | None = None, *, names: bool = False
    ) -> tuple[pulp.LpProblem, LinearSystem]:
        """Return PuLP's problem of least run time, and the rows in arrays that belong to it.

        Args:
            values: of l, g and o; the model's if left out.
            names: also name the columns.
        """
        values = self._values() if values is None else values
        matrix, charged = self.matrix, self.message_variables
        problem = pulp.LpProblem("run_time", pulp.LpMinimize)
        named = (*charged.latency_names, *charged.gap_names, "o")
        bounds = values.bounds()
        variables = {0: problem.add_variable("t", lowBound=0)}
        for column, (name, bound) in enumerate(
            zip(named, bounds.tolist(), strict=True), start=matrix.first_latency
        ):
            variables[column] = problem.add_variable(name, lowBound=bound)
        problem.setObjective(variables[0])
        system = LinearSystem(
            start=matrix.start,
            index=matrix.index,
            value=matrix.value,
            lower=self.rows.lower_us(charged, values),
            num_columns=matrix.num_columns,
            variables=variables,
            names=[*self.rows.names(), *map(_in_files, named)] if names else None,
        )
        return problem, system


def _in_files(name: str) -> str:
    """Return a name that the LP format allows."""
    return re.sub(r"[^A-Za-z0-9_.]", "_", name)
