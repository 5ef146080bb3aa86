"""The study of SHAMan, section 5, over recorded spaces: which search finds how much in what time.

    plan = StudyPlan(("simulated-12-ranks",), seeds=20)
    result = run_study(plan, "searches.csv")
    result.methods()

Every heuristic with every resampling rule searches every space with every seed, as an `Experiment`
would, its runs drawn from those recorded. A stopping rule only ends a search that goes the same
way without it, so that one search is read where each of the rules would have ended it.
"""

from __future__ import annotations

import functools
import itertools
import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from workbench.errors import ParameterError
from workbench.tune.choosing import Chooser, Next, stopping_rule
from workbench.tune.heuristics import HEURISTICS
from workbench.tune.history import History
from workbench.tune.options import at_least
from workbench.tune.recommendation import recommended
from workbench.tune.recorded import RecordedSpace, Recording
from workbench.tune.recorded_files import DESCRIPTOR, read_recording, shipped_recording
from workbench.tune.runners.replay import NOISES, noise_factor
from workbench.tune.settings import Chosen, SearchSettings
from workbench.tune.stopping import Stopping
from workbench.tune.study_result import (
    HELD_OUT,
    Cell,
    SearchRow,
    StudyResult,
    append_rows,
    drawn_and_judge,
    read_rows,
)

_WITH_SPREAD = ("normal", "heavy-tails")
_MOST_JOBS = 256

HEURISTICS_COMPARED = tuple(name for name in HEURISTICS if name != "exhaustive")

RESAMPLINGS: Mapping[str, Chosen] = {
    "none": Chosen("none"),
    "static 3": Chosen("static", {"runs": 3}),
    "standard error": Chosen("standard-error"),
    "nonparametric": Chosen("nonparametric"),
    "improved": Chosen("improved"),
}
"""The resampling rules that are compared, by label; their options are the rules' own defaults."""

STOPPINGS: Mapping[str, Chosen] = {
    "budget": Chosen("none"),
    "best improvement 15": Chosen("improvement", {"estimator": "min", "window": 15}),
    "best improvement 5": Chosen("improvement", {"estimator": "min", "window": 5}),
    "count 2 of 5": Chosen("count-movement", {"most": 2, "window": 5}),
    "distance": Chosen("distance-movement", {"distance": 0.1, "window": 5}),
}
"""The stopping rules that are compared, by label; SHAMan's study used a window of 15."""


@dataclass(frozen=True)
class Noise:
    """What is added to a recorded run.

    Attributes:
        name: a name in ``runners.replay.NOISES``; or ``HELD_OUT``: runs are drawn from every second
            repeat that was measured, and what is found is judged by the others.
        scale: relative spread, for ``normal`` and ``heavy-tails``.

    Raises:
        ParameterError: there is no such noise, or the scale is not one it can have.
    """

    name: str = "measured"
    scale: float = 0.0

    def __post_init__(self) -> None:
        if self.name not in (*NOISES, HELD_OUT):
            known = ", ".join((*NOISES, HELD_OUT))
            raise ParameterError(f"noise must be one of {known}; got {self.name!r}", key="noise")
        if not 0.0 <= self.scale < 10.0:
            raise ParameterError(f"scale must be from 0 to 10; got {self.scale}", key="scale")
        if (self.scale > 0) != (self.name in _WITH_SPREAD):
            needs = "needs a scale above 0" if self.name in _WITH_SPREAD else "has no scale"
            raise ParameterError(
                f"noise {self.name} {needs}; got {self.scale}, as in normal:0.05 and none",
                key="scale",
            )

    def __str__(self) -> str:
        spread = f" {100 * self.scale:g} %" if self.scale else ""
        return f"{self.name}{spread}"


