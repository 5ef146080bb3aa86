"""Passes over a packed program: T and its slopes at given latencies, in whole picoseconds.

With x the latency that varies, T(x) is the maximum over all paths of b + a x with whole a and b. A
pass gives T and the steepest or flattest line of those that reach it there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from kernels import sweep as kernels
from workbench.arrays import IntArray
from workbench.errors import ParameterError, SimulationHalted
from workbench.simulate.picoseconds import CLOCK_END, PS_PER_NS, PS_PER_S
from workbench.tasks import Task, task_of
from workbench.tolerance.packed_program import Costs, PackedProgram

Side = Literal["left", "right"]


_NO_NOTES = np.empty(0, np.uint8)


@dataclass(frozen=True)
class TangentLine:
    """A line T = intercept_ps + slope * x that T(x) touches; the slope is a number of latencies."""

    slope: int
    intercept_ps: int

    def at(self, x_ps: int) -> int:
        """Return T on the line at a latency, ps."""
        return self.intercept_ps + self.slope * x_ps


class Passes:
    """T and its slopes by passes over a packed program, and the number of these passes."""

    def __init__(self, packed: PackedProgram, costs: Costs, *, task: Task | None = None) -> None:
        self.packed, self.costs = packed, costs
        self.passes = self.lanes = 0  # over the program, and the (latency, side) pairs they solved
        self._task = task_of(task)
        self._check_clock()
        slope, at_zero = self._pair(costs.multiples, costs.constant_ps, 0, costs.o_ps, 0, PS_PER_NS)
        self.steepest = TangentLine(slope, at_zero)  # of T(x) for large x
        self._T_at_zero = self._pair(
            costs.constant_ps, np.zeros_like(costs.constant_ps), costs.o_ps, 0, PS_PER_NS, 0
        )[0]

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
        time = costs.constant_ps + costs.multiples * x_ps
        if bits is None:
            lines = []
            for sign in (-1, 1):
                registers = self._pairs(
                    time, sign * costs.multiples, costs.o_ps, 0, PS_PER_NS, 0, notes
                )
                T = registers[:, 0].max()
                last = int(np.argmax(np.where(registers[:, 0] == T, registers[:, 1], -(2**62))))
                lines.append(_line(int(T), sign * int(registers[last, 1]), x_ps))
            return lines[0], lines[1], last, notes
        table = np.stack(
            [(time << bits) - costs.multiples, (time << bits) + costs.multiples], axis=1
        )
        registers = np.zeros((packed.registers, 2), np.int64)
        kernels.passes.point(
            packed.code,
            packed.slot,
            costs.row,
            packed.calc_ns,
            table,
            costs.o_ps << bits,
            PS_PER_NS << bits,
            registers,
            np.empty((packed.slots, 2), np.int64),
            notes,
        )
        self._count(2)
        left, right = (int(key) for key in registers.max(axis=0))
        last = int(registers[:, 1].argmax())
        return (
            _decoded(left, bits, "left", x_ps),
            _decoded(right, bits, "right", x_ps),
            last,
            notes,
        )

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
            return [self._slowly(x, side) for x, side in points]
        x = np.array([x for x, _ in points], np.int64)
        sign = np.array([-1 if side == "left" else 1 for _, side in points], np.int64)
        time = costs.constant_ps[:, None] + costs.multiples[:, None] * x
        table = (time << bits) + costs.multiples[:, None] * sign
        own, per_ns = costs.o_ps << bits, PS_PER_NS << bits
        if len(points) == 1:
            keys = [int(self._keys(table[:, 0].copy(), own, per_ns).max())]
        else:
            keys = self._lanes(table, own, per_ns)
            self.lanes += len(points) - 1
        return [
            _decoded(key, bits, side, x_ps) for key, (x_ps, side) in zip(keys, points, strict=True)
        ]

    def _slowly(self, x_ps: int, side: Side) -> TangentLine:
        """Return a line by two numbers, where one of 63 bits cannot hold both."""
        costs = self.costs
        sign = -1 if side == "left" else 1
        time = costs.constant_ps + costs.multiples * x_ps
        T, slope = self._pair(time, sign * costs.multiples, costs.o_ps, 0, PS_PER_NS, 0)
        return _line(T, sign * slope, x_ps)

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
        kernels.passes.keys(
            packed.code,
            packed.slot,
            self.costs.row,
            packed.calc_ns,
            table,
            own,
            per_ns,
            registers,
            np.empty(packed.slots, table.dtype),
        )
        self._count(1)
        return registers

    def _lanes(self, table: IntArray, own: int, per_ns: int) -> list[int]:
        packed, lanes = self.packed, kernels.lanes.LANES
        full = np.zeros((len(table), lanes), np.int64)
        full[:, : table.shape[1]] = table
        registers = np.zeros((packed.registers, lanes), np.int64)
        kernels.lanes.keys(
            packed.code,
            packed.slot,
            self.costs.row,
            packed.calc_ns,
            full,
            own,
            per_ns,
            registers,
            np.empty((packed.slots, lanes), np.int64),
        )
        self._count(1)
        return [int(key) for key in registers.max(axis=0)[: table.shape[1]]]

    def _pair(
        self,
        first: IntArray,
        second: IntArray,
        own: int,
        own_second: int,
        per_ns: int,
        per_ns_second: int,
    ) -> tuple[int, int]:
        """Return the largest first number, and of those that have it the largest second."""
        registers = self._pairs(first, second, own, own_second, per_ns, per_ns_second, _NO_NOTES)
        most = int(registers[:, 0].max())
        return most, int(registers[registers[:, 0] == most, 1].max())

    def _pairs(
        self,
        first: IntArray,
        second: IntArray,
        own: int,
        own_second: int,
        per_ns: int,
        per_ns_second: int,
        notes: NDArray[np.uint8],
    ) -> IntArray:
        packed = self.packed
        registers = np.zeros((packed.registers, 2), np.int64)
        kernels.passes.pairs(
            packed.code,
            packed.slot,
            self.costs.row,
            packed.calc_ns,
            first,
            second,
            own,
            own_second,
            per_ns,
            per_ns_second,
            registers,
            np.empty((packed.slots, 2), np.int64),
            notes,
        )
        self._count(1)
        return registers

    def _count(self, lanes: int) -> None:
        self.passes += 1
        self.lanes += lanes


def _decoded(key: int, bits: int, side: Side, x_ps: int) -> TangentLine:
    """Return the line that a key stands for."""
    if side == "right":
        return _line(key >> bits, key & ((1 << bits) - 1), x_ps)
    T = -((-key) >> bits)
    return _line(T, (T << bits) - key, x_ps)


def _line(T_ps: int, slope: int, x_ps: int) -> TangentLine:
    return TangentLine(slope, T_ps - slope * x_ps)
