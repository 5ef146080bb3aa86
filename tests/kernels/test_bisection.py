"""Cuts that are refined: balanced, as large as told, and no worse than any single move away."""

import numpy as np
from hypothesis import given, strategies as st

from kernels import bisection
from tests.kernels.networks import networks, rows
from tests.reference import networks as reference


def refined(links, hosts, side, difference, halt=0, stall=1000):
    """Return the cut and the sides."""
    routers = len(hosts)
    start, neighbour, capacity = rows(links, routers)
    better = np.array(side, np.int8)
    cut = bisection.refine(
        start,
        neighbour,
        capacity,
        np.array(hosts, np.int64),
        np.arange(routers, dtype=np.int32),
        difference,
        stall,
        better,
        np.array([halt], np.int8),
    )
    return cut, better


def across(links, side):
    """Return the links between the sides."""
    return sum(side[one] != side[other] for one, other in links)


def excess(hosts, side):
    """Return by how many hosts the sides differ."""
    return abs(int((np.array(hosts) * (2 * np.array(side, int) - 1)).sum()))


@given(networks(least=2, most=8), st.data())
def test_cuts_are_balanced_and_as_large_as_returned(drawn, data):
    routers, links = drawn
    hosts = data.draw(st.lists(st.integers(0, 3), min_size=routers, max_size=routers))
    side = data.draw(st.lists(st.integers(0, 1), min_size=routers, max_size=routers))
    difference = max(max(hosts), 1)
    cut, better = refined(links, hosts, side, difference)
    assert set(better.tolist()) <= {0, 1}
    # A difference of the most hosts of a router can always be reached, one router at a time.
    assert excess(hosts, better) <= difference
    assert cut == across(links, better)
    if excess(hosts, side) <= difference:
        assert cut <= across(links, side)
    assert cut >= reference.bisection(links, hosts, difference)


@given(networks(least=2, most=8), st.data())
def test_no_single_move_of_a_free_router_makes_it_better(drawn, data):
    routers, links = drawn
    hosts = data.draw(st.lists(st.integers(0, 1), min_size=routers, max_size=routers))
    cut, better = refined(links, hosts, [router % 2 for router in range(routers)], 1)
    for router in np.flatnonzero(np.array(hosts) == 0):
        moved = better.copy()
        moved[router] = 1 - moved[router]
        assert across(links, moved) >= cut


def test_two_cliques_are_parted_from_any_start():
    cliques = [(i, j) for base in (0, 6) for i in range(base, base + 6) for j in range(base, i)]
    links = [*cliques, (0, 6), (1, 7)]
    cut, side = refined(links, [1] * 12, [0, 1] * 6, 0)
    assert cut == 2
    assert len(set(side[:6].tolist())) == len(set(side[6:].tolist())) == 1


def test_hosts_are_balanced_and_not_routers():
    """Two hosts at the ends of a chain of six: the cut may be anywhere between."""
    chain = [(r, r + 1) for r in range(5)]
    cut, side = refined(chain, [1, 0, 0, 0, 0, 1], [0, 0, 0, 1, 1, 1], 0)
    assert cut == 1
    assert side[0] != side[5]


def test_what_cannot_be_balanced_is_infinite():
    cut, side = refined([(0, 1)], [5, 1], [0, 1], 0)
    assert cut == bisection.NO_CUT
    assert side.tolist() == [0, 1]


def test_a_halt_keeps_the_sides():
    cut, side = refined([(0, 1), (2, 3)], [1] * 4, [0, 1, 0, 1], 0, halt=1)
    assert (cut, side.tolist()) == (2, [0, 1, 0, 1])
