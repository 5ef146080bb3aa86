"""The schedule of one collective: which rank sends which bytes to whom, and what waits for what."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import IntArray
from workbench.checks import whole, whole_each
from workbench.errors import ParameterError
from workbench.programs.collectives.layout import lay_out, layout
from workbench.programs.collectives.registry import find_algorithm, with_value
from workbench.programs.collectives.rounds import Algorithm, CollectiveCase, check_number
from workbench.programs.graph import CALC, Dependents, ExecutionGraph

_ROOTED = frozenset({"bcast", "reduce", "gather", "scatter"})
COMBINING = frozenset({"reduce", "allreduce", "reduce_scatter", "scan", "exscan"})
"""The operations that combine the data of ranks."""

_BY_RANK = frozenset({"gather", "scatter", "allgather", "reduce_scatter"})
_BARRIER_BYTES = 1  # messages of 0 bytes are left out
MOST_RANKS = 2**20
"""Most ranks of a collective: chosen, Frontier has 600,000 cores."""
_MOST_SEGMENTS = 2**16  # chosen: a pipeline has as many messages of each rank
_MOST_BYTES = 2**62  # a sum of two such numbers is still an int64


@dataclass(frozen=True, eq=False)
class Schedule:
    """A collective as messages between the ranks of its communicator.

    Messages without bytes are left out at both ends: what they carry is nothing, and MPI libraries
    do not send them either where counts are 0. What waited for one waits for what it waited for. A
    barrier's messages have 1 byte each.

    Attributes:
        operation: which collective.
        algorithm: how, such as ``ring`` or ``pipeline:8192``.
        ranks: number of ranks.
        root: 0 where there is none.
        rank_start: int64[ranks + 1]; the operations of rank ``r`` are those from
            ``rank_start[r]`` up to ``rank_start[r + 1]``.
        kind: uint8[n]: ``SEND``, ``RECV`` or ``CALC``.
        peer: int32[n], rank a message goes to or comes from; 0 for computations.
        size: int64[n], bytes of a message, nanoseconds of a computation.
        tag: int32[n], to be added to the collective's tag: messages of one pair that are under way
            together in no order differ in it.
        after: int32[edges], operation that waits, ascending.
        before: int32[edges], operation of the same rank that must have finished.
        message: int32[n], which message is sent, received or combined; -1 for joins.
        reduces: bool[messages], whether the receiver combines it with its own.
        block_start: int64[messages + 1]; message ``m`` carries the blocks
            ``blocks[block_start[m]:block_start[m + 1]]``.
        blocks: int32, numbers of blocks.
        block_bytes: int64[number of blocks]: the parts of the vector for bcast, reduce,
            allreduce, scan and exscan; the ranks' blocks for gather, scatter, allgather and
            reduce_scatter; ``sender * ranks + receiver`` for alltoall.
        note: why another algorithm runs than was asked for; empty where none does.
    """

    operation: str
    algorithm: str
    ranks: int
    root: int
    rank_start: IntArray
    kind: NDArray[np.uint8]
    peer: NDArray[np.int32]
    size: IntArray
    tag: NDArray[np.int32]
    after: NDArray[np.int32]
    before: NDArray[np.int32]
    message: NDArray[np.int32]
    reduces: NDArray[np.bool_]
    block_start: IntArray
    blocks: NDArray[np.int32]
    block_bytes: IntArray
    note: str = ""

    @property
    def num_ops(self) -> int:
        """Number of operations of all ranks."""
        return len(self.kind)

    @property
    def num_messages(self) -> int:
        """Number of messages."""
        return len(self.reduces)

    @property
    def bytes_sent(self) -> int:
        """Bytes of all messages."""
        return int(self.size[self.kind != CALC].sum()) // 2

    @cached_property
    def entries(self) -> NDArray[np.int32]:
        """Operations that wait for no other, int32[any]; a rank may have none."""
        return self._not_in(self.after)

    @cached_property
    def exits(self) -> NDArray[np.int32]:
        """Operations that no other waits for, int32[any]; a rank may have none."""
        return self._not_in(self.before)

    def blocks_of(self, op: int) -> NDArray[np.int32]:
        """Return the blocks that an operation sends, receives or combines.

        Args:
            op: number of the operation.
        """
        message = int(self.message[op])
        if message < 0:
            return self.blocks[:0]
        return self.blocks[self.block_start[message] : self.block_start[message + 1]]

    def graph(self) -> ExecutionGraph:
        """Return the execution graph of this collective alone."""
        n = self.num_ops
        none = np.zeros(0, np.int32)
        return ExecutionGraph(
            rank_start=self.rank_start,
            kind=self.kind,
            size=self.size,
            peer=self.peer,
            tag=self.tag.astype(np.uint32),
            cpu=np.zeros(n, np.uint8),
            nic=np.zeros(n, np.uint8),
            requires=Dependents.from_pairs(self.after, self.before, n),
            irequires=Dependents.from_pairs(none, none, n),
            source=f"{self.operation} {self.algorithm}",
            notes=(f"{self.note}.",) if self.note else (),
        )

    def __repr__(self) -> str:
        root = f", root {self.root}" if self.operation in _ROOTED else ""
        return (
            f"Schedule({self.operation} {self.algorithm}: {self.ranks} ranks{root}, "
            f"{self.num_messages} messages, {self.bytes_sent} B, {self.num_ops} operations)"
        )

    def _not_in(self, ops: NDArray[np.int32]) -> NDArray[np.int32]:
        free = np.ones(self.num_ops, bool)
        free[ops] = False
        return np.flatnonzero(free).astype(np.int32)


def schedule(
    operation: str,
    algorithm: str | None,
    ranks: int,
    *,
    size: int = 0,
    sizes: Sequence[int] = (),
    element_bytes: int | None = None,
    root: int = 0,
    segment_bytes: int | None = None,
    fanout: int | None = None,
    reduce_ns_per_byte: float = 0.0,
) -> Schedule:
    """Return a collective as messages.

    Args:
        operation: one of ``workbench.programs.program.OPERATIONS``.
        algorithm: algorithm, such as ``ring`` or ``pipeline:8192``; None takes the usual one.
        ranks: number of ranks.
        size: bytes of the vector for bcast, reduce, allreduce, scan, exscan; of one rank's part for
            gather, scatter, allgather, reduce_scatter; from one rank to another for alltoall. A
            vector is cut into parts whose sizes differ by one element at most.
        sizes: bytes of each rank instead, such as 100,0,250; row by row, sender by receiver, for
            alltoall.
        element_bytes: bytes of an element of the vector, which are never cut: where it has fewer
            elements than the algorithm cuts blocks, another runs, as in MPI libraries. None cuts
            anywhere.
        root: rank that sends to all or receives from all.
        segment_bytes: most bytes of a segment, for algorithms that cut.
        fanout: base of k-nomial trees.
        reduce_ns_per_byte: time to combine a byte with another, ns; 0 leaves out the computations.

    Raises:
        ParameterError: an argument does not fit the operation or algorithm, a count is no whole
            number, or the schedule would be too large.
    """
    ranks, root, size = whole(ranks, "ranks"), whole(root, "root"), whole(size, "size")
    chosen = find_algorithm(operation, algorithm)
    for name, value in (("segment_bytes", segment_bytes), ("fanout", fanout)):
        if value is not None:
            chosen = with_value(chosen, whole(value, name), name)
    _check(operation, ranks, root)
    check_reduce_time(reduce_ns_per_byte)
    note = ""
    if element_bytes is not None:
        _check_elements(size, whole(element_bytes, "element_bytes"))
        few = _for_few_elements(operation, chosen, CollectiveCase(ranks), size // element_bytes)
        if few is not chosen:
            note = (
                f"{operation} of fewer elements than the blocks of {chosen.label} runs {few.label} "
                "instead, as in MPI libraries"
            )
            chosen = few
    case = case_of(chosen, ranks, root, size, element_bytes or 1)
    block_bytes = _block_bytes(operation, chosen, case, size, sizes, element_bytes or 1)

    combining = reduce_ns_per_byte > 0
    made = layout(operation, chosen, case, combining=combining)
    message_bytes = made.messages.sizes(block_bytes)
    if not message_bytes.all():
        kept = made.messages.keep(message_bytes > 0)
        made = lay_out(kept, ranks, combining=combining)
        message_bytes = message_bytes[message_bytes > 0]

    op_size = np.append(message_bytes, 0)[made.message]
    if combining:
        calc = made.kind == CALC
        op_size[calc] = np.rint(op_size[calc] * reduce_ns_per_byte).astype(np.int64)
    return Schedule(
        operation=operation,
        algorithm=chosen.label,
        ranks=ranks,
        root=root,
        rank_start=made.rank_start,
        kind=made.kind,
        peer=made.peer,
        size=op_size,
        tag=made.tag,
        after=made.after,
        before=made.before,
        message=made.message,
        reduces=made.messages.reduce,
        block_start=made.messages.block_start,
        blocks=made.messages.blocks,
        block_bytes=block_bytes,
        note=note,
    )


def check_reduce_time(ns_per_byte: float) -> None:
    """Refuse a time to combine a byte that is not 0 to 1e9 ns."""
    if not (math.isfinite(ns_per_byte) and 0 <= ns_per_byte <= 1e9):
        raise ParameterError(
            f"reduce_ns_per_byte must be 0 to 1e9 ns; got {ns_per_byte}",
            key="reduce_ns_per_byte",
        )


def _check(operation: str, ranks: int, root: int) -> None:
    if not 1 <= ranks <= MOST_RANKS:
        raise ParameterError(f"ranks must be 1 to {MOST_RANKS}; got {ranks}", key="ranks")
    if root and operation not in _ROOTED:
        raise ParameterError(f"{operation} has no root; got root={root}", key="root")
    if not 0 <= root < ranks:
        raise ParameterError(f"root must be 0 to {ranks - 1}; got {root}", key="root")


def _check_elements(size: int, element_bytes: int) -> None:
    if element_bytes < 1 or size % element_bytes:
        raise ParameterError(
            f"size must be whole elements of at least 1 B; got {size} B and element_bytes="
            f"{element_bytes}",
            key="element_bytes",
        )


def _for_few_elements(
    operation: str, algorithm: Algorithm, case: CollectiveCase, elements: int
) -> Algorithm:
    """Return the algorithm that runs for a number of elements: the given one, or its ``few``."""
    if algorithm.few and 0 < elements < algorithm.split(case):
        return find_algorithm(operation, algorithm.few)
    return algorithm


def case_of(
    algorithm: Algorithm, ranks: int, root: int, size: int, element_bytes: int = 1
) -> CollectiveCase:
    """Return what an algorithm's rounds depend on; ``size`` is that of the data it cuts."""
    if algorithm.parameter == "fanout":
        return CollectiveCase(ranks, root, fanout=min(algorithm.value, max(ranks, 2)))
    case = CollectiveCase(ranks, root)
    if algorithm.parameter != "segment_bytes":
        return case
    largest = -(-(size // element_bytes) // algorithm.split(case))  # elements
    segments = max(1, -(-largest // max(1, algorithm.value // element_bytes)))
    if segments > _MOST_SEGMENTS:
        raise ParameterError(
            f"{algorithm.label} must cut {largest * element_bytes} B into {_MOST_SEGMENTS} "
            f"segments at most; got {segments}: take longer segments",
            key="segment_bytes",
        )
    return CollectiveCase(ranks, root, segments=segments)


def _block_bytes(
    operation: str,
    algorithm: Algorithm,
    case: CollectiveCase,
    size: int,
    sizes: Sequence[int],
    element_bytes: int,
) -> IntArray:
    """Return the bytes of each block, int64[blocks]."""
    if operation in _BY_RANK:
        number = case.ranks
    elif operation == "alltoall":
        number = case.ranks**2
    else:
        number = 1 if operation == "barrier" else algorithm.split(case)
    check_number(number, "block sizes")
    if len(sizes):
        if operation not in _BY_RANK | {"alltoall"}:
            raise ParameterError(f"{operation} takes one size, no sizes", key="sizes")
        if len(sizes) != number:
            raise ParameterError(
                f"{operation} of {case.ranks} ranks needs {number} sizes; got {len(sizes)}",
                key="sizes",
            )
        each = whole_each(sizes, "sizes")
        _check_bytes(min(each), sum(each), "sizes")
        return np.array(each, np.int64)
    if operation == "barrier":
        return np.full(1, _BARRIER_BYTES)
    if operation in _BY_RANK | {"alltoall"}:
        _check_bytes(size, size * number, "size")
        return np.full(number, size, np.int64)
    _check_bytes(size, size, "size")
    quotient, rest = divmod(size // element_bytes, number)
    return (quotient + (np.arange(number) < rest)) * element_bytes


def _check_bytes(least: int, total: int, key: str) -> None:
    if least < 0 or total > _MOST_BYTES:
        raise ParameterError(
            f"{key} must be at least 0 B and {_MOST_BYTES} B altogether at most; got "
            f"{least if least < 0 else total} B",
            key=key,
        )
