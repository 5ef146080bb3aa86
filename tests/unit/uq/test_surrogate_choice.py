"""A surrogate that is not exact: which test, why, what was tried, and a posterior all the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from bokeh.models import ColumnDataSource, Div, LayoutDOM, Span
from scipy.special import logsumexp

from tests.unit.uq.simulators import NETWORK, FloatArray, allgather, unit_box
from workbench import tasks
from workbench.errors import ParameterError
from workbench.uq import (
    HoldoutError,
    Parameter,
    ParameterBox,
    Replicas,
    SimulatorCalibration,
    SurrogateChoice,
    SurrogateSlice,
    calibrate_simulator,
    choose_surrogate,
    design,
    fit_surrogate,
    worst_slice,
)
from workbench.uq.surrogate_slice import bend_of

BANDWIDTHS = ParameterBox(
    [
        Parameter("node bandwidth", "B/s", 2e9, 6e9),
        Parameter("link bandwidth", "B/s", 2e9, 6e9),
        Parameter("latency", "s", 1e-6, 3e-6),
    ]
)
TESTS = ("the slower of both", "the node alone")


def slower_of_both(values: FloatArray) -> FloatArray:
    """Return seconds[n, 2]: a message of 100 kB through node and link, and through the node."""
    node, link, latency = values.T
    return np.stack([latency + 1e5 * np.maximum(1 / node, 1 / link), latency + 1e5 / node], axis=1)


@pytest.fixture(scope="module")
def kinked() -> SurrogateChoice:
    return choose_surrogate(BANDWIDTHS, slower_of_both, TESTS, most_points=512)


def words(layout: LayoutDOM) -> str:
    return " ".join(div.text for div in layout.select({"type": Div}))


def test_of_a_smooth_simulator_the_first_surrogate_is_enough() -> None:
    found = choose_surrogate(NETWORK, allgather)
    assert found.reached
    assert found.slice is None
    assert found.remedies == ("degree up to 4",)
    assert found.runs == found.surrogate.points + 100
    assert found.verdict.startswith("the surrogate is within 1 % on all 6 tests: at most 0.")
    assert "of the logarithm of" in found.verdict
    sharper = choose_surrogate(NETWORK, allgather, target=1e-3)
    assert sharper.reached
    assert len(sharper.remedies) > 1
    assert sharper.errors[-1] <= 1e-3 < sharper.errors[0]
    others = design(NETWORK, 50, "latin-hypercube", seed=2)
    assert sharper.surrogate.holdout_error(others, allgather(others)).maximum.max() < 2e-3
    assert len(sharper.to_frame()) == len(sharper.remedies)


def test_a_kink_is_named_with_its_test_and_its_place(
    kinked: SurrogateChoice, tmp_path: Path
) -> None:
    assert not kinked.reached
    assert kinked.remedies == ("degree up to 4", "degree up to 8", "more points", "more points")
    assert kinked.points.tolist() == [128, 128, 256, 512]
    assert kinked.holdout.above().tolist() == [0]
    shown = kinked.slice
    assert shown is not None and kinked.holdout.worst is not None
    assert (shown.test, shown.shape) == (TESTS[0], "kink")
    assert shown.parameter in ("node bandwidth", "link bandwidth")
    # Both bandwidths are equal at the kink.
    other = kinked.holdout.worst[0, 1 if shown.parameter == "node bandwidth" else 0]
    assert shown.place == pytest.approx(other, abs=1.01 * np.diff(shown.x).max())
    assert "above 1 % on 1 of 2 tests: the slower of both" in kinked.verdict
    assert f"along {shown.parameter} the simulator has a kink" in kinked.verdict
    assert "take a local surrogate" in kinked.verdict
    assert kinked.runs == 512 + 100 + 3 * 33
    for one in (kinked, shown):
        again = type(one).load(one.save(tmp_path / "found.json"))
        assert again.to_json() == one.to_json()
        assert repr(again) == repr(one)


def test_the_worst_slice_shows_the_simulator_and_the_surrogate(kinked: SurrogateChoice) -> None:
    shown = kinked.slice
    assert shown is not None and kinked.holdout.worst is not None
    at = list(BANDWIDTHS.names).index(shown.parameter)
    values = np.repeat(kinked.holdout.worst[:1], len(shown.x), axis=0)
    values[:, at] = shown.x
    np.testing.assert_allclose(shown.simulated, slower_of_both(values)[:, 0], rtol=1e-12)
    predicted = kinked.surrogate.predict(values)[:, 0]
    np.testing.assert_allclose(shown.predicted, predicted, rtol=1e-9)
    np.testing.assert_allclose(shown.error, predicted / shown.simulated - 1, atol=1e-9)
    layout = shown.plot()
    sources = [one.data for one in layout.select({"type": ColumnDataSource})]
    assert any(len(data.get("simulated", ())) == 33 for data in sources)
    assert any(span.dimension == "height" for span in layout.select({"type": Span}))
    assert "the simulator has a kink" in words(layout)
    assert "Instead: take a local surrogate" in words(kinked.plot())
    assert len(shown.to_frame()) == 33
    called = kinked.surrogate.worst_slice(slower_of_both, kinked.holdout, TESTS)
    assert called.to_json() == shown.to_json()


def test_bends_are_told_apart() -> None:
    x = np.linspace(-1, 1, 33)
    for smooth in (x**3 + 2, np.exp(3 * x), 1 / (1.2 + x), 3 + 0 * x, 2 + x, np.cos(4 * x) + 2):
        assert bend_of(smooth)[0] == "smooth"
    for place in (5, 16, 27):
        kinked = 3 + np.maximum(0.0, x - x[place]) + 0.1 * x**2
        assert bend_of(kinked) == ("kink", place)
        assert bend_of(3 + (x > x[place]) * 1.0 + 0.1 * x**2)[0] == "jump"


def test_a_smooth_simulator_beyond_the_points_is_told_to_take_more() -> None:
    box = unit_box("a", "b")
    points, others = design(box, 40), design(box, 50, seed=9)

    def waves(values: FloatArray) -> FloatArray:
        return 3 + np.cos(6 * values[:, :1]) + 0.1 * values[:, 1:]

    surrogate = fit_surrogate(box, points, waves(points), degrees=(1, 2, 3))
    found = worst_slice(surrogate, waves, surrogate.holdout_error(others, waves(others)))
    assert (found.parameter, found.shape) == ("a", "smooth")
    assert np.isnan(found.place)
    assert found.remedy == "take more points or a higher degree"
    assert "bends more than degree" in found.reason
    assert "kink or jump" not in words(found.plot())
    without = HoldoutError(np.ones(1), np.ones(1))
    assert without.verdict() == "above 1 % on 1 of 1 tests: test 0 1e+02 %"
    with pytest.raises(ParameterError, match="with their worst points"):
        worst_slice(surrogate, waves, without)
    with pytest.raises(ParameterError, match="most_points must be at least 128"):
        choose_surrogate(box, waves, most_points=100)
    with pytest.raises(ParameterError, match="finite times"):
        choose_surrogate(box, lambda values: waves(values) * np.nan)
    with pytest.raises(ParameterError, match="one label for each of the 1 tests"):
        choose_surrogate(box, waves, ["a", "b"])


def replicas_at(truth: list[float]) -> Replicas:
    """Return 10 replicas of each test with 2 % of noise, that of a seed."""
    rng = np.random.default_rng(4)
    times = slower_of_both(np.array([truth]))[0]
    return Replicas.of([t * np.exp(0.02 * rng.standard_normal(10)) for t in times], TESTS)


def exact_means(replicas: Replicas, spread: float) -> FloatArray:
    """Return the posterior means of both bandwidths on a grid of the prior, with known noise."""
    axes = [
        np.linspace(low, high, 90)
        for low, high in zip(BANDWIDTHS.low, BANDWIDTHS.high, strict=True)
    ]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    off = replicas.statistics.log_mean - np.log(slower_of_both(grid))
    logs = -0.5 * (10 * off**2).sum(axis=1) / spread**2
    return np.asarray(np.exp(logs - logsumexp(logs)) @ grid)[:2]


def test_a_kink_within_the_posterior_is_left_to_the_simulator_itself(tmp_path: Path) -> None:
    from workbench.uq import noise_model

    replicas = replicas_at([4e9, 4.05e9, 2e-6])
    found = calibrate_simulator(
        slower_of_both,
        BANDWIDTHS,
        replicas,
        noise=noise_model("relative", replicas).fix(s=0.02),
        most_points=128,
        draws=1500,
        burn_in=1000,
        seed=1,
    )
    assert found.remedy == "the simulator itself"
    assert found.verdict.startswith("the simulator itself: the surrogate of the whole box is ")
    assert "a kink along" in found.verdict
    assert 100 < found.effective < 400
    assert found.weights.sum() == pytest.approx(1.0)
    values = found.posterior.parameters.reshape(-1, 3)[found.at]
    np.testing.assert_array_equal(found.times, slower_of_both(values))
    exact = exact_means(replicas, 0.02)
    drawn = found.sample(4000, seed=2)[0][:, :2]
    # Standard errors of the means, from the effective draws.
    error = drawn.std(axis=0) / np.sqrt(found.effective)
    assert (np.abs(drawn.mean(axis=0) - exact) < 4 * error).all()
    again = SimulatorCalibration.load(found.save(tmp_path / "found.json"))
    assert again.verdict == found.verdict
    np.testing.assert_array_equal(again.sample(5)[0], found.sample(5)[0])
    assert found.to_frame()["round"].max() == len(found.choices) > 1


def test_a_kink_beside_the_posterior_needs_a_local_surrogate_only() -> None:
    # The node is so slow that the kink is out of what the data leave, once both are known.
    box = ParameterBox([*BANDWIDTHS.parameters[:2]])

    def node_and_link(values: FloatArray) -> FloatArray:
        whole = np.column_stack([values, np.full(len(values), 2e-6)])
        link = 2e-6 + 1e5 / values[:, 1:]
        return np.hstack([slower_of_both(whole), link])

    rng = np.random.default_rng(4)
    times = node_and_link(np.array([[2.5e9, 5e9]]))[0]
    replicas = Replicas.of([t * np.exp(0.01 * rng.standard_normal(10)) for t in times])
    found = calibrate_simulator(
        node_and_link, box, replicas, noise="relative", most_points=256, draws=600, burn_in=600
    )
    assert found.remedy == "a local surrogate"
    assert not found.choices[0].reached
    assert found.choices[-1].reached
    assert len(found.at) == 0
    low, high = np.quantile(found.sample(1000)[0], (0.001, 0.999), axis=0)
    assert (low < [2.5e9, 5e9]).all() and (high > [2.5e9, 5e9]).all()
    smooth = calibrate_simulator(
        lambda values: node_and_link(values)[:, 1:],
        box,
        replicas.select([1, 2]),
        noise="relative",
        draws=100,
        burn_in=100,
    )
    assert smooth.remedy == "one surrogate of the whole box"
    assert len(smooth.choices) == 1


def test_a_stopped_calibration_of_a_simulator_has_no_posterior() -> None:
    task = tasks.Task()
    task.stop()
    with pytest.raises(tasks.JobError, match="before the first draws"):
        calibrate_simulator(
            slower_of_both, BANDWIDTHS, replicas_at([3e9, 5e9, 2e-6]), most_points=128, task=task
        )


def test_a_slice_is_a_result() -> None:
    slice_ = SurrogateSlice(
        "t", "p", "s", np.arange(5.0), np.ones(5), np.ones(5), "jump", 2.0, 3, 40
    )
    assert "its time changes at once near 2 s" in slice_.reason
    assert "<table" in slice_._repr_html_()
