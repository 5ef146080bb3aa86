"""The execution graph: what every rank of a program does, and what has to come before what.

Sends, receives and computations of all ranks lie in flat arrays, rank after rank, as in a GOAL file
(Hoefler, Siebert, Lumsdaine: Group Operation Assembly Language, ICPP 2009). An operation's number
is its place in these arrays. Dependencies join operations of one rank; what joins two ranks is a
message, and which receive takes which send is settled by the run.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from workbench.errors import ParameterError
from workbench.programs.recorded_run import RecordedRun
from workbench.result import Drawing
from workbench.suggestions import Suggesting

if TYPE_CHECKING:
    import networkx
    import pandas as pd

    from workbench.programs.check import GraphProblem

SEND, RECV, CALC = 1, 2, 3  # as in LogGOPSim's binary, where CALC is a LOCOP
KIND_NAMES = {SEND: "send", RECV: "recv", CALC: "calc"}

MOST_NODES = 100_000
"""Most operations of a graph that becomes one of networkx, which takes about 2 KB for each."""

ANY_SOURCE = -1
"""Peer of a receive that takes a message from any rank."""

ANY_TAG = 2**32 - 1
"""Tag that matches every tag: -1 as the formats' unsigned 32-bit number."""

MOST = 2**31 - 1
"""Most operations, and most dependencies, that a graph can hold."""

IntArray = NDArray[np.int64]

_DTYPES: dict[str, type[np.generic]] = {
    "rank_start": np.int64,
    "kind": np.uint8,
    "size": np.int64,
    "peer": np.int32,
    "tag": np.uint32,
    "cpu": np.uint8,
    "nic": np.uint8,
}


def _for_kernels(name: str, array: NDArray[Any], dtype: type[np.generic]) -> NDArray[Any]:
    """Return the array, or its copy: kernels compile anew for read-only or strided arrays."""
    given = np.asarray(array)
    ready = np.require(given, dtype, ["C_CONTIGUOUS", "WRITEABLE"])
    if ready.dtype != given.dtype and not np.array_equal(ready, given):
        raise ParameterError(
            f"{name} must hold {ready.dtype}; got {given.dtype} with values that do not fit it",
            key=name,
        )
    return ready


