"""The two-node kernels against a slow model, against themselves, and against closed forms."""

import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import assume, example, given, strategies as st

from tests.cases import examples
from tests.kernels.configurations import (
    logps,
    models,
    overlays,
    pisceses,
    rates,
    snapprs,
    tailing_pisceses,
    times,
)
from tests.kernels.skipping import after_plain_events, curve_and_events
from tests.kernels.table_two import corners, sample
from tests.reference import Config, run_osu
from workbench.errors import ConfigurationError, SimulationHalted
from workbench.models import (
    PISCES,
    SNAPPR,
    LogP,
    LogPMemory,
    MPIProtocol,
    NullMemory,
    Processor,
    read_ini,
)
from workbench.simulate import simulate_osu
from workbench.simulate.ticks import byte_delay, ticks

# The reference divides ticks by 1e16 in another order: a few roundings of a double.
ROUNDING = 1e-13
TICK_S = 1e-16


@examples(60)
@given(
    model=models,
    sizes=st.lists(st.integers(1, 20_000), min_size=1, max_size=5, unique=True).map(sorted),
    iterations=st.integers(1, 2),
    warmup=st.integers(0, 2),
    window=st.sampled_from([1, 2, 7, 16]),
    fresh=st.booleans(),
)
def test_agrees_with_the_plain_reference(model, sizes, iterations, warmup, window, fresh):
    counts = {"iterations": iterations, "warmup": warmup, "window": window, "fresh": fresh}
    assert_agrees_with_the_reference(model, sizes, **counts)


# What is left of a clock set back depends on the tick at which the message is sent: MPI_Init and
# each barrier must be there to the tick.
@examples(40)
@given(
    model=st.one_of(tailing_pisceses(), tailing_pisceses(), logps()),
    sizes=st.lists(
        st.builds(
            lambda whole, rest: max(1, whole + rest),
            st.sampled_from([0, 64, 128, 512, 1024, 6400]),
            st.integers(0, 3),
        ),
        min_size=1,
        max_size=4,
        unique=True,
    ).map(sorted),
    iterations=st.integers(1, 2),
    warmup=st.integers(0, 2),
    window=st.sampled_from([1, 2, 7, 16]),
)
def test_agrees_with_the_plain_reference_in_last_packets_of_a_byte_or_two(
    model, sizes, iterations, warmup, window
):
    counts = {"iterations": iterations, "warmup": warmup, "window": window}
    assert_agrees_with_the_reference(model, sizes, **counts)


def assert_agrees_with_the_reference(model, sizes, *, iterations, window, **counts):
    counts |= {"iterations": iterations, "window": window}
    try:
        curve = simulate_osu(model, sizes, **counts)
    except ConfigurationError:
        assume(False)
    figures = run_osu(Config.from_model(model), sizes, **counts)
    slow = np.maximum(figures.latency_s, 0.0)
    np.testing.assert_allclose(curve.latency_s, slow, rtol=ROUNDING, atol=TICK_S)
    seconds = np.array(sizes) * window * iterations / np.array(figures.bandwidth_Bps)
    simulated = np.array(sizes) * window * iterations / curve.bandwidth_Bps
    np.testing.assert_allclose(simulated, np.maximum(seconds, 0.0), rtol=ROUNDING, atol=TICK_S)
    for test, ran_back in (
        ("latency", figures.latency_ran_back),
        ("bandwidth", figures.bandwidth_ran_back),
    ):
        (said,) = curve.notes or ("",)
        named = re.search(rf"{test} at ([0-9B, ]+)", said)
        found = [int(size) for size in re.findall(r"\d+", named[1])] if named else []
        assert found == [size for size, back in zip(sizes, ran_back, strict=True) if back]


def assert_skipping_changes_no_digit(model, sizes, **counts):
    try:
        skipped, _ = curve_and_events(model, sizes, skip=True, **counts)
    except ConfigurationError:
        assume(False)
    whole, _ = curve_and_events(model, sizes, skip=False, **counts)
    np.testing.assert_array_equal(skipped.latency_s, whole.latency_s)
    np.testing.assert_array_equal(skipped.bandwidth_Bps, whole.bandwidth_Bps)


@pytest.mark.jit_only
@examples(12)
@given(model=models)
def test_skipping_what_repeats_changes_no_digit(model):
    sizes = [64, 1000, 16_384, 100_001, 524_288]
    assert_skipping_changes_no_digit(model, sizes, iterations=3)


