"""Programs written as Score-P would have recorded them, with the writer of its package."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from workbench.programs import Program
from workbench.programs.program import (
    COLLECTIVE,
    COMPUTE,
    ICOLLECTIVE,
    IRECV,
    ISEND,
    RECV,
    SEND,
    WAIT,
)

TICKS_PER_S = 2 * 10**9  # a tick is not a nanosecond
INSIDE_NS = 700  # of each MPI call


def write_otf2(program: Program, folder: Path) -> Path:
    """Write a program whose receives name their senders as an OTF2 archive; return its anchor."""
    import otf2

    with otf2.writer.open(str(folder), timer_resolution=TICKS_PER_S) as trace:
        _Writer(otf2, trace, program).write()
    return folder / "traces.otf2"


class _Writer:
    def __init__(self, otf2: Any, trace: Any, program: Program) -> None:
        self.otf2, self.trace, self.program = otf2, trace, program
        self.made = trace.definitions
        node = self.made.system_tree_node("machine")
        kind, mpi = otf2.GroupType, otf2.Paradigm.MPI
        self.places = []
        for rank in range(program.num_ranks):
            group = self.made.location_group(f"MPI Rank {rank}", system_tree_parent=node)
            self.places.append(self.made.location("Master thread", group=group))
        self.made.group("", group_type=kind.COMM_LOCATIONS, paradigm=mpi, members=self.places)
        self.comms = [
            self.made.comm(
                f"comm {number}",
                self.made.group(
                    f"group {number}",
                    group_type=kind.COMM_GROUP,
                    paradigm=mpi,
                    members=[self.places[rank] for rank in ranks.tolist()],
                ),
            )
            for number, ranks in enumerate(program.communicators)
        ]
        self.user = self.made.region("solve", paradigm=otf2.Paradigm.COMPILER)

    def write(self) -> None:
        for rank in range(self.program.num_ranks):
            self._rank(rank)

    def _rank(self, rank: int) -> None:
        p = self.program
        writer = self.trace.event_writer_from_location(self.places[rank])
        now = 1_000_000
        begun: dict[int, int] = {}

        def step(ns: int) -> int:
            nonlocal now
            now += ns * TICKS_PER_S // 10**9
            return now

        def region(name: str) -> Any:
            return self.made.region(name, paradigm=self.otf2.Paradigm.MPI)

        writer.enter(step(5), self.user)
        writer.enter(step(5000), region("MPI_Init"))
        writer.leave(step(90_000), region("MPI_Init"))
        for call in range(int(p.rank_start[rank]), int(p.rank_start[rank + 1])):
            kind = int(p.kind[call])
            name = region("MPI_" + str(kind))
            if kind == COMPUTE:
                step(int(p.compute_ns[call]))
                continue
            writer.enter(step(int(p.compute_ns[call])), name)
            comm = self.comms[p.comm[call]]
            members = p.communicators[p.comm[call]].tolist()
            request = int(p.request[call])
            message = ()
            if kind in (SEND, RECV, ISEND, IRECV):
                other = members.index(int(p.peer[call]))
                message = (other, comm, int(p.tag[call]), int(p.size[call]))
            step(INSIDE_NS // 2)
            if kind == SEND:
                writer.mpi_send(now, *message)
            elif kind == RECV:
                writer.mpi_recv(now, *message)
            elif kind == ISEND:
                writer.mpi_isend(now, *message, request)
                begun[request] = call
            elif kind == IRECV:
                writer.mpi_irecv_request(now, request)
                begun[request] = call
            elif kind == COLLECTIVE:
                writer.mpi_collective_begin(now)
                writer.mpi_collective_end(now, *self._told(rank, call))
            elif kind == ICOLLECTIVE:
                writer.non_blocking_collective_request(now, request)
                begun[request] = call
            elif kind == WAIT:
                for one in p.waits[request]:
                    self._end(writer, rank, now, one, begun.pop(one))
            writer.leave(step(INSIDE_NS - INSIDE_NS // 2), name)
        writer.enter(now, region("MPI_Finalize"))
        writer.leave(step(40_000), region("MPI_Finalize"))
        writer.leave(step(3), self.user)

    def _end(self, writer: Any, rank: int, now: int, request: int, call: int) -> None:
        p = self.program
        if p.kind[call] == ISEND:
            writer.mpi_isend_complete(now, request)
        elif p.kind[call] == IRECV:
            members = p.communicators[p.comm[call]].tolist()
            other = members.index(int(p.peer[call]))
            comm = self.comms[p.comm[call]]
            writer.mpi_irecv(now, other, comm, int(p.tag[call]), int(p.size[call]), request)
        else:
            writer.non_blocking_collective_complete(now, *self._told(rank, call), request)

    def _told(self, rank: int, call: int) -> tuple[Any, ...]:
        """Return what Score-P tells of a collective: the bytes to and from all ranks."""
        one = self.program.collectives[self.program.collective[call]]
        members = self.program.communicators[one.comm].tolist()
        me, n = members.index(rank), len(members)
        op = one.operation
        at_root = me == one.root
        own = one.sizes[me] if one.sizes and op != "alltoall" else one.size
        every = sum(one.sizes) if one.sizes else n * one.size
        sent, received = {
            "barrier": (0, 0),
            "bcast": (n * own if at_root else 0, own),
            "reduce": (own, n * own if at_root else 0),
            "gather": (own, every if at_root else 0),
            "scatter": (every if at_root else 0, own),
            "allgather": (n * own, every),
            "allreduce": (n * own, n * own),
            "alltoall": (n * own, n * own),
            "reduce_scatter": (every, n * own),
            "scan": ((n - me) * own, (me + 1) * own),
            "exscan": ((n - me - 1) * own, me * own),
        }[op]
        name = op.upper() + ("V" if one.sizes and op != "reduce_scatter" else "")
        if op == "alltoall" and one.sizes:
            rows = [one.sizes[k * n : (k + 1) * n] for k in range(n)]
            sent, received = sum(rows[me]), sum(row[me] for row in rows)
        rooted = op in ("bcast", "reduce", "gather", "scatter")
        root = one.root if rooted else 2**32 - 1  # OTF2_COLLECTIVE_ROOT_NONE
        operation = getattr(self.otf2.CollectiveOp, name)
        return operation, self.comms[one.comm], root, sent, received
