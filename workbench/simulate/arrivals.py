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
    try:
        found = _answered(program, model, algorithms or {})
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


def _answered(program: Program, model: LogGPS, algorithms: Mapping[str, str]) -> Program:
    """Return the program with each block at the rank that arrivals on a network give it."""
    costs, peers, tags = PicosecondCosts.of(model), program.peer.copy(), program.tag.copy()
    (phases, joint), wild = _phases(program), _from_any(program)
    done = program.rank_start[:-1].tolist()  # the first row of each rank that is left
    order: list[list[IntArray]] = [[] for _ in done]
    at_ps = [0] * len(done)
    # When the ranks end one farm decides when they begin the next.
    for phase in np.unique(phases[wild]).tolist():
        before, farm_rows = [], []
        for rank, own in enumerate(_of(program)):
            first, last = own.start + np.searchsorted(phases[own], [phase, phase + 1])
            first += int(first < last and joint[first])
            before.append(np.arange(done[rank], first))
            farm_rows.append(np.arange(first, last))
            done[rank] = int(last)
        at_ps = _ends_ps(program, before, at_ps, model, algorithms)
        given, at_ps = _Farm(program, farm_rows, wild).answer(costs, at_ps, peers, tags)
        for rows, earlier, own_rows in zip(order, before, given, strict=True):
            rows += [earlier, own_rows]
    for rows, first, last in zip(order, done, program.rank_start[1:].tolist(), strict=True):
        rows.append(np.arange(first, last))
    whole = replace(program, peer=peers, tag=tags)
    return _rows(whole, [np.concatenate(rows) for rows in order])


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

    def __init__(self, program: Program, rows: list[IntArray], wild: NDArray[np.bool_]) -> None:
        self.program, self.rows, self.wild = program, rows, wild
        masters = [rank for rank, own in enumerate(rows) if wild[own].any()]
        if len(masters) > 1:
            raise _NotPlainError(f"ranks {', '.join(map(str, masters))} have some at a time")
        self.master = masters[0]
        self.answers = self._answers()
        self.workers = {
            one: self._worker(one)
            for one, own in enumerate(rows)
            if one != self.master and len(own)
        }
        self.block_of = self._as_traced()

    def _answers(self) -> set[int]:
        """Return the master's rows that send to the rank it has just received from."""
        program, rows = self.program, self.rows[self.master]
        kinds, wild = program.kind[rows], self.wild[rows]
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

    def answer(
        self,
        costs: PicosecondCosts,
        start_ps: list[int],
        peers: NDArray[np.int32],
        tags: NDArray[np.uint32],
    ) -> tuple[list[IntArray], list[int]]:
        """Enter peers and tags as arrivals decide; return each rank's rows, and its end in ps."""
        program, workers = self.program, self.workers
        rows = np.concatenate(self.rows)
        sizes = program.size[rows]
        if sizes.max() > costs.S:
            raise _NotPlainError(f"a message of {sizes.max()} B would be a rendezvous, above S")
        kind, tag, comm = program.kind, program.tag, program.comm
        at = rows.tolist()
        work = dict(zip(at, (program.compute_ns[rows] * PS_PER_NS).tolist(), strict=True))
        way = dict(zip(at, (costs.L + costs.G.of(sizes)).tolist(), strict=True))
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

        for rank, worker in workers.items():
            worker.free_ps = start_ps[rank]
            send(rank, worker.opening)
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
        given, ends_ps = list(self.rows), list(start_ps)
        ends_ps[self.master] = now
        for rank, worker in workers.items():
            given[rank] = np.array(worker.opening + worker.given + worker.tail, np.int64)
            ends_ps[rank] = worker.free_ps
        return given, ends_ps

    def _call(self, row: int) -> str:
        """Return a call in words, such as ``irecv of rank 3, call 17,``."""
        rank = int(np.searchsorted(self.program.rank_start, row, side="right")) - 1
        name = CALL_NAMES[self.program.kind[row]]
        return f"{name} of rank {rank}, call {row - int(self.program.rank_start[rank])},"


def _from_any(program: Program) -> NDArray[np.bool_]:
    """Return which calls receive from any source."""
    wild: NDArray[np.bool_] = (program.peer == ANY_SOURCE) & np.isin(program.kind, (RECV, IRECV))
    return wild


def _phases(program: Program) -> tuple[IntArray, NDArray[np.bool_]]:
    """Return the number of collectives of all ranks up to each call, and which calls are such."""
    whole = np.array([len(ranks) == program.num_ranks for ranks in program.communicators])
    joint: NDArray[np.bool_] = (program.kind == COLLECTIVE) & whole[program.comm]
    return np.concatenate([np.cumsum(joint[own]) for own in _of(program)]), joint


def _of(program: Program) -> list[slice]:
    """Return the calls of each rank."""
    return [slice(*ends) for ends in pairwise(program.rank_start.tolist())]


def _rows(program: Program, rows: list[IntArray]) -> Program:
    """Return a program of some calls of a program, of each rank in an order."""
    order = np.concatenate(rows)
    columns = ("kind", "compute_ns", "size", "peer", "tag", "comm", "request", "collective")
    return replace(
        program,
        rank_start=np.concatenate([[0], np.cumsum(list(map(len, rows)))]).astype(np.int64),
        line=None,
        **{name: getattr(program, name)[order] for name in columns},
    )


def _ends_ps(
    program: Program,
    rows: list[IntArray],
    at_ps: list[int],
    model: LogGPS,
    algorithms: Mapping[str, str],
) -> list[int]:
    """Return when each rank has ended some of its calls, before which it is busy until a time, ps.

    The times are taken in whole nanoseconds, as work is.
    """
    if not any(map(len, rows)):
        return at_ps
    cut = _rows(program, rows)
    request, work, waits = cut.request.copy(), cut.compute_ns.copy(), []
    for own, busy_ps in zip(_of(cut), at_ps, strict=True):
        work[own][:1] += busy_ps // PS_PER_NS
        begun: dict[int, int] = {}  # the new number of each request
        count = 0
        for row in range(own.start, own.stop):
            if cut.kind[row] in (ISEND, IRECV, ICOLLECTIVE):
                begun[int(request[row])], request[row], count = count, count, count + 1
            elif cut.kind[row] == WAIT:
                first, last = program.wait_start[request[row] :][:2]
                asked = program.wait_requests[first:last].tolist()
                if not begun.keys() >= set(asked):
                    raise _NotPlainError("requests are under way at the collective before them")
                waits.append([begun.pop(one) for one in asked])
                request[row] = len(waits) - 1
        if begun:
            raise _NotPlainError("requests are under way at the collective before them")
    used, joined = np.unique(cut.collective, return_inverse=True)
    first = int(used[0] < 0)  # of calls that are no collective
    closed = replace(
        cut,
        compute_ns=work,
        request=request,
        wait_start=np.cumsum([0, *map(len, waits)]),
        wait_requests=np.array([one for asked in waits for one in asked], np.int32),
        collectives=tuple(program.collectives[one] for one in used[first:].tolist()),
        collective=(joined - first).astype(np.int32),
    )
    try:
        ends = replay(closed.graph(algorithms), model, semantics="llamp").finish_ps.tolist()
    except ProgramError as error:
        raise _NotPlainError("messages are under way at the collective before them") from error
    return [
        int(end) if len(own) else busy for end, own, busy in zip(ends, rows, at_ps, strict=True)
    ]
