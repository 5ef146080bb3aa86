"""Lowering by the book, one call after the other, with sets; slow and obviously right."""

from __future__ import annotations

import numpy as np

from workbench.programs import ANY_SOURCE, ANY_TAG, CALC, RECV, SEND, WORLD
from workbench.programs.collectives import DEFAULTS, Schedule, schedule
from workbench.programs.graph import Dependents, ExecutionGraph
from workbench.programs.program import (
    COLLECTIVE,
    ICOLLECTIVE,
    IRECV,
    ISEND,
    RECV as CALL_RECV,
    SEND as CALL_SEND,
    WAIT,
    Program,
)

SENDS, RECEIVES = (CALL_SEND, ISEND), (CALL_RECV, IRECV)


class Calls:
    """A program's calls as tuples."""

    def __init__(self, program: Program) -> None:
        self.by_rank = []
        for rank in range(program.num_ranks):
            numbers = range(int(program.rank_start[rank]), int(program.rank_start[rank + 1]))
            self.by_rank.append(
                [
                    {
                        name: int(getattr(program, name)[call])
                        for name in (
                            "kind",
                            "compute_ns",
                            "size",
                            "peer",
                            "tag",
                            "comm",
                            "request",
                            "collective",
                        )
                    }
                    for call in numbers
                ]
            )

    def messages(self, kinds: tuple[int, ...]) -> list[tuple[int, dict[str, int]]]:
        return [(r, c) for r, calls in enumerate(self.by_rank) for c in calls if c["kind"] in kinds]


def message_tags(program: Program, calls: Calls) -> tuple[dict[tuple[int, int], int], int]:
    """Give open receives their only tag; return the tag of each (comm, tag), and the next free."""
    sends = calls.messages(SENDS)
    for rank, call in calls.messages(RECEIVES):
        if call["tag"] == ANY_TAG:
            possible = {
                sent["tag"]
                for source, sent in sends
                if sent["peer"] == rank
                and sent["comm"] == call["comm"]
                and call["peer"] in (source, ANY_SOURCE)
            }
            if len(possible) == 1:
                call["tag"] = possible.pop()
    used = {(c["comm"], c["tag"]) for _, c in calls.messages(SENDS + RECEIVES)}
    used = {(comm, tag) for comm, tag in used if tag != ANY_TAG}
    first = max((tag for comm, tag in used if comm == WORLD), default=-1) + 1
    others = sorted((comm, tag) for comm, tag in used if comm != WORLD)
    tags = {pair: first + number for number, pair in enumerate(others)}
    tags |= {(comm, tag): tag for comm, tag in used if comm == WORLD}
    tags |= {(comm, ANY_TAG): ANY_TAG for comm in range(len(program.communicators))}
    return tags, first + len(others)


class Operations:
    """Operations so far, and what must have finished or begun before the next one of the rank."""

    def __init__(self) -> None:
        self.ops: list[tuple[int, int, int, int]] = []  # kind, size, peer, tag
        self.requires: list[tuple[int, int]] = []
        self.irequires: list[tuple[int, int]] = []
        self.finished: set[int] = set()
        self.begun: set[int] = set()

    def add(self, op: tuple[int, int, int, int]) -> int:
        self.requires.extend((len(self.ops), before) for before in self.finished)
        self.irequires.extend((len(self.ops), before) for before in self.begun)
        self.ops.append(op)
        return len(self.ops) - 1

    def then(self, finished: set[int], begun: set[int]) -> None:
        self.finished, self.begun = set(finished), set(begun)

    def follow(
        self, plan: Schedule, members: list[int], rank: int, first_tag: int
    ) -> tuple[set[int], set[int]]:
        """Add a rank's part in a collective; return its first and its last operations."""
        place = members.index(rank)
        mine = range(int(plan.rank_start[place]), int(plan.rank_start[place + 1]))
        edges = [
            (after, before)
            for after, before in zip(plan.after.tolist(), plan.before.tolist(), strict=True)
            if after in mine
        ]
        entries = set(mine) - {after for after, _ in edges}
        exits = set(mine) - {before for _, before in edges}
        if len(entries) > 1 and len(self.finished) + len(self.begun) > 1:
            self.then({self.add((CALC, 0, 0, 0))}, set())
        shift = len(self.ops) - mine.start
        for op in mine:
            kind, size = int(plan.kind[op]), int(plan.size[op])
            peer, tag = members[int(plan.peer[op])], first_tag + int(plan.tag[op])
            described = (CALC, size, 0, 0) if kind == CALC else (kind, size, peer, tag)
            if op in entries:
                self.add(described)
            else:
                self.ops.append(described)
        self.requires.extend((after + shift, before + shift) for after, before in edges)
        return {op + shift for op in entries}, {op + shift for op in exits}


