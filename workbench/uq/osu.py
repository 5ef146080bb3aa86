"""The posterior of a fit to an OSU curve, and anything that follows from the fitted model.

    posterior = posterior_of_fit(fit("azure-hb96v3-hdr", "protocol"))      # or result.posterior()
    posterior.curves()                                                     # bands of the OSU curves
    posterior.push(lambda model: replay(program, LogGPS.from_protocol(model)).makespan_s)

A polynomial stands for the simulator while the chains run. The draws that are kept are simulated
by the model itself and weighed by its likelihood over the polynomial's, so that the polynomial's
error costs draws and not accuracy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import FloatArray
from workbench.checks import whole
from workbench.errors import ParameterError
from workbench.fit.result import FitResult
from workbench.models import LogGPS, NetworkModel, Protocol
from workbench.models.protocol import ProtocolRegime
from workbench.result import Drawing, StoredResult
from workbench.tasks import JobError, Task, task_of
from workbench.uq.carried_on import CarriedOn
from workbench.uq.designs import design
from workbench.uq.fit_runs import (
    FitRuns,
    exchanged,
    next_box,
    points_of,
    pressed_ends,
    replicas_of,
    simulated_times,
    start,
    with_values,
)
from workbench.uq.noise import NoiseModel, as_noise_model
from workbench.uq.posterior import LEAST_DRAWS, PartTask, Posterior, calibrate
from workbench.uq.prediction import draw_errors, given_residuals
from workbench.uq.problem import CalibrationProblem
from workbench.uq.pushed import LEVELS, PushedForward, checked_levels, middle_and_ends
from workbench.uq.surrogate import Surrogate
from workbench.uq.weighing import distances_among, effective_draws, simulator_weights

if TYPE_CHECKING:
    import pandas as pd


NOISE = "gaussian-process"

_CHECKS = 60  # of a surrogate's error
_ROUNDS = 4  # of surrogates, each where the last posterior was
_ENOUGH = 0.4  # effective draws as a share of all
_FEWEST = 0.2  # the same, below which intervals are doubtful
_STEPS = 20  # of a chain for each draw
_SO_FAR = 50  # draws of a posterior whose chains still run
_LONGER = 3  # chains that have not converged


@dataclass(frozen=True, eq=False, repr=False)
class FitPosterior(StoredResult, CarriedOn):
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

    plot = Drawing("plot_osu_bands")

    @property
    def draws(self) -> int:
        """Number of draws, those of no weight included."""
        return len(self.weights)

    @property
    def effective(self) -> float:
        """The number of equally weighed draws that would be as good (Kish 1965)."""
        return effective_draws(self.weights)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader of the intervals should know, each a sentence."""
        found = []
        if not self.posterior.converged:
            verdict, _, _ = self.posterior.verdict.partition(";")
            found.append(f"{verdict}; ask for chain_draws={2 * self.posterior.requested}")
        if self.effective < _FEWEST * self.draws:
            worst = int(np.argmax(self.surrogate_error))
            found.append(
                f"the {self.draws} draws are worth {self.effective:.0f}: the surrogate is up to "
                f"{100 * self.surrogate_error[worst]:.1f} % off where the posterior is, for "
                f"{self.posterior.replicas.tests[worst]}, which a kink of the model causes; fix "
                "the parameters that matter least, or take the intervals as rough"
            )
        return tuple(found)

    @property
    def verdict(self) -> str:
        """One sentence on whether the chains may be trusted, or the warnings."""
        return "; ".join(self.warnings) or self.posterior.verdict

    @property
    def trusted(self) -> bool:
        """Whether the chains have converged and the draws are worth many."""
        return not self.warnings

    @property
    def drawn_from(self) -> str:
        """What the posterior is of, and to what data, for a caption."""
        measured = self.result.measured.provenance
        return (
            f"{type(self.result.model).__name__} drawn from the posterior of a fit to "
            f"{measured.title} ({measured.origin})"
        )

    def machine(self, regime: ProtocolRegime = "eager") -> LogGPS:
        """Return the LogGPS parameters of the fitted model.

        Args:
            regime: of the protocol, whose costs to take.

        Raises:
            ParameterError: the fit is not of ``protocol``, which alone has LogGPS parameters.
        """
        return _loggps(self.result.model, regime)

    def machines(
        self, n: int = 100, seed: int = 0, regime: ProtocolRegime = "eager"
    ) -> tuple[LogGPS, ...]:
        """Return LogGPS parameters of models drawn from the posterior.

        Args:
            n: how many.
            seed: makes the choice repeatable.
            regime: of the protocol, whose costs to take.

        Raises:
            ParameterError: the fit is not of ``protocol``, or an argument is not accepted.
        """
        return tuple(_loggps(model, regime) for model in self.models(n, seed))

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
        unit: str = "",
    ) -> PushedForward:
        """Call a function with models drawn from the posterior and return its values.

        What is asked most has a method: ``makespan``, ``tolerance``, ``latency_curve``, ``compare``
        and ``crossover``. Two answers are compared on the same draws::

            found = posterior.push(lambda model: {"a": a(model), "b": b(model)}, unit="s")
            found.probability_below("a", "b")

        Args:
            function: of a model; returns a number, several, or numbers by name. It is called with
                the fitted model first.
            draws: number of models.
            seed: makes the choice of draws repeatable.
            unit: of the values, ``s`` or ``B``; empty for others.

        Raises:
            ParameterError: an argument is not accepted, or the function gives other names or
                another number of values for some model.
        """
        rows, names = [], None
        for model in (self.result.model, *self.models(draws, seed)):
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
        called = getattr(function, "__name__", "function")
        origin = self.origin(
            "What follows from the posterior",
            f"values of {called}",
            f"posterior.push(function, draws={draws}, seed={seed}, unit={unit!r})",
        )
        return PushedForward(names or (), np.array(rows[1:]), unit, rows[0], origin)

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

        wanted = checked_levels(levels)
        rows = self._rows(self.draws, seed)
        times = self.times[rows]
        if noise:
            times = self._measured_anew(rows, np.random.default_rng(seed))
        points, found = points_of(self.result), []
        measured = self.posterior.replicas.values
        for i, (size, benchmark) in enumerate(points):
            slow = benchmark == "latency"
            shown = 1e6 * times[:, i] if slow else 1e-6 * size / times[:, i]
            seen = 1e6 * measured[i] if slow else 1e-6 * size / measured[i]
            head = size, benchmark, "us" if slow else "MB/s"
            found += [(*head, level, seen, *middle_and_ends(shown, level)) for level in wanted]
        columns = ["size_bytes", "benchmark", "unit", "level", "measured", "median", "low", "high"]
        return pd.DataFrame(found, columns=columns)

    def to_frame(self, level: float = LEVELS[-1]) -> pd.DataFrame:
        """Return one row a parameter: fitted value, median and interval, SI, and at which bound.

        Args:
            level: of the central interval.
        """
        import pandas as pd

        (wanted,) = checked_levels([level])
        drawn = self.values[self._rows(self.draws, 0)]
        rows = []
        for key, column in zip(self.keys, drawn.T, strict=True):
            unit = self.result.space[key].unit
            ends = middle_and_ends(column, wanted)
            rows.append((key, self.result.values[key], unit, *ends))
        return pd.DataFrame(rows, columns=["parameter", "fitted", "unit", "median", "low", "high"])

    def __repr__(self) -> str:
        return (
            f"FitPosterior({type(self.result.model).__name__} fitted to "
            f"{self.result.measured.provenance.title}; {len(self.keys)} parameters, "
            f"{len(self.surrogate_error)} points, {self.posterior.noise.name} noise, "
            f"{self.draws} draws worth {self.effective:.0f}; "
            f"{self.verdict})"
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
        return with_values(self.result, [self.result.space[key] for key in self.keys], row)

    def _measured_anew(self, rows: NDArray[np.int64], rng: np.random.Generator) -> FloatArray:
        """Return times [rows, points] of one more measurement of each point."""
        noise, replicas = self.posterior.noise, self.posterior.replicas
        times, hyper = self.times[rows], self.hyper[rows]
        errors = draw_errors(noise, hyper, times.shape, rng)
        if not noise.of_logarithm:
            return np.asarray(times + errors)
        if noise.has_discrepancy:
            residual = replicas.statistics.log_mean - np.log(times)
            among = distances_among(self.posterior)
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
    task: Task | None = None,
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
        task: gets the draws of each chain, anew for each of up to five runs of the chains; its
            result so far is a posterior of at most 50 draws, for ``resume``. Once it is stopped,
            the posterior of the draws so far is returned.

    Raises:
        ParameterError: the fit did not succeed, an argument is not accepted, there is nothing but
            thresholds to vary, or ``resume`` comes from other arguments.
        JobError: it was stopped before the first draw.
    """
    draws, seed, task = whole(draws, "draws", 2), whole(seed, "seed", 0), task_of(task)
    replicas = replicas_of(result)
    model = as_noise_model(noise, replicas)
    dimensions, box = start(result)
    runs, first, burn_in = FitRuns(result, dimensions), 0, chain_draws
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
        weighed = partial(_weighed, surrogate=surrogate, seed=seed, rounds=turn + 1)
        # By runs of its own: the surrogates to come do not depend on who looks.
        looked_at = partial(weighed, FitRuns(result, dimensions), draws=min(draws, _SO_FAR))
        chains = partial(
            calibrate,
            surrogate,
            replicas,
            noise=model,
            burn_in=burn_in,
            thin=_STEPS,
            seed=seed,
            task=PartTask(task, partial(_so_far, looked_at)),
        )
        posterior = chains(draws=chain_draws, resume=before)
        before = None
        stopped = task.stopping
        if stopped and posterior.draws < LEAST_DRAWS:
            if tried:
                break
            raise JobError("the chains were stopped before the first draws; run them again")
        found = weighed(runs, posterior=posterior, draws=draws)
        pressed = pressed_ends(posterior, dimensions)
        tried.append((not pressed.any(), found.effective, found, chains))
        if stopped or (not pressed.any() and found.effective >= _ENOUGH * draws):
            break
        box = next_box(box, posterior, dimensions, pressed)
    *_, found, chains = max(tried, key=lambda each: each[:2])
    if not found.posterior.converged and not stopped:
        longer = chains(draws=_LONGER * chain_draws, resume=found.posterior)
        found = _weighed(runs, found.surrogate, longer, draws, seed, found.rounds)
    return found


def _so_far(weighed: Callable[..., FitPosterior], posterior: Posterior) -> FitPosterior | None:
    """Return the weighed draws of chains that run; None before there are enough to judge."""
    return weighed(posterior=posterior) if posterior.draws >= LEAST_DRAWS else None


def fit_problem(result: FitResult, *, seed: int = 0) -> CalibrationProblem:
    """Return the measured points with the fitted model's times and its surrogate.

    The time of a bandwidth is that of one message, size / bandwidth.

    Args:
        result: a fit that succeeded.
        seed: makes the result repeatable.

    Raises:
        ParameterError: the fit did not succeed, or there is nothing but thresholds to vary.
    """
    dimensions, box = start(result)
    runs, points = FitRuns(result, dimensions), points_of(result)
    surrogate = runs.surrogate(box, whole(seed, "seed", 0))
    checked = design(box, _CHECKS, seed=seed + 1)
    times = runs.times(checked)
    known = np.isfinite(times).all(axis=1)
    off = np.abs(surrogate.predict(checked[known]) / times[known] - 1.0)
    return CalibrationProblem(
        result.measured.provenance.title,
        type(result.model).__name__,
        result.measured.provenance,
        replicas_of(result),
        tuple(benchmark for _, benchmark in points),
        np.array([size for size, _ in points], np.int64),
        simulated_times(result, result.model),
        surrogate,
        off.max(axis=0, initial=0.0),
    )


def _weighed(
    runs: FitRuns, surrogate: Surrogate, posterior: Posterior, draws: int, seed: int, rounds: int
) -> FitPosterior:
    """Return draws of a surrogate's posterior, weighed by what the model itself gives."""
    at = posterior.pick(draws, seed)
    d, h = len(posterior.names), len(posterior.noise.hyper)
    costs, hyper = posterior.parameters.reshape(-1, d)[at], posterior.hyper.reshape(-1, h)[at]
    times, predicted = runs.times(costs), posterior.times.reshape(-1, len(posterior.replicas))[at]
    weights = simulator_weights(posterior, at, times)
    known = np.isfinite(times).all(axis=1)
    return FitPosterior(
        result=runs.result,
        keys=tuple(one.key for one in runs.dimensions),
        values=exchanged(runs.dimensions, costs),
        hyper=hyper,
        times=times,
        weights=weights,
        posterior=posterior,
        surrogate=surrogate,
        surrogate_error=np.abs(predicted[known] / times[known] - 1.0).max(axis=0),
        rounds=rounds,
    )


def _loggps(model: NetworkModel, regime: ProtocolRegime) -> LogGPS:
    """Return the LogGPS parameters of a fitted model, which must be Protocol."""
    if not isinstance(model, Protocol):
        raise ParameterError(
            "a program's time needs LogGPS parameters, which a fit of protocol has; got a fit "
            f"of {type(model).__name__}: carry on that of fit(..., 'protocol')",
            key="posterior",
        )
    return LogGPS.from_protocol(model, regime)
