"""What generators of topologies ask of their parameters, and the words they refuse them with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from workbench.errors import ParameterError
from workbench.topology.topology import whole

LARGEST = 2**22
"""Most hosts, most routers and most links of a topology that is made."""

_MOST_SIZES = 32


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


def hosts_words(hosts: int) -> str:
    """Return the end of a topology's name: the hosts of a router, empty for one."""
    return f", {hosts} hosts a router" if hosts > 1 else ""
