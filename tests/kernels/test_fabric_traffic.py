"""Messages at random: their times, their targets, and that none and no credit is ever lost."""

from __future__ import annotations

import math

import numpy as np
import pytest

from kernels.fabric import layout, traffic as kernel
from workbench.models import PISCES, SNAPPR
from workbench.simulate.fabric.network import build, wiring_of
from workbench.simulate.fabric.traffic_draws import draws_of
from workbench.topology import parse_topology
from workbench.topology.routing import route
from workbench.topology.traffic import Traffic, traffic

FAR_TICKS = 10**17


def pattern_of(drawn, *, mean, process=kernel.POISSON, slot=1000, n_bytes=1000, window=(0, 0)):
    """Return the kernel's pattern of a traffic; its settings can be changed afterwards."""
    settings = np.zeros(kernel.N_SETTINGS, np.int64)
    settings[kernel.PROCESS], settings[kernel.SEED] = process, 7
    settings[kernel.SLOT], settings[kernel.MESSAGE_BYTES] = slot, n_bytes
    settings[kernel.FROM], settings[kernel.TO] = window
    settings[kernel.STRIDE] = 1
    means = np.full(len(drawn.row), float(mean))
    return kernel.Pattern(
        drawn.row, drawn.first, drawn.until, drawn.low, drawn.count, means, settings
    )


def tally_of(hosts):
    """Return counts at 0."""
    return kernel.Tally(
        np.zeros(kernel.N_COUNTS, np.int64),
        np.zeros(2),
        np.zeros(100_000, np.int64),
        np.zeros(kernel.MOST_HOPS, np.int64),
        np.zeros(hosts, np.int64),
    )


def test_poisson_gaps_are_exponential():
    pattern = pattern_of(draws_of(traffic(parse_topology("star:4"), "uniform")), mean=1e6)
    gaps = np.array([kernel.gap(pattern, 2, number) for number in range(4000)])
    # Mean and standard deviation of 4,000 within four standard errors; a fit to the whole below.
    assert gaps.mean() == pytest.approx(1e6, rel=4 / math.sqrt(4000))
    assert gaps.std() == pytest.approx(1e6, rel=4 * math.sqrt(2 / 4000))
    shares = np.sort(1 - np.exp(-gaps / 1e6))
    steps = (np.arange(4000) + 0.5) / 4000
    assert np.abs(shares - steps).max() < 1.95 / math.sqrt(4000)  # Kolmogorov, 1 in 1,000


def test_bernoulli_gaps_are_whole_slots():
    drawn = draws_of(traffic(parse_topology("star:4"), "uniform"))
    pattern = pattern_of(drawn, mean=4000, process=kernel.BERNOULLI)
    gaps = np.array([kernel.gap(pattern, 1, number) for number in range(4000)])
    assert np.all(gaps % 1000 == 0)
    assert gaps.min() == 1000
    assert gaps.mean() == pytest.approx(4000, rel=4 * math.sqrt(0.75 / 4000))
    always = pattern_of(drawn, mean=1000, process=kernel.BERNOULLI)
    assert {kernel.gap(always, 1, number) for number in range(20)} == {1000}


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("uniform", {}),
        ("hotspot", {"hot": [2, 5], "share": 0.5}),
        ("permutation", {}),
        ("adversarial", {}),
    ],
)
def test_targets_have_the_shares_of_the_pattern(name, options):
    made = traffic(parse_topology("dragonfly:a=2,p=1,h=1,g=3"), name, **options)
    check_targets(made)


def test_targets_that_are_listed_and_hosts_that_are_silent():
    source, target = np.array([0, 0, 0, 2], np.int32), np.array([1, 2, 3, 3], np.int32)
    rates = np.array([1, 2, 3, 1]) / 6
    made = Traffic("listed", parse_topology("star:4"), source, target, rates)
    drawn = draws_of(made)
    assert (drawn.row >= 0).tolist() == [True, False, True, False]
    assert drawn.rate == pytest.approx([1.0, 0.0, 1 / 6, 0.0])
    check_targets(made)


