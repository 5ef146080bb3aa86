"""Rates by max-min fairness: nobody's rate can be raised without lowering that of one no faster.

Progressive filling (Bertsekas, Gallager: Data Networks, 1992, section 6.5.2): the channel that can
give its flows the least each fixes their rates; what is left is shared among the others. A rate is
max-min fair where each flow has a bottleneck, a full channel on which none is faster. So only
flows on changed channels are shared out anew, with the rates of all others kept; those whose
bottleneck is gone thereby, or which are faster than one that they hold up, join them, and it is
done again. That ends with the rates of a filling of the whole network. Of the flows on a changed
channel those that it holds up are enough to begin with: half as many as all.

No flow gets more than ``limit``: where the tightest channel could give its flows more, all that are
left get that, for the other channels could give them no less.

A flow that is spread over several ways loads each channel with a share of its rate, its weight
there; a channel then gives its flows spare / sum of weights each.
"""

import numpy as np

from kernels import helper, inlined
from kernels.fabric_programs import layout
from kernels.fabric_programs.events import add_finish, drop_finish, move_finish

SAME = 1e-9
"""Two rates that differ by less, relatively, are taken as equal: sums of thousands of rates are
exact to about 1e-12."""

ROUNDING = 2e-14
"""A rate that differs by less from the flow's before, or from that fixed before it, is the same.

Rates that are equal but for the order of a sum stay equal, and their flows end at one tick: of an
alltoall on 512 nodes 28,641 sharings, not 238,255, in a fifth of the time
(tests/benchmarks/test_fabric_programs.py).
"""

HALF = 0.5 + 2.0**-12
"""Ends are often exactly between two ticks; a sum's rounding must not decide which one it is."""


@inlined
def _change(network, cells, channel):
    """Note that a channel's flows have changed."""
    if network.is_dirty[channel]:
        return
    network.is_dirty[channel] = 1
    if cells[layout.DIRTY] == 0:
        cells[layout.DIRTY_SINCE] = cells[layout.NOW]
    network.dirty[cells[layout.DIRTY]] = channel
    cells[layout.DIRTY] += 1


@inlined
def begin(network, flows, cells, stride, op, path, size):
    """Start a flow, which has no rate until ``share_out``.

    Args:
        network: the channels.
        flows: with a free slot.
        cells: int64[N_CELLS].
        stride: nodes of a slot.
        op: the send.
        path: its path.
        size: bytes, more than 0.
    """
    slot = flows.unused[cells[layout.FLOWS]]
    cells[layout.FLOWS] += 1
    cells[layout.MOST_FLOWS] = max(cells[layout.MOST_FLOWS], cells[layout.FLOWS])
    flows.op[slot] = op
    flows.path[slot] = path
    flows.rate[slot] = 0.0
    flows.left[slot] = size
    flows.since[slot] = cells[layout.NOW]
    flows.finish[slot] = layout.NEVER
    flows.bottleneck[slot] = -1
    add_finish(flows, cells, slot)
    node = np.int64(slot) * stride
    for i in range(network.path_start[path], network.path_start[path + 1]):
        channel = np.int64(network.path_channel[i])
        flows.channel[node] = channel
        flows.weight[node] = network.path_weight[i]
        next_node = network.first[channel]
        flows.after[node] = next_node
        flows.before[node] = -1
        if next_node >= 0:
            flows.before[next_node] = node
        network.first[channel] = node
        network.on[channel] += 1
        network.most[channel] = max(network.most[channel], network.on[channel])
        network.carried[channel] += size * network.path_weight[i]
        _change(network, cells, channel)
        node += 1
    flows.end[slot] = node


