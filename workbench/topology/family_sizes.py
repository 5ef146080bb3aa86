"""Members of each family near a number of hosts, by closed formulas, nothing being built.

How many hosts a router has is each family's convention, named at its function: enough that all
hosts together fill the links under uniform traffic, where the literature says how many these are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from math import ceil, comb, prod
from types import MappingProxyType
from typing import NamedTuple

from workbench.topology.aries import COLUMNS, MOST_GROUPS, ROWS
from workbench.topology.galois import LARGEST_ORDER, prime_power
from workbench.topology.generator_checks import is_odd_prime, joined
from workbench.topology.hammingmesh import line_switches
from workbench.topology.slim_fly import slim_fly_degree
from workbench.topology.spectralfly import LARGEST_PRIME, spectralfly_routers

_SLACK = 0.25
"""How far from its convention a family of few sizes may put hosts at a router."""

_DIRECT_DEGREES = 96
"""Largest number of links of a router of a Jellyfish or Xpander that is proposed."""

_LONGEST_SIDE = 256
"""Longest side of a torus that is proposed."""


class SizeLimits(NamedTuple):
    """Limits of the members to be found."""

    hosts: int  # about how many
    low: int  # fewest hosts
    high: int  # most hosts
    radix: int  # most ports of a router


class Member(NamedTuple):
    """A member of a family."""

    parameters: str  # as after the colon of a topology's spec
    hosts: int
    routers: int
    links: int  # between routers
    radix: int  # most ports of a router in use
    per_router: int  # hosts of a router that has any
    rank: int = 0  # 0 for what the family is known by, more for what is further from it


def _around(value: float, least: int, most: int) -> range:
    """Return the whole numbers next to a value, within limits."""
    near = round(value)
    return range(max(near - 1, least), min(near + 1, most) + 1)


def _fat_trees(wanted: SizeLimits) -> Iterator[Member]:
    """k/2 hosts at an edge switch (Al-Fares, Loukissas, Vahdat, SIGCOMM 2008)."""
    for k in range(2, min(wanted.radix, 256) + 1, 2):
        yield Member(str(k), k**3 // 4, 5 * k * k // 4, k**3 // 2, k, k // 2)


def _trees(wanted: SizeLimits) -> Iterator[Member]:
    """Full bisection: half the ports of a switch lead down (Öhring et al., IPPS 1995)."""
    for k in range(2, min(wanted.radix, 256) + 1, 2):
        half = k // 2
        for height in (2, 3, 4):
            subtree = half ** (height - 1)
            for top in _around(wanted.hosts / subtree, 2, k):
                m, w = (half,) * (height - 1) + (top,), (1,) + (half,) * (height - 1)
                counts = [prod(w[:level]) * prod(m[level:]) for level in range(1, height + 1)]
                yield Member(
                    f"{joined(m)},{joined(w)}",
                    subtree * top,
                    sum(counts),
                    sum(counts[:-1]) * half,
                    k,
                    half,
                    abs(height - 3),
                )


def _dragonflies(wanted: SizeLimits) -> Iterator[Member]:
    """Balanced, a = 2p = 2h (Kim, Dally, Scott, Abts, ISCA 2008); fewer groups share all ports."""
    for h in range(1, (wanted.radix + 1) // 4 + 1):
        a = 2 * h
        for g in dict.fromkeys((*_around(wanted.hosts / (a * h), 3, a * h), a * h + 1)):
            links = g * comb(a, 2) + comb(g, 2) * (a * h // (g - 1))
            yield Member(
                f"a={a},p={h},h={h},g={g},links=none",
                g * a * h,
                g * a,
                links,
                a - 1 + 2 * h,
                h,
                _missing(g, a * h + 1),
            )


def _dragonfly_pluses(wanted: SizeLimits) -> Iterator[Member]:
    """Half of a router's ports lead down or to leaves, half up (Shpiner et al., HiPINEB 2017)."""
    for k in range(2, wanted.radix + 1, 2):
        half = k // 2
        ports = half * half
        for g in dict.fromkeys((*_around(wanted.hosts / ports, 2, ports), ports + 1)):
            links = g * ports + comb(g, 2) * (ports // (g - 1))
            yield Member(
                f"leaves={half},spines={half},p={half},h={half},g={g},links=none",
                g * ports,
                g * k,
                links,
                k,
                half,
                _missing(g, ports + 1),
            )


def _missing(groups: int, most: int) -> int:
    """Return 0 for all groups, 1 if each two are joined by one link, 2 if by several."""
    return 0 if groups == most else 1 if 2 * (groups - 1) > most - 1 else 2


def _aries(wanted: SizeLimits) -> Iterator[Member]:
    """Four hosts a router, as in the machines (Faanes et al.: Cray Cascade, SC 2012)."""
    routers, within = ROWS * COLUMNS, ROWS * comb(COLUMNS, 2) + 3 * COLUMNS * comb(ROWS, 2)
    for g in _around(wanted.hosts / (4 * routers), 1, MOST_GROUPS):
        most = routers * 5 // max(g - 1, 1)
        connections = most - most % ROWS if most >= ROWS else most
        blue = 2 * -(-connections * (g - 1) // routers)
        degree = COLUMNS - 1 + 3 * (ROWS - 1) + blue
        links = g * within + comb(g, 2) * connections * 2
        yield Member(f"g={g}", 4 * routers * g, routers * g, links, degree + 4, 4)


def _tori(wanted: SizeLimits) -> Iterator[Member]:
    """One host a router; sides equal, one apart, or twice as long; three dimensions first."""
    for dimensions in (2, 3, 4, 5, 6):
        side = max(int((wanted.low / 2**dimensions) ** (1 / dimensions)), 3)
        while side**dimensions <= wanted.high and side <= _LONGEST_SIDE:
            shapes = dict.fromkeys(
                (side,) * (dimensions - longer) + (length,) * longer
                for length in (side + 1, 2 * side)
                for longer in range(dimensions)
            )
            for shape in shapes:
                yield from _torus(shape, wanted)
            side += 1


def _torus(shape: tuple[int, ...], wanted: SizeLimits) -> Iterator[Member]:
    routers = prod(shape)
    if not wanted.low <= routers <= wanted.high:
        return
    links, ports = routers * len(shape), 2 * len(shape)
    # Low dimensions use more ports for parallel links, as on Gemini.
    most = max((wanted.radix - 1) // ports, 1) if len(shape) <= 3 else 1
    for several in dict.fromkeys((1, most)):
        parameters = joined(shape) + (f",multiplicity={several}" if several > 1 else "")
        yield Member(
            parameters,
            routers,
            routers,
            links * several,
            ports * several + 1,
            1,
            abs(len(shape) - 3) + several - 1,
        )


def _tofus(wanted: SizeLimits) -> Iterator[Member]:
    """One host a node (Ajima et al., CLUSTER 2018); units in a torus of nearly equal sides."""
    side = max(int((wanted.low / 12) ** (1 / 3)), 1)
    while 12 * side**3 <= wanted.high and side <= _LONGEST_SIDE:
        for longer in range(3):
            shape = (side + 1,) * longer + (side,) * (3 - longer)
            nodes = 12 * prod(shape)
            # Along 2 the ends are joined once, along 1 not at all; A, B and C have 4 links of 12.
            ports = sum(min(units - 1, 2) for units in shape)
            yield Member(
                joined(shape), nodes, nodes, nodes * (4 + ports) // 2, 4 + ports + 1, 1, longer
            )
        side += 1


def _hypercubes(wanted: SizeLimits) -> Iterator[Member]:
    """One host a router gives full bisection (Dally, Towles: Principles and Practices, 2004)."""
    for n in range(1, min(wanted.radix - 1, 22) + 1):
        yield Member(f"{n},hosts=1", 2**n, 2**n, n * 2 ** (n - 1), n + 1, 1)


def _hyperxes(wanted: SizeLimits) -> Iterator[Member]:
    """As many hosts as the shortest side has routers (Kim, Dally, Abts, ISCA 2007), or half.

    Half gives full bisection (Ahn et al.: HyperX, SC 2009).
    """
    for dimensions in (1, 2, 3, 4):
        for side in range(2, wanted.radix + 1):
            for longer in range(dimensions):
                shape = (side + 1,) * longer + (side,) * (dimensions - longer)
                degree, routers = sum(shape) - dimensions, prod(shape)
                for rank, hosts in enumerate(dict.fromkeys((side, -(-side // 2)))):
                    if degree + hosts > wanted.radix or routers * hosts > wanted.high:
                        continue
                    yield Member(
                        f"{joined(shape)},hosts={hosts}",
                        routers * hosts,
                        routers,
                        routers * degree // 2,
                        degree + hosts,
                        hosts,
                        rank + abs(dimensions - 2),
                    )


def _complete(wanted: SizeLimits) -> Iterator[Member]:
    """Half as many hosts as routers, for full bisection."""
    for n in range(2, wanted.radix + 1):
        hosts = max(n // 2, 1)
        yield Member(f"{n},hosts={hosts}", n * hosts, n, comb(n, 2), n - 1 + hosts, hosts)


def _stars(wanted: SizeLimits) -> Iterator[Member]:
    """As few hosts a router as the hub's ports allow, each router having one link to it."""
    for hosts in range(1, wanted.radix):
        n = max(round(wanted.hosts / hosts), 2)
        if n <= wanted.radix:
            yield Member(f"{n},hosts={hosts}", n * hosts, n + 1, n, max(n, hosts + 1), hosts)


def _several(balanced: int) -> range:
    """Return numbers of hosts of a router around the balanced one."""
    return range(max(ceil((1 - _SLACK) * balanced), 1), int((1 + _SLACK) * balanced) + 1)


def _slim_flies(wanted: SizeLimits) -> Iterator[Member]:
    """Half as many hosts as links (Besta, Hoefler, SC 2014, section II)."""
    for q in _prime_powers():
        degree = slim_fly_degree(q) if q > 2 else wanted.radix
        if degree >= wanted.radix:
            continue
        balanced = -(-degree // 2)
        for hosts in _several(balanced):
            yield Member(
                f"{q},hosts={hosts}",
                2 * q * q * hosts,
                2 * q * q,
                q * q * degree,
                degree + hosts,
                hosts,
                abs(hosts - balanced),
            )


def _polarflies(wanted: SizeLimits) -> Iterator[Member]:
    """Half as many hosts as links (Lakhotia et al., SC 2022)."""
    for q in _prime_powers():
        if q + 1 >= wanted.radix:
            continue
        routers, balanced = q * q + q + 1, -(-(q + 1) // 2)
        for hosts in _several(balanced):
            yield Member(
                f"{q},hosts={hosts}",
                routers * hosts,
                routers,
                q * (q + 1) ** 2 // 2,
                q + 1 + hosts,
                hosts,
                abs(hosts - balanced),
            )


def _spectralflies(wanted: SizeLimits) -> Iterator[Member]:
    """Half as many hosts as links, as in networks of diameter two."""
    for p, q, routers in _lps():
        if p + 1 >= wanted.radix or routers > wanted.high:
            continue
        balanced = (p + 1) // 2
        for hosts in _several(balanced):
            yield Member(
                f"{p},{q},hosts={hosts}",
                routers * hosts,
                routers,
                routers * (p + 1) // 2,
                p + 1 + hosts,
                hosts,
                abs(hosts - balanced),
            )


def _jellyfishes(wanted: SizeLimits) -> Iterator[Member]:
    """A third of the ports lead to hosts, as in the other networks; more links first."""
    for r in range(3, min(2 * wanted.radix // 3 + 1, _DIRECT_DEGREES) + 1):
        hosts = -(-r // 2)
        for n in _around(wanted.hosts / hosts, r + 1, wanted.high):
            if n * r % 2 == 0:
                yield Member(
                    f"{n},{r},hosts={hosts}",
                    n * hosts,
                    n,
                    n * r // 2,
                    r + hosts,
                    hosts,
                    _DIRECT_DEGREES - r,
                )


def _xpanders(wanted: SizeLimits) -> Iterator[Member]:
    """A third of the ports lead to hosts, as in the other networks; more links first."""
    for d in range(3, min(2 * wanted.radix // 3 + 1, _DIRECT_DEGREES) + 1):
        hosts = -(-d // 2)
        for lift in _around(wanted.hosts / (hosts * (d + 1)), 1, wanted.high):
            routers = (d + 1) * lift
            yield Member(
                f"{d},{lift},hosts={hosts}",
                routers * hosts,
                routers,
                routers * d // 2,
                d + hosts,
                hosts,
                _DIRECT_DEGREES - d,
            )


def _hammingmeshes(wanted: SizeLimits) -> Iterator[Member]:
    """Boards of 2x2 or 4x4 accelerators of one host, switches up to 64 ports (Hoefler, SC 2022)."""
    radix = min(wanted.radix - wanted.radix % 2, 64)
    if radix < 6:
        return
    for rank, side in enumerate((2, 4)):
        along = round((wanted.hosts / side**2) ** 0.5)
        for x in range(max(along - 1, 2), along + 2):
            for y in _around(wanted.hosts / (side**2 * max(x, 1)), 2, x + 1):
                if 4 * max(x, y) > radix * radix:
                    continue
                lines = side * y, side * x
                links = 2 * side * (side - 1) * x * y
                switches = ports = 0
                for count, boards in zip(lines, (x, y), strict=True):
                    leaves, spines = line_switches(boards, radix)
                    switches += count * (leaves + spines)
                    links += count * (2 * boards + (leaves * (radix // 2) if spines else 0))
                    ports = max(ports, radix if spines else 2 * boards)
                hosts = side**2 * x * y
                yield Member(
                    f"{side},{side},{x},{y},radix={radix}",
                    hosts,
                    hosts + switches,
                    links,
                    max(ports, 5),
                    1,
                    rank,
                )


@lru_cache(maxsize=1)
def _prime_powers() -> tuple[int, ...]:
    return tuple(q for q in range(2, LARGEST_ORDER + 1) if prime_power(q))


@lru_cache(maxsize=1)
def _lps() -> tuple[tuple[int, int, int], ...]:
    primes = [number for number in range(3, LARGEST_PRIME + 1) if is_odd_prime(number)]
    return tuple(
        (p, q, spectralfly_routers(p, q))
        for p in primes
        for q in primes
        if p != q and q * q > 4 * p
    )


MEMBERS: Mapping[str, Callable[[SizeLimits], Iterator[Member]]] = MappingProxyType(
    {
        "fat-tree": _fat_trees,
        "dragonfly": _dragonflies,
        "slim-fly": _slim_flies,
        "torus": _tori,
        "tofu-d": _tofus,
        "hyperx": _hyperxes,
        "dragonfly-plus": _dragonfly_pluses,
        "polarfly": _polarflies,
        "spectralfly": _spectralflies,
        "jellyfish": _jellyfishes,
        "xpander": _xpanders,
        "hammingmesh": _hammingmeshes,
        "xgft": _trees,
        "aries": _aries,
        "hypercube": _hypercubes,
        "fully-connected": _complete,
        "star": _stars,
    }
)
"""Members of each family by its name, the better known first; some may not fit what is wanted."""