def check_targets(made: Traffic) -> None:
    drawn = draws_of(made)
    pattern = pattern_of(drawn, mean=1e6)
    expected = made.between_hosts()
    np.testing.assert_allclose(drawn.rate, expected.sum(axis=1), rtol=1e-12)
    for host in np.flatnonzero(drawn.row >= 0).tolist():
        shares = expected[host] / expected[host].sum()
        found = [kernel.target_of(pattern, host, number) for number in range(1000)]
        counts = np.bincount(found, minlength=len(shares))
        assert np.all(counts[shares == 0] == 0)
        likely = shares > 0
        error = 4.5 * np.sqrt(1000 * shares[likely] * (1 - shares[likely])) + 1e-9
        assert np.all(np.abs(counts[likely] - 1000 * shares[likely]) <= error)


@pytest.mark.parametrize(
    ("word", "name", "model"),
    [
        ("torus:3x3", "dimension-order", SNAPPR(mtu=512, switch_credits=1100, nic_credits=1024)),
        ("dragonfly:a=2,p=2,h=1,g=3", "par", SNAPPR(mtu=512, switch_credits=5000)),
        pytest.param(
            "fat-tree:4",
            "ugal-g",
            PISCES(mtu=512, link_credits=2048, nic_credits=1024),
            marks=pytest.mark.jit_only,
        ),
    ],
)
def test_no_message_and_no_credit_is_lost(word, name, model):
    """All hosts send more than the network carries, then stop; all comes in, all credits return."""
    topology = parse_topology(word)
    routing = route(topology, name)
    state = build(wiring_of(routing.channels, routing.lanes), model, overlay=False, adaptive=True)
    before = credits_of(state)
    drawn = draws_of(traffic(topology, "uniform"))
    pattern = pattern_of(drawn, mean=4e8, n_bytes=1300, window=(0, FAR_TICKS))
    tally = tally_of(topology.num_hosts)
    routes = routing.tables()
    depth, seen = np.zeros((2, len(routes.leads_to)), np.int32)
    halt = np.zeros(1, np.int8)

    def serve(until):
        state.run(
            lambda s, t, q: kernel.run(s, t, q, routes, depth, seen, pattern, tally, until, halt)
        )

    kernel.begin(state.s, state.q, pattern)
    serve(5 * 10**10)
    assert tally.counts[kernel.GENERATED] > 30 * topology.num_hosts
    # The next message of each host is its last one before the clock's end.
    pattern.mean[:] = FAR_TICKS
    serve(10**14)
    counts = tally.counts
    assert counts[kernel.GENERATED] == counts[kernel.DELIVERED] == counts[kernel.MEASURED_IN]
    assert counts[kernel.BYTES_IN] == 1300 * counts[kernel.DELIVERED] == tally.received.sum()
    assert tally.hops.sum() == counts[kernel.DELIVERED]
    assert state.s[layout.PACKETS_ARRIVED] == 3 * counts[kernel.DELIVERED]
    assert np.all(state.channel_cells(layout.N_PENDING) == 0)
    sent = state.channel_cells(layout.BYTES_SENT)
    between, hosts = routing.channels.between_routers, topology.num_hosts
    assert sent[between : between + hosts].sum() == sent[between + hosts :].sum()
    if isinstance(model, SNAPPR):
        np.testing.assert_array_equal(credits_of(state), before)


def credits_of(state):
    """Return the credits of each lane, those on their way back included."""
    s = state.s
    channels = state.wiring.between_routers + 2 * state.wiring.num_hosts
    lanes = state.wiring.lanes
    found = np.array(
        [
            [s[layout.lane_cells(s, channel, lane) + layout.CREDITS] for lane in range(lanes)]
            for channel in range(channels)
        ]
    )
    for channel in range(channels):
        c = layout.channel_cells(s, channel)
        room = int(s[c + layout.CREDITS_ROOM])
        first = int(s[c + layout.CREDITS_FIRST])
        for i in range(int(s[c + layout.N_CREDITS])):
            place = (first + i) % room if room else 0
            word = int(s[s[c + layout.CREDITS_AT] + 2 * place + 1])
            found[channel, (word & layout.LANE_BITS) >> 32] += word & layout.SIZE_MASK
    return found
