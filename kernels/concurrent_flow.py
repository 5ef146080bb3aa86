"""Demands sent along the cheapest routes, again and again: nearly the most that fits."""

import numpy as np

from kernels import helper, kernel

FAR = np.inf
"""What a route costs where there is none."""

NOTHING = 1e-12
"""What is left of a demand when it counts as sent."""


@helper
def _sift_up(heap, place, cost, at):
    router = heap[at]
    while at > 0:
        above = (at - 1) >> 1
        if cost[heap[above]] <= cost[router]:
            break
        heap[at] = heap[above]
        place[heap[at]] = at
        at = above
    heap[at] = router
    place[router] = at


@helper
def _sift_down(heap, place, cost, size):
    router = heap[0]
    at = 0
    while True:
        below = 2 * at + 1
        if below >= size:
            break
        if below + 1 < size and cost[heap[below + 1]] < cost[heap[below]]:
            below += 1
        if cost[router] <= cost[heap[below]]:
            break
        heap[at] = heap[below]
        place[heap[at]] = at
        at = below
    heap[at] = router
    place[router] = at


@helper
def _cheapest(start, neighbour, length, source, targets, wanted, cost, taken, order, heap, place):
    """Find the cheapest routes from a router to its targets (Dijkstra 1959).

    ``targets`` is how many routers are ``wanted``: the search ends with the last of them.
    ``taken`` is the channel by which a route arrives; ``order`` the routers by their cost, of which
    the number is returned; ``place`` where each is in the heap, -1 for not yet, -2 for done.
    """
    cost[:] = FAR
    place[:] = -1
    cost[source] = 0.0
    heap[0] = source
    place[source] = 0
    size, done = 1, 0
    while size > 0:
        router = heap[0]
        place[router] = -2
        order[done] = router
        done += 1
        if wanted[router]:
            targets -= 1
            if targets == 0:
                break
        size -= 1
        if size > 0:
            heap[0] = heap[size]
            _sift_down(heap, place, cost, size)
        for i in range(start[router], start[router + 1]):
            other = neighbour[i]
            through = cost[router] + length[i]
            if through < cost[other]:
                cost[other] = through
                taken[other] = i
                if place[other] == -1:
                    place[other] = size
                    heap[size] = other
                    size += 1
                _sift_up(heap, place, cost, place[other])
    return done


@kernel(cache=True, nogil=True)
def send_phase(
    start, neighbour, tail, capacity, sources, first, target, demand, step, length, load, halt
):
    """Send every demand once, along routes that are the cheapest at the time: one phase.

    Garg and Könemann, SIAM J. Computing 37, 2007, with the sources taken in turn as Fleischer, SIAM
    J. Discrete Mathematics 13, 2000, has it. No channel takes more than its capacity at a time, and
    with each filling its length grows by ``1 + step``.

    Args:
        start: int32[routers + 1]; the channels out of router ``r`` are those from ``start[r]`` up
            to ``start[r + 1]``.
        neighbour: int32[channels], the router that each leads to.
        tail: int32[channels], the router that each leads from.
        capacity: float64[channels], what each may carry, above 0.
        sources: int32[s], the routers that send.
        first: int64[s + 1]; what ``sources[i]`` sends stands from ``first[i]`` up to
            ``first[i + 1]``.
        target: int32[demands], to whom; no other router than the source, none twice.
        demand: float64[demands], how much, above 0.
        step: how much longer a channel becomes when it is filled, as a share.
        length: float64[channels], in and out: what each costs, above 0.
        load: float64[channels], in and out: what each channel carries.
        halt: int8[1]; another thread may set it to end the work.

    Returns:
        Demands times the costs of their routes when they were sent; infinite where there is no
        route, -1 where the work was ended.
    """
    routers = len(start) - 1
    cost = np.empty(routers, np.float64)
    through = np.empty(routers, np.float64)
    wanted = np.zeros(routers, np.bool_)
    taken = np.empty(routers, np.int32)
    order = np.empty(routers, np.int32)
    heap = np.empty(routers, np.int32)
    place = np.empty(routers, np.int32)
    total = 0.0
    for row in range(len(sources)):
        begin, end = first[row], first[row + 1]
        for i in range(begin, end):
            wanted[target[i]] = True
        left = 1.0
        while left > NOTHING:
            if halt[0] != 0:
                return -1.0
            reached = _cheapest(
                start,
                neighbour,
                length,
                sources[row],
                end - begin,
                wanted,
                cost,
                taken,
                order,
                heap,
                place,
            )
            through[:] = 0.0
            for i in range(begin, end):
                if cost[target[i]] == FAR:
                    return FAR
                through[target[i]] = demand[i] * left
                if left == 1.0:
                    total += demand[i] * cost[target[i]]
            fullest = 1.0
            for at in range(reached - 1, 0, -1):
                amount = through[order[at]]
                if amount > 0.0:
                    channel = taken[order[at]]
                    fullest = max(fullest, amount / capacity[channel])
                    through[tail[channel]] += amount
            for at in range(reached - 1, 0, -1):
                amount = through[order[at]] / fullest
                if amount > 0.0:
                    channel = taken[order[at]]
                    load[channel] += amount
                    length[channel] *= 1.0 + step * amount / capacity[channel]
            left -= left / fullest
        for i in range(begin, end):
            wanted[target[i]] = False
    return total
