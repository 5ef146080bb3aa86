"""Bayesian optimisation: a model of the losses, and the place where it promises most.

SHAMan, section 3.1. On a grid of up to 20 000 configurations every one is scored, else some drawn
at random and the neighbours of the best.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from workbench.blas import one_thread
from workbench.checks import number, whole
from workbench.errors import ParameterError
from workbench.tune.heuristics.acquisition import ACQUISITIONS, mean_above
from workbench.tune.heuristics.baselines import RandomSearch
from workbench.tune.heuristics.forest import Forest
from workbench.tune.heuristics.gaussian_process import (
    GaussianProcess,
    Hyperparameters,
    Repeats,
    typical,
)
from workbench.tune.heuristics.heuristic import Capped, Heuristic, Proposal, generator
from workbench.tune.history import Aggregated, BoolArray, FloatArray, History, Run
from workbench.tune.rules_by_name import one_of
from workbench.tune.space.space import Configuration, TuningSpace

TRANSFORMS = ("auto", "none", "log")
"""What a model is fitted to: logarithms of losses that are all positive, losses, or logarithms."""

_MOST_SCORED = 20_000  # 0.03 s (Gaussian process, 20 runs) to 0.3 s (forest, 150 runs) a proposal
# The next three on Hartmann's six dimensions: the best of 50 runs of the Gaussian process is 0.08
# above the optimum in the median (noise 5 %, 12 seeds; the mean's standard error is 0.1 to 0.2).
_DRAWN = 300  # 150, 600 and 1200: 0.09, 0.09 and 0.12, at 0.7, 1.3 and 1.9 times the time
_BEST = 5  # 2 and 10: 0.11 and 0.20
_MUTANTS = 40  # 20 and 80: 0.20 and 0.13
# With 40 % of 20 or 60 runs pruned, 2, 5 and 10 imputations led the Gaussian process to the same
# proposals, 8 of 8, the forest to others in 3 to 5 of 8. With 50 allowed, 2 of 18 settled at 1e-3.
_IMPUTATIONS, _SETTLED = 5, 1e-3
_TREES = 1  # the stream of the trees' draws, see ``generator``; the candidates' has no number
_MOST_TREES = 10_000  # chosen: a proposal among 20 000 then takes 50 s; with 64 trees, 0.3 s


class SurrogateModel(Protocol):
    """A model that predicts losses."""

    def predict(self, codes: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and standard deviation at ``codes`` (m, columns), float64[m] each."""


@dataclass(frozen=True)
class Sample:
    """A model's training data, one row per configuration."""

    codes: FloatArray  # (n, columns)
    losses: FloatArray  # (n,), standardised; a lower bound where censored
    variances: FloatArray  # (n,), 1 / number of runs
    censored: BoolArray  # (n,)
    repeats: Repeats  # standardised too
    centre: float  # mean of the known losses, or of their logarithms
    scale: float  # standard deviation of the same
    log: bool  # whether logarithms were standardised

    def loss(self, standardised: float) -> float:
        """Return the loss of a standardised one, in the unit of the losses."""
        found = self.centre + self.scale * standardised
        return math.exp(found) if self.log else found