@dataclass(frozen=True)
class StudyPlan:
    """What is compared.

    Attributes:
        recordings: names of shipped recordings, or folders.
        spaces: names such as ``bcast/65536`` to search; empty for all.
        heuristics: names in ``HEURISTICS``.
        resamplings: labels in ``RESAMPLINGS``.
        stoppings: labels in ``STOPPINGS``.
        noises: what is added to each run.
        seeds: number of seeds, from 0 on.
        initial: initial points of each search, the default first.
        budget: runs of each search at most.

    Raises:
        ParameterError: a name is unknown or a number out of range.
    """

    recordings: tuple[str, ...]
    spaces: tuple[str, ...] = ()
    heuristics: tuple[str, ...] = HEURISTICS_COMPARED
    resamplings: tuple[str, ...] = tuple(RESAMPLINGS)
    stoppings: tuple[str, ...] = tuple(STOPPINGS)
    noises: tuple[Noise, ...] = (Noise(),)
    seeds: int = 20
    initial: int = 10
    budget: int = 60

    def __post_init__(self) -> None:
        for key, given, known in (
            ("heuristics", self.heuristics, HEURISTICS),
            ("resamplings", self.resamplings, RESAMPLINGS),
            ("stoppings", self.stoppings, STOPPINGS),
        ):
            for name in given:
                if name not in known:
                    raise ParameterError(
                        f"{key} must be of {', '.join(known)}; got {name!r}", key=key
                    )
        for key, least in (("seeds", 1), ("initial", 2), ("budget", self.initial)):
            if getattr(self, key) < least:
                raise ParameterError(
                    f"{key} must be at least {least}; got {getattr(self, key)}", key=key
                )


@dataclass(frozen=True)
class _Task:
    """All seeds of one method on one space."""

    folder: str
    space: str
    heuristic: str
    resampling: str
    noise: Noise
    plan: StudyPlan = field(compare=False)


def run_study(
    plan: StudyPlan,
    rows: str | Path | None = None,
    *,
    jobs: int = 1,
    stop: threading.Event | None = None,
    on_cell: Callable[[int, int], object] | None = None,
) -> StudyResult:
    """Run every search of a plan and return what came of them.

    Args:
        plan: what is compared.
        rows: CSV file to which each search is added as it ends; those of this plan that it
            holds already, of the same recorded runs, are not run again. None keeps none.
        jobs: processes.
        stop: ends the study after the searches under way when it is set.
        on_cell: called with how many cells are done, and of how many.

    Raises:
        ParameterError: a space or a number is out of range.
        DatasetError: there is no such recording.
        ParseError: the file holds something else.
        OSError: a file cannot be read or written.
    """
    at_least(jobs, 1, "jobs", whole=True, most=_MOST_JOBS)
    path = None if rows is None else Path(rows)
    if path is not None and (path.is_dir() or not path.parent.is_dir()):
        raise ParameterError(
            f"rows must be a file in a folder that exists; got {str(rows)!r}", key="rows"
        )
    tasks = list(_tasks(plan))
    known: dict[Cell, set[tuple[str, int]]] = {_cell(task): set() for task in tasks}

    def planned(row: SearchRow) -> bool:
        return row.cell in known and row.stopping in plan.stoppings and row.seed < plan.seeds

    found = read_rows(path) if path is not None and path.is_file() else []
    for row in filter(planned, found):
        known[row.cell].add((row.stopping, row.seed))
    whole = len(set(plan.stoppings)) * plan.seeds
    left = [task for task in tasks if len(known[_cell(task)]) < whole]
    redone = {_cell(task) for task in left}
    found = [row for row in found if not (row.cell in redone and planned(row))]
    if path is not None:
        append_rows(path, found, anew=True)
    done = len(tasks) - len(left)
    for made in _worked(left, jobs, stop):
        found += made
        done += 1
        if path is not None:
            append_rows(path, made)
        if on_cell is not None:
            on_cell(done, len(tasks))
    return StudyResult(
        tuple(filter(planned, found)), {name: load_recording(name) for name in plan.recordings}
    )


def search(
    recorded: RecordedSpace,
    settings: SearchSettings,
    noise: Noise | None = None,
    stoppings: Mapping[str, Chosen] | None = None,
) -> dict[str, tuple[History, str]]:
    """Search a recorded space once; return the runs up to where each stopping rule ends it.

    Args:
        recorded: where runs are drawn.
        settings: how to search; its own stopping rule is not looked at.
        noise: what is added to each run; None for a repeat of those recorded.
        stoppings: rules by label; None for the budget alone.

    Returns:
        For each label the runs and why the search ended.

    Raises:
        ParameterError: a setting does not go with the space.
    """
    added = noise or Noise()
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
        if not isinstance(step, Next):
            why = "" if step is None else step.reason
            ended |= {label: (history, why) for label in rules if label not in ended}
            break
        _run(history, recorded, step, settings.seed, added)
    return ended


def load_recording(name: str) -> Recording:
    """Return a recording by the name of a shipped one, or by its folder; read once.

    Args:
        name: either.

    Raises:
        DatasetError: there is none.
        ParseError: it is damaged.
        OSError: it cannot be read.
    """
    return _loaded(name)


