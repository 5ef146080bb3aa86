"""The schedules whose finish times LogGOPSim was asked for, made here from what each is."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable

import numpy as np

from workbench.programs.graph import (
    ANY_SOURCE,
    ANY_TAG,
    CALC,
    RECV,
    SEND,
    Dependents,
    ExecutionGraph,
)


class Schedule:
    """Collects operations rank by rank; a rank's operations are numbered from 0."""

    def __init__(self, ranks: int) -> None:
        self._ops: list[list[tuple[int, ...]]] = [[] for _ in range(ranks)]
        self._edges: dict[str, list[tuple[int, int, int]]] = {"requires": [], "irequires": []}

    def send(self, rank, size, peer, tag=0, *after, cpu=0, nic=0):
        return self._add(rank, (SEND, size, peer, tag, cpu, nic), after)

    def recv(self, rank, size, peer, tag=0, *after, cpu=0, nic=0):
        return self._add(rank, (RECV, size, peer, tag, cpu, nic), after)

    def calc(self, rank, ns, *after, cpu=0):
        return self._add(rank, (CALC, ns, 0, 0, cpu, 0), after)

    def requires(self, rank, op, *before):
        self._edges["requires"] += [(rank, op, other) for other in before]

    def irequires(self, rank, op, *before):
        self._edges["irequires"] += [(rank, op, other) for other in before]

    def graph(self) -> ExecutionGraph:
        starts = np.concatenate([[0], np.cumsum([len(own) for own in self._ops])]).astype(np.int64)
        kind, size, peer, tag, cpu, nic = np.array([op for own in self._ops for op in own]).T
        dependents = {}
        for name, edges in self._edges.items():
            edges.sort(key=lambda edge: edge[0])
            after = [starts[rank] + op for rank, op, _ in edges]
            before = [starts[rank] + other for rank, _, other in edges]
            dependents[name] = Dependents.from_pairs(after, before, int(starts[-1]))
        return ExecutionGraph(
            starts,
            kind.astype(np.uint8),
            size.astype(np.int64),
            peer.astype(np.int32),
            tag.astype(np.uint32),
            cpu.astype(np.uint8),
            nic.astype(np.uint8),
            **dependents,
        )

    def _add(self, rank, op, after):
        self._ops[rank].append(op)
        number = len(self._ops[rank]) - 1
        self.requires(rank, number, *after)
        return number


def binomial(ranks, size, reduce=False):
    """Round by round, who has the data sends it on to the rank 2^round above; or the other way."""
    s = Schedule(ranks)
    rounds = list(itertools.takewhile(lambda d: d < ranks, (2**k for k in itertools.count())))
    for rank in range(ranks):
        first = []
        if rank:
            parent = rank - 2 ** (rank.bit_length() - 1)
            first = [(s.send if reduce else s.recv)(rank, size, parent)]
        for distance in rounds:
            if rank < distance and rank + distance < ranks:
                if reduce:
                    got = s.recv(rank, size, rank + distance)
                    for op in first:
                        s.requires(rank, op, got)
                else:
                    s.send(rank, size, rank + distance, 0, *first)
    return s.graph()


def dissemination(ranks, size):
    """Each round sends 2^round up, once what came in the round before is there."""
    s = Schedule(ranks)
    for rank in range(ranks):
        got = []
        for distance in (2**k for k in range((ranks - 1).bit_length())):
            s.send(rank, size, (rank + distance) % ranks, 0, *got)
            got = [s.recv(rank, size, (rank - distance) % ranks)]
    return s.graph()


def n_way_dissemination(ranks, size, n=3):
    """Dissemination to n ranks a round; what came in is combined before it is sent on."""
    s = Schedule(ranks)
    for rank in range(ranks):
        distance, got = 1, []
        while distance < ranks:
            sends = [s.send(rank, size, (rank + k * distance) % ranks) for k in range(1, n + 1)]
            if got:
                chain = s.calc(rank, size, got[1], got[0])
                for other in got[2:]:
                    chain = s.calc(rank, size, other, chain)
                alone = s.calc(rank, size, got[0])
                s.requires(rank, sends[-1], chain)
                for op in sends:
                    s.requires(rank, op, alone)
            got = [s.recv(rank, size, (rank - k * distance) % ranks) for k in range(1, n + 1)]
            distance *= n + 1
    return s.graph()


def exchange_chain(ranks, partners: Callable[[int], list[tuple[int, int, int]]]):
    """One send and one receive a step; a send waits for the receive before it, nothing else."""
    s = Schedule(ranks)
    for rank in range(ranks):
        got = []
        for to, source, size in partners(rank):
            s.send(rank, size, to, 0, *got)
            got = [s.recv(rank, size, source)]
    return s.graph()


def halving_doubling(ranks, size):
    """Allreduce that exchanges halves, quarters, ... and then the other way round."""
    steps = range(ranks.bit_length() - 1)
    rounds = [*steps, *reversed(steps)]
    return exchange_chain(
        ranks, lambda rank: [(rank ^ 1 << k, rank ^ 1 << k, size >> (k + 1)) for k in rounds]
    )


