"""T(L) of a program by sweeps over its graph: exact, and a thousand times faster than its LP.

Without contention the time of a program is the longest path through its graph (Shen et al., LLAMP,
section II), in which the latency L stands some whole number of times. A sweep passes over the
graph once, packed, and carries with each time how often L is in it: that number is the slope of
T(L), lambda_L. Times are whole picoseconds, so nothing is rounded: T is that of
``replay(..., semantics="llamp")`` to the picosecond.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from workbench.arrays import FloatArray, IntArray
from workbench.checks import number
from workbench.errors import ParameterError
from workbench.models import LogGPS
from workbench.programs.find_program import ProgramLike, graph_of
from workbench.programs.graph import CALC, SEND, ExecutionGraph
from workbench.simulate.llamp import match_messages
from workbench.simulate.picoseconds import LONGEST_PARAMETER, PS_PER_S, PicosecondCosts
from workbench.tasks import Task, task_of
from workbench.tolerance.curve import PERCENT
from workbench.tolerance.passes import SIDES, Passes, bends, costs_of, most_latencies, pack
from workbench.tolerance.slack import CriticalPath, Slack, follow, slack


class Sweep:
    """A program on LogGPS, packed once, for questions about its latency.

    Latencies are rounded to a picosecond, the model's as well as those asked for. Where the sweep
    was made by ``along``, x stands for L in all that is said here. A method without an L takes the
    model's.

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
            self.match = _checked_match(self.graph, match)
        self.send_ops: IntArray = np.flatnonzero(self.graph.kind == SEND)
        self._L_ps = parameters.L
        self._packed = pack(self.graph, self.match, parameters.S, model, task=self._task)
        self._set_costs()

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
        kept = self._costs
        other._set_costs(message_ps=kept.message_ps, message_multiples=kept.message_multiples)
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
        other = self._copy()
        other._set_costs(
            message_ps=_times_ps("constant_s", constant_s, self.messages),
            message_multiples=_whole_numbers("multiples", multiples, self.messages),
            through_ps=_times_ps("through_s", through_s, self.messages),
        )
        return other

    def makespan_ps(self, L_ps: int | None = None) -> int:
        """Return T in ps at a latency in ps."""
        return self._passes.makespan_ps(self._L_ps if L_ps is None else L_ps)

    def makespan(self, L: float | None = None) -> float:
        """Return T in s at a latency in s."""
        return self.makespan_ps(self._latency_ps(L)) / PS_PER_S

    def finish_ps(self, L: float | None = None) -> IntArray:
        """Return the end of each rank, int64[ranks] ps, at a latency in s."""
        return self._passes.finish_ps(self._latency_ps(L), self.graph.num_ranks)

    def at(self, L: float | None = None) -> SweepPoint:
        """Return T, its slopes on both sides, and those of G and o, at a latency in s."""
        return self.point_and_path(L)[0]

    def point_and_path(self, L: float | None = None) -> tuple[SweepPoint, CriticalPath]:
        """Return the results of ``at`` and ``critical_path``, computed in one pass."""
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
        """Return T and its slopes at several latencies, float[k] s, eight lanes a pass."""
        latencies = [self._latency_ps(one) for one in np.asarray(L, np.float64).ravel().tolist()]
        found = self._passes.lines([(x, side) for x in latencies for side in SIDES])
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
        T_ps = [bend.left.intercept_ps + bend.left.slope * bend.x_ps for bend in found]
        return CriticalLatencies(
            L=np.array([float(bend.x_ps / PS_PER_S) for bend in found], np.float64),
            T=np.array([float(T / PS_PER_S) for T in T_ps], np.float64),
            lambda_left=np.array([bend.left.slope for bend in found], np.int64),
            lambda_right=np.array([bend.right.slope for bend in found], np.int64),
            exact_ps=tuple(bend.x_ps for bend in found),
            lo_s=lo_ps / PS_PER_S,
            hi_s=hi_ps / PS_PER_S,
            passes=self.passes - passes,
            lanes=self.lanes - lanes,
        )

    def tolerance(
        self, percent: Sequence[float] = PERCENT, base_L: float | None = None
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
        self, percent: Sequence[float] = PERCENT, base_L: float | None = None
    ) -> dict[float, int | None]:
        """Return ``tolerance`` in whole picoseconds; None where T never gets so long."""
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
        """Return a critical path at a latency in s, of those the one with the most latencies."""
        return self.point_and_path(L)[1]

    def slack(self, L: float | None = None) -> Slack:
        """Return by how much each operation and rank may be late at the same T; L is in s."""
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
        counts, delay = _class_counts(multiples, latencies, self.messages)
        fixed = _times_ps("constant_s", constant_s, self.messages)
        sweep = self._copy()
        sweep._set_costs(
            message_ps=delay if fixed is None else delay + fixed,
            message_multiples=np.zeros(self.messages, np.int64),
            through_ps=self._costs.through_ps,
        )
        path = sweep.critical_path(0.0)
        lambdas = (path.latencies[:, None] * counts[path.messages]).sum(axis=0)
        T = sweep.makespan_ps(0)
        return ClassPoint(T / PS_PER_S, lambdas.astype(np.int64), T)

    def pairs(self, L: float | None = None) -> PairCounts:
        """Return latencies and bytes of each pair of ranks on a critical path, L in s."""
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

    def _set_costs(self, **of_messages: IntArray | None) -> None:
        parameters = PicosecondCosts.of(self.model)
        self._costs = costs_of(self._packed, parameters.o, parameters.G, **of_messages)
        self._passes = Passes(self._packed, self._costs, task=self._task)

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
        return self._L_ps if L is None else _picoseconds(L)


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


