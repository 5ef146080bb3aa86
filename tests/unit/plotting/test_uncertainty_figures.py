"""Figures of posteriors, predictions, Sobol' indices and checks show the numbers of the results."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from bokeh.models import BoxAnnotation, Div, LayoutDOM
from bokeh.plotting import figure

from tests.unit.uq.ring import BOX, COLUMNS, measured, ring, simulate
from tests.unit.uq.simulators import NETWORK, allgather
from workbench.errors import ParameterError
from workbench.plotting import (
    describe_posterior,
    describe_prediction,
    describe_sobol,
    palette,
    plot_calibration_check,
    plot_chains,
    plot_posterior,
    plot_posterior_fit,
    plot_posterior_pairs,
    plot_prediction,
    plot_sobol,
)
from workbench.plotting.uq.quantities import quantities
from workbench.uq import (
    Parameter,
    ParameterBox,
    Posterior,
    Prediction,
    Replicas,
    SobolIndices,
    calibrate,
    design,
    fit_surrogate,
    predict,
    predict_calibrated,
    simulation_based_calibration,
    sobol_indices,
)
from workbench.uq.simulation_based import CalibrationCheck

TESTS = tuple(f"program {number}" for number in range(6))


@pytest.fixture(scope="module")
def posterior() -> Posterior:
    return calibrate(ring(), measured(tau=0.03), draws=300, burn_in=300, thin=2)


@pytest.fixture(scope="module")
def prediction(posterior: Posterior) -> Prediction:
    return predict(posterior, simulate, posterior.replicas.tests, COLUMNS)


@pytest.fixture(scope="module")
def check() -> CalibrationCheck:
    ranks = np.random.default_rng(0).integers(0, 200, (200, 3))
    ranks[:, 2] = 80 + ranks[:, 2] // 5
    kinds = "parameter", "next replica", "next replica"
    names = "latency", "8 nodes", "16 nodes"
    return CalibrationCheck(names, kinds, ranks, 0.9, "relative", "constant", 0, 200, 0, 1.0)


@pytest.fixture(scope="module")
def indices() -> SobolIndices:
    points = design(NETWORK, 60)
    times = allgather(points)
    times[:, 5] = 1e-3
    return sobol_indices(fit_surrogate(NETWORK, points, times), points, times, refits=4)


def words(layout: LayoutDOM) -> str:
    return " ".join(div.text for div in layout.select({"type": Div}))


def figures(layout: LayoutDOM) -> list[figure]:
    return list(layout.select({"type": figure}))


def by_title(layout: LayoutDOM, text: str) -> figure:
    (found,) = (fig for fig in figures(layout) if fig.title.text.startswith(text))
    return found


def columns(fig: figure) -> list[dict[str, Any]]:
    return [renderer.data_source.data for renderer in fig.renderers]


def labels(fig: figure) -> list[str]:
    return list(fig.yaxis[0].major_label_overrides.values())


def test_each_quantity_has_its_density_prior_and_quantiles(posterior: Posterior) -> None:
    layout = posterior.plot(height=180)
    found = quantities(posterior)
    assert [q.name for q in found] == [*BOX.names, "tau", "s"]
    assert {fig.height for fig in figures(layout)} == {180}
    for quantity in found:
        bars, prior, ends, middle = columns(by_title(layout, f"{quantity.name}: "))
        assert sum(bars["percent"]) == pytest.approx(100)
        np.testing.assert_allclose(
            [ends["at"][0], middle["at"][0], ends["at"][1]],
            np.quantile(quantity.drawn, [0.05, 0.5, 0.95]),
        )
        values, density = np.array(prior["value"]), np.array(prior["prior"])
        inside = (values >= quantity.low) & (values <= quantity.high)
        assert (density[~inside] == 0).all()
    bandwidth = by_title(layout, "Max BW")
    assert bandwidth.xaxis[0].axis_label == "Max BW (GB/s)"
    assert bandwidth.yaxis[0].axis_label == "density (1/GB/s)"
    np.testing.assert_allclose(max(columns(bandwidth)[1]["prior"]), 1 / 0.7)  # uniform, 1.5 to 2.2
    assert "not converged" in words(layout)
    reason, advice = posterior.verdict.partition(": ")[2].split("; ")
    assert reason in words(layout) and advice.startswith("run longer")
    assert "Width of the 90 % interval" in describe_posterior(posterior)


def test_priors_hold_a_share_of_1_in_the_units_of_the_axes() -> None:
    box = ParameterBox(
        (
            Parameter("latency", "s", 1e-7, 1e-5, log=True),
            Parameter("bandwidth", "B/s", 1e9, 9e9, mean=4e9, sd=2e9),
        )
    )
    points = design(box, 60)
    times = points[:, :1] + 1e3 / points[:, 1:]
    data = Replicas.of([times[0]])
    found = calibrate(fit_surrogate(box, points, times), data, draws=200, burn_in=50, thin=1)
    quantity = {each.name: each for each in quantities(found)}
    assert quantity["bandwidth"].label == "bandwidth (GB/s)"
    assert quantity["s"].label == "s (ratio)"
    for each in quantity.values():
        scale = np.linspace(np.log10(each.low), np.log10(each.high), 20_001)
        density = each.prior(np.clip(10**scale, each.low, each.high)) * 10**scale * np.log(10)
        assert np.trapezoid(density, scale) == pytest.approx(1, abs=1e-4)  # steps of 1/20,000


def test_chains_have_traces_and_every_draw_has_a_rank(posterior: Posterior) -> None:
    layout = plot_chains(posterior)
    row = posterior.summary().set_index("quantity").loc["Max BW"]
    trace = by_title(layout, "Max BW: R-hat")
    assert f"R-hat {row['R-hat']:.3f}" in trace.title.text
    assert trace.yaxis[0].axis_label == "value (GB/s)"
    np.testing.assert_array_equal(columns(trace)[1]["value"], posterior.parameters[1, :, 0])
    ranks = next(fig for fig in figures(layout) if fig.title.text.startswith("Ranks"))
    counts = np.array([data["count"][:-1] for data in columns(ranks)])
    assert counts.sum(axis=1).tolist() == [posterior.draws] * posterior.chains
    even = posterior.chains * posterior.draws / 20
    np.testing.assert_allclose(counts.sum(axis=0), even, rtol=0.2)  # repeated draws share a rank


def test_pairs_hold_all_draws_and_name_the_correlated_ones(posterior: Posterior) -> None:
    layout = plot_posterior_pairs(posterior, ("Max BW", "Inj Lat", "tau"))
    assert len(figures(layout)) == 6
    drawn = posterior.parameters[:, :, [0, 2]].reshape(-1, 2).T
    expected = f"r = {np.corrcoef(drawn)[0, 1]:+.2f}".replace("-", "−")
    pair = by_title(layout, expected)
    (data,) = columns(pair)
    assert sum(data["percent"]) == pytest.approx(100)
    assert pair.x_range is by_title(layout, "Max BW").x_range
    assert len(figures(plot_posterior_pairs(posterior))) == 10
    with pytest.raises(ParameterError, match="did you mean Max BW"):
        plot_posterior_pairs(posterior, ("MaxBW",))
    with pytest.raises(ParameterError, match="1 to 6 parameters"):
        plot_posterior_pairs(posterior, ())


def test_calibration_tests_stand_around_their_measured_medians(posterior: Posterior) -> None:
    layout = plot_posterior_fit(posterior, draws=200)
    (fig,) = figures(layout)
    replicas = posterior.replicas
    assert labels(fig) == list(replicas.tests)
    wide, narrow, points, surrogate = columns(fig)
    assert (wide["left"] <= narrow["left"]).all()
    assert (narrow["right"] <= wide["right"]).all()
    assert len(points["off"]) == len(replicas.values)
    first = np.array(points["off"])[np.array(points["row"]) == 0]
    assert np.median(first) == pytest.approx(0, abs=1e-9)  # percent
    times = np.median(posterior.times[:, :, 0]) / np.median(replicas.rows[0])
    assert surrogate["off"][0] == pytest.approx(100 * (times - 1))
    text = words(layout)
    assert "90 % intervals hold" in text
    assert all(word in text for word in ("measured replicas", "surrogate"))


def test_a_prediction_of_the_calibration_tests_needs_no_simulator(posterior: Posterior) -> None:
    drawn = predict_calibrated(posterior, draws=100)
    direct = predict(posterior, ring().predict, posterior.replicas.tests, COLUMNS)
    np.testing.assert_allclose(drawn.median, direct.median, rtol=1e-9)
    np.testing.assert_allclose(drawn.high, direct.high, rtol=1e-9)
    with pytest.raises(ParameterError, match="levels must not be empty"):
        predict_calibrated(posterior, levels=())


def test_a_prediction_has_its_parts_in_percent_of_the_median(
    posterior: Posterior, prediction: Prediction
) -> None:
    layout = plot_prediction(prediction, posterior.replicas)
    left, right = by_title(layout, "Intervals"), by_title(layout, "Half-widths at 90 %")
    assert labels(left)[0].startswith(f"{prediction.tests[0]}: ")
    assert right.y_range is left.y_range
    *parts, whole = columns(right)
    widths = (prediction.parameter, prediction.discrepancy, prediction.noise)
    for part, width in zip(parts, widths, strict=True):
        np.testing.assert_allclose(part["percent"], 100 * width[1] / prediction.median)
    half = 50 * (prediction.high[1] - prediction.low[1]) / prediction.median
    np.testing.assert_allclose(whole["percent"], half)
    assert f"({prediction.tests[int(np.argmax(half))]})" in describe_prediction(prediction)
    none = replace(prediction, discrepancy=np.zeros_like(prediction.discrepancy))
    assert "discrepancy" not in words(none.plot())
    assert "measured" not in words(none.plot())


def test_the_bars_of_a_test_are_its_indices_and_end_at_100(indices: SobolIndices) -> None:
    layout = indices.plot(TESTS)
    (fig,) = figures(layout)
    assert labels(fig) == list(TESTS)
    bars = columns(fig)[: 2 * (len(NETWORK) + 1) : 2]
    for at, data in enumerate(bars[:-1]):
        np.testing.assert_allclose(data["share"], 100 * indices.first[:5, at], rtol=1e-9)
    np.testing.assert_allclose(bars[-1]["right"], 100)
    assert "interactions" in words(layout)
    assert "the time depends on no parameter" in columns(fig)[-1]["text"]
    assert describe_sobol(indices).startswith("Mean over 5 of 6 tests: ")
    assert "refits" not in words(plot_sobol(replace(indices, first_interval=None)))
    with pytest.raises(ParameterError, match="one label for each of the 6 tests"):
        plot_sobol(indices, TESTS[:2])


def test_a_check_shows_coverages_and_what_is_beyond_chance(check: CalibrationCheck) -> None:
    layout = plot_calibration_check(check)
    left, right = by_title(layout, "Truths"), by_title(layout, "Data sets by rank")
    assert labels(left) == ["latency", "8 nodes (next replica)", "16 nodes (next replica)"]
    within, beyond = columns(left)
    assert beyond["row"].tolist() == [2]
    np.testing.assert_allclose(within["coverage"], 100 * check.coverage[:2])
    (band,) = (item for item in left.center if isinstance(item, BoxAnnotation))
    assert (band.left, band.right) == tuple(100 * end for end in check.band)
    bars = columns(right)[0]
    assert bars["count"].sum() == check.ranks.size
    assert bars["colour"][-1] == palette.VERMILLION
    assert check.verdict[1:].partition(";")[0].partition(", or")[0] in words(layout)


def test_a_check_of_data_sets_is_drawn_by_its_plot() -> None:
    found = simulation_based_calibration(ring(), measured(replicas=3), noise="relative", datasets=2)
    assert len(figures(found.plot())) == 2


def test_a_posterior_without_draws_is_refused(posterior: Posterior) -> None:
    empty = replace(
        posterior,
        parameters=posterior.parameters[:, :0],
        hyper=posterior.hyper[:, :0],
        log_posterior=posterior.log_posterior[:, :0],
        times=posterior.times[:, :0],
    )
    for draw in (plot_posterior, plot_chains, plot_posterior_pairs, plot_posterior_fit):
        with pytest.raises(ParameterError, match="must have draws"):
            draw(empty)
