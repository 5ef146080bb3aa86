"""What each rank sends and receives, round by round, in SST/macro's collectives.

A schedule is a number of chains of steps. A step sends and receives; both wait for both of the step
before in the chain. The copies come first.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Step:
    """One message to a rank and one from a rank, in bytes; `free_by_rdma` spares a copy."""

    round_number: int
    to: int
    sent: int
    come: int
    received: int
    free_by_rdma: bool = False


@dataclass(frozen=True)
class Schedule:
    """The copies before and the chains of steps; `copies_received` charges each receive a copy."""

    chains: list[list[Step]]
    copies: list[int] = field(default_factory=list)
    copies_received: bool = False


def rounds_of(ranks: int) -> int:
    """Return the base-2 logarithm of the number of ranks, rounded up."""
    return (ranks - 1).bit_length()


def bruck_allgather(ranks: int, me: int, block: int) -> Schedule:
    """Gather `block` bytes of every rank; a copy on every rank but 0 comes first."""
    log = rounds_of(ranks)
    exact = ranks == 2**log
    steps = []
    for number in range(log if exact else log - 1):
        gap = 2**number
        size = gap * block
        steps.append(Step(number, (me - gap) % ranks, size, (me + gap) % ranks, size))
    if not exact:
        gap = 2 ** (log - 1)
        size = (ranks - gap) * block
        steps.append(Step(log, (me - gap) % ranks, size, (me + gap) % ranks, size))
    return Schedule([steps], copies=[block] if me else [])


def barrier(ranks: int, me: int) -> Schedule:
    """An allgather of nothing."""
    return bruck_allgather(ranks, me, 0)


def ring_allgather(ranks: int, me: int, block: int) -> Schedule:
    """Pass `block` bytes on around the ring."""
    up, down = (me + 1) % ranks, (me - 1) % ranks
    return Schedule([[Step(number, up, block, down, block) for number in range(1, ranks)]])


def bruck_alltoall(ranks: int, me: int, block: int) -> Schedule:
    """Send `block` bytes to every rank: in round i, all blocks whose i-th bit is set."""
    steps = []
    for number in range(rounds_of(ranks)):
        gap = 2**number
        window = ranks - gap
        blocks = window // (2 * gap) * gap + min(gap, window % (2 * gap))
        size = blocks * block
        steps.append(Step(number, (me + gap) % ranks, size, (me - gap) % ranks, size))
    return Schedule([steps], copies=[(ranks - me) * block, me * block])


def allreduce(ranks: int, me: int, elements: int, width: int, copies_received: bool) -> Schedule:
    """Halve and double: reduce halves of `elements` elements of `width` bytes, then gather them.

    With ranks that are no power of two, the first of them play two roles.
    """
    log = rounds_of(ranks)
    two_roles = 2**log - ranks
    roles = [2 * me, 2 * me + 1] if me < two_roles else [two_roles + me]
    chains = []
    for role in roles:
        halving, held = [], elements
        for number in range(log):
            gap = 2**number
            lower = role // gap % 2 == 0
            partner = role + gap if lower else role - gap
            other = partner // 2 if partner < 2 * two_roles else partner - two_roles
            sent = held // 2 if lower else held - held // 2
            halving.append((number, other, sent, held - sent))
            held -= sent
        steps = []
        odd = 2 * log * (role % 2)
        for number, other, sent, received in halving:
            if other != me:
                shift = odd if number else 0
                steps.append(Step(number + shift, other, sent * width, other, received * width))
        for at, (number, other, sent, received) in enumerate(reversed(halving)):
            if other != me:
                shift = odd if number else 0
                steps.append(
                    Step(log + at + shift, other, received * width, other, sent * width, True)
                )
        chains.append(steps)
    return Schedule(chains, copies_received=copies_received)