def _picoseconds(latency_s: float) -> int:
    """Return a latency in whole picoseconds, by its decimal digits."""
    if not 0 <= latency_s < float("inf"):
        raise ParameterError(
            f"a latency must be finite and at least 0 s; got {latency_s!r}", key="L"
        )
    return round(Decimal(repr(float(latency_s))) * PS_PER_S)


def _times_ps(name: str, values_s: ArrayLike | None, messages: int) -> IntArray | None:
    """Return a time for each message, int64[messages], in whole ps; None where none are given."""
    if values_s is None:
        return None
    ps = np.rint(np.asarray(values_s, np.float64) * PS_PER_S)
    fits = bool(((ps >= 0) & (ps <= LONGEST_PARAMETER)).all())
    noun = f"a time of 0 to {LONGEST_PARAMETER / PS_PER_S:.0f} s"
    return _one_each(name, noun, ps, fits, messages)


def _whole_numbers(name: str, values: ArrayLike | None, messages: int) -> IntArray | None:
    """Return a whole number for each message, int64[messages]; None where none are given."""
    if values is None:
        return None
    numbers = np.asarray(values)
    noun = "a whole number of at least 0"
    return _one_each(name, noun, numbers, _whole(numbers), messages)


def _one_each(name: str, noun: str, values: NDArray[Any], fits: bool, messages: int) -> IntArray:
    if values.shape != (messages,) or not fits:
        raise ParameterError(
            f"{name} must have {noun} for each of {messages} messages; got shape {values.shape}",
            key=name,
        )
    return values.astype(np.int64)


def _class_counts(
    multiples: ArrayLike, latencies_s: ArrayLike | Mapping[int, float], messages: int
) -> tuple[IntArray, IntArray]:
    """Return each message's latencies by class, int64[messages, classes], and their sum, int64 ps.

    ``multiples`` is int[messages, classes], or int[messages], the one class of each.
    """
    if isinstance(latencies_s, Mapping):
        latencies_s = [latencies_s.get(c, 0.0) for c in range(max(latencies_s, default=-1) + 1)]
    values = np.asarray(latencies_s, np.float64)
    counts = np.asarray(multiples)
    if counts.ndim == 1 and counts.shape == (messages,) and _whole(counts):
        if counts.max(initial=0) >= len(values):
            raise ParameterError(
                f"latencies must have one for each class up to {int(counts.max())}; got "
                f"{len(values)}",
                key="latencies",
            )
        counts = counts[:, None] == np.arange(len(values))
    if counts.shape != (messages, len(values)) or not (counts.dtype == bool or _whole(counts)):
        raise ParameterError(
            f"multiples must be {messages} messages x {len(values)} classes of whole numbers of at "
            f"least 0; got shape {counts.shape}",
            key="multiples",
        )
    latencies_ps = [_picoseconds(value) for value in values.tolist()]
    each = np.array([min(ps, 2 * LONGEST_PARAMETER) for ps in latencies_ps], np.int64)
    if (counts.astype(np.float64) @ each.astype(np.float64)).max(initial=0.0) > LONGEST_PARAMETER:
        raise ParameterError(
            f"latencies of classes must add up to {LONGEST_PARAMETER / PS_PER_S:.0f} s at most for "
            "each message",
            key="latencies",
        )
    whole = counts.astype(np.int64)
    return whole, whole @ each


def _checked_match(graph: ExecutionGraph, match: NDArray[Any]) -> NDArray[np.int32]:
    """Return a matching that joins each send with a receive and back, int32[n]."""
    joined = np.asarray(match)
    ops = np.flatnonzero(graph.kind != CALC)
    fits = joined.shape == (graph.num_ops,) and np.issubdtype(joined.dtype, np.integer)
    if fits and len(ops):
        others = joined[ops]
        fits = bool(others.min() >= 0 and others.max() < graph.num_ops)
        fits = fits and bool(
            (joined[others] == ops).all() and (graph.kind[others] + graph.kind[ops] == 3).all()
        )
    if not fits:
        raise ParameterError(
            "match must name the receive of each send and the send of each receive; leave it out "
            "to have them matched in order",
            key="match",
        )
    return joined.astype(np.int32, copy=False)


def _whole(numbers: NDArray[Any]) -> bool:
    if numbers.dtype.kind not in "iuf":
        return False
    return bool(((numbers >= 0) & (numbers < 2**31) & (numbers == np.floor(numbers))).all())
