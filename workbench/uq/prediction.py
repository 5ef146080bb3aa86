"""Predictions with intervals, in three parts: parameters, the model's own error, and noise.

predict(posterior, surrogate.predict, tests, columns).to_frame()
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernels.uq.likelihood import DEGREES_OF_FREEDOM
from workbench.arrays import FloatArray
from workbench.checks import number, whole
from workbench.errors import ParameterError
from workbench.result import Drawing, StoredResult
from workbench.uq.noise import NoiseModel, places, squared_distances
from workbench.uq.posterior import Posterior
from workbench.uq.replicas import Replicas

if TYPE_CHECKING:
    import pandas as pd

Simulator = Callable[[FloatArray], ArrayLike]

REALISATIONS = 10_000
"""Times that are drawn for each test, in all."""


@dataclass(frozen=True, eq=False, repr=False)
class Prediction(StoredResult):
    """Predicted times of tests, with central intervals and where their width comes from.

    Each part is half the width of an interval of the same level with the other two parts left out,
    so that it is comparable with half the width of the whole; widths do not add up. At and near
    calibration tests, discrepancy and parameters make up for each other, and the whole may be
    narrower than either part.

    Attributes:
        tests: label of each test.
        levels: of the intervals, such as 0.9.
        median: float64[tests], of one more replica or the median of several, seconds.
        low: float64[levels, tests], lower ends of its intervals, seconds.
        high: float64[levels, tests], upper ends.
        parameter: float64[levels, tests], half-width from the parameters alone, seconds.
        discrepancy: float64[levels, tests], from the model's own error alone; 0 where the noise
            model has none.
        noise: float64[levels, tests], from the spread of replicas, or of their median, alone.
        draws: of the posterior, the number of simulations of each test.
        model: name of the noise model.
        replicas: whose median the intervals are of.
    """

    tests: tuple[str, ...]
    levels: tuple[float, ...]
    median: NDArray[np.float64]
    low: NDArray[np.float64] = field(metadata={"axes": 2})
    high: NDArray[np.float64] = field(metadata={"axes": 2})
    parameter: NDArray[np.float64] = field(metadata={"axes": 2})
    discrepancy: NDArray[np.float64] = field(metadata={"axes": 2})
    noise: NDArray[np.float64] = field(metadata={"axes": 2})
    draws: int
    model: str
    replicas: int = 1

    plot = Drawing("plot_prediction")

    def to_frame(self) -> pd.DataFrame:
        """Return one row a test and level: median, interval, and half-widths of parts, seconds."""
        import pandas as pd

        level, test = np.indices(self.low.shape)
        order = np.lexsort((level.ravel(), test.ravel()))
        columns = {
            "median (s)": self.median[test],
            "low (s)": self.low,
            "high (s)": self.high,
            "± parameters (s)": self.parameter,
            "± discrepancy (s)": self.discrepancy,
            "± noise (s)": self.noise,
        }
        frame = pd.DataFrame(
            {
                "test": [self.tests[i] for i in test.ravel()[order]],
                "level": np.array(self.levels)[level.ravel()[order]],
            }
        )
        for name, values in columns.items():
            frame[name] = values.ravel()[order]
        return frame

    def __repr__(self) -> str:
        widest = int(np.argmax(self.levels))
        percent = 50 * (self.high[widest] - self.low[widest]) / self.median
        return (
            f"Prediction({len(self.tests)} tests, {self.model} noise, {self.draws} draws, "
            f"{100 * self.levels[widest]:.0f} % intervals of ± {percent.min():.2f} to "
            f"{percent.max():.2f} %)"
        )


def predict(
    posterior: Posterior,
    model: Simulator,
    tests: Sequence[str],
    columns: Mapping[str, ArrayLike] | None = None,
    *,
    draws: int = 100,
    levels: Sequence[float] = (0.5, 0.9),
    seed: int = 0,
    beyond: ArrayLike | None = None,
    replicas: int = 1,
) -> Prediction:
    """Predict one more replica of each test, with intervals.

    A test with the label of a calibration test is that test, and has the error of the model that
    was seen there. Another one has an error of its own, of the inferred spread; under
    ``gaussian-process`` it is interpolated from the calibration tests nearby.

    Args:
        posterior: of ``calibrate``.
        model: returns times float64[n, tests] in seconds for parameters float64[n, parameters]:
            the simulator itself, or ``surrogate.predict``.
        tests: label of each test.
        columns: what places the tests, by name; for ``gaussian-process``, and then the columns
            that the calibration used.
        draws: of the posterior, the number of simulations of each test.
        levels: of the intervals, between 0 and 1.
        seed: makes the prediction repeatable.
        beyond: float64[tests], standard deviation of a further relative error of the model, which
            the calibration tests cannot show: that of tests outside their range. A part of the
            discrepancy; under ``constant`` it must be None.
        replicas: whose median the intervals are of; 1 is a single run. A median of measured runs
            is to be compared with that of as many, for it scatters less than a run.

    Raises:
        ParameterError: an argument is not accepted, or the model returns other than times.
    """
    return predict_mixture(
        [(1.0, posterior, model)],
        tests,
        columns,
        draws=draws,
        levels=levels,
        seed=seed,
        beyond=beyond,
        replicas=replicas,
    )


def predict_mixture(
    members: Sequence[tuple[float, Posterior, Simulator]],
    tests: Sequence[str],
    columns: Mapping[str, ArrayLike] | None = None,
    *,
    draws: int = 400,
    levels: Sequence[float] = (0.5, 0.9),
    seed: int = 0,
    beyond: ArrayLike | None = None,
    replicas: int = 1,
) -> Prediction:
    """Predict one more replica of each test where it is unknown which of several models holds.

    Each model has as many of the draws as its probability says. The part of the parameters
    includes the choice of the model: it is the spread of all models' times together.

    Args:
        members: probability, posterior and model of each, as for ``predict``; the probabilities
            are divided by their sum, and the noise models must be the same.
        tests: label of each test.
        columns: as for ``predict``.
        draws: of all posteriors together.
        levels: of the intervals, between 0 and 1.
        seed: makes the prediction repeatable.
        beyond: as for ``predict``, or float64[members, tests].
        replicas: as for ``predict``.

    Raises:
        ParameterError: an argument is not accepted, or a model returns other than times.
    """
    draws, seed = whole(draws, "draws", 1), whole(seed, "seed", 0)
    wanted, replicas = _checked_levels(levels), whole(replicas, "replicas", 1)
    if not len(tests):
        raise ParameterError("tests must not be empty", key="tests")
    weights = np.array([number(weight, "probabilities", 0.0) for weight, _, _ in members])
    noises = sorted({posterior.noise.name for _, posterior, _ in members})
    if not weights.sum() > 0 or len(noises) != 1:
        raise ParameterError(
            "members must have a probability above 0 and one noise model; got probabilities "
            f"{weights.tolist()} and the noise {', '.join(noises) or 'of none'}",
            key="members",
        )
    shape = (len(members), len(tests))
    further = _checked_beyond(beyond, shape, noises[0], ["constant"])
    rng = np.random.default_rng(seed)
    simulated = []
    for count, (_, posterior, model), error in zip(
        _shares(weights, draws), members, further, strict=True
    ):
        if count:
            at = posterior.pick(count, rng)
            times, _ = _simulated(posterior, model, at, len(tests))
            simulated.append((posterior, at, times, error))
    return _combined(simulated, tests, columns, wanted, rng, replicas)


def _checked_beyond(
    beyond: ArrayLike | None, shape: tuple[int, ...], noise: str, refusing: Sequence[str]
) -> FloatArray:
    """Return a further error for each test, float64[..., tests]; zeros for None."""
    further = np.zeros(shape[-1]) if beyond is None else np.asarray(beyond, np.float64)
    if further.shape not in (shape, shape[-1:]) or not (further >= 0).all():
        raise ParameterError(
            f"beyond must be a number of at least 0 for each of {shape[-1]} tests; got "
            f"{further.tolist()}",
            key="beyond",
        )
    if noise in refusing and further.any():
        raise ParameterError(f"beyond must be None under {noise} noise", key="beyond")
    return np.broadcast_to(further, shape)


def _shares(weights: FloatArray, total: int) -> list[int]:
    """Return whole shares of a total in proportion to weights, by largest remainders."""
    exact = total * weights / weights.sum()
    found = np.floor(exact).astype(np.int64)
    order = np.argsort(found - exact, kind="stable")
    found[order[: total - int(found.sum())]] += 1
    return [int(count) for count in found]


def predict_calibrated(
    posterior: Posterior,
    *,
    draws: int = 1000,
    levels: Sequence[float] = (0.5, 0.9),
    seed: int = 0,
) -> Prediction:
    """Predict one more replica of each calibration test, from the surrogate's times at the draws.

    Args:
        posterior: of ``calibrate``.
        draws: of the posterior.
        levels: of the intervals, between 0 and 1.
        seed: makes the prediction repeatable.

    Raises:
        ParameterError: an argument is not accepted, or the posterior has no draws.
    """
    draws, seed = whole(draws, "draws", 1), whole(seed, "seed", 0)
    wanted = _checked_levels(levels)
    rng = np.random.default_rng(seed)
    at = posterior.pick(draws, rng)
    replicas = posterior.replicas
    times = posterior.times.reshape(-1, len(replicas))[at]
    none = np.zeros(len(replicas))
    return _combined([(posterior, at, times, none)], replicas.tests, replicas.columns, wanted, rng)


def predict_draws(
    posterior: Posterior,
    at: NDArray[np.int64],
    times: ArrayLike,
    tests: Sequence[str],
    *,
    levels: Sequence[float] = (0.5, 0.9),
    seed: int = 0,
) -> Prediction:
    """Predict one more replica of each test from times that were simulated at draws elsewhere.

    Args:
        posterior: of ``calibrate``, under another noise model than ``gaussian-process``.
        at: int64[n], numbers of the draws, counted over all chains.
        times: float64[n, tests] at these draws, seconds.
        tests: label of each test.
        levels: of the intervals, between 0 and 1.
        seed: makes the prediction repeatable.

    Raises:
        ParameterError: an argument is not accepted, or the noise model places tests.
    """
    wanted, rng = _checked_levels(levels), np.random.default_rng(whole(seed, "seed", 0))
    members = [(posterior, at, np.asarray(times, np.float64), np.zeros(len(tests)))]
    return _combined(members, tests, None, wanted, rng)


def _checked_levels(levels: Sequence[float]) -> tuple[float, ...]:
    wanted = tuple(number(level, "levels", 0.001, 0.999) for level in levels)
    if not wanted:
        raise ParameterError("levels must not be empty", key="levels")
    return wanted


def _combined(
    members: Sequence[tuple[Posterior, NDArray[np.int64], FloatArray, FloatArray]],
    tests: Sequence[str],
    columns: Mapping[str, ArrayLike] | None,
    levels: tuple[float, ...],
    rng: np.random.Generator,
    replicas: int = 1,
) -> Prediction:
    """Return the prediction with the model's own error and noise drawn for simulated times.

    Each member has draws of its posterior, counted over all chains, their times[draws, tests] in s
    and the further error of each test.
    """
    noise, draws = members[0][0].noise, sum(len(at) for _, at, _, _ in members)
    discrepancy, error = [], []
    for posterior, at, simulated, beyond in members:
        hyper = posterior.hyper.reshape(-1, len(noise.hyper))[at]
        mean, variance = discrepancies(posterior, at, tests, columns)
        variance = variance + np.square(beyond)
        shape = (-(-REALISATIONS // draws), *simulated.shape)
        discrepancy.append(mean + np.sqrt(variance) * rng.standard_normal(shape))
        error.append(draw_errors(noise, hyper, shape, rng, replicas))
    times = np.concatenate([simulated for _, _, simulated, _ in members])
    shared, errors = np.concatenate(discrepancy, axis=1), np.concatenate(error, axis=1)
    usual = np.median(times, axis=0)
    if noise.of_logarithm:
        drawn = times * np.exp(shared + errors)
        parts = times[None], usual * np.exp(shared), usual * np.exp(errors)
    else:
        drawn = times + errors
        parts = times[None], np.zeros((1, *times.shape)), errors
    tails = np.array([[(1 - level) / 2, (1 + level) / 2] for level in levels])

    def quantiles(values: FloatArray) -> FloatArray:
        """Return float64[levels, 2, tests] of times float64[realisations, draws, tests]."""
        return np.asarray(np.quantile(values.reshape(-1, len(tests)), tails, axis=0))

    whole_range = quantiles(drawn)
    half = [0.5 * (q[:, 1] - q[:, 0]) for q in map(quantiles, parts)]
    return Prediction(
        tests=tuple(map(str, tests)),
        levels=levels,
        median=np.median(drawn, axis=(0, 1)),
        low=whole_range[:, 0].copy(),
        high=whole_range[:, 1].copy(),
        parameter=half[0],
        discrepancy=half[1],
        noise=half[2],
        draws=draws,
        model=noise.name,
        replicas=replicas,
    )


def log_score(
    posterior: Posterior, model: Simulator, replicas: Replicas, *, draws: int = 1000, seed: int = 0
) -> FloatArray:
    """Return the logarithm of the predicted density of held-out times, float64[tests].

    The density is of all replicas of a test together, each in 1/s; higher is better, and the
    figures of two noise models for the same times may be compared. Tests are scored one by one,
    and a test with the label of a calibration test is that test, as in ``predict``.

    Args:
        posterior: of ``calibrate``.
        model: as for ``predict``, of the tests of ``replicas``.
        replicas: times that were not used in the calibration.
        draws: of the posterior.
        seed: makes the choice of draws repeatable.

    Raises:
        ParameterError: an argument is not accepted, or the model returns other than times.
    """
    from scipy.special import logsumexp

    at = posterior.pick(whole(draws, "draws", 1), whole(seed, "seed", 0))
    times, hyper = _simulated(posterior, model, at, len(replicas))
    densities = _densities(posterior, at, times, hyper, replicas)
    return np.asarray(logsumexp(densities, axis=0) - np.log(len(at)))


def joint_log_score(
    posterior: Posterior,
    model: Simulator,
    replicas: Replicas,
    *,
    draws: int = 1000,
    seed: int = 0,
    beyond: ArrayLike | None = None,
) -> float:
    """Return the logarithm of the predicted density of all held-out times together.

    Unlike the sum of ``log_score`` it knows that tests err together: parameters are those of one
    draw, under ``gaussian-process`` discrepancies are correlated, and the error beyond the range of
    the calibration is one for all tests. The difference of two models for the same times is the
    logarithm of their partial Bayes factor (O'Hagan 1995).

    Args:
        posterior: of ``calibrate``.
        model: as for ``predict``, of the tests of ``replicas``.
        replicas: times that were not used in the calibration, of tests that were not either.
        draws: of the posterior.
        seed: makes the choice of draws repeatable.
        beyond: as for ``predict``. It must be None under ``constant`` and ``student-t``.

    Raises:
        ParameterError: an argument is not accepted, or the model returns other than times.
    """
    from scipy.special import logsumexp

    noise = posterior.noise
    refusing = ["constant", "student-t"]
    further = _checked_beyond(beyond, (len(replicas),), noise.name, refusing)
    at = posterior.pick(whole(draws, "draws", 1), whole(seed, "seed", 0))
    times, hyper = _simulated(posterior, model, at, len(replicas))
    if noise.name == "gaussian-process":
        densities = _correlated(posterior, at, times, hyper, replicas, further)
    else:  # tests are independent, given the parameters and the error that they share
        densities = _densities(posterior, at, times, hyper, replicas).sum(axis=1)
    if further.any() and noise.name != "gaussian-process":
        s = replicas.statistics
        mean, variance = discrepancies(posterior, at, replicas.tests, replicas.columns)
        spread = np.sqrt(variance + hyper[:, [noise.names.index("s")]] ** 2 / s.count)
        off = s.log_mean - np.log(times) - mean
        densities = densities + _of_a_shared_error(further / spread, off / spread)
    return float(logsumexp(densities) - np.log(len(at)))


def _densities(
    posterior: Posterior,
    at: NDArray[np.int64],  # draws, counted over all chains
    times: FloatArray,  # [draws, tests], s
    hyper: FloatArray,  # [draws, hyper-parameters]
    replicas: Replicas,
) -> FloatArray:
    """Return log densities[draws, tests] of the replicas of each test, in 1/s each."""
    noise, s = posterior.noise, replicas.statistics
    if noise.name == "student-t":
        return _student_t(times, hyper[:, :1], replicas)
    if noise.name == "constant":
        return _normal(s.mean - times, s.squares, s.count, hyper[:, :1] ** 2, 0.0)
    spread = hyper[:, [noise.names.index("s")]]
    mean, variance = discrepancies(posterior, at, replicas.tests, replicas.columns)
    off = s.log_mean - np.log(times) - mean
    densities = _normal(off, s.log_squares, s.count, spread**2, variance)
    return densities - s.count * s.log_mean


def _correlated(
    posterior: Posterior,  # under gaussian-process
    at: NDArray[np.int64],
    times: FloatArray,  # [draws, tests], s
    hyper: FloatArray,  # [draws, hyper-parameters]
    replicas: Replicas,
    beyond: FloatArray,  # [tests], standard deviation of an error that all tests share
) -> FloatArray:
    """Return log densities[draws] of the replicas of all tests together."""
    s, calibrated = replicas.statistics, posterior.replicas
    tau2, s2, length2 = (hyper[:, i, None, None] ** 2 for i in range(3))
    residual = calibrated.statistics.log_mean - np.log(
        posterior.times.reshape(-1, len(calibrated))[at]
    )
    old, new = (
        places({name: each.columns[name] for name in posterior.coordinates}, calibrated)
        for each in (calibrated, replicas)
    )
    share = hyper[:, 3, None, None]
    scale, own = (1.0 - share) * tau2, share * tau2

    def covariance(a: FloatArray, b: FloatArray) -> FloatArray:
        return np.asarray(scale * np.exp(-0.5 * squared_distances(a, b) / length2))

    among = covariance(old, old) + (own + s2 / calibrated.statistics.count) * np.eye(len(old))
    cross = covariance(new, old)
    weights = np.linalg.solve(among, cross.transpose(0, 2, 1))
    mean = np.einsum("dct,dc->dt", weights, residual)
    left = covariance(new, new) + (own + s2 / s.count) * np.eye(len(new)) - cross @ weights
    factor = np.linalg.cholesky(left)
    off = s.log_mean - np.log(times) - mean
    scaled = np.linalg.solve(factor, off[:, :, None])[:, :, 0]
    logs = 2 * np.log(np.diagonal(factor, axis1=1, axis2=2)).sum(axis=1)
    noise = s2[:, 0]
    within = s.count * np.log(2 * np.pi) + (s.count - 1) * np.log(noise) + np.log(s.count)
    within = within + s.log_squares / noise + 2 * s.count * s.log_mean
    apart = -0.5 * (within.sum(axis=1) + logs + (scaled**2).sum(axis=1))
    shared = np.linalg.solve(factor, np.broadcast_to(beyond[:, None], (*off.shape, 1)))[:, :, 0]
    return np.asarray(apart + _of_a_shared_error(shared, scaled))


def _of_a_shared_error(error: FloatArray, off: FloatArray) -> FloatArray:
    """Return by how much log densities[draws] change if all tests share a further error.

    Its standard deviations and the offs of the tests, both float64[draws, tests], are whitened:
    their covariance without it is the identity. The matrix with it is the identity and a product
    of rank one (Sherman and Morrison 1950).
    """
    square = (error**2).sum(axis=1)
    return np.asarray(0.5 * ((error * off).sum(axis=1) ** 2 / (1 + square) - np.log1p(square)))


def discrepancies(
    posterior: Posterior,
    at: NDArray[np.int64],  # draws, counted over all chains
    tests: Sequence[str],
    columns: Mapping[str, ArrayLike] | None,
) -> tuple[FloatArray, FloatArray]:
    """Return mean and variance of each test's discrepancy, given the data, float64[draws, tests].

    Of the logarithm of the time; given the parameters of each draw.
    """
    noise, replicas = posterior.noise, posterior.replicas
    if not noise.has_discrepancy:
        return np.zeros((len(at), len(tests))), np.zeros((len(at), len(tests)))
    number_of = {label: number for number, label in enumerate(replicas.tests)}
    same = np.array([number_of.get(label, -1) for label in tests], np.int64)
    hyper = posterior.hyper.reshape(-1, len(noise.hyper))[at]
    residual = replicas.statistics.log_mean - np.log(posterior.times.reshape(-1, len(replicas))[at])
    distances = None
    if noise.name == "gaussian-process":
        names = posterior.coordinates
        calibrated = places({name: replicas.columns[name] for name in names}, replicas)
        new = places(_columns(names, columns, len(tests)), replicas)
        distances = squared_distances(calibrated, calibrated), squared_distances(new, calibrated)
    return given_residuals(noise, hyper, residual, replicas.statistics.count, same, distances)


def given_residuals(
    noise: NoiseModel,  # with a discrepancy
    hyper: FloatArray,  # [draws, hyper-parameters]
    residual: FloatArray,  # [draws, calibration tests], mean log times less log predictions
    count: FloatArray,  # [calibration tests], replicas
    same: NDArray[np.int64],  # [tests], the number of the calibration test that it is, or -1
    distances: tuple[FloatArray, FloatArray] | None,  # squared, among calibration tests and to them
) -> tuple[FloatArray, FloatArray]:
    """Return mean and variance of each test's discrepancy, float64[draws, tests]."""
    tau2, s2 = hyper[:, [0]] ** 2, hyper[:, [1]] ** 2
    if distances is None:
        seen = np.where(same >= 0, count[same], 0.0)
        share = seen * tau2 / (s2 + seen * tau2)
        return share * residual[:, same], tau2 * (1.0 - share)
    among, towards = distances
    length2 = hyper[:, 2, None, None] ** 2
    share = hyper[:, 3, None, None]
    scale, own = (1.0 - share) * tau2[:, :, None], share * tau2[:, :, None]
    identity = np.eye(len(count))
    covariance = scale * np.exp(-0.5 * among / length2)
    covariance += own * identity
    covariance += (s2 / count)[:, :, None] * identity
    cross = scale * np.exp(-0.5 * towards / length2)
    is_same = same[:, None] == np.arange(len(count))
    cross += own * is_same
    weights = np.linalg.solve(covariance, cross.transpose(0, 2, 1))
    mean = np.einsum("dct,dc->dt", weights, residual)
    variance = tau2 - np.einsum("dct,dtc->dt", weights, cross)
    return mean, np.maximum(variance, 0.0)


def draw_errors(
    noise: NoiseModel,
    hyper: FloatArray,  # [draws, hyper-parameters]
    shape: tuple[int, ...],  # (..., draws, tests)
    rng: np.random.Generator,
    replicas: int = 1,
) -> FloatArray:
    """Return errors of medians of replicas: seconds under ``constant``, else of log time."""
    spread = hyper[:, [0 if noise.name == "constant" else noise.names.index("s")]]
    student = noise.name == "student-t"
    if replicas == 1:
        drawn = rng.standard_t(DEGREES_OF_FREEDOM, shape) if student else rng.standard_normal(shape)
        return np.asarray(spread * drawn)
    from scipy.stats import norm, t

    # The median of an odd number of uniform variates has a beta distribution.
    at = rng.beta(0.5 * (replicas + 1), 0.5 * (replicas + 1), shape)
    return np.asarray(spread * (t.ppf(at, DEGREES_OF_FREEDOM) if student else norm.ppf(at)))


def _simulated(
    posterior: Posterior, model: Simulator, at: NDArray[np.int64], tests: int
) -> tuple[FloatArray, FloatArray]:
    """Return times[draws, tests] in s of some draws, and their hyper-parameters."""
    values = posterior.parameters.reshape(-1, len(posterior.names))[at]
    times = np.asarray(model(values), np.float64)
    if times.shape != (len(at), tests):
        raise ParameterError(
            f"model must return times[draws, tests] = [{len(at)}, {tests}]; got "
            f"{list(times.shape)}",
            key="model",
        )
    bad = ~np.isfinite(times) | (times <= 0 if posterior.noise.of_logarithm else False)
    if bad.any():
        draw, test = np.argwhere(bad)[0]
        got = ", ".join(f"{n} = {v:g}" for n, v in zip(posterior.names, values[draw], strict=True))
        raise ParameterError(
            f"model must return finite times above 0 s; got {times[draw, test]:g} in test {test} "
            f"at {got}",
            key="model",
        )
    return times, posterior.hyper.reshape(-1, len(posterior.noise.hyper))[at]


def _columns(
    names: Sequence[str], columns: Mapping[str, ArrayLike] | None, tests: int
) -> dict[str, FloatArray]:
    """Return the columns that place the tests; each must have a number above 0 for each."""
    found = {}
    for name in names:
        column = np.asarray((columns or {}).get(name, ()), np.float64).ravel()
        if len(column) != tests or not (np.isfinite(column) & (column > 0)).all():
            raise ParameterError(
                f"columns[{name!r}] must hold a number above 0 for each of the {tests} tests, "
                f"because gaussian-process places tests by it; got {len(column)} numbers",
                key="columns",
            )
        found[name] = column
    return found


def _normal(
    off: FloatArray,  # [draws, tests], mean of the replicas less its prediction
    squares: FloatArray,  # [tests]
    count: FloatArray,  # [tests]
    noise: FloatArray,  # [draws, 1], variance of a replica
    shared: FloatArray | float,  # variance of what all replicas of a test share
) -> FloatArray:
    """Return log densities[draws, tests] of normal replicas."""
    of_mean = noise + count * shared
    total = count * np.log(2 * np.pi) + (count - 1) * np.log(noise) + np.log(of_mean)
    return np.asarray(-0.5 * (total + squares / noise + count * off**2 / of_mean))


def _student_t(times: FloatArray, scale: FloatArray, replicas: Replicas) -> FloatArray:
    """Return log densities[draws, tests] of Student-t errors in log time."""
    from scipy.stats import t

    found = np.empty_like(times)
    for number_of_test, row in enumerate(replicas.rows):
        off = (np.log(row) - np.log(times[:, [number_of_test]])) / scale
        each = t.logpdf(off, DEGREES_OF_FREEDOM) - np.log(scale) - np.log(row)
        found[:, number_of_test] = each.sum(axis=1)
    return found
