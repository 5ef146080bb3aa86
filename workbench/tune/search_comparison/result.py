"""The result of a comparison of searches, and the tables made of it."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from workbench.errors import ParameterError
from workbench.result import Result
from workbench.tune.recorded.recorded_space import RecordedSpace, Recording
from workbench.tune.search_comparison.plan import HELD_OUT, NO_PRUNING
from workbench.tune.search_comparison.rows import SearchRow

if TYPE_CHECKING:
    import pandas as pd

FloatArray = NDArray[np.float64]

LEVEL = 0.95
"""The share of bootstrap samples over the seeds that lie within an interval."""

_RESAMPLES = 2000  # of 20 seeds an end varies by 1 to 2 % of the width; with 500 by 2 to 3 %
_ROUNDING = 1e-6  # files hold seven digits


@dataclass(frozen=True, eq=False)
class SearchComparisonResult(Result):
    """The finished searches of a comparison.

    Attributes:
        rows: one a search and stopping rule.
        recordings: what was searched, by name of the recording or folder.
    """

    rows: tuple[SearchRow, ...]
    recordings: Mapping[str, Recording]

    def to_dict(self) -> dict[str, Any]:
        """Return the recordings' names, the number of searches, and the rows of ``methods``."""
        rows = self.methods().to_dict("records")
        return {"recordings": list(self.recordings), "searches": len(self.rows), "methods": rows}

    def to_frame(self) -> pd.DataFrame:
        """Return ``methods`` with the configuration that a model expects to be best."""
        return self.methods()

    def methods(self, pick: str = "expected") -> pd.DataFrame:
        """Return one row a method: how much of the possible gain in how much of the time.

        ``gain`` is the mean improvement over the default, ``share`` its ratio to the mean of what
        is possible (SHAMan's 94 %), ``distance`` the mean excess over the optimum, all in percent;
        ``saved`` is 1 less the time of all searches over that of running every configuration
        once, ``saved_grid`` over that of the whole grid without conditions, as SHAMan has it, in
        percent; ``tied`` the percentage of searches whose configuration the repeats cannot tell
        from the optimum. ``average`` is the mean excess of all runs over the optimum, in percent
        (SHAMan's AvgDist), ``steps`` the median number of runs until one lay within 5 % of it, and
        ``near`` the percentage of searches that came there. ``delta_us`` is the median excess over
        the optimum and ``spread_us`` the median standard deviation of the optimum's repeats
        (SHAMan's table 1); ``spent_s``, ``exhaustive_s`` and ``grid_s`` are times of all spaces
        together (its table 2). Intervals
        are bootstraps over the seeds (95 %). Gains and distances are judged by the repeats that
        the searches drew from: of what was measured they promise too much, and the optimum most.
        With the noise ``HELD_OUT`` the searches drew from every second repeat, the even ones or the
        odd ones by the seed, and the others judge; so they do the optimum, which is the best of
        those that were drawn from: ``potential`` is what an exhaustive search would keep.

        Args:
            pick: ``expected`` or ``best``: which configuration is kept in the end.
        """
        return self._table(_method, _METHOD, pick)

    def cells(self, pick: str = "expected") -> pd.DataFrame:
        """Return one row a method and space, with the columns of ``methods``.

        Args:
            pick: ``expected`` or ``best``: which configuration is kept in the end.
        """
        return self._table(lambda row: (*_method(row), row.cell.space), (*_METHOD, "space"), pick)

    def collectives(self, pick: str = "expected") -> pd.DataFrame:
        """Return one row a method and collective, all sizes together.

        Args:
            pick: ``expected`` or ``best``: which configuration is kept in the end.
        """
        return self._table(
            lambda row: (*_method(row), row.cell.space.partition("/")[0]),
            (*_METHOD, "collective"),
            pick,
        )

    def prunings(self, pick: str = "expected") -> pd.DataFrame:
        """Return one row a method that prunes: what that saves, and what it costs.

        Each search is held against the same one without pruning, of the same space and seed, which
        draws the same runs of what both run. ``pruned`` is the share of runs that were ended, in
        percent; ``quicker`` 1 less the time of the searches over that of those without pruning, in
        percent; ``gain_change`` and ``share_change`` what pruning adds to ``gain`` and ``share`` of
        ``methods``, in points of percent, below zero where it costs. Intervals are bootstraps over
        the seeds (95 %), the difference formed for each seed. Searches without such a partner are
        left out.

        Args:
            pick: ``expected`` or ``best``: which configuration is kept in the end.
        """
        import pandas as pd

        known = {(row.cell, row.stopping, row.seed): row for row in self.rows}
        groups: dict[tuple[str, ...], list[tuple[SearchRow, SearchRow]]] = {}
        for (cell, stopping, seed), row in known.items():
            partner = known.get((cell._replace(pruning=NO_PRUNING), stopping, seed))
            if cell.pruning != NO_PRUNING and partner is not None:
                groups.setdefault(_method(row), []).append((row, partner))
        spaces = self._spaces
        lines = [
            {**dict(zip(_METHOD, found, strict=True)), **_changes(pairs, spaces, pick)}
            for found, pairs in groups.items()
        ]
        return pd.DataFrame(lines, columns=PRUNING_COLUMNS)

    def __repr__(self) -> str:
        seeds = len({row.seed for row in self.rows})
        spaces = len({row.cell[:2] for row in self.rows})
        return f"SearchComparisonResult({len(self.rows)} rows, {spaces} spaces, {seeds} seeds)"

    @property
    def _spaces(self) -> dict[tuple[str, str], RecordedSpace]:
        return {
            (recording.name, name): space
            for recording in self.recordings.values()
            for name, space in recording.items()
        }

    def _table(
        self,
        key: Callable[[SearchRow], tuple[str, ...]],
        names: Sequence[str],
        pick: str,
    ) -> pd.DataFrame:
        import pandas as pd

        spaces = self._spaces
        groups: dict[tuple[str, ...], list[SearchRow]] = {}
        for row in self.rows:
            groups.setdefault(key(row), []).append(row)
        lines = [
            {**dict(zip(names, found, strict=True)), **_figures(rows, spaces, pick)}
            for found, rows in groups.items()
        ]
        return pd.DataFrame(lines)