@pytest.mark.jit_only
@examples(12)
@given(model=st.one_of(snapprs(), logps()), events=st.sampled_from([1, 8192, 2**62]))
def test_what_goes_before_the_first_skipping_changes_no_digit(model, events):
    sizes = [64, 16_384, 524_288]
    try:
        skipped, few = curve_and_events(model, sizes, skip=True, iterations=3)
    except ConfigurationError:
        assume(False)
    begun, more = after_plain_events(model, events, sizes, iterations=3)
    np.testing.assert_array_equal(begun.latency_s, skipped.latency_s)
    np.testing.assert_array_equal(begun.bandwidth_Bps, skipped.bandwidth_Bps)
    assert more >= few


@pytest.mark.jit_only
def test_a_process_skips_what_repeats_once_it_has_simulated_many_events():
    model, counts = SNAPPR(), {"iterations": 1000}
    _, few = curve_and_events(model, [65_536], skip=True, **counts)
    _, all_plain = after_plain_events(model, 2**62, [65_536], **counts)
    _, some_plain = after_plain_events(model, 50_000, [65_536], **counts)
    assert 50_000 + few / 4 < some_plain < 60_000 + 2 * few < all_plain / 2


# Trains of packets and credits in all proportions, of messages that end in a shorter packet.
@examples(80)
@given(
    model=snapprs(),
    mtu=st.integers(128, 2000),
    packets=st.floats(1, 25),
    held=st.tuples(*3 * [st.floats(0, 2)]),
    latencies=st.tuples(*2 * [st.floats(-9, -5)]),
)
def test_packets_handled_at_once_change_no_digit(model, mtu, packets, held, latencies):
    nic, switch, buffer = (int(mtu * 10**exponent) for exponent in held)
    injection, ejection = (10**exponent for exponent in latencies)
    model = model.replace(
        mtu=mtu,
        nic_credits=nic,
        switch_credits=switch,
        nic_buffer=buffer,
        injection_latency=injection,
        ejection_latency=ejection,
        negligible_size=0,
    )
    assert_skipping_changes_no_digit(model, [int(mtu * packets)], window=6)


# The same of PISCES, where a message's last packet may have one or two bytes and no tail.
@examples(80)
@given(
    model=pisceses(),
    mtu=st.integers(64, 2000),
    packets=st.integers(1, 25),
    last=st.one_of(st.integers(0, 3), st.integers(0, 2000)),
    held=st.tuples(*2 * [st.floats(0, 2)]),
    latencies=st.tuples(*2 * [st.floats(-9, -5)]),
)
def test_packets_of_pisces_handled_at_once_change_no_digit(
    model, mtu, packets, last, held, latencies
):
    nic, link = (int(max(mtu, 64) * 10**exponent) for exponent in held)
    injection, ejection = (10**exponent for exponent in latencies)
    model = model.replace(
        mtu=mtu,
        switch_mtu=mtu,
        nic_credits=nic,
        link_credits=link,
        injection_latency=injection,
        ejection_latency=ejection,
    )
    assert_skipping_changes_no_digit(model, [mtu * packets + last % mtu], window=6)


# Credits for many packets, at the link for hundreds: a period is longer than a message.
@pytest.mark.jit_only
@pytest.mark.parametrize(
    "model",
    [
        pytest.param(
            PISCES(
                mtu=235,
                injection_bandwidth=14.75e9,
                injection_latency=0.513e-6,
                ejection_latency=50e-6,
                nic_credits=9081,
                xbar_bandwidth=407e9,
                link_bandwidth=23.68e9,
                link_credits=100_000,
            ),
            id="the link's",
        ),
        pytest.param(
            PISCES(
                mtu=205,
                injection_bandwidth=2.41e9,
                injection_latency=1.3e-9,
                ejection_latency=53e-9,
                nic_credits=5_000,
                xbar_bandwidth=28.6e9,
                link_bandwidth=1.99e9,
                link_credits=10_000,
            ),
            id="all, and packets without a tail",
        ),
    ],
)
def test_pisces_with_credits_for_many_packets_takes_a_part_of_the_events(model):
    sizes = [4096, 205 * 400 + 1]
    skipped, few = curve_and_events(model, sizes, skip=True)
    whole, many = curve_and_events(model, sizes, skip=False)
    np.testing.assert_array_equal(skipped.latency_s, whole.latency_s)
    np.testing.assert_array_equal(skipped.bandwidth_Bps, whole.bandwidth_Bps)
    assert few < many / 2


