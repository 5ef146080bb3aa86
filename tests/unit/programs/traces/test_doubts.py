"""Waits for any of many: equal to the reference, in the trees of ranges and as a whole."""

from __future__ import annotations

import numpy as np
from hypothesis import given, strategies as st

from tests.cases import for_each
from tests.reference.requests import Call, Requests
from workbench.programs.program import IRECV
from workbench.programs.traces.calls import Comm, TraceCall, TraceCalls
from workbench.programs.traces.ranges import (
    NEVER,
    Latest,
    PendingRequests,
    RequestVariables,
    leaves,
    nodes,
)
from workbench.programs.traces.requests import TESTED, UNSETTLED, UNWAITED, AddressTable

BASE, STRIDE, MOST = 800, 8, 9

spans = st.tuples(st.integers(0, MOST - 1), st.integers(1, MOST)).map(
    lambda pair: (pair[0], min(pair[1], MOST - pair[0]))
)
single = st.integers(0, MOST - 1).map(lambda place: (place, 1))
steps = st.lists(
    st.one_of(
        st.tuples(st.just("put"), single),
        st.tuples(st.just("put"), single),
        st.tuples(st.sampled_from(["wait", "any", "test", "some"]), spans),
        st.tuples(st.sampled_from(["wait", "drop"]), single),
    ),
    max_size=60,
)


@given(steps)
def test_waits_end_what_the_reference_says(events: list[tuple[str, tuple[int, int]]]) -> None:
    places = RequestVariables(range(BASE, BASE + STRIDE * MOST, STRIDE), STRIDE)
    trace, slow = TraceCalls(1, "trace", ["trace-0.txt"]), Requests()
    world = Comm(0, (0,))
    table = AddressTable(trace, 0, places)
    calls: list[tuple[TraceCall, Call]] = []
    for line, (what, (first, count)) in enumerate(events, 1):
        base = BASE + STRIDE * first
        addresses = [base + STRIDE * i for i in range(count)]
        begun = trace.message(0, IRECV, line, world, 0, 0, 0) if what == "put" else None
        entry, call = begun or trace.wait(0, line), Call(line)
        calls.append((entry, call))
        if what == "put":
            table.put(base, entry)
            slow.put(base, call)
        elif what == "drop":
            table.drop(base)
            slow.drop(base)
        elif what == "wait":
            table.wait(base, count, entry)
            slow.wait(addresses, call)
        elif any(address in slow.active for address in addresses):
            assert table.under_way(base, count)
            if what in ("any", "some"):
                table.any(base, count, entry)
                slow.any(addresses, call)
            if what in ("test", "some"):
                table.test(base, count, entry)
                slow.test(addresses, call)
        else:
            assert not table.under_way(base, count)
    table.finish()
    slow.finish()
    for entry, call in calls:
        assert [index + 1 for index in entry.ended()] == call.ended
    counted = {text: times for text, (times, *_) in trace.notes._counted.items()}
    expected = {UNSETTLED: slow.unsettled, TESTED: slow.tested, UNWAITED: slow.unwaited}
    assert counted == {text: times for text, times in expected.items() if times}


@for_each("num_places", [1, 2, 3, 8, 13])
def test_nodes_have_the_places_of_a_range_below_them_in_order(num_places: int) -> None:
    size = leaves(num_places)
    for first in range(num_places + 1):
        for end in range(first, num_places + 1):
            below = []
            for node in nodes(first, end, size):
                low = high = node
                while low < size:
                    low, high = 2 * low, 2 * high + 1
                below += range(low - size, high - size + 1)
            assert below == list(range(first, end))


@given(st.lists(st.tuples(spans, st.integers(1, 40)), max_size=40))
def test_what_began_and_which_line_reached_last(events: list[tuple[tuple[int, int], int]]) -> None:
    begun, latest = PendingRequests(MOST), Latest(MOST)
    lines, reached = np.full(MOST, NEVER, np.uint64), np.full(MOST, -1)
    for number, ((first, count), line) in enumerate(events):
        begun.set(first, NEVER if line % 5 == 0 else line)
        lines[first] = NEVER if line % 5 == 0 else line
        before = np.flatnonzero(lines[first : first + count] < line)
        expected = first + int(before[0]) if len(before) else -1
        assert begun.first(first, first + count, line) == expected
        latest.reach(first, first + count, number)
        reached[first : first + count] = number
        assert [latest.at(place) for place in range(MOST)] == reached.tolist()


def test_arrays_are_ranges_of_places_and_miss_what_lies_between_their_variables() -> None:
    places = RequestVariables([800, 804, 808, 824, 828], 8)
    assert [places.addresses[i] for i in range(*places.array(800, 3))] == [800, 808]
    assert [places.addresses[i] for i in range(*places.array(796, 5))] == [804, 828]
    assert places.array(801, 10) == (places.array(801, 10)[0],) * 2
    assert places.array(800, 2**31)[1] - places.array(800, 2**31)[0] == 3
