"""The part of a timeline in a window, merged where operations are below a pixel.

Bars are intervals of a row, sorted by row and begin; messages are lines between two rows, sorted
by their begin. Times are int64 picoseconds. Nothing here is checked.
"""

from __future__ import annotations

import numpy as np

from kernels import helper, kernel

WIDTHS = 4096
"""Length of the histograms of pixel widths; the last place holds all that are wider."""

BLOCK = 32
"""Bars that are passed over at once where the widest of them is too narrow."""

LENGTHS = 4096
"""Length of the histogram of message lengths in pixels."""


@kernel(cache=True, nogil=True)
def sort_rows(order, begin, row_start):
    """Sort each row of `order`, numbers of bars, by `begin`, stably; rows in order are left."""
    for row in range(len(row_start) - 1):
        first, last = row_start[row], row_start[row + 1]
        for at in range(first + 1, last):
            if begin[order[at]] < begin[order[at - 1]]:
                part = order[first:last].copy()
                by_begin = np.argsort(begin[part], kind="mergesort")
                for place in range(last - first):
                    order[first + place] = part[by_begin[place]]
                break


@kernel(cache=True, nogil=True)
def running_latest(end, row_start, latest):
    """Write the latest end so far in each row and return whether any bar reaches over another."""
    overlap = False
    for row in range(len(row_start) - 1):
        most = np.int64(-1)
        for at in range(row_start[row], row_start[row + 1]):
            overlap |= end[at] < most
            most = max(most, end[at])
            latest[at] = most
    return overlap


@helper
def first_above(values, low, high, limit):
    """Return the first place in ``[low, high)`` whose value exceeds `limit`; `high` if none."""
    while low < high:
        middle = (low + high) // 2
        if values[middle] > limit:
            high = middle
        else:
            low = middle + 1
    return low


@kernel(cache=True, nogil=True)
def window(begin, latest, row_start, first_row, start, stop, low, high):
    """Write for each row the bars that can lie in ``(start, stop)`` and return how many in all."""
    total = 0
    for k in range(len(low)):
        a, b = row_start[first_row + k], row_start[first_row + k + 1]
        low[k] = first_above(latest, a, b, start)
        high[k] = first_above(begin, low[k], b, stop - 1)
        total += high[k] - low[k]
    return total


@kernel(cache=True, nogil=True)
def widest_in_blocks(begin, end, widest):
    """Write the longest bar of each `BLOCK` bars, in ps."""
    for at in range(len(begin)):
        widest[at // BLOCK] = max(widest[at // BLOCK], end[at] - begin[at])


@kernel(cache=True, nogil=True)
def count_widths(begin, end, widest, low, high, start, stop, per_ps, widths):
    """Count the bars in a window by the whole pixels they show; those below one are left out."""
    pixel = np.int64(np.ceil(1 / per_ps))
    for k in range(len(low)):
        at = low[k]
        while at < high[k]:
            block = at // BLOCK
            stop_at = min((block + 1) * BLOCK, high[k])
            if widest[block] >= pixel:
                for bar in range(at, stop_at):
                    if end[bar] - begin[bar] >= pixel:
                        shown = min(end[bar], stop) - max(begin[bar], start)
                        if shown >= pixel:
                            widths[min(int(shown * per_ps), WIDTHS - 1)] += 1
            at = stop_at


@kernel(cache=True, nogil=True)
def raster(begin, end, kind, low, high, rows_per_band, start, stop, least, busy):
    """Add the share of each pixel that narrow bars take to ``busy[band, pixel, kind]``.

    Narrow are those that show less than `least` ps of themselves.
    """
    pixels = busy.shape[1]
    per_ps = pixels / (stop - start)
    for k in range(len(low)):
        band = k // rows_per_band
        for at in range(low[k], high[k]):
            first, last = begin[at], end[at]
            if first < start:
                first = start
            if last > stop:
                last = stop
            if last <= start or last - first >= least:
                continue
            left, right = (first - start) * per_ps, (last - start) * per_ps
            p, q = int(left), int(right)
            if q >= pixels:
                q = pixels - 1
            if p == q:
                busy[band, p, kind[at]] += right - left
            else:
                busy[band, p, kind[at]] += p + 1 - left
                for between in range(p + 1, q):
                    busy[band, between, kind[at]] += 1
                busy[band, q, kind[at]] += right - q


@kernel(cache=True, nogil=True)
def encode(busy, rows, levels, codes):
    """Write ``1 + kind * levels + level`` of the kind that takes most of a pixel; 0 if idle.

    The level, from 0, says how much of the pixel is busy with anything.
    """
    for band in range(busy.shape[0]):
        for pixel in range(busy.shape[1]):
            total = np.float32(0)
            best = 0
            for kind in range(busy.shape[2]):
                total += busy[band, pixel, kind]
                if busy[band, pixel, kind] > busy[band, pixel, best]:
                    best = kind
            if total > 0:
                level = min(int(total / rows[band] * levels), levels - 1)
                codes[band, pixel] = 1 + best * levels + level
            else:
                codes[band, pixel] = 0


@kernel(cache=True, nogil=True)
def wide_bars(begin, end, widest, low, high, start, stop, least, found, row):
    """Write which bars show at least `least` ps of themselves, and their row; return how many.

    It stops when `found` is full.
    """
    count = 0
    for k in range(len(low)):
        at = low[k]
        while at < high[k]:
            block = at // BLOCK
            stop_at = min((block + 1) * BLOCK, high[k])
            if widest[block] >= least:
                for bar in range(at, stop_at):
                    shown = min(end[bar], stop) - max(begin[bar], start)
                    if shown >= least and shown > 0:
                        if count == len(found):
                            return count
                        found[count] = bar
                        row[count] = k
                        count += 1
            at = stop_at
    return count


@kernel(cache=True, nogil=True)
def message_lengths(
    depart, arrive, y0, y1, low, start, stop, lowest, highest, per_ps, per_y, long, lengths
):
    """Write how long each message is in the window, in pixels across or down, whichever is more.

    Messages are those from `low` on; one that cannot be seen gets -1. ``lengths`` counts them by
    whole pixels.
    """
    for k in range(len(long)):
        at = low + k
        top, bottom = y0[at], y1[at]
        if top > bottom:
            top, bottom = bottom, top
        first, last = depart[at], arrive[at]
        if last <= start or first >= stop or bottom < lowest or top > highest:
            long[k] = -1
            continue
        if first < start:
            first = start
        if last > stop:
            last = stop
        if top < lowest:
            top = lowest
        if bottom > highest:
            bottom = highest
        pixels = (last - first) * per_ps
        down = (bottom - top) * per_y
        if down > pixels:
            pixels = down
        long[k] = pixels
        lengths[min(int(pixels), LENGTHS - 1)] += 1
