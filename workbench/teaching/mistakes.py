"""Mistakes that many exercises share: of unit, of direction, of form."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from workbench.teaching.exercise import Given, Mistake

# How many of each unit are one of the first.
_FAMILIES: tuple[Mapping[str, float], ...] = (
    MappingProxyType({"s": 1.0, "ms": 1e3, "µs": 1e6, "ns": 1e9}),
    MappingProxyType({"GB/s": 1.0, "MB/s": 1e3, "B/s": 1e9}),
    MappingProxyType({"Gb/s": 1.0, "Mb/s": 1e3, "b/s": 1e9}),
    MappingProxyType({"GiB": 1.0, "MiB": 1024.0, "KiB": 1024.0**2, "B": 1024.0**3}),
)


def unit_off(unit: str) -> Mistake:
    """Return the mistake of an answer in another unit of the same family, such as ms for µs."""
    family = next(family for family in _FAMILIES if unit in family)
    factors = [other / family[unit] for name, other in family.items() if name != unit]
    return Mistake(
        "unit",
        f"The digits look right, the unit does not: the answer is asked in {unit}.",
        lambda right, given: [right * factor for factor in factors],
    )


def share_for_percent() -> Mistake:
    """Return the mistake of a share from 0 to 1 where percent are asked."""
    return Mistake(
        "share for percent",
        "That is a share of 1; the answer is asked in percent.",
        lambda right, given: [right / 100],
    )


def round_trip(hint: str) -> Mistake:
    """Return the mistake of both directions for one; the hint fits the question."""
    return Mistake("round trip", hint, lambda right, given: [2 * right])


def one_way(hint: str) -> Mistake:
    """Return the mistake of one direction for both; the hint fits the question."""
    return Mistake("one way", hint, lambda right, given: [right / 2])


def bits_for_bytes() -> Mistake:
    """Return the mistake of bits where bytes are asked, and the other way round."""
    return Mistake(
        "bits and bytes",
        "Look at what is counted: b is a bit and B a byte.",
        lambda right, given: [right * 8, right / 8],
    )


def decimal_prefix() -> Mistake:
    """Return the mistake of kB for KiB, for an exercise whose tolerance is below 1 %."""
    return Mistake(
        "kB for KiB",
        "Near: a KiB is 1024 bytes, a kB is 1000.",
        lambda right, given: [right * 1.024],
    )


def reciprocal(hint: str) -> Mistake:
    """Return the mistake of one over the right answer; the hint fits the question."""

    def wrong(right: Any, given: Given) -> list[Any]:
        return [1 / right] if right else []

    return Mistake("reciprocal", hint, wrong)
