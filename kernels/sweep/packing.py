"""An execution graph as a stream of instructions on few registers, in an order that may be run.

Operations are taken level by level, as they become ready: then neighbouring instructions belong to
different ranks and need not wait for one another, those of programs whose ranks do the same come in
runs of a kind, and a message's slot is free again soon. Registers are given out like those of a
processor: what has one dependency reads the register of that, what has several has one of its own
that each of them raises, and one that nobody will read any more is used again.

What is called for every instruction is inlined and counts no references to its arrays: 2.0 times as
fast on 10^7 operations (tests/benchmarks/test_sweep.py).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernels import inlined, kernel
from kernels.sweep import layout

OP_SEND, OP_RECV, OP_CALC = 1, 2, 3  # kinds of operations as LogGOPSim's binary numbers them

OK, WAITING, HALTED = 0, 1, 2  # done; operations wait for one another; asked to end

INSTRUCTIONS, SLOTTED, TYPED, CALCS, REGISTERS, SLOTS, FREE_SLOTS = range(7)
"""Cells of ``counts``."""

REGISTER, MISSING, ALIKE, MESSAGE, HOST = range(5)
"""What is kept of an operation: the register of its start; dependencies to come, ``STARTED`` once
it has started; the first of those that wait for the very same ends and starts, where these are
several, else -1; the number of a send's message, or the slot of a receive's; its rank. Those alike
have one register, that of the first. Until it has one, minus their number stands there."""

STARTED = -1  # instead of the number of dependencies to come

READERS, NEXT, RANK = range(3)
"""What is kept of a register: operations yet to read it, the next free one, whose it is."""

FREE, SINK = range(2)
"""What is kept of a rank: its first free register, and the one of ends that nobody waits for."""

_HALT_EVERY = 1 << 16  # chosen: entries of the queue between looks at ``halt``


class Room(NamedTuple):
    """Memory of the packing, the caller's: numpy asks for huge pages, and numba does not.

    Attributes:
        ops: int32[n, 5], ``REGISTER`` and so on.
        queue: int32[2 n].
        free_slot: int32[n].
    """

    ops: NDArray[np.int32]
    queue: NDArray[np.int32]
    free_slot: NDArray[np.int32]


class Stream(NamedTuple):
    """The instructions that ``pack`` writes, and the arrays that they refer to.

    Attributes:
        code: uint64[n + edges + messages], instructions of width ``WIDE``.
        op_of: int32[as code], the operation of each; -1 for ``JOIN``.
        slot: int32[3 messages].
        role_of: uint8[3 messages], the use of each row of costs.
        message_of: int32[3 messages], and its message.
        calc: int64[computations], ns.
        registers: int32[2 n + 1, 3], ``RANK`` is the rank of each.
        counts: int64[7]: ``INSTRUCTIONS`` and so on.
    """

    code: NDArray[np.uint64]
    op_of: NDArray[np.int32]
    slot: NDArray[np.int32]
    role_of: NDArray[np.uint8]
    message_of: NDArray[np.int32]
    calc: NDArray[np.int64]
    registers: NDArray[np.int32]
    counts: NDArray[np.int64]


@inlined
def _emit(kind, source, target, op, code, op_of, counts):
    at = counts[INSTRUCTIONS]
    code[at] = (
        (np.uint64(kind) << np.uint64(2 * layout.WIDE))
        | (np.uint64(source) << np.uint64(layout.WIDE))
        | np.uint64(target)
    )
    op_of[at] = op
    counts[INSTRUCTIONS] = at + 1


@inlined
def _slot(number, slot, counts):
    slot[counts[SLOTTED]] = number
    counts[SLOTTED] += 1


@inlined
def _row(role, message, role_of, message_of, counts):
    role_of[counts[TYPED]] = role
    message_of[counts[TYPED]] = message
    counts[TYPED] += 1


@inlined
def _new_register(rank, ranks, registers, counts):
    register = np.int64(ranks[rank, FREE])
    if register != -1:
        ranks[rank, FREE] = registers[register, NEXT]
        return register
    register = counts[REGISTERS]
    counts[REGISTERS] += 1
    registers[register, RANK] = rank
    return register


@inlined
def _free_register(register, rank, ranks, registers):
    registers[register, NEXT] = ranks[rank, FREE]
    ranks[rank, FREE] = register


@inlined
def _read(register, registers):
    """Count a read; say whether it was the last one of a register that may be set again."""
    if register == 0:
        return False
    registers[register, READERS] -= 1
    return registers[register, READERS] == 0


@inlined
def _join(source, op, rank, ops, ranks, registers, code, op_of, counts):
    """Raise the start of an operation that waits for several to a register's value."""
    target = np.int64(ops[op, REGISTER])
    kind = layout.JOIN + layout.TO_LATEST
    if target <= 0:
        readers = -target
        target = _new_register(rank, ranks, registers, counts)
        ops[op, REGISTER] = target
        registers[target, READERS] = readers
        kind = layout.JOIN
    _emit(kind, source, target, -1, code, op_of, counts)


