"""The channel dependencies that a routing can cause, and their cycles.

A packet that holds a lane of one channel and wants a lane of the next makes the first depend on
the second. Routing cannot deadlock if these dependencies have no cycle (Dally, Seitz: Deadlock-Free
Message Routing in Multiprocessor Interconnection Networks, IEEE Trans. Computers, 1987).

Dependencies are marks in ``used``: the turn from channel c to the i-th channel of the router it
leads to has the row ``turn_first[c] + i``, with one cell for each lane of c. Bit 0 of a cell stands
for a turn of a packet on its way, bit p for one that begins phase p; that tells the lane after it.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernels import helper, kernel


class Routes(NamedTuple):
    """The channels that lead on from each router to each target.

    Attributes:
        targets: int32[t], routers.
        row: int32[routers, t], the set of channels of each router and target.
        set_first: int32[sets + 1]; the channels of set s are ``candidate[set_first[s]]`` up to
            ``candidate[set_first[s + 1]]``.
        candidate: int32[n].
        hops: uint8[routers, t], falling along every minimal route.
    """

    targets: NDArray[np.int32]
    row: NDArray[np.int32]
    set_first: NDArray[np.int32]
    candidate: NDArray[np.int32]
    hops: NDArray[np.uint8]


class LaneRule(NamedTuple):
    """How a packet's lane follows from its lane before.

    Attributes:
        step: int8[channels]; lanes count up by it after a channel.
        dimension: int8[channels], where the rule is that of datelines.
        wraps: int8[channels], 1 where a channel crosses its dimension's dateline.
        phase_step: what the count grows by at the start of a phase.
        dateline: whether the rule is that of datelines; else lanes count.
    """

    step: NDArray[np.int8]
    dimension: NDArray[np.int8]
    wraps: NDArray[np.int8]
    phase_step: int
    dateline: bool


@helper
def _lane_after(lane, channel, following, phase, rule):
    """Return the lane of the channel that follows; phase is 0 for a packet on its way."""
    if rule.dateline:
        if phase > 0:
            return 2 * phase + rule.wraps[following]
        if rule.dimension[following] != rule.dimension[channel]:
            lane = lane & ~1
        return lane | rule.wraps[following]
    step = lane + rule.step[channel]
    return step + rule.phase_step if phase > 0 else step


@kernel(cache=True, nogil=True)
def walk(first, leads_to, routes, rule, phase, entry, turn_first, used, last, once):
    """Mark the turns of all packets of one phase, from where they enter it to each target.

    Args:
        first: int32[routers + 1]; channels ``first[r]`` up to ``first[r + 1]`` leave router r.
        leads_to: int32[channels].
        routes: `Routes`.
        rule: `LaneRule`.
        phase: the number of the phase, from 0.
        entry: uint64[routers], the counts with which packets enter the phase at each router, as
            bits; with datelines, not 0 where they do.
        turn_first: int64[channels + 1].
        used: uint8[turns, lanes], in and out.
        last: uint64[channels], in and out: lanes of the phase's last hops, at their targets.
        once: uint64[channels], in and out: lanes of the phase's first hops.

    Returns:
        The highest lane, or -1 where ``used`` has too few.
    """
    targets, row, set_first, candidate, hops = routes
    routers = len(first) - 1
    lanes = used.shape[1]
    held = np.zeros(len(leads_to), np.uint64)
    order = np.empty(routers, np.int32)
    place = np.empty(258, np.int64)
    one = np.uint64(1)
    highest = np.int64(0)
    for column in range(len(targets)):
        place[:] = 0
        for router in range(routers):
            place[255 - np.int64(hops[router, column]) + 1] += 1
        for i in range(256):
            place[i + 1] += place[i]
        for router in range(routers):
            key = 255 - np.int64(hops[router, column])
            order[place[key]] = router
            place[key] += 1
        held[:] = 0
        for k in range(routers):
            here = order[k]
            ways = row[here, column]
            for i in range(set_first[ways], set_first[ways + 1]):
                channel = candidate[i]
                if entry[here] != 0:
                    begun = (
                        one << np.uint64(2 * phase + rule.wraps[channel])
                        if rule.dateline
                        else entry[here]
                    )
                    once[channel] |= begun
                    held[channel] |= begun
                lanes_held = held[channel]
                if lanes_held == 0:
                    continue
                there = leads_to[channel]
                if there == targets[column]:
                    last[channel] |= lanes_held
                onward = row[there, column]
                for lane in range(64):
                    if lanes_held >> np.uint64(lane) == 0:
                        break
                    if (lanes_held >> np.uint64(lane)) & one == 0:
                        continue
                    highest = max(highest, np.int64(lane))
                    if lane >= lanes:
                        return np.int64(-1)
                    for j in range(set_first[onward], set_first[onward + 1]):
                        following = candidate[j]
                        after = _lane_after(lane, channel, following, 0, rule)
                        if after >= lanes:
                            return np.int64(-1)
                        used[turn_first[channel] + following - first[there], lane] |= 1
                        held[following] |= one << np.uint64(after)
    return highest


@kernel(cache=True, nogil=True)
def join(first, leads_to, ended, once, phase, turn_first, used):
    """Mark the turns by which packets that ended one phase begin another.

    Args:
        first: int32[routers + 1], as for ``walk``.
        leads_to: int32[channels].
        ended: uint64[channels], lanes of the last hops before the phase.
        once: uint64[channels], lanes of the phase's first hops.
        phase: the number of the phase, from 1.
        turn_first: int64[channels + 1].
        used: uint8[turns, lanes], in and out.
    """
    lanes = used.shape[1]
    bit = np.uint8(1 << phase)
    for channel in range(len(leads_to)):
        if ended[channel] == 0:
            continue
        there = leads_to[channel]
        for following in range(first[there], first[there + 1]):
            if once[following] == 0:
                continue
            turn = turn_first[channel] + following - first[there]
            for lane in range(lanes):
                if (ended[channel] >> np.uint64(lane)) & np.uint64(1) != 0:
                    used[turn, lane] |= bit


@kernel(cache=True, nogil=True)
def turns(first, leads_to, rule, turn_first, used, start, to):
    """Write the marked turns as a graph whose nodes are channel * lanes + lane.

    Called twice, first with an empty ``to``, which only counts.

    Args:
        first: int32[routers + 1], as for ``walk``.
        leads_to: int32[channels].
        rule: `LaneRule`.
        turn_first: int64[channels + 1].
        used: uint8[turns, lanes].
        start: int64[channels * lanes + 1], out: where the nodes that each node waits for begin.
        to: int32[dependencies], out.

    Returns:
        The number of dependencies.
    """
    lanes = used.shape[1]
    count = np.int64(0)
    for channel in range(len(leads_to)):
        ahead = first[leads_to[channel]]
        turn = turn_first[channel]
        for lane in range(lanes):
            start[channel * lanes + lane] = count
            for i in range(turn_first[channel + 1] - turn):
                bits = used[turn + i, lane]
                written = np.uint64(0)
                for phase in range(4):
                    if bits & (1 << phase) == 0:
                        continue
                    after = _lane_after(lane, channel, ahead + i, phase, rule)
                    # Turns of several phases may end in the same lane.
                    if (written >> np.uint64(after)) & np.uint64(1) != 0:
                        continue
                    written |= np.uint64(1) << np.uint64(after)
                    if len(to) > 0:
                        to[count] = (ahead + i) * lanes + after
                    count += 1
    start[len(leads_to) * lanes] = count
    return count


@kernel(cache=True, nogil=True)
def find_cycle(start, to, cycle):
    """Look for a cycle in a graph.

    Nodes that nobody waits for are taken away until none is left, or only cycles and what
    they wait for are.

    Args:
        start: int64[nodes + 1]; node n waits for ``to[start[n]]`` up to ``to[start[n + 1] - 1]``.
        to: int32[dependencies].
        cycle: int32[nodes], out: the members in their order.

    Returns:
        The number of members, 0 where there is no cycle.
    """
    nodes = len(start) - 1
    waited = np.zeros(nodes, np.int32)
    for i in range(len(to)):
        waited[to[i]] += 1
    queue = np.empty(nodes, np.int32)
    tail = 0
    for node in range(nodes):
        if waited[node] == 0:
            queue[tail] = node
            tail += 1
    head = 0
    while head < tail:
        node = queue[head]
        head += 1
        for i in range(start[node], start[node + 1]):
            waited[to[i]] -= 1
            if waited[to[i]] == 0:
                queue[tail] = to[i]
                tail += 1
    if tail == nodes:
        return 0
    # Each node left is waited for by another one left: going back far enough ends in a cycle.
    before = np.full(nodes, -1, np.int32)
    node = -1
    for other in range(nodes):
        if waited[other] > 0:
            node = other
            for i in range(start[other], start[other + 1]):
                before[to[i]] = other
    for _ in range(nodes):
        node = before[node]
    members = 0
    entrance = node
    while members == 0 or node != entrance:
        cycle[members] = node
        members += 1
        node = before[node]
    for i in range(members // 2):
        cycle[i], cycle[members - 1 - i] = cycle[members - 1 - i], cycle[i]
    return members
