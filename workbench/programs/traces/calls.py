"""The calls of all ranks between the lines of a trace and the program.

Traces are read rank by rank, but a collective's size may be known only at its root, and the wait
that ended a request may be found only later. So entries can be changed until ``build``.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from workbench.errors import ParameterError, ParseError
from workbench.programs.builder import ProgramBuilder
from workbench.programs.graph import ANY_SOURCE, ANY_TAG
from workbench.programs.program import (
    COLLECTIVE,
    ICOLLECTIVE,
    IRECV,
    ISEND,
    RECV,
    SEND,
    WAIT,
    WORLD,
    Program,
)
from workbench.programs.recorded_run import LeftOutCalls, RecordedRun
from workbench.programs.traces.joint import Share, agree
from workbench.programs.traces.notes import Notes

MOST_SIZE = 2**50
"""Most bytes that one call may name; above it a number is damaged."""


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


@dataclass(slots=True, eq=False)
class TraceCall:
    """One call of one rank; for a non-blocking call also its request."""

    kind: int
    compute_ns: int
    line: int
    size: int = 0
    peer: int = 0
    tag: int = 0
    comm: Comm | None = None
    place: int = -1  # of a collective: index among the rank's on ``comm``
    ended: list[TraceCall] | None = None  # by a wait; may grow while the trace is read
    matched: tuple[int, int] | None = None  # source and tag of the message that was received
    cancelled: bool = False
    number: int = -1  # of the request in the program, once built
    parts: list[TraceCall] | None = None  # messages of one request; the entry is then no call

    def end(self, *calls: TraceCall) -> None:
        """Let this wait also end the requests of some calls of the rank."""
        if self.ended is None:
            self.ended = list(calls)
        else:
            self.ended.extend(calls)


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
        self._entries: list[list[TraceCall]] = [[] for _ in range(num_ranks)]
        self._compute = [0] * num_ranks
        self.timings = [Timing() for _ in range(num_ranks)]
        # of each communicator: for each of its ranks, what that rank gives to each collective
        self._shares: dict[int, tuple[Comm, dict[int, list[Share]]]] = {}

    def compute(self, rank: int, ns: int) -> None:
        """Add computation time before a rank's next call."""
        self._compute[rank] += ns

    def message(
        self, rank: int, kind: int, line: int, comm: Comm, peer: int, size: int, tag: int
    ) -> TraceCall:
        """Add a send or receive of ``size`` bytes; ``peer`` is a world rank or ``ANY_SOURCE``."""
        call = TraceCall(kind, self._compute[rank], line, size, peer, tag, comm)
        return self._keep(rank, call)

    def wait(self, rank: int, line: int) -> TraceCall:
        """Add a wait, to which requests are appended later; a wait without any is left out."""
        return self._keep(rank, TraceCall(WAIT, self._compute[rank], line))

    def collective(self, rank: int, kind: int, comm: Comm, share: Share) -> TraceCall:
        """Add a rank's part in a collective; ``kind`` is ``COLLECTIVE`` or ``ICOLLECTIVE``."""
        _, shares = self._shares.setdefault(comm.number, (comm, {}))
        mine = shares.setdefault(rank, [])
        mine.append(share)
        call = TraceCall(kind, self._compute[rank], share.line, comm=comm, place=len(mine) - 1)
        return self._keep(rank, call)

    def fail(self, rank: int, line: int, message: str) -> ParseError:
        """Return an error that names a rank's file and line."""
        return ParseError(message, source=self.files[rank], line=line)

    def build(self) -> Program:
        """Return the program; ranks that call different collectives are refused."""
        builder = ProgramBuilder(self.num_ranks, source=self.source)
        numbers = {0: WORLD}
        try:
            collectives = self._new_collectives(builder, numbers)
            for rank, entries in enumerate(self._entries):
                for entry in entries:
                    self._emit(builder, rank, entry, numbers, collectives)
                builder.compute(rank, self._compute[rank])
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

    def entries(self, rank: int) -> list[TraceCall]:
        """Return a rank's calls so far, in order."""
        return self._entries[rank]

    def _keep(self, rank: int, entry: TraceCall) -> TraceCall:
        self._compute[rank] = 0
        self._entries[rank].append(entry)
        return entry

    def _number(self, builder: ProgramBuilder, numbers: dict[int, int], comm: Comm) -> int:
        if comm.number not in numbers:
            members = comm.members
            if comm.remote:  # both groups in one: its order names no ranks, messages do
                members = tuple(sorted({*comm.members, *comm.remote}))
            numbers[comm.number] = builder.communicator(members)
        return numbers[comm.number]

    def _new_collectives(
        self, builder: ProgramBuilder, numbers: dict[int, int]
    ) -> dict[tuple[int, int], int]:
        made: dict[tuple[int, int], int] = {}
        for number, (comm, shares) in sorted(self._shares.items()):
            calls = [shares.get(rank, []) for rank in comm.members]
            longest = max(range(len(calls)), key=lambda i: len(calls[i]))
            shortest = min(range(len(calls)), key=lambda i: len(calls[i]))
            for i in range(len(calls[shortest])):
                agreed = agree(
                    [mine[i] for mine in calls],
                    self._number(builder, numbers, comm),
                    comm.members,
                    self.files,
                    self.notes,
                )
                made[number, i] = builder.new_collective(agreed)
            if len(calls[shortest]) < len(calls[longest]):
                share = calls[longest][len(calls[shortest])]
                raise self.fail(
                    comm.members[longest],
                    share.line,
                    f"all {len(calls)} ranks of a communicator must call a collective; rank "
                    f"{comm.members[shortest]} does not call this {share.name} "
                    f"(it calls {len(calls[shortest])} collectives there, this rank "
                    f"{len(calls[longest])}); is its trace cut off?",
                )
        return made

    def _emit(
        self,
        builder: ProgramBuilder,
        rank: int,
        entry: TraceCall,
        numbers: dict[int, int],
        collectives: dict[tuple[int, int], int],
    ) -> None:
        if entry.compute_ns:
            builder.compute(rank, entry.compute_ns)
        if entry.cancelled:
            return
        line = entry.line
        if entry.kind == WAIT:
            ended = [call.number for call in entry.ended or () if call.number >= 0]
            if ended:
                builder.wait(rank, ended, line=line)
            return
        if entry.comm is None:
            return
        if entry.kind in (COLLECTIVE, ICOLLECTIVE):
            joined = collectives[entry.comm.number, entry.place]
            if entry.kind == COLLECTIVE:
                builder.join_collective(rank, joined, line=line)
            else:
                entry.number = builder.begin_collective(rank, joined, line=line)
        else:
            comm = self._number(builder, numbers, entry.comm)
            peer, size, tag = entry.peer, entry.size, entry.tag
            if entry.kind == SEND:
                builder.send(rank, peer, size, tag, comm=comm, line=line)
            elif entry.kind == RECV:
                builder.recv(rank, peer, size, tag, comm=comm, line=line)
            elif entry.kind == ISEND:
                entry.number = builder.isend(rank, peer, size, tag, comm=comm, line=line)
            elif entry.kind == IRECV:
                entry.number = builder.irecv(rank, peer, size, tag, comm=comm, line=line)


