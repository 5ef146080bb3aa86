"""A curve made of straight pieces is cut where they meet."""

from __future__ import annotations

import numpy as np
import pytest

from workbench.fit import SearchSpace
from workbench.fit.initial_guess import starting_points
from workbench.fit.segments import segmentations
from workbench.measure import OSU_SIZES, OSUCurve
from workbench.models import Protocol
from workbench.provenance import Provenance
from workbench.simulate import simulate_osu

SIZES = np.array(OSU_SIZES)


def curve(latency: np.ndarray, interval: np.ndarray) -> OSUCurve:
    return OSUCurve(
        name="pieces",
        sizes=SIZES[: len(latency)],
        latency_s=latency,
        bandwidth_Bps=SIZES[: len(latency)] / interval,
        provenance=Provenance(origin="synthetic", title="three straight pieces"),
    )


def pieces() -> tuple[np.ndarray, np.ndarray]:
    s = SIZES.astype(np.float64)
    part = np.searchsorted([64, 8192], s)
    latency = np.array([1e-6, 2e-6, 9e-6])[part] + s * np.array([1e-9, 2e-10, 1e-10])[part]
    interval = np.array([2e-7, 3e-7, 0.0])[part] + s * np.array([0.0, 1e-10, 9e-11])[part]
    return latency, interval


def test_straight_pieces_are_found_with_their_costs() -> None:
    parts, *others = segmentations(curve(*pieces()), 3, 4)
    assert [part.last for part in parts] == [64, 8192, OSU_SIZES[-1]]
    # the pieces are exact: what is left is the normal equations' rounding, 1e-16 times a
    # condition of about 1e8
    for part, latency, interval in zip(
        parts,
        [(1e-6, 1e-9), (2e-6, 2e-10), (9e-6, 1e-10)],
        [(2e-7, 0.0), (3e-7, 1e-10), (0.0, 9e-11)],
        strict=True,
    ):
        assert part.latency == pytest.approx(latency, rel=1e-6)
        assert part.interval == pytest.approx(interval, rel=1e-6, abs=1e-15)
    assert len(others) == 3
    lasts = [[SIZES.searchsorted(part.last) for part in way] for way in (parts, *others)]
    for i, way in enumerate(lasts):
        assert all(np.abs(np.subtract(way, other)).max() > 1 for other in lasts[:i])


def test_points_that_were_not_measured_are_left_out() -> None:
    latency, interval = pieces()
    latency[[2, 9]] = np.nan
    parts = segmentations(curve(latency, interval), 3, 1)[0]
    assert [part.last for part in parts] == [64, 8192, OSU_SIZES[-1]]
    alone = segmentations(curve(latency, np.full(len(SIZES), np.nan)), 3, 1)[0]
    assert [part.interval for part in alone] == [None, None, None]


def test_a_curve_too_short_is_not_cut() -> None:
    latency, interval = pieces()
    assert segmentations(curve(latency[:5], interval[:5]), 3, 2) == []
    assert len(segmentations(curve(latency[:6], interval[:6]), 3, 2)) == 1


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