@dataclass(frozen=True, eq=False)
class Dependents:
    """For each operation the operations that wait for it, in the order of their dependency lines.

    Attributes:
        start: int32[n + 1]; those that wait for operation ``i`` are
            ``ops[start[i]:start[i + 1]]``.
        ops: int32[edges], numbers of operations.
    """

    start: NDArray[np.int32]
    ops: NDArray[np.int32]

    def __post_init__(self) -> None:
        for name in ("start", "ops"):
            object.__setattr__(self, name, _for_kernels(name, getattr(self, name), np.int32))

    @classmethod
    def from_pairs(cls, after: ArrayLike, before: ArrayLike, num_ops: int) -> Dependents:
        """Return the dependents given as pairs, which keep their order.

        Args:
            after: int[edges], the operation that waits.
            before: int[edges], the operation it waits for.
            num_ops: number of operations of the graph.

        Raises:
            ParameterError: a pair names an operation that does not exist.
        """
        waiting, awaited = np.asarray(after, np.int64), np.asarray(before, np.int64)
        for ops in (waiting, awaited):
            if len(ops) and not (ops.min() >= 0 and ops.max() < num_ops):
                raise ParameterError(
                    f"dependencies must join operations 0 to {num_ops - 1}; got "
                    f"{int(ops.min())} to {int(ops.max())}",
                    key="requires",
                )
        order = np.argsort(awaited, kind="stable")
        start = np.zeros(num_ops + 1, np.int32)
        np.cumsum(np.bincount(awaited, minlength=num_ops), out=start[1:])
        return cls(start, waiting[order].astype(np.int32))

    def of(self, op: int) -> NDArray[np.int32]:
        """Return the operations that wait for one, in order.

        Args:
            op: number of the operation.
        """
        return self.ops[self.start[op] : self.start[op + 1]]

    def pairs(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return ``(after, before)``, int32[edges] each, as ``from_pairs`` takes them."""
        before = np.repeat(np.arange(len(self.start) - 1, dtype=np.int32), np.diff(self.start))
        return self.ops, before

    def __len__(self) -> int:
        return len(self.ops)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Dependents):
            return NotImplemented
        return np.array_equal(self.start, other.start) and np.array_equal(self.ops, other.ops)

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, eq=False)
class ExecutionGraph(Suggesting):
    """A program as operations and dependencies; nothing in it depends on a network.

    Two graphs are equal when their operations and dependencies are, wherever they came from.

    Attributes:
        rank_start: int64[ranks + 1]; the operations of rank ``r`` are those from
            ``rank_start[r]`` up to ``rank_start[r + 1]``.
        kind: uint8[n]: ``SEND``, ``RECV`` or ``CALC``.
        size: int64[n]: bytes of a message, nanoseconds of a computation.
        peer: int32[n]: rank a send goes to or a receive comes from, ``ANY_SOURCE`` for any; 0 for
            computations.
        tag: uint32[n]: ``ANY_TAG`` matches all; 0 for computations.
        cpu: uint8[n]: core of the rank that the operation occupies.
        nic: uint8[n]: network interface of the rank that a message occupies; 0 for computations.
        requires: operations that must not start before this one has finished.
        irequires: operations that must not start before this one has started.
        source: name of the file or generator the graph came from; not compared.
        line: int32[n], line of the file each operation stands in, or None; not compared.
        notes: what the source held that the graph does not, a sentence each; not compared.
        recorded: what the program's recording took, where it was recorded; not compared.
        call_name: uint8[n], place in ``program.MPI_CALLS`` of the call that an operation is part
            of, or that a computation comes before; None where that is not known, as of GOAL files;
            not compared.
        call_number: int32[n], which of its rank's calls of that name it is, from 1; None where
            ``call_name`` is; not compared.
    """

    rank_start: IntArray
    kind: NDArray[np.uint8]
    size: IntArray
    peer: NDArray[np.int32]
    tag: NDArray[np.uint32]
    cpu: NDArray[np.uint8]
    nic: NDArray[np.uint8]
    requires: Dependents
    irequires: Dependents
    source: str = "program"
    line: NDArray[np.int32] | None = None
    notes: tuple[str, ...] = field(default=())
    recorded: RecordedRun | None = None
    call_name: NDArray[np.uint8] | None = None
    call_number: NDArray[np.int32] | None = None

    plot = Drawing("plot_communication_matrix")

    def __post_init__(self) -> None:
        for name, dtype in _DTYPES.items():
            object.__setattr__(self, name, _for_kernels(name, getattr(self, name), dtype))
        n = len(self.kind)
        if n > MOST:
            raise ParameterError(f"a graph holds at most {MOST} operations; got {n}", key="kind")
        for name in ("size", "peer", "tag", "cpu", "nic"):
            if len(getattr(self, name)) != n:
                raise ParameterError(
                    f"{name} must have one entry for each of {n} operations; got "
                    f"{len(getattr(self, name))}",
                    key=name,
                )
        starts = self.rank_start
        if len(starts) < 2 or starts[0] != 0 or starts[-1] != n or (np.diff(starts) < 0).any():
            raise ParameterError(
                f"rank_start must ascend from 0 to the number of operations, {n}", key="rank_start"
            )

    @property
    def num_ranks(self) -> int:
        """Number of ranks."""
        return len(self.rank_start) - 1

    @property
    def num_ops(self) -> int:
        """Number of operations of all ranks."""
        return len(self.kind)

    @property
    def num_cpus(self) -> int:
        """Number of cores per rank: the highest core number plus one."""
        return int(self.cpu.max(initial=0)) + 1

    @property
    def num_nics(self) -> int:
        """Number of network interfaces per rank: the highest number plus one."""
        return int(self.nic.max(initial=0)) + 1

    def __len__(self) -> int:
        """Return the number of operations of all ranks."""
        return self.num_ops

    def ops_of(self, rank: int) -> range:
        """Return the numbers of a rank's operations.

        Args:
            rank: from 0.

        Raises:
            ParameterError: there is no such rank.
        """
        self._check_rank(rank)
        return range(int(self.rank_start[rank]), int(self.rank_start[rank + 1]))

    def rank_of(self, ops: ArrayLike) -> NDArray[np.int32]:
        """Return the rank of each operation.

        Args:
            ops: numbers of operations.
        """
        return (np.searchsorted(self.rank_start, np.asarray(ops), side="right") - 1).astype(
            np.int32
        )

    def in_degree(self) -> NDArray[np.int32]:
        """Return the number of dependencies that each operation waits for, int32[n]."""
        counts = np.bincount(self.requires.ops, minlength=self.num_ops)
        return (counts + np.bincount(self.irequires.ops, minlength=self.num_ops)).astype(np.int32)

    def describe(self, op: int) -> str:
        """Return one operation as a phrase: ``rank 3, line 17: recv 64 B from 2 tag 7``.

        Args:
            op: its number.
        """
        rank = int(self.rank_of(op))
        place = (
            f"line {self.line[op]}" if self.line is not None else f"op {op - self.ops_of(rank)[0]}"
        )
        kind, size = int(self.kind[op]), int(self.size[op])
        if kind == CALC:
            return f"rank {rank}, {place}: calc {size} ns"
        peer = "any" if self.peer[op] == ANY_SOURCE else str(int(self.peer[op]))
        tag = "any" if self.tag[op] == ANY_TAG else str(int(self.tag[op]))
        word = "to" if kind == SEND else "from"
        return f"rank {rank}, {place}: {KIND_NAMES[kind]} {size} B {word} {peer} tag {tag}"

    def select(self, ranks: Iterable[int]) -> ExecutionGraph:
        """Return the operations of some ranks alone, numbered from 0 in the order given.

        Messages to or from ranks that are left out become computations of 0 ns, so that what waits
        for them still waits for what they waited for; a receive from any rank stays one. Notes say
        how many of either there are.

        Args:
            ranks: which to keep.

        Raises:
            ParameterError: there is no such rank, or one is named twice.
        """
        from workbench.programs.slicing import select

        return select(self, ranks)

    def check(self, *, eager_bytes: int | None = None) -> tuple[GraphProblem, ...]:
        """Return the graph's errors, warnings and notes, errors first; empty where there are none.

        Args:
            eager_bytes: S, the largest message sent without waiting for its receiver; None looks
                for the least S at which the program ends.

        Raises:
            ParameterError: the dependencies are not made for the graph's operations, or S is
                negative.
        """
        from workbench.programs.check import check

        return check(self, eager_bytes=eager_bytes)

    def validate(self, *, eager_bytes: int | None = None) -> None:
        """Refuse a graph that cannot run to its end.

        Args:
            eager_bytes: as for ``check``.

        Raises:
            ProgramError: there are cycles, peers out of range, messages without a match or
                circular waits; the message names the first of them.
        """
        from workbench.programs.check import validate

        validate(self, eager_bytes=eager_bytes)

    @classmethod
    def from_goal(cls, source: str | Path | bytes) -> ExecutionGraph:
        """Read GOAL, as text or as LogGOPSim's binary.

        Args:
            source: path of a file, or the text or bytes themselves; a ``str`` with a line break
                is text, one without is a path.

        Raises:
            ParseError: it is not GOAL; names the line.
        """
        from workbench.programs.goal import read_goal

        return read_goal(source)

    @overload
    def to_goal(self, path: None = None, *, binary: Literal[False] = False) -> str: ...
    @overload
    def to_goal(self, path: None = None, *, binary: Literal[True]) -> bytes: ...
    @overload
    def to_goal(self, path: str | Path, *, binary: bool = False) -> Path: ...
    def to_goal(
        self, path: str | Path | None = None, *, binary: bool = False
    ) -> str | bytes | Path:
        """Return the graph as GOAL, or write it to a file and return the file's path.

        Args:
            path: file to write; None returns the text or the bytes.
            binary: LogGOPSim's binary format instead of text.

        Raises:
            ParameterError: the graph holds what GOAL cannot say.
            OSError: the file cannot be written.
        """
        from workbench.programs.goal import write_goal

        return write_goal(self, path, binary=binary)

    def to_frame(self) -> pd.DataFrame:
        """Return a table with a row per operation; what does not apply to an operation is missing.

        Returns:
            ``op``, ``rank``, ``line`` of the file, ``kind`` (send, recv, calc), ``size_bytes`` of
            a message, ``compute_ns`` of a computation, ``peer`` and ``tag`` with -1 for any,
            ``cpu``, ``nic``, and ``waits_for``: how many operations must come before it.
        """
        from workbench.programs.tables import graph_frame

        return graph_frame(self)

    def to_networkx(self, *, most: int = MOST_NODES) -> networkx.MultiDiGraph:
        """Return a ``networkx.MultiDiGraph``: a node per operation, an edge to what waits for it.

        Nodes are the operations' numbers with the columns of ``to_frame`` that they have, and
        ``label``, the operation in words. Edges have ``kind``: ``requires`` and ``irequires`` (its
        end, its start, is waited for), or ``message`` with ``size_bytes``, from a send to its
        receive: the k-th to the k-th of the same ranks and tag. Where a rank receives by a
        wildcard that is decided when the program runs, and there is no such edge.

        Args:
            most: how many operations the graph may have; each takes about 2 KB.

        Raises:
            ParameterError: the graph has more.
        """
        from workbench.programs.tables import graph_networkx

        return graph_networkx(self, most)

    def summary(self) -> dict[str, Any]:
        """Return counts: ranks, operations by kind, bytes, dependencies, largest message."""
        return {
            "source": self.source,
            "ranks": self.num_ranks,
            "operations": self.num_ops,
            "sends": int((self.kind == SEND).sum()),
            "receives": int((self.kind == RECV).sum()),
            "computations": int((self.kind == CALC).sum()),
            "bytes_sent": int(self.size[self.kind == SEND].sum()),
            "largest_message_bytes": int(self.size[self.kind == SEND].max(initial=0)),
            "compute_ns": int(self.size[self.kind == CALC].sum()),
            "requires": len(self.requires),
            "irequires": len(self.irequires),
            "cpus": self.num_cpus,
            "nics": self.num_nics,
        }

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ExecutionGraph):
            return NotImplemented
        names = ("rank_start", "kind", "size", "peer", "tag", "cpu", "nic")
        return (
            all(np.array_equal(getattr(self, name), getattr(other, name)) for name in names)
            and self.requires == other.requires
            and self.irequires == other.irequires
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        s = self.summary()
        return (
            f"ExecutionGraph({self.source}: {s['ranks']} ranks, {s['operations']} operations "
            f"({s['sends']} send, {s['receives']} recv, {s['computations']} calc), "
            f"{s['requires'] + s['irequires']} dependencies)"
        )

    def _check_rank(self, rank: int) -> None:
        if not 0 <= rank < self.num_ranks:
            raise ParameterError(f"rank must be 0 to {self.num_ranks - 1}; got {rank}", key="rank")
