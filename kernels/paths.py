"""Shortest routes counted, and the shortest cycle."""

import numpy as np

from kernels import kernel


@kernel(cache=True, nogil=True)
def count_paths(start, neighbour, capacity, source, distance, count, order):
    """Count the shortest routes from a router to each other one.

    Args:
        start: int32[routers + 1]; the links of router ``r`` are those from ``start[r]`` up to
            ``start[r + 1]``.
        neighbour: int32[slots], the router at the other end; no router twice in a row.
        capacity: float64[slots], how many parallel links there are; so many routes they make.
        source: the router.
        distance: int32[routers], out: links of a shortest route, -1 where there is none.
        count: float64[routers], out: how many shortest routes there are.
        order: int32[routers], out: the routers that are reached, nearest first.

    Returns:
        How many routers are reached.
    """
    distance[:] = -1
    count[:] = 0.0
    distance[source] = 0
    count[source] = 1.0
    order[0] = source
    head, tail = 0, 1
    while head < tail:
        router = order[head]
        head += 1
        for i in range(start[router], start[router + 1]):
            other = neighbour[i]
            if distance[other] < 0:
                distance[other] = distance[router] + 1
                order[tail] = other
                tail += 1
            if distance[other] == distance[router] + 1:
                count[other] += count[router] * capacity[i]
    return tail


@kernel(cache=True, nogil=True)
def girth(start, neighbour):
    """Return the links of the shortest cycle, 0 where there is none.

    Breadth first from each router, no deeper than a shorter cycle can be. Links are told apart by
    the router at the other end, so parallel links are to be merged before.

    Args:
        start: int32[routers + 1], as for ``count_paths``; no neighbour twice.
        neighbour: int32[2 links], the router at the other end.
    """
    routers = len(start) - 1
    distance = np.full(routers, -1, np.int32)
    parent = np.empty(routers, np.int32)
    queue = np.empty(routers, np.int32)
    shortest = 2 * routers + 2
    for source in range(routers):
        distance[source] = 0
        parent[source] = -1
        queue[0] = source
        head, tail = 0, 1
        while head < tail:
            router = queue[head]
            head += 1
            # A cycle that is closed from here on has at least twice this many links, plus one.
            if 2 * distance[router] + 1 >= shortest:
                break
            for i in range(start[router], start[router + 1]):
                other = neighbour[i]
                if distance[other] < 0:
                    distance[other] = distance[router] + 1
                    parent[other] = router
                    queue[tail] = other
                    tail += 1
                elif other != parent[router]:
                    shortest = min(shortest, distance[router] + distance[other] + 1)
        for i in range(tail):
            distance[queue[i]] = -1
        if shortest == 3:
            break
    return shortest if shortest <= routers else 0


@kernel(cache=True, nogil=True)
def most_of_any(start, neighbour, capacity, ends, weight, distance, count, share, halt):
    """Find the largest share of each router's traffic that a channel carries, over all targets.

    Messages take each shortest route equally often.

    Args:
        start: int32[routers + 1], as for ``count_paths``.
        neighbour: int32[slots], the router at the other end; no router twice in a row.
        capacity: float64[slots], how many parallel links there are; so many routes they make.
        ends: int32[e], the routers that send.
        weight: float64[e], what each sends.
        distance: int32[e, routers], links from each of ``ends`` to each router.
        count: float64[e, routers], shortest routes from each of ``ends`` to each router.
        share: float64[slots], in and out: the sum over the senders, for the channel from the slot's
            router to its neighbour.
        halt: int8[1]; another thread may set it to end the work.

    Returns:
        Whether it was done to the end.
    """
    routers = len(start) - 1
    for source in range(len(ends)):
        if halt[0] != 0:
            return False
        for router in range(routers):
            before = distance[source, router]
            for i in range(start[router], start[router + 1]):
                other = neighbour[i]
                if distance[source, other] != before + 1:
                    continue
                most = 0.0
                for target in range(len(ends)):
                    whole = distance[source, ends[target]]
                    if before + 1 + distance[target, other] == whole:
                        ways = count[source, router] * capacity[i] * count[target, other]
                        most = max(most, ways / count[source, ends[target]])
                share[i] += weight[source] * most
    return True
