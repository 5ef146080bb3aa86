"""Checks and conversions of parameters that the generators of topologies share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from workbench.errors import ParameterError
from workbench.topology.topology import whole

LARGEST = 2**22
"""Most hosts, most routers and most links of a topology that is made."""

LONGEST_NUMBER = 12
"""Digits of a whole number in a text: no limit has more than ten, and int() refuses 4301."""

_MOST_SIZES = 32  # chosen: 22 sizes of 2 reach ``LARGEST``


def wholes(name: str, values: object, least: int, meaning: str) -> tuple[int, ...]:
    """Return a topology's parameter of one or more whole numbers of at least ``least``."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        values = (values,)
    numbers = tuple(whole(name, value, least, meaning) for value in values)
    if not 1 <= len(numbers) <= _MOST_SIZES:
        raise ParameterError(
            f"{name}, {meaning}, must be 1 to {_MOST_SIZES} numbers; got {len(numbers)}", key=name
        )
    return numbers


def one_each(name: str, values: int | Sequence[int] | None, count: int, of: str) -> tuple[int, ...]:
    """Return ``count`` numbers, such as links of each dimension; one stands for all, None for 1."""
    numbers = wholes(name, 1 if values is None else values, 1, f"a number for each of the {of}")
    if len(numbers) == 1:
        return numbers * count
    if len(numbers) != count:
        raise ParameterError(
            f"{name} must be one number, or one for each of {count} {of}; got {len(numbers)}",
            key=name,
        )
    return numbers


def refuse_larger(family: str, key: str, **counts: int) -> None:
    """Refuse a topology with more hosts, routers or links than ``LARGEST``."""
    for what, count in counts.items():
        if count > LARGEST:
            # Only its size, as the number of 2^(10^9) routers has too many digits to print.
            size = str(count) if count < 10**15 else f"over 10^{(count.bit_length() - 1) * 3 // 10}"
            raise ParameterError(
                f"a {family} must have at most {LARGEST} {what}; this one would have {size}: "
                f"lower {key}",
                key=key,
            )


def joined(numbers: Iterable[int]) -> str:
    """Return numbers as in a topology's spec, ``8x8x8``."""
    return "x".join(map(str, numbers))


def hosts_suffix(hosts: int) -> str:
    """Return the end of a topology's name: the hosts of a router, empty for one."""
    return f", {hosts} hosts a router" if hosts > 1 else ""


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
