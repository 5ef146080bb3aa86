"""Expected loads of channels where each message takes any of its shortest routes."""

import numpy as np
from numba import njit

DONE = 0
HALTED = 1
APART = 2


CLASS_BITS = 9
"""Bits that the links of one class take in a packed count; seven classes and long routes fit."""


@njit(cache=True, nogil=True)
def one_of(link_class):
    """Return one link of a class as a packed count: of the highest class in the highest bits.

    Args:
        link_class: 1 to 6.
    """
    return np.int64(1) << (CLASS_BITS * np.int64(link_class))


@njit(cache=True, nogil=True)
def equal_split(first, target, link_class, destinations, traffic, halt, load):
    """Add the load of each channel where routers share what they pass on among shortest routes.

    Of the shortest routes those with the fewest links of the highest class count, of these those
    with the fewest of the class below, and so on. A router gives each of its channels that such a
    route begins with an equal part. Links go both ways, so that the distances from a destination
    are those to it.

    Args:
        first: int32[routers + 1]; channels ``first[r]`` up to ``first[r + 1]`` are router r's.
        target: int32[D], the router that each leads to.
        link_class: uint8[D], below 8.
        destinations: int32[t], routers.
        traffic: float64[routers, t], what each router sends to each destination.
        halt: int8[1], not 0 ends the work.
        load: float64[D], added to.

    Returns:
        ``DONE``, ``HALTED``, or ``APART`` where there is no route for some of the traffic.
    """
    routers = len(first) - 1
    distance = np.empty(routers, np.int32)
    order = np.empty(routers, np.int32)
    counts = np.empty(routers, np.int64)
    flow = np.empty(routers, np.float64)
    links = np.empty(len(target), np.int64)
    for channel in range(len(target)):
        links[channel] = one_of(link_class[channel])
    most = 0
    for router in range(routers):
        most = max(most, first[router + 1] - first[router])
    chosen = np.empty(most, np.int32)
    for column in range(len(destinations)):
        if halt[0] != 0:
            return HALTED
        end = destinations[column]
        distance[:] = -1
        distance[end] = 0
        counts[end] = 0
        order[0] = end
        found = 1
        at = 0
        while at < found:
            here = order[at]
            at += 1
            for channel in range(first[here], first[here + 1]):
                there = target[channel]
                through = counts[here] + links[channel]
                if distance[there] < 0:
                    distance[there] = distance[here] + 1
                    counts[there] = through
                    order[found] = there
                    found += 1
                elif distance[there] == distance[here] + 1 and through < counts[there]:
                    counts[there] = through
        for router in range(routers):
            flow[router] = traffic[router, column]
            if flow[router] > 0.0 and distance[router] < 0:
                return APART
        for place in range(found - 1, 0, -1):
            here = order[place]
            if flow[here] <= 0.0:
                continue
            closer = distance[here] - 1
            ways = 0
            for channel in range(first[here], first[here + 1]):
                there = target[channel]
                if distance[there] == closer and counts[there] + links[channel] == counts[here]:
                    chosen[ways] = channel
                    ways += 1
            part = flow[here] / ways
            for way in range(ways):
                load[chosen[way]] += part
                flow[target[chosen[way]]] += part
    return DONE