@pytest.mark.jit_only
@pytest.mark.parametrize("credits", [100_000, 2_500_000])
def test_a_longer_message_of_pisces_takes_no_more_events(credits):
    """With credits for the whole message, most of its packets wait at the crossbar at once."""
    model = PISCES(
        mtu=161,
        injection_bandwidth=10.4e9,
        injection_latency=137e-9,
        ejection_latency=27e-6,
        nic_credits=credits,
        xbar_bandwidth=2.67e9,
        link_bandwidth=14.7e9,
        link_credits=10_000,
    )
    short, long = (curve_and_events(model, [161 * n], skip=True)[1] for n in (2000, 16_000))
    assert long < 1.1 * short


# Credits for all that is sent in a round trip or for one packet, at the least and the most latency.
@pytest.mark.jit_only
@pytest.mark.parametrize("slow", ["injection_latency", "ejection_latency"])
@pytest.mark.parametrize("short", ["nic_credits", "switch_credits", "neither"])
def test_the_slowest_corners_of_table_two_keep_their_digits_at_a_part_of_their_events(slow, short):
    ample = {"nic_credits": 100_000, "switch_credits": 100_000}
    model = SNAPPR(
        mtu=128,
        injection_bandwidth=50e9,
        nic_bandwidth=1e9,
        link_bandwidth=50e9,
        **{"injection_latency": 1e-9, "ejection_latency": 1e-9, slow: 5e-6},
        **{key: 1000 if key == short else value for key, value in ample.items()},
    )
    sizes = [4096, 100_000]
    skipped, few = curve_and_events(model, sizes, skip=True)
    whole, many = curve_and_events(model, sizes, skip=False)
    np.testing.assert_array_equal(skipped.latency_s, whole.latency_s)
    np.testing.assert_array_equal(skipped.bandwidth_Bps, whole.bandwidth_Bps)
    assert few < many / 2


@pytest.mark.deep
@pytest.mark.jit_only
@pytest.mark.parametrize(
    "models",
    [
        pytest.param(lambda: corners("snappr"), id="SNAPPR's corners"),
        pytest.param(lambda: sample("snappr", 400, seed=1), id="SNAPPR"),
        pytest.param(lambda: corners("pisces"), id="PISCES' corners"),
        pytest.param(lambda: sample("pisces", 400, seed=1), id="PISCES"),
    ],
)
def test_every_digit_of_table_two_is_that_of_every_event(models):
    sizes = [1, 64, 1000, 16_384, 300_001, 1_048_576]
    for model in models():
        try:
            skipped, _ = curve_and_events(model, sizes, skip=True)
        except ConfigurationError:
            continue
        whole, _ = curve_and_events(model, sizes, skip=False)
        np.testing.assert_array_equal(skipped.latency_s, whole.latency_s, err_msg=str(model))
        np.testing.assert_array_equal(
            skipped.bandwidth_Bps, whole.bandwidth_Bps, err_msg=str(model)
        )


# A last packet of one or two bytes sets PISCES' clock back, behind times that are long past.
@pytest.mark.jit_only
@examples(40)
@given(
    model=pisceses(),
    packets=st.lists(st.integers(0, 60), min_size=1, max_size=3, unique=True).map(sorted),
    last=st.integers(0, 3),
    iterations=st.integers(1, 9),
    window=st.sampled_from([1, 7, 64]),
)
@example(
    model=PISCES(
        mtu=64,
        injection_bandwidth=1e9,
        injection_latency=0.0,
        injection_arbitrator="simple",
        ejection_latency=5e-6,
        nic_credits=64,
        switch_mtu=64,
        xbar_bandwidth=1e9,
        xbar_arbitrator="simple",
        link_bandwidth=1e9,
        link_credits=64,
        link_arbitrator="cut_through",
        negligible_size=0,
        mpi=MPIProtocol(max_vshort_msg_size=0, max_eager_msg_size=1024),
        memory=LogPMemory(bandwidth=1e9, latency=0.0),
    ),
    packets=[8],
    last=1,
    iterations=1,
    window=1,
)
def test_skipping_what_repeats_allows_for_a_clock_set_back(
    model, packets, last, iterations, window
):
    sizes = sorted({max(1, n * model.mtu + last) for n in packets})
    assert_skipping_changes_no_digit(model, sizes, iterations=iterations, window=window)