@functools.lru_cache(maxsize=8)
def _loaded(name: str) -> Recording:
    here = Path(name)
    return read_recording(here) if (here / DESCRIPTOR).is_file() else shipped_recording(name)


def _run(history: History, recorded: RecordedSpace, step: Next, seed: int, noise: Noise) -> None:
    """Draw one run and add it. A configuration that never ran well fails at once."""
    rng = np.random.default_rng((seed, step.number, 7))
    try:
        values, seconds = recorded.repeats(step.configuration)
    except ParameterError:
        history.append(
            step.configuration,
            float("nan"),
            status="failed",
            initial=step.initial,
            resampled=step.resampled,
        )
        return
    if noise.name in ("measured", HELD_OUT):
        one = int(rng.integers(len(values)))
        value, took = float(values[one]), float(seconds[one])
    else:
        factor = 1.0 if noise.name == "none" else noise_factor(noise.name, noise.scale, rng)
        value, took = float(np.median(values)) * factor, float(np.median(seconds)) * factor
    history.append(
        step.configuration,
        value,
        seconds=took,
        initial=step.initial,
        resampled=step.resampled,
    )


def _reason(rule: Stopping | None, history: History, initial: int) -> str | None:
    if rule is None or len(history) < initial:
        return None
    return rule.reason(history)


def _without_stopping(settings: SearchSettings) -> SearchSettings:
    return _with_stopping(settings, Chosen("none"))


def _with_stopping(settings: SearchSettings, rule: Chosen) -> SearchSettings:
    return SearchSettings(**{**settings.to_dict(), "stopping": rule})


def _tasks(plan: StudyPlan) -> Iterator[_Task]:
    known = {name: None for folder in plan.recordings for name in load_recording(folder)}
    for name in plan.spaces:
        if name not in known:
            raise ParameterError(
                f"spaces must be of {', '.join(known)}; got {name!r}", key="spaces"
            )
    for folder in plan.recordings:
        recording = load_recording(folder)
        # A space of a few configurations is no search.
        names = plan.spaces or tuple(
            name for name, space in recording.items() if len(space) > plan.initial
        )
        methods = itertools.product(names, plan.noises, plan.heuristics, plan.resamplings)
        for name, noise, heuristic, resampling in methods:
            if name in recording:
                yield _Task(folder, name, heuristic, resampling, noise, plan)


def _cell(task: _Task) -> Cell:
    recording, plan = load_recording(task.folder), task.plan
    how = task.heuristic, task.resampling, str(task.noise), plan.initial, plan.budget
    digest = recording[task.space].checksum.removeprefix("sha256:")
    return Cell(recording.name, task.space, *how, digest[:12])


def _worked(
    tasks: Sequence[_Task], jobs: int, stop: threading.Event | None
) -> Iterator[list[SearchRow]]:
    if jobs <= 1:
        for task in tasks:
            if stop is not None and stop.is_set():
                return
            yield _work(task)
        return
    # Two processes with two threads of linear algebra each would get in one another's way.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context) as pool:
        waiting = iter(tasks)
        under_way: set[Future[Any]] = {
            pool.submit(_work, task) for task in itertools.islice(waiting, 2 * jobs)
        }
        while under_way:
            ended, under_way = wait(under_way, return_when=FIRST_COMPLETED)
            if stop is None or not stop.is_set():
                more = itertools.islice(waiting, len(ended))
                under_way |= {pool.submit(_work, task) for task in more}
            for each in ended:
                yield each.result()


def _work(task: _Task) -> list[SearchRow]:
    plan, recorded = task.plan, load_recording(task.folder)[task.space]
    found = []
    for seed in range(plan.seeds):
        settings = SearchSettings(
            heuristic=Chosen(task.heuristic),
            initial=plan.initial,
            resampling=RESAMPLINGS[task.resampling],
            budget=plan.budget,
            seed=seed,
        )
        rules = {label: STOPPINGS[label] for label in plan.stoppings}
        drawn, judge = drawn_and_judge(recorded, task.noise.name, seed)
        for label, (history, _) in search(drawn, settings, task.noise, rules).items():
            best, expected = history.best(), recommended(history)
            if best is None or expected is None:
                continue
            found.append(
                SearchRow(
                    *_cell(task),
                    label,
                    seed,
                    len(history),
                    len(set(history.keys)),
                    float(history.seconds.sum()),
                    judge.median(best[0]),
                    judge.median(expected[0]),
                )
            )
    return found
