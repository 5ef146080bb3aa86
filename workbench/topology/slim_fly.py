"""Slim Fly: the MMS graphs, of diameter two and nearly as many routers as that allows.

Besta, Hoefler: Slim Fly: A Cost Effective Low-Diameter Network Topology, SC 2014. The graphs are
those of McKay, Miller, Širáň: A Note on Large Graphs of Diameter Two and Given Maximum Degree,
JCTB 74, 1998, in the form of Hafner: Geometric Realisation of the Graphs of McKay-Miller-Širáň,
JCTB 90, 2004, which gives the generating sets for all three kinds of prime powers.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from workbench.errors import ParameterError
from workbench.topology.galois import LARGEST_ORDER, GaloisField, galois_field, prime_power
from workbench.topology.generator_checks import balanced, hosts_suffix, nearest, refuse_larger
from workbench.topology.topology import TERMINAL, Topology, whole

CLASSES = (TERMINAL, "intra-group", "inter-group")
"""Of hosts, between routers of a rack, and between racks."""


def slim_fly(q: int, *, hosts: int | None = None) -> Topology:
    """Return a Slim Fly of 2q² routers with (3q - d)/2 links each, for q = 4w + d, d = -1, 0, 1.

    Routers are (0, x, y) and (1, m, c) for x, y, m, c of the field of q elements. (0, x, y) is
    joined to (0, x, y') where y - y' is in a set X, (1, m, c) to (1, m, c') where c - c' is in a
    set X', and (0, x, y) to (1, m, c) where y = m·x + c. Its second largest eigenvalue is q less
    than its degree. Routers are numbered in the order of these triples, which are the coordinates.
    A group, a rack as in the paper's section VI, is all routers with one x and with the m that
    is the same element; every two are joined by 2q links.

    Args:
        q: a prime power of at least 3.
        hosts: hosts of each router; None takes half of its links, rounded up, for full throughput
            (section II).

    Raises:
        ParameterError: q is no such prime power, or the network is too large.
    """
    q = whole("q", q, 1, "the elements of the field of a Slim Fly")
    if not (q <= LARGEST_ORDER and _fits(q)):
        raise ParameterError(
            f"q of a Slim Fly must be a prime power from 3 to {LARGEST_ORDER}; got {q}: take "
            f"{nearest(q, _fits, 3, LARGEST_ORDER)}",
            key="q",
        )
    degree = slim_fly_degree(q)
    each = balanced(hosts, degree)
    refuse_larger("Slim Fly", "q", hosts=2 * q * q * each, links=q * q * degree)
    field = galois_field(q)
    within = _within(field)
    x, m, y = (axis.ravel() for axis in np.indices((q, q, q)))
    c = field.sum_of[y, field.negative[field.product_of[m, x]]]
    across = np.column_stack((x * q + y, q * q + m * q + c))
    same_rack = x == m
    links = np.concatenate((within, across[same_rack], across[~same_rack])).astype(np.int32)
    local = len(within) + q * q
    return Topology(
        name=f"Slim Fly, q={q}{hosts_suffix(each)}",
        num_routers=2 * q * q,
        links=links,
        link_class=np.repeat(np.array([1, 2], np.uint8), (local, len(links) - local)),
        classes=CLASSES,
        host_router=np.repeat(np.arange(2 * q * q, dtype=np.int32), each),
        group=np.tile(np.repeat(np.arange(q, dtype=np.int32), q), 2),
        parameters={"q": q, "hosts": each},
        family="slim-fly",
        coordinates=np.indices((2, q, q), np.int32).reshape(3, -1).T,
    )


def slim_fly_degree(q: int) -> int:
    """Return the links of each router of a Slim Fly to others, (3q - d)/2 with q = 4w + d."""
    return (3 * q - {0: 0, 1: 1, 3: -1}[q % 4]) // 2


def _fits(q: int) -> bool:
    return q > 2 and prime_power(q) is not None


def generating_sets(field: GaloisField) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return X and X', the sets of differences of joined routers (Hafner 2004)."""
    q, powers = field.order, field.powers
    kind = q % 4
    if kind == 3:
        w = (q + 1) // 4
        even, odd = np.arange(0, 2 * w, 2), np.arange(2 * w - 1, 4 * w - 2, 2)
        exponents = np.concatenate((even, odd))
        return powers[exponents], powers[(exponents + 1) % (q - 1)]
    # For even q there are q - 1 powers, an odd number, so that 1 is in both sets.
    even = np.arange(0, q - 1, 2)
    return powers[even], powers[(even + 1) % (q - 1)]


def _within(field: GaloisField) -> NDArray[np.int64]:
    """Return the links between routers with the same x or the same m."""
    q = field.order
    y = np.arange(q)
    blocks: list[NDArray[np.int64]] = []
    for side, differences in enumerate(generating_sets(field)):
        there = field.sum_of[y[:, None], differences[None, :]].astype(np.int64).ravel()
        pairs = np.column_stack((np.repeat(y, len(differences)), there))
        # The sets hold the negative of each element, so every link turns up from both ends.
        pairs = pairs[pairs[:, 0] < pairs[:, 1]]
        first = side * q * q + np.arange(q)[:, None, None] * q
        blocks.append((pairs[None] + first).reshape(-1, 2))
    return np.concatenate(blocks)
