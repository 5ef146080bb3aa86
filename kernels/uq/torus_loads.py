"""Loads of a torus' links under messages that are routed dimension by dimension."""

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
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
    dimensions = len(sizes)
    stride = np.ones(dimensions, np.int64)
    for axis in range(dimensions - 2, -1, -1):
        stride[axis] = stride[axis + 1] * sizes[axis + 1]
    for message in range(len(source)):
        at = source[message]
        for axis in range(dimensions):
            size = sizes[axis]
            here = at // stride[axis] % size
            there = target[message] // stride[axis] % size
            up = (there - here) % size
            down = (here - there) % size
            way = 0 if up <= down else 1
            for _ in range(min(up, down)):
                load[at, axis, way] += weight[message]
                next_place = (here + 1) % size if way == 0 else (here - 1) % size
                at += (next_place - here) * stride[axis]
                here = next_place


@njit(cache=True, nogil=True)
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
    dimensions = len(sizes)
    stride = np.ones(dimensions, np.int64)
    for axis in range(dimensions - 2, -1, -1):
        stride[axis] = stride[axis + 1] * sizes[axis + 1]
    for message in range(len(source)):
        at = source[message]
        busiest[message] = 0.0
        links[message] = 0
        for axis in range(dimensions):
            size = sizes[axis]
            here = at // stride[axis] % size
            there = target[message] // stride[axis] % size
            up = (there - here) % size
            down = (here - there) % size
            way = 0 if up <= down else 1
            for _ in range(min(up, down)):
                busiest[message] = max(busiest[message], load[at, axis, way])
                links[message] += 1
                next_place = (here + 1) % size if way == 0 else (here - 1) % size
                at += (next_place - here) * stride[axis]
                here = next_place
