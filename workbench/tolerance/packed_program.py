"""A program packed for sweeps over its latency: instructions, and what its messages cost.

The instructions depend on the program, on which receive takes which send and on S alone; what the
messages cost is a table beside them, one set of rows for each class of messages that cost the same.
So another L, o or G needs no packing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernels.loggops.llamp import count_missing
from kernels.sweep import alike as alike_kernel, packing as kernel
from kernels.sweep.layout import EAGER, HEADER, MET, NARROW, RELEASED, ROLES, WIDE
from workbench.arrays import IntArray
from workbench.errors import SimulationHalted
from workbench.models import LogGPS
from workbench.programs.graph import CALC, SEND, ExecutionGraph
from workbench.programs.graph_arrays import matched
from workbench.simulate.llamp import forward_pass
from workbench.simulate.picoseconds import ByteCost
from workbench.tasks import Task, task_of

_MOST_NARROW_CLASSES = (1 << 16) // ROLES


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
