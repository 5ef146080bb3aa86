"""Passes over a packed program: T and its slopes at given latencies, in whole picoseconds.

A program is packed as instructions, which depend on the program, on which receive takes which send
and on S alone; what its messages cost is a table beside them, one set of rows for each class of
messages that cost the same. So another L, o or G needs no packing.

With x the latency that varies, T(x) is the maximum over all paths of b + a x with whole a and b. A
pass gives T and the steepest or flattest line of those that reach it there: its tangents. Where two
of them meet T bends or has a line between them, so all bends are found without a step.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from kernels import sweep as kernels
from kernels.loggops.llamp import count_missing
from kernels.sweep import alike as alike_kernel, packing as kernel
from kernels.sweep.layout import EAGER, HEADER, MET, NARROW, RELEASED, ROLES, WIDE
from workbench.arrays import IntArray
from workbench.errors import ParameterError, SimulationHalted
from workbench.models import LogGPS
from workbench.programs.graph import CALC, SEND, ExecutionGraph
from workbench.programs.graph_arrays import matched
from workbench.simulate.llamp import forward_pass
from workbench.simulate.picoseconds import CLOCK_END, PS_PER_NS, PS_PER_S, ByteCost
from workbench.tasks import Task, task_of

Side = Literal["left", "right"]
SIDES: tuple[Side, Side] = ("left", "right")

_MOST_NARROW_CLASSES = (1 << 16) // ROLES
_NO_NOTES = np.empty(0, np.uint8)


@dataclass(frozen=True, eq=False)
class PackedProgram:
    """A program's instructions, in the format of ``kernels.sweep.layout``."""

    code: NDArray[Any]  # uint32 or uint64[instructions]
    width: int  # bits of a register's number in code
    slot: NDArray[Any]  # uint16 or uint32[slotted instructions]
    calc_ns: NDArray[Any]  # int32 or int64[computations]
    role_of: NDArray[np.uint8]  # (typed instructions,) role of the row of costs, such as EAGER
    message_of: NDArray[np.int32]  # (typed instructions,)
    op_of: NDArray[np.int32]  # (instructions,) -1 for those of no operation
    rank_of: NDArray[np.int32]  # (registers,) -1 for the first
    slots: int  # number of slots
    vertices: int  # number of operations
    message_bytes: IntArray  # (messages,) in the order of the sends

    @property
    def registers(self) -> int:
        """The number of registers, the first included."""
        return len(self.rank_of)


@dataclass(frozen=True, eq=False)
class Costs:
    """Costs of the instructions: a constant and a multiple of the one latency x that varies."""

    row: NDArray[Any]  # uint16 or uint32[typed instructions], row of each
    constant_ps: IntArray  # (rows,)
    multiples: IntArray  # (rows,) of x
    latencies: IntArray  # (rows,) number of the message's latencies
    bytes: IntArray  # (rows,) after the first
    overheads: IntArray  # (rows,) number of o
    o_ps: int
    message_ps: IntArray | None  # (messages,) constant part of the latency; None: all 0
    message_multiples: IntArray | None  # (messages,) of x in the latency; None: all 1
    through_ps: IntArray  # (messages,) time of the bytes of each


