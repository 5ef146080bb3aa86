"""Conservative windows: events within a window at one component do not affect the others.

Every link takes at least `LOOKAHEAD` ticks, so all that reaches a component within that time of the
earliest event anywhere has been sent already. It is handed out of the calendar when the window
opens. Components are then served one after another, each through the whole window; the order among
them does not matter, and each handles its events in SST/macro's order.

A host layer is a kernel of its own around these parts:

    while engine.open_window(s, q, until):
        status = engine.serve_routers(s, t, q, routes, depth, seen)
        if status == OK: for each host that is due before s[WINDOW_END]: nic.step, what follows,
            nic.settle
        if status != OK: return status, to be called again when there is more room
"""

from __future__ import annotations

import numpy as np

from kernels import helper, part
from kernels.fabric import calendar, layout, pisces, snappr


@helper
def open_window(s, q, until):
    """Set WINDOW_END to the end of the next window; return False if no event is before `until`.

    Then WINDOW_END is NEVER if there is no event at all. A window that was interrupted goes on.
    """
    s[layout.RESUMED] = s[layout.INTERRUPTED]
    s[layout.INTERRUPTED] = 0
    if s[layout.RESUMED]:
        return True
    first, due = np.int64(layout.NEVER), s[layout.AT_DUE]
    after = due + s[layout.N_ROUTERS] + s[layout.N_HOSTS]
    # An unsigned index needs no test for below zero, so several cells are compared at once.
    for cell in range(np.uint64(due), np.uint64(after)):
        first = min(first, s[cell])
    first = min(first, calendar.first_before(s, q, min(first, until)))
    if first >= until:
        none = first == layout.NEVER and calendar.is_empty(s)
        s[layout.WINDOW_END] = layout.NEVER if none else until
        return False
    s[layout.NOW] = first
    s[layout.WINDOWS] += 1
    s[layout.WINDOW_END] = min(first + s[layout.LOOKAHEAD], until)
    calendar.hand_out(s, q, s[layout.WINDOW_END])
    return True


@helper
def due_cell(s, host):
    """Return the cell with the tick of a host's next event, unsigned as it is read very often."""
    return np.uint64(s[layout.AT_DUE] + s[layout.N_ROUTERS] + host)


@part
def serve_routers(s, t, q, routes, depth, seen):
    """Handle all events of routers in the window; return OK, NO_RECORDS or NO_STATE."""
    if s[layout.MODEL] == layout.PISCES:
        return pisces.serve(s, t, q, routes, depth, seen)
    return snappr.serve(s, t, q, routes, depth, seen)
