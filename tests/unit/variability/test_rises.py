"""What a cumulative counter rose by: exact over wraps, missing over resets."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given, strategies as st

from tests.cases import for_each
from workbench.variability.tables.rises import WIDTHS, rises_of


@given(
    st.sampled_from(WIDTHS),
    st.lists(st.integers(0, 1000), min_size=4, max_size=12),
    st.integers(0, 11),
)
def test_a_wrap_is_repaired_exactly(width: int, rises: list[int], wrap_at: int) -> None:
    at = wrap_at % len(rises)
    assume(rises[at] > 0)  # the counter passes 2^width within it
    start = 2**width - sum(rises[:at]) - (rises[at] + 1) // 2
    total = [start + sum(rises[:k]) for k in range(len(rises) + 1)]
    readings = np.array([reading % 2**width for reading in total], np.uint64)
    found = rises_of(readings, bits=width)
    assert found.values.tolist() == rises
    assert (found.wraps, found.resets) == (1, 0)
    guessed = rises_of(readings)
    others = rises[:at] + rises[at + 1 :]
    if max(others) * 16 >= rises[at]:  # like the other rises
        assert guessed.values.tolist() == rises
        assert guessed.bits == width


@given(st.lists(st.integers(1, 1000), min_size=4, max_size=12), st.integers(1, 11))
def test_a_reset_leaves_one_rise_missing(rises: list[int], reset_at: int) -> None:
    at = 1 + reset_at % (len(rises) - 1)
    before = 5_000_000 + np.cumsum([0, *rises[:at]])
    after = np.cumsum(rises[at:])
    found = rises_of(np.concatenate([before, after]).astype(np.uint64))
    assert np.isnan(found.values[at])
    np.testing.assert_array_equal(found.values[:at], rises[:at])
    np.testing.assert_array_equal(found.values[at + 1 :], rises[at + 1 :])
    assert (found.wraps, found.resets, found.bits) == (0, 1, 0)


def test_a_counter_of_64_bits_is_not_rounded() -> None:
    readings = np.array([2**63, 2**63 + 1, 2**64 - 1, 4], np.uint64)
    # 2^63 - 2 is rounded to 2^63 as a float; the wrap from 2^64 - 1 to 4 is 5.
    np.testing.assert_array_equal(rises_of(readings, bits=64).values, [1, 2.0**63, 5])


def test_missing_readings_have_no_rise() -> None:
    readings = np.array([10, 0, 30, 35, 50], np.uint64)
    known = np.array([True, False, True, True, True])
    np.testing.assert_array_equal(rises_of(readings, known).values, [np.nan, np.nan, 5, 15])


@for_each("readings, wraps", [([2**32 - 5, 10], 1), ([1000, 10], 0), ([7], 0)])
def test_a_short_series_is_judged_by_the_range(readings: list[int], wraps: int) -> None:
    found = rises_of(np.array(readings, np.uint64))
    assert len(found.values) == len(readings) - 1
    assert found.wraps == wraps
