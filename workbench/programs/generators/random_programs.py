"""Random programs that run to their end on any network, to test readers and simulators."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from workbench.checks import number, whole
from workbench.programs.builder import ProgramBuilder
from workbench.programs.graph import ANY_SOURCE, ANY_TAG
from workbench.programs.program import OPERATIONS, WORLD, Collective, Program

_ROOTED = ("bcast", "reduce", "gather", "scatter")
_WITH_SIZES = ("gather", "scatter", "allgather", "alltoall", "reduce_scatter")
_OPEN_TAG, _TAGS = 7, 4  # tags 0 to 3 are drawn, 4 is that of pairs with one; 7 is neither


def random_program(
    ranks: int = 4,
    *,
    events: int = 30,
    largest_bytes: int = 100_000,
    longest_ns: int = 10_000,
    nonblocking: bool = True,
    wildcards: bool = True,
    collectives: bool = True,
    communicators: int = 2,
    rng: np.random.Generator | int | None = None,
) -> Program:
    """Return random messages, computations and collectives that match and cannot deadlock.

    Events are drawn one after the other, and each rank calls its part of them in this order, so
    that the first event which has not happened can always happen, even if sends are synchronous.
    Every third rank takes messages from any source: all of its messages then have one size and
    tag, and their sends are waited for at the end, since which of them is taken when is open.

    Args:
        ranks: how many.
        events: messages, computations, collectives and waits, how many altogether.
        largest_bytes: largest size of a message in bytes; small ones are as frequent as large.
        longest_ns: longest computation in ns.
        nonblocking: whether there are non-blocking calls.
        wildcards: whether there are receives from any source and of any tag.
        collectives: whether there are collectives.
        communicators: how many there are besides that of all ranks, in random order.
        rng: random generator or seed.

    Raises:
        ParameterError: an argument is too small.
    """
    whole(largest_bytes, "largest_bytes", 1)
    number(longest_ns, "longest_ns", 0)
    whole(events, "events", 0)
    random = np.random.default_rng(rng)
    draw = _Draw(ProgramBuilder(ranks, source=f"random_program {ranks}"), random, largest_bytes)
    draw.nonblocking, draw.wildcards = nonblocking, wildcards
    for _ in range(communicators):
        members = random.permutation(ranks)[: random.integers(1, ranks + 1)].tolist()
        draw.comms.append(draw.builder.communicator(members))
        draw.members.append(members)
    kinds = ["compute", "message", "message", "message", "wait"] + ["collective"] * collectives
    for _ in range(events):
        kind = kinds[random.integers(len(kinds))]
        if kind == "compute":
            draw.builder.compute(int(random.integers(ranks)), int(random.integers(longest_ns + 1)))
        elif kind == "message":
            draw.message()
        elif kind == "wait":
            draw.wait()
        else:
            draw.collective()
    for rank, pending in enumerate(draw.pending):
        if pending or draw.last[rank]:
            draw.builder.wait(rank, pending + draw.last[rank])
    return draw.builder.build()


@dataclass
class _Draw:
    """The program so far, its unwaited requests, and those that only the end may wait for."""

    builder: ProgramBuilder
    random: np.random.Generator
    largest_bytes: int
    nonblocking: bool = True
    wildcards: bool = True
    comms: list[int] = field(default_factory=lambda: [WORLD])
    members: list[list[int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        ranks = self.builder.num_ranks
        self.members = [list(range(ranks))]
        self.pending: list[list[int]] = [[] for _ in range(ranks)]
        self.last: list[list[int]] = [[] for _ in range(ranks)]
        self.open_bytes = [self.size() for _ in range(ranks)]

    def size(self) -> int:
        return int(np.exp(self.random.uniform(0, np.log(self.largest_bytes))))

    def chance(self, wanted: bool) -> bool:
        return wanted and bool(self.random.random() < 0.5)

    def message(self) -> None:
        at = int(self.random.integers(len(self.comms)))
        comm, members = self.comms[at], self.members[at]
        if len(members) < 2:
            return
        source, receiver = self.random.permutation(members)[:2].tolist()
        if self.wildcards and receiver % 3 == 0 and comm == WORLD:
            size = self.open_bytes[receiver]
            self.last[source].append(self.builder.isend(source, receiver, size, _OPEN_TAG))
            tag = ANY_TAG if self.chance(True) else _OPEN_TAG
            if self.chance(self.nonblocking):
                self.pending[receiver].append(self.builder.irecv(receiver, ANY_SOURCE, size, tag))
            else:
                self.builder.recv(receiver, ANY_SOURCE, size, tag)
            return
        # Where all messages of a pair have one tag, any tag means this one.
        one_tag = self.wildcards and (source + receiver) % 2 == 0
        size, tag = self.size(), _TAGS if one_tag else int(self.random.integers(_TAGS))
        wanted = ANY_TAG if self.chance(one_tag) else tag
        if self.chance(self.nonblocking):
            request = self.builder.isend(source, receiver, size, tag, comm=comm)
            self.pending[source].append(request)
        else:
            self.builder.send(source, receiver, size, tag, comm=comm)
        if self.chance(self.nonblocking):
            request = self.builder.irecv(receiver, source, size, wanted, comm=comm)
            self.pending[receiver].append(request)
        else:
            self.builder.recv(receiver, source, size, wanted, comm=comm)

    def wait(self) -> None:
        rank = int(self.random.integers(self.builder.num_ranks))
        keep = self.random.random(len(self.pending[rank])) < 0.3
        chosen = [r for r, later in zip(self.pending[rank], keep, strict=True) if not later]
        if chosen:
            self.builder.wait(rank, chosen)
        self.pending[rank] = [r for r in self.pending[rank] if r not in chosen]

    def collective(self) -> None:
        at = int(self.random.integers(len(self.comms)))
        comm, members = self.comms[at], self.members[at]
        operation = OPERATIONS[self.random.integers(len(OPERATIONS))]
        root = int(self.random.integers(len(members))) if operation in _ROOTED else 0
        size = 0 if operation == "barrier" else self.size()
        sizes: tuple[int, ...] = ()
        if operation in _WITH_SIZES and self.chance(True):
            count = len(members) ** 2 if operation == "alltoall" else len(members)
            size, sizes = 0, tuple(self.size() for _ in range(count))
        number = self.builder.new_collective(Collective(operation, comm, size, root, sizes))
        begins = self.chance(self.nonblocking)
        for rank in members:
            if begins:
                self.pending[rank].append(self.builder.begin_collective(rank, number))
            else:
                self.builder.join_collective(rank, number)