_METHOD = ("recording", "noise", "heuristic", "resampling", "stopping", "pruning")
_CHANGES = ("pruned", "quicker", "gain_change", "share_change")

PRUNING_COLUMNS = (
    *_METHOD,
    *("spaces", "seeds"),
    *(f"{name}{end}" for name in _CHANGES for end in ("", "_low", "_high")),
)
"""Columns of ``SearchComparisonResult.prunings``."""


def _method(row: SearchRow) -> tuple[str, ...]:
    """Return the method of a search, in the order of ``_METHOD``."""
    cell = row.cell
    how = cell.heuristic, cell.resampling, row.stopping, cell.pruning
    return (cell.recording, cell.noise, *how)


def search_and_judging_spaces(
    recorded: RecordedSpace, noise: str, seed: int
) -> tuple[RecordedSpace, RecordedSpace]:
    """Return the space a search draws from and the one that judges; two halves if held out."""
    if noise != HELD_OUT:
        return recorded, recorded
    if min(map(len, recorded.values)) < 2:
        raise ParameterError(
            f"the noise {HELD_OUT} is for recordings with two repeats or more of each "
            f"configuration; {recorded.name} has one; choose none, normal or heavy-tails",
            key="noise",
        )
    halves = _halves(recorded)
    return halves[seed % 2], halves[1 - seed % 2]


@functools.lru_cache(maxsize=512)
def _halves(recorded: RecordedSpace) -> tuple[RecordedSpace, RecordedSpace]:
    return recorded.half(0), recorded.half(1)


def _figures(
    rows: Sequence[SearchRow], spaces: Mapping[tuple[str, str], RecordedSpace], pick: str
) -> dict[str, float]:
    """Return the figures of a group of searches, with intervals over the seeds."""
    names = _names(rows)
    per_seed, possible = _per_seed(rows, spaces, pick)
    figures: dict[str, float] = {"spaces": len(names), "seeds": len(_seeds(rows))}
    figures["potential"] = 100.0 * possible
    figures["spread_us"] = float(np.median([_spread_at_optimum(spaces[name]) for name in names]))
    figures |= {
        "exhaustive_s": math.fsum(spaces[name].exhaustive_s for name in names),
        "grid_s": math.fsum(spaces[name].grid_s for name in names),
    }
    return figures | _with_intervals(per_seed)


