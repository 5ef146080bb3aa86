"""Expected loads of channels where each message takes any of its minimal routes.

Twins are routers with the same neighbours over links of the same costs, such as the edge switches
of a fat tree's pod. Minimal routes to one of them are those to the others but for the last channel,
and each gets the same part of what passes through, so flows are followed between classes of twins.
"""

from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from kernels import helper, inlined, kernel

DONE = 0  # status: the loads are there
HALTED = 1  # the run was asked to end
APART = 2  # some of the traffic has no route


class Ports(NamedTuple):
    """A network's channels from router to router; links go both ways and cost the same.

    Attributes:
        first: int32[routers + 1]; channels ``first[r]`` up to ``first[r + 1]`` are router r's.
        target: int32[D], the router that each leads to.
        opposite: int32[D], the other direction of each.
        weight: uint16[D], cost of each, at least 1.
    """

    first: NDArray[np.int32]
    target: NDArray[np.int32]
    opposite: NDArray[np.int32]
    weight: NDArray[np.uint16]


class Bundles(NamedTuple):
    """Classes of twins, and the channels between them in bundles of the same cost.

    Attributes:
        class_of: int32[routers].
        members: int32[classes], routers of each.
        first: int32[classes + 1]; bundles ``first[c]`` up to ``first[c + 1]`` begin at class c.
        target: int32[bundles], the class that each leads to.
        weight: uint16[bundles], cost of its channels.
        channels: int32[bundles], its channels from each router of the one class.
    """

    class_of: NDArray[np.int32]
    members: NDArray[np.int32]
    first: NDArray[np.int32]
    target: NDArray[np.int32]
    weight: NDArray[np.uint16]
    channels: NDArray[np.int32]


@register_jitable
def _order_by_cost(bundles, end, queue, waiting, cost, order):
    """Fill the cost of routes to a class, -1 without one, and order classes dearest first.

    Returns the number of classes with a route, ``end`` included, which comes last.
    """
    _, _, first, target, weight, _ = bundles
    classes = len(cost)
    cost[:] = -1
    cost[end] = 0
    queue[0] = end
    head, count = 0, 1
    highest = 0
    # A class is taken again where a cheaper way to it is found: never if all cost the same.
    while count > 0:
        here = queue[head]
        head = head + 1 if head + 1 < classes else 0
        count -= 1
        waiting[here] = False
        for bundle in range(first[here], first[here + 1]):
            there = target[bundle]
            through = cost[here] + np.int64(weight[bundle])
            if cost[there] >= 0 and cost[there] <= through:
                continue
            cost[there] = through
            highest = max(highest, through)
            if not waiting[there]:
                waiting[there] = True
                place = head + count
                queue[place - classes if place >= classes else place] = there
                count += 1
    # Sorted by counting.
    begin = np.zeros(highest + 2, np.int32)
    for one in range(classes):
        if cost[one] >= 0:
            begin[highest - cost[one] + 1] += 1
    for step in range(highest + 1):
        begin[step + 1] += begin[step]
    found = begin[highest + 1]
    for one in range(classes):
        if cost[one] >= 0:
            order[begin[highest - cost[one]]] = one
            begin[highest - cost[one]] += 1
    return found


@helper
def _left(one, there, end, cost, cheapest):
    """Return the cost that a link between two classes must have to lie on a minimal route.

    Between two routers of ``end`` a minimal route goes out by a cheapest link and returns by one.
    """
    return cheapest if one == end else np.int64(cost[one] - cost[there])


# Inlined, as its arguments are some 50 words: 1.2x (tests/benchmarks/test_topology.py, a torus).
@inlined
def _choose(bundles, one, end, cost, cheapest, chosen):
    """List the bundles that minimal routes from a class to ``end`` begin with.

    Returns their number, and that of channels in them, from one router and to one of ``end``.
    """
    _, members, first, target, weight, channels = bundles
    begin = place = first[one]
    ways = 0
    for bundle in range(begin, first[one + 1]):
        minimal = _left(one, target[bundle], end, cost, cheapest) == np.int64(weight[bundle])
        # Not a branch, which would be foretold badly: 1.2x on a random graph of 1000 routers.
        chosen[place] = bundle
        place += minimal
        ways += channels[bundle] * minimal
    if members[end] > 1:
        for way in range(begin, place):
            if target[chosen[way]] == end:
                ways -= channels[chosen[way]] // members[end] * (members[end] - 1)
    return place - begin, ways


