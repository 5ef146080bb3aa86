"""Routes and channel dependencies from their definitions: sets of states, one packet at a time."""

from __future__ import annotations

from collections import deque

import numpy as np


def costs_to(topology, target, weight=None):
    """Return the cost of the cheapest way from each router to one, by relaxing until nothing moves.

    ``weight`` is a link's cost by its class, 1 where it is None.
    """
    cost = [float("inf")] * topology.num_routers
    cost[target] = 0
    moved = True
    while moved:
        moved = False
        for (one, other), kind in zip(topology.links.tolist(), topology.link_class, strict=True):
            step = 1 if weight is None else weight[kind]
            for here, there in ((one, other), (other, one)):
                if cost[there] + step < cost[here]:
                    cost[here] = cost[there] + step
                    moved = True
    return cost


def next_channels(channels, cost, here, weight=None):
    """Return the channels that a cheapest way from a router may begin with, ascending."""
    kinds = channels.link_class
    found = []
    for channel in range(channels.first[here], channels.first[here + 1]):
        step = 1 if weight is None else weight[kinds[channel]]
        if cost[channels.target[channel]] + step == cost[here]:
            found.append(channel)
    return found


def _lane(rule, lane, before, channel, phase, begins):
    """Return the lane that a packet takes on a channel, from its lane on the one before."""
    if rule.dateline:
        same = before is not None and not begins
        same = same and rule.dimension[before] == rule.dimension[channel]
        return (lane if same else 2 * phase) | int(rule.wraps[channel])
    if before is None:
        return 0
    return lane + int(rule.step[before]) + (rule.phase_step if begins else 0)


def all_turns(routing):
    """Return every (channel, lane, next channel, lane) that a packet of a routing can make.

    A packet's state is where it is, by which channel and lane it came, where it goes, and which
    part of its way that is. All states that can be reached are visited.
    """
    channels, minimal, rule = routing.channels, routing.minimal, routing.rule
    targets = [int(target) for target in minimal.targets]
    group = routing.tables().group
    turns, seen, queue = set(), set(), deque()

    def visit(here, before, lane, phase, begins, diverted, towards):
        for target in towards:
            state = (here, before, lane, target, phase, begins, diverted)
            if target != here and state not in seen:
                seen.add(state)
                queue.append(state)

    for start in targets:
        visit(start, None, 0, 0, False, False, targets)
    while queue:
        here, before, lane, target, phase, begins, diverted = queue.popleft()
        for channel in map(int, minimal.between(here, target)):
            taken = _lane(rule, lane, before, channel, phase, begins)
            if before is not None:
                turns.add((before, lane, channel, taken))
            there = int(channels.target[channel])
            if there != target:
                visit(there, channel, taken, phase, False, diverted, [target])
            elif routing.goes_around and phase == diverted:
                visit(there, channel, taken, phase + 1, True, diverted, targets)
            if routing.scheme == "par" and before is None and group[here] == group[there]:
                visit(there, channel, taken, 1, True, True, targets)
    return turns


def is_acyclic(turns):
    """Return whether no packets can wait for one another in turn."""
    after, waited = {}, {}
    for channel, lane, following, taken in turns:
        after.setdefault((channel, lane), set()).add((following, taken))
        waited.setdefault((channel, lane), 0)
    for ends in after.values():
        for end in ends:
            waited[end] = waited.get(end, 0) + 1
    free = [node for node, count in waited.items() if count == 0]
    gone = 0
    while free:
        node = free.pop()
        gone += 1
        for end in after.get(node, ()):
            waited[end] -= 1
            if waited[end] == 0:
                free.append(end)
    return gone == len(waited)


def random_graph(rng, routers, extra):
    """Return links of a connected graph: a random tree and some more, parallel ones among them."""
    links = [(int(rng.integers(router)), router) for router in range(1, routers)]
    while len(links) < routers - 1 + extra:
        one, other = rng.integers(routers, size=2)
        if one != other:
            links.append((int(one), int(other)))
    return np.array(links, np.int32)
