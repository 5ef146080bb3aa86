"""Windows that slide over the steps of runs: what a forecast sees and what it predicts."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import FloatArray
from workbench.errors import ParameterError
from workbench.variability.step_means import means_of
from workbench.variability.tables.steps import StepTable

OWN_TIMES = "own step times"
"""Name of the channel that holds the job's own step times."""

_LEAST_RUNS_FOR_CONSTANTS = 20  # training runs from which a counter with one value a run is used
_TAIL = 10  # steps whose mean continues a trajectory beyond its end
_LEAST_KNOWN = 0.75  # share of the steps to forecast that have a time
_MOST_SPREADS = 6.0  # a standardised counter is cut off there


@dataclass(frozen=True)
class Windows:
    """Windows of ``m`` steps that are seen and ``k`` steps whose total time is forecast."""

    m: int
    k: int
    run: NDArray[np.int64]  # position of each window's run
    at: NDArray[np.int64]  # number of its steps up to t_c, the last step that is seen
    actual_s: FloatArray  # s, total time of those of the next k steps that have one
    known: NDArray[np.bool_]  # whether a step has a time, [runs, steps]
    left_out: int = 0  # windows with no step seen that has a time, or with too few to forecast
    gaps: int = 0  # other windows with a step to forecast that has no time

    def __len__(self) -> int:
        return len(self.run)

    def seen(self, values: FloatArray, last: int | None = None) -> FloatArray:
        """Return the mean over the last steps seen of each window, of ``values[runs, steps, ...]``.

        No value may be missing. None takes all ``m`` steps.
        """
        steps = self.m if last is None else last
        return _total(values, self.run, self.at - steps, self.at) / steps

    def total_ahead(self, trajectories: FloatArray) -> FloatArray:
        """Return the total over the steps to forecast, of whole ``trajectories[runs, steps]``."""
        return _total(np.where(self.known, trajectories, 0.0), self.run, self.at, self.at + self.k)

    def only(self, chosen: NDArray[np.bool_]) -> Windows:
        """Return the windows that ``chosen``, bool[windows], says."""
        return replace(
            self,
            run=self.run[chosen],
            at=self.at[chosen],
            actual_s=self.actual_s[chosen],
            left_out=0,
            gaps=0,
        )


def windows_of(steps: StepTable, m: int, k: int, *, every: int = 1) -> Windows:
    """Return all windows of a table, t_c from m to T - k (Bhatele et al. 2020, IV-C).

    t_c goes on by ``every`` steps. ParameterError if the table has fewer than m + k steps.
    """
    total = steps.steps
    if m + k > total:
        raise ParameterError(
            f"m + k must be at most the number of steps of a run, {total}; got {m} + {k} = "
            f"{m + k}; lower m or k",
            key="m",
        )
    ends = np.arange(m, total - k + 1, every)
    run = np.repeat(np.arange(len(steps)), len(ends))
    at = np.tile(ends, len(steps))
    known = np.isfinite(steps.time_s)
    timed = _total(known.astype(np.float64), run, at, at + k)
    kept = (timed >= _LEAST_KNOWN * k) & (_total(known.astype(np.float64), run, at - m, at) > 0)
    run, at = run[kept], at[kept]
    actual = _total(np.where(known, steps.time_s, 0.0), run, at, at + k)
    gaps = int((timed[kept] < k).sum())
    return Windows(m, k, run, at, actual, known, int((~kept).sum()), gaps)


def persistence(steps: StepTable, windows: Windows, trajectories: FloatArray) -> FloatArray:
    """Return what the next steps take if they are as slow as those seen, float64[windows], s.

    The next steps of the mean trajectory are multiplied by the time of the steps seen over theirs
    in the mean trajectory, so that a warm-up is no slowdown.
    """
    seen = windows.seen(np.where(windows.known, steps.time_s, 0.0))
    expected = windows.seen(np.where(windows.known, trajectories, 0.0))
    return windows.total_ahead(trajectories) * seen / expected


