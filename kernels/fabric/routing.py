"""The next hop of a packet: its channel, its lane, and the random choices on its path.

A packet carries one integer of routing state, its *word*, 0 where it enters the network. Random
numbers are functions of the seed, the packet and the router, so they do not depend on the order
in which packets are looked at.
"""

from typing import NamedTuple

import numpy as np

from kernels import helper, inlined
from kernels.fabric.layout import (
    AT_PORTS,
    BETWEEN,
    BYTE,
    LOOKS,
    N_PORT,
    OWN_PORTS,
    port_cells,
    span,
)
from kernels.fabric.ports import queued

# Schemes: what decides between the minimal route and one by way of an intermediate router.
MINIMAL, VALIANT, UGAL_L, UGAL_G, PAR = range(5)
# Which of several channels of a minimal route is taken.
FIRST, HASH, ROTATE, RANDOM, LEAST = range(5)
# Rules of lanes: a count of hops taken, or one step at each dimension's dateline.
COUNTING, DATELINE = range(2)

# Places in `settings`.
SCHEME, CHOICE, RULE, LANES, PHASE_STEP, SEED = range(6)
N_SETTINGS = 6  # the places above

# The word, from its lowest bit: lane counted so far (8), dimension of the last hop plus 1 (8),
# phase (2), whether the packet may be sent another way after its first hop (1), hops (9), and from
# bit 32 the intermediate's column plus 1 while the packet is on its way there.
_DIMENSION, _PHASE, _OPEN, _HOPS, _VIA = 8, 16, 18, 20, 32

_WORD = 0xFFFFFFFF  # the 32 bits of hashes and random numbers

_DRAWS = 16
"""Times that an intermediate router is drawn before a packet goes the minimal way."""


class Routes(NamedTuple):
    """Routing tables as arrays.

    Attributes:
        column: int32[routers], each router's place among the targets, -1 for none.
        targets: int32[t], the routers that have hosts.
        row: int32[routers, t], the set of channels on minimal routes to each target.
        set_first: int32[sets + 1], where each set begins in ``candidate``.
        candidate: int32[n], channels.
        hops: uint8[routers, t], channels of a minimal route.
        leads_to: int32[channels], the router at the other end.
        lane_step: int8[channels], what the lane counts up after a channel.
        dimension: int8[channels], the dimension of each channel, -1 for none.
        wraps: int8[channels], 1 where a channel crosses its dimension's dateline.
        group: int32[routers], -1 for none.
        settings: int64[N_SETTINGS].
    """

    column: np.ndarray
    targets: np.ndarray
    row: np.ndarray
    set_first: np.ndarray
    candidate: np.ndarray
    hops: np.ndarray
    leads_to: np.ndarray
    lane_step: np.ndarray
    dimension: np.ndarray
    wraps: np.ndarray
    group: np.ndarray
    settings: np.ndarray


def no_routes():
    """Return tables of the same types for SST/macro's routers, which do not read them."""
    words, table = np.zeros(0, np.int32), np.zeros((0, 0), np.int32)
    steps = np.zeros(0, np.int8)
    return Routes(
        column=words,
        targets=words,
        row=table,
        set_first=words,
        candidate=words,
        hops=table.astype(np.uint8),
        leads_to=words,
        lane_step=steps,
        dimension=steps,
        wraps=steps,
        group=words,
        settings=np.zeros(N_SETTINGS, np.int64),
    )


@helper
def _scattered(h):
    """Return a 32-bit hash in which each input bit affects all."""
    h = (h ^ (h >> 16)) * 0x85EBCA6B & _WORD
    h = (h ^ (h >> 13)) * 0xC2B2AE35 & _WORD
    return h ^ (h >> 16)


@inlined
def mixed(seed, one, other):
    """Return 32 random bits that follow from three integers.

    MurmurHash3 (Appleby, 2008) of their six words of 32 bits.
    """
    h = 0
    for number in (int(seed), int(one), int(other)):
        for word in (number & _WORD, (number >> 32) & _WORD):
            k = word * 0xCC9E2D51 & _WORD
            k = ((k << 15) | (k >> 17)) & _WORD
            h ^= k * 0x1B873593 & _WORD
            h = ((h << 13) | (h >> 19)) & _WORD
            h = (int(h) * 5 + 0xE6546B64) & _WORD
    return _scattered(int(h))


@helper
def below(seed, one, other, n):
    """Return one of 0 to n - 1, n below 2**31, drawn as ``mixed`` does."""
    return (mixed(seed, one, other) * int(n)) >> 32


@helper
def hops_of(word):
    """Return how many channels between routers a packet has taken."""
    return (word >> _HOPS) & 511


@inlined
def _pick(routes, depth, packet, here, column):
    """Return a channel on a minimal route from a router to a target."""
    chosen = routes.row[here, column]
    first = routes.set_first[chosen]
    n = routes.set_first[chosen + 1] - first
    choice = routes.settings[CHOICE]
    if n == 1 or choice == FIRST:
        return np.int64(routes.candidate[first])
    seed = routes.settings[SEED]
    if choice == HASH:
        place = below(seed, packet >> 32, (np.int64(here) << 32) | column, n)
    elif choice == ROTATE:
        place = ((packet & 0xFFFFFFFF) + here) % n
    else:
        place = below(seed, packet, here, n)
    if choice == LEAST:
        # Ties go to the first from a random start, or all would take the lowest channel.
        best = np.int64(routes.candidate[first + place])
        for i in range(1, n):
            at = place + i
            other = np.int64(routes.candidate[first + (at - n if at >= n else at)])
            if depth[other] < depth[best]:
                best = other
        return best
    return np.int64(routes.candidate[first + place])