@pytest.mark.jit_only
@pytest.mark.parametrize("model", [SNAPPR(), PISCES(), SNAPPR(nic_credits=8192)])
def test_skipping_what_repeats_skips_most(model):
    sizes = [2**k for k in range(23)]
    _, few = curve_and_events(model, sizes, iterations=3, skip=True)
    _, many = curve_and_events(model, sizes, iterations=3, skip=False)
    assert few < many / 4


@pytest.mark.jit_only
def test_messages_that_repeat_are_skipped_however_many_packets_are_under_way():
    model = SNAPPR(
        mtu=134,
        injection_bandwidth=3.853e9,
        injection_latency=6.536e-6,
        ejection_latency=84.41e-6,
        nic_credits=200_000,
        switch_credits=15_170_000,
        link_bandwidth=3.311e9,
    )
    skipped, few = curve_and_events(model, [262_144], skip=True)
    whole, many = curve_and_events(model, [262_144], skip=False)
    assert few < many / 4
    np.testing.assert_array_equal(skipped.bandwidth_Bps, whole.bandwidth_Bps)


@pytest.mark.jit_only
def test_any_number_of_threads_gives_the_same_digits():
    rng = np.random.default_rng(7)
    draws = [
        SNAPPR(mtu=int(rng.integers(128, 9000)), injection_bandwidth=rng.uniform(1e9, 5e10))
        for _ in range(24)
    ]
    alone = [simulate_osu(model) for model in draws]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(simulate_osu, draws))
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one.latency_s, other.latency_s)
        np.testing.assert_array_equal(one.bandwidth_Bps, other.bandwidth_Bps)


# No host costs: what is left is the network.
BARE = {
    "mpi": MPIProtocol(max_vshort_msg_size=2**24, max_eager_msg_size=2**24),
    "memory": NullMemory(),
    "processor": Processor(negligible_compute_bytes=0),
    "variant": "repaired",
}


@examples(30)
@given(bandwidth=rates, out_in=times, hop=times, injection=times, size=st.integers(1, 2**20))
def test_logp_latency_is_its_closed_form(bandwidth, out_in, hop, injection, size):
    model = LogP(
        bandwidth=bandwidth,
        out_in_latency=out_in,
        hop_latency=hop,
        injection_latency=injection,
        negligible_size=2**21,
        **BARE,
    )
    expected = ticks(out_in) + ticks(hop) + size * byte_delay(bandwidth)
    curve = simulate_osu(model, [size], benchmarks=["latency"])
    assert curve.latency_s[0] * 1e16 == pytest.approx(expected, rel=ROUNDING)


@examples(30)
@given(model=snapprs(), overlay=overlays, injection=rates, link=rates, nic=rates)
def test_repaired_snappr_charges_every_byte_at_the_slowest_rate(
    model, overlay, injection, link, nic
):
    model = model.replace(
        **BARE,
        negligible_size=0,
        logp=overlay,
        nic_flow_control=True,
        switch_flow_control=True,
        congestion=True,
        injection_flit_size=0,
        link_flit_size=0,
        nic_credits=10**9,
        switch_credits=10**9,
        nic_buffer=10**9,
        injection_bandwidth=injection,
        link_bandwidth=link,
        nic_bandwidth=nic,
    )
    size = 10_007
    latency = ticks(model.injection_latency) + ticks(model.ejection_latency)
    slowest = max(byte_delay(rate) for rate in (injection, link, nic))
    curve = simulate_osu(model, [size], benchmarks=["latency"])
    assert curve.latency_s[0] * 1e16 == pytest.approx(latency + size * slowest, rel=ROUNDING)


@examples(30)
@given(model=snapprs())
def test_nothing_is_faster_than_its_links(model):
    try:
        curve = simulate_osu(model, [64, 5000, 40_000], window=16)
    except ConfigurationError:
        assume(False)
    whole_way = model.injection_latency + model.ejection_latency
    overlay = model.logp.out_in_latency + model.logp.hop_latency
    one_tick = 3e-16
    assert (curve.latency_s >= min(whole_way, overlay) - one_tick).all()


