"""The calls of all ranks between the lines of a trace and the program.

Traces are read rank by rank, but a collective's size may be known only at its root, and the wait
that ended a request may be found only later. So calls can be changed until ``build``.
"""

from __future__ import annotations

import secrets
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from kernels.traces import layout
from kernels.traces.follow import add, end_in
from kernels.traces.joined import CHANGED, DOUBTS, RECEIVES, SENDS, emit, fit
from workbench.errors import ParameterError, ParseError
from workbench.programs.builder import ProgramBuilder
from workbench.programs.program import (
    COLLECTIVE,
    MOST_SIZE as MOST_WORK_NS,
    WAIT,
    WORLD,
    Collective,
    Program,
)
from workbench.programs.recorded_run import LeftOutCalls, RecordedRun
from workbench.programs.traces.joint import Share, agree
from workbench.programs.traces.notes import Notes

MOST_SIZE = layout.MOST_BYTES
"""Most bytes that one call may name; above it a number is damaged."""

JOINED = [layout.COMM, layout.SHARE, layout.LINE]


@dataclass(frozen=True)
class Comm:
    """A communicator as the ranks of a trace see it."""

    number: int  # 0 has all ranks
    members: tuple[int, ...]  # world ranks in the communicator's order
    remote: tuple[int, ...] = ()  # the other group of an intercommunicator
    # the place of each member
    places: dict[int, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "places", {rank: i for i, rank in enumerate(self.members)})

    @property
    def peers(self) -> tuple[int, ...]:
        """The ranks that a message's peer indexes: the remote group where there is one."""
        return self.remote or self.members


