"""The program: what every rank calls, with its collectives still whole.

A trace or a generator gives a `Program`; which point-to-point schedule stands for each collective
is chosen when it becomes an `ExecutionGraph`:

    program = programs.read_trace("traces/")
    graph = program.graph(allreduce="ring", bcast="binomial")
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack, cast

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import IntArray
from workbench.checks import whole, whole_each
from workbench.errors import ParameterError
from workbench.named_options import named_options
from workbench.programs.graph import MOST_NODES
from workbench.suggestions import Suggesting, did_you_mean

if TYPE_CHECKING:
    import networkx
    import pandas as pd

    from workbench.programs.graph import ExecutionGraph
    from workbench.programs.recorded_run import RecordedRun

COMPUTE, SEND, RECV, ISEND, IRECV, WAIT, COLLECTIVE, ICOLLECTIVE = range(8)
"""The calls of a rank; ICOLLECTIVE is the start of a collective that a WAIT ends."""

CALL_NAMES = ("compute", "send", "recv", "isend", "irecv", "wait", "collective", "icollective")


class Algorithms(TypedDict, total=False):
    """The algorithm of each operation, by its name."""

    barrier: str
    bcast: str
    reduce: str
    allreduce: str
    gather: str
    scatter: str
    allgather: str
    alltoall: str
    reduce_scatter: str
    scan: str
    exscan: str


OPERATIONS = tuple(Algorithms.__annotations__)
"""All collectives; a v-variant is the same with a size for each rank or pair."""

MPI_CALLS = (
    *("its end", "Send", "Recv", "Isend", "Irecv", "Wait"),
    *(operation.capitalize() for operation in OPERATIONS),
    *(f"I{operation}" for operation in OPERATIONS),
)
"""Names of calls: those of ``CALL_NAMES`` up to the wait, each collective, each non-blocking one.

