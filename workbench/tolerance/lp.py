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
from dataclasses import replace
from pathlib import Path
from typing import Self

import numpy as np
import pulp
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from workbench.arrays import FloatArray
from workbench.checks import number
from workbench.errors import ParameterError
from workbench.models import LogGPS
from workbench.programs.find_program import ProgramLike, graph_of
from workbench.programs.graph import SEND
from workbench.result import Drawing
from workbench.simulate.llamp import forward_pass, match_messages
from workbench.simulate.picoseconds import PicosecondCosts
from workbench.tolerance.lp_rows import (
    BYTES_PER_KB,
    US_PER_S,
    MessageVariables,
    PerVariable,
    Rows,
    listed,
    not_negative,
    shaped,
)
from workbench.tolerance.lp_solvers import (
    COST_TOLERANCE,
    SOLVERS,
    LatencyCertificate,
    LinearSystem,
    LPSolution,
    Ranging,
    SolverError,
    basis_range,
    below_least,
    certified_latency,
    check_solver,
    solve,
    to_pulp,
    write,
)
from workbench.tolerance.lp_text import PathLine, paths_of, text_of

PATHS = "paths"
"""In place of a solver: from path to path, and a proof."""

LEAST_EPSILON_S = 1e-13
"""HiGHS lets rows be short of 1e-7 µs, which is this."""


