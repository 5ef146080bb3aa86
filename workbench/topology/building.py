"""What the generators of several families need: neighbours that fit, hosts in balance, chance."""

from __future__ import annotations

from collections.abc import Callable
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from workbench.topology.topology import whole


def nearest(value: int, fits: Callable[[int], bool], least: int, most: int) -> str:
    """Return the nearest number below and above that fits, as text: ``7 or 9``, or ``none``."""
    below = next(filter(fits, range(min(value, most), least - 1, -1)), None)
    above = next(filter(fits, range(max(value, least), most + 1)), None)
    found = dict.fromkeys(str(number) for number in (below, above) if number is not None)
    return " or ".join(found) or "none"


def is_prime(number: int) -> bool:
    """Return whether a whole number, below about 10^10, is a prime, by trial division."""
    return number > 1 and all(number % divisor for divisor in range(2, isqrt(number) + 1))


def is_odd_prime(number: int) -> bool:
    """Return whether a whole number, below about 10^10, is a prime and not 2."""
    return number > 2 and is_prime(number)


def balanced(hosts: int | None, degree: int) -> int:
    """Return the hosts of each router: those given, or half of its links, rounded up.

    With a mean route of about two links a router's hosts then fill its links when all send at once
    (Besta, Hoefler: Slim Fly, SC 2014, section II).
    """
    if hosts is None:
        return -(-degree // 2)
    return whole("hosts", hosts, 1, "the hosts of a router")


def is_connected(routers: int, links: NDArray[np.integer]) -> bool:
    """Return whether there is a route between all routers, for links int[links, 2]."""
    # Here, as loading it takes longer than all else of this package.
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    ends = (np.ones(len(links), np.int8), (links[:, 0], links[:, 1]))
    return bool(connected_components(coo_array(ends, (routers, routers)), directed=False)[0] == 1)
