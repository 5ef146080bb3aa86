"""Receives from any source replayed as arrivals decide: whoever answers first gets the next task.

A trace fixes who was answered. Where a master receives from any source and then sends to the rank
it has just received from, another latency changes who that is, and the work of a task goes with
the task. The trace makes it plain where, between two collectives of all ranks,

- one rank receives from any source, and from nobody that it names;
- what it sends between two receives goes to one rank, of which a message may be what it has just
  received; what it sends before the first and after the last receive may go to any;
- each other rank only receives from that one and sends to it, in blocks: a receive, the work
  after it and the sends that follow.

The messages of the master keep their order. Each carries its block to the rank that gets it, the
work before the block's receive included. All messages are eager, and nothing waits for a CPU or an
interface, as in LLAMP (Shen et al., Algorithm 1).
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import IntArray
from workbench.errors import ProgramError
from workbench.models import LogGPS
from workbench.programs.graph import ANY_SOURCE, ANY_TAG
from workbench.programs.program import (
    CALL_NAMES,
    COLLECTIVE,
    COMPUTE,
    ICOLLECTIVE,
    IRECV,
    ISEND,
    RECV,
    SEND,
    WAIT,
    Program,
)
from workbench.simulate.picoseconds import PS_PER_NS, PicosecondCosts
from workbench.simulate.replay import replay


def by_arrival(
    program: Program, model: LogGPS, algorithms: Mapping[str, str] | None = None
) -> Program:
    """Return a program whose receives from any source are answered as messages arrive on a network.

    Each of these receives then names the rank whose message it takes. A program without such
    receives is returned as it is; so is one in which it is not plain whom they answer, with a note
    that says why.

    Args:
        program: as it was recorded.
        model: the network; L, o, G and S are used.
        algorithms: of its collectives, by operation; what is left out takes its default.

    Raises:
        ParameterError: an algorithm is not known, or a time is beyond a clock of 2^62 ps.
    """
    wild = receives_from_any(program)
    if not wild:
        return program
    found = program
    try:
        # Whom one phase answers decides when the ranks begin the next.
        for phase in np.unique(_phases(program)[_from_any(program)]).tolist():
            found = _Farm(found, phase).answered(model, algorithms or {})
    except _NotPlainError as why:
        note = f"{wild} receives from any source are answered as traced: {why}."
        return replace(program, notes=(*program.notes, note))
    note = f"{wild} receives from any source are answered as messages arrive, {model}."
    return replace(found, notes=(*program.notes, note), recorded=None)


def receives_from_any(program: Program) -> int:
    """Return the number of receives from any source.

    Args:
        program: to count them in.
    """
    return int(_from_any(program).sum())


class _NotPlainError(Exception):
    """The trace does not show whom a receive from any source answers; the text says why."""


@dataclass
class _Worker:
    """A rank that is answered."""

    opening: list[int] = field(default_factory=list)  # rows of its sends before its first receive
    blocks: list[list[int]] = field(default_factory=list)  # rows of each, as it was traced
    tail: list[int] = field(default_factory=list)  # row of the work after its last call
    given: list[int] = field(default_factory=list)  # rows of the blocks that arrivals give it
    free_ps: int = 0  # when it begins to wait for its next block
    last_ps: int = 0  # when its latest message arrives


class _Farm:
    """A master and workers between two collectives of all ranks."""

    def __init__(self, program: Program, phase: int) -> None:
        self.program = program
        phases, joint = _phases(program), _joint(program)
        own = (phases == phase) & ~joint
        self.before = (phases < phase) | ((phases == phase) & joint)
        rank = np.repeat(np.arange(program.num_ranks), np.diff(program.rank_start))
        masters = np.unique(rank[own & _from_any(program)]).tolist()
        if len(masters) > 1:
            raise _NotPlainError(f"ranks {', '.join(map(str, masters))} have some at a time")
        self.master = int(masters[0])
        self.rows = [np.flatnonzero(own & (rank == one)) for one in range(program.num_ranks)]
        self.answers = self._answers()
        self.workers = {
            one: self._worker(one)
            for one in range(program.num_ranks)
            if one != self.master and len(self.rows[one])
        }
        self.block_of = self._as_traced()

    def _answers(self) -> set[int]:
        """Return the master's rows that send to the rank it has just received from."""
        program, rows = self.program, self.rows[self.master]
        kinds, wild = program.kind[rows], _from_any(program)[rows]
        known = np.isin(kinds, (SEND, ISEND, WAIT, COMPUTE)) | ((kinds == RECV) & wild)
        if not known.all():
            raise _NotPlainError(f"{self._call(rows[~known][0])} stands among them")
        sends, turn = np.isin(kinds, (SEND, ISEND)), np.cumsum(wild)
        answers: set[int] = set()
        for one in range(1, int(turn[-1]) + 1):
            own = rows[sends & (turn == one)]
            if len(np.unique(program.peer[own])) <= 1:
                answers.update(own.tolist())
            elif one < turn[-1]:
                raise _NotPlainError(f"rank {self.master} sends to several ranks after one")
        return answers

    def _worker(self, rank: int) -> _Worker:
        """Return a worker with its rows cut into blocks."""
        found, program = _Worker(), self.program
        for row in self.rows[rank].tolist():
            kind = program.kind[row]
            if kind == COMPUTE:
                found.tail.append(row)
            elif kind not in (SEND, RECV) or program.peer[row] != self.master:
                raise _NotPlainError(f"{self._call(row)} stands beside them")
            elif kind == RECV:
                found.blocks.append([row])
            else:
                (found.blocks[-1] if found.blocks else found.opening).append(row)
        return found

    def _as_traced(self) -> dict[int, list[int]]:
        """Return the block that each message of the master carries.

        Refused is a program in which the answer to a receive goes to a rank that has no message
        under way, as the trace has it.
        """
        kind, peers = self.program.kind, self.program.peer
        under_way = {rank: len(one.opening) for rank, one in self.workers.items()}
        left = {rank: iter(one.blocks) for rank, one in self.workers.items()}
        carried, answered = {}, True
        for row in self.rows[self.master].tolist():
            if kind[row] == RECV:
                answered = False
            elif kind[row] in (SEND, ISEND):
                peer = int(peers[row])
                block = next(left.get(peer, iter(())), None)
                if block is None:
                    raise _NotPlainError(f"rank {peer} does not receive all that it is sent")
                carried[row] = block
                if row in self.answers and not answered:
                    answered = True
                    under_way[peer] -= 1
                if under_way[peer] < 0:
                    raise _NotPlainError(
                        f"{self._call(row)} follows one that cannot have been of rank {peer}"
                    )
                under_way[peer] += len(block) - 1
        for rank, blocks in left.items():
            if next(blocks, None) is not None:
                raise _NotPlainError(f"rank {rank} receives more than rank {self.master} sends it")
        return carried

    def answered(self, model: LogGPS, algorithms: Mapping[str, str]) -> Program:
        """Return the program with each block at the rank that arrivals on a network give it."""
        program, costs, workers = self.program, PicosecondCosts.of(model), self.workers
        largest = int(program.size[np.concatenate(self.rows)].max())
        if largest > costs.S:
            raise _NotPlainError(f"a message of {largest} B would be a rendezvous, above S")
        kind, tag, comm = program.kind.tolist(), program.tag.tolist(), program.comm.tolist()
        work = (program.compute_ns * PS_PER_NS).tolist()
        way = (costs.L + costs.G.of(program.size)).tolist()
        # The messages under way by communicator and tag: when they arrive, from whom, their tag.
        arriving: dict[tuple[int, int], list[tuple[int, int, int]]] = {}

        def send(rank: int, rows: list[int]) -> None:
            worker = workers[rank]
            for row in rows:
                worker.free_ps += work[row] + costs.o
                # Of a rank's messages none overtakes another.
                worker.last_ps = max(worker.last_ps, worker.free_ps + way[row])
                queue = arriving.setdefault((comm[row], tag[row]), [])
                heapq.heappush(queue, (worker.last_ps, rank, tag[row]))

        start_ps = self._start_ps(model, algorithms)
        for rank, worker in workers.items():
            worker.free_ps = start_ps[rank]
            send(rank, worker.opening)
        peers, tags = program.peer.copy(), program.tag.copy()
        now, source = start_ps[self.master], ANY_SOURCE
        ends: dict[int, int] = {}  # of a request
        for row in self.rows[self.master].tolist():
            now += work[row]
            if kind[row] == RECV:
                fitting = [
                    queue
                    for (where, what), queue in arriving.items()
                    if queue and where == comm[row] and tag[row] in (what, ANY_TAG)
                ]
                if not fitting:
                    raise _NotPlainError(f"{self._call(row)} would wait for a message of nobody")
                arrival, source, tags[row] = heapq.heappop(min(fitting))
                peers[row] = source
                now = max(now, arrival) + costs.o
            elif kind[row] == WAIT:
                first, last = program.wait_start[program.request[row] :][:2]
                asked = program.wait_requests[first:last].tolist()
                now = max([now, *(ends.get(one, now) for one in asked)])
            elif kind[row] != COMPUTE:
                if row in self.answers:
                    peers[row] = source
                sent = now + costs.o
                ends[int(program.request[row])] = sent
                now = sent if kind[row] == SEND else now
                worker, block = workers[int(peers[row])], self.block_of[row]
                worker.given += block
                worker.free_ps = max(worker.free_ps + work[block[0]], sent + way[row]) + costs.o
                send(int(peers[row]), block[1:])
        if any(arriving.values()):
            raise _NotPlainError(f"rank {self.master} does not receive all that it is sent")
        return self._moved(peers, tags)

    def _start_ps(self, model: LogGPS, algorithms: Mapping[str, str]) -> list[int]:
        """Return when each rank has ended what comes before, ps."""
        program, kept = self.program, self.before
        if not kept.any():
            return [0] * program.num_ranks
        begun = int(np.isin(program.kind[kept], (ISEND, IRECV, ICOLLECTIVE)).sum())
        waits = program.request[kept & (program.kind == WAIT)]
        if begun > np.diff(program.wait_start)[waits].sum():
            raise _NotPlainError("requests are under way at the collective before them")
        joined = program.collective[kept]
        used = np.unique(joined[joined >= 0])
        cut = replace(
            _rows(program, np.flatnonzero(kept), [int(kept[rows].sum()) for rows in _of(program)]),
            collectives=tuple(program.collectives[one] for one in used.tolist()),
            collective=np.where(joined >= 0, np.searchsorted(used, joined), -1).astype(np.int32),
        )
        try:
            found = replay(cut.graph(algorithms), model, semantics="llamp").finish_ps
        except ProgramError as error:
            raise _NotPlainError("messages are under way at the collective before them") from error
        return [int(one) for one in found.tolist()]

    def _moved(self, peers: NDArray[np.int32], tags: NDArray[np.uint32]) -> Program:
        """Return the program with the blocks where they were given."""
        order: list[IntArray] = []
        for rank, rows in enumerate(_of(self.program)):
            worker, own, every = (
                self.workers.get(rank),
                self.rows[rank],
                np.arange(rows.start, rows.stop),
            )
            if worker is not None:
                first, last = own[0] - rows.start, own[-1] + 1 - rows.start
                own = np.array(worker.opening + worker.given + worker.tail, np.int64)
                every = np.concatenate([every[:first], own, every[last:]])
            order.append(every)
        whole = replace(self.program, peer=peers, tag=tags)
        return _rows(whole, np.concatenate(order), list(map(len, order)))

    def _call(self, row: int) -> str:
        """Return a call in words, such as ``irecv of rank 3, call 17,``."""
        rank = int(np.searchsorted(self.program.rank_start, row, side="right")) - 1
        name = CALL_NAMES[self.program.kind[row]]
        return f"{name} of rank {rank}, call {row - int(self.program.rank_start[rank])},"