class LatencyLP:
    """A program's run time as a linear program in latency l, gap per byte g and overhead o.

    Building takes the matching of messages from the program's order, or where it has wildcards
    from a run with LogGOPSim's semantics. All arguments but ``match`` are attributes as well.

    Attributes:
        rows: what waits for what.
        matrix: csr_array[rows, columns], the rows' coefficients.

    Args:
        graph: the program.
        model: L, G and o are the variables' values unless others are given; S decides which
            messages wait for their receiver; g and O do not appear.
        match: int32[n], the other end of each message, if it is known from a run before.
        message_variables: what each message is charged; one l and one g if left out.

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
        if message_variables is None:
            messages = int((self.graph.kind == SEND).sum())
            message_variables = MessageVariables(
                latency_s={"l": model.L},
                multiples=sparse.csr_array(np.ones((messages, 1))),
                constant_s=np.zeros(messages),
                gap_s={"g": model.G},
                gap=np.zeros(messages, np.int64),
            )
        self.message_variables = message_variables
        self.rows = Rows.of(self.graph, joined, PicosecondCosts.of(model).S)
        self.matrix = self.rows.matrix(message_variables)

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
        messages, classes = int((plain.kind == SEND).sum()), len(latency_s)
        words = f"{messages} messages by {classes} classes"
        crossed = shaped("multiples", multiples, (messages, classes), words)
        constant = shaped("constant_s", constant_s, (messages,), f"one number or {messages}")
        not_negative("latency_s", np.array(list(latency_s.values()), float))
        variables = MessageVariables(
            latency_s={f"l_{name}": value for name, value in latency_s.items()},
            multiples=sparse.csr_array(not_negative("multiples", crossed)),
            constant_s=not_negative("constant_s", constant),
            gap_s={"g": model.G},
            gap=np.zeros(messages, np.int64),
        )
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

        This is HLogGP of Bosque et al., as in Shen et al., LLAMP, appendix I. Pairs without
        messages have no variables.

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
        sends = np.flatnonzero(plain.kind == SEND)
        messages, ranks = len(sends), plain.num_ranks
        ends = plain.rank_of(sends).astype(np.int64) * ranks + plain.peer[sends]
        pairs, pair = np.unique(ends, return_inverse=True)
        source, target = np.divmod(pairs, ranks)

        def by_name(letter: str, name: str, given: ArrayLike) -> dict[str, float]:
            matrix = shaped(name, given, (ranks, ranks), f"{ranks} by {ranks} ranks")
            values = not_negative(name, matrix[source, target]).tolist()
            named = zip(source.tolist(), target.tolist(), values, strict=True)
            return {f"{letter}_{i}_{j}": value for i, j, value in named}

        once = (np.ones(messages), pair, np.arange(messages + 1))
        variables = MessageVariables(
            latency_s=by_name("l", "latency_s", model.L if latency_s is None else latency_s),
            multiples=sparse.csr_array(once, shape=(messages, len(pairs))),
            constant_s=np.zeros(messages),
            gap_s=by_name("g", "gap_s", model.G if gap_s is None else gap_s),
            gap=pair,
            pairs=(source, target),
        )
        return cls(plain, model, match=match, message_variables=variables)

    @property
    def num_rows(self) -> int:
        """Number of rows."""
        return len(self.rows.head)

    @property
    def num_columns(self) -> int:
        """Number of columns: the run time, times of operations, l, g and o."""
        return self.rows.num_columns + len(self.message_variables.names)

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
        system = self.system(L, G, o)
        found = solve(system, solver, time_limit_s=time_limit_s)
        first, charged = self.rows.num_columns, self.message_variables
        bounds, costs = system.least[first:], found.reduced_costs[first:]
        latencies, gaps, overhead = np.split(costs, [len(charged.latency_s), len(costs) - 1])
        gap_bytes = gaps * BYTES_PER_KB
        sensitivities = (*latencies.tolist(), *gap_bytes.tolist(), float(overhead[0]))
        # A latency's own value, which the solver may exceed where nothing waits for it.
        of_latency = float(bounds[: len(latencies)] @ latencies)
        T = found.objective
        return LPSolution(
            T=T / US_PER_S,
            lambda_L=float(latencies.sum()),
            lambda_G=float(gap_bytes.sum()),
            lambda_o=float(overhead[0]),
            rho_L=of_latency / T if T > 0 else 0.0,
            reduced_costs=dict(zip(charged.names, sensitivities, strict=True)),
            tight=self.rows.critical_path(found.duals),
            dual_objective_s=float(system.lower @ found.duals + bounds @ costs) / US_PER_S,
            status="Optimal",
            seconds=found.seconds,
            solver=solver if isinstance(solver, str) else str(solver.name),
        )

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
        if solver == PATHS:
            return self.certify(T, of=of, L=L, G=G, o=o).L
        check_solver(solver, (PATHS, *SOLVERS))
        number(T, "T")
        system, column = self.system(L, G, o), self._latency(of)
        system.least[column] = 0.0
        largest = replace(system, maximised=column, longest=T * US_PER_S)
        # With l in the basis presolve no longer solves it; the interior-point method took 3.5 s
        # where the simplex method took more than 45 s (conjugate gradients, 105,024 rows), and the
        # paths 0.01 s (tests/benchmarks/test_lp.py).
        try:
            found = solve(largest, solver, time_limit_s=time_limit_s, interior=True)
        except SolverError as error:
            if not re.search("infeasible|unbounded", error.status, re.IGNORECASE):
                raise
            # Solvers may say that it is one or the other: what takes no time settles it.
            least = solve(system, solver, time_limit_s=time_limit_s).objective
            if least <= T * US_PER_S:
                return float("inf")
            raise below_least(least / US_PER_S, T) from None
        return found.objective / US_PER_S

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
        Arguments and errors are those of ``largest_latency``; there is a SolverError where rounding
        leaves a gap of more than HiGHS's own tolerance.
        """
        number(T, "T")
        return certified_latency(self.rows, self.system(L, G, o), self._latency(of), T)

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
        base = self.solve(L=base_L, solver="highs" if solver == PATHS else solver)
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
        change far more often than slopes do: the end of the first basis with a slope is too high
        wherever a second one has the same slope, and the last may be none at all. A step below the
        spacing of bases costs a solve for each; a larger one may pass a critical latency unseen.

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
        column, system = self._latency(None), self.system()
        accepted = 0 <= low_s <= high_s < np.inf and 0 <= step_s < np.inf
        if not (accepted and LEAST_EPSILON_S <= epsilon_s < np.inf):
            raise ParameterError(
                "there must be an interval 0 <= low <= high, a step of at least 0 and an epsilon "
                f"of at least {LEAST_EPSILON_S} s; got {low_s} to {high_s}, {step_s} and "
                f"{epsilon_s} s",
                key="step_s",
            )
        found: list[float] = []
        visited: list[tuple[float, float, float]] = []
        L = high_s
        while low_s <= L:
            # Not rounded to a picosecond: epsilon may be less.
            system.least[column] = L * US_PER_S
            lower, slope = basis_range(system, column)
            lower /= US_PER_S
            if not visited or abs(slope - visited[-1][2]) > COST_TOLERANCE * max(slope, 1.0):
                found.append(lower)
            visited.append((L, lower, slope))
            L = min(L - step_s, lower - epsilon_s)
        kept = [latency for latency in found if low_s <= latency <= high_s]
        return Ranging(np.array(kept, float), *np.array(visited).T)

    def pair_matrices(self, solution: LPSolution) -> tuple[FloatArray, FloatArray]:
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
        for matrix, names in zip(result, (charged.latency_s, charged.gap_s), strict=True):
            matrix[charged.pairs] = [solution.reduced_costs[name] for name in names]
        return result[0], result[1]

    def system(
        self, L: PerVariable | None = None, G: PerVariable | None = None, o: float | None = None
    ) -> LinearSystem:
        """Return the linear program of least run time in arrays, for values as in ``solve``."""
        bounds, gap_ps = self.message_variables.values(self.model, L, G, o)
        times = np.full(self.rows.num_columns, -np.inf)
        times[0] = 0.0
        return LinearSystem(
            matrix=self.matrix,
            lower=self.rows.lower_us(self.message_variables, gap_ps),
            least=np.concatenate([times, bounds]),
            names=self.message_variables.names,
        )

    def to_pulp(self) -> pulp.LpProblem:
        """Return the linear program as a problem of PuLP's with all its rows, to change or solve.

        Times are µs, g ns/B. It takes about 10 µs a row.
        """
        return to_pulp(self.system(), self._names())[0]

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
        return write(self.system(), self._names(), path, ".lp")

    def to_mps(self, path: str | Path) -> Path:
        """Write the linear program in the MPS format, as ``to_lp`` does. Return the path."""
        return write(self.system(), self._names(), path, ".mps")

    def __repr__(self) -> str:
        return (
            f"LatencyLP({self.graph.source}: {self.graph.num_ops} operations, {self.num_rows} "
            f"rows, {self.num_columns} columns, {self.model})"
        )

    def _names(self) -> list[str]:
        """Return names of the columns that the LP format allows."""
        allowed = (re.sub(r"[^A-Za-z0-9_.]", "_", name) for name in self.message_variables.names)
        return [*self.rows.names(), *allowed]

    def _latency(self, name: str | None) -> int:
        """Return the column of a latency, which needs no name if it is the only one."""
        names = list(self.message_variables.latency_s)
        if name is None and len(names) == 1:
            name = names[0]
        if name not in names:
            raise ParameterError(
                f"one of the latencies must be named: {listed(names)}; got {name!r}", key="of"
            )
        return self.rows.num_columns + names.index(name)