def pack(
    graph: ExecutionGraph,
    match: NDArray[np.int32],  # (n,) the other end of each message
    limit_bytes: int,  # S, the largest eager message
    model: LogGPS,  # for the error where operations wait for one another
    *,
    task: Task | None = None,
) -> PackedProgram:
    """Return a program's instructions."""
    n, sending = graph.num_ops, graph.kind == SEND
    messages = int(np.count_nonzero(sending))
    computations = int(np.count_nonzero(graph.kind == CALC))
    edges = len(graph.requires) + len(graph.irequires)
    missing = np.empty(n, np.int32)
    count_missing(graph.requires.ops, graph.irequires.ops, missing)
    alike = np.empty(n, np.int32)
    alike_kernel.first_alike(
        graph.requires.start,
        graph.requires.ops,
        graph.irequires.start,
        graph.irequires.ops,
        np.empty(edges + 1, np.uint32),
        np.empty(edges + 1, np.int32),
        alike,
    )
    # Room for the worst case; what is not written takes no memory.
    room = n + edges + messages
    code, op_of = np.empty(room, np.uint64), np.empty(room, np.int32)
    slot, message_of = np.empty(3 * messages, np.int32), np.empty(3 * messages, np.int32)
    role_of = np.empty(3 * messages, np.uint8)
    calc = np.empty(computations, np.int64)
    registers = np.zeros((2 * n + 1, 3), np.int32)
    counts = np.zeros(7, np.int64)
    status = kernel.pack(
        matched(graph, match),
        graph.rank_start,
        limit_bytes,
        alike,
        missing,
        task_of(task).stop_event.cell,
        kernel.Room(np.empty((n, 5), np.int32), np.empty(2 * n, np.int32), np.empty(n, np.int32)),
        kernel.Stream(code, op_of, slot, role_of, message_of, calc, registers, counts),
    )
    if status == kernel.HALTED:
        raise SimulationHalted("the packing was stopped before it finished")
    if status == kernel.WAITING:
        # The pass without packing fails too, and says which operations wait for one another.
        forward_pass(graph, model, match=match)
    instructions, slotted, typed, _, used, slots, _ = counts.tolist()
    # All narrow or all wide: a compiled pass for each mixture would be compiled for long.
    longest = int(calc.max(initial=0))
    narrow = used <= 1 << NARROW and slots <= 1 << 16 and longest < 2**31
    width = NARROW if narrow else WIDE
    packed = np.empty(instructions, np.uint32 if narrow else np.uint64)
    kernel.narrow(code[:instructions], width, packed)
    return PackedProgram(
        code=packed,
        width=width,
        slot=slot[:slotted].astype(np.uint16 if narrow else np.uint32),
        calc_ns=calc.astype(np.int32) if narrow else calc,
        role_of=role_of[:typed],
        message_of=message_of[:typed],
        op_of=op_of[:instructions],
        rank_of=registers[:used, kernel.RANK].copy(),
        slots=slots,
        vertices=n,
        message_bytes=graph.size[sending],
    )


def costs_of(
    packed: PackedProgram,
    o_ps: int,
    G: ByteCost,
    *,
    message_ps: IntArray | None = None,  # (messages,); None: 0
    message_multiples: IntArray | None = None,  # (messages,); None: 1
    through_ps: IntArray | None = None,  # (messages,) time of the bytes; None: (s - 1) G
) -> Costs:
    """Return the instructions' costs; a latency is message_ps + message_multiples * x."""
    sizes, through = packed.message_bytes, through_ps
    columns = [c for c in (sizes, message_ps, message_multiples, through) if c is not None]
    class_of, first = _classes(columns)
    if through is None:
        through = G.of(sizes)
    wide = packed.width == WIDE or len(first) > _MOST_NARROW_CLASSES
    row = np.empty(len(packed.role_of), np.uint32 if wide else np.uint16)
    alike_kernel.rows(packed.role_of, packed.message_of, class_of, ROLES, row)
    latencies = np.zeros((len(first), ROLES), np.int64)
    overheads, beyond = np.zeros_like(latencies), np.zeros_like(latencies)
    latencies[:, (EAGER, HEADER, MET)] = 1, 1, 3
    overheads[:, (EAGER, MET, RELEASED)] = 1, 2, 1
    beyond[:, (EAGER, MET)] = np.maximum(sizes[first] - 1, 0)[:, None]
    constant = overheads * o_ps
    constant[:, (EAGER, MET)] += through[first][:, None]
    multiples = latencies
    if message_ps is not None:
        constant = constant + latencies * message_ps[first][:, None]
    if message_multiples is not None:
        multiples = latencies * message_multiples[first][:, None]
    return Costs(
        row=row,
        constant_ps=constant.ravel(),
        multiples=multiples.ravel(),
        latencies=latencies.ravel(),
        bytes=beyond.ravel(),
        overheads=overheads.ravel(),
        o_ps=o_ps,
        message_ps=message_ps,
        message_multiples=message_multiples,
        through_ps=through,
    )


def _classes(columns: list[IntArray]) -> tuple[NDArray[np.int32], IntArray]:
    """Return the class of each message, and a message of each class."""
    class_of = _number(columns[0])
    for column in columns[1:]:
        finer = _number(column).astype(np.int64)
        class_of = _number(class_of * (int(finer.max(initial=0)) + 1) + finer)
    first = np.zeros(int(class_of.max(initial=-1)) + 1, np.int64)
    first[class_of[::-1]] = np.arange(len(class_of) - 1, -1, -1)
    return class_of, first


def _number(values: NDArray[Any]) -> NDArray[np.int32]:
    """Return a number for each value, the same for equal ones, from 0 without gaps."""
    numbers = np.empty(len(values), np.int32)
    table, distinct = np.empty(1 << 16, np.int32), np.empty(1 << 14, np.int64)
    wide = values.astype(np.int64, copy=False)
    if alike_kernel.number_distinct(wide, table, numbers, len(distinct), distinct) >= 0:
        return numbers
    return np.unique(wide, return_inverse=True)[1].astype(np.int32)


