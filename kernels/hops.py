"""Cheapest routes in a network: how many links of each class lie between two routers."""

import numpy as np

from kernels import kernel

CLASS_BITS = 8
"""Bits that the links of one class take in a packed count; eight classes fit."""

LONGEST = 254
"""Most links of a route; with one more, the routers on it would not fit into 8 bits."""

UNREACHED = np.int64(-1)  # all bits 1: no packed count has 255 links of a class


@kernel(cache=True, nogil=True)
def cheapest_routes(start, neighbour, link_class, weight, sources, packed):
    """Count the links of each class on a cheapest route from each source to each router.

    Of several cheapest routes the one with the fewest links of the highest class counts, of these
    the one with the fewest of the class below, and so on. A router is taken again whenever a better
    route to it is found: never where all links cost the same, for that is breadth first.

    Args:
        start: int32[routers + 1]; the links of router ``r`` are those from ``start[r]`` up to
            ``start[r + 1]``.
        neighbour: int32[2 links], the router at the other end.
        link_class: uint8[2 links], below 8.
        weight: uint16[2 links], cost of a link, at least 1, the same both ways.
        sources: int32[s], routers.
        packed: int64[s, routers], out: the count of class ``c`` in bits ``8 c`` to ``8 c + 7``;
            -1 where there is no route.

    Returns:
        Whether every route has at most 254 links.
    """
    routers = len(start) - 1
    cost = np.empty(routers, np.int64)
    length = np.empty(routers, np.int32)
    queue = np.empty(routers, np.int32)
    waiting = np.zeros(routers, np.bool_)
    for row in range(len(sources)):
        source = sources[row]
        counts = packed[row]
        counts[:] = UNREACHED
        counts[source] = 0
        cost[source] = 0
        length[source] = 0
        queue[0] = source
        head, count = 0, 1
        while count > 0:
            router = queue[head]
            head = head + 1 if head + 1 < routers else 0
            count -= 1
            waiting[router] = False
            for i in range(start[router], start[router + 1]):
                other = neighbour[i]
                through = counts[router] + (np.int64(1) << (CLASS_BITS * np.int64(link_class[i])))
                paid = cost[router] + np.int64(weight[i])
                if counts[other] != UNREACHED and (
                    paid > cost[other] or (paid == cost[other] and through >= counts[other])
                ):
                    continue
                if length[router] == LONGEST:
                    return False
                cost[other] = paid
                length[other] = length[router] + 1
                counts[other] = through
                if not waiting[other]:
                    waiting[other] = True
                    place = head + count
                    queue[place - routers if place >= routers else place] = other
                    count += 1
    return True
