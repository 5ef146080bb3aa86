"""Runs a collective's schedule on data: who contributed to what every rank ends with.

Written from MPI's rules alone: messages of one pair and tag are received in the order they were
sent, an operation starts when all it requires have finished, a synchronous send ends only when its
receive has been posted. A rank's data are a bitmask of contributors for each block.
"""

from __future__ import annotations

import random
from collections import defaultdict, deque
from dataclasses import dataclass

from workbench.programs.collectives import Schedule
from workbench.programs.graph import CALC, SEND

Data = dict[int, int]
"""Contributors by block, as a bitmask of ranks; blocks that a rank lacks are left out."""

ORDERS = ("eager", "delayed", "synchronous")
"""First come first served; at random, messages late; at random, sends that wait for receives."""


class BrokenScheduleError(Exception):
    """The schedule deadlocks, mixes messages up, or does wrong to the data."""


@dataclass
class Outcome:
    """What a run ended with.

    Attributes:
        data: of each rank.
        received: of each rank, what it combined from messages, without its own.
        ordered: whether reductions joined neighbouring ranges of ranks only.
        known: of each rank, bitmask of the ranks whose start came before its end.
    """

    data: list[Data]
    received: list[Data]
    ordered: bool
    known: list[int]


def initial(plan: Schedule) -> list[Data]:
    """Return what each rank has before the collective."""
    ranks, blocks = range(plan.ranks), range(len(plan.block_bytes))
    match plan.operation:
        case "barrier":
            return [{0: 0} for _ in ranks]
        case "bcast" | "scatter":
            return [dict.fromkeys(blocks, 1 << r) if r == plan.root else {} for r in ranks]
        case "gather" | "allgather":
            return [{r: 1 << r} for r in ranks]
        case "alltoall":
            return [{r * plan.ranks + d: 1 << r for d in ranks} for r in ranks]
        case _:
            return [dict.fromkeys(blocks, 1 << r) for r in ranks]


def due(plan: Schedule, rank: int) -> Data:
    """Return what a rank must have afterwards; an exscan's is what it must have received."""
    ranks, blocks = range(plan.ranks), range(len(plan.block_bytes))
    all_ranks, root = (1 << plan.ranks) - 1, rank == plan.root
    match plan.operation:
        case "barrier":
            return {}
        case "bcast":
            return dict.fromkeys(blocks, 1 << plan.root)
        case "scatter":
            return {rank: 1 << plan.root}
        case "gather":
            return {r: 1 << r for r in ranks} if root else {}
        case "allgather":
            return {r: 1 << r for r in ranks}
        case "alltoall":
            return {s * plan.ranks + rank: 1 << s for s in ranks}
        case "reduce":
            return dict.fromkeys(blocks, all_ranks) if root else {}
        case "allreduce":
            return dict.fromkeys(blocks, all_ranks)
        case "reduce_scatter":
            return {rank: all_ranks}
        case "scan":
            return dict.fromkeys(blocks, (2 << rank) - 1)
        case "exscan":
            return dict.fromkeys(blocks, (1 << rank) - 1) if rank else {}
        case other:
            raise AssertionError(other)


def run(plan: Schedule, order: str = "eager", seed: int = 0) -> Outcome:
    """Run a schedule in one of the ``ORDERS``.

    Raises:
        BrokenScheduleError: it deadlocks, leaves messages over, sends what a rank does not have,
            changes what is being sent, or combines a contribution twice.
    """
    return _Run(plan, order, seed).outcome()


def prove(plan: Schedule, order: str = "eager", seed: int = 0) -> Outcome:
    """Run a schedule and compare what every rank ends with to what it must have.

    Raises:
        BrokenScheduleError: as for ``run``, or a rank ends with something else.
    """
    outcome = run(plan, order, seed)
    for rank in range(plan.ranks):
        have = outcome.received[rank] if plan.operation == "exscan" else outcome.data[rank]
        for block, mask in due(plan, rank).items():
            if plan.block_bytes[block] and have.get(block) != mask:
                raise BrokenScheduleError(
                    f"{plan}: rank {rank} must end with {mask:b} in block {block}, has "
                    f"{have.get(block, 0):b}"
                )
        if plan.operation == "barrier" and outcome.known[rank] != (1 << plan.ranks) - 1:
            raise BrokenScheduleError(f"{plan}: rank {rank} leaves early")
    return outcome


def is_range(mask: int) -> bool:
    """Return whether the bits that are set are neighbours."""
    low = mask & -mask
    return mask & (mask + low) == 0


