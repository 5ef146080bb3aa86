"""Tables of minimal routes: distances, and the channels that lead to each target."""

import numpy as np
from numba.extending import register_jitable

from kernels import kernel

FAR = np.uint16(65535)
"""Cost where there is no route, or none below it."""


@kernel(cache=True, nogil=True)
def costs(first, leads_to, weight, targets, cost):
    """Find the cost of the cheapest route from every router to each target.

    Each link costs the same both ways. A router is taken again whenever a cheaper way to it is
    found; with the weights of a hierarchy that is seldom.

    Args:
        first: int32[routers + 1]; channels ``first[r]`` up to ``first[r + 1]`` leave router r.
        leads_to: int32[channels], the router at the other end.
        weight: uint16[channels], cost of a channel, at least 1, the same as of its opposite.
        targets: int32[t], routers.
        cost: uint16[routers, t], out; ``FAR`` where there is no route.

    Returns:
        Whether all costs that there are lie below ``FAR``.
    """
    routers = len(first) - 1
    best = np.empty(routers, np.int64)
    queue = np.empty(routers, np.int32)
    waiting = np.empty(routers, np.bool_)
    for column in range(len(targets)):
        best[:] = -1
        waiting[:] = False
        best[targets[column]] = 0
        queue[0] = targets[column]
        head, count = 0, 1
        while count > 0:
            router = queue[head]
            head = head + 1 if head + 1 < routers else 0
            count -= 1
            waiting[router] = False
            for channel in range(first[router], first[router + 1]):
                other = leads_to[channel]
                through = best[router] + np.int64(weight[channel])
                if best[other] >= 0 and best[other] <= through:
                    continue
                best[other] = through
                if not waiting[other]:
                    waiting[other] = True
                    place = head + count
                    queue[place - routers if place >= routers else place] = other
                    count += 1
        for router in range(routers):
            if best[router] >= FAR:
                return False
            cost[router, column] = FAR if best[router] < 0 else best[router]
    return True


@register_jitable
def _grown(array, size):
    """Return the array, copied to at least ``size`` elements if it is shorter."""
    if size <= len(array):
        return array
    grown = np.empty(max(size, 2 * len(array)), array.dtype)
    for place in range(len(array)):
        grown[place] = array[place]
    return grown


@kernel(cache=True, nogil=True)
def tables(first, leads_to, weight, targets, cost, coordinates, dimension, row):
    """Find the channels that a minimal route may take from each router to each target.

    Most targets of a router share their sets of channels, so each set is kept once.

    Args:
        first: int32[routers + 1], as for ``costs``.
        leads_to: int32[channels].
        weight: uint16[channels].
        targets: int32[t], routers.
        cost: uint16[routers, t], what ``costs`` found; none ``FAR``.
        coordinates: int32[routers, k]; with k > 0 a route takes the dimensions in their order,
            with k = 0 any channel that leads nearer will do.
        dimension: int8[channels], the coordinate that a channel changes, where k > 0.
        row: int32[routers, t], out: the set of each pair; the empty set 0 where the router is
            the target.

    Returns:
        int32[sets + 1] and int32[n]: set s holds channels from the first's s-th entry of the second
        up to its s + 1-st.
    """
    routers = len(first) - 1
    columns = len(targets)
    dimensions = coordinates.shape[1]
    set_first = np.zeros(1024, np.int32)
    candidate = np.empty(1024, np.int32)
    sets, used = 1, 0
    slots = 16
    while slots < 2 * columns:
        slots *= 2
    table = np.empty(slots, np.int32)
    for router in range(routers):
        table[:] = -1
        for column in range(columns):
            target = targets[column]
            if router == target:
                row[router, column] = 0
                continue
            wanted = -1
            for k in range(dimensions):
                if coordinates[router, k] != coordinates[target, k]:
                    wanted = k
                    break
            candidate = _grown(candidate, used + first[router + 1] - first[router])
            found = used
            mixed = 2166136261
            for channel in range(first[router], first[router + 1]):
                if wanted >= 0 and dimension[channel] != wanted:
                    continue
                ahead = np.int64(cost[leads_to[channel], column]) + np.int64(weight[channel])
                if ahead != cost[router, column]:
                    continue
                candidate[found] = channel
                found += 1
                # FNV-1a (Fowler, Noll, Vo) of the channels.
                mixed = (mixed ^ channel) * 16777619 & 0xFFFFFFFF
            slot = (mixed ^ (mixed >> 15)) & (slots - 1)
            while table[slot] >= 0:
                known = table[slot]
                size = set_first[known + 1] - set_first[known]
                same = size == found - used
                if same:
                    for i in range(size):
                        if candidate[set_first[known] + i] != candidate[used + i]:
                            same = False
                            break
                if same:
                    break
                slot = slot + 1 if slot + 1 < slots else 0
            if table[slot] < 0:
                set_first = _grown(set_first, sets + 2)
                set_first[sets] = used
                set_first[sets + 1] = found
                table[slot] = sets
                sets += 1
                used = found
            row[router, column] = table[slot]
    return set_first[: sets + 1].copy(), candidate[:used].copy()