def lower(
    program: Program,
    algorithms: dict[str, str],
    progress_cpu: int = 0,
    reduce_ns_per_byte: float = 0.0,
) -> ExecutionGraph:
    """Return the execution graph of a small program with enough free tags."""
    calls = Calls(program)
    tags, next_tag = message_tags(program, calls)
    plans, plan_tag = [], []
    for c in program.collectives:
        plans.append(
            schedule(
                c.operation,
                algorithms.get(c.operation, DEFAULTS[c.operation]),
                len(program.communicators[c.comm]),
                size=c.size,
                sizes=c.sizes,
                root=c.root,
                reduce_ns_per_byte=reduce_ns_per_byte,
            )
        )
        plan_tag.append(next_tag)
        next_tag += max([0, *plans[-1].tag.tolist()]) + 1

    graph = Operations()
    aside: set[int] = set()  # operations of non-blocking collectives
    starts = [0]
    for rank, of_rank in enumerate(calls.by_rank):
        graph.then(set(), set())
        ends: dict[int, set[int]] = {}  # what each request's wait waits for
        for call in of_rank:
            kind = call["kind"]
            if call["compute_ns"]:
                graph.then({graph.add((CALC, call["compute_ns"], 0, 0))}, set())
            if kind in SENDS + RECEIVES:
                tag = tags[call["comm"], call["tag"]]
                op = graph.add((SEND if kind in SENDS else RECV, call["size"], call["peer"], tag))
                if kind in (ISEND, IRECV):
                    ends[call["request"]] = {op}
                    graph.then(set(), {op})
                else:
                    graph.then({op}, set())
            elif kind == WAIT:
                for request in program.waits[call["request"]]:
                    graph.finished |= ends[request]
                graph.begun -= graph.finished
            elif kind in (COLLECTIVE, ICOLLECTIVE):
                number = call["collective"]
                members = program.communicators[program.collectives[number].comm].tolist()
                first = len(graph.ops)
                entries, last = graph.follow(plans[number], members, rank, plan_tag[number])
                if kind == ICOLLECTIVE:
                    aside.update(range(min(entries, default=first), len(graph.ops)))
                    ends[call["request"]] = last
                if entries and kind == COLLECTIVE:
                    graph.then(last, set())
                elif entries:
                    graph.then(set(), entries)
        starts.append(len(graph.ops))
    ops, requires, irequires = graph.ops, graph.requires, graph.irequires
    columns = np.array(ops, np.int64).reshape(-1, 4)
    cpu = np.array([progress_cpu * (op in aside) for op in range(len(ops))], np.uint8)
    return ExecutionGraph(
        rank_start=np.array(starts, np.int64),
        kind=columns[:, 0].astype(np.uint8),
        size=columns[:, 1].copy(),
        peer=columns[:, 2].astype(np.int32),
        tag=columns[:, 3].astype(np.uint32),
        cpu=cpu,
        nic=np.zeros(len(ops), np.uint8),
        requires=_dependents(requires, len(ops)),
        irequires=_dependents(irequires, len(ops)),
    )


def _dependents(pairs: list[tuple[int, int]], num_ops: int) -> Dependents:
    ordered = np.array(sorted(pairs), np.int64).reshape(-1, 2)
    return Dependents.from_pairs(ordered[:, 0], ordered[:, 1], num_ops)