@dataclass(frozen=True)
class StepBaseline:
    """Means and spreads of some runs of a table, relative to which all runs are seen.

    Each of these runs is seen relative to the means of the others, as a new run will be; a model
    that learned from runs relative to their own mean would rely on it too much where runs are few.
    """

    table: StepTable  # the runs
    trajectory_s: FloatArray  # s, mean time of each step, without gaps
    trajectories_s: FloatArray  # s, the same for each run of the table, without it
    sources: NDArray[np.intp]  # of each channel, position of its counter
    logarithmic: NDArray[np.bool_]  # of each channel, whether it is the counter's logarithm
    floor: FloatArray  # of each channel, added before a logarithm
    centre: FloatArray  # mean at each step, [steps, channels]
    centres: FloatArray  # the same for each run of the table, without it
    spread: FloatArray  # of each channel, standard deviation about the centre, above 0
    own_spread: float  # of log times relative to the trajectory; 0 if they are not a channel
    notes: tuple[str, ...]  # which counters are not used and why

    def channels(self) -> FloatArray:
        """Return the runs in the terms of the baseline, float64[runs, steps, channels].

        The first channel is the logarithm of the step's time over that of the trajectory, if own
        times are used; then each counter less its centre, over its spread. What is missing is as
        at the step before, or as in the centre.
        """
        return self._channels(self.table, self.trajectories_s, self.centres)

    def channels_of(self, others: StepTable) -> FloatArray:
        """Return runs of another table of these counters, maybe longer, in the same terms."""
        length = others.steps
        return self._channels(
            others, continued(self.trajectory_s, length), continued(self.centre, length)
        )

    def _channels(self, steps: StepTable, trajectory: FloatArray, centre: FloatArray) -> FloatArray:
        parts = []
        if self.own_spread:
            parts.append(np.log(steps.time_s / trajectory)[:, :, None] / self.own_spread)
        seen = _formed(steps.values[:, :, self.sources], self.logarithmic, self.floor)
        scaled = (seen - centre) / self.spread
        parts.append(np.clip(scaled, -_MOST_SPREADS, _MOST_SPREADS))
        return _filled_forward(np.concatenate(parts, axis=2))

    def names(self, counters: tuple[str, ...]) -> tuple[str, ...]:
        """Return what each channel shows: a counter, or the job's own step times."""
        own = (OWN_TIMES,) if self.own_spread else ()
        return (*own, *(counters[at] for at in self.sources))

    @property
    def one_each(self) -> NDArray[np.intp]:
        """Channels that show each counter once, its logarithm where there is one, and own times."""
        own = [0] if self.own_spread else []
        best = dict(zip(self.sources.tolist(), range(len(self.sources)), strict=True))
        return np.array(own + [len(own) + at for at in best.values()], np.intp)


