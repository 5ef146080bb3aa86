"""Open-loop traffic: hosts that send at random times, whether or not their messages arrive.

Each host's messages form a sequence of their own, whose times and targets follow from the seed, the
host and the message's number. They do not depend on what the network does, nor on the order in
which hosts are served.
"""

import math
from typing import NamedTuple

import numpy as np

from kernels import helper, inlined, kernel
from kernels.fabric import engine, layout, nic, routing
from kernels.fabric.entering import uncut
from kernels.fabric.routing import below, hops_of, mixed

POISSON, BERNOULLI = range(2)  # processes: messages at any time, or in slots

# Places in `settings`.
(
    PROCESS,
    SEED,
    SLOT,  # ticks of a slot of the Bernoulli process
    MESSAGE_BYTES,
    FROM,  # tick at which measuring begins,
    TO,  # and ends
    WHOLE,  # 1 where a message is there only when its last byte is
    STRIDE,  # every how many measured messages one latency is kept
) = range(8)
N_SETTINGS = 8  # the places above

# Places in `counts`.
(
    GENERATED,
    DELIVERED,
    MEASURED,  # generated while measuring,
    MEASURED_IN,  # and delivered at any time
    BYTES_IN,  # bytes delivered while measuring
    KEPT,  # latencies kept
) = range(6)
N_COUNTS = 6  # the places above

MOST_HOPS = 512  # a packet's routing state counts its hops in nine bits

_TIME, _TARGET, _WITHIN = 1, 2, 3
"""Salts that keep the draws of a message apart, by the low bits of what is mixed."""


class Pattern(NamedTuple):
    """What messages are drawn from.

    Attributes:
        row: int32[hosts], the row of each host, -1 for none.
        first: int32[rows + 1], where each row's ranges begin.
        until: float64[ranges], probability of a range and those before it in its row.
        low: int32[ranges], the first host of a range.
        n_hosts: int32[ranges], hosts in a range.
        mean: float64[hosts], mean ticks between a host's messages.
        settings: int64[N_SETTINGS].
    """

    row: np.ndarray
    first: np.ndarray
    until: np.ndarray
    low: np.ndarray
    n_hosts: np.ndarray
    mean: np.ndarray
    settings: np.ndarray


class Tally(NamedTuple):
    """What is counted.

    Attributes:
        counts: int64[N_COUNTS].
        sums: float64[2], latencies of measured messages and their squares, in ticks.
        latency: int64[any], latencies of measured messages, of every ``STRIDE``-th.
        hops: int64[MOST_HOPS], measured messages by channels between routers.
        received: int64[hosts], bytes each host got while measuring.
    """

    counts: np.ndarray
    sums: np.ndarray
    latency: np.ndarray
    hops: np.ndarray
    received: np.ndarray


@helper
def _unit(seed, host, number, salt):
    """Return a random number in [0, 1)."""
    return mixed(seed, host, number * 4 + salt) * 2.0**-32


@helper
def gap(pattern, host, number):
    """Return the ticks from a host's message to its next one, at least 1."""
    settings = pattern.settings
    part = _unit(settings[SEED], host, number, _TIME)
    if settings[PROCESS] == POISSON:
        return max(np.int64(1), np.int64(-math.log1p(-part) * pattern.mean[host]))
    chance = min(settings[SLOT] / pattern.mean[host], 1.0)
    if chance == 1.0:
        return settings[SLOT]
    return settings[SLOT] * (1 + np.int64(math.log1p(-part) / math.log1p(-chance)))


@helper
def target_of(pattern, host, number):
    """Return the target of a host's message, never the host itself."""
    row = pattern.row[host]
    low, high = pattern.first[row], pattern.first[row + 1] - 1
    if low < high:
        part = _unit(pattern.settings[SEED], host, number, _TARGET)
        while low < high:
            middle = (low + high) >> 1
            if part < pattern.until[middle]:
                high = middle
            else:
                low = middle + 1
    begin, n = np.int64(pattern.low[low]), pattern.n_hosts[low]
    if n == 1:
        return begin
    seed, draw = pattern.settings[SEED], np.int64(0)
    while True:
        target = begin + below(seed + draw, host, number * 4 + _WITHIN, n)
        if target != host:
            return target
        draw += 1


@kernel(cache=True, nogil=True)
def begin(s, q, pattern):
    """Set each host's timer for its first message.

    Args:
        s: the state.
        q: the records.
        pattern: what messages are drawn from, ``Pattern``.
    """
    for host in range(s[layout.N_HOSTS]):
        if pattern.row[host] >= 0:
            nic.set_timer(s, q, host, gap(pattern, host, 0), layout.NODE, layout.TIMER, 1, 0)


