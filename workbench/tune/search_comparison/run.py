"""A comparison of searches on recorded spaces, as in section 5 of SHAMan's paper.

    plan = SearchComparisonPlan(("simulated-12-ranks",), seeds=20)
    result = compare_searches(plan, "searches.db")
    result.methods()

Every heuristic with every resampling rule searches every space with every seed, as an `Experiment`
would, its runs drawn from those recorded. A stopping rule only ends a search that goes the same
way without it, so that one search is read where each of the rules would have ended it. A pruned run
is charged the time up to its limit and gives no value, as in an ``Experiment`` that replays.
"""

from __future__ import annotations

import functools
import itertools
import math
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from workbench.arrays import FloatArray
from workbench.checks import whole
from workbench.datapackage import DESCRIPTOR
from workbench.errors import ParameterError
from workbench.storage.row_table import RowTable, StoredRow
from workbench.suggestions import did_you_mean
from workbench.tasks import Task, task_of
from workbench.tune.heuristics import HEURISTICS
from workbench.tune.history import History
from workbench.tune.next_run import Chooser, NextRun, stopping_rule
from workbench.tune.recommendation import recommended
from workbench.tune.recorded.files import read_recording, shipped_recording
from workbench.tune.recorded.recorded_space import RecordedSpace, Recording
from workbench.tune.runners.function import virtual_run
from workbench.tune.runners.replay import noise_factor
from workbench.tune.search_comparison.plan import (
    HELD_OUT,
    PRUNINGS_COMPARED,
    RESAMPLINGS_COMPARED,
    STOPPINGS_COMPARED,
    AddedNoise,
    SearchComparisonPlan,
)
from workbench.tune.search_comparison.result import (
    SearchComparisonResult,
    search_and_judging_spaces,
)
from workbench.tune.search_comparison.rows import (
    SearchCell,
    SearchRow,
    read_rows,
    stored_searches,
)
from workbench.tune.settings import Chosen, SearchSettings
from workbench.tune.space.constraints import Configuration
from workbench.tune.stopping import Stopping
from workbench.workers.rows import RowWork
from workbench.workers.run import choose_executor

NEAR = 0.05
"""The excess over the optimum up to which a run is near it, as in SHAMan's section 5.1."""

_MOST_JOBS = 256  # chosen: processes that compute, above the processors of most nodes


@dataclass(frozen=True)
class _Piece:
    """All seeds of one method on one space, up to where some rules end them."""

    folder: str
    space: str
    heuristic: str
    resampling: str
    pruning: str
    noise: AddedNoise
    stoppings: tuple[str, ...]
    initial: int
    budget: int
    reruns: int


def compare_searches(
    plan: SearchComparisonPlan,
    rows: str | Path | None = None,
    *,
    jobs: int = 1,
    task: Task | None = None,
) -> SearchComparisonResult:
    """Run every search of a plan and return their result.

    Args:
        plan: searches to run.
        rows: database that stores each search, and from which a comparison continues. It is an
            SQLite file or the address of a PostgreSQL database; several processes may share it. A
            CSV file of an earlier release is read, and continued in a ``.db`` file of its name.
        jobs: number of processes.
        task: gets the number of finished searches; once it is stopped, the comparison ends after
            the seeds of the current cells.

    Returns:
        The finished searches, and the recordings that they drew from.

    Raises:
        ParameterError: unknown spaces, jobs below 1, or above 1 with a heuristic that was
            registered in this process.
        DatasetError: no recording of that name ships.
        ParseError: the CSV file holds other columns.
        StudyError: the database cannot be used or holds searches with other digits, a process
            died, or another process runs some of the searches.
    """
    whole(jobs, "jobs", 1, _MOST_JOBS)
    own = [name for name in plan.heuristics if name in HEURISTICS.registered]
    if jobs > 1 and own:
        raise ParameterError(
            f"jobs must be 1 with the heuristic {own[0]}, which was registered in this process: "
            f"others do not know it; got {jobs}",
            key="jobs",
        )
    if rows is None:
        with tempfile.TemporaryDirectory(prefix="workbench-searches-") as folder:
            return compare_searches(plan, Path(folder, "searches.db"), jobs=jobs, task=task)
    earlier: Mapping[tuple[SearchCell, str, int], SearchRow] = {}
    if Path(rows).suffix == ".csv":
        earlier, rows = read_rows(Path(rows)), Path(rows).with_suffix(".db")
    table, seeds = RowTable(rows, "search"), range(plan.seeds)
    work, pieces = RowWork(table, __name__), {_name(piece): piece for piece in _pieces(plan)}
    table.database.prepare()
    with table.kept_open():
        for name, piece in pieces.items():
            table.prepare(name, {**_cell(piece)._asdict(), "stoppings": piece.stoppings})
            for seed in seeds if earlier else ():
                ends = [(_cell(piece), label, seed) for label in piece.stoppings]
                if earlier.keys() >= set(ends):
                    # A file has seven digits, which no release computes.
                    content = stored_searches(earlier[end] for end in ends)
                    table.write(name, [StoredRow(content, seed, "rounded")])
            work.add(name, asdict(piece), seeds, at_once=plan.seeds)
    work.complete_all("searches", choose_executor(jobs, None), task_of(task))
    with table.kept_open():
        found = [
            SearchRow(_cell(piece), label, seed, **values)
            for name, piece in pieces.items()
            for seed, row in table.read(name, 0, plan.seeds).items()
            for label, values in row.content.items()
        ]
    return SearchComparisonResult(
        tuple(found), {name: load_recording(name) for name in plan.recordings}
    )


