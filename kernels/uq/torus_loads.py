"""Loads of a torus' links under messages that are routed dimension by dimension."""

import numpy as np

from kernels import helper, kernel


@kernel(cache=True, nogil=True)
def add_messages(sizes, source, target, weight, load):
    """Add messages to the loads of the links on their ways.

    A message goes along the first dimension until that coordinate is right, then along the second,
    and so on; the shorter way round, upwards where both are as long.

    Args:
        sizes: int64[dimensions], routers along each; the last one's coordinate changes fastest.
        source: int64[messages], routers.
        target: int64[messages], routers.
        weight: float64[messages], what each message adds.
        load: float64[routers, dimensions, 2], in and out: of the link that leaves a router upwards
            (0) or downwards (1) along a dimension.
    """
    way = np.empty((sizes.sum(), 3), np.int64)
    for message in range(len(source)):
        for link in range(find_way(sizes, source[message], target[message], way)):
            load[way[link, 0], way[link, 1], way[link, 2]] += weight[message]


@kernel(cache=True, nogil=True)
def add_both_ways(sizes, coordinates, source, target, weight, load):
    """Add messages to the loads of links with ties divided, and with all ties upwards.

    Ways are those of ``add_messages``, but a message that may go either way round a ring goes half
    each way in the first loads. In a ring of two, up and down are the same link, which counts as
    upwards. Coordinates are read, not divided out, and both loads are of one walk.

    Args:
        sizes: int64[dimensions], routers along each; the last one's coordinate changes fastest.
        coordinates: int64[routers, dimensions], of each router.
        source: int64[messages], routers.
        target: int64[messages], routers.
        weight: float64[messages], what each message adds.
        load: float64[2, routers, dimensions, 2], in and out: of the link that leaves a router
            upwards (0) or downwards (1) along a dimension; ties divided, and all upwards.
    """
    axes = len(sizes)
    for message in range(len(source)):
        at, full = source[message], weight[message]
        to = target[message]
        stride = 1
        for size in sizes:
            stride *= size
        for axis in range(axes):
            size = sizes[axis]
            stride //= size
            here, there = coordinates[at, axis], coordinates[to, axis]
            up = there - here if there >= here else there - here + size
            down = size - up
            tied = up == down and size > 2
            if up <= down:
                divided = 0.5 * full if tied else full
                place, router = here, at
                for _ in range(up):
                    load[0, router, axis, 0] += divided
                    load[1, router, axis, 0] += full
                    place += 1
                    router += stride
                    if place == size:
                        place = 0
                        router -= size * stride
            if up > down or tied:
                divided = 0.5 * full if tied else full
                place, router = here, at
                for _ in range(down):
                    load[0, router, axis, 1] += divided
                    if not tied:
                        load[1, router, axis, 1] += full
                    place -= 1
                    router -= stride
                    if place < 0:
                        place = size - 1
                        router += size * stride
            at += (there - here) * stride


@kernel(cache=True, nogil=True)
def busiest_on_way(sizes, source, target, load, busiest, links):
    """Find the largest load on each message's way, and count its links.

    Args:
        sizes: int64[dimensions], as for ``add_messages``, whose ways these are.
        source: int64[messages], routers.
        target: int64[messages], routers.
        load: float64[routers, dimensions, 2], of each link.
        busiest: float64[messages], out: the largest load, 0 where a message stays at its router.
        links: int64[messages], out: number of links.
    """
    way = np.empty((sizes.sum(), 3), np.int64)
    for message in range(len(source)):
        links[message] = find_way(sizes, source[message], target[message], way)
        busiest[message] = 0.0
        for link in range(links[message]):
            there = load[way[link, 0], way[link, 1], way[link, 2]]
            busiest[message] = max(busiest[message], there)


@helper
def find_way(sizes, source, target, way):
    """Write each link of a way, as router, dimension and direction, and return their number."""
    links = 0
    at = source
    stride = 1
    for size in sizes:
        stride *= size
    for axis in range(len(sizes)):
        size = sizes[axis]
        stride //= size
        here = at // stride % size
        up = (target // stride - here) % size
        down = (here - target // stride) % size
        direction = 0 if up <= down else 1
        for _ in range(min(up, down)):
            way[links, 0], way[links, 1], way[links, 2] = at, axis, direction
            links += 1
            there = (here + 1) % size if direction == 0 else (here - 1) % size
            at += (there - here) * stride
            here = there
    return links
