"""The whole ways of messages, as the routing sends their packets where nothing is queued."""

import numpy as np
from numba import njit

from kernels.fabric.routing import choose


@njit(cache=True, nogil=True)
def walk(routes, depth, packets, sources, targets, start, out):
    """Write the channels of each message's way, one after the other.

    Args:
        routes: the tables, ``routing.Routes``.
        depth: int32[channels], 0.
        packets: int64[messages], numbers by which random choices are made.
        sources: int32[messages], routers.
        targets: int32[messages], routers.
        start: int64[messages + 1], out: where each way begins in ``out``.
        out: int32[any], out.

    Returns:
        How many messages are done: all, or those before the one that found no room.
    """
    start[0] = 0
    for message in range(len(packets)):
        here = np.int64(sources[message])
        there = np.int64(targets[message])
        at = start[message]
        word = np.int64(0)
        while here != there:
            if at == len(out):
                return message
            channel, _, word = choose(routes, depth, depth, packets[message], word, here, there)
            out[at] = channel
            at += 1
            here = np.int64(routes.leads_to[channel])
        start[message + 1] = at
    return len(packets)