@dataclass(frozen=True)
class TangentLine:
    """A line T = intercept_ps + slope * x that T(x) touches; the slope is a number of latencies."""

    slope: int
    intercept_ps: int

    def at(self, x_ps: int) -> int:
        """Return T on the line at a latency, ps."""
        return self.intercept_ps + self.slope * x_ps

    def meeting(self, other: TangentLine) -> Fraction:
        """Return the latency, ps, at which the line meets one of another slope."""
        return Fraction(self.intercept_ps - other.intercept_ps, other.slope - self.slope)


class Passes:
    """T and its tangents by passes over a packed program, and the number of these passes."""

    def __init__(self, packed: PackedProgram, costs: Costs, *, task: Task | None = None) -> None:
        self.packed, self.costs = packed, costs
        self.passes = self.lanes = 0  # over the program, and the (latency, side) pairs they solved
        self._task = task_of(task)
        self._stream = packed.code, packed.slot, costs.row, packed.calc_ns
        self._check_clock()
        slope, at_zero, _ = self._pairs(
            costs.multiples, costs.constant_ps, (0, costs.o_ps), (0, PS_PER_NS)
        )
        self.steepest = TangentLine(slope, at_zero)  # of T(x) for large x
        self._T_at_zero = int(self._keys(costs.constant_ps, costs.o_ps, PS_PER_NS).max())

    def lines(self, points: Sequence[tuple[int, Side]]) -> list[TangentLine]:
        """Return the steepest (right) or flattest (left) line of T for each (latency, side)."""
        found: list[TangentLine] = []
        for first in range(0, len(points), kernels.lanes.LANES):
            if self._task.stopping:
                raise SimulationHalted("the sweep was stopped before it finished")
            found += self._some(points[first : first + kernels.lanes.LANES])
        return found

    def makespan_ps(self, x_ps: int) -> int:
        """Return T at a latency."""
        return self.lines([(x_ps, "right")])[0].at(x_ps)

    def point(self, x_ps: int) -> tuple[TangentLine, TangentLine, int, NDArray[np.uint8]]:
        """Return the flattest and the steepest line at a latency, and what leads to its path.

        That is the last register of a path with most latencies, and the notes, uint8[instructions].
        """
        packed, costs = self.packed, self.costs
        notes = np.empty(len(packed.code), np.uint8)
        bits = self._bits(x_ps)
        if bits is None:
            left, _ = self._slowly(x_ps, "left", notes)
            right, last = self._slowly(x_ps, "right", notes)
            return left, right, last, notes
        time = (costs.constant_ps + costs.multiples * x_ps) << bits
        registers = np.zeros((packed.registers, 2), np.int64)
        kernels.passes.point(
            *self._stream,
            np.stack([time - costs.multiples, time + costs.multiples], axis=1),
            costs.o_ps << bits,
            PS_PER_NS << bits,
            registers,
            np.empty((packed.slots, 2), np.int64),
            notes,
        )
        self._count(2)
        keys = registers.max(axis=0).tolist()
        left, right = (_decoded(*key, bits, x_ps) for key in zip(keys, SIDES, strict=True))
        return left, right, int(registers[:, 1].argmax()), notes

    def finish_ps(self, x_ps: int, ranks: int) -> IntArray:
        """Return the end of each rank at a latency, int64[ranks], ps."""
        self._check(x_ps)
        time = self.costs.constant_ps + self.costs.multiples * x_ps
        registers = self._keys(time, self.costs.o_ps, PS_PER_NS)
        finish = np.zeros(ranks, np.int64)
        np.maximum.at(finish, self.packed.rank_of[1:], registers[1:])
        return finish

    def _some(self, points: Sequence[tuple[int, Side]]) -> list[TangentLine]:
        costs = self.costs
        bits = self._bits(max(x for x, _ in points))
        if bits is None:
            return [self._slowly(x, side)[0] for x, side in points]
        latencies = np.array([x for x, _ in points], np.int64)
        sign = np.array([-1 if side == "left" else 1 for _, side in points], np.int64)
        time = costs.constant_ps[:, None] + costs.multiples[:, None] * latencies
        table = (time << bits) + costs.multiples[:, None] * sign
        own, per_ns = costs.o_ps << bits, PS_PER_NS << bits
        if len(points) == 1:
            keys = [int(self._keys(table[:, 0].copy(), own, per_ns).max())]
        else:
            keys = self._lanes(table, own, per_ns)
        return [_decoded(key, side, bits, x) for key, (x, side) in zip(keys, points, strict=True)]

    def _slowly(
        self, x_ps: int, side: Side, notes: NDArray[np.uint8] = _NO_NOTES
    ) -> tuple[TangentLine, int]:
        """Return a line by two numbers, where one of 63 bits cannot hold both, and its register."""
        costs = self.costs
        sign = -1 if side == "left" else 1
        T, slope, last = self._pairs(
            costs.constant_ps + costs.multiples * x_ps,
            sign * costs.multiples,
            (costs.o_ps, 0),
            (PS_PER_NS, 0),
            notes,
        )
        return _line(T, sign * slope, x_ps), last

    def _bits(self, x_ps: int) -> int | None:
        """Return the number of bits of the slope in a key, None where the time leaves too few."""
        longest = self._check(x_ps)
        bits = self.steepest.slope.bit_length()
        return bits if (longest + 1) << bits < 2**62 else None

    def _check(self, x_ps: int) -> int:
        """Return a time that T at a latency cannot exceed."""
        longest = self._T_at_zero + self.steepest.slope * x_ps
        if x_ps < 0:
            raise ParameterError(f"a latency must not be negative; got {x_ps} ps", key="L")
        if longest > CLOCK_END:
            raise ParameterError(
                f"the program must end before {CLOCK_END / PS_PER_S:.0f} s; with a latency of "
                f"{x_ps / PS_PER_S:g} s it might not: lower it",
                key="L",
            )
        return longest

    def _check_clock(self) -> None:
        """Refuse a program that the clock might not hold even without latency."""
        packed, costs = self.packed, self.costs
        most = float(packed.calc_ns.sum(dtype=np.float64)) * PS_PER_NS
        most += len(packed.code) * float(costs.constant_ps.max(initial=0) + costs.o_ps)
        most += len(packed.code) * float(costs.multiples.max(initial=0))
        if most < CLOCK_END:
            return
        # In float64: slower to add up, but it does not wrap.
        T = self._keys(costs.constant_ps.astype(np.float64), float(costs.o_ps), float(PS_PER_NS))
        if T.max(initial=0.0) > CLOCK_END / 2:
            raise ParameterError(
                f"the program must end before {CLOCK_END / 2 / PS_PER_S:.0f} s without latency; "
                f"this one takes {T.max() / PS_PER_S:.0f} s: lower o or G, or the computations",
                key="program",
            )

    def _keys(self, table: NDArray[Any], own: Any, per_ns: Any) -> NDArray[Any]:
        packed = self.packed
        registers = np.zeros(packed.registers, table.dtype)
        slots = np.empty(packed.slots, table.dtype)
        kernels.passes.keys(*self._stream, table, own, per_ns, registers, slots)
        self._count(1)
        return registers

    def _lanes(self, table: IntArray, own: int, per_ns: int) -> list[int]:
        packed, lanes = self.packed, kernels.lanes.LANES
        full = np.zeros((len(table), lanes), np.int64)
        full[:, : table.shape[1]] = table
        registers = np.zeros((packed.registers, lanes), np.int64)
        slots = np.empty((packed.slots, lanes), np.int64)
        kernels.lanes.keys(*self._stream, full, own, per_ns, registers, slots)
        self._count(table.shape[1])
        return [int(key) for key in registers.max(axis=0)[: table.shape[1]]]

    def _pairs(
        self,
        first: IntArray,  # (rows,)
        second: IntArray,  # (rows,)
        own: tuple[int, int],  # of a host's overhead
        per_ns: tuple[int, int],
        notes: NDArray[np.uint8] = _NO_NOTES,
    ) -> tuple[int, int, int]:
        """Return the largest first number, the largest second beside it, and their register."""
        packed = self.packed
        registers = np.zeros((packed.registers, 2), np.int64)
        slots = np.empty((packed.slots, 2), np.int64)
        kernels.passes.pairs(*self._stream, first, second, *own, *per_ns, registers, slots, notes)
        self._count(1)
        most = registers[:, 0].max()
        last = int(np.argmax(np.where(registers[:, 0] == most, registers[:, 1], -(2**62))))
        return int(most), int(registers[last, 1]), last

    def _count(self, lanes: int) -> None:
        self.passes += 1
        self.lanes += lanes


