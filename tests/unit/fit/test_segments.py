"""A curve made of regimes is cut where they meet, and each has its costs again."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from workbench.fit import SearchSpace, fit, model_to_fit
from workbench.fit.initial_guess import starting_points
from workbench.fit.segments import Segment, segments_of
from workbench.measure import OSU_SIZES, OSUCurve
from workbench.models import Protocol
from workbench.simulate import simulate_osu

THREE = Protocol(
    short_max=64,
    eager_max=8192,
    short_latency=1.2e-6,
    short_overhead=2e-7,
    eager_latency=1.9e-6,
    eager_overhead=5e-7,
    eager_copy_bandwidth=12e9,
    rendezvous_handshake=4e-6,
)
BELOW = THREE.replace(
    eager_max=65_536,
    middle_limit=4096,
    middle_latency=2.4e-6,
    middle_overhead=9e-7,
    middle_copy_bandwidth=60e9,
    middle_bandwidth=16e9,
)
ABOVE = THREE.replace(
    middle_limit=262_144,
    middle_latency=6e-6,
    middle_overhead=9e-6,
    middle_bandwidth=14e9,
)


def noisy(model: Protocol, relative: float, seed: int = 0) -> OSUCurve:
    rng, curve = np.random.default_rng(seed), simulate_osu(model)
    latency, bandwidth = np.exp(relative * rng.standard_normal((2, len(curve))))
    return dataclasses.replace(
        curve,
        latency_s=curve.latency_s * latency,
        bandwidth_Bps=curve.bandwidth_Bps * bandwidth,
    )


@pytest.mark.parametrize("model", [THREE, BELOW, ABOVE])
def test_a_simulated_curve_is_cut_at_its_thresholds(model: Protocol) -> None:
    curve = simulate_osu(model)
    limits = sorted(filter(None, (model.short_max, model.eager_max, model.middle_limit)))
    cut = segments_of(curve).cuts(len(limits) + 1)[0]
    assert [part.last for part in cut] == [*limits, OSU_SIZES[-1]]
    # What is left is the acknowledgement of the last rendezvous of a window, a 64th of its time.
    assert sum(part.missed for part in cut) < 1e-3


def test_costs_are_those_of_the_regime() -> None:
    short, eager, rendezvous = segments_of(simulate_osu(THREE)).cuts(3)[0]
    assert short.flight + 2 * short.overhead == pytest.approx(
        THREE.short_latency + 2 * THREE.short_overhead, rel=1e-3
    )
    assert eager.overhead == pytest.approx(THREE.eager_overhead, rel=0.02)
    assert eager.copy == pytest.approx(1 / THREE.eager_copy_bandwidth, rel=0.02)
    assert rendezvous.wire == pytest.approx(1 / THREE.rendezvous_bandwidth, rel=0.02)
    assert rendezvous.flight - eager.flight == pytest.approx(THREE.rendezvous_handshake, rel=0.05)


@pytest.mark.parametrize("relative", [0.0, 0.01])
def test_a_fourth_regime_is_taken_where_there_is_one(relative: float) -> None:
    assert not segments_of(noisy(THREE, relative)).shows(4)
    assert model_to_fit("protocol", curve=noisy(THREE, relative)) == Protocol()
    for model in (BELOW, ABOVE):
        four = noisy(model, relative)
        assert segments_of(four).shows(4)
        found = fit(four, trials=300)
        assert "middle.bandwidth" in found.space.keys
        assert found.model.short_max == model.short_max
        assert found.model.eager_max == model.eager_max
        assert found.model.middle_limit == model.middle_limit
        assert found.rmspe["joint"] < 1.0


def test_points_that_were_not_measured_are_left_out() -> None:
    curve = simulate_osu(THREE)
    latency = curve.latency_s.copy()
    latency[[2, 9]] = np.nan
    cut = segments_of(dataclasses.replace(curve, latency_s=latency)).cuts(3)[0]
    assert [part.last for part in cut] == [64, 8192, OSU_SIZES[-1]]


def test_a_curve_too_short_is_not_cut() -> None:
    two, five, six = (segments_of(simulate_osu(THREE, OSU_SIZES[:n])) for n in (2, 5, 6))
    assert two.cuts(3) == five.cuts(3) == []
    assert not two.shows(4)
    assert not five.shows(3)
    assert len(six.cuts(3, 2)) == 1
    assert all(isinstance(part, Segment) for part in six.cuts(3)[0])


def test_the_protocol_model_starts_where_the_curve_breaks() -> None:
    true = Protocol(short_max=64, eager_max=8192, eager_latency=4e-6, short_latency=2e-6)
    machine = simulate_osu(true)
    space = SearchSpace.for_model(true)
    own, best, *_ = starting_points(Protocol(), machine, space)
    assert own == {key: float(Protocol().get(key)) for key in space.keys}
    assert (best["short.max_size"], best["eager.max_size"]) == (64, 8192)
    simulated = simulate_osu(
        Protocol().with_values({d.key: d.clip(best[d.key]) for d in space.dimensions})
    )
    error = simulated.latency_s / machine.latency_s - 1.0
    # a start, not a fit: it must only be near enough to go down from
    assert np.sqrt(np.mean(error**2)) < 0.25


def test_a_curve_of_latency_alone_is_a_start_too() -> None:
    machine = simulate_osu(Protocol(), benchmarks=("latency",))
    points = starting_points(Protocol(), machine, SearchSpace.for_model(Protocol()))
    assert len(points) > 2
    assert all(np.isfinite(list(point.values())).all() for point in points)