def baseline_of(
    steps: StepTable,  # of all runs
    rows: NDArray[np.intp],  # positions of the runs
    *,
    own_times: bool = True,  # whether the times of the steps are a channel
) -> StepBaseline:
    """Return the means and spreads of some runs.

    A counter that is nowhere negative is a channel twice: as it is, and its logarithm, in which
    what multiplies adds up. Left out are counters that are constant or never read in these runs,
    and with few runs those with one value a run, which say no more than as many numbers.
    """
    values = steps.values[rows]
    trajectory, trajectories = means_of(steps.time_s[:, :, None], rows)
    ratio = np.log(steps.time_s / trajectories[:, :, 0])[rows]
    spread = float(np.sqrt(np.nanmean(ratio**2))) if own_times else 0.0
    sources, logarithmic, floors, notes = [], [], [], []
    read = np.isfinite(values)
    for at, name in enumerate(steps.counters):
        one = values[:, :, at][read[:, :, at]]
        if not one.size or np.ptp(one) <= 1e-12 * np.abs(one).max():
            notes.append(f"{name} is not used: it is constant or was never read")
            continue
        if len(rows) < _LEAST_RUNS_FOR_CONSTANTS and _one_a_run(values[:, :, at]):
            notes.append(
                f"{name} is not used: it has one value a run, and there are fewer than "
                f"{_LEAST_RUNS_FOR_CONSTANTS} runs to learn from"
            )
            continue
        floor = 1e-3 * float(np.median(np.abs(one[one != 0])))
        for form in (False, True) if one.min() >= 0 else (False,):
            sources.append(at)
            logarithmic.append(form)
            floors.append(floor)
    chosen = np.array(sources, np.intp)
    forms, floor_of = np.array(logarithmic, np.bool_), np.array(floors)
    formed = _formed(steps.values[:, :, chosen], forms, floor_of)
    centre, centres = means_of(formed, rows)
    scatter = np.ones(len(chosen))
    if len(chosen):
        scatter = np.sqrt(np.nanmean((formed - centres)[rows] ** 2, axis=(0, 1)))
    return StepBaseline(
        steps,
        trajectory[:, 0],
        trajectories[:, :, 0],
        chosen,
        forms,
        floor_of,
        centre,
        centres,
        np.where(scatter > 0, scatter, 1.0),
        spread if spread > 0 or not own_times else 1.0,
        tuple(notes),
    )


def summaries(channels: FloatArray, windows: Windows, *, spread: bool = False) -> FloatArray:
    """Return of each channel its last value seen, and its mean over a third of the steps and all.

    float64[windows, 3 channels], or 4 channels with the standard deviation over the steps seen.
    """
    mean = windows.seen(channels)
    parts = [
        channels[windows.run, windows.at - 1],
        windows.seen(channels, max(1, windows.m // 3)),
        mean,
    ]
    if spread:
        parts.append(np.sqrt(np.maximum(windows.seen(channels**2) - mean**2, 0.0)))
    return np.concatenate(parts, axis=1)


def continued(values: FloatArray, length: int) -> FloatArray:
    """Return ``values[steps, ...]`` cut off, or continued by the mean of its last steps."""
    known = len(values)
    if length <= known:
        return values[:length]
    tail = values[-min(_TAIL, known) :].mean(axis=0)
    return np.concatenate([values, np.repeat(tail[None], length - known, axis=0)])


def _total(
    values: FloatArray, run: NDArray[np.int64], start: NDArray[np.int64], end: NDArray[np.int64]
) -> FloatArray:
    """Return sums of ``values[runs, steps, ...]`` from start to end, float64[windows, ...]."""
    before = np.zeros((values.shape[0], values.shape[1] + 1, *values.shape[2:]))
    np.cumsum(values, axis=1, out=before[:, 1:])
    found: FloatArray = before[run, end] - before[run, start]
    return found


def _formed(values: FloatArray, logarithmic: NDArray[np.bool_], floor: FloatArray) -> FloatArray:
    """Return ``values[runs, steps, channels]``, those of some channels as logarithms."""
    formed = values.copy()
    logs = np.maximum(values[:, :, logarithmic], 0.0) + floor[logarithmic]
    formed[:, :, logarithmic] = np.log(logs)
    return formed


def _one_a_run(values: FloatArray) -> bool:
    """Return whether ``values[runs, steps]`` are the same at all steps of each run."""
    filled = _filled_forward(values[:, :, None])[:, :, 0]
    first = np.isfinite(values).argmax(axis=1)
    later = np.arange(values.shape[1]) >= first[:, None]
    start = np.take_along_axis(filled, first[:, None], axis=1)
    return bool(np.all((filled == start) | ~later))


def _filled_forward(values: FloatArray) -> FloatArray:
    """Return ``values[runs, steps, channels]``, a missing one as at the step before, or 0."""
    known = np.isfinite(values)
    if known.all():
        return values
    step = np.where(known, np.arange(values.shape[1])[:, None], 0)
    latest = np.maximum.accumulate(step, axis=1)
    return np.nan_to_num(np.take_along_axis(values, latest, axis=1), nan=0.0)