def _decoded(key: int, side: Side, bits: int, x_ps: int) -> TangentLine:
    """Return the line that a key stands for."""
    if side == "right":
        return _line(key >> bits, key & ((1 << bits) - 1), x_ps)
    T = -((-key) >> bits)
    return _line(T, (T << bits) - key, x_ps)


def _line(T_ps: int, slope: int, x_ps: int) -> TangentLine:
    return TangentLine(slope, T_ps - slope * x_ps)


LinesAt = Callable[[Sequence[tuple[int, Side]]], list[TangentLine]]


@dataclass(frozen=True)
class Bend:
    """A latency at which T changes its slope."""

    x_ps: Fraction
    left: TangentLine  # below it
    right: TangentLine  # above it


def bends(lines: LinesAt, lo_ps: int, hi_ps: int) -> list[Bend]:
    """Return all latencies inside an interval at which T changes its slope, ascending.

    Where the tangents of two ends meet there is a bend, or T lies above and has a line between
    them. Both are found by T at the two picoseconds beside the meeting point, its steepest line at
    the one and its flattest at the other: 2 lanes a line and 2 a bend, 4 together. What lies
    between two neighbouring picoseconds is taken for one bend.
    """
    first, last = lines([(lo_ps, "right"), (hi_ps, "left")])
    found: list[Bend] = []
    gaps = [(lo_ps, first, hi_ps, last)]
    while gaps:
        open_gaps, points = [], list[tuple[int, Side]]()
        for x1, left, x2, right in gaps:
            if left == right:
                continue
            meeting = left.meeting(right)
            # A tangent of one end that goes through the other end is T in between.
            if meeting in (x1, x2):
                found.append(Bend(meeting, left, right))
                continue
            open_gaps.append((x1, left, x2, right))
            whole = meeting.denominator == 1
            points.append((math.floor(meeting), "left" if whole else "right"))
            points.append((math.ceil(meeting), "right" if whole else "left"))
        tangents = lines(points)
        gaps = []
        for i, (x1, left, x2, right) in enumerate(open_gaps):
            below, above = tangents[2 * i : 2 * i + 2]
            if below != above:
                found.append(Bend(below.meeting(above), below, above))
            gaps.append((x1, left, points[2 * i][0], below))
            gaps.append((points[2 * i + 1][0], above, x2, right))
    return sorted(found, key=lambda bend: bend.x_ps)


