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

from workbench.errors import ParameterError
from workbench.tune.heuristics.acquisition import ACQUISITIONS, mean_above
from workbench.tune.heuristics.forest import Forest
from workbench.tune.heuristics.fresh import Fresh
from workbench.tune.heuristics.gaussian_process import (
    GaussianProcess,
    Hyperparameters,
    Repeats,
    typical,
)
from workbench.tune.heuristics.heuristic import Heuristic, Proposal, generator
from workbench.tune.heuristics.plain import RandomSearch
from workbench.tune.heuristics.threads import one_thread
from workbench.tune.history import Aggregated, BoolArray, FloatArray, History, Run
from workbench.tune.options import at_least, one_of
from workbench.tune.space.space import Configuration, TuningSpace

TRANSFORMS = ("auto", "none", "log")
"""What a model sees: the losses, their logarithm, or that where all are positive."""

_MOST_SCORED = 20_000
_DRAWN = 300
_BEST = 5
_MUTANTS = 40
_IMPUTATIONS = 5
_SETTLED = 1e-3
_TREES = 1
_MOST_TREES = 10_000


class Model(Protocol):
    """What predicts losses."""

    def predict(self, codes: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return mean and standard deviation, float64[m] each.

        Args:
            codes: float64[m, columns], where.
        """


@dataclass(frozen=True)
class Sample:
    """What a model learns from, a row a configuration.

    Attributes:
        codes: float64[n, columns].
        losses: float64[n], standardised; bounds where ``censored``.
        variances: float64[n], 1 over the number of runs.
        censored: bool[n].
        repeats: what runs of the same configurations tell of the noise, standardised too.
        centre: mean of what was known before it was standardised.
        scale: its standard deviation.
        log: whether the logarithms were standardised.
    """

    codes: FloatArray
    losses: FloatArray
    variances: FloatArray
    censored: BoolArray
    repeats: Repeats
    centre: float
    scale: float
    log: bool

    def loss(self, standardised: float) -> float:
        """Return the loss that a standardised one stands for.

        Args:
            standardised: as in ``losses``.
        """
        found = self.centre + self.scale * standardised
        return math.exp(found) if self.log else found


class Surrogate(ABC):
    """Proposes where a model of the losses promises most.

    Until two configurations have a loss, configurations are drawn at random. The losses are
    standardised. What was pruned enters with the mean loss it must have, given its bound, by the
    model of what is known (Schmee and Hahn 1979); what failed, or has no bound, with the worst
    loss known. What is being run elsewhere enters with the mean predicted for it.

    Args:
        space: what is searched.
        seed: makes the search repeatable.
        acquisition: ``ei`` (expected improvement) or ``pi`` (probability of improvement), over
            the least mean predicted at what was run, as the least value seen is partly luck.
        margin: by how much to improve at least, in standard deviations of the losses.
        transform: ``log`` to model the logarithm of the losses, ``none`` to model them as they
            are, ``auto`` for the logarithm where all are positive.
        revisit: whether a configuration that was run may be proposed again.

    Raises:
        ParameterError: an option is not what it must be.
    """

    def __init__(
        self,
        space: TuningSpace,
        seed: int,
        acquisition: str,
        margin: float,
        transform: str,
        revisit: bool,
    ) -> None:
        one_of(acquisition, ACQUISITIONS, "acquisition")
        one_of(transform, TRANSFORMS, "transform")
        at_least(margin, 0.0, "margin")
        self._space = space
        self._seed = seed
        self._score = ACQUISITIONS[acquisition]
        self._margin = margin
        self._transform = transform
        self._revisit = bool(revisit)
        self._grid: _Candidates | None = None

    def ask(self, history: History, *, attempt: int = 0) -> Proposal | None:
        """Return the configuration that promises most, None where none may be proposed.

        Args:
            history: the runs so far.
            attempt: how many of the most promising to leave out.
        """
        rng = generator(self._seed, history.step, attempt)
        table = history.aggregated()
        if int(table.known.sum()) < 2:
            drawn: Heuristic = RandomSearch(self._space, self._seed)
            if not self._revisit:
                drawn = Fresh(drawn, self._space, self._seed)
            return drawn.ask(history, attempt=attempt)
        with one_thread():
            sample = self.sample(table)
            model = self._model_of(history, sample)
            candidates = self._candidates(table, rng)
            scores = self._scores(model, sample, candidates.codes)
        order = np.lexsort((rng.random(len(scores)), -scores))
        if not self._revisit:
            new = np.array([not history.seen(each) for each in candidates.configurations])
            order = order[new[order]]
        if not len(order):
            return None
        return dict(candidates.configurations[order[min(attempt, len(order) - 1)]])

    def sample(self, table: Aggregated) -> Sample:
        """Return what the model learns from.

        Args:
            table: the runs by configuration, at least one of them known.

        Raises:
            ParameterError: the logarithm is asked for, and a loss has none.
        """
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
        """Return which row of ``history.aggregated()`` the model expects least of, and that loss.

        Only configurations with a known loss are looked at.

        Args:
            history: the runs so far, two configurations of known loss among them at least.
        """
        table = history.aggregated()
        with one_thread():
            sample = self.sample(table)
            mean = self._model_of(history, sample).predict(sample.codes)[0]
        row = int(np.argmin(np.where(table.known, mean, np.inf)))
        return row, sample.loss(float(mean[row]))

    @abstractmethod
    def _fit(self, history: History, sample: Sample, losses: FloatArray, rows: BoolArray) -> Model:
        """Return a model of some rows of a sample, with these losses."""

    def _model_of(self, history: History, sample: Sample) -> Model:
        """Return the model with censored losses imputed and pending configurations believed."""
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

    def _scores(self, model: Model, sample: Sample, codes: FloatArray) -> FloatArray:
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
        """Return configurations that differ in one parameter or two, drawn anew."""
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


class GaussianProcessSurrogate(Surrogate):
    """Bayesian optimisation with a Gaussian process that knows of noise.

    The hyperparameters are sought at every proposal up to 20, then at every fifth, as they move
    little by then and the search for them is most of the work.

    Args:
        space: what is searched.
        seed: makes the search repeatable.
        acquisition: ``ei`` or ``pi``.
        margin: by how much to improve at least, in standard deviations of the losses.
        transform: ``auto``, ``none`` or ``log``.
        revisit: whether a configuration that was run may be proposed again.

    Raises:
        ParameterError: an option is not what it must be.
    """

    def __init__(
        self,
        space: TuningSpace,
        seed: int = 0,
        *,
        acquisition: str = "ei",
        margin: float = 0.01,
        transform: str = "auto",
        revisit: bool = True,
    ) -> None:
        super().__init__(space, seed, acquisition, margin, transform, revisit)
        widths = [axis.width for axis in space.axes.values()]
        self._parameters: NDArray[np.int64] = np.repeat(np.arange(len(widths)), widths)
        self._found: tuple[Run, Hyperparameters] | None = None

    def _fit(self, history: History, sample: Sample, losses: FloatArray, rows: BoolArray) -> Model:
        return GaussianProcess(
            sample.codes[rows],
            losses[rows],
            sample.variances[rows],
            self._parameters,
            hyperparameters=self._hyperparameters(history),
        )

    def _hyperparameters(self, history: History) -> Hyperparameters:
        """Return those of the last proposal at which they are sought.

        They follow from the runs up to there, so that a search that goes on after a stop finds the
        same ones.
        """
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


class ForestSurrogate(Surrogate):
    """Bayesian optimisation with a forest of randomised trees, new configurations only.

    The spread of a forest does not shrink where a configuration is run again, so that it would
    propose the best one for ever; repeats are left to a resampling rule, as SMAC leaves them to its
    races (Hutter, Hoos and Leyton-Brown 2011).

    Args:
        space: what is searched.
        seed: makes the search repeatable.
        acquisition: ``ei`` or ``pi``.
        margin: by how much to improve at least, in standard deviations of the losses.
        transform: ``auto``, ``none`` or ``log``.
        trees: how many trees.

    Raises:
        ParameterError: an option is not what it must be.
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
        super().__init__(space, seed, acquisition, margin, transform, revisit=False)
        at_least(trees, 2, "trees", whole=True, most=_MOST_TREES)
        self._count = trees

    def _fit(self, history: History, sample: Sample, losses: FloatArray, rows: BoolArray) -> Model:
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
