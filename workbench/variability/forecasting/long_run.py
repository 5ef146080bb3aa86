"""A long run forecast piece by piece by models that learned from short ones.

found = forecast_long(steps, long_run, m=30, k=40)
found.to_frame()
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import FloatArray
from workbench.blas import one_thread
from workbench.checks import whole
from workbench.errors import ParameterError
from workbench.provenance import Provenance
from workbench.result import Drawing, StoredResult
from workbench.tasks import Task, task_of
from workbench.variability.folds import FOLDS, folds_of_runs, in_threads
from workbench.variability.forecasting.forecast import (
    LEARNERS,
    MODELS,
    ForecastModel,
    forecast_windows,
    known_models,
    learn_from,
)
from workbench.variability.forecasting.forecasters import Learner
from workbench.variability.forecasting.windows import (
    StepBaseline,
    Windows,
    baseline_of,
    continued,
    persistence,
    windows_of,
)
from workbench.variability.tables.steps import StepTable

if TYPE_CHECKING:
    import pandas as pd


_INTERVAL = 0.9  # chosen: a tenth of the windows of a few short runs places both ends


@dataclass(frozen=True, eq=False, repr=False)
class LongForecast(StoredResult):
    """The time of each piece of a long run, forecast from the steps before it.

    The models have learned from shorter runs only. Beyond the last step of these, the mean
    trajectory goes on as the mean of its last ten steps. An interval is where the time would lie in
    90 % of the shorter runs' windows, which were forecast in turn by models learned from others.

    Attributes:
        m: number of steps that are seen.
        k: number of steps of a piece.
        models: names of the models.
        at: int64[pieces], number of steps before the piece.
        actual_s: float64[pieces], s.
        predicted_s: float64[models, pieces], s.
        interval_s: float64[models, pieces, 2], s.
        mape: float64[models], %, over the pieces.
        short_mape: float64[models], %, of the shorter runs, forecast in turn.
        time_s: float64[steps], s, of the long run.
        runs: number of shorter runs.
        run_name: of the long run.
        own_times: whether models see the run's own step times too.
        counters: that the models see.
        seed: of the models.
        provenance: of the long run.
        notes: what a reader must know, each a sentence.
    """

    m: int
    k: int
    models: tuple[str, ...]
    at: NDArray[np.int64]
    actual_s: NDArray[np.float64]
    predicted_s: NDArray[np.float64] = field(metadata={"axes": 2})
    interval_s: NDArray[np.float64] = field(metadata={"axes": 3})
    mape: NDArray[np.float64]
    short_mape: NDArray[np.float64]
    time_s: NDArray[np.float64]
    runs: int
    run_name: str
    own_times: bool
    counters: tuple[str, ...]
    seed: int
    provenance: Provenance
    notes: tuple[str, ...]

    plot = Drawing("plot_long_forecast")

    @property
    def best(self) -> str:
        """The model with the least MAPE on the shorter runs: chosen before the long one is seen."""
        return self.models[int(np.argmin(self.short_mape))]

    @property
    def coverage(self) -> FloatArray:
        """Share of the pieces whose time lies in the interval, float64[models]; 0.9 is promised."""
        low, high = np.moveaxis(self.interval_s, 2, 0)
        found: FloatArray = ((low <= self.actual_s) & (self.actual_s <= high)).mean(axis=1)
        return found

    def to_frame(self) -> pd.DataFrame:
        """Return a row a piece: its first step, its time and what each model forecast."""
        import pandas as pd

        row = self.models.index(self.best)
        return pd.DataFrame(
            {
                "first step": self.at,
                "time (s)": self.actual_s,
                **{f"{model} (s)": self.predicted_s[at] for at, model in enumerate(self.models)},
                "from (s)": self.interval_s[row, :, 0],
                "to (s)": self.interval_s[row, :, 1],
            }
        )

    def __repr__(self) -> str:
        errors = ", ".join(
            f"{model} {error:.1f}" for model, error in zip(self.models, self.mape, strict=True)
        )
        return (
            f"LongForecast({self.run_name}, {len(self.time_s)} steps in {len(self.at)} pieces of "
            f"{self.k} from {self.m}, learned from {self.runs} runs; MAPE (%): {errors})"
        )


def forecast_long(
    steps: StepTable,
    long_run: StepTable,
    *,
    m: int = 30,
    k: int = 40,
    models: Iterable[str] = MODELS,
    own_times: bool = True,
    seed: int = 0,
    task: Task | None = None,
) -> LongForecast:
    """Return the time of each piece of a long run, forecast by models learned from short runs.

    Args:
        steps: of shorter runs, to learn from.
        long_run: one run of the same program with the same counters; the first where there are
            several. It must not be among the shorter ones.
        m: number of steps that are seen.
        k: number of steps of a piece.
        models: as for ``forecast``.
        own_times: as for ``forecast``.
        seed: of the models.
        task: gets the progress after each part of the work; once it is stopped, the work ends.

    Raises:
        ParameterError: the long run is among the others, has other counters or is too short, or an
            argument is not accepted.
        SimulationHalted: the task was stopped.
    """
    names = known_models(models)
    learners = [name for name in LEARNERS if name in names]
    seed = whole(seed, "seed", 0)
    one = _checked(steps, long_run, whole(m, "m", 1), whole(k, "k", 1))
    windows, present = forecast_windows(steps, m, k, 1)
    fold = folds_of_runs(len(steps), present, min(FOLDS, len(present)), seed)[windows.run]
    pieces = windows_of(one, m, k, every=k)
    work = [
        partial(_short, steps, windows, fold, at, learners, own_times, seed)
        for at in range(int(fold.max()) + 1)
    ]
    work.append(partial(_long, steps, windows, one, pieces, learners, own_times, seed))
    with one_thread():
        *short, found = in_threads(work, task_of(task), "part")
    predicted = np.array([found[name] for name in names])
    ratio = np.empty((len(names), len(windows)))
    for at, piece in enumerate(short):
        held = fold == at
        ratio[:, held] = windows.actual_s[held] / np.array([piece[name] for name in names])
    outside = (1 - _INTERVAL) / 2
    ends = np.quantile(ratio, [outside, 1 - outside], axis=1)
    seen = baseline_of(steps, present, own_times=own_times)
    return LongForecast(
        m=m,
        k=k,
        models=tuple(names),
        at=pieces.at,
        actual_s=pieces.actual_s,
        predicted_s=predicted,
        interval_s=predicted[:, :, None] * ends.T[:, None, :],
        mape=100 * np.mean(np.abs(predicted / pieces.actual_s - 1), axis=1),
        short_mape=100 * np.mean(np.abs(1 / ratio - 1), axis=1),
        time_s=one.time_s[0],
        runs=len(present),
        run_name=one.run[0],
        own_times=own_times,
        counters=tuple(dict.fromkeys(steps.counters[at] for at in seen.sources)),
        seed=seed,
        provenance=one.provenance,
        notes=(*steps.notes, *seen.notes),
    )


def _checked(steps: StepTable, long_run: StepTable, m: int, k: int) -> StepTable:
    """Return the long run alone, with the counters in the order of the others."""
    name = long_run.run[0]
    if name in steps.run:
        at = steps.run.index(name)
        shared = min(steps.steps, long_run.steps)
        if np.array_equal(steps.time_s[at, :shared], long_run.time_s[0, :shared], equal_nan=True):
            raise ParameterError(
                f"the long run must not be among the runs learned from; {name} is: leave it out "
                "of steps",
                key="long_run",
            )
    if missing := [counter for counter in steps.counters if counter not in long_run.counters]:
        raise ParameterError(
            f"the long run must have the counters of the others; it lacks {', '.join(missing)}",
            key="long_run",
        )
    length = int(np.isfinite(long_run.time_s[0]).sum())
    if length < m + k:
        raise ParameterError(
            f"the long run must have at least m + k = {m + k} steps; got {length}", key="long_run"
        )
    order = [long_run.counters.index(counter) for counter in steps.counters]
    one = long_run.rows([0])
    return StepTable(
        one.run, one.start, one.time_s, steps.counters, one.values[:, :, order], one.provenance
    )


def _short(
    steps: StepTable,
    windows: Windows,
    fold: NDArray[np.int64],
    at: int,
    learners: list[Learner],
    own_times: bool,
    seed: int,
    task: Task,
) -> dict[ForecastModel, FloatArray]:
    """Return the forecasts of the windows of a fold, s."""
    held = windows.only(fold == at)
    base = baseline_of(steps, np.unique(windows.run[fold != at]), own_times=own_times)
    return _forecasts(
        base, windows.only(fold != at), base.channels(), steps, held, base.trajectories_s,
        learners, [seed, at], task,
    )  # fmt: skip


def _long(
    steps: StepTable,
    windows: Windows,
    long_run: StepTable,
    pieces: Windows,
    learners: list[Learner],
    own_times: bool,
    seed: int,
    task: Task,
) -> dict[ForecastModel, FloatArray]:
    """Return the forecasts of the pieces of the long run, s."""
    base = baseline_of(steps, np.unique(windows.run), own_times=own_times)
    trajectory = continued(base.trajectory_s, long_run.steps)[None]
    return _forecasts(
        base, windows, base.channels_of(long_run), long_run, pieces, trajectory,
        learners, [seed, FOLDS], task,
    )  # fmt: skip


def _forecasts(
    base: StepBaseline,
    learn: Windows,
    channels: FloatArray,  # of the runs that are forecast
    steps: StepTable,
    held: Windows,
    trajectories: FloatArray,
    learners: list[Learner],
    seed: list[int],
    task: Task,
) -> dict[ForecastModel, FloatArray]:
    learned = learn_from(base, base.channels(), learn, learners, task, seed=seed)
    expected = held.total_ahead(trajectories)
    found: dict[ForecastModel, FloatArray] = {
        "mean-trajectory": expected,
        "persistence": persistence(steps, held, trajectories),
    }
    for name, model in learned.items():
        found[name] = expected * np.exp(model.predict(channels, held))
    return found
