"""The kernels of the space-time diagram against plain Python."""

from __future__ import annotations

import numpy as np
import pytest

from kernels import spacetime as kernel


def bars(rng: np.random.Generator, rows: int, n: int) -> tuple[np.ndarray, ...]:
    """Return row_start, begin, end and kind of random bars, sorted by row and begin."""
    row = np.sort(rng.integers(0, rows, n))
    begin = rng.integers(0, 1000, n)
    order = np.lexsort([begin, row])
    begin = begin[order]
    row_start = np.searchsorted(row, np.arange(rows + 1))
    return row_start, begin, begin + rng.integers(1, 120, n), rng.integers(0, 3, n).astype(np.uint8)


@pytest.mark.parametrize("seed", range(20))
def test_a_window_and_its_picture_equal_what_plain_loops_find(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, pixels = 4, 13
    row_start, begin, end, kind = bars(rng, rows, 70)
    latest = np.empty_like(end)
    kernel.running_latest(end, row_start, latest)
    start, stop = np.sort(rng.choice(1100, 2, replace=False))
    low, high = np.empty(rows, np.int64), np.empty(rows, np.int64)
    kernel.window(begin, latest, row_start, 0, start, stop, low, high)
    widest = np.zeros(-(-len(begin) // kernel.BLOCK), np.int64)
    kernel.widest_in_blocks(begin, end, widest)
    least = int(rng.integers(1, 60))
    busy = np.zeros((2, pixels, 3), np.float32)
    kernel.raster(begin, end, kind, low, high, 2, start, stop, least, busy)
    found, row = np.empty(70, np.int64), np.empty(70, np.int64)
    count = kernel.wide_bars(begin, end, widest, low, high, start, stop, least, found, row)

    wanted, painted = [], np.zeros((2, pixels, 3))
    edges = np.linspace(start, stop, pixels + 1)
    for at in range(70):
        shown = min(end[at], stop) - max(begin[at], start)
        if shown >= least:
            wanted.append(at)
        elif shown > 0:
            owner = int(np.searchsorted(row_start, at, side="right")) - 1
            left = np.maximum(edges[:-1], begin[at])
            right = np.minimum(edges[1:], end[at])
            share = np.maximum(right - left, 0) / (edges[1] - edges[0])
            painted[owner // 2, :, kind[at]] += share
    assert found[:count].tolist() == wanted
    np.testing.assert_allclose(busy, painted, atol=1e-4)  # float32 sums of shares of a pixel


def test_rows_are_sorted_stably_and_those_in_order_left() -> None:
    begin = np.array([5, 1, 1, 9, 2, 4])
    order = np.array([0, 1, 2, 5, 3, 4], np.int32)
    kernel.sort_rows(order, begin, np.array([0, 3, 3, 6]))
    assert order.tolist() == [1, 2, 0, 4, 5, 3]


def test_the_histogram_counts_bars_of_at_least_a_pixel() -> None:
    begin, end = np.array([0, 10, 30, 90]), np.array([4, 25, 80, 200])
    widest = np.array([110])
    widths = np.zeros(kernel.WIDTHS, np.int64)
    low, high = np.array([0]), np.array([4])
    kernel.count_widths(begin, end, widest, low, high, 0, 100, 0.1, widths)
    assert {int(w): int(widths[w]) for w in np.flatnonzero(widths)} == {1: 2, 5: 1}


def test_a_full_list_is_not_overrun() -> None:
    begin, end = np.arange(10) * 10, np.arange(10) * 10 + 9
    widest = np.array([9])
    found, row = np.empty(3, np.int64), np.empty(3, np.int64)
    low, high = np.array([0]), np.array([10])
    assert kernel.wide_bars(begin, end, widest, low, high, 0, 100, 1, found, row) == 3