def test_the_defects_of_sstmacro_and_their_repair():
    bare = {key: value for key, value in BARE.items() if key != "variant"}
    bare["memory"] = LogPMemory(bandwidth=1e15, latency=0.0)
    bare["processor"] = Processor(frequency=1e16)
    one_packet = SNAPPR(**bare)
    assert simulate_osu(one_packet, [4096]).latency_us[0] == pytest.approx(0.9, rel=1e-3)
    repaired = simulate_osu(one_packet.replace(variant="repaired"), [4096])
    assert repaired.latency_us[0] == pytest.approx(0.9 + 4096 / 12.5e3, rel=1e-3)
    tiny = PISCES(**bare)
    assert simulate_osu(tiny, [1, 2]).latency_us == pytest.approx([0, 0], abs=1e-6)
    assert simulate_osu(tiny.replace(variant="repaired"), [1]).latency_us[0] > 0.9


def test_a_result_names_its_variant_and_that_it_is_simulated():
    for variant in ("sstmacro", "repaired"):
        curve = simulate_osu(SNAPPR(variant=variant), [8])
        assert curve.provenance.origin == "simulated"
        assert variant in curve.provenance.caption()
        assert variant in curve.name


@pytest.mark.parametrize(
    ("overrides", "rule"),
    [
        ({"node.nic.credits": "1KB"}, "node.nic.credits >= node.nic.mtu"),
        ({"switch.credits": "1KB"}, "switch.credits >= node.nic.mtu"),
        ({"node.nic.buffer": "1KB"}, "node.nic.buffer >= node.nic.mtu"),
        ({"node.memory.name": "null"}, "copied bytes"),
        ({"node.app1.mpi.max_eager_msg_size": "16B"}, "rendezvous"),
    ],
)
def test_what_would_not_finish_is_refused_with_its_rule(overrides, rule):
    if "eager" in rule or rule == "rendezvous":
        overrides = {**overrides, "node.app1.mpi.max_vshort_msg_size": "16B"}
    with pytest.raises(ConfigurationError) as refused:
        simulate_osu(read_ini(None, overrides))
    assert rule in refused.value.rule


@pytest.mark.parametrize(
    "overrides",
    [
        {"node.nic.injection.latency": "500s"},
        {"node.nic.injection.latency": "1844s"},
        {"switch.link.bandwidth": "1B/s"},
        {"switch.link.bandwidth": "1KB/s"},
        {"node.nic.injection.latency": "60s"},
        {"node.app1.mpi.rdma_page_delay": "1s"},
        {"node.memory.bandwidth": "1B/s"},
    ],
)
def test_a_run_longer_than_the_clock_is_refused(overrides):
    with pytest.raises(ConfigurationError, match=r"must stay below (692|58) s"):
        simulate_osu(read_ini(None, overrides))


@pytest.mark.jit_only
def test_the_counts_of_the_osu_benchmarks_run_and_say_what_one_iteration_says():
    counted, single = simulate_osu(SNAPPR(), osu_counts=True), simulate_osu(SNAPPR())
    np.testing.assert_allclose(counted.latency_s, single.latency_s, rtol=1e-9)
    # A bandwidth's first window is a little faster than the following ones.
    np.testing.assert_allclose(counted.bandwidth_Bps, single.bandwidth_Bps, rtol=1e-9)
    most = simulate_osu(SNAPPR(), iterations=10_000, warmup=100)  # 430 s of simulated time
    np.testing.assert_allclose(most.latency_s, single.latency_s, rtol=1e-9)


@pytest.mark.jit_only
def test_the_counts_of_the_osu_benchmarks_are_those_of_its_sizes():
    sizes = [8192, 8193]
    model = PISCES(memory=LogPMemory(bandwidth=1e9, latency=0.0))
    counted = simulate_osu(model, sizes, osu_counts=True, window=2)
    for i, (latency_counts, bandwidth_counts) in enumerate(
        (((100, 10_000), (10, 100)), ((10, 1000), (2, 20)))
    ):
        for benchmark, (warmup, iterations), figures in (
            ("latency", latency_counts, "latency_s"),
            ("bandwidth", bandwidth_counts, "bandwidth_Bps"),
        ):
            options = {"window": 2, "benchmarks": [benchmark], "fresh": True}
            alone = simulate_osu(model, sizes, warmup=warmup, iterations=iterations, **options)
            each = simulate_osu(model, sizes, osu_counts=True, **options)
            assert getattr(each, figures)[i] == getattr(alone, figures)[i]
            assert getattr(each, figures)[i] == pytest.approx(
                getattr(counted, figures)[i], rel=1e-3
            )