class RankCalls:
    """The calls of one rank as kernels have them, and where the reading of its lines stands."""

    def __init__(self) -> None:
        self.rows: NDArray[np.int64] = np.empty((64, layout.N_CALL), np.int64)
        self.state: NDArray[np.int64] = np.zeros(layout.N_STATE, np.int64)

    @property
    def read(self) -> NDArray[np.int64]:
        """The calls so far, int64[n, N_CALL]."""
        return self.rows[: self.state[layout.CALLS]]

    def reserve(self, count: int) -> None:
        """Make room for more calls."""
        needed = int(self.state[layout.CALLS]) + count
        if needed > len(self.rows):
            longer = np.empty((max(needed, len(self.rows) * 3 // 2), layout.N_CALL), np.int64)
            longer[: len(self.rows)] = self.rows
            self.rows = longer

    def add(
        self, kind: int, line: int, size: int, peer: int, tag: int, comm: int, share: int
    ) -> TraceCall:
        """Add a call."""
        self.reserve(1)
        at = add(self.rows, self.state, kind, line, size, peer, tag, comm, share)
        return TraceCall(self, int(at))


class TraceCall:
    """One call of one rank; for a non-blocking call also its request."""

    __slots__ = ("_calls", "at", "parts")

    def __init__(self, calls: RankCalls, at: int, parts: Sequence[TraceCall] | None = None) -> None:
        self._calls = calls
        self.at = at  # its index
        self.parts = parts  # messages of one request; it is then no call of its own

    @property
    def kind(self) -> int:
        """What is called."""
        return int(self._calls.rows[self.at, layout.KIND])

    @property
    def line(self) -> int:
        """Line of the trace."""
        return int(self._calls.rows[self.at, layout.LINE])

    @property
    def comm(self) -> int:
        """Index of its communicator, negative for a wait."""
        return int(self._calls.rows[self.at, layout.COMM])

    @property
    def cancelled(self) -> bool:
        """Whether the call is left out."""
        return bool(self._calls.rows[self.at, layout.CANCELLED])

    def cancel(self) -> None:
        """Leave the call out."""
        self._calls.rows[self.at, layout.CANCELLED] = 1

    def match(self, source: int, tag: int, size: int) -> None:
        """Record source, tag and bytes of the message that was received."""
        row = self._calls.rows[self.at]
        row[layout.FROM], row[layout.FROM_TAG], row[layout.SIZE] = source, tag, size

    def end(self, *calls: TraceCall) -> None:
        """Let this wait also end the requests of some calls of the rank."""
        for call in calls:
            end_in(self._calls.rows, self.at, call.at)

    def ended(self) -> list[int]:
        """Return the indices of the calls whose requests end in this wait."""
        found, rows = [], self._calls.rows
        at = int(rows[self.at, layout.NEXT])
        while at >= 0:
            found.append(at)
            at = int(rows[at, layout.NEXT])
        return found


@dataclass(slots=True)
class Timing:
    """The times of one rank while it was recorded."""

    compute_ns: int = 0
    mpi_ns: int = 0
    start_ns: int | None = None  # the end of its first call
    elapsed_ns: int | None = None
    clock: str = "elapsed"
    node: tuple[int, int] = (0, 0)  # ranks on its node, cores that these may use
    left_out: dict[str, list[int]] = field(default_factory=dict)  # calls and ns by name

    def leave_out(self, name: str, ns: int) -> None:
        """Count a call that is not replayed, and the time inside it."""
        seen = self.left_out.setdefault(name, [0, 0])
        seen[0] += 1
        seen[1] += ns


class TraceCalls:
    """Gathers the calls of all ranks and builds the program; ``files`` names each rank's file."""

    def __init__(self, num_ranks: int, source: str, files: list[str]) -> None:
        self.num_ranks = num_ranks
        self.source = source
        self.files = files
        self.notes = Notes()
        self.of_rank = [RankCalls() for _ in range(num_ranks)]
        self.timings = [Timing() for _ in range(num_ranks)]
        self.comms: list[Comm] = []
        self._index: dict[int, int] = {}  # by id; ``comms`` keeps what has one
        self._peers = Peers()
        # by rank: work before a call that cannot be counted
        self.too_long: dict[int, int] = {}
        self.shares: list[Share] = []
        self._share_of: dict[Share, int] = {}

    def compute(self, rank: int, ns: int) -> None:
        """Add computation time before a rank's next call."""
        state = self.of_rank[rank].state
        work = int(state[layout.PENDING]) + ns
        if work > MOST_WORK_NS:
            self.too_long.setdefault(rank, work)
        state[layout.PENDING] = min(work, MOST_WORK_NS)

    def message(
        self, rank: int, kind: int, line: int, comm: Comm, peer: int, size: int, tag: int
    ) -> TraceCall:
        """Add a send or receive of ``size`` bytes; ``peer`` is a world rank or ``ANY_SOURCE``."""
        return self.of_rank[rank].add(kind, line, size, peer, tag, self.comm_index(comm), -1)

    def wait(self, rank: int, line: int) -> TraceCall:
        """Add a wait, to which requests are appended later; a wait without any is left out."""
        return self.of_rank[rank].add(WAIT, line, 0, 0, 0, -1, -1)

    def collective(self, rank: int, kind: int, comm: Comm, share: Share, line: int) -> TraceCall:
        """Add a rank's part in a collective; ``kind`` is ``COLLECTIVE`` or ``ICOLLECTIVE``."""
        number = self.share_index(share)
        return self.of_rank[rank].add(kind, line, 0, 0, 0, self.comm_index(comm), number)

    def share_index(self, share: Share) -> int:
        """Return the index of a rank's arguments in ``shares``."""
        number = self._share_of.setdefault(share, len(self.shares))
        if number == len(self.shares):
            self.shares.append(share)
        return number

    def comm_index(self, comm: Comm) -> int:
        """Return the index of a communicator in ``comms``."""
        index = self._index.get(id(comm))
        if index is None:
            index = self._index[id(comm)] = len(self.comms)
            self.comms.append(comm)
            self._peers.add(comm.peers)
        return index

    def peers(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return by communicator the first of its peers and their number, and the peers of all."""
        return self._peers.arrays

    def fail(self, rank: int, line: int, message: str) -> ParseError:
        """Return an error that names a rank's file and line."""
        return ParseError(message, source=self.files[rank], line=line)

    def build(self) -> Program:
        """Return the program; ranks that call different collectives are refused."""
        builder = ProgramBuilder(self.num_ranks, source=self.source)
        numbers = np.array([comm.number for comm in self.comms], np.int64)
        most = int(numbers.max(initial=0)) + 1
        number_of, first_of = np.full(most, -1, np.int64), np.full(most, -1, np.int64)
        number_of[0] = WORLD
        try:
            self._new_collectives(builder, numbers, number_of, first_of)
            made = np.empty(len(self.comms) + 1, np.int64)
            known = builder.num_communicators
            for rank, mine in enumerate(self.of_rank):
                builder.compute(rank, self.too_long.get(rank, 0))
                calls = mine.read
                out = np.empty((9, len(calls)), np.int64).T  # each column is read as a whole
                wait_end, ended = np.empty(len(calls), np.int64), np.empty(len(calls), np.int32)
                state = np.array([0, 0, 0, known, builder.num_waits])
                joined = np.zeros(most, np.int64)
                known_as = numbers, number_of, made, first_of, joined
                n, work, wrong = emit(calls, *known_as, out, wait_end, ended, state)
                if wrong >= 0:
                    builder.compute(rank, work)
                    builder.compute(rank, int(calls[wrong, layout.WORK]))
                for index in made[known : state[3]].tolist():
                    builder.communicator(self._ranks_of(self.comms[index]))
                known = int(state[3])
                builder.add_calls(rank, out[:n], wait_end[: state[1]], ended[: state[2]], state[0])
                builder.compute(rank, int(work) + int(mine.state[layout.PENDING]))
                mine.rows = np.empty((0, layout.N_CALL), np.int64)  # a view would keep its memory
            for text in self.notes.sentences(self.files):
                builder.note(text)
            return replace(builder.build(), recorded=self._recorded())
        except ParameterError as error:
            raise ParseError(str(error), source=self.source) from None

    def _recorded(self) -> RecordedRun | None:
        """Return the times of the recording, None where the trace has no times."""
        ranks = self.timings
        if not any(one.compute_ns + one.mpi_ns for one in ranks):
            return None
        by_name: dict[str, list[int]] = {}
        for one in ranks:
            for name, (calls, ns) in one.left_out.items():
                seen = by_name.setdefault(name, [0, 0])
                seen[0] += calls
                seen[1] += ns
        left_out = [LeftOutCalls(name, *seen) for name, seen in by_name.items()]
        elapsed = tuple(one.elapsed_ns for one in ranks if one.elapsed_ns is not None)
        starts = tuple(one.start_ns for one in ranks if one.start_ns is not None)
        node = max((one.node for one in ranks), key=lambda node: node[0] / max(node[1], 1))
        return RecordedRun(
            time_ns=tuple(one.compute_ns + one.mpi_ns for one in ranks),
            compute_ns=tuple(one.compute_ns for one in ranks),
            mpi_ns=tuple(one.mpi_ns for one in ranks),
            left_out_ns=tuple(sum(ns for _, ns in one.left_out.values()) for one in ranks),
            left_out=tuple(sorted(left_out, key=lambda calls: (-calls.ns, calls.name))),
            elapsed_ns=elapsed if len(elapsed) == len(ranks) else (),
            clock=ranks[0].clock,
            ranks_of_node=node[0],
            cores_of_node=node[1],
            start_ns=starts if len(starts) == len(ranks) else (),
        )

    def _ranks_of(self, comm: Comm) -> Sequence[int]:
        """Return the ranks of a communicator; where it joins two groups, those of both."""
        return sorted({*comm.members, *comm.remote}) if comm.remote else comm.members

    def _new_collectives(
        self,
        builder: ProgramBuilder,
        numbers: NDArray[np.int64],
        number_of: NDArray[np.int64],
        first_of: NDArray[np.int64],
    ) -> None:
        """Add all collectives; fill the number of their communicators and the first of each."""
        # by communicator: of each of its ranks the arguments and lines of its calls, in order
        joined: dict[int, dict[int, NDArray[np.int64]]] = {}
        comm_of: dict[int, Comm] = {}
        for rank, mine in enumerate(self.of_rank):
            rows = mine.read
            rows = rows[rows[:, layout.KIND] >= COLLECTIVE][:, JOINED]
            of = numbers[rows[:, 0]]
            for number in np.unique(of).tolist():
                these = rows[of == number]
                comm_of.setdefault(number, self.comms[these[0, 0]])
                joined.setdefault(number, {})[rank] = these[:, 1:]
        none = np.empty((0, 2), np.int64)
        agreed: dict[bytes, tuple[Collective, bool]] = {}
        for number, of_rank in sorted(joined.items()):
            comm = comm_of[number]
            if number_of[number] < 0:
                number_of[number] = builder.communicator(self._ranks_of(comm))
            first_of[number] = builder.num_collectives
            calls = [of_rank.get(rank, none) for rank in comm.members]
            longest = max(range(len(calls)), key=lambda i: len(calls[i]))
            shortest = min(range(len(calls)), key=lambda i: len(calls[i]))
            common = len(calls[shortest])
            shares, lines = np.stack([mine[:common] for mine in calls], axis=1).transpose(2, 0, 1)
            agreed.clear()
            for row, at in zip(np.ascontiguousarray(shares), lines, strict=True):
                key = row.tobytes()
                if key not in agreed:
                    agreed[key] = agree(
                        [self.shares[i] for i in row.tolist()],
                        at.tolist(),
                        int(number_of[number]),
                        comm.members,
                        self.files,
                    )
                collective, sized = agreed[key]
                if not sized:
                    self.notes.count(
                        f"the trace does not record the sizes of {self.shares[row[0]].name}: they "
                        "are taken as 0 bytes",
                        comm.members[0],
                        int(at[0]),
                    )
                builder.new_collective(collective)
            if common < len(calls[longest]):
                share, line = calls[longest][common].tolist()
                raise self.fail(
                    comm.members[longest],
                    line,
                    f"all {len(calls)} ranks of a communicator must call a collective; rank "
                    f"{comm.members[shortest]} does not call this {self.shares[share].name} "
                    f"(it calls {common} collectives there, this rank {len(calls[longest])}); is "
                    "its trace cut off?",
                )


class Peers:
    """The ranks that messages on each communicator go to, in arrays that grow."""

    def __init__(self) -> None:
        self._first, self._count, self._ranks = array("q"), array("q"), array("q")

    def add(self, peers: Sequence[int]) -> None:
        """Add those of the next communicator."""
        self._first.append(len(self._ranks))
        self._count.append(len(peers))
        self._ranks.extend(peers)

    @property
    def arrays(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """The first and number of each communicator's, and all."""
        first, count, ranks = (
            np.frombuffer(one, np.int64) if one else np.empty(0, np.int64)
            for one in (self._first, self._count, self._ranks)
        )
        return first, count, ranks


def fit_receives(calls: TraceCalls) -> None:
    """Give receives, in place, the size of the message they take, where that message is certain.

    Messages of one rank to another with one tag arrive in order (MPI 4.0, section 3.5), so the k-th
    receive takes the k-th message, unless an open wildcard receive may have taken some.
    """
    numbers = np.array([comm.number for comm in calls.comms], np.int64)
    most = sum(len(mine.read) for mine in calls.of_rank) + 1
    slots = np.zeros(1 << (2 * most).bit_length(), np.int32)
    keys, sent = np.empty((most, 6), np.int64), np.empty((most, 2), np.int64)
    state = np.zeros(3, np.int64)
    salt = secrets.randbits(31) | 1  # keys cannot be chosen so that their hashes are equal
    for doing in (DOUBTS, SENDS, RECEIVES):
        for rank, mine in enumerate(calls.of_rank):
            fit(mine.read, rank, doing, numbers, salt, slots, keys, sent, state)
    if changed := int(state[CHANGED]):
        calls.notes.say(
            f"{changed} receives had more room than their message needs: they take the message's "
            "size"
        )
