"""How much longer a core works because the system takes it away meanwhile.

A core that begins to work at a time t loses what is left of the disturbance under way, and every
one that begins before its work is done. Disturbances do not overlap. They happen whether the core
works or not; those that find it idle cost nothing.
"""

from __future__ import annotations

import math

import numpy as np

from kernels import helper, inlined
from kernels.loggops.layout import CLOCK_END

# Modes: no disturbances; random ones of one length, of random lengths; recorded ones.
SILENT, RANDOM_FIXED, RANDOM_EXPONENTIAL, RECORDED = range(4)

# Cells of a core: the generator's state and the next disturbance, or the phase in the recording.
STATE, BEGIN, LENGTH = range(3)
PHASE = 0  # the first cell, where disturbances are recorded
N_CELLS = 3  # the three above

# Real parameters.
MEAN_GAP, MEAN_LENGTH = range(2)

# Multiply with carry, base 2^32 (Marsaglia and Zaman 1991); the state stays below 2^63.
MULTIPLIER = 1_791_398_085
_LOW = 2**32 - 1  # the state's lower half is the number, the upper half the carry


@helper
def exponential(cells, core, mean):
    """Return the next exponential variate of a core's generator, in whole ps, at least 1."""
    state = cells[core, STATE]
    state = MULTIPLIER * (state & _LOW) + (state >> 32)
    cells[core, STATE] = state
    return max(1, round(-mean * math.log(((state & _LOW) + 0.5) / 4294967296.0)))


@helper
def draw(cells, core, after, mode, real):
    """Draw a core's next disturbance, the first to begin after a time."""
    cells[core, BEGIN] = after + exponential(cells, core, real[MEAN_GAP])
    if mode == RANDOM_FIXED:
        cells[core, LENGTH] = int(real[MEAN_LENGTH])
    else:
        cells[core, LENGTH] = exponential(cells, core, real[MEAN_LENGTH])


@inlined
def delay(noise, core, t, work):
    """Return how much longer than its work a core is busy.

    Args:
        noise: ``layout.Noise``: mode SILENT, RANDOM_FIXED, RANDOM_EXPONENTIAL or RECORDED; cells
            int64[cores, N_CELLS], changed; real float64[2], mean gap and mean length of random
            disturbances, ps; recorded int64[2, events + 1], begin and length of recorded ones,
            ps, the last begin a period after the first.
        core: whose; each must be asked in the order of time.
        t: when it begins, ps.
        work: how long it would work undisturbed, ps.
    """
    if noise.mode == SILENT or work == 0:
        return np.int64(0)
    if noise.mode == RECORDED:
        return recorded_delay(noise.recorded, t + noise.cells[core, PHASE], work)
    return random_delay(noise.mode, noise.cells, noise.real, core, t, work)


@helper
def random_delay(mode, cells, real, core, t, work):
    """Return how much longer a core is busy under random disturbances; arguments as ``delay``."""
    while cells[core, BEGIN] + cells[core, LENGTH] <= t:
        draw(cells, core, cells[core, BEGIN] + cells[core, LENGTH], mode, real)
    end = t + work
    while cells[core, BEGIN] < end <= CLOCK_END:
        length = cells[core, LENGTH]
        end += length - max(0, t - cells[core, BEGIN])
        draw(cells, core, cells[core, BEGIN] + length, mode, real)
    return end - t - work


@helper
def recorded_delay(recorded, t, work):
    """Return how much longer than its work a core is busy that begins at a time of the recording.

    Args:
        recorded: int64[2, events + 1], see ``delay``.
        t: ps, from the recording's beginning; it is repeated.
        work: ps.
    """
    events = recorded.shape[1] - 1
    period = recorded[0, events] - recorded[0, 0]
    rounds = (t - recorded[0, 0]) // period
    shift = rounds * period
    low, high = 0, events
    while high - low > 1:
        middle = (low + high) // 2
        if recorded[0, middle] + shift <= t:
            low = middle
        else:
            high = middle
    at = low
    end = t + work
    end += max(0, recorded[0, at] + shift + recorded[1, at] - t)
    while True:
        at += 1
        if at == events:
            at = 0
            shift += period
        if recorded[0, at] + shift >= end:
            return end - t - work
        end += recorded[1, at]
        if end > CLOCK_END:
            return end - t - work
