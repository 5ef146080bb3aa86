"""What came of the searches of a study: one row each, and the tables made of them."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from workbench.errors import ParameterError, ParseError
from workbench.replacing import replace_file
from workbench.tune.recorded import RecordedSpace, Recording

if TYPE_CHECKING:
    import pandas as pd

FloatArray = NDArray[np.float64]

LEVEL = 0.95
"""The share of bootstrap samples over the seeds that lie within an interval."""

HELD_OUT = "held-out"
"""The noise of searches that are judged by other repeats than those they drew from."""

_RESAMPLES = 2000
_ROUNDING = 1e-6  # files hold seven digits


class Cell(NamedTuple):
    """What is shared by all seeds and stopping rules of a method on a space.

    Attributes:
        recording: name of the recording.
        space: name of the space.
        heuristic: its name.
        resampling: label of the rule.
        noise: what was added to each run, in words.
        initial: initial points, the default first.
        budget: runs at most.
        data: beginning of the checksum of the file that the runs were drawn from.
    """

    recording: str
    space: str
    heuristic: str
    resampling: str
    noise: str
    initial: int
    budget: int
    data: str


@dataclass(frozen=True)
class SearchRow:
    """One search, read where one stopping rule ends it.

    Attributes:
        recording, space, heuristic, resampling, noise, initial, budget, data: of its ``cell``.
        stopping: label of the rule.
        seed: seed of the search.
        runs: runs, initial ones and repeats among them.
        configurations: different ones among them.
        seconds: time that the runs took together, in s.
        best: recorded median of the configuration whose own runs were best, of the repeats that
            judge.
        expected: the same of the one that a model of all runs expects most of.
    """

    recording: str
    space: str
    heuristic: str
    resampling: str
    noise: str
    initial: int
    budget: int
    data: str
    stopping: str
    seed: int
    runs: int
    configurations: int
    seconds: float
    best: float
    expected: float

    @property
    def cell(self) -> Cell:
        """What is shared by all seeds and stopping rules of a method on a space."""
        return Cell._make(getattr(self, name) for name in Cell._fields)

    @property
    def method(self) -> tuple[str, ...]:
        """How it was searched: recording, noise, heuristic, resampling and stopping."""
        return (self.recording, self.noise, self.heuristic, self.resampling, self.stopping)


_COLUMNS = tuple(each.name for each in fields(SearchRow))
_WHOLE = ("initial", "budget", "seed", "runs", "configurations")
_REAL = ("seconds", "best", "expected")


@dataclass(frozen=True, eq=False)
class StudyResult:
    """The searches of a study.

    Attributes:
        rows: one a search and stopping rule.
        recordings: what was searched, by name of the recording or folder.
    """

    rows: tuple[SearchRow, ...]
    recordings: Mapping[str, Recording]

    def methods(self, pick: str = "expected") -> pd.DataFrame:
        """Return one row a method: how much of the possible gain in how much of the time.

        ``gain`` is the mean improvement over the default, ``share`` its ratio to the mean of what
        is possible (SHAMan's 94 %), ``distance`` the mean excess over the optimum, all in percent;
        ``saved`` is 1 less the time of all searches over that of running every configuration
        once, ``saved_grid`` over that of the whole grid without conditions, as SHAMan runs it, in
        percent; ``tied`` the percentage of searches whose configuration the repeats cannot tell
        from the optimum. ``delta_us`` is the median excess over the optimum and ``spread_us`` the
        median standard deviation of the optimum's repeats (SHAMan's table 1); ``spent_s``,
        ``exhaustive_s`` and ``grid_s`` are times of all spaces together (its table 2). Intervals
        are bootstraps over the seeds (95 %). Gains and distances are judged by the repeats that
        the searches drew from: of what was measured they promise too much, and the optimum most.
        With the noise ``HELD_OUT`` the searches drew from every second repeat, the even ones or the
        odd ones by the seed, and the others judge; so they do the optimum, which is the best of
        those that were drawn from: ``potential`` is what an exhaustive search would keep.

        Args:
            pick: ``expected`` or ``best``: which configuration is kept in the end.
        """
        return self._table(lambda row: row.method, _METHOD, pick)

    def cells(self, pick: str = "expected") -> pd.DataFrame:
        """Return one row a method and space, with the columns of ``methods``.

        Args:
            pick: ``expected`` or ``best``: which configuration is kept in the end.
        """
        return self._table(lambda row: (*row.method, row.space), (*_METHOD, "space"), pick)

    def collectives(self, pick: str = "expected") -> pd.DataFrame:
        """Return one row a method and collective, all sizes together.

        Args:
            pick: ``expected`` or ``best``: which configuration is kept in the end.
        """
        return self._table(
            lambda row: (*row.method, row.space.partition("/")[0]), (*_METHOD, "collective"), pick
        )

    def __repr__(self) -> str:
        seeds = len({row.seed for row in self.rows})
        spaces = len({(row.recording, row.space) for row in self.rows})
        return f"StudyResult({len(self.rows)} rows, {spaces} spaces, {seeds} seeds)"

    def _table(
        self,
        key: Callable[[SearchRow], tuple[str, ...]],
        names: Sequence[str],
        pick: str,
    ) -> pd.DataFrame:
        import pandas as pd

        spaces = {
            (recording.name, name): space
            for recording in self.recordings.values()
            for name, space in recording.items()
        }
        groups: dict[tuple[str, ...], list[SearchRow]] = {}
        for row in self.rows:
            groups.setdefault(key(row), []).append(row)
        lines = [
            {**dict(zip(names, found, strict=True)), **_figures(rows, spaces, pick)}
            for found, rows in groups.items()
        ]
        return pd.DataFrame(lines)


_METHOD = ("recording", "noise", "heuristic", "resampling", "stopping")


def append_rows(path: Path, rows: Iterable[SearchRow], *, anew: bool = False) -> None:
    """Add searches to a file.

    Args:
        path: the CSV file.
        rows: what to add.
        anew: whether the file is written from its first line on, in one step.

    Raises:
        OSError: the file cannot be written.
    """
    lines = [",".join(_cells(row)) + "\n" for row in rows]
    if anew:
        replace_file(path, "".join([",".join(_COLUMNS) + "\n", *lines]).encode())
        return
    with path.open("a", encoding="utf-8") as file:
        file.write("".join(lines))


def read_rows(path: Path) -> list[SearchRow]:
    """Return the searches in a file; a last line that was cut by a kill is left out.

    Args:
        path: what ``append_rows`` wrote.

    Raises:
        ParseError: it holds something else.
        OSError: it cannot be read.
    """
    text = path.read_text(encoding="utf-8", errors="replace")
    lines = text.split("\n")[:-1]
    if not lines or tuple(lines[0].split(",")) != _COLUMNS:
        raise ParseError(
            f"the columns must be {','.join(_COLUMNS)}; name another file", source=str(path), line=1
        )
    found = []
    for at, line in enumerate(lines[1:], 2):
        row = dict(zip(_COLUMNS, line.split(","), strict=False))
        try:
            values: dict[str, Any] = {
                **row,
                **{name: int(row[name]) for name in _WHOLE},
                **{name: float(row[name]) for name in _REAL},
            }
        except (KeyError, ValueError) as error:
            raise ParseError(
                f"a row must hold a search; {error}", source=str(path), line=at
            ) from error
        found.append(SearchRow(**values))
    return found


def _cells(row: SearchRow) -> list[str]:
    return [
        f"{getattr(row, name):.7g}" if name in _REAL else str(getattr(row, name))
        for name in _COLUMNS
    ]


def drawn_and_judge(
    recorded: RecordedSpace, noise: str, seed: int
) -> tuple[RecordedSpace, RecordedSpace]:
    """Return what a search draws from and what judges what it found, twice the same but held out.

    Args:
        recorded: what is searched.
        noise: what is added to each run, in words.
        seed: seed of the search.

    Raises:
        ParameterError: runs are held out, and a configuration has less than two.
    """
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
    seeds = sorted({row.seed for row in rows})
    names = sorted({(row.recording, row.space) for row in rows})
    shape = (len(seeds), len(names))
    found, seconds, runs = (np.full(shape, math.nan) for _ in range(3))
    seed_at = {seed: at for at, seed in enumerate(seeds)}
    name_at = {name: at for at, name in enumerate(names)}
    for row in rows:
        at = seed_at[row.seed], name_at[row.recording, row.space]
        found[at] = row.expected if pick == "expected" else row.best
        seconds[at], runs[at] = row.seconds, row.runs
    default, optimum = (np.full(shape, math.nan) for _ in range(2))
    tied = np.zeros(shape)
    for row in rows:
        at, space = (seed_at[row.seed], name_at[row.recording, row.space]), spaces[row.cell[:2]]
        default[at], optimum[at], equal = _measure(*drawn_and_judge(space, row.noise, row.seed))
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
    if possible > 0.0:
        per_seed["share"] = 100.0 * np.nanmean(gain, axis=1) / possible
    figures: dict[str, float] = {"spaces": len(names), "seeds": len(seeds)}
    figures["potential"] = 100.0 * possible
    figures["spread_us"] = float(np.median([_spread_at_optimum(spaces[name]) for name in names]))
    figures |= {"exhaustive_s": exhaustive, "grid_s": grid}
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
    """Return what the judge says of the default, of the optimum, and of those tied with it."""
    equal = np.array([judge.median(each) for each in drawn.ties()])
    return judge.default_value, judge.median(drawn.optimum), equal


def _interval(values: FloatArray) -> tuple[float, float]:
    rng = np.random.default_rng(len(values))
    means = values[rng.integers(len(values), size=(_RESAMPLES, len(values)))].mean(axis=1)
    low, high = np.quantile(means, (0.5 * (1.0 - LEVEL), 0.5 * (1.0 + LEVEL)))
    return float(low), float(high)
