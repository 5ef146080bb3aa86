"""The runs of an experiment in their order, and their values by configuration.

    history = History(space, aggregation="median")
    history.append(configuration, 4.1, seconds=12.0)
    history.append(configuration, 4.3, seconds=12.4, resampled=True)
    history.aggregated().losses      # one number a configuration, lower is better

Everything that heuristics and rules decide follows from a history.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from workbench.arrays import BoolArray, FloatArray
from workbench.errors import ParameterError
from workbench.result import NanEqual
from workbench.suggestions import did_you_mean
from workbench.tune.aggregation import (
    RUN_STATUSES,
    Aggregated,
    ConfigurationKey,
    Group,
    RunStatus,
    find_aggregation,
)
from workbench.tune.space.constraints import Configuration
from workbench.tune.space.space import TuningSpace


@dataclass(frozen=True)
class Run(NanEqual):
    """One execution of a configuration.

    Attributes:
        configuration: a value for each parameter of the space, canonical.
        value: the target, in its unit. Of a pruned run the bound it was stopped at, where the
            target is what the limit is about; else nan. Of a failed run nan.
        seconds: how long it ran, without time in a queue; what a budget of time is charged.
        status: ``complete``, ``pruned`` (ended because it took too long) or ``failed``.
        initial: whether it belongs to the initial points.
        resampled: whether a resampling rule asked for it, not the heuristic.
        repeat: how many runs of this configuration came before it.
    """

    configuration: Configuration
    value: float
    seconds: float
    status: RunStatus = "complete"
    initial: bool = False
    resampled: bool = False
    repeat: int = 0


@dataclass(frozen=True)
class Visit:
    """One proposal of a configuration, with the resamples that followed it.

    Attributes:
        configuration: that was proposed.
        key: ``space.key`` of it.
        start: index of its first run in the history.
        stop: index after its last run; in a parallel search others may lie between.
        loss: aggregated loss of all runs of the configuration up to the end of the visit; a lower
            bound if ``censored``; nan if unknown.
        censored: whether the loss is a lower bound.
        initial: whether it belongs to the initial points.
    """

    configuration: Configuration
    key: ConfigurationKey
    start: int
    stop: int
    loss: float
    censored: bool
    initial: bool


class History:
    """The runs of an experiment, appended as they end.

    Everything that heuristics and rules decide follows from it, so that an experiment that was
    killed goes on as if nothing had happened once its runs are in a history again.

    Args:
        space: what is searched.
        minimise: whether less is better.
        aggregation: statistic over several runs of a configuration: ``mean``, ``median`` or
            ``min`` (the best).

    Attributes:
        pending: configurations that are being run and have not ended; parallel searches set it.

    Raises:
        ParameterError: there is no such aggregation.
    """

    def __init__(
        self, space: TuningSpace, *, minimise: bool = True, aggregation: str = "median"
    ) -> None:
        self.space = space
        self.minimise = minimise
        self.aggregation = find_aggregation(aggregation)
        self.pending: Sequence[Configuration] = ()
        self._runs: list[Run] = []
        self._groups: dict[ConfigurationKey, Group] = {}
        self._keys: list[ConfigurationKey] = []
        self._visits: list[Visit] = []
        self._last_visits: dict[ConfigurationKey, int] = {}
        self._cached: dict[str, Aggregated] = {}

    def append(
        self,
        configuration: Configuration,
        value: float,
        *,
        seconds: float = 0.0,
        status: RunStatus = "complete",
        initial: bool = False,
        resampled: bool = False,
    ) -> Run:
        """Add a run that has ended and return it.

        Args:
            configuration: a value for each parameter that applies; need not be on the axes.
            value: the target. Of a pruned run what it is at least worth (at most, where more is
                better), or nan; of a failed one nan.
            seconds: how long it ran, without time in a queue.
            status: ``complete``, ``pruned`` or ``failed``.
            initial: whether it belongs to the initial points.
            resampled: whether a resampling rule asked for it.

        Raises:
            ParameterError: a complete run has no finite value, or the status is none, or the time
                is negative.
        """
        if status not in RUN_STATUSES:
            raise ParameterError(
                f"status of a run must be one of {', '.join(RUN_STATUSES)}; got {status!r}"
                f"{did_you_mean(status, RUN_STATUSES)}",
                key="status",
            )
        if status == "complete" and not math.isfinite(value):
            raise ParameterError(
                f"value of a complete run must be a finite number; got {value}; "
                "a run without one has failed",
                key="value",
            )
        if not seconds >= 0.0:
            raise ParameterError(
                f"seconds of a run must be 0 or more; got {seconds}", key="seconds"
            )
        here = self.space.canonical(configuration)
        key = tuple(here.values())
        group = self._groups.get(key)
        if group is None:
            group = self._groups[key] = Group(here, self.space.encode(here), initial)
        number = len(self._runs)
        run = Run(
            group.configuration,
            math.nan if status == "failed" else float(value),
            float(seconds),
            status,
            initial,
            resampled,
            len(group.runs),
        )
        group.add(self.loss(run), status, number)
        self._runs.append(run)
        self._keys.append(key)
        self._cached.clear()
        self._extend_visits(run, key, number)
        return run

    def extend(self, runs: Iterable[Run]) -> None:
        """Add runs in their order; their ``repeat`` is recounted.

        Args:
            runs: runs of another history, or of a store.

        Raises:
            ParameterError: one cannot be.
        """
        for run in runs:
            self.append(
                run.configuration,
                run.value,
                seconds=run.seconds,
                status=run.status,
                initial=run.initial,
                resampled=run.resampled,
            )

    def first(self, count: int) -> History:
        """Return a history of the first runs alone, nothing pending.

        Args:
            count: how many runs.
        """
        part = History(self.space, minimise=self.minimise, aggregation=self.aggregation)
        part.extend(self._runs[:count])
        return part

    def __len__(self) -> int:
        return len(self._runs)

    def __iter__(self) -> Iterator[Run]:
        return iter(self._runs)

    def __getitem__(self, number: int) -> Run:
        return self._runs[number]

    @property
    def runs(self) -> tuple[Run, ...]:
        """The runs in their order."""
        return tuple(self._runs)

    @property
    def keys(self) -> tuple[ConfigurationKey, ...]:
        """``space.key`` of each run, in their order."""
        return tuple(self._keys)

    @property
    def last(self) -> Run | None:
        """The last run, None where there is none."""
        return self._runs[-1] if self._runs else None

    @property
    def step(self) -> int:
        """Number of the next run: those that ended and those that are pending."""
        return len(self._runs) + len(self.pending)

    @property
    def values(self) -> FloatArray:
        """Values of the runs, float64[runs]; see ``Run.value``."""
        return np.array([run.value for run in self._runs], np.float64)

    @property
    def losses(self) -> FloatArray:
        """Values of the runs, negated where more is better, float64[runs]."""
        return self.values if self.minimise else -self.values

    @property
    def seconds(self) -> FloatArray:
        """Time each run took in s, float64[runs]."""
        return np.array([run.seconds for run in self._runs], np.float64)

    @property
    def statuses(self) -> tuple[RunStatus, ...]:
        """Status of each run."""
        return tuple(run.status for run in self._runs)

    @property
    def initial(self) -> BoolArray:
        """Whether each run belongs to the initial points, bool[runs]."""
        return np.array([run.initial for run in self._runs], np.bool_)

    @property
    def visits(self) -> tuple[Visit, ...]:
        """The configurations in the order they were proposed, resamples within their visit."""
        return tuple(self._visits)

    def loss(self, run: Run) -> float:
        """Return the value of a run, negated where more is better.

        Args:
            run: a run of this experiment.
        """
        return run.value if self.minimise else -run.value

    def value(self, loss: float) -> float:
        """Return the value that a loss stands for.

        Args:
            loss: a loss of this experiment.
        """
        return loss if self.minimise else -loss

    def seen(self, configuration: Configuration) -> bool:
        """Return whether a configuration was run or is being run.

        Args:
            configuration: a value for each parameter that applies.
        """
        return self.times(configuration) > 0

    def times(self, configuration: Configuration) -> int:
        """Return the number of runs of a configuration, pending ones included.

        Args:
            configuration: a value for each parameter that applies.
        """
        key = self.space.key(configuration)
        group = self._groups.get(key)
        pending = sum(self.space.key(each) == key for each in self.pending)
        return pending + (0 if group is None else len(group.runs))

    def runs_of(self, configuration: Configuration) -> tuple[Run, ...]:
        """Return every run of a configuration, in their order.

        Args:
            configuration: a value for each parameter that applies.
        """
        group = self._groups.get(self.space.key(configuration))
        return () if group is None else tuple(self._runs[number] for number in group.runs)

    def aggregated(self, how: str | None = None) -> Aggregated:
        """Return one row a configuration, its runs aggregated.

        What larger values of the pruned runs would not change is known: a median below the bounds
        of fewer than half of the runs, the best of runs below all bounds. Else, and always for a
        mean, it is a bound.

        Args:
            how: ``mean``, ``median`` or ``min`` (the best); None for what the experiment uses.

        Raises:
            ParameterError: there is no such aggregation.
        """
        name = self.aggregation if how is None else find_aggregation(how)
        if name not in self._cached:
            groups = list(self._groups.values())
            pairs = [group.loss(name) for group in groups]
            self._cached[name] = Aggregated(
                tuple(group.configuration for group in groups),
                tuple(self._groups),
                np.array([g.code for g in groups]).reshape(len(groups), self.space.dimension),
                np.array([loss for loss, _ in pairs], np.float64),
                np.array([group.spread for group in groups], np.float64),
                np.array([len(group.complete) for group in groups], np.int64),
                np.array([censored for _, censored in pairs], np.bool_),
                np.array([group.failed for group in groups], np.bool_),
                np.array([group.initial for group in groups], np.bool_),
            )
        return self._cached[name]

    def best(self, how: str | None = None) -> tuple[Configuration, float] | None:
        """Return the best configuration and its aggregated value; None where none is known.

        Args:
            how: as in ``aggregated``.

        Raises:
            ParameterError: there is no such aggregation.
        """
        table = self.aggregated(how)
        row = table.best()
        if row is None:
            return None
        return table.configurations[row], self.value(float(table.losses[row]))

    def best_so_far(self, how: str | None = None) -> FloatArray:
        """Return the best aggregated value known after each run, float64[runs]; nan before any.

        Args:
            how: as in ``aggregated``.

        Raises:
            ParameterError: there is no such aggregation.
        """
        name = self.aggregation if how is None else find_aggregation(how)
        groups: dict[ConfigurationKey, Group] = {}
        known: dict[ConfigurationKey, float] = {}
        found = np.full(len(self), np.nan)
        for number, (run, key) in enumerate(zip(self._runs, self._keys, strict=True)):
            group = groups.setdefault(key, Group(run.configuration, np.empty(0), run.initial))
            group.add(self.loss(run), run.status, number)
            loss, censored = group.loss(name)
            known.pop(key, None)
            if not censored and math.isfinite(loss):
                known[key] = loss
            # A repeat can make the best configuration a worse one, so the least is searched again.
            if known:
                found[number] = self.value(min(known.values()))
        return found

    def _extend_visits(self, run: Run, key: ConfigurationKey, number: int) -> None:
        loss, censored = self._groups[key].loss(self.aggregation)
        visit = Visit(run.configuration, key, number, number + 1, loss, censored, run.initial)
        at = self._last_visits.get(key)
        if run.resampled and at is not None:
            earlier = self._visits[at]
            self._visits[at] = replace(visit, start=earlier.start, initial=earlier.initial)
            return
        self._last_visits[key] = len(self._visits)
        self._visits.append(visit)
