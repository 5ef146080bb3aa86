"""The whole ways of messages, as the routing sends their packets where nothing is queued."""

import numpy as np

from kernels import kernel
from kernels.fabric.routing import choose


@kernel(cache=True, nogil=True)
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


@kernel(cache=True, nogil=True)
def spread(routes, sources, targets, done, start, channel, weight):
    """Write the channels that each pair's packets may take, and the share of them on each.

    At every router the packets part equally among the channels of minimal routes.

    Args:
        routes: the tables, ``routing.Routes``.
        sources: int32[pairs], routers.
        targets: int32[pairs], routers.
        done: pairs that are written already.
        start: int64[pairs + 1], out: where each pair begins; that of the first not done is given.
        channel: int32[any], out.
        weight: float64[any], out.

    Returns:
        How many pairs are done: all, or those before the one that found no room.
    """
    routers = len(routes.column)
    share = np.zeros(routers)
    queue = np.empty(routers, np.int32)
    for pair in range(done, len(sources)):
        target = np.int64(targets[pair])
        column = routes.column[target]
        at = start[pair]
        # A channel of a minimal route leads one hop nearer, so that routers come by distance.
        queue[0] = sources[pair]
        share[sources[pair]] = 1.0
        head, tail = 0, 1
        while head < tail:
            router = np.int64(queue[head])
            head += 1
            part = share[router]
            share[router] = 0.0
            if router == target:
                continue
            chosen = routes.row[router, column]
            first, end = routes.set_first[chosen], routes.set_first[chosen + 1]
            if at + end - first > len(channel):
                for i in range(head, tail):
                    share[queue[i]] = 0.0
                return pair
            part /= end - first
            for i in range(first, end):
                channel[at] = routes.candidate[i]
                weight[at] = part
                at += 1
                other = np.int64(routes.leads_to[routes.candidate[i]])
                if share[other] == 0.0:
                    queue[tail] = other
                    tail += 1
                share[other] += part
        start[pair + 1] = at
    return len(sources)
