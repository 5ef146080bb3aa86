"""A message's own limits on a fabric: closed forms, a plain NIC, and what no traffic can break."""

from __future__ import annotations

import heapq
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tests.cases import examples, for_each
from tests.kernels.test_llamp import graph_of, random_graph
from tests.unit.simulate.fabric.test_program import PORTS, hosts_cost, message
from workbench import topology
from workbench.errors import ParameterError
from workbench.programs.graph import RECV, SEND
from workbench.simulate.fabric import (
    Fabric,
    FabricReplay,
    NetworkInterface,
    collective_times,
    replay_on,
    run_traffic,
)

CONGESTIONS = tuple(PORTS)
LATENCY, STARTUP, CONTROL = 1.1e-6, 0.6e-6, 0.5e-6
"""Of a star: injection 500 ns, two links of 100 ns, ejection 400 ns."""

CAP, LINK = 2e9, 2.5e9
INTERFACE = NetworkInterface(CAP, STARTUP, CONTROL)
MTU = 4096


def star(congestion, interface=INTERFACE, n=4, link=LINK, **changes):
    """Return hosts whose ports inject faster than the links, on a star."""
    model = PORTS[congestion].replace(link_bandwidth=link, injection_bandwidth=1e10)
    if congestion != "packet-flow":
        model = model.replace(nic_bandwidth=link)
    return Fabric(
        topology.star(n), model.replace(**changes), congestion=congestion, interface=interface
    )


def close(congestion, seconds):
    """Return the expected time; PISCES leaves out 2 B of a packet at each of four stages."""
    if congestion == "packet-flow":
        return pytest.approx(seconds, abs=4 * 2 / CAP + 1e-3 * MTU / CAP)
    return pytest.approx(seconds, rel=1e-12)


@for_each("congestion", CONGESTIONS)
@for_each("size", [100, MTU, 9_000, 1_000_000])
def test_a_message_alone_starts_up_and_has_its_own_rate(congestion, size) -> None:
    """A packet is put on the links whole, so that the last one takes the link's time."""
    took = replay_on(message(size), star(congestion)).makespan_s
    last = (size - 1) % MTU + 1 if congestion == "packet" else 0
    closed = STARTUP + LATENCY + (size - last) / CAP + last / LINK
    assert took == close(congestion, closed)


@for_each("congestion", CONGESTIONS)
def test_a_limit_above_the_link_is_none(congestion) -> None:
    above = NetworkInterface(1e11)
    runs = [
        replay_on(message(100_000), star(congestion, one)).makespan_s
        for one in (above, NetworkInterface())
    ]
    assert runs[0] == pytest.approx(runs[1], rel=1e-6)  # packets of the ports' own pace


@for_each("congestion", CONGESTIONS)
def test_two_messages_over_a_link_share_it_below_their_limit(congestion) -> None:
    """Each would have 2 GB/s; together they have the link's 2.5 GB/s, 1.25 GB/s each."""
    size = 1_000_000
    graph = graph_of(
        [[(SEND, size, 2, 0)], [(SEND, size, 2, 0)], [(RECV, size, 0, 0), (RECV, size, 1, 0)]], []
    )
    took = replay_on(graph, star(congestion)).makespan_s
    assert took == pytest.approx(STARTUP + LATENCY + size / (LINK / 2), rel=2 * MTU / size)


@for_each("congestion", CONGESTIONS)
@for_each("in_turn", [True, False])
def test_two_messages_of_a_host_go_in_turn_or_side_by_side(congestion, in_turn) -> None:
    """Side by side both have their limit, for the ports have twice as much."""
    size = 500_000
    graph = graph_of(
        [[(SEND, size, 1, 0), (SEND, size, 2, 0)], [(RECV, size, 0, 0)], [(RECV, size, 0, 0)]], []
    )
    run = replay_on(graph, star(congestion, link=1e10), in_turn=in_turn)
    ends = [1, 2] if in_turn else [1, 1]
    expected = [STARTUP + LATENCY + n * size / CAP for n in ends]
    assert run.finish_s[1:].tolist() == pytest.approx(expected, rel=2 * MTU / size)


@for_each("congestion", CONGESTIONS)
def test_short_messages_have_a_latency_of_their_own(congestion) -> None:
    """Header and request; the bytes; the acknowledgement, with which the send ends."""
    host = hosts_cost(S=0)
    run = replay_on(message(MTU), star(congestion), host=host)
    short = CONTROL + 2 * 100e-9
    rate = LINK if congestion == "packet" else CAP
    received = 2 * short + STARTUP + LATENCY + MTU / rate
    assert run.finish_s[1] == close(congestion, received)
    assert run.finish_s[0] == close(congestion, received + short)
    assert replay_on(message(0), star(congestion)).makespan_s == pytest.approx(short, rel=1e-12)


