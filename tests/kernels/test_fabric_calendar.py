"""The calendar hands out what it was given, window by window and in order."""

from hypothesis import given, strategies as st

from kernels.fabric import calendar, engine, layout
from tests.kernels.test_fabric_core import MODEL, RING, idle

WINDOW = int(idle(RING, MODEL).s[layout.LOOKAHEAD])
FAR = WINDOW * calendar.SLOTS


def put(state, at, channel, kind, number):
    """Schedule a record of a kind that comes by a channel; return its router."""
    record = layout.take_record(state.s, state.q)
    c = layout.channel_cells(state.s, channel)
    router = int(state.s[c + layout.ARRIVES] >> layout.COMPONENT_SHIFT)
    if kind == layout.CREDIT:
        router = int(state.s[c + layout.SOURCE])
    state.q[record + layout.AT] = at
    state.q[record + layout.SIZE] = layout.NOTHING
    state.q[record + layout.PATH] = number
    came = router << layout.COMPONENT_SHIFT | kind << layout.KIND_SHIFT | channel << 8
    state.q[record + layout.CAME_BY] = came
    slot = int(calendar.slot_of(state.s, state.q, record))
    calendar.schedule(state.s, state.q, record)
    return router, at, slot, number


def taken(state):
    """Return what routers have in this window, in the order in which they have it."""
    s, q, found = state.s, state.q, []
    for router in range(s[layout.N_ROUTERS]):
        cell = layout.todo_cell(s, router)
        while s[cell] != layout.NOTHING:
            record = s[cell]
            s[cell] = q[record + layout.NEXT]
            number = int(q[record + layout.PATH])
            slot = int(calendar.slot_of(s, q, record))
            found.append((router, int(q[record + layout.AT]), slot, number))
            layout.free_record(s, q, record)
    return found


later = st.one_of(st.integers(0, 3 * WINDOW), st.sampled_from([0, WINDOW, FAR - 1, FAR, 9 * FAR]))
kinds = st.sampled_from([layout.PACKET, layout.HELD, layout.CREDIT])
entries = st.lists(st.tuples(later, st.integers(0, 15), kinds), max_size=8)


@given(st.lists(entries, min_size=1, max_size=4), st.integers(0, FAR))
def test_records_come_by_tick_slot_and_as_they_were_sent(rounds, stop):
    """New records come while others wait, and a run may stop within a window."""
    state, waiting, number = idle(RING), [], 0
    used = state.s[layout.USED] - state.s[layout.N_FREE]
    limits = [stop + 1, int(layout.CLOCK_END)]
    while limits:
        end = int(state.s[layout.WINDOW_END])
        for after, channel, kind in rounds.pop() if rounds and end < layout.NEVER else ():
            waiting.append(put(state, end + after, channel, kind, number))
            number += 1
        if not engine.open_window(state.s, state.q, limits[0]):
            assert all(at >= limits[0] for _, at, _, _ in waiting)
            limits.pop(0)
            continue
        end = int(state.s[layout.WINDOW_END])
        now = [one for one in waiting if one[1] < end]
        assert min(at for _, at, _, _ in now) == state.s[layout.NOW]
        assert taken(state) == sorted(now)
        waiting = [one for one in waiting if one[1] >= end]
    assert not waiting
    assert calendar.is_empty(state.s)
    assert state.s[layout.USED] - state.s[layout.N_FREE] == used
