"""The posterior of a fit to an OSU curve, and anything that follows from the fitted model.

    posterior = posterior_of_fit(fit("azure-hb96v3-hdr", "protocol"))      # or result.posterior()
    posterior.curves()                                                     # bands of the OSU curves
    posterior.push(lambda model: replay(program, LogGPS.from_protocol(model)).makespan_s)

A polynomial stands for the simulator while the chains run. The draws that are kept are simulated
by the model itself and weighed by its likelihood over the polynomial's, so that the polynomial's
error costs draws and not accuracy.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernels.uq import likelihood
from workbench import jobs
from workbench.blas import one_thread
from workbench.checks import number, whole
from workbench.errors import ParameterError, WorkbenchError
from workbench.fit.result import FitResult
from workbench.fit.space import Dimension
from workbench.fit.trust.identify import Identifiability, identify
from workbench.measure import OSUCurve
from workbench.models import NetworkModel
from workbench.result import StoredResult
from workbench.simulate import BENCHMARKS, simulate_osu
from workbench.suggestions import did_you_mean
from workbench.uq.designs import design
from workbench.uq.noise import NoiseModel, as_noise_model, places, squared_distances
from workbench.uq.parameters import ParameterBox, UncertainParameter
from workbench.uq.posterior import LEAST_DRAWS, Posterior, calibrate
from workbench.uq.prediction import draw_errors, given_residuals
from workbench.uq.problem import CalibrationProblem
from workbench.uq.replicas import Replicas
from workbench.uq.sampling import likelihood_data
from workbench.uq.surrogate import Surrogate, fit_surrogate

if TYPE_CHECKING:
    import pandas as pd

FloatArray = NDArray[np.float64]

LEVELS = (0.5, 0.9)
"""Of the intervals, unless others are asked for."""
NOISE = "gaussian-process"

_CHECKS = 60  # of a surrogate's error
_ROUNDS = 4  # of surrogates, each where the last posterior was
_ENOUGH = 0.4  # effective draws as a share of all
_FEWEST = 0.2  # the same, below which intervals are doubtful
_POINTS = (160, 600)  # of a surrogate, least and most
_WIDER = 2.0  # than the values that fit within 5 %
_LEAST_SHARE = 0.02  # half the width of a box, of a parameter's value
_MARGIN = 0.3  # around a posterior, of its width
_STEPS = 20  # of a chain for each draw
_LONGER = 3  # chains that have not converged
_EDGE, _PRESSED = 0.02, 0.005  # of a box at its end, and the share of draws that is too much there


@dataclass(frozen=True, eq=False, repr=False)
class PushedForward(StoredResult):
    """Values of some quantities for models drawn from a posterior.

    Attributes:
        names: of the quantities.
        values: float64[draws, quantities], in the units of the function that gave them.
    """

    names: tuple[str, ...]
    values: NDArray[np.float64] = field(metadata={"axes": 2})

    def of(self, name: str) -> FloatArray:
        """Return the values of one quantity, float64[draws].

        Args:
            name: of the quantity.

        Raises:
            ParameterError: there is no such quantity.
        """
        if name not in self.names:
            raise ParameterError(
                f"the quantity must be one of {', '.join(self.names)}; got {name!r}"
                f"{did_you_mean(str(name), self.names)}",
                key="name",
            )
        return np.asarray(self.values[:, self.names.index(name)])

    def probability_below(self, name: str, other: str | float) -> float:
        """Return the probability that a quantity is below another one or below a number.

        Draws in which the two are equal count half.

        Args:
            name: of the quantity.
            other: name of another quantity of the same draws, or a number.

        Raises:
            ParameterError: there is no such quantity.
        """
        left = self.of(name)
        right = self.of(other) if isinstance(other, str) else float(other)
        return float(np.mean((left < right) + 0.5 * (left == right)))

    def to_frame(self, levels: Sequence[float] = LEVELS) -> pd.DataFrame:
        """Return one row a quantity and level: ``quantity``, ``level``, ``median``, ends.

        Args:
            levels: of the central intervals, between 0 and 1.
        """
        import pandas as pd

        wanted = _levels(levels)
        rows = [
            (name, level, np.median(column), *np.quantile(column, _tails(level)))
            for name, column in zip(self.names, self.values.T, strict=True)
            for level in wanted
        ]
        return pd.DataFrame(rows, columns=["quantity", "level", "median", "low", "high"])

    def __repr__(self) -> str:
        ends = (
            f"{name} {np.median(column):.4g} ({low:.4g} to {high:.4g})"
            for name, column in zip(self.names, self.values.T, strict=True)
            for low, high in [np.quantile(column, _tails(LEVELS[-1]))]
        )
        return f"PushedForward({len(self.values)} draws; {', '.join(ends)}, 90 % intervals)"


@dataclass(frozen=True, eq=False, repr=False)
class FitPosterior(StoredResult):
    """Models that a measured curve allows, as weighed draws.

    Attributes:
        result: the fit.
        keys: of the parameters that vary; thresholds stay as fitted.
        values: float64[draws, parameters], SI.
        hyper: float64[draws, hyper-parameters] of the noise model.
        times: float64[draws, points], the model's own times at the measured points, seconds; nan
            where it refuses the draw. A bandwidth's is that of one message, size / bandwidth.
        weights: float64[draws], of sum 1: likelihood of the model over that of its surrogate.
        posterior: the chains on the surrogate, from which the draws were taken.
        surrogate: of the model, within the box of the posterior.
        surrogate_error: float64[points], greatest relative error at draws of the posterior.
        rounds: number of surrogates that were fitted.
    """

    result: FitResult
    keys: tuple[str, ...]
    values: NDArray[np.float64] = field(metadata={"axes": 2})
    hyper: NDArray[np.float64] = field(metadata={"axes": 2})
    times: NDArray[np.float64] = field(metadata={"axes": 2})
    weights: NDArray[np.float64]
    posterior: Posterior
    surrogate: Surrogate
    surrogate_error: NDArray[np.float64]
    rounds: int

    @property
    def draws(self) -> int:
        """Number of draws, those of no weight included."""
        return len(self.weights)

    @property
    def effective(self) -> float:
        """The number of equally weighed draws that would be as good (Kish 1965)."""
        return float(1.0 / np.sum(self.weights**2))

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader of the intervals should know, each a sentence."""
        found = []
        if not self.posterior.converged:
            verdict, _, _ = self.posterior.verdict.partition(";")
            found.append(f"{verdict}; ask for chain_draws={2 * self.posterior.requested}")
        if self.effective < _FEWEST * self.draws:
            found.append(
                f"the {self.draws} draws are worth {self.effective:.0f}: the surrogate is up to "
                f"{100 * self.surrogate_error.max():.1f} % off where the posterior is, which a "
                "kink of the model causes; fix the parameters that matter least, or take the "
                "intervals as rough"
            )
        return tuple(found)

    def models(self, n: int = 100, seed: int = 0) -> tuple[NetworkModel, ...]:
        """Return models drawn from the posterior, of the class of the fitted one.

        Args:
            n: how many.
            seed: makes the choice repeatable.

        Raises:
            ParameterError: an argument is not accepted.
        """
        return tuple(self._model(row) for row in self._picked(n, seed))

    def push(
        self,
        function: Callable[[NetworkModel], float | Sequence[float] | Mapping[str, float]],
        draws: int = 100,
        *,
        seed: int = 0,
    ) -> PushedForward:
        """Call a function with models drawn from the posterior and return its values.

        A program's tolerance of latency, for a fit of ``protocol``, which alone has LogGPS
        parameters, with ``analyse`` and ``Sweep`` of ``workbench.sensitivity``::

            sweep = Sweep(program, LogGPS.from_protocol(result.model))
            posterior.push(
                lambda model: analyse(sweep, LogGPS.from_protocol(model)).tolerance[1.0]
            )

        Two networks compared on the same draws::

            found = posterior.push(lambda model: {"slim fly": a(model), "fat tree": b(model)})
            found.probability_below("slim fly", "fat tree")

        Args:
            function: of a model; returns a number, several, or numbers by name.
            draws: number of models.
            seed: makes the choice of draws repeatable.

        Raises:
            ParameterError: an argument is not accepted, or the function gives other names or
                another number of values for some model.
        """
        rows, names = [], None
        for model in self.models(draws, seed):
            given = function(model)
            if isinstance(given, Mapping):
                labels, row = tuple(map(str, given)), np.array(list(given.values()), np.float64)
            else:
                row = np.atleast_1d(np.asarray(given, np.float64)).ravel()
                labels = ("value",) if len(row) == 1 else tuple(map(str, range(len(row))))
            names = labels if names is None else names
            if labels != names:
                raise ParameterError(
                    f"function must give the same quantities for each model, {', '.join(names)}; "
                    f"got {', '.join(labels) or 'none'}",
                    key="function",
                )
            rows.append(row)
        return PushedForward(names or (), np.array(rows))

    def curves(
        self, levels: Sequence[float] = LEVELS, *, noise: bool = False, seed: int = 0
    ) -> pd.DataFrame:
        """Return the OSU curves of the posterior as bands, one row a point and level.

        Args:
            levels: of the central intervals, between 0 and 1.
            noise: whether the intervals are those of one more measurement, with the error of the
                model that was seen at the point and the spread of measurements, and not those of
                the model's curve alone.
            seed: of the drawn errors.

        Returns:
            ``size_bytes``, ``benchmark``, ``unit`` (us or MB/s), ``level``, ``measured``,
            ``median``, ``low`` and ``high``.
        """
        import pandas as pd

        wanted = _levels(levels)
        rows = self._rows(self.draws, seed)
        times = self.times[rows]
        if noise:
            times = self._measured_anew(rows, np.random.default_rng(seed))
        points, found = _points(self.result), []
        measured = self.posterior.replicas.values
        for i, (size, benchmark) in enumerate(points):
            slow = benchmark == "latency"
            shown = 1e6 * times[:, i] if slow else 1e-6 * size / times[:, i]
            seen = 1e6 * measured[i] if slow else 1e-6 * size / measured[i]
            head = size, benchmark, "us" if slow else "MB/s"
            found += [
                (*head, level, seen, np.median(shown), *np.quantile(shown, _tails(level)))
                for level in wanted
            ]
        columns = ["size_bytes", "benchmark", "unit", "level", "measured", "median", "low", "high"]
        return pd.DataFrame(found, columns=columns)

    def to_frame(self, level: float = LEVELS[-1]) -> pd.DataFrame:
        """Return one row a parameter: fitted value, median and interval, SI, and at which bound.

        Args:
            level: of the central interval.
        """
        import pandas as pd

        (wanted,) = _levels([level])
        drawn = self.values[self._rows(self.draws, 0)]
        rows = []
        for key, column in zip(self.keys, drawn.T, strict=True):
            low, high = np.quantile(column, _tails(wanted))
            unit = self.result.space[key].unit
            rows.append((key, self.result.values[key], unit, np.median(column), low, high))
        return pd.DataFrame(rows, columns=["parameter", "fitted", "unit", "median", "low", "high"])

    def __repr__(self) -> str:
        return (
            f"FitPosterior({type(self.result.model).__name__} fitted to "
            f"{self.result.measured.provenance.title}; {len(self.keys)} parameters, "
            f"{len(self.surrogate_error)} points, {self.posterior.noise.name} noise, "
            f"{self.draws} draws worth {self.effective:.0f}; "
            f"{'; '.join(self.warnings) or self.posterior.verdict})"
        )

    def _rows(self, n: int, seed: int) -> NDArray[np.int64]:
        """Return n numbers of draws by their weights, each as often as its weight says (±1)."""
        rng = np.random.default_rng(seed)
        at = (np.arange(whole(n, "draws", 1)) + rng.random()) / n
        # The sum may round to less than 1.
        found = np.searchsorted(np.cumsum(self.weights), at * (1.0 - 1e-12), side="right")
        return np.asarray(rng.permutation(found), np.int64)

    def _picked(self, n: int, seed: int) -> FloatArray:
        return np.asarray(self.values[self._rows(n, whole(seed, "seed", 0))])

    def _model(self, row: FloatArray) -> NetworkModel:
        return _with(self.result, [self.result.space[key] for key in self.keys], row)

    def _measured_anew(self, rows: NDArray[np.int64], rng: np.random.Generator) -> FloatArray:
        """Return times [rows, points] of one more measurement of each point."""
        noise, replicas = self.posterior.noise, self.posterior.replicas
        times, hyper = self.times[rows], self.hyper[rows]
        errors = draw_errors(noise, hyper, times.shape, rng)
        if not noise.of_logarithm:
            return np.asarray(times + errors)
        if noise.has_discrepancy:
            residual = replicas.statistics.log_mean - np.log(times)
            among = _distances(noise, replicas)
            mean, variance = given_residuals(
                noise,
                hyper,
                residual,
                replicas.statistics.count,
                np.arange(len(replicas)),
                None if among is None else (among, among),
            )
            errors = errors + mean + np.sqrt(variance) * rng.standard_normal(times.shape)
        return np.asarray(times * np.exp(errors))