class SurrogateHeuristic(ABC):
    """Proposes the configuration that a model of the losses rates best.

    A pruned loss enters as its mean given the bound (Schmee and Hahn 1979), a failed one as the
    worst known, a pending one as its predicted mean. Until two losses are known, draws are random.
    """

    def __init__(
        self,
        space: TuningSpace,
        seed: int,
        acquisition: str,  # a name in ACQUISITIONS
        margin: float,  # least improvement, in standard deviations of the losses
        transform: str,  # ``log``, ``none``, or ``auto``: log where all losses are positive
        most_runs: int | None,  # of a configuration that is proposed; None: any number
    ) -> None:
        one_of(acquisition, ACQUISITIONS, "acquisition")
        one_of(transform, TRANSFORMS, "transform")
        number(margin, "margin", 0.0)
        self._space = space
        self._seed = seed
        self._score = ACQUISITIONS[acquisition]
        self._margin = margin
        self._transform = transform
        self._most = most_runs
        self._grid: _Candidates | None = None

    def ask(self, history: History, *, attempt: int = 0) -> Proposal | None:
        """Return the best candidate after the first ``attempt``; None if none may be proposed."""
        rng = generator(self._seed, history.step, attempt)
        table = history.aggregated()
        if int(table.known.sum()) < 2:
            drawn: Heuristic = RandomSearch(self._space, self._seed)
            if self._most is not None:
                drawn = Capped(drawn, self._space, self._seed, most_runs=self._most)
            return drawn.ask(history, attempt=attempt)
        with one_thread():
            sample = self.sample(table)
            model = self._model_of(history, sample)
            candidates = self._candidates(table, rng)
            scores = self._scores(model, sample, candidates.codes)
        order = np.lexsort((rng.random(len(scores)), -scores))
        found = None
        for row in order:
            if self._most is None or history.times(candidates.configurations[row]) < self._most:
                found = dict(candidates.configurations[row])
                if not attempt:
                    break
                attempt -= 1
        return found

    def sample(self, table: Aggregated) -> Sample:
        """Return the training data; at least one loss of the table must be known."""
        losses = table.ranked
        positive = bool(losses.min() > 0.0)
        if self._transform == "log" and not positive:
            raise ParameterError(
                f"transform log needs losses above 0; got {losses.min():.6g} (where more is "
                "better, a loss is the negative of a value); take auto or none",
                key="transform",
            )
        log = positive and self._transform != "none"
        if log:
            losses = np.log(losses)
        known = losses[table.known]
        centre, scale = float(known.mean()), float(known.std()) or 1.0
        return Sample(
            table.codes,
            (losses - centre) / scale,
            1.0 / np.maximum(table.counts, 1),
            table.censored & np.isfinite(table.losses),
            _repeats(table, scale, log),
            centre,
            scale,
            log,
        )

    def expected(self, history: History) -> tuple[int, float]:
        """Return the known row of ``aggregated()`` with the least predicted loss, and that loss."""
        table = history.aggregated()
        with one_thread():
            sample = self.sample(table)
            mean = self._model_of(history, sample).predict(sample.codes)[0]
        row = int(np.argmin(np.where(table.known, mean, np.inf)))
        return row, sample.loss(float(mean[row]))

    @abstractmethod
    def _fit(
        self, history: History, sample: Sample, losses: FloatArray, rows: BoolArray
    ) -> SurrogateModel:
        """Return a model of some rows of a sample, with these losses."""

    def _model_of(self, history: History, sample: Sample) -> SurrogateModel:
        """Return the model, censored losses imputed and pending runs at their predicted mean."""
        losses, censored = sample.losses.copy(), sample.censored
        model = self._fit(history, sample, losses, ~censored)
        if censored.any():
            for _ in range(_IMPUTATIONS):
                mean, std = model.predict(sample.codes[censored])
                imputed = mean_above(mean, std, sample.losses[censored])
                moved = float(np.abs(imputed - losses[censored]).max())
                losses[censored] = imputed
                model = self._fit(history, sample, losses, np.ones(len(losses), np.bool_))
                if moved < _SETTLED:
                    break
        if not history.pending:
            return model
        codes = np.array([self._space.encode(each) for each in history.pending])
        believed = replace(
            sample,
            codes=np.concatenate([sample.codes, codes]),
            losses=np.concatenate([losses, model.predict(codes)[0]]),
            variances=np.concatenate([sample.variances, np.ones(len(codes))]),
            censored=np.zeros(len(losses) + len(codes), np.bool_),
        )
        return self._fit(history, believed, believed.losses, ~believed.censored)

    def _scores(self, model: SurrogateModel, sample: Sample, codes: FloatArray) -> FloatArray:
        # The least predicted mean: the least value seen is partly luck.
        best = float(model.predict(sample.codes[~sample.censored])[0].min())
        mean, std = model.predict(codes)
        return self._score(mean, std, best - self._margin)

    def _candidates(self, table: Aggregated, rng: np.random.Generator) -> _Candidates:
        size = self._space.size
        if self._grid is None and size is not None and size <= _MOST_SCORED:
            self._grid = _Candidates.of(self._space, list(self._space.all()))
        if self._grid is not None:
            return self._grid
        found = {}
        for _ in range(_DRAWN):
            drawn = self._space.sample(rng)
            found[tuple(drawn.values())] = drawn
        for row in np.argsort(table.ranked, kind="stable")[:_BEST]:
            good = table.configurations[row]
            for near in (*self._space.neighbours(good), *self._mutants(good, rng)):
                found[tuple(near.values())] = near
        return _Candidates.of(self._space, list(found.values()))

    def _mutants(self, configuration: Configuration, rng: np.random.Generator) -> list[Proposal]:
        """Return configurations that differ in about one or two redrawn parameters."""
        found = []
        for _ in range(_MUTANTS):
            drawn = self._space.sample(rng)
            kept = rng.random(len(drawn)) >= 1.5 / len(drawn)
            values = dict(drawn)
            for (name, value), keep in zip(configuration.items(), kept, strict=True):
                if keep and value is not None:
                    values[name] = value
                elif values[name] is None:
                    values[name] = self._space.axes[name].first()
            mutant = self._space.canonical(values)
            if self._space.contains(mutant):
                found.append(mutant)
        return found


