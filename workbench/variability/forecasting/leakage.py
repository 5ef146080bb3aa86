"""By how much usual mistakes make a forecast look better than it is.

found = forecast_leakage(steps, m=10, k=20)
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
from workbench.variability.folds import FOLDS, drawn_mapes, ends, folds_of_runs, in_threads
from workbench.variability.forecasting.forecast import (
    LEARNERS,
    forecast_windows,
    known_models,
    learn_from,
)
from workbench.variability.forecasting.forecasters import Learner
from workbench.variability.forecasting.windows import Windows, baseline_of
from workbench.variability.tables.steps import StepTable

if TYPE_CHECKING:
    import pandas as pd


LEAKS = (
    "random windows",
    "statistics of all runs",
    "counters after t_c",
    "overlapping runs",
    "runs of the same weeks",
)
"""Mistakes: folds of windows, not of runs; mean trajectory and scales from the runs held out too;
counters read in the steps to forecast; runs held out that overlap in time with runs learned from;
runs held out from between the dates of runs learned from."""

_HONEST = "by run"


@dataclass(frozen=True, eq=False, repr=False)
class Leakage(StoredResult):
    """MAPE of forecasts with a mistake and without it.

    The mistake lets a model see what it will not have when it is used. Models are alone, without
    the share of ridge that ``Forecast`` has. Folds by run, with all
    statistics from the runs learned from, are without the first three; those of whole groups of
    runs that overlap, and of whole stretches of time, are without the last two. Where no date of a
    run is known, or no runs overlap, the figures of these two are nan.

    Attributes:
        m: number of steps that are seen.
        k: number of steps that are forecast.
        leaks: the mistakes.
        models: names of the models.
        honest: float64[leaks, models], %, MAPE without the mistake.
        leaky: float64[leaks, models], %, MAPE with it.
        flattery: float64[leaks, models], points by which the mistake lowers the MAPE.
        flattery_interval: float64[leaks, models, 2], of 95 % of bootstrap draws of runs.
        runs: number of runs.
        windows: their number.
        own_times: whether models see the job's own step times too.
        folds: number of parts.
        seed: of folds, models and intervals.
        provenance: of the steps.
        notes: what a reader must know, each a sentence.
    """

    m: int
    k: int
    leaks: tuple[str, ...]
    models: tuple[str, ...]
    honest: NDArray[np.float64] = field(metadata={"axes": 2})
    leaky: NDArray[np.float64] = field(metadata={"axes": 2})
    flattery: NDArray[np.float64] = field(metadata={"axes": 2})
    flattery_interval: NDArray[np.float64] = field(metadata={"axes": 3})
    runs: int
    windows: int
    own_times: bool
    folds: int
    seed: int
    provenance: Provenance
    notes: tuple[str, ...]

    plot = Drawing("plot_leakage")

    def to_frame(self) -> pd.DataFrame:
        """Return a row a mistake and model, in the order of ``leaks``."""
        import pandas as pd

        return pd.DataFrame(
            [
                {
                    "mistake": leak,
                    "model": model,
                    "MAPE without (%)": self.honest[at, row],
                    "MAPE with (%)": self.leaky[at, row],
                    "flatters by (points)": self.flattery[at, row],
                    "from": self.flattery_interval[at, row, 0],
                    "to": self.flattery_interval[at, row, 1],
                }
                for at, leak in enumerate(self.leaks)
                for row, model in enumerate(self.models)
            ]
        )

    def __repr__(self) -> str:
        most = self.flattery.max(axis=1)
        each = ", ".join(
            f"{leak} {value:.1f}"
            for leak, value in zip(self.leaks, most, strict=True)
            if np.isfinite(value)
        )
        return (
            f"Leakage(m={self.m}, k={self.k}; {self.runs} runs; flatters by up to (points of "
            f"MAPE): {each})"
        )


def forecast_leakage(
    steps: StepTable,
    *,
    m: int | None = None,
    k: int | None = None,
    models: Iterable[str] = ("attention", "trees", "ridge"),
    own_times: bool = True,
    folds: int = FOLDS,
    seed: int = 0,
    every: int = 1,
    task: Task | None = None,
) -> Leakage:
    """Return by how much each mistake flatters each model.

    Args:
        steps: of runs of one program with one input.
        m: as for ``forecast``.
        k: as for ``forecast``.
        models: some of ``attention``, ``trees`` and ``ridge``.
        own_times: as for ``forecast``.
        folds: as for ``forecast``.
        seed: as for ``forecast``.
        every: as for ``forecast``.
        task: gets the progress after each fold; once it is stopped, the work ends.

    Raises:
        ParameterError: an argument is not accepted; see ``forecast``.
        SimulationHalted: the task was stopped.
    """
    learners = [name for name in LEARNERS if name in known_models(models)]
    if not learners:
        raise ParameterError(f"models must have one of {', '.join(LEARNERS)}", key="models")
    folds, seed = whole(folds, "folds", 2), whole(seed, "seed", 0)
    windows, present = forecast_windows(steps, m, k, every)
    folds = min(folds, len(present))
    plans, notes = _plans(steps, windows, present, folds, seed)
    work = [
        partial(_predicted, steps, windows, learners, own_times, seed, plan, at)
        for plan in plans.values()
        for at in range(int(plan.fold.max()) + 1)
    ]
    with one_thread():
        pieces = iter(in_threads(work, task_of(task), "fold"))
    error: dict[str, FloatArray] = {}
    for name, plan in plans.items():
        error[name] = np.empty((len(learners), len(windows)))
        for at in range(int(plan.fold.max()) + 1):
            held = plan.fold == at
            error[name][:, held] = np.abs(next(pieces) / windows.actual_s[held] - 1)
    shape = (len(LEAKS), len(learners))
    honest, leaky = np.full(shape, np.nan), np.full(shape, np.nan)
    interval = np.full((*shape, 2), np.nan)
    for at, leak in enumerate(LEAKS):
        if leak not in plans:
            continue
        # Of the last two the plan is the one without the mistake, which folds by run make.
        first, second = (leak, _HONEST) if leak in _WITHOUT else (_HONEST, leak)
        honest[at], leaky[at] = (100 * error[one].mean(axis=1) for one in (first, second))
        interval[at] = ends(drawn_mapes(error[first] - error[second], windows.run, seed))
    return Leakage(
        m=windows.m,
        k=windows.k,
        leaks=LEAKS,
        models=tuple(learners),
        honest=honest,
        leaky=leaky,
        flattery=honest - leaky,
        flattery_interval=interval,
        runs=len(present),
        windows=len(windows),
        own_times=own_times,
        folds=folds,
        seed=seed,
        provenance=steps.provenance,
        notes=(*steps.notes, *notes),
    )


_WITHOUT = ("overlapping runs", "runs of the same weeks")


@dataclass(frozen=True)
class _Plan:
    """Folds, and what a model sees that it should not."""

    fold: NDArray[np.int64]  # of each window
    group: NDArray[np.int64]  # of windows that are held out together within the learning
    all_runs: bool = False  # statistics
    after: bool = False  # counters


def _plans(
    steps: StepTable, windows: Windows, present: NDArray[np.int64], folds: int, seed: int
) -> tuple[dict[str, _Plan], list[str]]:
    """Return the plans by the mistake, and why some are not there."""
    by_run = folds_of_runs(len(steps), present, folds, seed)[windows.run]
    order = np.random.default_rng([seed, 3]).permutation(len(windows))
    plans = {
        _HONEST: _Plan(by_run, windows.run),
        LEAKS[0]: _Plan(order % folds, np.arange(len(windows))),
        LEAKS[1]: _Plan(by_run, windows.run, all_runs=True),
    }
    notes = []
    if steps.counters:
        plans[LEAKS[2]] = _Plan(by_run, windows.run, after=True)
    start = steps.start
    if not np.isfinite(start[present]).all():
        notes.append(
            "no dates of runs: what runs of the same time tell about each other is unknown"
        )
        return plans, notes
    cluster = _overlapping(start, start + np.nansum(steps.time_s, axis=1))
    together = len(np.unique(cluster[present]))
    if together == len(present):
        notes.append("no runs overlap in time")
    elif together < 2 * folds:
        notes.append(f"runs overlap so much that only {together} groups of them are apart in time")
    else:
        names, place = np.unique(cluster[present], return_inverse=True)
        fold = np.full(len(steps), -1)
        fold[present] = np.random.default_rng(seed).permutation(len(names))[place] % folds
        plans[LEAKS[3]] = _Plan(fold[windows.run], cluster[windows.run])
    block = np.full(len(steps), -1)
    block[present[np.argsort(start[present], kind="stable")]] = (
        np.arange(len(present)) * min(FOLDS, len(present)) // len(present)
    )
    plans[LEAKS[4]] = _Plan(block[windows.run], windows.run)
    return plans, notes


def _overlapping(start: FloatArray, end: FloatArray) -> NDArray[np.int64]:
    """Return the group of each run, of those that overlap one after the other in time."""
    order = np.argsort(start, kind="stable")
    latest = np.maximum.accumulate(end[order])
    apart = np.concatenate([[False], start[order][1:] >= latest[:-1]])
    cluster = np.empty(len(start), np.int64)
    cluster[order] = np.cumsum(apart)
    return cluster


def _predicted(
    steps: StepTable,
    windows: Windows,
    learners: list[Learner],
    own_times: bool,
    seed: int,
    plan: _Plan,
    at: int,
    task: Task,
) -> FloatArray:
    """Return the forecasts of a fold's windows, s, [models, windows]."""
    held = windows.only(plan.fold == at)
    rest = windows.only(plan.fold != at)
    rows = np.arange(len(steps)) if plan.all_runs else np.unique(rest.run)
    base = baseline_of(steps, rows, own_times=own_times)
    channels = base.channels_of(steps) if plan.all_runs else base.channels()
    if plan.after:
        first = 1 if own_times else 0
        channels[:, :, first:] = _later(channels[:, :, first:], windows.k)
    own = np.broadcast_to(base.trajectory_s, steps.time_s.shape)
    trajectories = own if plan.all_runs else base.trajectories_s
    learned = learn_from(
        base,
        channels,
        rest,
        learners,
        task,
        seed=[seed, at],
        group=plan.group[plan.fold != at],
        trajectories_s=trajectories,
    )
    expected = held.total_ahead(trajectories)
    return np.array([expected * np.exp(one.alone(channels, held)) for one in learned.values()])


def _later(channels: FloatArray, k: int) -> FloatArray:
    """Return at each step the mean of ``channels[runs, steps, channels]`` over the next k."""
    runs, steps, count = channels.shape
    total = np.zeros((runs, steps + 1, count))
    np.cumsum(channels, axis=1, out=total[:, 1:])
    first = np.minimum(np.arange(steps) + 1, steps - 1)
    last = np.minimum(first + k, steps)
    found: FloatArray = (total[:, last] - total[:, first]) / (last - first)[:, None]
    return found
