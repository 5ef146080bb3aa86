"""Making a program call by call."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import IntArray
from workbench.errors import ParameterError
from workbench.programs.graph import ANY_SOURCE, ANY_TAG
from workbench.programs.program import (
    CALL_NAMES,
    COLLECTIVE,
    COMPUTE,
    ICOLLECTIVE,
    IRECV,
    ISEND,
    MOST_SIZE,
    RECV,
    SEND,
    WAIT,
    WORLD,
    Collective,
    Program,
)

_Number = TypeVar("_Number", bound=np.generic)


class ProgramBuilder:
    """Makes a program call by call; time between calls is added with ``compute``.

    Args:
        num_ranks: number of ranks.
        source: name of what is read or generated.

    Raises:
        ParameterError: there is no rank.
    """

    def __init__(self, num_ranks: int, *, source: str = "program") -> None:
        if num_ranks < 1:
            raise ParameterError(f"a program needs at least 1 rank; got {num_ranks}", key="ranks")
        self._source = source
        # Nine numbers a call: kind, compute, size, peer, tag, comm, request, collective, line.
        # Arrays, since tuples would take 400 B a call.
        self._calls = [array("q") for _ in range(num_ranks)]
        self._before: list[list[IntArray]] = [[] for _ in range(num_ranks)]  # what `add_calls` adds
        self._compute = [0] * num_ranks
        self._requests = [0] * num_ranks
        self._wait_start = array("q", [0])
        self._wait_requests = array("i")
        self._collectives: list[Collective] = []
        self._communicators = [np.arange(num_ranks, dtype=np.int32)]
        self._notes: list[str] = []

    @property
    def num_ranks(self) -> int:
        """Number of ranks."""
        return len(self._calls)

    def communicator(self, ranks: Sequence[int]) -> int:
        """Add a communicator and return its number.

        Args:
            ranks: its ranks, in its order.

        Raises:
            ParameterError: a rank does not exist or is named twice.
        """
        members = np.asarray(ranks, np.int64)
        if not len(members) or len(np.unique(members)) != len(members):
            raise ParameterError(
                "a communicator needs at least one rank, and each rank once", key="ranks"
            )
        if members.min() < 0 or members.max() >= self.num_ranks:
            raise ParameterError(
                f"ranks of a communicator must be 0 to {self.num_ranks - 1}; got "
                f"{int(members.min())} to {int(members.max())}",
                key="ranks",
            )
        self._communicators.append(members.astype(np.int32))
        return len(self._communicators) - 1

    @property
    def num_communicators(self) -> int:
        """Number of communicators."""
        return len(self._communicators)

    @property
    def num_waits(self) -> int:
        """Number of waits."""
        return len(self._wait_start) - 1

    @property
    def num_collectives(self) -> int:
        """Number of collectives."""
        return len(self._collectives)

    def compute(self, rank: int, ns: int) -> None:
        """Add computation time before a rank's next call.

        Args:
            rank: which.
            ns: time in ns, at least 0.

        Raises:
            ParameterError: the time is negative, or too long to count.
        """
        total = self._compute[rank] + ns
        if ns < 0 or total > MOST_SIZE:
            raise ParameterError(
                f"work of rank {rank} between two calls must be 0 to {MOST_SIZE} ns; got {ns} ns "
                f"after {self._compute[rank]} ns",
                key="ns",
            )
        self._compute[rank] = total

    def send(
        self, rank: int, peer: int, size: int, tag: int = 0, *, comm: int = WORLD, line: int = 0
    ) -> None:
        """Send and wait until the message has left.

        Args:
            rank: which rank sends.
            peer: rank it goes to, of all ranks.
            size: bytes.
            tag: ``ANY_TAG`` matches all.
            comm: number of the communicator.
            line: of the trace.
        """
        self._add(rank, SEND, size, peer, tag, comm, line=line)

    def recv(
        self, rank: int, peer: int, size: int, tag: int = 0, *, comm: int = WORLD, line: int = 0
    ) -> None:
        """Receive and wait until the message is there; arguments as for ``send``.

        Args:
            rank: which rank receives.
            peer: rank it comes from, of all ranks; ``ANY_SOURCE`` for any.
            size: bytes.
            tag: ``ANY_TAG`` for any.
            comm: number of the communicator.
            line: of the trace.
        """
        self._add(rank, RECV, size, peer, tag, comm, line=line)

    def isend(
        self, rank: int, peer: int, size: int, tag: int = 0, *, comm: int = WORLD, line: int = 0
    ) -> int:
        """Begin to send, and return the request; arguments as for ``send``.

        Args:
            rank: which rank sends.
            peer: rank it goes to, of all ranks.
            size: bytes.
            tag: ``ANY_TAG`` matches all.
            comm: number of the communicator.
            line: of the trace.
        """
        return self._add(rank, ISEND, size, peer, tag, comm, self._request(rank), line=line)

    def irecv(
        self, rank: int, peer: int, size: int, tag: int = 0, *, comm: int = WORLD, line: int = 0
    ) -> int:
        """Begin to receive, and return the request; arguments as for ``recv``.

        Args:
            rank: which rank receives.
            peer: rank it comes from, of all ranks; ``ANY_SOURCE`` for any.
            size: bytes.
            tag: ``ANY_TAG`` for any.
            comm: number of the communicator.
            line: of the trace.
        """
        return self._add(rank, IRECV, size, peer, tag, comm, self._request(rank), line=line)

    def wait(self, rank: int, requests: Iterable[int], *, line: int = 0) -> None:
        """Wait for requests, all of them.

        Args:
            rank: which rank waits.
            requests: as ``isend``, ``irecv`` and ``begin_collective`` gave them.
            line: of the trace.

        Raises:
            ParameterError: the rank has no such request.
        """
        waited = tuple(requests)
        given = self._requests[rank]
        if waited and not 0 <= min(waited) <= max(waited) < given:
            raise ParameterError(
                f"rank {rank}, line {line}: a wait must name requests of its rank, which has "
                f"started {given}; got {min(waited)} to {max(waited)}",
                key="requests",
            )
        self._wait_requests.extend(waited)
        self._wait_start.append(len(self._wait_requests))
        self._add(rank, WAIT, 0, 0, 0, WORLD, len(self._wait_start) - 2, line=line)

    def add_calls(
        self,
        rank: int,
        calls: IntArray,
        wait_end: IntArray,
        ended: NDArray[np.int32],
        num_requests: int,
    ) -> None:
        """Add the first calls of a rank all at once; they are not checked.

        Args:
            rank: which rank calls.
            calls: int64[n, 9]: kind, work before it, size, peer, tag, communicator, request or
                number of the wait, collective, line.
            wait_end: int64[waits], place after the last request that each wait ends.
            ended: these requests of all waits.
            num_requests: how many the rank begins.
        """
        self._wait_start.frombytes((wait_end + len(self._wait_requests)).view(np.uint8).data)
        self._wait_requests.frombytes(ended.view(np.uint8).data)
        self._flush(rank)
        self._before[rank].append(calls)
        self._requests[rank] = int(num_requests)

    def new_collective(self, collective: Collective) -> int:
        """Add a collective that no rank has called yet, and return its number.

        Args:
            collective: what it is.

        Raises:
            ParameterError: the communicator, the root or the number of sizes does not exist.
        """
        if not 0 <= collective.comm < len(self._communicators):
            raise ParameterError(f"there is no communicator {collective.comm}", key="comm")
        members = len(self._communicators[collective.comm])
        if collective.root >= members:
            raise ParameterError(
                f"root must be 0 to {members - 1}; got {collective.root}", key="root"
            )
        needed = members**2 if collective.operation == "alltoall" else members
        if collective.sizes and len(collective.sizes) != needed:
            raise ParameterError(
                f"{collective.operation} of {members} ranks needs {needed} sizes; got "
                f"{len(collective.sizes)}",
                key="sizes",
            )
        self._collectives.append(collective)
        return len(self._collectives) - 1

    def join_collective(self, rank: int, number: int, *, line: int = 0) -> None:
        """Let one rank call a collective and wait for its end.

        Args:
            rank: which rank calls.
            number: as ``new_collective`` gave it.
            line: of the trace.
        """
        comm = self._collectives[number].comm
        self._add(rank, COLLECTIVE, 0, 0, 0, comm, collective=number, line=line)

    def begin_collective(self, rank: int, number: int, *, line: int = 0) -> int:
        """Let one rank begin a collective, and return the request that a ``wait`` ends.

        Args:
            rank: which rank calls.
            number: as ``new_collective`` gave it.
            line: of the trace.
        """
        comm = self._collectives[number].comm
        request = self._request(rank)
        return self._add(rank, ICOLLECTIVE, 0, 0, 0, comm, request, collective=number, line=line)

    def collective(self, operation: str, size: int = 0, *, root: int = 0, comm: int = WORLD) -> int:
        """Let all ranks of a communicator call a collective now, and return its number.

        Args:
            operation: one of ``OPERATIONS``.
            size: bytes, see ``Collective``.
            root: rank within the communicator.
            comm: number of the communicator.
        """
        number = self.new_collective(Collective(operation, comm, size, root))
        for rank in self._communicators[comm].tolist():
            self.join_collective(rank, number)
        return number

    def note(self, text: str) -> None:
        """Add a note on what the source holds and the program cannot.

        Args:
            text: a sentence, with rank and line where there are some.
        """
        self._notes.append(text)

    def build(self) -> Program:
        """Return the program; work after a rank's last call ends it as a COMPUTE call."""
        for rank, left in enumerate(self._compute):
            if left:
                self._add(rank, COMPUTE, 0, 0, 0, WORLD)
        for rank in range(self.num_ranks):
            self._flush(rank)
        calls = [block for blocks in self._before for block in blocks]
        lengths = [sum(map(len, blocks)) for blocks in self._before]

        def column(place: int, dtype: type[_Number]) -> NDArray[_Number]:
            whole = np.empty(sum(lengths), dtype)
            return np.concatenate([one[:, place] for one in calls], out=whole, casting="unsafe")

        line = column(8, np.int32)
        return Program(
            rank_start=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
            kind=column(0, np.uint8),
            compute_ns=column(1, np.int64),
            size=column(2, np.int64),
            peer=column(3, np.int32),
            tag=column(4, np.uint32),
            comm=column(5, np.int32),
            request=column(6, np.int32),
            collective=column(7, np.int32),
            line=line if line.any() else None,
            wait_start=np.array(self._wait_start, np.int64),
            wait_requests=np.array(self._wait_requests, np.int32),
            collectives=tuple(self._collectives),
            communicators=tuple(self._communicators),
            source=self._source,
            notes=tuple(self._notes),
        )

    def _flush(self, rank: int) -> None:
        """Keep the calls added one by one before others that are added at once."""
        self._before[rank].append(np.frombuffer(self._calls[rank], np.int64).reshape(-1, 9))
        self._calls[rank] = array("q")

    def _request(self, rank: int) -> int:
        self._requests[rank] += 1
        return self._requests[rank] - 1

    def _add(
        self,
        rank: int,
        kind: int,
        size: int,
        peer: int,
        tag: int,
        comm: int,
        request: int = -1,
        collective: int = -1,
        line: int = 0,
    ) -> int:
        if not 0 <= size <= MOST_SIZE or not 0 <= tag <= ANY_TAG:
            raise ParameterError(
                f"{CALL_NAMES[kind]} of rank {rank}, line {line}: size must be 0 to {MOST_SIZE} B "
                f"and tag 0 to {ANY_TAG}; got {size} B, tag {tag}",
                key="tag" if 0 <= size <= MOST_SIZE else "size",
            )
        lowest = ANY_SOURCE if kind in (RECV, IRECV) else 0
        if not lowest <= peer < self.num_ranks or not 0 <= comm < len(self._communicators):
            raise ParameterError(
                f"{CALL_NAMES[kind]} of rank {rank}, line {line}: peer must be {lowest} to "
                f"{self.num_ranks - 1} and the communicator 0 to {len(self._communicators) - 1}; "
                f"got peer {peer}, communicator {comm}",
                key="comm" if lowest <= peer < self.num_ranks else "peer",
            )
        self._calls[rank].extend(
            (kind, self._compute[rank], size, peer, tag, comm, request, collective, line)
        )
        self._compute[rank] = 0
        return request
