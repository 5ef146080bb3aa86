"""What the repaired variant of the reference promises."""

import dataclasses

import pytest
from hypothesis import given, strategies as st

from tests.cases import examples, for_each
from tests.reference import Config, run_osu
from tests.reference.engine import byte_delay
from tests.reference.osu import DeadlockError
from workbench.models import PISCES, SNAPPR, MPIProtocol, NullMemory, Processor

pytestmark = pytest.mark.conformance

rates = st.floats(min_value=1e9, max_value=50e9)
packets = st.integers(min_value=64, max_value=9000)

# No host delay, no handshake and no shortage: a message alone on an idle network.
BARE = {
    "mpi": MPIProtocol(max_vshort_msg_size=2**24, max_eager_msg_size=2**24),
    "memory": NullMemory(),
    "processor": Processor(negligible_compute_bytes=0),
}
PLENTY = {"nic_credits": 10**8, "switch_credits": 10**8, "nic_buffer": 10**8}


@examples(5)
@given(injection=rates, link=rates, nic=rates, mtu=packets, size=st.integers(1, 100_000))
def test_snappr_charges_every_byte_at_the_slowest_rate(injection, link, nic, mtu, size):
    model = SNAPPR(
        mtu=mtu,
        injection_bandwidth=injection,
        link_bandwidth=link,
        nic_bandwidth=nic,
        variant="repaired",
        **BARE,
        **PLENTY,
    )
    figures = run_osu(Config.from_model(model), [size], window=1)
    slowest = max(byte_delay(rate) for rate in (injection, link, nic))
    ticks = 5_000_000_000 + 4_000_000_000 + size * slowest
    assert figures.latency_s == [ticks / 1e16]


@examples(5)
@given(injection=rates, link=rates, nic=rates, mtu=packets)
def test_a_charged_packet_is_never_earlier(injection, link, nic, mtu):
    model = SNAPPR(
        mtu=mtu, injection_bandwidth=injection, link_bandwidth=link, nic_bandwidth=nic, **PLENTY
    )
    sizes = [1, 300, 4096]  # no rendezvous, where an uncharged packet blocks the next request
    repaired = model.replace(variant="repaired")
    printed = run_osu(Config.from_model(model), sizes, window=1).latency_s
    charged = run_osu(Config.from_model(repaired), sizes, window=1).latency_s
    assert all(late > early for early, late in zip(printed, charged, strict=True))


@examples(5)
@given(injection=rates, link=rates, crossbar=rates, mtu=st.sampled_from([64, 1024, 4096]))
def test_pisces_differs_only_in_packets_of_one_and_two_bytes(injection, link, crossbar, mtu):
    model = PISCES(
        mtu=mtu,
        switch_mtu=mtu,
        injection_bandwidth=injection,
        link_bandwidth=link,
        xbar_bandwidth=crossbar,
    )
    repaired = model.replace(variant="repaired")
    sizes = [4, 60, 1024, 8192]  # divided by mtu none leaves a packet of one or two bytes
    printed = run_osu(Config.from_model(model), sizes, window=8)
    assert printed == run_osu(Config.from_model(repaired), sizes, window=8)


@for_each("size", [1, 2])
def test_pisces_small_packets_take_time(size):
    model = PISCES(variant="repaired", **BARE)
    (latency,) = run_osu(Config.from_model(model), [size], window=1).latency_s
    beta = byte_delay(model.link_bandwidth) / 1e16
    slack = 2 * byte_delay(model.xbar_bandwidth) / 1e16  # the crossbar counts in whole cycles
    assert size * beta <= latency - 900e-9 <= size * beta + slack


def test_a_packet_without_credits_is_reported():
    config = Config.from_model(SNAPPR())
    starved = dataclasses.replace(config, switch_credits=1000)
    with pytest.raises(DeadlockError, match="still wait"):
        run_osu(starved, [4096])