@inlined
def finish(network, flows, cells, stride, slot):
    """End a flow.

    Args:
        network: the channels.
        flows: the flows.
        cells: int64[N_CELLS].
        stride: nodes of a slot.
        slot: which.
    """
    drop_finish(flows, cells, slot)
    for node in range(np.int64(slot) * stride, flows.end[slot]):
        channel = np.int64(flows.channel[node])
        before, after = flows.before[node], flows.after[node]
        if before >= 0:
            flows.after[before] = after
        else:
            network.first[channel] = after
        if after >= 0:
            flows.before[after] = before
        network.on[channel] -= 1
        _change(network, cells, channel)
    cells[layout.FLOWS] -= 1
    flows.unused[cells[layout.FLOWS]] = slot


@inlined
def share_out(network, flows, cells, stride):
    """Give the flows on changed channels, and all whom that concerns, their rates.

    Args:
        network: the channels.
        flows: the flows.
        cells: int64[N_CELLS].
        stride: nodes of a slot.
    """
    now = cells[layout.NOW]
    cells[layout.ROUND] += 1
    cells[layout.SHARINGS] += 1
    chosen = np.int64(0)
    for i in range(cells[layout.DIRTY]):
        channel = network.dirty[i]
        network.is_dirty[channel] = 0
        node = network.first[channel]
        while node >= 0:
            slot = np.int64(flows.owner[node])
            # One that is held up elsewhere stays so, unless `_disturbed` finds otherwise.
            if flows.bottleneck[slot] == channel or flows.rate[slot] == 0.0:
                chosen = _choose(flows, cells, slot, chosen)
            node = flows.after[node]
    cells[layout.DIRTY] = 0
    while chosen > 0:
        touched = _touch(network, flows, cells, stride, chosen)
        _fill(network, flows, cells, stride, chosen, touched)
        before = chosen
        for i in range(touched):
            channel = np.int64(network.touched[i])
            if network.others[channel] > 0:
                chosen = _disturbed(network, flows, cells, stride, channel, chosen)
        if chosen == before:
            break
    cells[layout.RATES] += chosen
    for i in range(chosen):
        slot = flows.chosen[i]
        rate, before = flows.rate[slot], flows.rate_before[slot]
        if before > 0 and abs(rate - before) <= ROUNDING * before:
            flows.rate[slot] = before
            continue
        passed = before * (now - flows.since[slot])
        flows.left[slot] = max(flows.left[slot] - passed, 0.0)
        flows.since[slot] = now
        flows.finish[slot] = layout.NEVER
        # A quotient beyond the clock, or one by 0, is no whole number of ticks.
        if flows.left[slot] < rate * layout.CLOCK_END:
            ticks = flows.left[slot] / rate
            flows.finish[slot] = now + np.int64(np.floor(ticks + HALF))
        move_finish(flows, cells, slot)


@inlined
def _choose(flows, cells, slot, chosen):
    """Take a flow into the sharing, if it is not yet, with what is left of it now."""
    if flows.mark[slot] == cells[layout.ROUND]:
        return chosen
    flows.mark[slot] = cells[layout.ROUND]
    flows.chosen[chosen] = slot
    flows.rate_before[slot] = flows.rate[slot]
    return chosen + 1


@inlined
def _touch(network, flows, cells, stride, chosen):
    """List the channels of the chosen flows, with what those of others leave of each."""
    cells[layout.STAMP] += 1
    touched = np.int64(0)
    for i in range(chosen):
        slot = np.int64(flows.chosen[i])
        for node in range(slot * stride, flows.end[slot]):
            channel = np.int64(flows.channel[node])
            if network.seen[channel] != cells[layout.STAMP]:
                network.seen[channel] = cells[layout.STAMP]
                network.touched[touched] = channel
                network.open[channel] = 0
                network.demand[channel] = 0.0
                touched += 1
            network.open[channel] += 1
            network.demand[channel] += flows.weight[node]
    for i in range(touched):
        channel = np.int64(network.touched[i])
        spare = network.capacity[channel]
        network.others[channel] = network.on[channel] - network.open[channel]
        if network.others[channel] > 0:
            node = network.first[channel]
            while node >= 0:
                slot = np.int64(flows.owner[node])
                if flows.mark[slot] != cells[layout.ROUND]:
                    spare -= flows.rate[slot] * flows.weight[node]
                node = flows.after[node]
        network.spare[channel] = max(spare, 0.0)
    return touched


