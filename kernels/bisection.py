"""Cuts made better one router at a time (Fiduccia, Mattheyses, DAC 1982), hosts kept in balance."""

import numpy as np

from kernels import helper, kernel

NO_CUT = np.inf
"""The cut of a division that is not in balance."""


@helper
def _gains(start, neighbour, capacity, side, gain):
    """Fill in what each router's move takes off the cut, and return the cut."""
    twice = 0.0
    for router in range(len(side)):
        across = 0.0
        within = 0.0
        for i in range(start[router], start[router + 1]):
            if side[neighbour[i]] != side[router]:
                across += capacity[i]
            else:
                within += capacity[i]
        gain[router] = across - within
        twice += across
    return twice / 2


@helper
def _excess(hosts, side):
    """Return how many hosts side 1 has more than side 0."""
    excess = 0
    for router in range(len(side)):
        excess += hosts[router] if side[router] else -hosts[router]
    return excess


@kernel(cache=True, nogil=True)
def refine(start, neighbour, capacity, hosts, order, allowed, stall, side, halt):
    """Move routers from side to side until no series of moves makes the cut smaller.

    In a series each router moves at most once, the one that takes most off the cut first, even
    where that is less than nothing; the best moment of the series is kept. Routers without hosts
    move freely. On the way one side may have more hosts than allowed, by one router's; in a series
    that ends the work it may not.

    Args:
        start: int32[routers + 1]; the slots of router ``r`` are those from ``start[r]`` up to
            ``start[r + 1]``.
        neighbour: int32[slots], the router at the other end; no router twice in a row.
        capacity: float64[slots], how many links join the two.
        hosts: int64[routers], hosts of each router.
        order: int32[routers], each router once: of equal moves, whose comes first.
        allowed: by how many hosts the two sides may differ.
        stall: moves after which a series ends if they brought nothing.
        side: int8[routers], in and out: 0 or 1.
        halt: int8[1]; another thread may set it to end the work with what there is.

    Returns:
        The links between the sides; infinite where the hosts are not in balance.
    """
    routers = len(side)
    gain = np.empty(routers, np.float64)
    free = np.empty(routers, np.int32)
    moved = np.empty(routers, np.int32)
    most = 0
    for router in range(routers):
        most = max(most, hosts[router])
    loose = True
    while True:
        limit = allowed + 2 * most if loose else allowed
        cut = _gains(start, neighbour, capacity, side, gain)
        excess = _excess(hosts, side)
        before = cut if abs(excess) <= allowed else NO_CUT
        best = before
        for place in range(routers):
            free[place] = order[place]
        left = routers
        count = 0
        kept = 0
        while left > 0 and count - kept <= stall and halt[0] == 0:
            chosen = -1
            most_gained = -NO_CUT
            for at in range(left):
                router = free[at]
                if gain[router] > most_gained:
                    change = -2 * hosts[router] if side[router] else 2 * hosts[router]
                    after = abs(excess + change)
                    # Within the limit, or at least nearer to it than now.
                    if after <= limit or after < abs(excess):
                        chosen = at
                        most_gained = gain[router]
            if chosen < 0:
                break
            router = free[chosen]
            left -= 1
            free[chosen] = free[left]
            excess += -2 * hosts[router] if side[router] else 2 * hosts[router]
            cut -= gain[router]
            side[router] = 1 - side[router]
            for i in range(start[router], start[router + 1]):
                other = neighbour[i]
                if side[other] == side[router]:
                    gain[other] -= 2 * capacity[i]
                else:
                    gain[other] += 2 * capacity[i]
            moved[count] = router
            count += 1
            if abs(excess) <= allowed and cut < best:
                best = cut
                kept = count
        for at in range(kept, count):
            side[moved[at]] = 1 - side[moved[at]]
        if halt[0] != 0:
            return best
        if best >= before:
            # A router with hosts may have gone first and been in the way of a free one.
            if not loose:
                return best
            loose = False
        else:
            loose = True
