"""The arithmetic of trains: packets or credits that follow each other at even distances."""

from __future__ import annotations

from kernels import helper
from kernels.two_node import layout


@helper
def how_many(at, step, n, end):
    """Count the elements of a train that come before a tick; the result is at least 1."""
    if n == 1 or at + (n - 1) * step < end:
        return n
    if step == 0 or at >= end:
        return 1
    return (end - 1 - at) // step + 1


@helper
def later(at, ticks):
    """Return a tick so much later; NEVER stays."""
    return at if at == layout.NEVER else at + ticks


@helper
def next_part(ready, n, step, free, busy):
    """Find the part of a train that a server starts at even distances: number, first tick, step.

    Args:
        ready: tick at which the first may start.
        n: number of them.
        step: ticks between them.
        free: tick at which the server is free.
        busy: ticks it takes for each.
    """
    if free <= ready:
        return n, ready, max(step, busy)
    if step > busy:
        # It catches up with those that come at longer intervals.
        n = min(n, (free - ready - 1) // (step - busy) + 1)
    return n, free, busy
