"""Expected loads of channels where each message takes any of its minimal routes."""

import numpy as np
from numba import njit

DONE = 0
HALTED = 1
APART = 2


@njit(cache=True, nogil=True)
def equal_split(first, target, weight, destinations, traffic, halt, load):
    """Add the load of each channel where routers share what they pass on among minimal routes.

    A route is minimal if its channels together cost the least. A router gives each of its channels
    that such a route begins with an equal part. Links go both ways and cost the same, so that what
    it costs from a destination is what it costs to it.

    Args:
        first: int32[routers + 1]; channels ``first[r]`` up to ``first[r + 1]`` are router r's.
        target: int32[D], the router that each leads to.
        weight: uint16[D], cost of each, at least 1, the same as of its opposite.
        destinations: int32[t], routers.
        traffic: float64[routers, t], what each router sends to each destination.
        halt: int8[1], not 0 ends the work.
        load: float64[D], added to.

    Returns:
        ``DONE``, ``HALTED``, or ``APART`` where there is no route for some of the traffic.
    """
    routers = len(first) - 1
    cost = np.empty(routers, np.int64)
    queue = np.empty(routers, np.int32)
    waiting = np.zeros(routers, np.bool_)
    order = np.empty(routers, np.int32)
    flow = np.empty(routers, np.float64)
    most = 0
    for router in range(routers):
        most = max(most, first[router + 1] - first[router])
    chosen = np.empty(most, np.int32)
    for column in range(len(destinations)):
        if halt[0] != 0:
            return HALTED
        end = destinations[column]
        cost[:] = -1
        cost[end] = 0
        queue[0] = end
        head, count = 0, 1
        highest = np.int64(0)
        # A router is taken again where a cheaper way to it is found: never if all cost the same.
        while count > 0:
            here = queue[head]
            head = head + 1 if head + 1 < routers else 0
            count -= 1
            waiting[here] = False
            for channel in range(first[here], first[here + 1]):
                there = target[channel]
                through = cost[here] + np.int64(weight[channel])
                if cost[there] >= 0 and cost[there] <= through:
                    continue
                cost[there] = through
                highest = max(highest, through)
                if not waiting[there]:
                    waiting[there] = True
                    place = head + count
                    queue[place - routers if place >= routers else place] = there
                    count += 1
        # Sorted by counting, the dearest first.
        begin = np.zeros(highest + 2, np.int32)
        for router in range(routers):
            flow[router] = traffic[router, column]
            if cost[router] >= 0:
                begin[highest - cost[router] + 1] += 1
            elif flow[router] > 0.0:
                return APART
        for step in range(highest + 1):
            begin[step + 1] += begin[step]
        found = begin[highest + 1]
        for router in range(routers):
            if cost[router] >= 0:
                order[begin[highest - cost[router]]] = router
                begin[highest - cost[router]] += 1
        for place in range(found - 1):
            here = order[place]
            if flow[here] <= 0.0:
                continue
            ways = 0
            for channel in range(first[here], first[here + 1]):
                if cost[target[channel]] + np.int64(weight[channel]) == cost[here]:
                    chosen[ways] = channel
                    ways += 1
            part = flow[here] / ways
            for way in range(ways):
                load[chosen[way]] += part
                flow[target[chosen[way]]] += part
    return DONE
