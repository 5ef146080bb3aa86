"""Conservative windows: events within a window at one component do not affect the others.

Every link takes at least `LOOKAHEAD` ticks, so all that reaches a component within that time of the
earliest event anywhere has been sent already. Components are therefore served one after another,
each through the whole window, with lists of their own that fit into a fast cache; the order among
them does not matter, and each handles its events in SST/macro's order.

A host layer is a kernel of its own around these parts:

    while engine.open_window(s, until):
        status = engine.serve_routers(s, t, q, routes, depth, seen)
        if status == OK: for each host that is due before s[WINDOW_END]: nic.step, what follows,
            nic.settle
        if status != OK: return status, to be called again when there is more room
"""

from __future__ import annotations

from kernels import helper
from kernels.fabric import layout, pisces, snappr


@helper("b1(i8[::1], i8)", _nrt=False)
def open_window(s, until):
    """Set WINDOW_END to the end of the next window; return False if no event is before `until`.

    Then WINDOW_END is the tick of the next event, NEVER if there is none at all.
    """
    first, due = layout.NEVER, s[layout.AT_DUE]
    for component in range(s[layout.N_ROUTERS] + s[layout.N_HOSTS]):
        if s[due + component] < first:
            first = s[due + component]
    if first >= until:
        s[layout.WINDOW_END] = first
        return False
    s[layout.NOW] = first
    s[layout.WINDOWS] += 1
    s[layout.WINDOW_END] = min(first + s[layout.LOOKAHEAD], until)
    return True


@helper(_nrt=False)
def serve_routers(s, t, q, routes, depth, seen):
    """Handle all events of routers in the window; return OK, NO_RECORDS or NO_STATE."""
    if s[layout.MODEL] == layout.PISCES:
        return pisces.serve(s, t, q, routes, depth, seen, s[layout.WINDOW_END])
    return snappr.serve(s, t, q, routes, depth, seen, s[layout.WINDOW_END])