@helper
def _pass_on(bundles, end, order, cost, cheapest, chosen, number, ways, starting, passing, common):
    """Pass the traffic of classes to one router of ``end``, dearest class first.

    ``passing`` gets what comes through each class, and where a class has one router also what
    starts there; ``common`` is raised by that part of each channel's load, for a channel of each
    bundle. What a class has chosen is kept for the twins of the router: ``ways`` is 0 before.
    """
    _, members, first, target, _, channels = bundles
    passing[:] = 0.0
    # What twins send to the router goes out from its class first, and arrives with the rest.
    for place in range(-1, len(order)):
        here = end if place < 0 else order[place]
        flow = starting[here] if place < 0 else passing[here] + starting[here]
        if flow <= 0.0 or (here == end and place >= 0):
            continue
        if ways[here] == 0:
            number[here], ways[here] = _choose(bundles, here, end, cost, cheapest, chosen)
        part = each = flow / ways[here]
        if members[here] == 1:
            passing[here] = flow
        else:
            each = passing[here] / (members[here] * ways[here])
        for way in range(first[here], first[here] + number[here]):
            bundle = chosen[way]
            there = target[bundle]
            if there != end:
                passing[there] += part * channels[bundle]
                common[bundle] += each


@helper
def _arrive(ports, bundles, router, cost, ways, passing, sent, place, load):
    """Load the channels that lead to a router, with what passes and what each sends itself."""
    first, target, opposite, weight = ports
    for channel in range(first[router], first[router + 1]):
        before = target[channel]
        one = bundles.class_of[before]
        if cost[one] != np.int64(weight[channel]):
            continue
        amount = passing[one] / bundles.members[one]
        if bundles.members[one] > 1 and place[before] >= 0:
            amount += sent[place[before]]
        if amount > 0.0:
            load[opposite[channel]] += amount / ways[one]


@helper
def _depart(ports, bundles, end, cost, cheapest, ways, senders, own, load):
    """Load the channels of routers with twins with what they send to a class, but for the last."""
    first, target, _, weight = ports
    for place in range(len(senders)):
        router = senders[place]
        one = bundles.class_of[router]
        if own[place] <= 0.0 or bundles.members[one] == 1:
            continue
        part = own[place] / ways[one]
        for channel in range(first[router], first[router + 1]):
            there = bundles.class_of[target[channel]]
            left = _left(one, there, end, cost, cheapest)
            if there != end and left == np.int64(weight[channel]):
                load[channel] += part


@kernel(cache=True, nogil=True)
def equal_split(ports, bundles, receivers, senders, traffic, halt, load, common):
    """Add the load of each channel where routers share what they pass on among minimal routes.

    A route is minimal if its channels together cost the least. A router gives each of its channels
    that such a route begins with an equal part. Links go both ways and cost the same, so that what
    it costs from a destination is what it costs to it.

    Args:
        ports: ``Ports``.
        bundles: ``Bundles`` of the same channels. Routers of a class have no link to each other.
        receivers: int32[t], routers; those of a class follow one another.
        senders: int32[s], routers.
        traffic: float64[t, s], what each receiver gets from each sender; nothing from itself.
        halt: int8[1], not 0 ends the work.
        load: float64[D], added to.
        common: float64[bundles], added to: load of each channel of a bundle, besides ``load``.

    Returns:
        ``DONE``, ``HALTED``, or ``APART`` where there is no route for some of the traffic.
    """
    class_of = bundles.class_of
    classes, sending = len(bundles.members), len(senders)
    cost, order = np.empty(classes, np.int32), np.empty(classes, np.int32)
    queue, waiting = np.empty(classes, np.int32), np.zeros(classes, np.bool_)
    chosen, number = np.empty(len(bundles.target), np.int32), np.empty(classes, np.int32)
    ways = np.empty(classes, np.int64)
    starting, passing = np.empty(classes, np.float64), np.empty(classes, np.float64)
    own = np.empty(sending, np.float64)
    place = np.full(len(class_of), -1, np.int32)
    for sender in range(sending):
        place[senders[sender]] = sender
    begin = 0
    while begin < len(receivers):
        if halt[0] != 0:
            return HALTED
        end = class_of[receivers[begin]]
        found = _order_by_cost(bundles, end, queue, waiting, cost, order)
        cheapest = np.int64(0)
        for bundle in range(bundles.first[end], bundles.first[end + 1]):
            if cheapest == 0 or np.int64(bundles.weight[bundle]) < cheapest:
                cheapest = np.int64(bundles.weight[bundle])
        ways[:] = 0
        own[:] = 0.0
        last = begin
        while last < len(receivers) and class_of[receivers[last]] == end:
            sent = traffic[last]
            starting[:] = 0.0
            for sender in range(sending):
                if sent[sender] > 0.0:
                    one = class_of[senders[sender]]
                    if cost[one] < 0:
                        return APART
                    starting[one] += sent[sender]
                    own[sender] += sent[sender]
            _pass_on(
                bundles,
                end,
                order[:found],
                cost,
                cheapest,
                chosen,
                number,
                ways,
                starting,
                passing,
                common,
            )
            _arrive(ports, bundles, receivers[last], cost, ways, passing, sent, place, load)
            last += 1
        _depart(ports, bundles, end, cost, cheapest, ways, senders, own, load)
        begin = last
    return DONE