def fit_receives(calls: TraceCalls) -> None:
    """Give receives, in place, the size of the message they take, where that message is certain.

    Messages of one rank to another with one tag arrive in order (MPI 4.0, section 3.5), so the k-th
    receive takes the k-th message, unless an open wildcard receive may have taken some.
    """
    sent: dict[tuple[int, int, int, int], list[int]] = {}
    received: dict[tuple[int, int, int, int], list[TraceCall]] = {}
    doubtful: set[tuple[int, int]] = set()
    for rank in range(calls.num_ranks):
        for entry in calls.entries(rank):
            if entry.comm is None or entry.cancelled:
                continue
            number = entry.comm.number
            if entry.kind in (SEND, ISEND):
                sent.setdefault((number, rank, entry.peer, entry.tag), []).append(entry.size)
            elif entry.kind in (RECV, IRECV):
                peer, tag = entry.matched or (entry.peer, entry.tag)
                if peer == ANY_SOURCE or tag == ANY_TAG:
                    doubtful.add((number, rank))
                else:
                    received.setdefault((number, peer, rank, tag), []).append(entry)
    changed = 0
    for key, entries in received.items():
        if (key[0], key[2]) in doubtful:
            continue
        for entry, size in zip(entries, sent.get(key, ()), strict=False):
            changed += entry.size != size
            entry.size = size
    if changed:
        calls.notes.say(
            f"{changed} receives had more room than their message needs: they take the message's "
            "size"
        )
