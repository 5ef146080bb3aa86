"""The choice of the next run: initial points, then the heuristic's proposals and their repeats.

Everything follows from the settings and the runs so far, so that a killed experiment resumes as if
nothing had happened.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from workbench.errors import ParameterError
from workbench.tune.heuristics import make_heuristic
from workbench.tune.history import History, Run
from workbench.tune.initial_points import initial_points
from workbench.tune.pruning import make_pruning
from workbench.tune.resampling import make_resampling
from workbench.tune.settings import SearchSettings
from workbench.tune.space.constraints import Configuration
from workbench.tune.space.space import TuningSpace
from workbench.tune.stopping import AnyOf, Stopping, make_stopping

_LEAST_FAILED = 3
"""One run may fail by chance; if this many first runs all fail, no run can succeed."""


@dataclass(frozen=True)
class NextRun:
    """The next run to begin."""

    number: int  # index in the experiment
    configuration: Configuration
    initial: bool = False
    resampled: bool = False  # requested by a resampling rule


@dataclass(frozen=True)
class SearchEnd:
    """The end of the search, with the reason as a sentence."""

    reason: str


class Chooser:
    """Chooses an experiment's runs one after another, by the settings' heuristic and rules."""

    def __init__(self, space: TuningSpace, settings: SearchSettings) -> None:
        self._settings = settings
        self._heuristic = make_heuristic(
            settings.heuristic.name,
            space,
            settings.seed,
            most_runs=settings.most_runs,
            max_retries=settings.max_retries,
            **settings.heuristic.options,
        )
        self._resampling = make_resampling(settings.resampling.name, **settings.resampling.options)
        self._stopping = stopping_rule(settings)
        self._pruning = make_pruning(settings.pruning.name, **settings.pruning.options)
        self._initial = initial_points(
            space,
            settings.initial,
            settings.start,
            default_first=settings.default_first,
            seed=settings.seed,
        )
        default_runs = settings.default_first and settings.initial > 0
        if settings.pruning.name == "default" and not default_runs:
            raise ParameterError(
                "pruning by the default run needs that run; set default_first and at least one "
                "initial point, or prune by an estimator",
                key="pruning",
            )
        # A rule that this space does not allow is refused now, not after the first run.
        self._pruning.limit_s(History(space), initial=True)

    def choose(
        self,
        history: History,
        taken: set[int],  # numbers of the finished and pending runs
        initial_under_way: bool,  # whether an initial point is pending
        last: Run | None,  # the run that finished in this slot; None: the history's last
        budget: int,  # number of runs in total
    ) -> NextRun | SearchEnd | None:
        """Return the next run, or why there is none; None while initial points are running."""
        number = next(n for n in range(len(taken) + 1) if n not in taken)
        if number >= budget:
            return SearchEnd(f"the budget of {budget} runs is spent")
        if number < len(self._initial):
            return NextRun(number, self._initial[number], initial=True)
        if initial_under_way:
            return None
        if len(history) >= _LEAST_FAILED and "complete" not in history.statuses:
            return SearchEnd(f"none of the first {len(history)} runs gave a value")
        reason = self._stopping.reason(history) if self._stopping is not None else None
        if reason is not None:
            return SearchEnd(reason)
        own = _ending_with(history, last)
        if self._resampling.should_repeat(own) and own.last is not None:
            return NextRun(number, own.last.configuration, resampled=True)
        found = self._heuristic.ask(history)
        if found is None:
            return SearchEnd(f"the heuristic has nothing more to propose{self._limit(history)}")
        return NextRun(number, found)

    def _limit(self, history: History) -> str:
        """Return a clause on ``most_runs`` where a configuration has reached it; else nothing."""
        most = self._settings.most_runs
        if most in (None, 1) or all(history.times(run.configuration) < most for run in history):
            return ""
        return f"; a configuration runs at most {most} times (most_runs)"

    def limit_s(self, history: History, *, initial: bool) -> float | None:
        """Return the pruning rule's time limit in s of a run that begins now; None is no limit."""
        return self._pruning.limit_s(history, initial=initial)


def stopping_rule(settings: SearchSettings) -> Stopping | None:
    """Return the rule that can end the search before its budget; None if there is none."""
    if settings.stopping.name == "none":
        return None
    rule = make_stopping(settings.stopping.name, **settings.stopping.options)
    return AnyOf((rule,))


def _ending_with(history: History, last: Run | None) -> History:
    """Return the history with a worker's own last run at its end: it repeats only its own."""
    if last is None or last is history.last:
        return history
    runs: Sequence[Run] = [run for run in history if run is not last]
    own = History(history.space, minimise=history.minimise, aggregation=history.aggregation)
    own.extend([*runs, last])
    own.pending = history.pending
    return own
