"""How long the next steps of a run take, forecast from the counters of the last ones.

found = forecast(read_steps("steps.csv"), m=10, k=20)
found.to_frame()
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import FloatArray
from workbench.blas import one_thread
from workbench.checks import whole
from workbench.errors import ParameterError
from workbench.provenance import Provenance
from workbench.result import Drawing, StoredResult
from workbench.suggestions import did_you_mean
from workbench.tasks import Task, task_of
from workbench.variability.folds import (
    FEW_RUNS,
    FOLDS,
    LEAST_RUNS,
    drawn_mapes,
    ends,
    folds_of_runs,
    in_threads,
)
from workbench.variability.forecasting.forecasters import Learned, Learner, learn
from workbench.variability.forecasting.windows import (
    StepBaseline,
    Windows,
    baseline_of,
    persistence,
    windows_of,
)
from workbench.variability.tables.steps import FEATURES, StepTable

if TYPE_CHECKING:
    import pandas as pd


ForecastModel = Literal["attention", "network", "trees", "ridge", "persistence", "mean-trajectory"]
MODELS: tuple[ForecastModel, ...] = get_args(ForecastModel)
LEARNERS: tuple[Learner, ...] = get_args(Learner)

_IMPORTANCE_WINDOWS = 400  # of a fold: 100 find the same first three of emulated-link's counters
_IDLE = 0.02  # share of a model that is mixed with ridge


@dataclass(frozen=True, eq=False, repr=False)
class Forecast(StoredResult):
    """How well the total time of the next k steps is forecast from m steps, by several models.

    Each run is forecast by models that have learned from other runs only; from those also come the
    mean trajectory, the scales of the counters and all choices. Models see the counters of the m
    steps up to t_c and, if ``own_times``, the job's own times of these steps. Their target is the
    logarithm of the time of the next k steps over that of the mean trajectory.

    ``ridge`` is linear in summaries of the steps seen. ``network`` is scaled dot-product attention
    and a fully connected network on the steps themselves, the paper's model (Bhatele et al. 2020,
    IV-C). ``attention`` mixes it with ridge by the share ``share``, chosen on runs that it has not
    learned from; so do ``trees``, boosted trees on the summaries, with theirs. ``persistence`` says
    that the run stays as much slower than the mean trajectory as in the steps seen, and
    ``mean-trajectory`` that it is as other runs on average.

    An interval is that of the middle 95 % of 2000 bootstrap draws of runs, all windows of a run
    together; a skill, the share of another model's MAPE that a model saves, is drawn in pairs.

    Attributes:
        m: number of steps that are seen.
        k: number of steps that are forecast.
        features: of the counters that were seen.
        counters: that were seen.
        own_times: whether the times of the steps seen were seen too.
        models: names of the models.
        run_names: of the runs.
        run: int64[windows], position of the window's run.
        at: int64[windows], number of steps up to t_c.
        actual_s: float64[windows], s, of those of the next k steps that have a time.
        predicted_s: float64[models, windows], s.
        fold: int64[windows], in which the window was forecast.
        mape: float64[models], %, mean absolute error relative to the actual time.
        mape_interval: float64[models, 2], %.
        mae_s: float64[models], s, mean absolute error.
        r2: float64[models], share of the variance of the actual times that is explained.
        skill: float64[models, 2], share of the MAPE of ``mean-trajectory`` and ``persistence``
            that a model saves.
        skill_interval: float64[models, 2, 2], of both skills the ends.
        alone_mape: float64[models], %, without the share of ridge.
        share: float64[models], mean over folds of the share of the model itself.
        important: names of what ``importance`` is of: counters and the job's own times.
        importance: float64[important], by how many points the MAPE of ``importance_of`` rises where
            the run's readings are replaced by those of another run.
        importance_of: a model, or empty.
        network_importance: float64[important], the same of ``network``; empty without it.
        folds: their number.
        seed: of the folds, the models and the intervals.
        provenance: of the steps.
        notes: what a reader must know, each a sentence.
    """

    m: int
    k: int
    features: tuple[str, ...]
    counters: tuple[str, ...]
    own_times: bool
    models: tuple[str, ...]
    run_names: tuple[str, ...]
    run: NDArray[np.int64]
    at: NDArray[np.int64]
    actual_s: NDArray[np.float64]
    predicted_s: NDArray[np.float64] = field(metadata={"axes": 2})
    fold: NDArray[np.int64]
    mape: NDArray[np.float64]
    mape_interval: NDArray[np.float64] = field(metadata={"axes": 2})
    mae_s: NDArray[np.float64]
    r2: NDArray[np.float64]
    skill: NDArray[np.float64] = field(metadata={"axes": 2})
    skill_interval: NDArray[np.float64] = field(metadata={"axes": 3})
    alone_mape: NDArray[np.float64]
    share: NDArray[np.float64]
    important: tuple[str, ...]
    importance: NDArray[np.float64]
    importance_of: str
    network_importance: NDArray[np.float64]
    folds: int
    seed: int
    provenance: Provenance
    notes: tuple[str, ...]

    plot = Drawing("plot_forecast")

    @property
    def best(self) -> str:
        """The model with the least MAPE."""
        return self.models[int(np.argmin(self.mape))]

    def to_frame(self) -> pd.DataFrame:
        """Return a row a model with its errors and skills, and their intervals."""
        import pandas as pd

        return pd.DataFrame(
            {
                "model": self.models,
                "MAPE (%)": self.mape,
                "MAPE from": self.mape_interval[:, 0],
                "MAPE to": self.mape_interval[:, 1],
                "MAE (s)": self.mae_s,
                "R2": self.r2,
                "skill on mean trajectory": self.skill[:, 0],
                "skill on persistence": self.skill[:, 1],
                "skill on persistence from": self.skill_interval[:, 1, 0],
                "skill on persistence to": self.skill_interval[:, 1, 1],
            }
        )

    def __repr__(self) -> str:
        errors = ", ".join(
            f"{model} {error:.1f}" for model, error in zip(self.models, self.mape, strict=True)
        )
        return (
            f"Forecast(m={self.m}, k={self.k}; {len(np.unique(self.run))} runs, {len(self.run)} "
            f"windows, {len(self.counters)} counters; {self.folds} folds by run, seed "
            f"{self.seed}; MAPE (%): {errors})"
        )


def forecast(
    steps: StepTable,
    *,
    m: int | None = None,
    k: int | None = None,
    features: Iterable[str] | None = None,
    models: Iterable[str] = MODELS,
    own_times: bool = True,
    folds: int = FOLDS,
    seed: int = 0,
    every: int = 1,
    importance_of: str = "attention",
    task: Task | None = None,
) -> Forecast:
    """Return how well models forecast the next k steps of runs from the last m.

    Args:
        steps: of runs of one program with one input.
        m: number of steps that are seen; None is an eighth of those of most runs.
        k: number of steps that are forecast; None is a quarter.
        features: counters that are seen: some of ``app``, ``placement``, ``io`` and ``sys``; None
            is all that the table has.
        models: some of ``attention``, ``network``, ``trees``, ``ridge``, ``persistence`` and
            ``mean-trajectory``; the last two are always there.
        own_times: whether models see the job's own times of the steps seen as well. Without them
            they see counters only, as in the paper.
        folds: number of parts of the runs, each forecast from the others; at most one a run.
        seed: of the folds, the models and the intervals.
        every: a window begins every so many steps of a run; the paper has 1.
        importance_of: the model whose importances are computed, if it is one of ``models``.
        task: gets the progress after each fold; once it is stopped, the work ends.

    Raises:
        ParameterError: fewer than 3 runs are long enough, or an argument is not accepted.
        SimulationHalted: the task was stopped.
    """
    names = known_models(models)
    folds, seed = whole(folds, "folds", 2), whole(seed, "seed", 0)
    table = steps if features is None else steps.only(features)
    windows, present = forecast_windows(table, m, k, every)
    folds = min(folds, len(present))
    fold_of_run = folds_of_runs(len(table), present, folds, seed)
    learners = [name for name in LEARNERS if name in names]
    asked = _Question(table, windows, fold_of_run, learners, own_times, seed, importance_of)
    work = [partial(asked.fold, at) for at in range(folds)]
    with one_thread():
        pieces = in_threads(work, task_of(task), "fold")
    predicted = np.empty((len(names), len(windows)))
    alone = np.full((len(names), len(windows)), np.nan)
    for at, piece in enumerate(pieces):
        held = fold_of_run[windows.run] == at
        for row, name in enumerate(names):
            predicted[row, held] = piece.predicted_s[name]
            if name in piece.alone_s:
                alone[row, held] = piece.alone_s[name]
    shares = [
        float(np.mean([piece.share[name] for piece in pieces])) if name in learners else 1.0
        for name in names
    ]
    seen = _seen_counters(pieces, table)
    rises = {
        model: {
            name: float(np.mean([piece.rise[model].get(name, 0.0) for piece in pieces]))
            for name in rise
        }
        for model, rise in pieces[0].rise.items()
    }
    rise = rises.get(importance_of, {})
    important = tuple(rise)
    of_network = rises.get("network", {}) if important else {}
    scores = scores_of(predicted, windows.actual_s, windows.run, names, seed)
    return Forecast(
        m=windows.m,
        k=windows.k,
        features=tuple(name for name in FEATURES if name in table.features),
        counters=seen,
        own_times=own_times,
        models=tuple(names),
        run_names=table.run,
        run=windows.run,
        at=windows.at,
        actual_s=windows.actual_s,
        predicted_s=predicted,
        fold=fold_of_run[windows.run],
        mape=scores.mape,
        mape_interval=scores.mape_interval,
        mae_s=scores.mae_s,
        r2=scores.r2,
        skill=scores.skill,
        skill_interval=scores.skill_interval,
        alone_mape=100 * np.mean(np.abs(alone / windows.actual_s - 1), axis=1),
        share=np.array(shares),
        important=important,
        importance=np.array(list(rise.values())),
        importance_of=importance_of if important else "",
        network_importance=np.array(list(of_network.values())),
        folds=folds,
        seed=seed,
        provenance=steps.provenance,
        notes=(
            *steps.notes,
            *_notes(table, windows, len(present), pieces, own_times),
            *_only_ridge(dict(zip(names, shares, strict=True)), learners),
        ),
    )


def forecast_windows(
    steps: StepTable, m: int | None, k: int | None, every: int
) -> tuple[Windows, NDArray[np.int64]]:
    """Return the windows of a table, and the runs that have one; enough of these, or an error."""
    usual = int(np.median(np.isfinite(steps.time_s).sum(axis=1)))
    m = max(1, usual // 8) if m is None else whole(m, "m", 1)
    k = max(1, usual // 4) if k is None else whole(k, "k", 1)
    windows = windows_of(steps, m, k, every=whole(every, "every", 1))
    present = np.unique(windows.run)
    if len(present) < LEAST_RUNS:
        raise ParameterError(
            f"at least {LEAST_RUNS} runs must have {m + k} steps (m + k), so that one is forecast "
            f"from others; got {len(present)} of {len(steps)} runs; lower m or k, or add runs",
            key="m",
        )
    return windows, present


def known_models(models: Iterable[str]) -> list[ForecastModel]:
    """Return the named models in the order of ``MODELS``, with the two that need no learning."""
    wanted = [models] if isinstance(models, str) else list(models)
    for name in wanted:
        if name not in MODELS:
            raise ParameterError(
                f"models must be some of {', '.join(MODELS)}; got {name!r}"
                f"{did_you_mean(name, MODELS)}",
                key="models",
            )
    always = {"persistence", "mean-trajectory"}
    return [name for name in MODELS if name in always.union(wanted)]


@dataclass(frozen=True)
class _Piece:
    """What one fold found, of its windows."""

    predicted_s: dict[ForecastModel, FloatArray]
    alone_s: dict[Learner, FloatArray]
    share: dict[Learner, float]
    rise: dict[str, dict[str, float]]  # of the MAPE in points, by model and channel
    notes: tuple[str, ...]
    sources: tuple[int, ...]


@dataclass(frozen=True)
class _Question:
    """What all folds have in common."""

    table: StepTable
    windows: Windows
    fold_of_run: NDArray[np.int64]
    learners: list[Learner]
    own_times: bool
    seed: int
    importance_of: str

    def fold(self, at: int, task: Task) -> _Piece:
        """Learn from the runs of the other folds and forecast those of this one."""
        rows = np.flatnonzero(self.fold_of_run != at)
        base = baseline_of(self.table, rows, own_times=self.own_times)
        channels = base.channels()
        held = self.windows.only(self.fold_of_run[self.windows.run] == at)
        learned = learn_from(
            base,
            channels,
            self.windows.only(self.fold_of_run[self.windows.run] != at),
            self.learners,
            task,
            seed=[self.seed, at],
        )
        expected = held.total_ahead(base.trajectories_s)
        predicted: dict[ForecastModel, FloatArray] = {
            "mean-trajectory": expected,
            "persistence": persistence(self.table, held, base.trajectories_s),
        }
        alone: dict[Learner, FloatArray] = {}
        for name, model in learned.items():
            predicted[name] = expected * np.exp(model.predict(channels, held))
            alone[name] = expected * np.exp(model.alone(channels, held))
        explained = {self.importance_of, "network"} if self.importance_of else set()
        rise = {
            str(name): self._rise(model, base, channels, held, at)
            for name, model in learned.items()
            if name in explained
        }
        return _Piece(
            predicted,
            alone,
            {name: model.share for name, model in learned.items()},
            rise,
            base.notes,
            tuple(sorted(set(base.sources.tolist()))),
        )

    def _rise(
        self, model: Learned, base: StepBaseline, channels: FloatArray, held: Windows, at: int
    ) -> dict[str, float]:
        """Return by how much the MAPE rises where a channel's readings are another run's."""
        rng = np.random.default_rng([self.seed, at, 1])
        some = rng.permutation(len(held))[:_IMPORTANCE_WINDOWS]
        held = held.only(np.isin(np.arange(len(held)), some))
        expected = held.total_ahead(base.trajectories_s)

        def error(channels: FloatArray) -> float:
            predicted = expected * np.exp(model.predict(channels, held))
            return 100 * float(np.mean(np.abs(predicted / held.actual_s - 1)))

        order = rng.permutation(len(channels))
        other = np.empty_like(order)
        other[order] = np.roll(order, 1)
        names = np.array(base.names(self.table.counters), object)
        least = error(channels)
        rise = {}
        for name in dict.fromkeys(names):
            changed = channels.copy()
            changed[:, :, names == name] = channels[other][:, :, names == name]
            rise[str(name)] = error(changed) - least
        return rise


def learn_from(
    base: StepBaseline,
    channels: FloatArray,
    windows: Windows,
    learners: list[Learner],
    task: Task,
    *,
    seed: list[int],
    group: NDArray[np.int64] | None = None,
    trajectories_s: FloatArray | None = None,
) -> dict[Learner, Learned]:
    """Return models that have learned from windows, which are held out together by run."""
    expected = base.trajectories_s if trajectories_s is None else trajectories_s
    target = np.log(windows.actual_s / windows.total_ahead(expected))
    return learn(
        learners,
        channels,
        windows,
        target,
        windows.run if group is None else group,
        own_spread=base.own_spread,
        one_each=base.one_each,
        seed=seed,
        task=task,
    )


@dataclass(frozen=True)
class Scores:
    """Errors of models on the same windows, as in ``Forecast``."""

    mape: FloatArray
    mape_interval: FloatArray
    mae_s: FloatArray
    r2: FloatArray
    skill: FloatArray
    skill_interval: FloatArray


def scores_of(
    predicted: FloatArray,  # s, [models, windows]
    actual: FloatArray,  # s, [windows]
    run: NDArray[np.int64],
    names: list[ForecastModel],
    seed: int,
) -> Scores:
    """Return errors with intervals by bootstrap over runs."""
    error = np.abs(predicted - actual)
    drawn = drawn_mapes(error / actual, run, seed)
    mape = 100 * (error / actual).mean(axis=1)
    against = [names.index("mean-trajectory"), names.index("persistence")]
    with np.errstate(divide="ignore", invalid="ignore"):
        skill = 1 - mape[:, None] / mape[against]
        drawn_skill = 1 - drawn[:, :, None] / drawn[:, None, against]
        r2 = 1 - (error**2).mean(axis=1) / actual.var()
    return Scores(mape, ends(drawn), error.mean(axis=1), r2, skill, ends(drawn_skill))


def _only_ridge(share: Mapping[ForecastModel, float], learners: list[Learner]) -> list[str]:
    """Return a note if models that are mixed with ridge hardly change its forecasts."""
    idle = [name for name in learners if share[name] < _IDLE]
    if not idle:
        return []
    return [
        f"{' and '.join(idle)} add nothing to ridge on runs not learned from: what stands under "
        "their names is ridge's forecast; alone_mape has them without it"
    ]


def _seen_counters(pieces: list[_Piece], table: StepTable) -> tuple[str, ...]:
    seen = {at for piece in pieces for at in piece.sources}
    return tuple(table.counters[at] for at in sorted(seen))


def _notes(
    table: StepTable, windows: Windows, runs: int, pieces: list[_Piece], own_times: bool
) -> tuple[str, ...]:
    """Return what a reader must know of the runs that were used."""
    notes = []
    if not table.counters:
        seen = "their own times alone" if own_times else "nothing"
        notes.append(f"the table has no counters: models see {seen}")
    elif not any(piece.sources for piece in pieces):
        notes.append("no counter can be used")
    if runs < len(table):
        notes.append(
            f"{len(table) - runs} of {len(table)} runs do not have {windows.m + windows.k} steps "
            "(m + k) with times: they count for the mean trajectory only"
        )
    if windows.left_out:
        notes.append(
            f"{windows.left_out} windows are left out: more than a quarter of the steps to "
            "forecast or all steps seen have no time"
        )
    if windows.gaps:
        notes.append(
            f"in {windows.gaps} windows steps to forecast have no time: the others are forecast"
        )
    if missing := int((~np.isfinite(table.values[np.isfinite(table.time_s)])).sum()):
        notes.append(
            f"{missing} readings of counters are missing: each is taken as at the step before"
        )
    if runs < FEW_RUNS:
        notes.append(f"with {runs} runs the intervals are too narrow")
    return (*notes, *dict.fromkeys(note for piece in pieces for note in piece.notes))
