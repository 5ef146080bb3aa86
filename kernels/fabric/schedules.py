"""The steps of SST/macro's collectives: each rank's peers and message sizes.

A rank runs one chain of steps, or two in an allreduce whose number of ranks is no power of two. A
step sends one message and receives one; both wait for both of the step before.
"""

from __future__ import annotations

import numpy as np

from kernels import helper

# SST/macro's algorithms of collectives.
BRUCK_ALLGATHER, RING_ALLGATHER, BRUCK_ALLTOALL, ALLREDUCE, BARRIER = range(5)

# Columns of a step.
ROUND, TO, SENT, FROM, RECEIVED, FREE_BY_RDMA = range(6)


@helper
def rounds_of(ranks):
    """Return the base-2 logarithm of a number of ranks, rounded up."""
    rounds = np.int64(0)
    while np.int64(1) << rounds < ranks:
        rounds += 1
    return rounds


@helper
def chains_of(kind, ranks, rank):
    """Return how many chains of steps a rank has."""
    if kind != ALLREDUCE:
        return 1
    return 2 if rank < (np.int64(1) << rounds_of(ranks)) - ranks else 1


@helper
def steps_of(kind, ranks):
    """Return how many steps a chain has, those of a rank with itself included."""
    if kind == RING_ALLGATHER:
        return ranks - 1
    return rounds_of(ranks) * (2 if kind == ALLREDUCE else 1)


@helper
def _allreduce(ranks, rank, chain, i, elements, width):
    """Return a step of the halving, then of the doubling that mirrors it."""
    rounds = rounds_of(ranks)
    two_roles = (np.int64(1) << rounds) - ranks
    role = 2 * rank + chain if rank < two_roles else two_roles + rank
    number = i if i < rounds else 2 * rounds - 1 - i
    held = elements
    sent, partner = np.int64(0), np.int64(0)
    for k in range(number + 1):
        gap = np.int64(1) << k
        lower = (role >> k) & 1 == 0
        partner = role + gap if lower else role - gap
        sent = held // 2 if lower else held - held // 2
        held -= sent
    other = partner // 2 if partner < 2 * two_roles else partner - two_roles
    name = i + (2 * rounds if role & 1 and number > 0 else 0)
    if i < rounds:
        return name, other, sent * width, other, held * width, 0
    return name, other, held * width, other, sent * width, 1


@helper
def step_of(kind, ranks, rank, chain, i, n, width):
    """Return a step's columns.

    Args:
        kind: which collective.
        ranks: how many take part.
        rank: whose step it is.
        chain: which of the rank's chains.
        i: number of the step in its chain.
        n: blocks of one rank, or elements.
        width: bytes of each.
    """
    if kind == ALLREDUCE:
        return _allreduce(ranks, rank, chain, i, n, width)
    block = n * width
    if kind == RING_ALLGATHER:
        return i + 1, (rank + 1) % ranks, block, (rank + ranks - 1) % ranks, block, 0
    gap = np.int64(1) << i
    ahead, behind = (rank + gap) % ranks, (rank + ranks - gap) % ranks
    if kind == BRUCK_ALLTOALL:
        window = ranks - gap
        blocks = window // (2 * gap) * gap + min(gap, window % (2 * gap))
        return i, ahead, blocks * block, behind, blocks * block, 0
    rounds = rounds_of(ranks)
    if i == rounds - 1 and ranks < np.int64(1) << rounds:
        # The last round moves what is left, under the next number.
        return rounds, behind, (ranks - gap) * block, ahead, (ranks - gap) * block, 0
    return i, behind, gap * block, ahead, gap * block, 0