The first is that of work after which a rank calls nothing more."""

FIRST_COLLECTIVE = COLLECTIVE
"""Place in ``MPI_CALLS`` of the first collective."""

WORLD = 0
"""Number of the communicator of all ranks."""

MOST_SIZE = 2**62
"""Most bytes of a message, and most nanoseconds of work before a call."""


@dataclass(frozen=True)
class Collective:
    """One collective that all ranks of a communicator call together.

    Attributes:
        operation: one of ``OPERATIONS``.
        comm: number of the communicator.
        size: bytes: of the whole vector for bcast, reduce, allreduce, scan, exscan; that one rank
            gives or gets for gather, scatter, allgather, reduce_scatter; for one pair for
            alltoall; 0 for barrier.
        root: rank within the communicator, 0 where the operation has none.
        sizes: bytes rank by rank instead of ``size`` for v-variants, in the communicator's order;
            row by row, sender by receiver, for alltoallv; empty for all others.
        element_bytes: bytes of an element of the vector of bcast, reduce and allreduce, as its
            datatype was recorded; None where none was: the vector may be cut anywhere.
    """

    operation: str
    comm: int = WORLD
    size: int = 0
    root: int = 0
    sizes: tuple[int, ...] = ()
    # Not in the repr: programs without datatypes keep their fingerprints.
    element_bytes: int | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.operation not in OPERATIONS:
            raise ParameterError(
                f"operation must be one of {', '.join(OPERATIONS)}; got {self.operation!r}"
                f"{did_you_mean(self.operation, OPERATIONS)}",
                key="operation",
            )
        object.__setattr__(self, "size", whole(self.size, "size"))
        object.__setattr__(self, "root", whole(self.root, "root"))
        object.__setattr__(self, "sizes", whole_each(self.sizes, "sizes"))
        if self.size < 0 or self.root < 0 or min(self.sizes, default=0) < 0:
            raise ParameterError(
                f"{self.operation}: size and root must not be negative; got {self.size} B, "
                f"root {self.root}",
                key="size",
            )


@dataclass(frozen=True, eq=False)
class Program(Suggesting):
    """The calls of all ranks, rank after rank, and the collectives they join in.

    Two programs are equal when their calls are, wherever they came from.

    Attributes:
        rank_start: int64[ranks + 1]; the calls of rank ``r`` are those from ``rank_start[r]`` up
            to ``rank_start[r + 1]``.
        kind: uint8[n], what is called.
        compute_ns: int64[n], work between the end of the call before and this one, in ns.
        size: int64[n], bytes of sends and receives; 0 for the rest.
        peer: int32[n], rank (of all ranks, whatever the communicator) a message goes to or comes
            from, ``ANY_SOURCE`` for any; 0 for the rest.
        tag: uint32[n], ``ANY_TAG`` matches all; 0 for calls without a tag.
        comm: int32[n], number of the communicator of a message or collective; 0 for the rest.
        request: int32[n], number that an ISEND, IRECV or ICOLLECTIVE gives its request, unique in
            its rank; for a WAIT its place in ``waits``; -1 for the rest.
        collective: int32[n], place in ``collectives``; -1 for the rest.
        line: int32[n], line of the rank's trace, or None.
        wait_start: int64[waits + 1]; the requests that the ``w``-th WAIT ends are
            ``wait_requests[wait_start[w]:wait_start[w + 1]]``.
        wait_requests: int32, numbers of requests of the rank that waits.
        collectives: what is called together; each rank of the communicator calls each once.
        communicators: int32[members] each: the ranks of each communicator, in its order; the
            first is that of all ranks.
        source: name of the file or generator.
        notes: what the source held that the program does not, a sentence each.
        recorded: what its recording took; None where it was not recorded with times.
    """

    rank_start: IntArray
    kind: NDArray[np.uint8]
    compute_ns: IntArray
    size: IntArray
    peer: NDArray[np.int32]
    tag: NDArray[np.uint32]
    comm: NDArray[np.int32]
    request: NDArray[np.int32]
    collective: NDArray[np.int32]
    wait_start: IntArray
    wait_requests: NDArray[np.int32]
    collectives: tuple[Collective, ...]
    communicators: tuple[NDArray[np.int32], ...]
    source: str = "program"
    line: NDArray[np.int32] | None = None
    notes: tuple[str, ...] = field(default=())
    recorded: RecordedRun | None = None

    @property
    def num_ranks(self) -> int:
        """Number of ranks."""
        return len(self.rank_start) - 1

    @property
    def num_calls(self) -> int:
        """Number of calls of all ranks."""
        return len(self.kind)

    def __len__(self) -> int:
        """Return the number of calls of all ranks."""
        return self.num_calls

    @property
    def waits(self) -> tuple[tuple[int, ...], ...]:
        """For each WAIT the requests it ends."""
        cuts = np.split(self.wait_requests, self.wait_start[1:-1])
        return tuple(tuple(requests.tolist()) for requests in cuts[: len(self.wait_start) - 1])

    @property
    def call_names(self) -> NDArray[np.uint8]:
        """The place of each call's name in ``MPI_CALLS``, uint8[n]."""
        names = self.kind.copy()
        place = np.array([OPERATIONS.index(one.operation) for one in self.collectives], np.uint8)
        joins = self.collective >= 0
        names[joins] = COLLECTIVE + place[self.collective[joins]]
        names[self.kind == ICOLLECTIVE] += np.uint8(len(OPERATIONS))
        return names

    @property
    def operations(self) -> dict[str, int]:
        """Number of collectives by operation; operations that do not occur are left out."""
        counts: dict[str, int] = {}
        for collective in self.collectives:
            counts[collective.operation] = counts.get(collective.operation, 0) + 1
        return counts

    @named_options(Algorithms)
    def graph(
        self,
        algorithms: Mapping[str, str] | None = None,
        *,
        per_call: Mapping[int, str] | None = None,
        progress_cpu: int = 0,
        reduce_ns_per_byte: float = 0.0,
        **by_operation: Unpack[Algorithms],
    ) -> ExecutionGraph:
        """Return the execution graph, each collective as a schedule of messages.

        Args:
            algorithms: algorithm by operation, such as ``{"allreduce": "ring"}``; what is left
                out takes its default.
            per_call: algorithm by place in ``collectives``, before ``algorithms``.
            progress_cpu: core that the operations of non-blocking collectives occupy. On core 0,
                that of all else, the rank's own work keeps them waiting, as in an MPI library
                without a progress thread; on core 1 they go on beside it.
            reduce_ns_per_byte: time to combine a byte with another in reduce, allreduce,
                reduce_scatter, scan and exscan, in ns, 0 to 1e9; 0 leaves the computations out.
            by_operation: the same as ``algorithms``, as keywords.

        Raises:
            ParameterError: an operation or algorithm is not known, or a number is out of range.
            ProgramError: a collective is not called by each rank of its communicator once, or a
                request is waited for before it is begun.
        """
        from workbench.programs.lowering import lower

        chosen = {**(algorithms or {}), **cast(dict[str, str], by_operation)}
        return lower(
            self,
            chosen,
            per_call or {},
            progress_cpu=progress_cpu,
            reduce_ns_per_byte=reduce_ns_per_byte,
        )

    def to_frame(self) -> pd.DataFrame:
        """Return a table with a row per call; what does not apply to a call is missing.

        Returns:
            ``call``, ``rank``, ``line`` of the trace, ``kind``, ``operation`` of a collective,
            ``compute_before_ns``, ``size_bytes`` of a message or collective (as in `Collective`;
            the sum of a v-variant), ``peer`` and ``tag`` with -1 for any, ``communicator``,
            ``collective`` (place in ``collectives``), ``request``.
        """
        from workbench.programs.tables import program_frame

        return program_frame(self)

    def to_networkx(
        self, algorithms: Mapping[str, str] | None = None, *, most: int = MOST_NODES
    ) -> networkx.MultiDiGraph:
        """Return the execution graph as networkx has it; see `ExecutionGraph.to_networkx`.

        Args:
            algorithms: as for ``graph``.
            most: how many operations the graph may have.

        Raises:
            ParameterError: the graph has more.
        """
        return self.graph(algorithms).to_networkx(most=most)

    def plot(
        self,
        algorithms: Mapping[str, str] | None = None,
        *,
        value: Literal["bytes", "messages"] = "bytes",
        height: int = 420,
    ) -> Any:
        """Return a Bokeh figure of the bytes between ranks, collectives as their messages.

        Args:
            algorithms: as for ``graph``.
            value: what the colours show.
            height: pixels.
        """
        return self.graph(algorithms).plot(value=value, height=height)

    def fingerprint(self) -> str:
        """Return a SHA-256 of the calls, in hexadecimal; source, lines and notes do not count."""
        digest = hashlib.sha256()
        for values in self._compared():
            contiguous = np.ascontiguousarray(values)
            digest.update(contiguous.astype(contiguous.dtype.newbyteorder("<"), copy=False).data)
        digest.update(repr(self.collectives).encode())
        elements = [one.element_bytes for one in self.collectives]
        if any(elements):
            digest.update(repr(elements).encode())
        return digest.hexdigest()

    def summary(self) -> dict[str, Any]:
        """Return counts: ranks, calls, messages, collectives, communicators, work."""
        return {
            "source": self.source,
            "ranks": self.num_ranks,
            "calls": self.num_calls,
            "sends": int(np.isin(self.kind, (SEND, ISEND)).sum()),
            "receives": int(np.isin(self.kind, (RECV, IRECV)).sum()),
            "collectives": self.operations,
            "communicators": len(self.communicators),
            "compute_ns": int(self.compute_ns.sum()),
            "notes": list(self.notes),
            "recorded": None if self.recorded is None else self.recorded.to_dict(),
        }

    def _compared(self) -> tuple[NDArray[Any], ...]:
        calls = (self.kind, self.compute_ns, self.size, self.peer, self.tag, self.comm)
        joined = (self.request, self.collective, self.wait_start, self.wait_requests)
        return (self.rank_start, *calls, *joined, *self.communicators)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Program):
            return NotImplemented
        mine, others = self._compared(), other._compared()
        return (
            len(mine) == len(others)
            and all(map(np.array_equal, mine, others))
            and self.collectives == other.collectives
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        collectives = ", ".join(f"{n} {name}" for name, n in self.operations.items())
        return (
            f"Program({self.source}: {self.num_ranks} ranks, {self.num_calls} calls, "
            f"{collectives or 'no collectives'})"
        )


def numbered_by_name(names: NDArray[Any], rank_start: IntArray) -> NDArray[np.int32]:
    """Return each call's number among those of its name on its rank, int32[n], from 1."""
    numbers = np.zeros(len(names), np.int32)
    for name in np.flatnonzero(np.bincount(names, minlength=1)):
        here = np.flatnonzero(names == name)
        first = np.searchsorted(here, rank_start).astype(np.int32)  # of each rank, and the end
        earlier = np.repeat(first[:-1], np.diff(first))
        numbers[here] = np.arange(1, len(here) + 1, dtype=np.int32) - earlier
    return numbers
