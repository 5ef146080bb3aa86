"""The losses by hand, and what they refuse."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.cases import for_each
from workbench.errors import ParameterError
from workbench.fit.losses import (
    EXCESSIVE_LOSS,
    LOSSES,
    find_loss,
    find_target,
    huber,
    rmspe,
    rmspe_by_target,
    summed,
    target_points,
)
from workbench.measure import OSUCurve
from workbench.provenance import Provenance


def curve(latency_us: list[float], bandwidth: list[float]) -> OSUCurve:
    return OSUCurve(
        name="c",
        sizes=np.array([2**k for k in range(len(latency_us))]),
        latency_s=np.array(latency_us) * 1e-6,
        bandwidth_Bps=np.array(bandwidth) * 1e6,
        provenance=Provenance(origin="synthetic", title="c"),
    )


@for_each(
    "name, expected",
    [
        # y = 2, 4 and x = 3, 2: errors 1 and -2, relative errors 1/2 and -1/2
        ("mae", 1.5),
        ("mse", 2.5),
        ("rmse", math.sqrt(2.5)),
        ("rmsre", 0.5),
        ("rmspe", 50.0),
        ("huber", (0.5 + 1.5) / 2),
    ],
)
def test_each_loss_by_hand(name: str, expected: float) -> None:
    assert LOSSES[name]([3.0, 2.0], [2.0, 4.0]) == pytest.approx(expected, rel=1e-15)


def test_a_relative_loss_divides_by_the_observation() -> None:
    assert LOSSES["rmsre"]([1.0], [2.0]) == 0.5
    assert LOSSES["rmsre"]([2.0], [1.0]) == 1.0


def test_huber_takes_another_delta_and_is_named_after_it() -> None:
    assert huber(10.0)([3.0], [0.0]) == 4.5
    assert huber(10.0).name == "huber(10)"
    assert huber().name == "huber"
    with pytest.raises(ParameterError, match="delta must be above 0 and finite; got -1"):
        huber(-1.0)


def test_both_means_the_average_over_all_points_of_both() -> None:
    measured, simulated = curve([1.0, 1.0], [10.0, 10.0]), curve([2.0, 1.0], [10.0, 10.0])
    joint = rmspe_by_target(simulated, measured)
    assert joint["latency"] == pytest.approx(100 * math.sqrt(1 / 2), rel=1e-12)
    assert joint["bandwidth"] == pytest.approx(0.0, abs=1e-12)
    assert joint["joint"] == pytest.approx(100 * math.sqrt(1 / 4), rel=1e-12)


def test_points_are_in_the_units_osu_prints() -> None:
    points = target_points(curve([1.5], [200.0]), "both")
    assert points.tolist() == pytest.approx([1.5, 200.0], rel=1e-15)


def test_a_benchmark_that_was_not_measured_has_no_error() -> None:
    measured, simulated = curve([1.0], [math.nan]), curve([2.0], [3.0])
    errors = rmspe_by_target(simulated, measured)
    assert math.isnan(errors["bandwidth"])
    assert errors["joint"] == errors["latency"] == pytest.approx(100.0, rel=1e-12)


@for_each("bad", [math.inf, math.nan, -math.inf])
def test_a_prediction_that_is_not_finite_is_infinitely_wrong(bad: float) -> None:
    assert LOSSES["mae"]([bad, 1.0], [1.0, 1.0]) == math.inf


def test_a_huge_prediction_is_infinitely_wrong_and_warns_of_nothing() -> None:
    assert LOSSES["mse"]([1e300], [1.0]) == math.inf
    assert LOSSES["mae"]([1e300], [1.0]) > EXCESSIVE_LOSS


def test_what_cannot_be_weighed_is_refused() -> None:
    with pytest.raises(ParameterError, match="one length"):
        rmspe([1.0], [1.0, 2.0])
    with pytest.raises(ParameterError, match="at least one point"):
        rmspe([1.0], [math.nan])
    with pytest.raises(ParameterError, match="must be positive; got 0"):
        rmspe([1.0], [0.0])
    assert LOSSES["mae"]([1.0], [0.0]) == 1.0


def test_unknown_names_list_the_known_ones() -> None:
    with pytest.raises(ParameterError, match="rmsre, rmspe, mae, mse, rmse, huber; got 'mape'"):
        find_loss("mape")
    with pytest.raises(ParameterError, match="both, latency, bandwidth; got 'all'"):
        find_target("all")
    assert find_loss("RMSRE") is LOSSES["rmsre"]


@for_each("name", [name for name, loss in LOSSES.items() if loss.rises_with])
def test_a_loss_that_rises_with_another_is_that_function_of_it(name: str) -> None:
    loss = LOSSES[name]
    rng = np.random.default_rng(1)
    for _ in range(20):
        x, y = rng.uniform(1, 9, (2, 7))
        assert loss.risen is not None
        assert loss(x, y) == loss.risen(LOSSES[loss.rises_with](x, y))


def test_a_summed_loss_is_the_loss_of_each_point_summed() -> None:
    x, y = [1.1, 4.0, 90.0], [1.0, 5.0, 100.0]
    relative, absolute = 0.1 + 0.2 + 0.1, 0.1 + 1.0 + 10.0
    assert find_loss("summed(rmsre)")(x, y) == pytest.approx(relative, rel=1e-12)
    assert summed("rmspe")(x, y) == pytest.approx(100 * relative, rel=1e-12)
    assert summed("rmse")(x, y) == pytest.approx(absolute, rel=1e-12)
    # the others differ from their mean by the number of points only
    for name in ("mae", "mse", "huber"):
        assert summed(name)(x, y) == pytest.approx(3 * LOSSES[name](x, y), rel=1e-12)
    assert find_loss("Summed(RMSRE)").name == "summed(rmsre)"
    with pytest.raises(ParameterError, match="got 'summed\\(x\\)'"):
        find_loss("summed(x)")
