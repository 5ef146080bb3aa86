"""Models that forecast how slow the next steps are: ridge, trees, a network, and mixtures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import FloatArray
from workbench.tasks import Task
from workbench.variability.folds import halt_if_stopped
from workbench.variability.forecasting import attention
from workbench.variability.forecasting.windows import Windows, summaries

Indices = NDArray[np.intp]

Learner = Literal["attention", "network", "trees", "ridge"]

_STRENGTHS = np.logspace(-3, 4, 15)
_OWN_STRENGTH = 0.01  # of the job's own times, which carry most of what can be forecast
# Measured as in ``attention``; the MAPE of ridge is 10.1 %, those of 6 runs 13.9 % on average.
_RIDGE_FOLDS = 5  # chosen: 3 and 10 give 10.0 %
_MIX_FOLDS = 3  # each trains a model: 2 and 6 change attention's 9.87 % to 9.89 and 9.83
_CUT = 4.0  # standardised summaries are cut off there
_BEYOND = 0.2  # how far a forecast may lie outside the range learned from, relative to it
_FEW_GROUPS = 8  # see ``_steadied``; without it 6 runs have 14.7 %
_LASTING = 0.75  # share of a slowdown: of 6 runs, 0.375 gives 15.5 %, 1 gives 14.3
_TREES = 60  # at most: 30 give 9.68 %, 120 the same 9.66
_CHOSEN_EVERY = 5  # the number of trees is a multiple of it

Forecaster = Callable[[FloatArray, Windows], FloatArray]
"""From ``channels[runs, steps, channels]`` and windows to the logarithm of the time of the next
steps over that of the mean trajectory, float64[windows]."""


@dataclass(frozen=True)
class Learned:
    """A model after it has learned."""

    predict: Forecaster
    alone: Forecaster  # the same without its share of ridge
    share: float  # of the model itself in ``predict``, the rest is ridge


def learn(
    models: Iterable[Learner],
    channels: FloatArray,  # [runs, steps, channels], of ``StepBaseline.channels``
    windows: Windows,  # to learn from
    target: FloatArray,  # what a forecaster returns, [windows]
    group: NDArray[np.int64],  # of windows that are held out together
    *,
    own_spread: float,  # of the first channel, if that holds the job's own step times; else 0
    one_each: Indices,  # the channels that trees and attention see
    seed: Sequence[int],  # of the folds, and of trees and attention
    task: Task,  # once it is stopped, SimulationHalted is raised before the next model is trained
) -> dict[Learner, Learned]:
    """Return models that have learned from windows.

    Trees and attention are mixed with ridge: their share is the one with the least squared error
    on groups of windows that they have not learned from, less the more that share is uncertain.
    With few runs they thus fall back on ridge. ``network`` is attention without its share of ridge;
    the same networks serve both.
    """
    rng = np.random.default_rng(seed)
    ridge, plain = _ridge(channels, windows, target, group, own_spread > 0, rng)
    found: dict[Learner, Learned] = {}
    if own_spread and len(np.unique(group)) < _FEW_GROUPS:
        ridge, plain = _steadied(ridge, plain, channels, windows, target, group, own_spread)
    for model in models:
        if model == "ridge":
            found[model] = Learned(ridge, ridge, 1.0)
            continue
        if model == "network" and "attention" in found:
            alone = found["attention"].alone
            found[model] = Learned(alone, alone, 1.0)
            continue
        fold = _folds(group, _MIX_FOLDS, rng)
        fit = _trees if model == "trees" else _attention
        alone, unseen = fit(channels, windows, target, fold, one_each, rng, task)
        if model == "network":
            found[model] = Learned(alone, alone, 1.0)
            continue
        share = _share(unseen - plain, target - plain, group)
        found[model] = Learned(_mixed(alone, ridge, share), alone, share)
    return found


def _ridge(
    channels: FloatArray,
    windows: Windows,
    target: FloatArray,
    group: NDArray[np.int64],
    own_times: bool,
    rng: np.random.Generator,
) -> tuple[Forecaster, FloatArray]:
    """Return ridge on summaries, and its forecasts of windows that it has not learned from.

    The strength is the greatest whose error is within one standard error, over groups, of the
    least (Hastie, Tibshirani and Friedman 2009, 7.10). Own times are hardly shrunk.
    """
    features = summaries(channels, windows)
    centre, spread = features.mean(axis=0), features.std(axis=0)
    spread = np.where(spread > 1e-12, spread, 1.0)

    def scaled(seen: FloatArray) -> FloatArray:
        return np.column_stack([np.clip((seen - centre) / spread, -_CUT, _CUT), np.ones(len(seen))])

    inputs = scaled(features)
    own = np.zeros(features.shape[1], np.bool_)
    if own_times:
        own[:: channels.shape[2]] = True
    fold = _folds(group, _RIDGE_FOLDS, rng)
    squares = [inputs[fold == at].T @ inputs[fold == at] for at in range(fold.max() + 1)]
    products = [inputs[fold == at].T @ target[fold == at] for at in range(fold.max() + 1)]
    whole = sum(squares), sum(products)
    unseen = np.empty((len(target), len(_STRENGTHS)))
    for at, (square, product) in enumerate(zip(squares, products, strict=True)):
        rest = _coefficients(whole[0] - square, whole[1] - product, own)
        unseen[fold == at] = inputs[fold == at] @ rest
    chosen = _within_one_error((unseen - target[:, None]) ** 2, group)
    coefficients = _coefficients(*whole, own)[:, chosen]
    limits = _limits(target)

    def predict(channels: FloatArray, windows: Windows) -> FloatArray:
        return np.clip(scaled(summaries(channels, windows)) @ coefficients, *limits)

    return predict, np.clip(unseen[:, chosen], *limits)


def _steadied(
    ridge: Forecaster,
    plain: FloatArray,
    channels: FloatArray,
    windows: Windows,
    target: FloatArray,
    group: NDArray[np.int64],
    own_spread: float,
) -> tuple[Forecaster, FloatArray]:
    """Return ridge mixed with the forecast that most of a slowdown lasts, for few groups.

    With 5 groups this lowers the MAPE on seven synthetic worlds by a twentieth; with 8 it no longer
    does.
    """

    def lasting(channels: FloatArray, windows: Windows) -> FloatArray:
        return _LASTING * own_spread * windows.seen(channels[:, :, 0])

    steady = lasting(channels, windows)
    share = _share(plain - steady, target - steady, group)
    return _mixed(ridge, lasting, share), steady + share * (plain - steady)


def _coefficients(
    squares: FloatArray,  # of inputs, the last of which is 1
    products: FloatArray,  # of inputs and target
    own: NDArray[np.bool_],
) -> FloatArray:
    """Return coefficients of ridge, float64[inputs, strengths], by one eigendecomposition."""
    count = squares[-1, -1]
    mean, level = squares[:-1, -1] / count, products[-1] / count
    scatter = squares[:-1, :-1] / count - np.outer(mean, mean)
    slope = products[:-1] / count - mean * level
    scatter[own, own] += _OWN_STRENGTH
    cross = scatter[np.ix_(~own, own)]
    through = np.linalg.solve(scatter[np.ix_(own, own)], np.column_stack([cross.T, slope[own]]))
    values, vectors = np.linalg.eigh(scatter[np.ix_(~own, ~own)] - cross @ through[:, :-1])
    projected = vectors.T @ (slope[~own] - cross @ through[:, -1])
    found = np.empty((len(products), len(_STRENGTHS)))
    rest = vectors @ (projected[:, None] / (np.maximum(values, 0.0)[:, None] + _STRENGTHS))
    found[:-1][~own] = rest
    found[:-1][own] = through[:, -1:] - through[:, :-1] @ rest
    found[-1] = level - mean @ found[:-1]
    return found


def _trees(
    channels: FloatArray,
    windows: Windows,
    target: FloatArray,
    fold: NDArray[np.int64],
    one_each: Indices,
    rng: np.random.Generator,
    task: Task,
) -> tuple[Forecaster, FloatArray]:
    """Return the mean of boosted trees that each left out a fold, and their forecasts of it."""
    from workbench.variability.boosted import BoostedTrees

    def inputs(channels: FloatArray, windows: Windows) -> FloatArray:
        return summaries(channels[:, :, one_each], windows, spread=True)

    seen = inputs(channels, windows)
    numbers = range(_CHOSEN_EVERY, _TREES + 1, _CHOSEN_EVERY)
    grown, unseen = [], np.empty((len(numbers), len(target)))
    for at in range(fold.max() + 1):
        halt_if_stopped(task)
        out = fold == at
        model = BoostedTrees(
            learning_rate=0.12,
            max_iter=_TREES,
            max_leaf_nodes=8,
            min_samples_leaf=max(20, len(target) // 100),
            l2_regularization=5.0,
            max_features=0.5,
            early_stopping=False,
            random_state=int(rng.integers(2**31)),
        ).fit(seen[~out], target[~out])
        grown.append(model)
        unseen[:, out] = model.stages(seen[out], numbers)
    best = int(((unseen - target) ** 2).mean(axis=1).argmin())

    def predict(channels: FloatArray, windows: Windows) -> FloatArray:
        seen = inputs(channels, windows)
        return _average([model.stages(seen, [numbers[best]])[0] for model in grown])

    return predict, unseen[best]


def _attention(
    channels: FloatArray,
    windows: Windows,
    target: FloatArray,
    fold: NDArray[np.int64],
    one_each: Indices,
    rng: np.random.Generator,
    task: Task,
) -> tuple[Forecaster, FloatArray]:
    """Return the mean of networks that each left out a fold, and their forecasts of it."""
    gather = _gather(channels, windows, one_each)
    trained, unseen = [], np.empty((attention.STAGES, len(target)))
    for at in range(fold.max() + 1):
        halt_if_stopped(task)
        trained.append(attention.train(gather, target, np.flatnonzero(fold != at), rng))
        out = gather(np.flatnonzero(fold == at))
        unseen[:, fold == at] = [network.predict(out) for network in trained[-1]]
    best = int(((unseen - target) ** 2).mean(axis=1).argmin())
    networks = [stages[best] for stages in trained]
    limits = _limits(target)

    def predict(channels: FloatArray, windows: Windows) -> FloatArray:
        seen = _gather(channels, windows, one_each)(np.arange(len(windows)))
        return np.clip(_average([network.predict(seen) for network in networks]), *limits)

    return predict, np.clip(unseen[best], *limits)


def _gather(channels: FloatArray, windows: Windows, one_each: Indices) -> attention.Gather:
    """Return a function from positions of windows to what is seen in them."""
    small = channels[:, :, one_each].astype(np.float32)
    back = np.arange(-windows.m, 0)

    def seen(chosen: Indices) -> NDArray[np.float32]:
        found: NDArray[np.float32] = small[
            windows.run[chosen, None], windows.at[chosen, None] + back
        ]
        return found

    return seen


def _mixed(first: Forecaster, second: Forecaster, share: float) -> Forecaster:
    def predict(channels: FloatArray, windows: Windows) -> FloatArray:
        rest = second(channels, windows)
        return rest + share * (first(channels, windows) - rest) if share else rest

    return predict


def _share(difference: FloatArray, missing: FloatArray, group: NDArray[np.int64]) -> float:
    """Return the share of ``difference`` that best makes up for ``missing``, from 0 to 1.

    It is shrunk as James and Stein do, by twice its variance over groups relative to its square.
    """
    _, row = np.unique(group, return_inverse=True)
    along = np.bincount(row, difference * missing)
    size = np.bincount(row, difference**2)
    if size.sum() <= 0 or along.sum() <= 0:
        return 0.0
    share = along.sum() / size.sum()
    variance = ((along - share * size) ** 2).sum() / size.sum() ** 2
    return float(np.clip(share * max(0.0, 1 - 2 * variance / share**2), 0.0, 1.0))


def _within_one_error(squared: FloatArray, group: NDArray[np.int64]) -> int:
    """Return the last column of ``squared[windows, columns]`` that is hardly worse than the best.

    It is within one standard error of the difference to the best, over groups.
    """
    names, row = np.unique(group, return_inverse=True)
    each = np.array([np.bincount(row, column) for column in squared.T])
    best = int(each.sum(axis=1).argmin())
    worse = each - each[best]
    error = worse.std(axis=1) * np.sqrt(len(names))
    return int(np.flatnonzero(worse.sum(axis=1) <= error)[-1])


def _folds(group: NDArray[np.int64], folds: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return a fold for each window, those of a group in the same one."""
    names, row = np.unique(group, return_inverse=True)
    return (rng.permutation(len(names)) % min(folds, len(names)))[row]


def _average(forecasts: list[FloatArray]) -> FloatArray:
    mean: FloatArray = np.mean(forecasts, axis=0)
    return mean


def _limits(target: FloatArray) -> tuple[float, float]:
    least, most = float(target.min()), float(target.max())
    room = _BEYOND * (most - least)
    return least - room, most + room
