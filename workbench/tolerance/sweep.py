"""T(L) of a program by sweeps over its graph: exact, and a thousand times faster than its LP.

Without contention the time of a program is the longest path through its graph (Shen et al., LLAMP,
section II), in which the latency L stands some whole number of times. A sweep passes over the
graph once, packed, and carries with each time how often L is in it: that number is the slope of
T(L), lambda_L. Times are whole picoseconds, so nothing is rounded: T is that of
``replay(..., semantics="llamp")`` to the picosecond.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from workbench.arrays import IntArray
from workbench.checks import number
from workbench.errors import ParameterError
from workbench.models import LogGPS
from workbench.programs.find_program import ProgramLike, graph_of
from workbench.programs.graph import CALC, SEND
from workbench.simulate.llamp import match_messages
from workbench.simulate.picoseconds import PS_PER_S, PicosecondCosts
from workbench.tasks import Task, task_of
from workbench.tolerance.packed_program import Costs, costs_of, pack
from workbench.tolerance.sweep_inputs import (
    checked_match,
    class_counts,
    picoseconds,
    times_ps,
    whole_numbers,
)
from workbench.tolerance.sweep_passes import Passes, Side
from workbench.tolerance.sweep_points import (
    ClassPoint,
    CriticalLatencies,
    PairCounts,
    SweepCurve,
    SweepPoint,
)
from workbench.tolerance.tangents import bends, most_latencies

if TYPE_CHECKING:
    from workbench.tolerance.slack import CriticalPath, Slack


class Sweep:
    """A program on LogGPS, packed once, for questions about its latency.

    Latencies are rounded to a picosecond, the model's as well as those asked for. Where the sweep
    was made by ``along``, x stands for L in all that is said here.

    Attributes:
        graph: the program.
        model: L, o, G and S are used; g and O are not, as LLAMP's graph does not have them.
        match: int32[n], the other end of each message, -1 for computations.
        send_ops: int64[messages], the sends; a message's number is its place here.

    Args:
        graph: the program; of a ``Program`` the graph with its default collectives.
        model: parameters in s and s/B.
        match: int32[n], the other end of each message, if it is known from a run before. Where
            there are wildcards and it is not given, a replay with LogGOPSim's semantics decides.
        task: once it is stopped, what is under way ends, and whatever is asked for later.

    Raises:
        ProgramError: operations wait for one another, or a message has no other end.
        ParameterError: a time would go beyond what 62 bits of picoseconds hold, or ``match`` does
            not join sends with receives.
        SimulationHalted: the task was stopped.
    """

    def __init__(
        self,
        graph: ProgramLike,
        model: LogGPS,
        *,
        match: NDArray[np.int32] | None = None,
        task: Task | None = None,
    ) -> None:
        self.graph = graph_of(graph)
        self.model = model
        self._task = task_of(task)
        parameters = PicosecondCosts.of(model)
        self._check_sizes(parameters)
        if match is None:
            self.match = match_messages(self.graph, model, task=self._task)
        else:
            self.match = checked_match(self.graph, match)
        self.send_ops: IntArray = np.flatnonzero(self.graph.kind == SEND)
        self._L_ps = parameters.L
        self._packed = pack(self.graph, self.match, parameters.S, model, task=self._task)
        self._set(costs_of(self._packed, parameters.o, parameters.G))

    @property
    def vertices(self) -> int:
        """Operations of the program."""
        return self.graph.num_ops

    @property
    def messages(self) -> int:
        """Messages of the program."""
        return len(self.send_ops)

    @property
    def passes(self) -> int:
        """Passes over the program so far, the two that prepared included."""
        return self._passes.passes

    @property
    def lanes(self) -> int:
        """Latencies and slopes that these passes found together."""
        return self._passes.lanes

    @property
    def bytes_per_vertex(self) -> float:
        """Bytes of instructions that a pass reads, for each operation."""
        packed = self._packed
        streams = (packed.code, packed.slot, packed.calc_ns, self._costs.row)
        return sum(stream.nbytes for stream in streams) / max(self.vertices, 1)

    def replace(self, model: LogGPS) -> Sweep:
        """Return the sweep of the same program on another model, without packing where it can.

        The program is packed again only if S differs in a way that matters to a message. Which
        receive takes which send stays as it is, also with wildcards.

        Args:
            model: the other model.

        Raises:
            ProgramError: operations wait for one another with this S.
            ParameterError: a time would go beyond what 62 bits of picoseconds hold.
        """
        other = self._copy()
        other.model = model
        parameters, before = PicosecondCosts.of(model), PicosecondCosts.of(self.model)
        other._L_ps = parameters.L
        if (parameters.o, parameters.G, parameters.S) == (before.o, before.G, before.S):
            return other
        self._check_sizes(parameters)
        sizes = self._packed.message_bytes
        if ((sizes > parameters.S) != (sizes > before.S)).any():
            other._packed = pack(self.graph, self.match, parameters.S, model, task=self._task)
        other._set(
            costs_of(
                other._packed,
                parameters.o,
                parameters.G,
                message_ps=self._costs.message_ps,
                message_multiples=self._costs.message_multiples,
            )
        )
        return other

    def along(
        self,
        multiples: ArrayLike | None = None,
        *,
        constant_s: ArrayLike | None = None,
        through_s: ArrayLike | None = None,
    ) -> Sweep:
        """Return the sweep in which the latency of message m is constant + multiple times x.

        With wires of latency l and switches of d, h hops away: ``along(h + 1, constant_s=h * d)``.
        A rendezvous has its message's latency four times, as L.

        Args:
            multiples: int[messages], whole and not negative, default 1.
            constant_s: float[messages], s, rounded to a picosecond, default 0.
            through_s: float[messages], s, time of the bytes of each, default (s - 1) G.

        Raises:
            ParameterError: there is not one number for each message, or one is negative.
        """
        parameters = PicosecondCosts.of(self.model)
        other = self._copy()
        other._set(
            costs_of(
                self._packed,
                parameters.o,
                parameters.G,
                message_ps=times_ps("constant_s", constant_s, self.messages),
                message_multiples=whole_numbers("multiples", multiples, self.messages),
                through_ps=times_ps("through_s", through_s, self.messages),
            )
        )
        return other

    def makespan_ps(self, L_ps: int | None = None) -> int:
        """Return T at a latency, ps.

        Args:
            L_ps: the latency, default the model's.
        """
        return self._passes.makespan_ps(self._L_ps if L_ps is None else L_ps)

    def makespan(self, L: float | None = None) -> float:
        """Return T at a latency, s.

        Args:
            L: the latency, s; default the model's.
        """
        return self.makespan_ps(self._latency_ps(L)) / PS_PER_S

    def finish_ps(self, L: float | None = None) -> IntArray:
        """Return the end of each rank, int64[ranks] ps.

        Args:
            L: the latency, s; default the model's.
        """
        return self._passes.finish_ps(self._latency_ps(L), self.graph.num_ranks)

    def at(self, L: float | None = None) -> SweepPoint:
        """Return T, its slopes on both sides, and those of G and o, in one pass.

        Args:
            L: the latency, s; default the model's.
        """
        return self.point_and_path(L)[0]

    def point_and_path(self, L: float | None = None) -> tuple[SweepPoint, CriticalPath]:
        """Return what ``at`` and ``critical_path`` do, in one pass.

        Args:
            L: the latency, s; default the model's.
        """
        from workbench.tolerance.slack import follow

        x = self._latency_ps(L)
        left, right, last, notes = self._passes.point(x)
        path = follow(self._packed, self._costs, last, notes)
        T = right.at(x)
        point = SweepPoint(
            L=x / PS_PER_S,
            T=T / PS_PER_S,
            lambda_L_left=left.slope,
            lambda_L_right=right.slope,
            lambda_G=int(path.bytes.sum()),
            lambda_o=path.overheads,
            rho_L=x * right.slope / T if T else 0.0,
            T_ps=T,
        )
        return point, path

    def curve(self, L: ArrayLike) -> SweepCurve:
        """Return T and its slopes at several latencies, eight lanes a pass.

        Args:
            L: float[k], s.
        """
        latencies = [self._latency_ps(one) for one in np.asarray(L, np.float64).ravel().tolist()]
        sides: tuple[Side, Side] = ("left", "right")
        found = self._passes.lines([(x, side) for x in latencies for side in sides])
        T = [line.at(x) / PS_PER_S for x, line in zip(latencies, found[1::2], strict=True)]
        return SweepCurve(
            np.array(T, np.float64),
            np.array([line.slope for line in found[::2]], np.int64),
            np.array([line.slope for line in found[1::2]], np.int64),
        )

    def critical_latencies(self, lo: float, hi: float) -> CriticalLatencies:
        """Return all latencies inside an interval at which T(L) changes its slope.

        Found by tangents, with no step to choose; at most 4 lanes for each.

        Args:
            lo: start of the interval, s.
            hi: its end, s.

        Raises:
            ParameterError: the end is not above the start.
        """
        lo_ps, hi_ps = self._latency_ps(lo), self._latency_ps(hi)
        if not hi_ps > lo_ps:
            raise ParameterError(
                f"the interval must end above its start, by 1 ps at least; got {lo} to {hi} s",
                key="interval",
            )
        passes, lanes = self.passes, self.lanes
        found = bends(self._passes.lines, lo_ps, hi_ps)
        return CriticalLatencies.of(
            found, lo_ps, hi_ps, passes=self.passes - passes, lanes=self.lanes - lanes
        )

    def tolerance(
        self, percent: Sequence[float] = (1.0, 2.0, 5.0), base_L: float | None = None
    ) -> dict[float, float]:
        """Return for each percentage the largest latency, in s, that makes T longer by no more.

        The latency itself, not what may be added; a whole number of picoseconds, ``inf`` where the
        program never gets so long. All percentages share their passes.

        Args:
            percent: how much longer, at least 0.
            base_L: latency of the T that is compared with, s; default the model's.

        Raises:
            ParameterError: a percentage is negative or not finite.
        """
        found = self.tolerance_ps(percent, base_L)
        return {p: float("inf") if x is None else x / PS_PER_S for p, x in found.items()}

    def tolerance_ps(
        self, percent: Sequence[float] = (1.0, 2.0, 5.0), base_L: float | None = None
    ) -> dict[float, int | None]:
        """Return tolerances as whole picoseconds, None where T never gets so long.

        Args:
            percent: how much longer, at least 0.
            base_L: latency of the T that is compared with, s; default the model's.

        Raises:
            ParameterError: a percentage is negative or not finite.
        """
        for p in percent:
            number(p, "percent", 0)
        found = most_latencies(
            self._passes.lines,
            self._latency_ps(base_L),
            self._passes.steepest,
            [Fraction(str(p)) for p in percent],
        )
        return dict(zip(percent, found, strict=True))

    def critical_path(self, L: float | None = None) -> CriticalPath:
        """Return the operations of a critical path that has the most latencies, first to last.

        Args:
            L: the latency, s; default the model's.
        """
        return self.point_and_path(L)[1]

    def slack(self, L: float | None = None) -> Slack:
        """Return the possible delays of operations' starts and ends and ranks' ends at the same T.

        Args:
            L: the latency, s; default the model's.
        """
        from workbench.tolerance.slack import slack

        x = self._latency_ps(L)
        costs, messages = self._costs, self.messages
        fixed = np.zeros(messages, np.int64) if costs.message_ps is None else costs.message_ps
        multiples = costs.message_multiples
        delay = fixed + x * (np.ones(messages, np.int64) if multiples is None else multiples)
        limit = PicosecondCosts.of(self.model).S
        return slack(self.graph, self.match, limit, delay, costs.through_ps, costs.o_ps)

    def per_class(
        self,
        multiples: ArrayLike,
        latencies: ArrayLike | Mapping[int, float],
        *,
        constant_s: ArrayLike | None = None,
    ) -> ClassPoint:
        """Return T and its slopes where messages have latencies of classes.

        The latency of message m is ``constant[m] + sum over c of multiples[m, c] * latencies[c]``.

        Args:
            multiples: int[messages, classes], how many of each class a message has; or
                int[messages], the one class of each.
            latencies: float[classes], s; or by class.
            constant_s: float[messages], s, default 0.

        Raises:
            ParameterError: shapes do not fit, or a number is negative.
        """
        counts, delay = class_counts(multiples, latencies, self.messages)
        fixed = times_ps("constant_s", constant_s, self.messages)
        sweep = self._copy()
        sweep._set(
            costs_of(
                self._packed,
                self._costs.o_ps,
                PicosecondCosts.of(self.model).G,
                message_ps=delay if fixed is None else delay + fixed,
                message_multiples=np.zeros(self.messages, np.int64),
                through_ps=self._costs.through_ps,
            )
        )
        path = sweep.critical_path(0.0)
        lambdas = (path.latencies[:, None] * counts[path.messages]).sum(axis=0)
        T = sweep.makespan_ps(0)
        return ClassPoint(T / PS_PER_S, lambdas.astype(np.int64), T)

    def pairs(self, L: float | None = None) -> PairCounts:
        """Return latencies and bytes of each pair of ranks on a critical path.

        Args:
            L: the latency, s; default the model's.
        """
        path, ranks = self.critical_path(L), self.graph.num_ranks
        sends = self.send_ops[path.messages]
        source, target = self.graph.rank_of(sends), self.graph.peer[sends]
        latencies = np.zeros((ranks, ranks), np.int64)
        beyond = np.zeros((ranks, ranks), np.int64)
        np.add.at(latencies, (source, target), path.latencies)
        np.add.at(beyond, (source, target), path.bytes)
        return PairCounts(latencies, beyond)

    def __repr__(self) -> str:
        return (
            f"Sweep({self.graph.source}: {self.graph.num_ranks} ranks, {self.vertices} operations, "
            f"{self.messages} messages, {self.bytes_per_vertex:.1f} B/operation, {self.model})"
        )

    def _set(self, costs: Costs) -> None:
        self._costs = costs
        self._passes = Passes(self._packed, costs, task=self._task)

    def _copy(self) -> Sweep:
        other = object.__new__(Sweep)
        other.__dict__.update(self.__dict__)
        return other

    def _check_sizes(self, parameters: PicosecondCosts) -> None:
        graph = self.graph
        computing = graph.kind == CALC
        parameters.check_sizes(
            int(graph.size.min(initial=0)),
            int(graph.size[~computing].max(initial=0)),
            int(graph.size[computing].max(initial=0)),
        )

    def _latency_ps(self, L: float | None) -> int:
        return self._L_ps if L is None else picoseconds(L)