def search_recorded_space(
    recorded: RecordedSpace,
    settings: SearchSettings,  # its own stopping rule is ignored
    noise: AddedNoise | None = None,  # None: a recorded repeat
    stoppings: Mapping[str, Chosen] | None = None,  # by label; None: the budget alone
) -> dict[str, tuple[History, str]]:
    """Search a recorded space once; return, by label, runs and reason at each rule's end."""
    added = noise or AddedNoise()
    chooser = Chooser(recorded.space, _without_stopping(settings))
    rules = {
        label: stopping_rule(_with_stopping(settings, rule))
        for label, rule in (stoppings or {"budget": Chosen("none")}).items()
    }
    history = History(recorded.space, aggregation=settings.aggregation)
    ended: dict[str, tuple[History, str]] = {}
    while len(ended) < len(rules):
        for label, rule in rules.items():
            reason = _reason(rule, history, settings.initial)
            if label not in ended and reason is not None:
                ended[label] = history.first(len(history)), reason
        if len(ended) == len(rules):
            break
        step = chooser.choose(
            history, set(range(len(history))), False, history.last, settings.budget
        )
        if not isinstance(step, NextRun):
            why = "" if step is None else step.reason
            ended |= {label: (history, why) for label in rules if label not in ended}
            break
        limit_s = chooser.limit_s(history, initial=step.initial)
        _run(history, recorded, step, settings.seed, added, limit_s)
    return ended


def load_recording(name: str) -> Recording:
    """Return a recording by its shipped name or its folder; read once."""
    return _loaded(name)


@functools.lru_cache(maxsize=8)
def _loaded(name: str) -> Recording:
    here = Path(name)
    return read_recording(here) if (here / DESCRIPTOR).is_file() else shipped_recording(name)


def _run(
    history: History,
    recorded: RecordedSpace,
    step: NextRun,
    seed: int,
    noise: AddedNoise,
    limit_s: float | None,
) -> None:
    """Draw one run and add it; a configuration without a recorded run fails at once."""
    rng = np.random.default_rng((seed, step.number, 7))
    try:
        value, took = _draw(recorded, step.configuration, noise, rng)
    except ParameterError:
        history.append(
            step.configuration,
            float("nan"),
            status="failed",
            initial=step.initial,
            resampled=step.resampled,
        )
        return
    output = virtual_run(value, took, limit_s)
    pruned = output.state == "timeout"
    history.append(
        step.configuration,
        # The limit applies to the run's time; its recorded value is another number.
        float("nan") if pruned else value,
        seconds=output.seconds,
        status="pruned" if pruned else "complete",
        initial=step.initial,
        resampled=step.resampled,
    )


def _draw(
    recorded: RecordedSpace,
    configuration: Configuration,
    noise: AddedNoise,
    rng: np.random.Generator,
) -> tuple[float, float]:
    """Return the value and the seconds of one run."""
    values, seconds = recorded.repeats(configuration)
    if noise.name in ("measured", HELD_OUT):
        one = int(rng.integers(len(values)))
        return float(values[one]), float(seconds[one])
    factor = 1.0 if noise.name == "none" else noise_factor(noise.name, noise.scale, rng)
    return float(np.median(values)) * factor, float(np.median(seconds)) * factor


def _value(judge: RecordedSpace, found: Configuration, piece: _Piece, seed: int) -> float:
    """Return a configuration's time: the median of further runs, or of the recorded ones."""
    if not piece.reruns:
        return judge.median(found)
    rng = np.random.default_rng((seed, 8))
    runs = [_draw(judge, found, piece.noise, rng)[0] for _ in range(piece.reruns)]
    return float(np.median(runs))


