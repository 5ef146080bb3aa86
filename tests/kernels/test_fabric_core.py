"""The packet core without any host layer but this file's: closed forms, order, conservation."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from kernels.fabric import engine, layout, lists, nic, routing, snappr
from workbench.models import SNAPPR
from workbench.simulate.fabric import sst_wiring
from workbench.simulate.fabric.network import build
from workbench.simulate.ticks import byte_delay, ticks

MODEL = SNAPPR(mtu=1000, nic_credits=64_000, switch_credits=64_000)


def idle(network, model=MODEL, **options):
    """Return a machine with SST/macro's routes, all messages as packets."""
    return build(
        network.wiring,
        model,
        rotors=network.rotors,
        route=network.route,
        candidates=network.candidates,
        overlay=False,
        **options,
    )


def drive(state, sends, last_bytes=False):
    """Send (tick, source, target, bytes) messages; return number and tick of what comes in.

    The simplest host layer there is: a timer for each message, and nothing follows from arrivals.

    Args:
        state: of an idle machine.
        sends: the messages.
        last_bytes: return when the last byte of the packet that completes a message is there, as
            SNAPPR's variant ``repaired`` does, and not its head.
    """
    s, t, q = state.s, state.t, state.q
    for number, (at, source, _, _) in enumerate(sends):
        nic.set_timer(s, q, source, at, layout.NODE, layout.TIMER, number, 0)
    arrived, depth = {}, np.zeros(0, np.int32)
    while engine.open_window(s, q, layout.CLOCK_END):
        assert snappr.serve(s, t, q, routing.no_routes(), depth, depth) == layout.OK
        for host in range(s[layout.N_HOSTS]):
            due = s[layout.AT_DUE] + s[layout.N_ROUTERS] + host
            while s[due] < s[layout.WINDOW_END]:
                now = int(s[due])
                news = nic.step(s, q, now, host)
                word = int(s[layout.EVENT_WORD])
                if news == layout.TIMER_DUE:
                    _, source, target, size = sends[word]
                    message = nic.new_message(s, q, source, target, size, word, 0)
                    nic.send(s, t, q, now, message)
                elif news == layout.MESSAGE_IN:
                    p = layout.port_cells(s, layout.ejection_channel(s, host))
                    tail = layout.span(s[layout.EVENT_CODE], s[p + layout.BYTE])
                    arrived[int(q[word + layout.M_WORD])] = now + int(tail if last_bytes else 0)
                    layout.free_record(s, q, word)
                nic.settle(s, host, layout.host_cells(s, host))
    return arrived


RING = sst_wiring.torus((8,), 1)
LATENCIES = ticks(MODEL.injection_latency) + ticks(MODEL.ejection_latency)


@pytest.mark.parametrize("hops", range(5))
@pytest.mark.parametrize("size", [1, 1000, 1001, 3500])
def test_an_idle_network_takes_its_latencies_and_all_but_the_last_packet(hops, size):
    # SNAPPR does not charge the last packet's bytes; its first packets leave one after another.
    arrived = drive(idle(RING), [(0, 0, hops, size)] if hops else [(0, 0, 1, size)])
    full = (size - 1) // 1000
    links = max(hops, 1) * ticks(MODEL.link_latency)
    assert arrived[0] == LATENCIES + links + full * 1000 * byte_delay(12.5e9)


@pytest.mark.parametrize(
    ("injection", "link", "nic_rate"), [(5e9, 10e9, 10e9), (10e9, 5e9, 10e9), (10e9, 5e9, 2e9)]
)
def test_unequal_ports_charge_the_difference(injection, link, nic_rate):
    model = MODEL.replace(
        injection_bandwidth=injection, link_bandwidth=link, nic_bandwidth=nic_rate
    )
    arrived = drive(idle(RING, model), [(0, 0, 2, 1000)])
    inject, carry, take = (1000 * byte_delay(rate) for rate in (injection, link, nic_rate))
    held = max(0, inject - carry) + max(0, carry - take)
    assert arrived[0] == LATENCIES + 2 * ticks(MODEL.link_latency) + held


def test_a_port_sends_one_packet_after_another():
    # Nodes 1 and 7 both send to 0; the messages meet at its ejection port, which halves the rate.
    packets = 20
    arrived = drive(idle(RING), [(0, 1, 0, 1000 * packets), (0, 7, 0, 1000 * packets)])
    first = LATENCIES + ticks(MODEL.link_latency)
    each = 1000 * byte_delay(12.5e9)
    assert max(arrived.values()) == first + (2 * packets - 1) * each
    assert min(arrived.values()) == first + (2 * packets - 2) * each


