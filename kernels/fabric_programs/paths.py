"""The channels that messages take, computed pair by pair: no table of all pairs is held."""

import numpy as np

from kernels import helper, kernel

OK, UNREACHED, TOO_LONG = range(3)  # what a search for paths ends with

_NOWHERE = np.int64(2**62)  # cost where no path leads; those of paths are below


@helper
def mixed(value):
    """Return the bits of a number mixed (Steele, Lea, Flood: SplitMix, OOPSLA 2014), not negative.

    Args:
        value: int64.
    """
    z = np.uint64(value) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.int64((z ^ (z >> np.uint64(31))) >> np.uint64(1))


@helper
def dimension_order(first, target, coordinates, dims, wraps, here, there, seed, out):
    """Write the channels of a way that corrects one coordinate after the other, the first first.

    In a ring the shorter way is taken, of two as short the one upwards; without wraps a link to
    the wanted coordinate itself is taken where there is one (HyperX), else one step. Of parallel
    links one is chosen by the ends and the seed.

    Args:
        first: int32[routers + 1], each router's first channel.
        target: int32[channels], where each leads to.
        coordinates: int32[routers, k].
        dims: int32[k], how many there are of each coordinate.
        wraps: whether the last is beside the first.
        here: router.
        there: router.
        seed: int64.
        out: int32[any], out.

    Returns:
        How many channels; -1 where a link is missing, -2 where they are too many for ``out``.
    """
    count = 0
    router = np.int64(here)
    for d in range(len(dims)):
        goal = coordinates[there, d]
        while coordinates[router, d] != goal:
            at = coordinates[router, d]
            wanted = goal
            if wraps:
                ahead = (goal - at) % dims[d]
                wanted = (at + 1) % dims[d] if 2 * ahead <= dims[d] else (at - 1) % dims[d]
            channel = _towards(first, target, coordinates, router, d, wanted, seed + there)
            if channel < 0 and not wraps:
                wanted = at + 1 if goal > at else at - 1
                channel = _towards(first, target, coordinates, router, d, wanted, seed + there)
            if channel < 0:
                return -1
            if count == len(out):
                return -2
            out[count] = channel
            count += 1
            router = np.int64(target[channel])
    return count


@helper
def _towards(first, target, coordinates, router, d, wanted, seed):
    """Return a channel to the router that differs in coordinate d alone, which is as wanted."""
    found = 0
    for channel in range(first[router], first[router + 1]):
        if _is_beside(coordinates, router, target[channel], d, wanted):
            found += 1
    if found == 0:
        return -1
    skip = mixed(seed * 31 + router) % found if found > 1 else 0
    for channel in range(first[router], first[router + 1]):
        if _is_beside(coordinates, router, target[channel], d, wanted):
            if skip == 0:
                return channel
            skip -= 1
    return -1


@helper
def _is_beside(coordinates, router, other, d, wanted):
    if coordinates[other, d] != wanted:
        return False
    for k in range(coordinates.shape[1]):
        if k != d and coordinates[other, k] != coordinates[router, k]:
            return False
    return True


@kernel(cache=True, nogil=True)
def paths_by_dimension(first, target, coordinates, dims, wraps, sources, targets, seed, start, out):
    """Write the paths of many pairs, one after the other; see ``dimension_order``.

    Args:
        first: int32[routers + 1].
        target: int32[channels].
        coordinates: int32[routers, k].
        dims: int32[k].
        wraps: whether dimensions are rings.
        sources: int32[pairs], routers.
        targets: int32[pairs], routers.
        seed: int64.
        start: int64[pairs + 1], out.
        out: int32[any], out.

    Returns:
        How many pairs are done: all, or those before the one that found no room or no link.
    """
    start[0] = 0
    for pair in range(len(sources)):
        count = dimension_order(
            first,
            target,
            coordinates,
            dims,
            wraps,
            sources[pair],
            targets[pair],
            seed + np.int64(sources[pair]) * 65_537,
            out[start[pair] :],
        )
        if count < 0:
            return pair
        start[pair + 1] = start[pair] + count
    return len(sources)


@kernel(cache=True, nogil=True)
def shortest_paths(first, target, weight, share, sources, targets, order, seed, length, out):
    """Write a path of least weight for each pair; of several one by the ends and the seed.

    From each router that is a target on its own, so that nothing is held of other pairs.

    Args:
        first: int32[routers + 1], each router's first channel.
        target: int32[channels], where each leads to.
        weight: int64[channels], more than 0, the same in both directions of a link.
        share: int64[channels], at least 1: of several channels one is drawn in proportion.
        sources: int32[pairs], routers.
        targets: int32[pairs], routers.
        order: int64[pairs], the pairs by target.
        seed: int64.
        length: int32[pairs], out.
        out: int32[pairs, longest], out.

    Returns:
        OK, UNREACHED where there is no way, or TOO_LONG where one is longer than ``longest``.
    """
    routers = len(first) - 1
    cost = np.empty(routers, np.int64)
    queue = np.empty(routers + 1, np.int32)
    queued = np.zeros(routers, np.uint8)
    there = np.int64(-1)
    for i in range(len(order)):
        pair = order[i]
        if targets[pair] != there:
            there = np.int64(targets[pair])
            _costs_to(first, target, weight, there, cost, queue, queued)
        router = np.int64(sources[pair])
        if cost[router] == _NOWHERE:
            return UNREACHED
        drawn = mixed(seed + there * 65_537 + router)
        steps = 0
        while router != there:
            if steps == out.shape[1]:
                return TOO_LONG
            ways = 0
            for channel in range(first[router], first[router + 1]):
                if cost[target[channel]] + weight[channel] == cost[router]:
                    ways += share[channel]
            drawn = mixed(drawn)
            skip = drawn % ways
            for channel in range(first[router], first[router + 1]):
                if cost[target[channel]] + weight[channel] == cost[router]:
                    if skip < share[channel]:
                        out[pair, steps] = channel
                        router = np.int64(target[channel])
                        break
                    skip -= share[channel]
            steps += 1
        length[pair] = steps
    return OK


@helper
def _costs_to(first, target, weight, there, cost, queue, queued):
    """Find the weight of the best path from each router to one.

    A router whose path has become better stands in the queue again; with equal weights none does.
    """
    room = len(queue)
    cost[:] = _NOWHERE
    cost[there] = 0
    queue[0] = there
    head, tail = 0, 1
    while head != tail:
        router = queue[head]
        head = (head + 1) % room
        queued[router] = 0
        for channel in range(first[router], first[router + 1]):
            other = target[channel]
            through = cost[router] + weight[channel]
            if through < cost[other]:
                cost[other] = through
                if not queued[other]:
                    queued[other] = 1
                    queue[tail] = other
                    tail = (tail + 1) % room