@inlined
def _send(s, t, q, pattern, tally, now, host):
    """Send the host's next message and set the timer for the one after it."""
    number = s[layout.EVENT_WORD]
    settings = pattern.settings
    target = target_of(pattern, host, number)
    measured = 1 if settings[FROM] <= now < settings[TO] else 0
    message = nic.new_message(s, q, host, target, settings[MESSAGE_BYTES], now, measured)
    tally.counts[GENERATED] += 1
    tally.counts[MEASURED] += measured
    nic.send(s, t, q, now, message)
    at = now + gap(pattern, host, number)
    nic.set_timer(s, q, host, at, layout.NODE, layout.TIMER, number + 1, 0)


@inlined
def _receive(s, q, pattern, tally, now, host):
    """Count a message that has arrived."""
    message = s[layout.EVENT_WORD]
    settings, counts = pattern.settings, tally.counts
    counts[DELIVERED] += 1
    n_bytes = q[message + layout.M_BYTES]
    if settings[FROM] <= now < settings[TO]:
        counts[BYTES_IN] += n_bytes
        tally.received[host] += n_bytes
    if q[message + layout.M_EXTRA]:
        latency = now - q[message + layout.M_WORD]
        if settings[WHOLE]:
            p = layout.port_cells(s, layout.ejection_channel(s, host))
            latency += layout.span((n_bytes - 1) % s[layout.MTU] + 1, s[p + layout.BYTE])
        if counts[MEASURED_IN] % settings[STRIDE] == 0 and counts[KEPT] < len(tally.latency):
            tally.latency[counts[KEPT]] = latency
            counts[KEPT] += 1
        counts[MEASURED_IN] += 1
        tally.sums[0] += latency
        tally.sums[1] += np.float64(latency) * latency
        tally.hops[hops_of(s[layout.EVENT_EXTRA])] += 1
    layout.free_record(s, q, message)


@kernel(cache=True, nogil=True)
def run(s, t, q, routes, depth, seen, pattern, tally, until, halt):
    """Serve the network up to a tick, or resume a run that stopped for want of room.

    Args:
        s: int64, the state, see ``layout``.
        t: int32, tables.
        q: int64, records.
        routes: the tables of ``kernels.fabric.routing``.
        depth: int32[channels], room for queue lengths.
        seen: int32[channels], likewise.
        pattern: what messages are drawn from, ``Pattern``.
        tally: what is counted, ``Tally``.
        until: the tick before which all is served.
        halt: int8[1]; another thread sets it to end the run early.

    Returns:
        OK, HALTED or LOST; NO_RECORDS or NO_STATE: call again with more room.
    """
    windows = 0
    looks = routes.settings[routing.SCHEME] == routing.UGAL_G
    while engine.open_window(s, q, until):
        if looks and not s[layout.RESUMED]:
            routing.look_everywhere(s, seen, s[layout.NOW], s[layout.MTU])
        status = engine.serve_routers(s, t, q, routes, depth, seen)
        if status != layout.OK:
            return status
        for host in range(s[layout.N_HOSTS]):
            due = engine.due_cell(s, host)
            while s[due] < s[layout.WINDOW_END]:
                if layout.room_left(s, q) != layout.OK:
                    return layout.room_left(s, q)
                now = s[due]
                news = nic.step(s, q, now, host)
                if news == layout.TIMER_DUE:
                    _send(s, t, q, pattern, tally, now, host)
                elif news == layout.MESSAGE_IN:
                    _receive(s, q, pattern, tally, now, host)
                nic.settle(s, host, layout.host_cells(s, host))
        windows += 1
        if s[layout.LOST_ROOM]:
            return layout.LOST
        if windows & 255 == 0 and halt[0]:
            return layout.HALTED
    return layout.OK


@kernel(cache=True, nogil=True)
def count_unsent(s, q, found):
    """Add to int64[hosts] the packets that wait at each host for its port, with credits or without.

    Messages that have not been cut yet count as the packets that they will be. The packet that the
    port sends just now is not among them.
    """
    for host in range(s[layout.N_HOSTS]):
        h = layout.host_cells(s, host)
        c = layout.channel_cells(s, layout.injection_channel(s, host))
        found[host] += s[c + layout.N_PENDING]
        run = s[h + layout.READY_FIRST]
        while run != layout.NOTHING:
            found[host] += q[run + layout.U_COUNT]
            run = q[run + layout.U_NEXT]
        message, left = s[h + layout.INJECT_FIRST], s[h + layout.LEFT_TO_CUT]
        while message != layout.NOTHING:
            found[host] += max(1, (left + s[layout.MTU] - 1) // s[layout.MTU])
            message = q[message + layout.M_NEXT]
            if message != layout.NOTHING:
                left = uncut(q, message)
