"""Two heaps: events by (time, item), and flows by the tick at which they finish."""

import numpy as np

from kernels import helper
from kernels.fabric_programs.layout import EVENTS, FINISHES, NEVER


@helper
def push(events, cells, time, item):
    """Add an event.

    Args:
        events: the heap, with room for one more.
        cells: int64[N_CELLS].
        time: ticks.
        item: its operation and what happens to it.
    """
    times, items = events.time, events.item
    at = cells[EVENTS]
    cells[EVENTS] = at + 1
    while at > 0:
        above = (at - 1) >> 1
        if times[above] < time or (times[above] == time and items[above] <= item):
            break
        times[at] = times[above]
        items[at] = items[above]
        at = above
    times[at] = time
    items[at] = item


@helper
def first_time(events, cells):
    """Return the tick of the first event, NEVER where there is none."""
    return events.time[0] if cells[EVENTS] > 0 else np.int64(NEVER)


@helper
def take_first(events, cells):
    """Take the first event away and return its item.

    Args:
        events: the heap, not empty.
        cells: int64[N_CELLS].
    """
    times, items = events.time, events.item
    first = items[0]
    count = cells[EVENTS] - 1
    cells[EVENTS] = count
    time, item = times[count], items[count]
    at = np.int64(0)
    while True:
        below = 2 * at + 1
        if below >= count:
            break
        other = below + 1
        if other < count and (
            times[other] < times[below]
            or (times[other] == times[below] and items[other] < items[below])
        ):
            below = other
        if time < times[below] or (time == times[below] and item <= items[below]):
            break
        times[at] = times[below]
        items[at] = items[below]
        at = below
    times[at] = time
    items[at] = item
    return first


@helper
def _comes_first(flows, one, other):
    """Return whether a flow finishes before another one; of two at once that sent first does."""
    if flows.finish[one] != flows.finish[other]:
        return flows.finish[one] < flows.finish[other]
    return flows.op[one] < flows.op[other]


@helper
def move_finish(flows, cells, slot):
    """Put a flow of the heap where its finish belongs.

    Args:
        flows: the flows.
        cells: int64[N_CELLS].
        slot: which.
    """
    order, place = flows.order, flows.place
    count = cells[FINISHES]
    at = np.int64(place[slot])
    while at > 0:
        above = (at - 1) >> 1
        if not _comes_first(flows, slot, order[above]):
            break
        order[at] = order[above]
        place[order[at]] = at
        at = above
    while True:
        below = 2 * at + 1
        if below >= count:
            break
        if below + 1 < count and _comes_first(flows, order[below + 1], order[below]):
            below += 1
        if not _comes_first(flows, order[below], slot):
            break
        order[at] = order[below]
        place[order[at]] = at
        at = below
    order[at] = slot
    place[slot] = at


@helper
def add_finish(flows, cells, slot):
    """Add a flow to the heap.

    Args:
        flows: the flows.
        cells: int64[N_CELLS].
        slot: which.
    """
    flows.place[slot] = cells[FINISHES]
    flows.order[cells[FINISHES]] = slot
    cells[FINISHES] += 1
    move_finish(flows, cells, slot)


@helper
def drop_finish(flows, cells, slot):
    """Take a flow out of the heap.

    Args:
        flows: the flows.
        cells: int64[N_CELLS].
        slot: which.
    """
    at = flows.place[slot]
    cells[FINISHES] -= 1
    last = flows.order[cells[FINISHES]]
    if last != slot:
        flows.order[at] = last
        flows.place[last] = at
        move_finish(flows, cells, last)
