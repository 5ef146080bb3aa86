"""Predictions: their three parts, kriging of discrepancies, and the paper's Table 4."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from tests.cases import for_each
from tests.unit.uq.ring import BOX, COLUMNS, KB, NODES, measured, polynomials, ring, simulate
from workbench.errors import ParameterError
from workbench.parameters import Parameter
from workbench.uq import (
    NOISE_MODELS,
    Posterior,
    Prediction,
    Replicas,
    calibrate,
    log_score,
    noise_model,
    predict,
)
from workbench.uq.parameters import ParameterBox
from workbench.uq.prediction import discrepancies, given_residuals

FloatArray = NDArray[np.float64]
SURROGATE = ring()
KIB = 1024


def calibrated(noise: str, replicas: Replicas | None = None) -> Posterior:
    data = measured(tau=0.05) if replicas is None else replicas
    return calibrate(SURROGATE, data, noise=noise, draws=500, burn_in=1000)


def gather_times(nodes: FloatArray, size_kb: FloatArray, bandwidth: FloatArray) -> FloatArray:
    """Return seconds to gather into a root that receives at a bandwidth in GB/s."""
    return np.asarray((nodes - 1) * size_kb * KIB / (bandwidth * 1e9))


def test_table_4_is_the_posterior_of_one_bandwidth() -> None:
    """Printed: 287.1 ± 0.97, 574.0 ± 1.93, 860.9 ± 2.90, 1147.9 ± 3.87 ms with 65,536 nodes.

    One bandwidth of 1.8708 GB/s meets the times within 0.14 ms, and ± is 1.645 standard
    deviations: the half-width of a 90 % interval. No noise is in it.
    """
    nodes, size = (
        axis.ravel()
        for axis in np.meshgrid(
            [128.0, 192, 256, 384, 512, 1024, 2048], [8.0, 16, 24, 32], indexing="ij"
        )
    )
    bandwidth, replicas, sd_relative = 1.8708, 20, 0.00205
    times = gather_times(nodes, size, np.array(bandwidth))
    # Near the mode, equation (2) is a normal density of the bandwidth, of this spread.
    sigma = sd_relative * np.sqrt(replicas * (times**2).sum())
    assert sigma == pytest.approx(0.53e-3, abs=0.01e-3)
    # The logarithm of 1 / BW as a polynomial of degree 5, exact to 1e-8.
    box = ParameterBox((Parameter("Max BW", "GB/s", 1.75, 2.0),))
    unit = np.cos(np.pi * (np.arange(40) + 0.5) / 40)
    legendre = np.polynomial.legendre.legfit(unit, -np.log(box.from_unit(unit[:, None])[:, 0]), 5)
    coefficients = np.tile(legendre[:, None].astype(np.float64), len(times))
    coefficients[0] += np.log(gather_times(nodes, size, np.array(1.0)))
    surrogate = polynomials(box, np.arange(6)[:, None], coefficients, True)
    # Only the means matter where sigma is known.
    data = Replicas.of([[t] * replicas for t in times])
    noise = noise_model("constant", data).fix(sigma=float(sigma))
    posterior = calibrate(surrogate, data, noise=noise, draws=10_000)
    drawn = posterior.parameters
    assert drawn.mean() == pytest.approx(bandwidth, rel=1e-4)
    # 10,000 effective draws: 4 standard errors of a standard deviation are 3 %.
    assert drawn.std() / drawn.mean() == pytest.approx(sd_relative, rel=0.03)

    def machine(values: FloatArray) -> FloatArray:
        return gather_times(np.array(65_536.0), np.array([8.0, 16, 24, 32]), values)

    found = predict(posterior, machine, ["8", "16", "24", "32"], draws=20_000, levels=[0.9])
    exact = machine(np.array([[bandwidth]]))[0]
    np.testing.assert_allclose(exact * 1e3, [287.1, 574.0, 860.9, 1147.9], atol=0.14)
    np.testing.assert_allclose(found.parameter[0] * 1e3, [0.97, 1.93, 2.90, 3.87], rtol=0.04)
    closed = stats.norm.ppf(0.95) * sd_relative * exact
    np.testing.assert_allclose(closed * 1e3, [0.97, 1.93, 2.90, 3.87], rtol=0.005)
    assert not found.discrepancy.any()


@for_each("noise", NOISE_MODELS)
def test_parts_and_intervals_agree_with_the_noise_model(noise: str, tmp_path: Path) -> None:
    posterior = calibrated(noise)
    tests = ["further"] * 20
    found = predict(posterior, simulate, tests, COLUMNS, levels=(0.5, 0.9))
    assert (found.low < found.median).all()
    assert (found.median < found.high).all()
    assert (found.high[1] - found.low[1] > found.high[0] - found.low[0]).all()
    half = 0.5 * (found.high - found.low)
    together = np.sqrt(found.parameter**2 + found.discrepancy**2 + found.noise**2)
    if noise == "gaussian-process":  # parts make up for each other
        assert (half < 1.1 * together).all()
    else:  # parts are independent, and nearly normal
        np.testing.assert_allclose(half, together, rtol=0.15)
    assert (found.discrepancy > 0).all() == posterior.noise.has_discrepancy
    if noise == "relative":
        s = np.median(posterior.hyper)
        np.testing.assert_allclose(found.noise[1] / found.median, 1.645 * s, rtol=0.06)
    again = Prediction.load(found.save(tmp_path / "prediction.json"))
    np.testing.assert_array_equal(again.noise, found.noise)
    frame = found.to_frame()
    assert frame["level"].tolist() == [0.5, 0.9] * 20
    assert frame["± noise (s)"][1] == found.noise[1, 0]
    assert "20 tests" in repr(found)


def test_a_calibration_test_keeps_the_discrepancy_that_was_seen() -> None:
    data = measured(tau=0.1)
    posterior = calibrated("hierarchical", data)
    same = predict(posterior, simulate, data.tests)
    fresh = predict(posterior, simulate, ["further"] * 20)
    assert (same.discrepancy < 0.5 * fresh.discrepancy).all()
    seen = np.exp(data.statistics.log_mean)
    np.testing.assert_allclose(same.median, seen, rtol=0.03)
    assert np.abs(fresh.median / seen - 1).max() > 0.08


def test_tests_nearby_inherit_the_discrepancy_under_a_gaussian_process() -> None:
    times = simulate(np.array([[1.8, 2.6, 0.6, 100.0]]))[0]
    slow = np.where(KB == 32, 1.3, 1.0) * times  # what no parameter explains
    rng = np.random.default_rng(1)
    data = Replicas.of([t * np.exp(0.02 * rng.standard_normal(20)) for t in slow], columns=COLUMNS)
    posterior = calibrated("gaussian-process", data)
    at = posterior.pick(100)
    near, far = {"nodes": [260.0], "KB": [32.0]}, {"nodes": [260.0], "KB": [2.0**20]}
    mean, variance = discrepancies(posterior, at, ["new"], near)
    far_mean, far_variance = discrepancies(posterior, at, ["new"], far)
    assert np.median(mean) > 0.05 > abs(np.median(far_mean))
    assert np.median(variance / posterior.hyper.reshape(-1, 4)[at][:, :1] ** 2) < 0.5
    np.testing.assert_allclose(
        far_variance[:, 0], posterior.hyper.reshape(-1, 4)[at][:, 0] ** 2, rtol=1e-3
    )


def test_kriging_is_the_normal_distribution_given_the_replicas() -> None:
    rng = np.random.default_rng(2)
    counts = np.array([2.0, 3.0, 1.0])
    old, new = rng.uniform(size=(3, 2)), rng.uniform(size=(2, 2))
    new[0] = old[1]  # the second calibration test itself
    tau, s, length, share = 0.1, 0.05, 0.5, 0.2
    points = np.concatenate([old, new[1:]])
    d2 = ((points[:, None] - points[None]) ** 2).sum(axis=-1)
    joint = tau**2 * ((1 - share) * np.exp(-d2 / (2 * length**2)) + share * np.eye(4))
    test_of = np.repeat(np.arange(3), counts.astype(int))
    observed = joint[np.ix_(test_of, test_of)] + s**2 * np.eye(len(test_of))
    off = 0.1 * rng.standard_normal(len(test_of))
    weights = np.linalg.solve(observed, joint[np.ix_(test_of, np.array([1, 3]))])
    means = np.array([off[test_of == n].mean() for n in range(3)])
    to = ((new[:, None] - old[None]) ** 2).sum(axis=-1)
    model = noise_model("gaussian-process", Replicas.of([[1.0]]))
    found = given_residuals(
        model,
        np.array([[tau, s, length, share]]),
        means[None],
        counts,
        np.array([1, -1]),
        (d2[:3, :3], to),
    )
    np.testing.assert_allclose(found[0][0], weights.T @ off, rtol=1e-10)
    expected = tau**2 - (weights * joint[np.ix_(test_of, np.array([1, 3]))]).sum(axis=0)
    np.testing.assert_allclose(found[1][0], expected, rtol=1e-10)


@for_each("noise", NOISE_MODELS)
def test_the_log_score_is_the_mean_density_of_the_held_out_times(noise: str) -> None:
    posterior = calibrated(noise)
    rows = measured(replicas=3, seed=9).rows[:2]
    columns = {"nodes": [1000.0, 5.0], "KB": [8e6, 2e-6]}  # far from all tests
    held_out = Replicas.of(rows, ["one", "two"], columns)

    def model(values: FloatArray) -> FloatArray:
        return simulate(values)[:, :2]

    found = log_score(posterior, model, held_out, draws=40, seed=3)
    at = posterior.pick(40, 3)
    hyper = posterior.hyper.reshape(-1, len(posterior.noise.hyper))[at]
    values = posterior.parameters.reshape(-1, 4)[at]
    for test in range(2):
        t, densities = rows[test], []
        for m, h in zip(model(values)[:, test], hyper, strict=True):
            if noise == "constant":
                densities.append(stats.norm.pdf(t, m, h[0]).prod())
                continue
            off, jacobian = np.log(t) - np.log(m), 1 / t.prod()
            if noise == "student-t":
                densities.append(stats.t.pdf(off, 4, scale=h[0]).prod() * jacobian)
            else:
                tau, s = (0.0, h[0]) if noise == "relative" else h[:2]
                covariance = s**2 * np.eye(3) + tau**2
                normal = stats.multivariate_normal.pdf(off, np.zeros(3), covariance)
                densities.append(normal * jacobian)
        assert found[test] == pytest.approx(np.log(np.mean(densities)), rel=1e-6)


def test_the_better_noise_model_has_the_better_score() -> None:
    data, later = measured(), measured(seed=7)
    scores = {
        name: log_score(calibrated(name, data), simulate, later).sum()
        for name in ("relative", "constant")
    }
    assert scores["relative"] > scores["constant"] + 10


def test_what_the_model_returns_is_checked() -> None:
    posterior = calibrated("relative")
    with pytest.raises(ParameterError, match=r"\[100, 3\]; got \[100, 20\]"):
        predict(posterior, simulate, ["a", "b", "c"])
    with pytest.raises(ParameterError, match="got -1 in test 0 at Max BW = "):
        predict(posterior, lambda v: -np.ones((len(v), 1)), ["a"])
    with pytest.raises(ParameterError, match="levels must be at most"):
        predict(posterior, simulate, ["a"] * 20, levels=[90])
    with pytest.raises(ParameterError, match="levels must not be empty"):
        predict(posterior, simulate, ["a"] * 20, levels=[])
    process = calibrated("gaussian-process")
    with pytest.raises(ParameterError, match=r"columns\['KB'\].*got 0 numbers"):
        predict(process, simulate, ["a"] * 20, {"nodes": NODES})
    assert BOX.names == posterior.names


def test_an_error_beyond_the_tests_is_a_part_of_the_discrepancy() -> None:
    posterior = calibrated("hierarchical")
    labels = [f"new {at}" for at in range(len(NODES))]
    plain = predict(posterior, SURROGATE.predict, labels)
    wider = predict(posterior, SURROGATE.predict, labels, beyond=np.full(len(labels), 0.5))
    # Normal in the logarithm, much wider than what was inferred: the ends of 90 % are 1.645 sd.
    assert wider.high[1] / wider.low[1] == pytest.approx(np.exp(2 * 1.645 * 0.5), rel=0.1)
    assert (wider.discrepancy > 3 * plain.discrepancy).all()
    np.testing.assert_array_equal(wider.parameter, plain.parameter)
    # A median of many normal errors has their spread times the root of pi / 2 over their number.
    many = predict(posterior, SURROGATE.predict, labels, replicas=201)
    ratio = np.sqrt(0.5 * np.pi / 201)
    np.testing.assert_allclose(many.noise, ratio * plain.noise, rtol=0.05)  # of 10,000 draws
    for wrong, words in ((np.ones(2), "for each of"), (np.full(len(labels), -1.0), "at least 0")):
        with pytest.raises(ParameterError, match=words):
            predict(posterior, SURROGATE.predict, labels, beyond=wrong)
    with pytest.raises(ParameterError, match="None under constant noise"):
        constant = calibrated("constant")
        predict(constant, SURROGATE.predict, labels, beyond=np.ones(len(labels)))
