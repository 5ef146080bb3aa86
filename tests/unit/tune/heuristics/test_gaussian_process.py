from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from workbench.tune.heuristics.gaussian_process import (
    GaussianProcess,
    Hyperparameters,
    Repeats,
    log_posterior,
    typical,
)

PARAMETERS = np.array([0, 1, 1, 1])  # one number and a choice of three
THETA = Hyperparameters(np.array([0.4, 0.9]), 1.3, 0.2, 0.05)


def sample(n: int, seed: int = 0):
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.random(n), np.eye(3)[rng.integers(3, size=n)]])
    values = np.sin(5.0 * codes[:, 0]) + codes[:, 2] + 0.1 * rng.normal(size=n)
    return codes, (values - values.mean()) / values.std(), 1.0 / rng.integers(1, 4, size=n)


def covariance(a: np.ndarray, b: np.ndarray, theta: Hyperparameters) -> np.ndarray:
    """Matern 5/2, one pair at a time."""
    found = np.empty((len(a), len(b)))
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            squares = (x - y) ** 2
            per_parameter = [squares[p == PARAMETERS].sum() for p in range(2)]
            r = np.sqrt((np.array(per_parameter) / theta.lengths**2).sum())
            t = np.sqrt(5.0) * r
            found[i, j] = theta.signal * (1.0 + t + t * t / 3.0) * np.exp(-t)
            found[i, j] += theta.own * bool((x == y).all())
    return found


def squares_of(codes: np.ndarray) -> np.ndarray:
    off = (codes[:, None, :] - codes[None, :, :]) ** 2
    return np.stack([off[..., p == PARAMETERS].sum(axis=-1) for p in range(2)])


def test_predictions_are_those_of_a_conditioned_normal() -> None:
    codes, values, variances = sample(14)
    there = np.concatenate([sample(9, 1)[0], codes[3:5]])
    noise = np.diag(THETA.noise * variances + 1e-8)
    known = covariance(codes, codes, THETA) + noise
    across = covariance(there, codes, THETA)
    mean, std = GaussianProcess(
        codes, values, variances, PARAMETERS, hyperparameters=THETA
    ).predict(there)
    assert mean == pytest.approx(across @ np.linalg.solve(known, values), abs=1e-9)
    rest = covariance(there, there, THETA) - across @ np.linalg.solve(known, across.T)
    assert std == pytest.approx(np.sqrt(np.diag(rest)), abs=1e-7)


def test_the_likelihood_is_that_of_a_normal_with_priors() -> None:
    codes, values, variances = sample(12)
    rng = np.random.default_rng(3)
    deviations = [0.1, -0.3, 0.2, 0.25]  # of pairs, along the axis on which they differ
    repeats = Repeats(4, float(np.square(deviations).sum()))

    def expected(logs: np.ndarray) -> float:
        theta = Hyperparameters(np.exp(logs[:2]), *map(float, np.exp(logs[2:])))
        noise = np.diag(theta.noise * variances + 1e-8)
        full = covariance(codes, codes, theta) + noise
        priors = [(np.log(0.4), 0.8)] * 2 + [(0.0, 1.0)] + [(np.log(1e-2), 2.0)] * 2
        return float(
            multivariate_normal(np.zeros(12), full).logpdf(values)
            + sum(norm(0.0, np.sqrt(theta.noise)).logpdf(each) for each in deviations)
            + sum(norm(m, s).logpdf(x) for (m, s), x in zip(priors, logs, strict=True))
        )

    points = [rng.normal((-1.0, -1.0, 0.0, -3.0, -3.0), 0.5) for _ in range(4)]
    off = [
        log_posterior(x, squares_of(codes), values, variances, repeats)[0] - expected(x)
        for x in points
    ]
    assert np.ptp(off) == pytest.approx(0.0, abs=1e-8)  # up to a constant


def test_the_gradient_is_the_slope() -> None:
    codes, values, variances = sample(15)
    squares = squares_of(codes)
    at = np.array([-0.7, 0.1, 0.2, -2.5, -2.0])
    repeats = Repeats(5, 0.7)
    gradient = log_posterior(at, squares, values, variances, repeats)[1]
    for index in range(5):
        step = 1e-5 * np.eye(5)[index]
        up = log_posterior(at + step, squares, values, variances, repeats)[0]
        down = log_posterior(at - step, squares, values, variances, repeats)[0]
        assert gradient[index] == pytest.approx((up - down) / 2e-5, rel=1e-5, abs=1e-6)


def test_it_finds_noise_and_which_parameter_matters() -> None:
    rng = np.random.default_rng(1)
    codes = rng.random((80, 2))
    values = np.sin(6.0 * codes[:, 0]) + 0.3 * rng.normal(size=80)
    spread = values.std()
    process = GaussianProcess(codes, values / spread, np.ones(80), np.array([0, 1]))
    theta = process.hyperparameters
    assert np.sqrt(theta.noise + theta.own) * spread == pytest.approx(0.3, rel=0.3)
    assert theta.lengths[1] > 3.0 * theta.lengths[0]


def test_more_repeats_are_believed_more() -> None:
    codes = np.array([[0.2, 1, 0, 0], [0.8, 1, 0, 0]], np.float64)
    for variances, nearer in ((np.array([1.0, 0.01]), 1), (np.array([0.01, 1.0]), 0)):
        theta = Hyperparameters(np.array([0.2, 0.9]), 1.0, 1e-3, 1.0)
        mean, std = GaussianProcess(
            codes, np.array([1.0, 1.0]), variances, PARAMETERS, hyperparameters=theta
        ).predict(codes)
        assert int(np.argmax(mean)) == nearer and int(np.argmin(std)) == nearer


def test_far_from_everything_it_has_no_information() -> None:
    codes, values, variances = sample(10)
    theta = Hyperparameters(np.array([0.05, 0.05]), 2.0, 0.5, 1e-3)
    process = GaussianProcess(codes, values, variances, PARAMETERS, hyperparameters=theta)
    mean, std = process.predict(np.array([[50.0, 9.0, 9.0, 9.0]]))
    assert mean[0] == pytest.approx(0.0, abs=1e-9) and std[0] == pytest.approx(np.sqrt(2.5))


def test_typical_hyperparameters_are_the_centres_of_the_priors() -> None:
    assert typical(3).lengths == pytest.approx([0.4] * 3) and typical(3).signal == 1.0


def test_repeats_tell_noise_from_what_a_configuration_has_for_itself() -> None:
    rng = np.random.default_rng(4)
    codes = np.repeat(rng.random((40, 2)), 1, axis=0)
    values = rng.normal(size=40)  # nothing is alike nearby
    quiet, loud = (
        GaussianProcess(codes, values, np.full(40, 0.5), np.array([0, 1]), Repeats(40, 40 * noise))
        for noise in (1e-3, 1.5)
    )
    assert quiet.hyperparameters.noise == pytest.approx(1e-3, rel=0.5)
    assert quiet.hyperparameters.own + quiet.hyperparameters.signal > 0.5
    # Where repeats agree, a peak that stands alone is believed; where they do not, it is luck.
    best = int(np.argmin(values))
    means = [process.predict(codes[[best]])[0][0] for process in (quiet, loud)]
    assert means[0] == pytest.approx(values[best], rel=0.05)
    assert means[1] > 0.7 * values[best]