@dataclass(frozen=True)
class _Candidates:
    configurations: Sequence[Proposal]
    codes: FloatArray

    @classmethod
    def of(cls, space: TuningSpace, configurations: list[Proposal]) -> _Candidates:
        return cls(configurations, np.array([space.encode(each) for each in configurations]))


class GaussianProcessSurrogate(SurrogateHeuristic):
    """Bayesian optimisation with a Gaussian process that models the noise of runs."""

    def __init__(
        self,
        space: TuningSpace,
        seed: int = 0,
        *,
        acquisition: str = "ei",
        margin: float = 0.01,
        transform: str = "auto",
        most_runs: int | None = None,
    ) -> None:
        super().__init__(space, seed, acquisition, margin, transform, most_runs)
        widths = [axis.width for axis in space.axes.values()]
        self._parameters: NDArray[np.int64] = np.repeat(np.arange(len(widths)), widths)
        self._found: tuple[Run, Hyperparameters] | None = None

    def _fit(
        self, history: History, sample: Sample, losses: FloatArray, rows: BoolArray
    ) -> SurrogateModel:
        return GaussianProcess(
            sample.codes[rows],
            losses[rows],
            sample.variances[rows],
            self._parameters,
            hyperparameters=self._hyperparameters(history),
        )

    def _hyperparameters(self, history: History) -> Hyperparameters:
        """Return the latest fit: at each proposal up to 20, then at every fifth."""
        # A fit is most of the work, and changes little after 20 proposals. It follows from the runs
        # up to its own proposal, so that a resumed search has the same one.
        count = len(history.visits)
        last = history[history.visits[count - 1 - (count % 5 if count > 20 else 0)].stop - 1]
        if self._found is None or self._found[0] is not last:
            self._found = last, self._sought(history, last)
        return self._found[1]

    def _sought(self, history: History, last: Run) -> Hyperparameters:
        table = history.aggregated()
        if last is not history.last:
            number = next(i for i, run in enumerate(history) if run is last)
            table = history.first(number + 1).aggregated()
        if int(table.known.sum()) < 2:
            return typical(len(self._space))
        sample = self.sample(table)
        rows = ~sample.censored
        return GaussianProcess(
            sample.codes[rows],
            sample.losses[rows],
            sample.variances[rows],
            self._parameters,
            sample.repeats,
        ).hyperparameters


class ForestSurrogate(SurrogateHeuristic):
    """Bayesian optimisation with a forest of randomised trees, new configurations only.

    A forest's spread does not shrink with repeats, so it would propose the best one for ever. A
    resampling rule repeats instead, as the races of SMAC do (Hutter, Hoos and Leyton-Brown 2011).
    """

    def __init__(
        self,
        space: TuningSpace,
        seed: int = 0,
        *,
        acquisition: str = "ei",
        margin: float = 0.01,
        transform: str = "auto",
        trees: int = 64,
    ) -> None:
        super().__init__(space, seed, acquisition, margin, transform, most_runs=1)
        whole(trees, "trees", 2, _MOST_TREES)
        self._count = trees

    def _fit(
        self, history: History, sample: Sample, losses: FloatArray, rows: BoolArray
    ) -> SurrogateModel:
        rng = generator(self._seed, history.step, 0, _TREES)
        return Forest(sample.codes[rows], losses[rows], rng, trees=self._count)


def _repeats(table: Aggregated, scale: float, log: bool) -> Repeats:
    rows = (table.counts > 1) & table.known
    spread = table.spread[rows]
    if log:
        # What a small deviation is in the logarithm.
        spread = spread / table.losses[rows]
    freedom = table.counts[rows] - 1
    return Repeats(int(freedom.sum()), float((freedom * np.square(spread / scale)).sum()))
