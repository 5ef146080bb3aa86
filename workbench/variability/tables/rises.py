"""What a cumulative counter rose by from one reading to the next, over wraps and resets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import FloatArray

WIDTHS = (32, 48, 64)
"""Bits of counters that wrap: of network cards and kernels 32 or 64, of Aries routers 48."""

_LEAST_RISES = 3  # from which it is known how much a counter rises by
_MOST_TIMES = 16.0  # a rise over a wrap may be as many times the greatest other rise
_SHARE_OF_WIDTH = 1 / 64  # and where that is not known, this share of the counter's range


@dataclass(frozen=True)
class Rises:
    """Rises of a counter between readings."""

    values: FloatArray  # one fewer than readings; nan where a reading is missing or it was reset
    wraps: int  # falls that were taken for a wrap, and repaired
    resets: int  # falls that were taken for a reset
    bits: int  # of the counter, 0 where it never wrapped


def rises_of(
    readings: NDArray[np.uint64],  # in order of time
    known: NDArray[np.bool_] | None = None,  # whether there is a reading; None where all are
    bits: int = 0,  # of the counter; 0 finds out
) -> Rises:
    """Return the rise from each reading to the next one; a counter falls for one of two reasons.

    It wrapped if the rise over 2^32, 2^48 or 2^64, the first that is above all readings, is like
    its other rises; then the rise is exact. Otherwise something reset it: how much it had risen
    before is not known. Two wraps between readings cannot be seen. Where ``bits`` is given each
    fall is a wrap.
    """
    known = np.ones(len(readings), bool) if known is None else known
    values = np.full(max(len(readings) - 1, 0), np.nan)
    both = known[1:] & known[:-1]
    before, after = readings[:-1], readings[1:]
    falls = both & (after < before)
    rising = both & ~falls
    # Differences of unsigned numbers are exact; as floats only beyond 2^53 they are rounded.
    values[rising] = (after[rising] - before[rising]).astype(np.float64)
    if not falls.any():
        return Rises(values, 0, 0, 0)
    width = bits or _width(readings[known])
    modulus_less_one = np.uint64(2**width - 1)
    over = (after[falls] + (modulus_less_one - before[falls]) + np.uint64(1)) & modulus_less_one
    wrapped = np.ones(len(over), bool)
    if not bits:
        typical = values[rising]
        most = _SHARE_OF_WIDTH * 2.0**width
        if len(typical) >= _LEAST_RISES and typical.max() > 0:
            most = min(most, _MOST_TIMES * float(typical.max()))
        wrapped = over.astype(np.float64) <= most
    repaired = np.full(len(over), np.nan)
    repaired[wrapped] = over[wrapped].astype(np.float64)
    values[falls] = repaired
    count = int(wrapped.sum())
    return Rises(values, count, len(over) - count, width if count else 0)


def _width(readings: NDArray[np.uint64]) -> int:
    """Return the first of the widths whose range holds all readings."""
    greatest = int(readings.max())
    return next(width for width in WIDTHS if greatest < 2**width)