def ring(ranks, size):
    """Allreduce round a ring, one part of the vector at a time, twice."""
    return exchange_chain(
        ranks,
        lambda rank: [((rank + 1) % ranks, (rank - 1) % ranks, size // ranks)] * (2 * (ranks - 1)),
    )


def alltoall(ranks, size):
    """All at once, each rank beginning with its right neighbour."""
    s = Schedule(ranks)
    for rank, distance in itertools.product(range(ranks), range(1, ranks)):
        s.send(rank, size, (rank + distance) % ranks)
        s.recv(rank, size, (rank - distance) % ranks)
    return s.graph()


def from_root(sizes, gather=False):
    """The root sends to all, or receives from all, at once; ``sizes`` from rank 1 on."""
    s = Schedule(len(sizes) + 1)
    for rank, size in enumerate(sizes, start=1):
        (s.recv if gather else s.send)(0, size, rank)
        (s.send if gather else s.recv)(rank, size, 0)
    return s.graph()


def linear_barrier(ranks):
    """All tell the root, which then tells all."""
    s = Schedule(ranks)
    join = s.calc(0, 0)
    for rank in range(1, ranks):
        told, tells = s.recv(0, 1, rank), s.send(0, 1, rank)
        s.requires(0, join, told)
        s.requires(0, tells, join)
        s.send(rank, 1, 0)
        s.recv(rank, 1, 0)
    return s.graph()


def pipeline(ranks, size, parts):
    """Each rank hands part after part on to the next."""
    s = Schedule(ranks)
    for rank in range(ranks):
        for _ in range(parts):
            got = [s.recv(rank, size, rank - 1)] if rank else []
            if rank + 1 < ranks:
                s.send(rank, size, rank + 1, 0, *got)
    return s.graph()


def halo(side, size, compute, iterations):
    """Six neighbours in an open cube, work beside the exchange, then an allreduce of 8 B.

    The allreduce doubles recursively among the first 2^k ranks; each rank beyond them hands its
    part to the rank 2^k below before, and gets the result back.
    """
    ranks = side**3
    rng = random.Random(0)
    inner = 2 ** (ranks.bit_length() - 1)
    s = Schedule(ranks)
    for rank in range(ranks):
        place = np.unravel_index(rank, (side, side, side))
        near = []
        for axis, step in itertools.product(range(3), (1, -1)):
            there = list(place)
            there[axis] += step
            if 0 <= there[axis] < side:
                direction = 2 * axis + (step < 0)
                near.append((direction, int(np.ravel_multi_index(tuple(there), (side,) * 3))))
        join = s.calc(rank, 0)
        for tag in range(0, 16 * iterations, 16):
            # A message has the tag of the direction it travels in.
            parts = [s.recv(rank, size, other, tag + (way ^ 1), join) for way, other in near]
            parts += [s.send(rank, size, other, tag + way, join) for way, other in near]
            parts += [s.calc(rank, int(compute * (1 + 0.2 * rng.random())), join)]
            join = s.calc(rank, 0, *parts)
            if rank >= inner:
                given = s.send(rank, 8, rank - inner, tag + 8, join)
                join = s.recv(rank, 8, rank - inner, tag + 15, given)
            else:
                if rank + inner < ranks:
                    join = s.recv(rank, 8, rank + inner, tag + 8, join)
                for distance in (2**k for k in range(inner.bit_length() - 1)):
                    both = [
                        s.send(rank, 8, rank ^ distance, tag + 9, join),
                        s.recv(rank, 8, rank ^ distance, tag + 9, join),
                    ]
                    join = s.calc(rank, 0, *both)
                if rank + inner < ranks:
                    join = s.send(rank, 8, rank + inner, tag + 15, join)
            join = s.calc(rank, 10, join)
    return s.graph()


def message_between_computations(before):
    """Two ranks compute, one tells the other, both compute again."""
    s = Schedule(2)
    s.calc(0, 1000, s.send(0, 4, 1, 7, s.calc(0, before)))
    s.calc(1, 1000, s.recv(1, 4, 0, 7, s.calc(1, 500)))
    return s.graph()


def burst(messages):
    """Small messages, one right after the other."""
    s = Schedule(2)
    for tag in range(1, messages + 1):
        s.send(0, 1, 1, tag)
        s.recv(1, 1, 0, tag)
    return s.graph()


def incast(ranks, size):
    """All send to one, each a little later than the one before."""
    s = Schedule(ranks)
    for rank in range(1, ranks):
        s.recv(0, size, rank)
        s.send(rank, size, 0, 0, s.calc(rank, 10 * rank))
    return s.graph()


def two_cores():
    """Work and a message on different cores of a rank."""
    s = Schedule(2)
    s.send(0, 100, 1, 1, s.calc(0, 50, s.calc(0, 100), cpu=1), cpu=1)
    s.calc(1, 40, s.recv(1, 100, 0, 1), cpu=2)
    return s.graph()


def two_interfaces():
    """Three messages by two interfaces."""
    s = Schedule(2)
    for tag, nic in ((1, 0), (2, 1), (3, 0)):
        s.send(0, 10000, 1, tag, nic=nic)
        s.recv(1, 10000, 0, tag, nic=nic)
    return s.graph()


def overlap():
    """Messages both ways, begun before a computation and waited for after it."""
    s = Schedule(2)
    for rank, before, work in ((0, 100, 50000), (1, 200, 20000)):
        begun = s.calc(rank, before)
        sent = s.send(rank, 4096, 1 - rank, 3 + rank, begun)
        got = s.recv(rank, 4096, 1 - rank, 4 - rank, begun)
        beside = s.calc(rank, work)
        s.irequires(rank, beside, sent, got)
        s.calc(rank, 10, sent, got, beside)
    return s.graph()


def crossing_rendezvous():
    """Long messages both ways; one rank computes beside them, the other before."""
    s = Schedule(2)
    sent, got, beside = s.send(0, 200000, 1, 3), s.recv(0, 200000, 1, 4), s.calc(0, 50000)
    s.irequires(0, beside, sent, got)
    s.calc(0, 10, sent, got, beside)
    begun = s.calc(1, 70000)
    s.calc(1, 10, s.send(1, 200000, 0, 4, begun), s.recv(1, 200000, 0, 3, begun))
    return s.graph()


def ping_pong(size):
    """There and back."""
    s = Schedule(2)
    s.recv(0, size, 1, 2, s.send(0, size, 1, 1))
    s.send(1, size, 0, 2, s.recv(1, size, 0, 1))
    return s.graph()


def rendezvous(receiver_late):
    """A long message whose sender, or receiver, comes late."""
    s = Schedule(2)
    first = [] if receiver_late else [s.calc(0, 300000)]
    s.calc(0, 1000, s.send(0, 100000, 1, 1, *first))
    first = [s.calc(1, 1000000)] if receiver_late else []
    s.calc(1, 700, s.recv(1, 100000, 0, 1, *first))
    return s.graph()


def unexpected():
    """Two messages come before their receives, which ask for the second first."""
    s = Schedule(2)
    s.calc(0, 100, s.send(0, 500, 1, 2, s.send(0, 500, 1, 1)))
    s.calc(1, 5, s.recv(1, 500, 0, 1, s.recv(1, 500, 0, 2, s.calc(1, 50000))))
    return s.graph()


def wildcards():
    """Receives from any rank, with any tag, and both."""
    s = Schedule(3)
    first = s.recv(0, 10, ANY_SOURCE, 5)
    s.recv(0, 10, ANY_SOURCE, ANY_TAG, s.recv(0, 10, 2, ANY_TAG, first))
    s.send(1, 10, 0, 6, s.send(1, 10, 0, 5))
    s.send(2, 10, 0, 7, s.calc(2, 10))
    return s.graph()


def empty_message():
    """A message of no bytes."""
    s = Schedule(2)
    s.calc(0, 100, s.send(0, 0, 1, 1))
    s.calc(1, 100, s.recv(1, 0, 0, 1))
    return s.graph()


SCHEDULES: dict[str, Callable[[], ExecutionGraph]] = {
    "allreduce_recdoub_64": lambda: halving_doubling(64, 65536),
    "allreduce_recdoub_8": lambda: halving_doubling(8, 1024),
    "allreduce_ring_8": lambda: ring(8, 4096),
    "alltoall_32_unstable_sort": lambda: alltoall(32, 256),
    "alltoall_6": lambda: alltoall(6, 256),
    "binomial_bcast_8": lambda: binomial(8, 1024),
    "binomial_reduce_8": lambda: binomial(8, 1024, reduce=True),
    "dissemination_128": lambda: dissemination(128, 64),
    "dissemination_8": lambda: dissemination(8, 1),
    "fig4_llamp_paper": lambda: message_between_computations(1000),
    "fig4c_llamp_paper": lambda: message_between_computations(100),
    "g_limited_burst": lambda: burst(10),
    "gather_8": lambda: from_root([512] * 7, gather=True),
    "halo3d_27_allreduce": lambda: halo(3, 8192, 100_000, 4),
    "halo3d_64_rndv": lambda: halo(4, 70_000, 200_000, 3),
    "incast_4to1": lambda: incast(5, 1000),
    "linbarrier_6": lambda: linear_barrier(6),
    "linear_bcast_64_unstable_sort": lambda: from_root([100 * rank for rank in range(1, 64)]),
    "linear_bcast_8": lambda: from_root([1024] * 7),
    "multi_cpu_quirk": two_cores,
    "nonblocking_overlap": overlap,
    "nonblocking_rndv_cross": crossing_rendezvous,
    "nwaydissemination_64": lambda: n_way_dissemination(64, 128),
    "pingpong_8b": lambda: ping_pong(8),
    "pipelinedring_32": lambda: pipeline(32, 4096, 16),
    "pipelinedring_5": lambda: pipeline(5, 1024, 8),
    "rendezvous_early_recv": lambda: rendezvous(receiver_late=False),
    "rendezvous_late_recv": lambda: rendezvous(receiver_late=True),
    "scatter_8": lambda: from_root([512] * 7),
    "two_nics": two_interfaces,
    "unexpected_msgs": unexpected,
    "wildcards": wildcards,
    "zero_byte_quirk": empty_message,
}