@inlined
def _fill(network, flows, cells, stride, chosen, touched):
    """Fix the rates of the chosen flows, those of the tightest channel first."""
    spare, demand, key, by_key = network.spare, network.demand, network.key, network.by_key
    for i in range(touched):
        channel = np.int64(network.touched[i])
        by_key[i] = channel
        key[i] = spare[channel] / demand[channel]
    for i in range(touched // 2 - 1, -1, -1):
        _sink(key, by_key, touched, i)
    for i in range(chosen):
        flows.rate[flows.chosen[i]] = -1.0
    count = touched
    left = chosen
    level = 0.0
    while left > 0:
        channel = np.int64(by_key[0])
        if network.open[channel] == 0:
            count -= 1
            key[0], by_key[0] = key[count], by_key[count]
            _sink(key, by_key, count, 0)
            continue
        # Others have taken their share meanwhile: what is left for each never gets less.
        rate = max(spare[channel], 0.0) / demand[channel]
        if rate > key[0]:
            key[0] = rate
            _sink(key, by_key, count, 0)
            if by_key[0] != channel:
                continue
        if abs(rate - level) <= ROUNDING * level:
            rate = level
        level = rate
        if rate >= network.limit:
            _limit(flows, chosen, network.limit)
            return
        node = network.first[channel]
        while node >= 0:
            slot = np.int64(flows.owner[node])
            if flows.mark[slot] == cells[layout.ROUND] and flows.rate[slot] < 0:
                flows.rate[slot] = rate
                flows.bottleneck[slot] = channel
                left -= 1
                for each in range(slot * stride, flows.end[slot]):
                    other = np.int64(flows.channel[each])
                    spare[other] -= rate * flows.weight[each]
                    demand[other] -= flows.weight[each]
                    network.open[other] -= 1
            node = flows.after[node]


@helper
def _limit(flows, chosen, rate):
    """Give the chosen flows that have no rate yet the most that one may have."""
    for i in range(chosen):
        slot = flows.chosen[i]
        if flows.rate[slot] < 0:
            flows.rate[slot] = rate
            flows.bottleneck[slot] = -1


@helper
def _sink(key, by_key, count, at):
    """Move an entry of the heap down to where it belongs."""
    value, channel = key[at], by_key[at]
    while True:
        below = 2 * at + 1
        if below >= count:
            break
        if below + 1 < count and key[below + 1] < key[below]:
            below += 1
        if value <= key[below]:
            break
        key[at], by_key[at] = key[below], by_key[below]
        at = below
    key[at], by_key[at] = value, channel


@inlined
def _disturbed(network, flows, cells, stride, channel, chosen):
    """Choose the other flows of a channel whose rates the new ones do not leave as they are."""
    fastest = 0.0
    slowest = np.inf
    load = 0.0
    node = network.first[channel]
    while node >= 0:
        slot = np.int64(flows.owner[node])
        rate = flows.rate[slot]
        load += rate * flows.weight[node]
        if flows.mark[slot] == cells[layout.ROUND]:
            fastest = max(fastest, rate)
            if flows.bottleneck[slot] == channel:
                slowest = min(slowest, rate)
        node = flows.after[node]
    full = load >= network.capacity[channel] * (1 - SAME)
    node = network.first[channel]
    while node >= 0:
        slot = np.int64(flows.owner[node])
        if flows.mark[slot] != cells[layout.ROUND]:
            rate = flows.rate[slot]
            freed = flows.bottleneck[slot] == channel and (not full or rate < fastest * (1 - SAME))
            if freed or rate > slowest * (1 + SAME):
                chosen = _choose(flows, cells, slot, chosen)
        node = flows.after[node]
    return chosen