@inlined
def _finish(
    kind, op, rank, source, spare, req_start, req_ops, ops, ranks, registers, code, op_of, counts
):
    """Emit the end of an operation into the registers that its dependents read.

    ``spare`` is the source register where nobody will read it again, else -1.
    """
    first, last = req_start[op], req_start[op + 1]
    aliases = joined = 0
    other = np.int64(-1)
    for i in range(first, last):
        waiting = np.int64(req_ops[i])
        if ops[waiting, ALIKE] == -1:
            aliases += 1
        elif ops[waiting, ALIKE] == waiting:
            joined += 1
            other = waiting
    if aliases == 0 and joined < 2:
        held = np.int64(ranks[rank, SINK] if joined == 0 else ops[other, REGISTER])
        if held > 0:
            _emit(kind + layout.TO_LATEST, source, held, op, code, op_of, counts)
            if spare != -1:
                _free_register(spare, rank, ranks, registers)
            return
        target = spare if spare != -1 else _new_register(rank, ranks, registers, counts)
        _emit(kind, source, target, op, code, op_of, counts)
        if joined == 0:
            ranks[rank, SINK] = target
        else:
            ops[other, REGISTER] = target
            registers[target, READERS] = -held
        return
    target = spare if spare != -1 else _new_register(rank, ranks, registers, counts)
    _emit(kind, source, target, op, code, op_of, counts)
    registers[target, READERS] = aliases
    for i in range(first, last):
        waiting = np.int64(req_ops[i])
        if ops[waiting, ALIKE] == -1:
            ops[waiting, REGISTER] = target
        elif ops[waiting, ALIKE] == waiting:
            _join(target, waiting, rank, ops, ranks, registers, code, op_of, counts)
    if aliases == 0:
        _free_register(target, rank, ranks, registers)


