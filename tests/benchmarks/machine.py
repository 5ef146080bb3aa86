"""What a machine does in a second, by which figures of different machines are compared."""

from __future__ import annotations

import heapq
import time

import numpy as np
from numba import njit

WAITING = 20_000  # events: their times fill 160 KB, a second-level cache's size
EVENTS = 1_000_000


@njit(cache=True, nogil=True)
def _events(count, waiting):
    """Take the earliest of the waiting events and enter a later one, so many times."""
    queue = [np.int64(7919 * at % waiting) for at in range(waiting)]
    heapq.heapify(queue)
    drawn = np.int64(1)
    for _ in range(count):
        drawn = (drawn * 48_271) % 2_147_483_647
        heapq.heapreplace(queue, queue[0] + drawn % waiting)
    return queue[0]


def million_events_s() -> float:
    """Return the processor seconds of a million events of a plain queue, the least of nine runs."""
    _events(1, WAITING)
    times = []
    for _ in range(9):
        began = time.thread_time()
        _events(EVENTS, WAITING)
        times.append(time.thread_time() - began)
    return min(times)