@examples(5)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_packets_enter_as_at_a_plain_interface(seed, in_turn) -> None:
    """Ports of one bandwidth: only the interface of the sender holds packets up."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 20_000, int(rng.integers(1, 6))).tolist()
    byte, cap, mtu = 10**6, int(rng.integers(1, 8)) * 10**6, int(rng.integers(100, 5_000))
    fabric = star(
        "packet",
        NetworkInterface(1e16 / cap, STARTUP),
        n=len(sizes) + 1,
        link=1e10,
        mtu=mtu,
        variant="sstmacro",
    )
    graph = graph_of(
        [
            [(SEND, size, to, 0) for to, size in enumerate(sizes, 1)],
            *([(RECV, size, 0, 0)] for size in sizes),
        ],
        [],
    )
    run = replay_on(graph, fabric, in_turn=in_turn)
    before = round((STARTUP + LATENCY) * 1e16)
    expected = [before + tick for tick in plain_interface(sizes, byte, cap, mtu, in_turn)]
    assert run.finish_ticks[1:].tolist() == expected


def plain_interface(sizes, byte, cap, mtu, in_turn):
    """Return when the last packet of each message leaves, ticks; all messages are there at 0."""
    waiting = [(0, number, number, size) for number, size in enumerate(sizes)]
    order, port, turn = len(sizes), 0, 0
    left = {}
    while waiting:
        at, _, number, size = heapq.heappop(waiting)
        if in_turn and at < turn:
            heapq.heappush(waiting, (turn, number, number, size))
            continue
        while size:
            packet = min(mtu, size)
            size -= packet
            left[number] = max(at, port)
            port = left[number] + packet * byte
            at += packet * cap
            if in_turn:
                turn = at
            elif size:
                heapq.heappush(waiting, (at, order, number, size))
                order += 1
                break
    return [left[number] for number in range(len(sizes))]


@for_each("congestion", CONGESTIONS)
@examples(5)
@given(seed=st.integers(0, 2**32 - 1), in_turn=st.booleans())
def test_no_message_is_faster_than_its_limit(congestion, seed, in_turn) -> None:
    """Whatever else is under way; and every byte arrives."""
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, 5, 20)
    run = replay_on(graph, star(congestion, n=5), in_turn=in_turn, times=True)
    frame = run.message_frame()
    frame = frame[(frame["source"] != frame["target"]) & (frame["bytes"] > 0)]
    # A packet's head is there before its bytes; PISCES loses 2 B at each of four stages.
    last = {"flow": 0, "packet": MTU, "packet-flow": 8}[congestion]
    least = (STARTUP + LATENCY + np.maximum(frame["bytes"] - last, 0) / CAP) * 1e9
    took = frame["arrived_ns"] - frame["sent_ns"]
    assert (took >= least * (1 - 1e-3 * (congestion == "packet-flow")) - 1e-3).all()
    into = run.channel_bytes[run.channels.injection]
    assert into.sum() == frame["bytes"].sum()


@for_each("congestion", ["packet", "packet-flow"])
def test_traffic_starts_up_too(congestion) -> None:
    """The same messages at the same times, all of them later by the start-up."""
    plain, later = (
        run_traffic(
            star(congestion, NetworkInterface(startup=startup)), "uniform", 0.2, messages=200
        )
        for startup in (0.0, STARTUP)
    )
    # What is measured is what was generated in the window, so it is the same messages.
    assert later.generated == plain.generated
    assert later.mean_latency_s - plain.mean_latency_s == pytest.approx(STARTUP, rel=1e-9)


def test_traffic_is_no_faster_than_one_message_may_be() -> None:
    """Of messages of four packets the last is three packets' time at the limit later."""
    limit = NetworkInterface(CAP)
    run = run_traffic(star("packet", limit), "uniform", 0.05, messages=100, message_bytes=4 * MTU)
    assert run.latencies_s.min() >= LATENCY + 3 * MTU / CAP


def test_a_collective_may_end_with_its_root() -> None:
    """The root of a scatter is done when its messages have arrived; others pass theirs on."""
    fabric = star("flow", NetworkInterface(CAP, STARTUP), n=8)
    size = 10_000
    root, last = (
        collective_times(fabric, "scatter", "binomial", (size,), until=until)[size]
        for until in ("root", "last")
    )
    step = STARTUP + LATENCY
    assert root == pytest.approx(step + 7 * size / CAP, rel=1e-12)
    # Four blocks, then two, then one: the longest way down; the root's are sooner.
    assert last == pytest.approx(3 * step + 7 * size / CAP, rel=1e-12)
    gather = {
        until: collective_times(fabric, "gather", "linear", (size,), until=until)
        for until in ("root", "last")
    }
    assert gather["root"] == gather["last"]
    with pytest.raises(ParameterError, match="did you mean root"):
        collective_times(fabric, "gather", sizes=(size,), until="rot")  # type: ignore[arg-type]


def test_a_run_with_an_interface_comes_back_from_its_file(tmp_path) -> None:
    run = replay_on(message(100), star("flow"), times=True)
    run.save(tmp_path / "run.json")
    again = FabricReplay.load(tmp_path / "run.json")
    assert again.fabric.interface == INTERFACE
    limits = "a message 2 GB/s at most, start-up 600 ns, short messages 500 ns"
    assert repr(again.fabric).endswith(f"flow congestion, {limits})")
    assert run.provenance.title.endswith(f"placement, {limits}")
    assert "at most" not in repr(replace(again.fabric, interface=NetworkInterface()))
    assert again.rank_s(0) == run.rank_s(0) == run.finish_s[1]
    with pytest.raises(ParameterError, match="run the program with times=True"):
        replay_on(message(100), star("flow")).rank_s(0)


@for_each(
    "options, match",
    [
        ({"message_bandwidth": 0}, "message_bandwidth must be above 0 B/s"),
        ({"message_bandwidth": 1e17}, "at most 1e16 B/s"),
        ({"startup": -1e-9}, "startup must be a number of at least 0 s"),
        ({"control_latency": 0}, "control_latency must be above 0 s"),
        ({"control_latency": 1e-20}, "at least 1e-16 s"),
    ],
)
def test_what_is_no_limit_is_refused(options, match) -> None:
    with pytest.raises(ParameterError, match=match):
        NetworkInterface(**options)