def _per_seed(
    rows: Sequence[SearchRow], spaces: Mapping[tuple[str, str], RecordedSpace], pick: str
) -> tuple[dict[str, FloatArray], float]:
    """Return the figures of each seed, float64[seeds], and the share of gain that is possible."""
    seeds, names = _seeds(rows), _names(rows)
    shape = (len(seeds), len(names))
    found, seconds, runs = (np.full(shape, math.nan) for _ in range(3))
    default, optimum = (np.full(shape, math.nan) for _ in range(2))
    average, steps = np.full(shape, math.nan), np.full(shape, math.inf)
    tied = np.zeros(shape)
    seed_at = {seed: at for at, seed in enumerate(seeds)}
    name_at = {name: at for at, name in enumerate(names)}
    for row in rows:
        name = row.cell[:2]
        at = seed_at[row.seed], name_at[name]
        found[at] = row.expected if pick == "expected" else row.best
        seconds[at], runs[at] = row.seconds, row.runs
        average[at] = row.average
        steps[at] = row.steps
        judges = search_and_judging_spaces(spaces[name], row.cell.noise, row.seed)
        default[at], optimum[at], equal = _measure(*judges)
        tied[at] = np.isclose(found[at], equal, rtol=_ROUNDING, atol=0.0).any()
    exhaustive = math.fsum(spaces[name].exhaustive_s for name in names)
    grid = math.fsum(spaces[name].grid_s for name in names)
    gain = 1.0 - found / default
    potential = 1.0 - optimum / default
    per_seed = {
        "gain": 100.0 * np.nanmean(gain, axis=1),
        "distance": 100.0 * np.nanmean(found / optimum - 1.0, axis=1),
        "saved": 100.0 * (1.0 - np.nansum(seconds, axis=1) / exhaustive),
        "saved_grid": 100.0 * (1.0 - np.nansum(seconds, axis=1) / grid),
        "tied": 100.0 * tied.mean(axis=1),
        "runs": np.nanmean(runs, axis=1),
        "delta_us": np.nanmedian(found - optimum, axis=1),
        "spent_s": np.nansum(seconds, axis=1),
    }
    possible = float(np.nanmean(potential))
    if np.isfinite(average).all():
        median = np.median(steps, axis=1)
        per_seed |= {
            "average": average.mean(axis=1),
            "near": 100.0 * np.isfinite(steps).mean(axis=1),
            "steps": np.where(np.isfinite(median), median, math.nan),
        }
    if possible > 0.0:
        per_seed["share"] = 100.0 * np.nanmean(gain, axis=1) / possible
    return per_seed, possible


def _changes(
    pairs: Sequence[tuple[SearchRow, SearchRow]],
    spaces: Mapping[tuple[str, str], RecordedSpace],
    pick: str,
) -> dict[str, float]:
    """Return the changes of searches against their partners, with intervals over the seeds."""
    rows, partners = zip(*pairs, strict=True)
    (ours, _), (theirs, _) = (_per_seed(each, spaces, pick) for each in (rows, partners))
    seeds = _seeds(rows)
    ended, runs = (
        np.array([sum(getattr(row, name) for row in rows if row.seed == seed) for seed in seeds])
        for name in ("pruned", "runs")
    )
    per_seed = {
        "pruned": 100.0 * ended / runs,
        "quicker": 100.0 * (1.0 - ours["spent_s"] / theirs["spent_s"]),
    }
    for name in ("gain", "share"):
        if name in ours:
            per_seed[f"{name}_change"] = ours[name] - theirs[name]
    return {"spaces": len(_names(rows)), "seeds": len(seeds), **_with_intervals(per_seed)}


def _seeds(rows: Iterable[SearchRow]) -> list[int]:
    return sorted({row.seed for row in rows})


def _names(rows: Iterable[SearchRow]) -> list[tuple[str, str]]:
    return sorted({(row.cell.recording, row.cell.space) for row in rows})


def _with_intervals(per_seed: Mapping[str, FloatArray]) -> dict[str, float]:
    figures: dict[str, float] = {}
    for name, values in per_seed.items():
        low, high = _interval(values)
        figures |= {name: float(values.mean()), f"{name}_low": low, f"{name}_high": high}
    return figures


def _spread_at_optimum(space: RecordedSpace) -> float:
    """Return the standard deviation of the optimum's repeats; nan of one alone."""
    values = space.repeats(space.optimum)[0]
    return float(np.std(values, ddof=1)) if len(values) > 1 else math.nan


@functools.lru_cache(maxsize=512)
def _measure(drawn: RecordedSpace, judge: RecordedSpace) -> tuple[float, float, FloatArray]:
    """Return the judge's values of the default, the optimum and its ties, float64[ties]."""
    equal = np.array([judge.median(each) for each in drawn.ties()])
    return judge.default_value, judge.median(drawn.optimum), equal


def _interval(values: FloatArray) -> tuple[float, float]:
    rng = np.random.default_rng(len(values))
    means = values[rng.integers(len(values), size=(_RESAMPLES, len(values)))].mean(axis=1)
    low, high = np.quantile(means, (0.5 * (1.0 - LEVEL), 0.5 * (1.0 + LEVEL)))
    return float(low), float(high)
