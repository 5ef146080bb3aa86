"""Hops between all routers: breadth first from many at once, one bit each."""

import numpy as np

from kernels import helper, kernel

WORDS = 8
"""Words of 64 sources that go together: a cache line a router."""

SOURCES = 64 * WORDS
"""Sources that are followed at once."""

LONGEST = 254
"""Most links of a route that ``distances`` can hold."""

UNREACHED = np.uint8(255)  # no route: greater than ``LONGEST``

_FEW = 6  # chosen: bits that are written one by one; with more the loop over all 64 is taken


@helper
def count_bits(word):
    """Return how many bits of a uint64 are 1."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    pairs = np.uint64(0x3333333333333333)
    word = (word & pairs) + ((word >> np.uint64(2)) & pairs)
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    word = word + (word >> np.uint64(8))
    word = word + (word >> np.uint64(16))
    word = word + (word >> np.uint64(32))
    return np.int64(word & np.uint64(0x7F))


@helper
def _begin(routers, first, reached, wave):
    """Start from source ``first`` and those after it at distance 0; return their number."""
    sources = min(routers - first, SOURCES)
    reached[:] = np.uint64(0)
    for source in range(sources):
        bit = np.uint64(1) << np.uint64(source & 63)
        reached[first + source, source >> 6] = bit
    for router in range(routers):
        for word in range(reached.shape[1]):
            wave[router, word] = reached[router, word]
    return sources


@helper
def _step(start, neighbour, reached, wave, fresh, full):
    """Reach one link further. ``fresh`` gets each router's new sources; return whether any are."""
    routers = len(start) - 1
    found = np.uint64(0)
    for router in range(routers):
        new = fresh[router]
        here = reached[router]
        missing = np.uint64(0)
        for w in range(WORDS):
            new[w] = np.uint64(0)
            missing |= full[w] & ~here[w]
        if missing == np.uint64(0):
            continue
        for i in range(start[router], start[router + 1]):
            other = wave[neighbour[i]]
            for w in range(WORDS):
                new[w] |= other[w]
        for w in range(WORDS):
            new[w] &= ~here[w]
            found |= new[w]
    for router in range(routers):
        for w in range(WORDS):
            reached[router, w] |= fresh[router, w]
    return found != np.uint64(0)


@helper
def _full(sources, full):
    for w in range(WORDS):
        left = sources - 64 * w
        if left >= 64:
            full[w] = ~np.uint64(0)
        elif left > 0:
            full[w] = (np.uint64(1) << np.uint64(left)) - np.uint64(1)
        else:
            full[w] = np.uint64(0)


@kernel(cache=True, nogil=True)
def distances(start, neighbour, hops):
    """Fill in the links on a shortest route between every two routers.

    Links go both ways, so that a column is a row and each router's part of a block is filled in
    order.

    Args:
        start: int32[routers + 1]; the links of router ``r`` are those from ``start[r]`` up to
            ``start[r + 1]``.
        neighbour: int32[2 links], the router at the other end.
        hops: uint8[routers, routers], out; 255 where there is no route.

    Returns:
        Whether every route has at most 254 links.
    """
    routers = len(start) - 1
    reached = np.empty((routers, WORDS), np.uint64)
    wave = np.empty((routers, WORDS), np.uint64)
    fresh = np.empty((routers, WORDS), np.uint64)
    full = np.empty(WORDS, np.uint64)
    hops[:] = UNREACHED
    for first in range(0, routers, SOURCES):
        sources = _begin(routers, first, reached, wave)
        _full(sources, full)
        for source in range(first, first + sources):
            hops[source, source] = 0
        level = 0
        while _step(start, neighbour, reached, wave, fresh, full):
            level += 1
            if level > LONGEST:
                return False
            _write(fresh, hops, first, sources, np.uint8(level))
            wave, fresh = fresh, wave
    return True


@helper
def _write(fresh, hops, first, sources, level):
    """Write a level where it is new: one by one where that is at few places, else all 64."""
    for router in range(len(fresh)):
        row = hops[router]
        for w in range(WORDS):
            word = fresh[router, w]
            if word == np.uint64(0):
                continue
            base = first + 64 * w
            if count_bits(word) <= _FEW:
                while word != np.uint64(0):
                    lowest = word & (~word + np.uint64(1))
                    row[base + count_bits(lowest - np.uint64(1))] = level
                    word ^= lowest
            else:
                away = level ^ UNREACHED
                for bit in range(min(64, sources - 64 * w)):
                    is_new = np.uint8((word >> np.uint64(bit)) & np.uint64(1))
                    # 255 becomes the level where the bit is 1. No branch, so that one instruction
                    # does it for many sources.
                    row[base + bit] ^= away * is_new


@kernel(cache=True, nogil=True)
def histogram(start, neighbour, hosts, planes, first, routers_at, hosts_at):
    """Count how far apart routers are, and hosts, for one block of sources.

    Nothing of the size of a matrix is kept. A router's hosts are counted bit by bit of their
    number: ``planes`` are the bits.

    Args:
        start: int32[routers + 1], as for ``distances``.
        neighbour: int32[2 links], the router at the other end.
        hosts: int64[routers], hosts of each router.
        planes: how many bits the most hosts of a router take.
        first: the first source of the block of ``SOURCES``.
        routers_at: int64[lengths], in and out: pairs of a source and a router at each distance.
        hosts_at: int64[lengths], in and out: the same for pairs of hosts.

    Returns:
        The greatest distance, or -1 where it does not fit into ``lengths``.
    """
    routers = len(start) - 1
    reached = np.empty((routers, WORDS), np.uint64)
    wave = np.empty((routers, WORDS), np.uint64)
    fresh = np.empty((routers, WORDS), np.uint64)
    full = np.empty(WORDS, np.uint64)
    weights = np.zeros((planes, WORDS), np.uint64)
    sources = _begin(routers, first, reached, wave)
    _full(sources, full)
    for source in range(sources):
        count = hosts[first + source]
        routers_at[0] += 1
        hosts_at[0] += count * count
        for plane in range(planes):
            bit = np.uint64((count >> plane) & 1)
            weights[plane, source >> 6] |= bit << np.uint64(source & 63)
    level = 0
    while _step(start, neighbour, reached, wave, fresh, full):
        level += 1
        if level >= len(routers_at):
            return -1
        new_routers = 0
        new_hosts = 0
        for router in range(routers):
            seen = 0
            weighed = 0
            for w in range(WORDS):
                word = fresh[router, w]
                if word != np.uint64(0):
                    seen += count_bits(word)
                    for plane in range(planes):
                        weighed += count_bits(word & weights[plane, w]) << plane
            new_routers += seen
            new_hosts += weighed * hosts[router]
        routers_at[level] += new_routers
        hosts_at[level] += new_hosts
        wave, fresh = fresh, wave
    return level