def test_too_few_credits_halve_the_rate():
    # One packet of credit: the next leaves when the first one's credit is back from the next port.
    model = MODEL.replace(nic_credits=1000)
    packets = 10
    arrived = drive(idle(RING, model), [(0, 0, 1, 1000 * packets)])
    # A credit comes back one injection latency after the packet's bytes have left the router.
    loop = 2 * ticks(MODEL.injection_latency) + 1000 * byte_delay(12.5e9)
    assert arrived[0] == LATENCIES + ticks(MODEL.link_latency) + (packets - 1) * loop


machines = st.sampled_from(
    [
        sst_wiring.torus((4,), 2),
        sst_wiring.torus((3, 3), 1),
        sst_wiring.dragonfly(2, 5, 2, 1, static=False),
        sst_wiring.fat_tree(
            {
                "num_agg_subtrees": 2,
                "leaf_switches_per_subtree": 2,
                "agg_switches_per_subtree": 2,
                "num_core_switches": 2,
                "up_ports_per_leaf_switch": 2,
                "down_ports_per_agg_switch": 2,
                "up_ports_per_agg_switch": 2,
                "down_ports_per_core_switch": 4,
                "concentration": 2,
            }
        ),
    ]
)


@st.composite
def loads(draw):
    """Return a machine, a model with few credits as often as not, and messages."""
    network = draw(machines)
    lane = draw(st.sampled_from([1000, 1700, 64_000]))
    model = MODEL.replace(
        nic_credits=draw(st.sampled_from([1000, 2500, 64_000])),
        switch_credits=lane * network.wiring.lanes,
        nic_buffer=draw(st.sampled_from([1000, 3000, 4_000_000])),
        injection_bandwidth=draw(st.sampled_from([6e9, 12.5e9, 25e9])),
        nic_bandwidth=draw(st.sampled_from([6e9, 25e9])),
    )
    hosts = st.integers(0, network.wiring.num_hosts - 1)
    ends = st.tuples(hosts, hosts).filter(lambda pair: pair[0] != pair[1])
    sends = draw(
        st.lists(st.tuples(st.integers(0, 30_000_000_000), ends, st.integers(1, 5000)), max_size=25)
    )
    return network, model, [(at, source, target, size) for at, (source, target), size in sends]


def lanes_of(state):
    """Return the credits each lane has or has under way, and what waits at each channel."""
    s, wiring = state.s, state.wiring
    channels = wiring.between_routers + 2 * wiring.num_hosts
    credits_of = np.zeros((channels, wiring.lanes), np.int64)
    for channel in range(channels):
        c = layout.channel_cells(s, channel)
        while s[c + layout.N_CREDITS] > 0:
            word = int(lists.take_credit(s, c))
            credits_of[channel, word >> 32] += word & layout.SIZE_MASK
        for lane in range(wiring.lanes):
            credits_of[channel, lane] += s[layout.lane_cells(s, channel, lane) + layout.CREDITS]
    return credits_of


@given(loads())
def test_every_packet_arrives_and_every_credit_returns(load):
    network, model, sends = load
    state = idle(network, model)
    before = lanes_of(state)
    records = state.s[layout.USED] - state.s[layout.N_FREE]
    arrived = drive(state, sends)
    assert sorted(arrived) == list(range(len(sends)))
    assert np.array_equal(lanes_of(state), before)
    assert state.s[layout.USED] - state.s[layout.N_FREE] == records
    assert not state.channel_cells(layout.N_PENDING).any()
    wiring, total = network.wiring, sum(size for *_, size in sends)
    carried = state.channel_cells(layout.BYTES_SENT)
    ejected, injected = np.split(carried[wiring.between_routers :], 2)
    assert ejected.sum() == injected.sum() == total
    into = np.zeros(wiring.num_routers, np.int64)
    out = np.zeros(wiring.num_routers, np.int64)
    np.add.at(into, wiring.target, carried[: wiring.between_routers])
    np.add.at(out, wiring.source, carried[: wiring.between_routers])
    np.add.at(into, wiring.host_router, injected)
    np.add.at(out, wiring.host_router, ejected)
    assert np.array_equal(into, out)
    assert all(arrived[number] > at for number, (at, *_) in enumerate(sends))