def _from_any(program: Program) -> NDArray[np.bool_]:
    """Return which calls receive from any source."""
    wild: NDArray[np.bool_] = (program.peer == ANY_SOURCE) & np.isin(program.kind, (RECV, IRECV))
    return wild


def _joint(program: Program) -> NDArray[np.bool_]:
    """Return which calls wait for a collective of all ranks."""
    whole = np.array([len(ranks) == program.num_ranks for ranks in program.communicators])
    waits: NDArray[np.bool_] = (program.kind == COLLECTIVE) & whole[program.comm]
    return waits


def _phases(program: Program) -> IntArray:
    """Return how many collectives of all ranks a rank has called up to each call, with it."""
    joint = _joint(program)
    return np.concatenate([np.cumsum(joint[rows]) for rows in _of(program)])


def _of(program: Program) -> list[slice]:
    """Return the calls of each rank."""
    return [slice(*ends) for ends in pairwise(program.rank_start.tolist())]


def _rows(program: Program, order: IntArray, lengths: list[int]) -> Program:
    """Return a program of some calls, so many of each rank, in an order."""
    columns = ("kind", "compute_ns", "size", "peer", "tag", "comm", "request", "collective")
    return replace(
        program,
        rank_start=np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        line=None,
        **{name: getattr(program, name)[order] for name in columns},
    )
