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
