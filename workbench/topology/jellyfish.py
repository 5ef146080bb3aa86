"""Jellyfish: random regular graphs of routers.

Singla, Hong, Popa, Godfrey: Jellyfish: Networking Data Centers Randomly, NSDI 2012. There links
are added one by one and broken up where no more fit; here all are drawn at once and those that
clash are exchanged, which is nearer to a uniform draw (McKay, Wormald: Uniform Generation of Random
Regular Graphs of Moderate Degree, J. Algorithms 11, 1990).
"""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from workbench.errors import ParameterError
from workbench.topology.generator_checks import balanced, hosts_suffix, is_connected, refuse_larger
from workbench.topology.topology import TERMINAL, Topology, whole

CLASSES = (TERMINAL, "link")
"""Of hosts, and between routers."""

# For a connected graph, which the first draw of 360 was each time, and for ends to exchange: of 80
# dense graphs 10 draws leave 55 stuck, 100 none.
_TRIES = 1000


def jellyfish(n: int, r: int, *, hosts: int | None = None, seed: int = 1) -> Topology:
    """Return a Jellyfish: n routers with r links each to routers drawn at random, connected.

    The same arguments give the same network. There are no groups and no coordinates.

    Args:
        n: routers.
        r: links of each router to others; n·r must be even.
        hosts: hosts of each router; None takes half of its links, rounded up.
        seed: of the random draw, at least 0.

    Raises:
        ParameterError: there is no such network, or it is too large.
    """
    n = whole("n", n, 2, "the routers of a Jellyfish")
    r = whole("r", r, 1, "the links of a router")
    seed = whole("seed", seed, 0, "the seed of the random draw")
    if r >= n or (r == 1 and n > 2):
        raise ParameterError(
            f"r of a connected Jellyfish with n={n} routers must be {min(2, n - 1)} to {n - 1}; "
            f"got {r}: take {max(min(r, n - 1), min(2, n - 1))}",
            key="r",
        )
    if n * r % 2:
        near = f"n={n - 1}" if r < n - 1 else f"r={r - 1}"
        raise ParameterError(
            f"n·r of a Jellyfish must be even, as each link has two ends; got n={n}, r={r}: take "
            f"{near} or n={n + 1}",
            key="n",
        )
    each = balanced(hosts, r)
    refuse_larger("Jellyfish", "n", hosts=n * each, links=n * r // 2)
    links = _random_regular(n, r, np.random.default_rng(seed))
    return Topology(
        name=f"Jellyfish, n={n}, r={r}{hosts_suffix(each)}, seed {seed}",
        num_routers=n,
        links=links.astype(np.int32),
        link_class=np.ones(len(links), np.uint8),
        classes=CLASSES,
        host_router=np.repeat(np.arange(n, dtype=np.int32), each),
        group=np.full(n, -1, np.int32),
        parameters={"n": n, "r": r, "hosts": each, "seed": seed},
        family="jellyfish",
    )


def _random_regular(n: int, r: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the links of a connected random regular graph, smaller end first and in order."""
    if r == 2:
        # Most graphs of rings are several; one ring through all is drawn at once.
        order = rng.permutation(n)
        return _sorted(np.column_stack((order, np.roll(order, 1)))[: n if n > 2 else 1])
    for _ in range(_TRIES):
        # A dense graph is what a sparse one leaves out, which is drawn without many clashes.
        if 2 * r >= n:
            left_out = _draw(n, n - 1 - r, rng)
            joined = ~np.eye(n, dtype=bool)
            joined[left_out[:, 0], left_out[:, 1]] = joined[left_out[:, 1], left_out[:, 0]] = False
            links = np.argwhere(np.triu(joined))
        else:
            links = _sorted(_draw(n, r, rng))
        if is_connected(n, links):
            return links
    raise ArithmeticError(f"no connected graph of {n} routers with {r} links in {_TRIES} draws")


def _sorted(links: NDArray[np.int64]) -> NDArray[np.int64]:
    ends = np.sort(links, axis=1)
    return ends[np.lexsort(ends.T[::-1])]


def _draw(n: int, r: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the links of a random graph in which every router has r links to different others."""
    while True:
        links = rng.permutation(np.repeat(np.arange(n), r)).reshape(-1, 2)
        if _exchange(links, n, rng):
            return links


def _exchange(links: NDArray[np.int64], n: int, rng: np.random.Generator) -> bool:
    """Exchange the ends of links to itself or between routers already joined; False if stuck."""
    codes = links.min(axis=1) * n + links.max(axis=1)
    order = np.argsort(codes, kind="stable")
    drawn = codes[order]
    repeated = order[1:][drawn[1:] == drawn[:-1]]
    loops = np.flatnonzero(links[:, 0] == links[:, 1])
    clashing = np.unique(np.concatenate((repeated, loops))).tolist()
    changed: Counter[int] = Counter()

    def code(one: int, other: int) -> int:
        return min(one, other) * n + max(one, other)

    def standing(link: int) -> int:
        ends = np.searchsorted(drawn, (link, link + 1))
        return int(ends[1] - ends[0]) + changed[link]

    for place in clashing:
        for _ in range(_TRIES):
            u, v = (int(end) for end in links[place])
            if u != v and standing(code(u, v)) == 1:
                break
            other = int(rng.integers(len(links)))
            x, y = (int(end) for end in rng.permutation(links[other]))
            new = code(u, x), code(v, y)
            if u == x or v == y or new[0] == new[1] or any(map(standing, new)):
                continue
            changed.subtract((code(u, v), code(x, y)))
            changed.update(new)
            links[place], links[other] = (u, x), (v, y)
            break
        else:
            return False
    return True