def _reason(rule: Stopping | None, history: History, initial: int) -> str | None:
    if rule is None or len(history) < initial:
        return None
    return rule.reason(history)


def _without_stopping(settings: SearchSettings) -> SearchSettings:
    return _with_stopping(settings, Chosen("none"))


def _with_stopping(settings: SearchSettings, rule: Chosen) -> SearchSettings:
    return SearchSettings(**{**settings.to_dict(), "stopping": rule})


def _pieces(plan: SearchComparisonPlan) -> Iterator[_Piece]:
    known = {name: None for folder in plan.recordings for name in load_recording(folder)}
    for name in plan.spaces:
        if name not in known:
            raise ParameterError(
                f"spaces must be of {', '.join(known)}; got {name!r}{did_you_mean(name, known)}",
                key="spaces",
            )
    for folder in plan.recordings:
        recording = load_recording(folder)
        # A space of a few configurations is no search.
        names = plan.spaces or tuple(
            name for name, space in recording.items() if len(space) > plan.initial
        )
        methods = itertools.product(
            names, plan.noises, plan.heuristics, plan.resamplings, plan.prunings
        )
        for name, noise, heuristic, resampling, pruning in methods:
            if name in recording:
                search_and_judging_spaces(recording[name], noise.name, 0)  # there must be both
                yield _Piece(
                    *(folder, name, heuristic, resampling, pruning, noise),
                    tuple(dict.fromkeys(plan.stoppings)),
                    *(plan.initial, plan.budget, plan.reruns),
                )


def _cell(piece: _Piece) -> SearchCell:
    recording = load_recording(piece.folder)
    return SearchCell(
        recording=recording.name,
        space=piece.space,
        heuristic=piece.heuristic,
        resampling=piece.resampling,
        pruning=piece.pruning,
        noise=str(piece.noise),
        initial=piece.initial,
        budget=piece.budget,
        reruns=piece.reruns,
        data=recording[piece.space].checksum.removeprefix("sha256:")[:12],
    )


def _name(piece: _Piece) -> str:
    """Return the name of a piece's rows, in which all is that decides them."""
    return " · ".join(map(str, (*_cell(piece), *piece.stoppings)))


def compute(order: Mapping[str, Any], numbers: Sequence[int]) -> list[StoredRow]:
    """Search a space with some seeds; see ``workbench.workers.rows``."""
    piece = _Piece(**{**order, "noise": AddedNoise(**order["noise"])})
    return [StoredRow(stored_searches(_search(piece, seed)), seed) for seed in numbers]


def _search(piece: _Piece, seed: int) -> Iterator[SearchRow]:
    """Yield a row of a search for each rule that would have ended it."""
    settings = SearchSettings(
        heuristic=Chosen(piece.heuristic),
        initial=piece.initial,
        resampling=RESAMPLINGS_COMPARED[piece.resampling],
        pruning=PRUNINGS_COMPARED[piece.pruning],
        budget=piece.budget,
        seed=seed,
        # As in the paper, whose heuristics may repeat what they know.
        most_runs=None,
    )
    rules = {label: STOPPINGS_COMPARED[label] for label in piece.stoppings}
    recorded = load_recording(piece.folder)[piece.space]
    drawn, judge = search_and_judging_spaces(recorded, piece.noise.name, seed)
    for label, (history, _) in search_recorded_space(drawn, settings, piece.noise, rules).items():
        # If no configuration has a value, nothing is changed.
        nothing = recorded.default, math.nan
        best, expected = history.best() or nothing, recommended(history) or nothing
        excess = _excess(history, judge, judge.median(drawn.optimum))
        near = excess <= NEAR
        yield SearchRow(
            cell=_cell(piece),
            stopping=label,
            seed=seed,
            runs=len(history),
            pruned=history.statuses.count("pruned"),
            configurations=len(set(history.keys)),
            seconds=float(history.seconds.sum()),
            best=_value(judge, best[0], piece, seed),
            expected=_value(judge, expected[0], piece, seed),
            average=100.0 * float(np.nanmean(excess)),
            steps=float(np.argmax(near)) + 1.0 if near.any() else math.inf,
        )


def _excess(history: History, judge: RecordedSpace, optimum: float) -> FloatArray:
    """Return how far each run's configuration is above the optimum, as a share of the optimum."""
    values = [
        math.nan if run.status == "failed" else judge.median(run.configuration) for run in history
    ]
    return np.array(values) / optimum - 1.0