@pytest.mark.jit_only
@pytest.mark.parametrize("iterations", [10**6, 10**9])
def test_iterations_beyond_the_clock_are_refused(iterations):
    with pytest.raises(ConfigurationError, match="below 692 s, where the clock ends; this run"):
        simulate_osu(SNAPPR(), [2**22], iterations=iterations)


def test_a_byte_faster_than_a_tick_takes_no_time_but_is_refused_by_pisces():
    assert simulate_osu(SNAPPR(link_bandwidth=1e39), [4096]).latency_s[0] > 0
    with pytest.raises(ConfigurationError, match="lower it to 1e16 B/s or less"):
        simulate_osu(PISCES(link_bandwidth=1e39))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"sizes": []}, "at least one size"),
        ({"sizes": [0, 1]}, "ascend from at least 1 B"),
        ({"sizes": [8, 8]}, "without repeats"),
        ({"iterations": 0}, "iterations must be a whole number of at least 1;"),
        ({"warmup": -1}, "warmup must be a whole number of at least 0;"),
        ({"window": 0}, "window must be 1 to"),
        ({"iterations": 10**21}, "at most 1000000000"),
        ({"iterations": 2, "osu_counts": True}, "give either it or them"),
        ({"benchmarks": ["speed"]}, "benchmarks must be among latency, bandwidth"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        simulate_osu(SNAPPR(), **arguments)


@pytest.mark.jit_only
def test_a_stopped_run_ends(stopped):
    with pytest.raises(SimulationHalted, match="stopped before it finished"):
        simulate_osu(SNAPPR(mtu=128), task=stopped)


@examples(25)
@given(model=models, last=st.integers(0, 9))
def test_a_run_that_is_ended_early_has_the_same_figures_up_to_there(model, last):
    sizes = [64, 1000, 5001, 12_000, 20_001]
    try:
        whole = simulate_osu(model, sizes, window=8)
    except ConfigurationError:
        assume(False)
    seen = []

    def enough(latency_s, bandwidth_Bps):
        seen.append(int(np.isfinite(latency_s).sum() + (~np.isnan(bandwidth_Bps)).sum()))
        return len(seen) > last

    part = simulate_osu(model, sizes, window=8, enough=enough)
    assert seen == list(range(1, last + 2))
    # size by size: the latency, then the bandwidth
    found = np.column_stack([part.latency_s, part.bandwidth_Bps]).ravel()
    expected = np.column_stack([whole.latency_s, whole.bandwidth_Bps]).ravel()
    expected[last + 1 :] = np.nan
    np.testing.assert_array_equal(found, expected)


@pytest.mark.jit_only
def test_a_run_that_needs_more_room_on_the_way_is_judged_by_whole_figures_only():
    # More packets are on their way than there is room for at first: the run starts again.
    model = SNAPPR(mtu=128, nic_credits=4_000_000, switch_credits=4_000_000, injection_latency=2e-5)
    sizes = [64, 4096, 262_144]
    whole = simulate_osu(model, sizes)
    seen = []
    again = simulate_osu(model, sizes, enough=lambda _, rate: seen.append(rate) or False)
    np.testing.assert_array_equal(again.bandwidth_Bps, whole.bandwidth_Bps)
    for rate in seen:
        known = ~np.isnan(rate)
        np.testing.assert_array_equal(rate[known], whole.bandwidth_Bps[known])


def test_one_benchmark_alone_gives_the_same_figures():
    both = simulate_osu(SNAPPR(), [64, 9000])
    latency = simulate_osu(SNAPPR(), [64, 9000], benchmarks=["latency"])
    bandwidth = simulate_osu(SNAPPR(), [64, 9000], benchmarks=["bandwidth"])
    np.testing.assert_array_equal(latency.latency_s, both.latency_s)
    np.testing.assert_array_equal(bandwidth.bandwidth_Bps, both.bandwidth_Bps)
    assert np.isnan(latency.bandwidth_Bps).all()
    assert np.isnan(bandwidth.latency_s).all()