def most_latencies(
    lines: LinesAt, base_ps: int, steepest: TangentLine, percents: Sequence[Fraction]
) -> list[int | None]:
    """Return for each percentage the largest latency in ps at which T exceeds its base by no more.

    None: T never gets so long. Tangents from above and chords from below bound the latency, for
    all percentages in the same passes.
    """
    base = lines([(base_ps, "right")])[0]
    T = base.at(base_ps)
    if steepest.slope == 0:
        return [None] * len(percents)
    searches = [_Search(int(T * (1 + p / 100)), base_ps, base, steepest) for p in percents]
    while open_searches := [search for search in searches if not search.done]:
        points = [point for search in open_searches for point in search.points()]
        tangents = iter(lines(points))
        for search in open_searches:
            search.learn([next(tangents) for _ in search.points()])
    return [search.low for search in searches]


class _Search:
    """The largest whole x with T(x) <= bound: between ``low``, where that holds, and ``high``."""

    def __init__(
        self, bound_ps: int, base_ps: int, base: TangentLine, steepest: TangentLine
    ) -> None:
        self.bound = bound_ps
        self.low, self.low_line = base_ps, base
        self.high = _last_below(steepest, bound_ps)
        # The last latency at which T was found above the bound, and its tangent there.
        self.top: tuple[int, TangentLine] | None = None
        self._tighten(base)

    @property
    def done(self) -> bool:
        return self.low >= self.high

    def points(self) -> list[tuple[int, Side]]:
        """Return the next points of T to evaluate: the highest possible latency, and one below."""
        if self.top is None:
            return [(self.high, "left")]
        return [(self.high, "left"), (self._chord(*self.top), "right")]

    def learn(self, tangents: list[TangentLine]) -> None:
        """Tighten the bounds by the tangents at ``points()``."""
        if tangents[0].at(self.high) <= self.bound:
            self.low = self.high
            return
        if self.top is not None:
            self.low, self.low_line = self._chord(*self.top), tangents[1]
        self.top = self.high, tangents[0]
        for tangent in tangents:
            self._tighten(tangent)

    def _tighten(self, line: TangentLine) -> None:
        if line.slope > 0:
            self.high = min(self.high, _last_below(line, self.bound))

    def _chord(self, top: int, top_line: TangentLine) -> int:
        """Return the latency at which the chord of two known points reaches the bound, or less."""
        T_low, T_top = self.low_line.at(self.low), top_line.at(top)
        step = (self.bound - T_low) * (top - self.low) // (T_top - T_low)
        return min(self.low + step, self.high)


def _last_below(line: TangentLine, bound_ps: int) -> int:
    return (bound_ps - line.intercept_ps) // line.slope