@helper
def _intermediate(routes, packet, here, column):
    """Return a random column to go by, -1 if there is none.

    Between two groups it is in a third; within a group, in that group; with no groups, anywhere.
    """
    targets = routes.targets
    start, end = routes.group[here], routes.group[targets[column]]
    for draw in range(_DRAWS):
        # Salts beyond all routers keep these draws apart from those of channels.
        via = below(
            routes.settings[SEED], packet, -1 - draw - _DRAWS * np.int64(here), len(targets)
        )
        router = targets[via]
        if router == here or via == column:
            continue
        group = routes.group[router]
        if start < 0 or end < 0 or (start == end and group == start):
            return via
        if start != end and group != start and group != end:
            return via
    return np.int64(-1)


@helper
def _queued_to(routes, seen, packet, here, column):
    """Return the packets queued on a minimal route, and one more for each of its channels."""
    total = np.int64(0)
    while routes.row[here, column] != 0:
        channel = _pick(routes, seen, packet, here, column)
        total += seen[channel] + 1
        here = np.int64(routes.leads_to[channel])
    return total


@helper
def _goes_round(routes, depth, seen, packet, here, column, via):
    """Return whether the path through an intermediate router has the shorter queues (UGAL)."""
    router = routes.targets[via]
    if routes.settings[SCHEME] == UGAL_G:
        direct = _queued_to(routes, seen, packet, here, column)
        around = _queued_to(routes, seen, packet, here, via)
        return around + _queued_to(routes, seen, packet, np.int64(router), column) < direct
    direct = np.int64(depth[_pick(routes, depth, packet, here, column)])
    around = np.int64(depth[_pick(routes, depth, packet, here, via)])
    longer = np.int64(routes.hops[here, via]) + np.int64(routes.hops[router, column])
    return around * longer < direct * np.int64(routes.hops[here, column])


@helper
def _decided(routes, depth, seen, packet, word, here, column):
    """Return the word of a packet after the decision, if any, that a router makes about its way."""
    scheme = routes.settings[SCHEME]
    hops = hops_of(word)
    if hops == 0:
        via = _intermediate(routes, packet, here, column)
        if via >= 0 and (
            scheme == VALIANT or _goes_round(routes, depth, seen, packet, here, column, via)
        ):
            return (via + 1) << _VIA
        return np.int64(1) << _OPEN if scheme == PAR else word
    # Only PAR leaves packets open: they may change once, while still in the group they began in.
    word -= np.int64(1) << _OPEN
    via = _intermediate(routes, packet, here, column)
    if via >= 0 and _goes_round(routes, depth, seen, packet, here, column, via):
        return _next_phase(routes, word) | ((via + 1) << _VIA)
    return word


@helper
def _next_phase(routes, word):
    """Return the word of a packet that turns to another router: the next phase, no dimension."""
    word = word & ~np.int64(255 << _DIMENSION)
    return word + (np.int64(1) << _PHASE) + routes.settings[PHASE_STEP]


@inlined
def _undecided(routes, word):
    """Return whether a router decides about a packet now: the first one, or where PAR may again."""
    here = hops_of(word) == 0 or word & (np.int64(1) << _OPEN) != 0
    return routes.settings[SCHEME] != MINIMAL and here


@inlined
def asks(routes, word):
    """Return whether ``choose`` will read the queues of the router that a packet is at.

    Args:
        routes: the tables, ``Routes``.
        word: the packet's routing state.
    """
    return routes.settings[CHOICE] == LEAST or _undecided(routes, word)


@helper
def look_everywhere(s, depth, now, size):
    """Store the packets queued at every port between routers.

    Args:
        s: the state.
        depth: int32[channels], out.
        now: the tick.
        size: bytes that count as a packet.
    """
    s[LOOKS] = 1
    each = max(span(size, s[s[AT_PORTS] + N_PORT * BETWEEN + BYTE]), 1)
    for channel in range(len(depth)):
        if s[OWN_PORTS]:
            each = max(span(size, s[port_cells(s, channel) + BYTE]), 1)
        depth[channel] = queued(s, channel, now, each)


@inlined
def choose(routes, depth, seen, packet, word, here, target):
    """Choose the channel that a packet takes from a router that is not its target.

    Args:
        routes: the tables, ``Routes``.
        depth: int32[channels], packets queued at each channel now; only those of ``here`` are read.
        seen: int32[channels], packets queued at each channel at some moment that is the same for
            all; read with UGAL-G.
        packet: number of the packet; its source host stands from bit 32 on.
        word: the packet's routing state.
        here: the router it is at.
        target: the router it goes to, not ``here``.

    Returns:
        The channel, the lane, and the new routing state.
    """
    column = np.int64(routes.column[target])
    if _undecided(routes, word):
        word = _decided(routes, depth, seen, packet, word, here, column)
    via = (word >> _VIA) - 1
    if via >= 0:
        if routes.targets[via] == here:
            word = _next_phase(routes, word & 0xFFFFFFFF)
        else:
            column = via
    channel = _pick(routes, depth, packet, here, column)
    lane = word & 255
    if routes.settings[RULE] == COUNTING:
        word += np.int64(routes.lane_step[channel])
    else:
        dimension = np.int64(routes.dimension[channel]) + 1
        if (word >> _DIMENSION) & 255 != dimension:
            lane = 2 * ((word >> _PHASE) & 3)
        lane |= np.int64(routes.wraps[channel])
        word = (word & ~np.int64(0xFFFF)) | (dimension << _DIMENSION) | lane
    word += np.int64(1) << _HOPS
    # An open packet is closed where it leaves its group: only routers there may reconsider.
    if word & (np.int64(1) << _OPEN) != 0:
        group = routes.group[here]
        if group != routes.group[routes.leads_to[channel]] or hops_of(word) > 1:
            word -= np.int64(1) << _OPEN
    return channel, lane, word
