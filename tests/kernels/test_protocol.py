"""The protocol-aware model: kernels against plain recursions, closed forms and properties."""

import itertools

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tests.cases import examples
from tests.reference import protocol as reference
from workbench.errors import ConfigurationError
from workbench.models import Protocol
from workbench.simulate import simulate_osu

SIZES = [1, 7, 64, 1000, 16_384, 100_001, 1_048_576]
ROUNDING = 1e-12  # seconds are ticks over 1e16: one rounding of a double each way

times = st.floats(1e-8, 1e-4)
overheads = st.one_of(st.just(0.0), st.floats(1e-9, 2e-5))
rates = st.floats(1e8, 1e12)
limits = st.sampled_from([1, 4, 64, 1000, 16_384, 2_000_000])


@st.composite
def protocols(draw):
    short, eager = sorted([draw(limits), draw(limits)])
    return Protocol(
        short_max=short,
        eager_max=eager,
        short_latency=draw(times),
        short_overhead=draw(overheads),
        short_copy_bandwidth=draw(rates),
        eager_latency=draw(times),
        eager_overhead=draw(overheads),
        eager_copy_bandwidth=draw(rates),
        eager_bandwidth=draw(rates),
        rendezvous_handshake=draw(times),
        rendezvous_overhead=draw(overheads),
        rendezvous_copy_bandwidth=draw(rates),
        rendezvous_bandwidth=draw(rates),
        middle_limit=draw(st.one_of(st.just(0), limits)),
        middle_latency=draw(times),
        middle_overhead=draw(overheads),
        middle_copy_bandwidth=draw(rates),
        middle_bandwidth=draw(rates),
    )


@examples(60)
@given(model=protocols())
def test_latency_is_its_closed_form(model):
    curve = simulate_osu(model, SIZES, benchmarks=["latency"])
    expected = [reference.latency_s(model, size) for size in SIZES]
    np.testing.assert_allclose(curve.latency_s, expected, rtol=ROUNDING)


@examples(60)
@given(model=protocols(), window=st.sampled_from([1, 2, 64]))
def test_a_window_takes_what_the_plain_recursion_says(model, window):
    curve = simulate_osu(model, SIZES, window=window, warmup=0, fresh=True)
    _, expected = reference.osu(model, SIZES, window)
    np.testing.assert_allclose(curve.bandwidth_Bps, expected, rtol=ROUNDING)


@examples(30)
@given(model=protocols())
def test_no_window_is_faster_than_its_slowest_stage(model):
    curve = simulate_osu(model, SIZES)
    for size, rate in zip(SIZES, curve.bandwidth_Bps, strict=True):
        c = reference.costs(model, size)
        pace = max(c.host, c.wire) / reference.TICKS_PER_SECOND
        assert size / rate >= pace * (1 - ROUNDING)


@examples(30)
@given(model=protocols())
def test_within_a_regime_a_longer_message_is_never_faster(model):
    curve = simulate_osu(model, SIZES)
    regimes = [model.regime_of(size) for size in SIZES]
    same = [one == next_one for one, next_one in itertools.pairwise(regimes)]
    assert (np.diff(curve.latency_s)[same] >= 0).all()


@pytest.mark.jit_only
@examples(20)
@given(model=protocols())
def test_more_windows_say_the_same(model):
    once = simulate_osu(model, SIZES)
    often = simulate_osu(model, SIZES, iterations=5, warmup=2)
    np.testing.assert_allclose(once.latency_s, often.latency_s, rtol=ROUNDING)
    np.testing.assert_allclose(once.bandwidth_Bps, often.bandwidth_Bps, rtol=ROUNDING)


def test_a_doubled_latency_doubles_what_is_latency():
    model = Protocol(
        short_overhead=0.0, short_copy_bandwidth=1e17, eager_bandwidth=1e17, short_latency=1e-6
    )
    once, twice = (
        simulate_osu(model.replace(short_latency=L), [8]).latency_us[0] for L in (1e-6, 2e-6)
    )
    assert (once, twice) == pytest.approx((1.0, 2.0), rel=ROUNDING)


def test_the_regimes_change_just_above_their_limits():
    model = Protocol(short_max=100, eager_max=10_000)
    below, above = simulate_osu(model, [100, 101]).latency_s
    assert above - below > 4e-7
    below, above = simulate_osu(model, [10_000, 10_001]).latency_s
    assert above - below > 2e-6


def test_short_above_eager_is_refused_with_its_rule():
    with pytest.raises(
        ConfigurationError, match=r"\(short.max_size\) 4096 B > eager max \(eager.max_size\) 64 B"
    ):
        simulate_osu(Protocol(short_max=4096, eager_max=64))


def test_a_run_longer_than_the_clock_is_refused():
    for model in (
        Protocol(short_latency=500.0),
        Protocol(rendezvous_bandwidth=1e3),
        Protocol(eager_copy_bandwidth=1e-3),
    ):
        with pytest.raises(ConfigurationError, match=r"must stay below (692|58) s"):
            simulate_osu(model)


def test_the_nearest_model_of_sstmacro_runs_and_keeps_what_it_can():
    model = Protocol()
    nearest = model.to_sstmacro()
    mine, theirs = simulate_osu(model), simulate_osu(nearest)
    assert theirs.bandwidth_Bps[-1] == pytest.approx(mine.bandwidth_Bps[-1], rel=0.02)
    assert theirs.latency_s[9] == pytest.approx(mine.latency_s[9], rel=0.25)
