"""SpectralFly: Ramanujan graphs, whose second eigenvalue is as small as that of any large graph.

Young, Aksoy, Firoz, Gioiosa, Hagge, Kempton, Escobedo, Raugas: SpectralFly: Ramanujan Graphs as
Flexible and Efficient Interconnection Networks, IPDPS 2022. The graphs are those of Lubotzky,
Phillips, Sarnak: Ramanujan Graphs, Combinatorica 8, 1988; for p = 3 mod 4 as in Davidoff, Sarnak,
Valette: Elementary Number Theory, Group Theory and Ramanujan Graphs, 2003, chapter 4.
"""

from __future__ import annotations

from itertools import product
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from workbench.errors import ParameterError
from workbench.topology.generator_checks import (
    balanced,
    hosts_suffix,
    is_odd_prime,
    nearest,
    refuse_larger,
)
from workbench.topology.topology import TERMINAL, Topology, whole

CLASSES = (TERMINAL, "link")
"""Of hosts, and between routers."""

LARGEST_PRIME = 251
"""Largest p and q; a larger q alone would have too many links."""


def spectralfly(p: int, q: int, *, hosts: int | None = None) -> Topology:
    """Return a SpectralFly: the LPS graph X^(p,q), in which each router has p + 1 links.

    Routers are invertible 2 by 2 matrices over the integers mod q, up to a factor: all q³ - q of
    them where p is no square mod q, which gives a bipartite graph, and the half whose determinant
    is a square where it is one. A router is joined to its products with p + 1 matrices, one for
    each way to write p as a sum of four squares that counts. The eigenvalues but the largest, and
    its negative, are at most 2√p.

    Routers are numbered by their matrix, in which the first entry that is not 0 is 1; its four
    entries are the coordinates. There are no groups.

    Args:
        p: an odd prime, one less than a router's links.
        q: another one, above 2√p, so that no two of the products are the same router.
        hosts: hosts of each router; None takes half of its links, rounded up.

    Raises:
        ParameterError: p or q is no such prime, or the network is too large.
    """
    p = whole("p", p, 1, "the links of a router less one")
    q = whole("q", q, 1, "the integers mod which a SpectralFly's matrices are")
    for key, value in (("p", p), ("q", q)):
        if not is_odd_prime(value) or value > LARGEST_PRIME:
            raise ParameterError(
                f"{key} of a SpectralFly must be an odd prime, at most {LARGEST_PRIME}; got "
                f"{value}: take {nearest(value, is_odd_prime, 3, LARGEST_PRIME)}",
                key=key,
            )
    if q == p or q * q <= 4 * p:
        near = nearest(q, lambda n: is_odd_prime(n) and n != p and n * n > 4 * p, 3, LARGEST_PRIME)
        raise ParameterError(
            f"q of a SpectralFly must be another prime than p and above 2√p = {2 * p**0.5:.1f}; "
            f"got p={p}, q={q}: take q={near}",
            key="q",
        )
    routers = spectralfly_routers(p, q)
    each = balanced(hosts, p + 1)
    refuse_larger("SpectralFly", "q", hosts=routers * each, links=routers * (p + 1) // 2)
    matrices = _matrices(q, whole_group=not is_square(p, q))
    place = np.full(q**3 + q * q, -1, np.int64)
    place[_code(matrices, q)] = np.arange(routers)
    blocks = []
    for generator in _generators(p, q):
        here = matrices.reshape(-1, 2, 2)
        there = place[_code(_normalised((here @ generator % q).reshape(-1, 4), q), q)]
        blocks.append(np.column_stack((np.arange(routers), there)))
    both_ways = np.concatenate(blocks)
    links = both_ways[both_ways[:, 0] < both_ways[:, 1]]
    return Topology(
        name=f"SpectralFly, p={p}, q={q}{hosts_suffix(each)}",
        num_routers=routers,
        links=links[np.lexsort(links.T[::-1])].astype(np.int32),
        link_class=np.ones(len(links), np.uint8),
        classes=CLASSES,
        host_router=np.repeat(np.arange(routers, dtype=np.int32), each),
        group=np.full(routers, -1, np.int32),
        parameters={"p": p, "q": q, "hosts": each},
        family="spectralfly",
        coordinates=matrices.astype(np.int32),
    )


def spectralfly_routers(p: int, q: int) -> int:
    """Return the number of routers: q³ - q, or half of it if p is a square mod q."""
    return (q**3 - q) // (2 if is_square(p, q) else 1)


def is_square(number: int, q: int) -> bool:
    """Return whether a number, no multiple of q, is a square mod q (Euler's criterion)."""
    return pow(number, (q - 1) // 2, q) == 1


def four_squares(p: int) -> list[tuple[int, int, int, int]]:
    """Return the p + 1 ways to write a prime as a sum of four squares that give an LPS graph.

    For p = 1 mod 4 the first number is odd and positive. For p = 3 mod 4 it is even, and positive
    or 0 with a positive second.
    """
    parity = p % 4 == 1
    limit = isqrt(p)
    found = []
    for a0, a1, a2 in product(range(limit + 1), *[range(-limit, limit + 1)] * 2):
        rest = p - a0 * a0 - a1 * a1 - a2 * a2
        if rest < 0 or a0 % 2 != parity or (a0 == 0 and a1 <= 0):
            continue
        a3 = isqrt(rest)
        if a3 * a3 == rest:
            found += [(a0, a1, a2, sign) for sign in sorted({-a3, a3})]
    return found


def _generators(p: int, q: int) -> NDArray[np.int64]:
    """Return the matrices that a router's neighbours are its products with, int64[p + 1, 2, 2]."""
    # x² + y² + 1 = 0 mod q has solutions for every prime q.
    x, y = next((x, y) for x, y in product(range(q), repeat=2) if (x * x + y * y + 1) % q == 0)
    a, b, c, d = np.array(four_squares(p)).T
    rows = [a + b * x + d * y, -b * y + c + d * x, -b * y - c + d * x, a - b * x - d * y]
    return np.stack(rows, axis=1).reshape(-1, 2, 2) % q


def _matrices(q: int, *, whole_group: bool) -> NDArray[np.int64]:
    """Return the matrices that are routers, first entry that is not 0 being 1, int64[n, 4]."""
    b, c, d = (axis.ravel() for axis in np.indices((q, q, q)))
    one = np.column_stack((np.ones_like(b), b, c, d))
    c, d = (axis.ravel() for axis in np.indices((q, q)))
    other = np.column_stack((np.zeros_like(c), np.ones_like(c), c, d))
    every = np.concatenate((one, other))
    determinant = (every[:, 0] * every[:, 3] - every[:, 1] * every[:, 2]) % q
    kept = np.zeros(q, bool)
    kept[1:] = True if whole_group else [is_square(value, q) for value in range(1, q)]
    chosen: NDArray[np.int64] = every[kept[determinant]].astype(np.int64)
    return chosen


def _normalised(matrices: NDArray[np.int64], q: int) -> NDArray[np.int64]:
    """Return matrices divided by their first entry that is not 0, mod q."""
    inverse = np.array([0] + [pow(value, -1, q) for value in range(1, q)])
    leading = np.where(matrices[:, 0] != 0, matrices[:, 0], matrices[:, 1])
    divided: NDArray[np.int64] = matrices * inverse[leading][:, None] % q
    return divided


def _code(matrices: NDArray[np.int64], q: int) -> NDArray[np.int64]:
    """Return a unique number for each matrix whose first nonzero entry is 1, int64[n]."""
    a, b, c, d = matrices.T
    code: NDArray[np.int64] = np.where(a == 1, (b * q + c) * q + d, q**3 + c * q + d)
    return code