@kernel(cache=True, nogil=True)
def pack(graph, rank_start, S, alike, missing, halt, room, stream):
    """Write a program's instructions.

    Args:
        graph: ``MatchedGraph``.
        rank_start: int64[ranks + 1], first operation of each rank.
        S: largest eager message, bytes.
        alike: int32[n], of ``first_alike``.
        missing: int32[n], dependencies each operation waits for.
        halt: int8[1], ends the packing when it is set.
        room: ``Room``.
        stream: ``Stream``, out.

    Returns:
        OK, WAITING (operations wait for one another) or HALTED.
    """
    kind, size, match, req_start, req_ops, ireq_start, ireq_ops = graph
    code, op_of, slot, role_of, message_of, calc, registers, counts = stream
    n = len(kind)
    counts[:] = 0
    counts[REGISTERS] = 1
    registers[0, RANK] = -1
    ops, queue, free_slot = room
    ranks = np.full((len(rank_start) - 1, 2), -1, np.int32)
    tail = messages = 0
    for place in range(len(ranks)):
        for one in range(rank_start[place], rank_start[place + 1]):
            ops[one, REGISTER] = 0
            ops[one, MISSING] = missing[one]
            ops[one, ALIKE] = -1
            ops[one, HOST] = place
            if missing[one] > 1:
                ops[one, ALIKE] = alike[one]
                ops[alike[one], REGISTER] -= 1
            elif missing[one] == 0:
                queue[tail] = one
                tail += 1
            if kind[one] == OP_SEND:
                ops[one, MESSAGE] = messages
                messages += 1
    head = ended = 0
    while head < tail:
        if head % _HALT_EVERY == 0 and halt[0] != 0:
            return HALTED
        op = np.int64(queue[head])
        head += 1
        # A receive that was ready before its message is put back, as ~op, once that is sent.
        arrived = op < 0
        if arrived:
            op = ~op
        rank = np.int64(ops[op, HOST])
        first = np.int64(ops[op, ALIKE] if ops[op, ALIKE] != -1 else op)
        source = max(np.int64(ops[first, REGISTER]), np.int64(0))
        if not arrived:
            ops[op, MISSING] = STARTED
            for i in range(ireq_start[op], ireq_start[op + 1]):
                waiting = np.int64(ireq_ops[i])
                if ops[waiting, ALIKE] == -1:
                    ops[waiting, REGISTER] = source
                    registers[source, READERS] += 1
                elif ops[waiting, ALIKE] == waiting and source != 0:
                    _join(source, waiting, rank, ops, ranks, registers, code, op_of, counts)
                ops[waiting, MISSING] -= 1
                if ops[waiting, MISSING] == 0:
                    queue[tail] = waiting
                    tail += 1
        send = np.int64(match[op])
        if kind[op] == OP_CALC:
            emitted = layout.CALC
            calc[counts[CALCS]] = size[op]
            counts[CALCS] += 1
        elif kind[op] == OP_SEND:
            emitted = layout.SEND if size[op] <= S else layout.PUT
            if counts[FREE_SLOTS] > 0:
                counts[FREE_SLOTS] -= 1
                number = np.int64(free_slot[counts[FREE_SLOTS]])
            else:
                number = counts[SLOTS]
                counts[SLOTS] += 1
            receive = np.int64(match[op])
            ops[receive, MESSAGE] = number
            _slot(number, slot, counts)
            role = layout.EAGER if emitted == layout.SEND else layout.HEADER
            _row(role, ops[op, MESSAGE], role_of, message_of, counts)
            if ops[receive, MISSING] == STARTED:
                queue[tail] = ~receive
                tail += 1
        elif ops[send, MISSING] == STARTED:
            number = np.int64(ops[op, MESSAGE])
            _slot(number, slot, counts)
            free_slot[counts[FREE_SLOTS]] = number
            counts[FREE_SLOTS] += 1
            emitted = layout.RECV
            if size[send] > S:
                emitted = layout.MEET
                _row(layout.MET, ops[send, MESSAGE], role_of, message_of, counts)
        else:
            continue
        spare = source if _read(source, registers) else np.int64(-1)
        if emitted == layout.PUT:
            _emit(layout.PUT, source, 0, op, code, op_of, counts)
            if spare != -1:
                _free_register(spare, rank, ranks, registers)
            continue
        while True:
            _finish(
                emitted,
                op,
                rank,
                source,
                spare,
                req_start,
                req_ops,
                ops,
                ranks,
                registers,
                code,
                op_of,
                counts,
            )
            ended += 1
            for i in range(req_start[op], req_start[op + 1]):
                waiting = np.int64(req_ops[i])
                ops[waiting, MISSING] -= 1
                if ops[waiting, MISSING] == 0:
                    queue[tail] = waiting
                    tail += 1
            if emitted != layout.MEET:
                break
            # Both ends of a rendezvous are over together: its send comes next.
            _slot(np.int64(ops[op, MESSAGE]), slot, counts)
            _row(layout.RELEASED, ops[send, MESSAGE], role_of, message_of, counts)
            emitted, op, rank = layout.TAKE, send, np.int64(ops[send, HOST])
            source, spare = np.int64(0), np.int64(-1)
    return OK if ended == n else WAITING


@kernel(cache=True, nogil=True)
def narrow(wide, width, code):
    """Write instructions with another width of their registers' numbers.

    Args:
        wide: uint64[instructions], of width ``WIDE``.
        width: bits of a register's number, all of which must fit.
        code: uint32 or uint64[instructions], out.
    """
    mask = np.uint64((1 << layout.WIDE) - 1)
    bits = np.uint64(width)
    for i in range(len(wide)):
        word = wide[i]
        kind = word >> np.uint64(2 * layout.WIDE)
        source = (word >> np.uint64(layout.WIDE)) & mask
        code[i] = (kind << (bits + bits)) | (source << bits) | (word & mask)