class _Run:
    def __init__(self, plan: Schedule, order: str, seed: int) -> None:
        self.plan, self.order, self.rng = plan, order, random.Random(seed)
        n = plan.num_ops
        self.kind, self.peer, self.tag = plan.kind.tolist(), plan.peer.tolist(), plan.tag.tolist()
        starts = plan.rank_start.tolist()
        self.rank = [r for r in range(plan.ranks) for _ in range(starts[r], starts[r + 1])]
        self.message = plan.message.tolist()
        blocks, first = plan.blocks.tolist(), plan.block_start.tolist()
        self.blocks = [blocks[first[m] : first[m + 1]] if m >= 0 else [] for m in self.message]
        reduces = plan.reduces.tolist()
        self.reduces = [m >= 0 and reduces[m] for m in self.message]
        self.size, self.block_bytes = plan.size.tolist(), plan.block_bytes.tolist()

        self.requires: list[list[int]] = [[] for _ in range(n)]
        self.required_by: list[list[int]] = [[] for _ in range(n)]
        for after, before in zip(plan.after.tolist(), plan.before.tolist(), strict=True):
            if self.rank[after] != self.rank[before]:
                raise BrokenScheduleError(f"{plan}: a dependency joins two ranks")
            self.requires[after].append(before)
            self.required_by[before].append(after)
        self.missing = [len(of) for of in self.requires]

        self.data = initial(plan)
        self.received: list[Data] = [{} for _ in range(plan.ranks)]
        self.ordered = True
        # what is known at the end of each operation: the ranks that have started
        self.known = [1 << rank for rank in self.rank]
        self.ended = [1 << rank for rank in range(plan.ranks)]
        self.sent: dict[int, tuple[Data, int]] = {}
        self.arrived: dict[int, Data] = {}  # to be combined: by receive
        self.flying: defaultdict[tuple[int, int, int], deque[int]] = defaultdict(deque)
        self.posted: defaultdict[tuple[int, int, int], deque[int]] = defaultdict(deque)
        self.finished = [False] * n
        # what can happen next: an operation starts, or the oldest message of a channel arrives
        self.agenda: list[tuple[str, int | tuple[int, int, int]]] = [
            ("start", op) for op in range(n) if not self.missing[op]
        ]

    def outcome(self) -> Outcome:
        turn = 0
        while turn < len(self.agenda):
            if self.order != "eager":
                agenda = self.agenda
                other = turn + int(self.rng.random() * (len(agenda) - turn))
                agenda[turn], agenda[other] = agenda[other], agenda[turn]
            what, which = self.agenda[turn]
            turn += 1
            if what == "start":
                self._start(which)  # type: ignore[arg-type]
            else:
                self._arrive(which)  # type: ignore[arg-type]
        waiting = [op for op, done in enumerate(self.finished) if not done]
        if waiting:
            op = waiting[0]
            raise BrokenScheduleError(
                f"{self.plan}: deadlock of {len(waiting)} operations, the first of rank "
                f"{self.rank[op]} with {self.peer[op]}"
            )
        if any(self.flying.values()):
            raise BrokenScheduleError(f"{self.plan}: messages that nobody takes")
        for rank in range(self.plan.ranks):
            mine = [op for op in self.arrived if self.rank[op] == rank]
            self._combine(rank, mine)
        return Outcome(self.data, self.received, self.ordered, self.ended)

    def _start(self, op: int) -> None:
        rank, kind = self.rank[op], self.kind[op]
        for before in self.requires[op]:
            self.known[op] |= self.known[before]
        self._combine(rank, [before for before in self.requires[op] if before in self.arrived])
        if kind == CALC:
            self._finish(op)
        elif kind == SEND:
            if sum(self.block_bytes[b] for b in self.blocks[op]) != self.size[op]:
                raise BrokenScheduleError(f"{self.plan}: a message is not as long as its blocks")
            self.sent[op] = self._snapshot(op), self.known[op]
            channel = (rank, self.peer[op], self.tag[op])
            self.flying[channel].append(op)
            self.agenda.append(("arrive", channel))
            if self.order != "synchronous":
                self._finish_send(op)
        else:
            channel = (self.peer[op], rank, self.tag[op])
            self.posted[channel].append(op)
            self.agenda.append(("arrive", channel))

    def _arrive(self, channel: tuple[int, int, int]) -> None:
        """Match the oldest message with the oldest receive, where there are both."""
        flying, posted = self.flying[channel], self.posted[channel]
        if not flying or not posted:
            return
        send, recv = flying.popleft(), posted.popleft()
        if self.message[send] != self.message[recv] or self.size[send] != self.size[recv]:
            raise BrokenScheduleError(f"{self.plan}: a receive takes another message than its own")
        if self.order == "synchronous":
            self._finish_send(send)
        data, known = self.sent[send]
        self.known[recv] |= known
        if self.reduces[recv]:
            self.arrived[recv] = data
        else:
            self.data[self.rank[recv]].update(data)
        self._finish(recv)

    def _finish_send(self, op: int) -> None:
        if self._snapshot(op) != self.sent[op][0]:
            raise BrokenScheduleError(f"{self.plan}: what is being sent is changed")
        self._finish(op)

    def _finish(self, op: int) -> None:
        self.finished[op] = True
        self.ended[self.rank[op]] |= self.known[op]
        for after in self.required_by[op]:
            self.missing[after] -= 1
            if not self.missing[after]:
                self.agenda.append(("start", after))

    def _snapshot(self, op: int) -> Data:
        data = self.data[self.rank[op]]
        lacking = [b for b in self.blocks[op] if b not in data and self.block_bytes[b]]
        if lacking:
            raise BrokenScheduleError(f"{self.plan}: rank {self.rank[op]} lacks block {lacking[0]}")
        return {b: data[b] for b in self.blocks[op] if b in data}

    def _combine(self, rank: int, receives: list[int]) -> None:
        """Combine what has arrived with what the rank has, all of it at once."""
        terms: defaultdict[int, list[int]] = defaultdict(list)
        for op in receives:
            for block, mask in self.arrived.pop(op).items():
                terms[block].append(mask)
        for block, masks in terms.items():
            for into in (self.received[rank], self.data[rank]):
                for mask in masks:
                    if into.get(block, 0) & mask:
                        raise BrokenScheduleError(f"{self.plan}: a contribution counts twice")
                if into is self.data[rank]:
                    self._see_order([*masks, into.get(block, 0)])
                into[block] = into.get(block, 0) | sum(masks)

    def _see_order(self, masks: list[int]) -> None:
        masks.sort(key=lambda mask: mask & -mask)
        so_far = 0
        for mask in masks:
            so_far |= mask
            # neighbouring ranges, one after the other, make a range each time
            self.ordered &= is_range(mask) and is_range(so_far)