def posterior_of_fit(
    result: FitResult,
    *,
    noise: str | NoiseModel = NOISE,
    draws: int = 500,
    chain_draws: int = 1000,
    seed: int = 0,
    resume: FitPosterior | None = None,
    stop: threading.Event | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> FitPosterior:
    """Return the posterior of a fit's searched parameters, given the curve it was fitted to.

    What was known before: a time, and the inverse of a bandwidth, is anywhere between the bounds
    of the search, each value as likely as any other; costs add up in these, and polynomials of
    them are accurate. Other parameters are log-uniform. Thresholds act in steps and stay fitted.

    There is one value a point, with which noise and the model's own error cannot be told apart.
    ``gaussian-process`` takes the error as alike at sizes near one another, as misfits of a model
    are; its intervals are the wider. ``relative`` takes each point's error as independent, which
    is right for a model that is true. On 24 made-up curves of LogP, 90 % intervals of parameters
    covered 96 to 100 % and 88 to 92 % where errors were independent, and 71 to 88 % and 33 to 58 %
    where they were 5 % and alike at nearby sizes: hence the default.

    Args:
        result: a fit that succeeded.
        noise: one of ``NOISE_MODELS``, or one whose priors or fixed values were changed.
        draws: number of draws, each simulated by the model itself.
        chain_draws: of each of the four chains on the surrogate; three times as many if they have
            not converged.
        seed: makes the result repeatable.
        resume: what a stop left of the same call, or one with fewer ``chain_draws``; its chains go
            on from where they are.
        stop: once set, the posterior of the draws so far is returned.
        on_progress: called with the draws of each chain done and to do, anew for each of up to
            five runs of the chains.

    Raises:
        ParameterError: the fit did not succeed, an argument is not accepted, there is nothing but
            thresholds to vary, or ``resume`` comes from other arguments.
        JobError: it was stopped before the first draw.
    """
    draws, seed = whole(draws, "draws", 2), whole(seed, "seed", 0)
    replicas = _replicas(result)
    model = as_noise_model(noise, replicas)
    dimensions, box = _start(result)
    runs, first, burn_in = _Runs(result, dimensions), 0, chain_draws
    before = None if resume is None else resume.posterior
    if resume is not None and before is not None:
        box, first, burn_in = before.box, resume.rounds - 1, before.burn_in
        chain_draws = max(chain_draws, before.draws)
    tried: list[tuple[bool, float, FitPosterior, partial[Posterior]]] = []
    for turn in range(first, _ROUNDS):
        if resume is not None and turn == first:
            surrogate = resume.surrogate
        else:
            surrogate = runs.surrogate(box, seed + turn)
        chains = partial(
            calibrate,
            surrogate,
            replicas,
            noise=model,
            burn_in=burn_in,
            thin=_STEPS,
            seed=seed,
            stop=stop,
            on_progress=on_progress,
        )
        posterior = chains(draws=chain_draws, resume=before)
        before = None
        stopped = stop is not None and stop.is_set()
        if stopped and posterior.draws < LEAST_DRAWS:
            if tried:
                break
            raise jobs.JobError("the chains were stopped before the first draws; run them again")
        found = _weighed(runs, surrogate, posterior, draws, seed, turn + 1)
        pressed = _pressed(posterior, dimensions)
        tried.append((not pressed.any(), found.effective, found, chains))
        if stopped or (not pressed.any() and found.effective >= _ENOUGH * draws):
            break
        box = _next_box(box, posterior, dimensions, pressed)
    *_, found, chains = max(tried, key=lambda each: each[:2])
    if not found.posterior.converged and not stopped:
        longer = chains(draws=_LONGER * chain_draws, resume=found.posterior)
        found = _weighed(runs, found.surrogate, longer, draws, seed, found.rounds)
    return found


def fit_problem(result: FitResult, *, seed: int = 0) -> CalibrationProblem:
    """Return the measured points with the fitted model's times and its surrogate.

    The time of a bandwidth is that of one message, size / bandwidth.

    Args:
        result: a fit that succeeded.
        seed: makes the result repeatable.

    Raises:
        ParameterError: the fit did not succeed, or there is nothing but thresholds to vary.
    """
    dimensions, box = _start(result)
    runs, points = _Runs(result, dimensions), _points(result)
    surrogate = runs.surrogate(box, whole(seed, "seed", 0))
    checked = design(box, _CHECKS, seed=seed + 1)
    times = runs.times(checked)
    known = np.isfinite(times).all(axis=1)
    off = np.abs(surrogate.predict(checked[known]) / times[known] - 1.0)
    return CalibrationProblem(
        result.measured.provenance.title,
        type(result.model).__name__,
        result.measured.provenance,
        _replicas(result),
        tuple(benchmark for _, benchmark in points),
        np.array([size for size, _ in points], np.int64),
        simulated_times(result, result.model),
        surrogate,
        off.max(axis=0, initial=0.0),
    )


def _start(result: FitResult) -> tuple[list[Dimension], ParameterBox]:
    """Return the parameters that vary, and the box around the fit that a posterior begins with."""
    known = identify(result)
    dimensions = [result.space[key] for key in known.keys if _has_width(result.space[key])]
    if not dimensions:
        raise ParameterError(
            "a fit needs parameters that act other than in steps, or there is nothing to vary; "
            f"got {', '.join(result.space.keys)}: search another one",
            key="result",
        )
    return dimensions, _first_box(known, dimensions)


class _Runs:
    """Runs of a fit's model, at parameters as costs: times, and the inverses of bandwidths."""

    def __init__(self, result: FitResult, dimensions: Sequence[Dimension]) -> None:
        self.result, self.dimensions = result, dimensions
        self._points: list[FloatArray] = []
        self._times: list[FloatArray] = []

    def times(self, costs: FloatArray) -> FloatArray:
        """Return float64[n, points] in seconds at costs [n, parameters], nan where refused."""
        with ThreadPoolExecutor(jobs.cores()) as pool:
            rows = list(pool.map(self._one, _exchanged(self.dimensions, costs)))
        self._points.append(costs)
        self._times.append(np.array(rows))
        return self._times[-1]

    def surrogate(self, box: ParameterBox, seed: int) -> Surrogate:
        """Return a surrogate within a box, fitted to all runs in it, new ones among them."""
        d = len(box)
        wanted = 1.5 * (d + 1) * (d + 2) * (d + 3) / 6
        self.times(design(box, int(np.clip(wanted, *_POINTS)), seed=seed))
        points, times = np.concatenate(self._points), np.concatenate(self._times)
        inside = (np.abs(box.to_unit(points)) <= 1.0).all(axis=1)
        points, times = points[inside], times[inside]
        known = np.isfinite(times).all(axis=1)
        if np.count_nonzero(known) < 2 * (d + 1):
            raise ParameterError(
                "the model must accept most values near the fit; it refuses "
                f"{np.count_nonzero(~known)} of {len(times)}: fix the parameters that it refuses "
                "together",
                key="result",
            )
        with one_thread():
            return fit_surrogate(box, points[known], times[known], degrees=(1, 2, 3, 4))

    def _one(self, values: FloatArray) -> FloatArray:
        try:
            return simulated_times(self.result, _with(self.result, self.dimensions, values))
        except WorkbenchError:
            return np.full(len(_points(self.result)), np.nan)


def simulated_times(result: FitResult, model: NetworkModel) -> FloatArray:
    """Return a model's times at the points that a fit used, float64[points], seconds."""
    points = _points(result)
    wanted = tuple(dict.fromkeys(benchmark for _, benchmark in points))
    curve = simulate_osu(model, result.measured.sizes, benchmarks=wanted)
    return _times_of(points, curve)


def _times_of(points: Sequence[tuple[int, str]], curve: OSUCurve) -> FloatArray:
    """Return latencies, and times of one message at the measured bandwidth, seconds."""
    at = {size: i for i, size in enumerate(curve.sizes.tolist())}
    return np.array(
        [
            curve.latency_s[at[size]]
            if benchmark == "latency"
            else size / curve.bandwidth_Bps[at[size]]
            for size, benchmark in points
        ]
    )


def _points(result: FitResult) -> list[tuple[int, str]]:
    """Return size in bytes and benchmark of each measured point of the fit's target."""
    wanted = BENCHMARKS if result.target == "both" else (result.target,)
    curve = result.measured
    columns = {"latency": curve.latency_s, "bandwidth": curve.bandwidth_Bps}
    return [
        (size, benchmark)
        for benchmark in wanted
        for size, value in zip(curve.sizes.tolist(), columns[benchmark], strict=True)
        if np.isfinite(value)
    ]


def _replicas(result: FitResult) -> Replicas:
    """Return the measured points as tests of one replica."""
    points = _points(result)
    return Replicas.of(
        _times_of(points, result.measured).tolist(),
        [f"{benchmark} at {size} B" for size, benchmark in points],
        {
            "size_bytes": [size for size, _ in points],
            "benchmark": [1 + BENCHMARKS.index(benchmark) for _, benchmark in points],
        },
    )


def _weighed(
    runs: _Runs, surrogate: Surrogate, posterior: Posterior, draws: int, seed: int, rounds: int
) -> FitPosterior:
    """Return draws of a surrogate's posterior, weighed by what the model itself gives."""
    at = posterior.pick(draws, seed)
    d, h = len(posterior.names), len(posterior.noise.hyper)
    costs, hyper = posterior.parameters.reshape(-1, d)[at], posterior.hyper.reshape(-1, h)[at]
    times, predicted = runs.times(costs), posterior.times.reshape(-1, len(posterior.replicas))[at]
    logs = np.full(draws, -np.inf)
    known = np.isfinite(times).all(axis=1)
    exact = _log_likelihoods(posterior, times[known], hyper[known])
    logs[known] = exact - _log_likelihoods(posterior, predicted[known], hyper[known])
    if not np.isfinite(logs).any():
        raise ParameterError(
            "the model must accept some draws of the posterior; it refuses all: fix the "
            "parameters that it refuses together",
            key="result",
        )
    weights = np.exp(logs - logs.max())
    # Truncated, or single draws could dominate (Ionides 2008).
    weights = np.minimum(weights, weights.mean() * np.sqrt(draws))
    return FitPosterior(
        result=runs.result,
        keys=tuple(one.key for one in runs.dimensions),
        values=_exchanged(runs.dimensions, costs),
        hyper=hyper,
        times=times,
        weights=weights / weights.sum(),
        posterior=posterior,
        surrogate=surrogate,
        surrogate_error=np.abs(predicted[known] / times[known] - 1.0).max(axis=0),
        rounds=rounds,
    )


def _log_likelihoods(posterior: Posterior, times: FloatArray, hyper: FloatArray) -> FloatArray:
    """Return float64[draws] of times float64[draws, points] and the noise of each draw."""
    noise, replicas = posterior.noise, posterior.replicas
    distances = _distances(noise, replicas)
    n = 0 if distances is None else len(replicas)
    data = likelihood_data(replicas.statistics, replicas.starts, distances)
    scratch = np.empty((n, n + 1 if n else 0))
    return np.array(
        [
            likelihood.log_likelihood(noise.code, row, drawn, data, scratch)
            for row, drawn in zip(times, hyper, strict=True)
        ]
    )


def _distances(noise: NoiseModel, replicas: Replicas) -> FloatArray | None:
    """Return squared distances between tests, None where the noise model does not use them."""
    if noise.name != "gaussian-process":
        return None
    placed = places(dict(replicas.columns), replicas)
    return squared_distances(placed, placed)


def _exchanged(dimensions: Sequence[Dimension], values: FloatArray) -> FloatArray:
    """Return parameters as costs, or costs as parameters: a bandwidth is inverted, [..., n]."""
    rates = np.array([one.kind == "bandwidth" for one in dimensions])
    return np.where(rates, 1.0 / np.where(rates, values, 1.0), values)


def _bounds(dimensions: Sequence[Dimension]) -> FloatArray:
    """Return the least and the greatest cost, float64[2, parameters]."""
    ends = np.array([[one.low for one in dimensions], [one.high for one in dimensions]])
    return np.sort(_exchanged(dimensions, ends), axis=0)


def _box(dimensions: Sequence[Dimension], low: FloatArray, high: FloatArray) -> ParameterBox:
    """Return the box between costs, within the bounds of the search."""
    least, most = _bounds(dimensions)
    found = []
    for one, a, b in zip(
        dimensions, np.clip(low, least, most), np.clip(high, least, most), strict=True
    ):
        rate = one.kind == "bandwidth"
        linear = rate or one.kind == "time" or not one.log
        found.append(
            UncertainParameter(
                f"1 / {one.key}" if rate else one.key,
                "s/B" if rate else one.unit,
                float(a),
                float(b),
                "uniform" if linear else "log-uniform",
            )
        )
    return ParameterBox(found)


def _first_box(known: Identifiability, dimensions: Sequence[Dimension]) -> ParameterBox:
    """Return a box twice as wide as the values that fit within 5 %, around the fitted ones."""
    keys = [one.key for one in dimensions]
    ends = np.array([[known.refitted[key].low, known.refitted[key].high] for key in keys]).T
    costs = np.sort(_exchanged(dimensions, ends), axis=0)
    values = np.array([float(known.values[key]) for key in keys])
    centre = _exchanged(dimensions, values)
    least = _LEAST_SHARE * np.abs(centre)
    below = np.maximum(_WIDER * (centre - costs[0]), least)
    above = np.maximum(_WIDER * (costs[1] - centre), least)
    return _box(dimensions, centre - below, centre + above)


def _pressed(posterior: Posterior, dimensions: Sequence[Dimension]) -> NDArray[np.bool_]:
    """Return bool[2, parameters], where the posterior ends at a box that could be wider."""
    units = posterior.box.to_unit(posterior.parameters.reshape(-1, len(dimensions)))
    edge = 1.0 - 2.0 * _EDGE
    share = np.stack([(units < -edge).mean(axis=0), (units > edge).mean(axis=0)])
    ends = np.stack([posterior.box.low, posterior.box.high])
    return np.asarray((share > _PRESSED) & ~np.isclose(ends, _bounds(dimensions), rtol=1e-6))


def _next_box(
    box: ParameterBox,
    posterior: Posterior,
    dimensions: Sequence[Dimension],
    pressed: NDArray[np.bool_],  # [2, parameters]
) -> ParameterBox:
    """Return the box around a posterior, wider where it ended at the last one."""
    units = box.to_unit(posterior.parameters.reshape(-1, len(box)))
    low, high = np.quantile(units, (0.001, 0.999), axis=0)
    width = high - low
    low = low - np.where(pressed[0], 1.0, _MARGIN) * width
    high = high + np.where(pressed[1], 1.0, _MARGIN) * width
    return _box(dimensions, box.from_unit(low), box.from_unit(high))


def _has_width(dimension: Dimension) -> bool:
    return dimension.low < dimension.high


def _with(
    result: FitResult, dimensions: Sequence[Dimension], values: Iterable[float]
) -> NetworkModel:
    """Return the fitted model with other values, SI; whole numbers are rounded."""
    return result.model.with_values(
        {one.key: one.clip(float(value)) for one, value in zip(dimensions, values, strict=True)}
    )


def _levels(levels: ArrayLike) -> tuple[float, ...]:
    found = tuple(number(level, "levels", 0.001, 0.999) for level in np.atleast_1d(levels))
    if not found:
        raise ParameterError("levels must not be empty", key="levels")
    return found


def _tails(level: float) -> tuple[float, float]:
    return 0.5 * (1.0 - level), 0.5 * (1.0 + level)
