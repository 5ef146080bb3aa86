"""Shortest routes in a network: how many links of each class lie between two routers."""

import numpy as np
from numba import njit

CLASS_BITS = 8
"""Bits that the links of one class take in a packed count; eight classes fit."""

LONGEST = 254
"""Most links of a route; with one more, the routers on it would not fit into 8 bits."""

UNREACHED = np.int64(-1)


@njit(cache=True, nogil=True)
def shortest_routes(start, neighbour, link_class, sources, packed):
    """Count the links of each class on a shortest route from each source to each router.

    Of several shortest routes the one with the fewest links of the highest class counts, of these
    the one with the fewest of the class below, and so on. Breadth first: all routers of a distance
    are done before the first of the next one is taken, so each count is final when it is used.

    Args:
        start: int32[routers + 1]; the links of router ``r`` are those from ``start[r]`` up to
            ``start[r + 1]``.
        neighbour: int32[2 links], the router at the other end.
        link_class: uint8[2 links], below 8.
        sources: int32[s], routers.
        packed: int64[s, routers], out: the count of class ``c`` in bits ``8 c`` to ``8 c + 7``;
            -1 where there is no route.

    Returns:
        Whether every route has at most 254 links.
    """
    routers = len(start) - 1
    distance = np.empty(routers, np.int32)
    queue = np.empty(routers, np.int32)
    for row in range(len(sources)):
        source = sources[row]
        counts = packed[row]
        counts[:] = UNREACHED
        counts[source] = 0
        distance[source] = 0
        queue[0] = source
        tail = 1
        head = 0
        while head < tail:
            router = queue[head]
            head += 1
            for i in range(start[router], start[router + 1]):
                other = neighbour[i]
                through = counts[router] + (np.int64(1) << (CLASS_BITS * np.int64(link_class[i])))
                if counts[other] == UNREACHED:
                    if distance[router] == LONGEST:
                        return False
                    distance[other] = distance[router] + 1
                    counts[other] = through
                    queue[tail] = other
                    tail += 1
                elif distance[other] == distance[router] + 1 and through < counts[other]:
                    counts[other] = through
    return True