@st.composite
def crowds(draw):
    """Return a machine, a model with hardly any credits, and messages of one host at one time.

    Their packets pass each other: a short one fits into credits that a long one waits for.
    """
    network = draw(machines)
    model = MODEL.replace(
        nic_credits=draw(st.sampled_from([1000, 1700])),
        switch_credits=draw(st.sampled_from([1000, 1700])) * network.wiring.lanes,
        injection_bandwidth=draw(st.sampled_from([6e9, 12.5e9, 25e9])),
        nic_bandwidth=draw(st.sampled_from([6e9, 25e9])),
    )
    source = draw(st.integers(0, network.wiring.num_hosts - 1))
    targets = st.integers(0, network.wiring.num_hosts - 1).filter(lambda host: host != source)
    sizes = st.one_of(st.sampled_from([1, 999, 1001, 2001]), st.integers(1, 4500))
    sends = draw(st.lists(st.tuples(st.integers(0, 10), targets, sizes), min_size=2, max_size=6))
    return network, model, [(at, source, target, size) for at, target, size in sends]


@given(st.one_of(loads(), crowds()), st.integers(0, 24))
def test_no_last_byte_comes_earlier_for_other_messages(load, chosen):
    """What holds for SNAPPR's variant ``repaired``, which waits for a message's last byte.

    Alone, a message's packets keep their order, and no event of theirs waits for another message.
    Among others a short last packet may pass longer ones at a port with few credits; then a longer
    packet is the last to come in, and what the message has won by it that packet's bytes take.
    ``sstmacro`` does not charge the packet that comes in last, be it 1 byte or a whole mtu: there a
    message may be complete earlier for others, by the bytes by which that packet is the longer one.
    """
    network, model, sends = load
    # Where ports take turns another message may send this one over a shorter way.
    if not sends or len(network.rotors) > 0:
        return
    chosen %= len(sends)
    alone = drive(idle(network, model), [sends[chosen]], last_bytes=True)[0]
    assert drive(idle(network, model), sends, last_bytes=True)[chosen] >= alone


def test_a_short_last_packet_that_passes_leaves_a_whole_one_uncharged():
    # Credits for one packet. Behind another message's byte the packet of 1000 B waits and the last
    # byte of the message passes it: SST/macro charges one byte where it charged 1000 before.
    model = MODEL.replace(nic_credits=1000)
    sends = [(1, 1, 0, 1001), (0, 1, 0, 1)]
    alone = drive(idle(RING, model), sends[:1])[0]
    assert drive(idle(RING, model), sends)[0] < alone
    alone = drive(idle(RING, model), sends[:1], last_bytes=True)[0]
    assert drive(idle(RING, model), sends, last_bytes=True)[0] >= alone


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 3)), max_size=60), st.data())
def test_timed_events_come_in_order(entries, data):
    q = np.zeros((len(entries) + 1) * layout.RECORD, np.int64)
    root, expected, taken = 0, [], []

    def take(root):
        taken.append(int(q[root + layout.E_ORDER]))
        return int(lists.without_root(q, root))

    for number, (at, owner) in enumerate(entries):
        event = (number + 1) * layout.RECORD
        q[event + layout.E_AT], q[event + layout.E_CLASS] = at, owner << 32
        q[event + layout.E_ORDER] = number
        root = int(lists.meld(q, root, event))
        expected.append((at, owner, number))
        if data.draw(st.integers(0, 3)) == 0:
            root = take(root)
            expected.sort()
            assert taken[-1] == expected.pop(0)[2]
    while root:
        root = take(root)
        expected.sort()
        assert taken[-1] == expected.pop(0)[2]
    assert not expected


@given(st.lists(st.one_of(st.integers(0, 50), st.none()), max_size=120))
def test_credits_come_in_order_and_equal_ones_as_they_were_sent(steps):
    s = np.zeros(4096, np.int64)
    s[layout.END] = 200
    c, waiting = 100, []
    for number, at in enumerate(steps):
        if at is not None:
            lists.add_credit(s, c, at, 0, number)
            waiting.append((at, number))
            waiting.sort()
        elif waiting:
            assert lists.first_credit(s, c) == waiting[0][0]
            assert lists.take_credit(s, c) == waiting.pop(0)[1]
    assert not s[layout.LOST_ROOM]
    assert s[c + layout.N_CREDITS] == len(waiting)


def test_credits_that_find_no_room_say_so():
    s = np.zeros(210, np.int64)
    s[layout.END] = 200
    lists.add_credit(s, 100, 1, 0, 1)
    assert s[layout.LOST_ROOM]


def test_an_empty_network_has_no_window():
    state = idle(RING)
    assert not engine.open_window(state.s, state.q, layout.CLOCK_END)
    assert state.s[layout.WINDOW_END] == layout.NEVER
