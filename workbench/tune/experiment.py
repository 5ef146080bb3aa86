"""An experiment: a component, how it is run, how it is searched, and every run so far.

    with Experiment("sort", budget=60, resampling="improved", store="tuning.db") as experiment:
        result = experiment.run()
    result.best

``tasks.submit(experiment.run)`` runs it in a thread. A run is in the store before it begins and
when it has ended. A process that is killed loses the runs in flight alone, and a process that opens
the store again resumes from there; two processes that open the same experiment share it.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self, Unpack, cast

from workbench.checks import whole
from workbench.errors import ParameterError, StudyError
from workbench.named_options import named_options
from workbench.suggestions import did_you_mean
from workbench.tasks import Task, task_of
from workbench.tune.component.component import Component, components, read_components
from workbench.tune.component.invocation import Invocation
from workbench.tune.environment import environment
from workbench.tune.experiment_yaml import ExperimentSettings
from workbench.tune.history import History
from workbench.tune.next_run import Chooser
from workbench.tune.result import TuningResult
from workbench.tune.runners.local import Local
from workbench.tune.runners.runner import Runner, RunRequest
from workbench.tune.runners.slurm import Slurm, runs_folder
from workbench.tune.runners.slurm_steps import SlurmSteps
from workbench.tune.search import Search
from workbench.tune.settings import ChosenLike, SearchOptions, SearchSettings
from workbench.tune.space.axes import AnyAxis
from workbench.tune.space.constraints import Configuration, TunedValue
from workbench.tune.space.space import TuningSpace
from workbench.tune.store.memory import MemoryStore, Store
from workbench.tune.store.run_record import RunRecord
from workbench.tune.target import Computed, Target, target_from_dict

_MOST_JOBS = 1024  # chosen: above the processors of a node and the steps of most allocations

GIVEN_VALUE = "value"
"""Name of the target of experiments whose runner gives the value."""


class ExperimentOptions(SearchOptions, total=False):
    """The named arguments of ``Experiment``, single settings instead of ``settings``."""

    target: Target | None
    axes: Mapping[str, AnyAxis | Sequence[TunedValue | None]] | None
    space: TuningSpace | None
    application: Sequence[str]
    jobs: int
    store: str | Path | None
    name: str | None


_DEFAULTS = {**vars(SearchSettings()), "application": (), "jobs": 1}


class Experiment:
    """A search that can be watched while it runs, stopped, killed, and resumed.

    Args:
        what: a component or the name of a shipped one; or a space, where the runner needs no
            program.
        runner: what executes runs; None for processes of this machine.
        target: the number a run gives; None for the component's own, or what the runner gives.
        axes: the values to try of each parameter; None for the component's own.
        space: what to search instead of ``axes``.
        application: words of the program that runs with the component, where it needs one.
        jobs: runs at once, by this process.
        store: SQLite file or PostgreSQL address that stores every run; None keeps none.
        name: name of the experiment in the store; None takes one made of the other arguments.
        settings: how to search; single settings may be given by name instead.
        options: settings by name, as in ``SearchSettings``: ``heuristic``, ``budget``, ``seed``...

    Raises:
        ParameterError: an argument is not accepted.
        StudyError: the store cannot be opened, or holds another experiment of that name.
    """

    @named_options(SearchOptions, _DEFAULTS)
    def __init__(
        self,
        what: Component | TuningSpace | str,
        runner: Runner | None = None,
        *,
        target: Target | None = None,
        axes: Mapping[str, AnyAxis | Sequence[TunedValue | None]] | None = None,
        space: TuningSpace | None = None,
        application: Sequence[str] = (),
        jobs: int = 1,
        store: str | Path | None = None,
        name: str | None = None,
        settings: SearchSettings | None = None,
        **options: Unpack[SearchOptions],
    ) -> None:
        self.component = components()[what] if isinstance(what, str) else _component(what)
        self.runner = Local() if runner is None else runner
        self._owns_runner = runner is None
        self.settings = _settings(settings, options)
        self.application = tuple(application)
        self.space = self._space(what, axes, space)
        self.target = self._target(target)
        self.jobs = whole(jobs, "jobs", 1, _MOST_JOBS)
        self._chooser = Chooser(self.space, self.settings)
        if self.runner.needs_program and self.space.default is not None:
            # What cannot be run is refused now, before the first run.
            self.invocation(self.space.default)
        self.name = name or self._default_name()
        self._running = threading.Lock()
        self._history = History(
            self.space, minimise=self.target.minimise, aggregation=self.settings.aggregation
        )
        self._records: list[RunRecord] = []
        self._stop_reason = ""
        self._store = self._open(store)
        self._search = Search(self._history, self._records, self._store, self._chooser)
        try:
            self._sessions = self._store.sessions()
            self._search.load_runs()
        except BaseException:
            self._store.close()
            raise

    @classmethod
    @named_options(ExperimentOptions, _DEFAULTS)
    def from_file(
        cls,
        settings: ExperimentSettings,
        component: Component,
        runner: Runner | None = None,
        **options: Unpack[ExperimentOptions],
    ) -> Experiment:
        """Return the experiment that a configuration of SHAMan's describes.

        Args:
            settings: as ``read_experiment`` returned them.
            component: the component to tune.
            runner: what executes runs; None for processes of this machine.
            options: further arguments of ``Experiment``, which go before those of the file.

        Raises:
            ParameterError: something in it is not accepted.
            StudyError: the store cannot be opened.
        """
        initial = settings.initial + int(settings.default_first)
        chosen: dict[str, Any] = {
            "axes": settings.axes.get(component.name),
            "initial": initial,
            "start": settings.start,
            "default_first": settings.default_first,
            "most_runs": None if settings.reevaluate else 1,
            "max_retries": settings.max_retry,
            "resampling": settings.resampling,
            "pruning": settings.pruning,
        }
        if settings.heuristic is not None:
            chosen["heuristic"] = settings.heuristic
        if settings.budget is not None:
            chosen["budget"] = settings.budget + initial
        if settings.aggregation is not None:
            chosen["aggregation"] = settings.aggregation
        rules = [
            {"name": rule.name, **rule.options} for rule in (settings.stopping,) if rule is not None
        ]
        if settings.time_s is not None:
            rules.append({"name": "time", "seconds": settings.time_s})
        if rules:
            chosen["stopping"] = ("any", {"rules": rules}) if len(rules) > 1 else rules[0]
        return cls(component, runner, **{**chosen, **options})

    @property
    def done(self) -> int:
        """Number of runs that have ended."""
        return len(self._records)

    @property
    def running(self) -> bool:
        """Whether it runs in this process."""
        return self._running.locked()

    def run(self, budget: int | None = None, *, task: Task | None = None) -> TuningResult:
        """Run until the budget is spent, a rule ends the search, or the task is stopped.

        Args:
            budget: number of runs in all, those of earlier sessions included; None for that of
                the settings.
            task: gets a ``RunRecord`` after each run; once it is stopped, the runs in flight are
                ended and released, and run again when the experiment is resumed.

        Raises:
            ParameterError: the budget is no whole number above 0, or a run cannot be started.
            RunnerError: nothing can be run.
            StudyError: it is running already, or the store cannot be written.
        """
        settings = self.settings if budget is None else replace(self.settings, budget=budget)
        task = task_of(task)
        if not self._running.acquire(blocking=False):
            raise StudyError(f"the experiment {self.name!r} is running already; stop it first")
        task.partial_from(self.result)
        try:
            self._store.note_stop("")
            self._stop_reason = ""
            reason = self._search.run(self, settings.budget, task)
            if reason is not None:
                self._stop_reason = reason
                self._store.note_stop(reason)
            self._sessions = self._store.sessions()
        finally:
            self._running.release()
        return self.result()

    def result(self) -> TuningResult:
        """Return the result so far, from any thread, whether the experiment runs or not."""
        return TuningResult(
            name=self.name,
            space=self.space,
            records=tuple(self._records),
            minimise=self.target.minimise,
            label=self.target.label,
            unit=self.target.unit,
            aggregation=self.settings.aggregation,
            stop_reason=self._stop_reason,
            settings={**self.problem(), "budget": self.settings.budget},
            sessions=self._sessions,
            pending=self._search.pending,
        )

    def close(self) -> None:
        """Release the store; the result stays readable. Safe to repeat."""
        self._store.close()
        if self._owns_runner:
            self.runner.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def invocation(self, configuration: Configuration) -> Invocation:
        """Return the invocation of a run in a configuration.

        Args:
            configuration: a value for each parameter of the space.

        Raises:
            ParameterError: it cannot be passed.
        """
        if not self.runner.needs_program or self.component is None:
            return Invocation(())
        return self.component.invocation(configuration, application=self.application)

    def request(
        self, number: int, configuration: Configuration, seed: int, timeout_s: float | None
    ) -> RunRequest:
        """Return the request for a run that a runner starts.

        Args:
            number: place of the run in the experiment.
            configuration: what to run.
            seed: of the run.
            timeout_s: seconds after which it is ended, None for none.

        Raises:
            ParameterError: the configuration cannot be passed.
        """
        short = re.sub(r"[^A-Za-z0-9_.-]+", "-", self.name)[:40]
        return RunRequest(
            configuration, self.invocation(configuration), seed, timeout_s, f"{short}-{number}"
        )

    def problem(self) -> dict[str, Any]:
        """Return the fields that a resumed experiment must repeat, and the release that made it."""
        import workbench

        return {
            "workbench": workbench.__version__,
            "component": "" if self.component is None else self.component.name,
            **({} if self.component is None else self.component.declaration()),
            "application": list(self.application),
            "space": self.space.to_dict(),
            "target": self.target.to_dict(),
            "minimise": self.target.minimise,
            "label": self.target.label,
            "unit": self.target.unit,
            "runner": self.runner.to_dict(),
            **self.settings.fixed(),
        }

    def _open(self, store: str | Path | None) -> Store:
        component = self.component
        file = "" if component is None or not component.folder else component.source
        session = {
            **environment(),
            "jobs": self.jobs,
            "budget": self.settings.budget,
            "stopping": self.settings.stopping.to_dict(),
            "component file": str(Path(component.folder) / file) if component and file else "",
        }
        if store is None:
            return MemoryStore(session)
        from workbench.tune.store.database import DatabaseStore

        return DatabaseStore(
            store,
            self.name,
            self.problem(),
            session=session,
        )

    def _space(
        self,
        what: Component | TuningSpace | str,
        axes: Mapping[str, AnyAxis | Sequence[TunedValue | None]] | None,
        space: TuningSpace | None,
    ) -> TuningSpace:
        if axes is not None and space is not None:
            raise ParameterError(
                "axes and a space exclude one another; leave one of them out", key="space"
            )
        if self.component is not None:
            return self.component.space(axes) if space is None else space
        if self.runner.needs_program:
            raise ParameterError(
                f"the {self.runner.name} runner needs a component, which says how a configuration "
                "is run; a space alone goes with Function and Replay",
                key="what",
            )
        if not isinstance(what, TuningSpace) or axes is not None or space is not None:
            raise ParameterError(
                f"what must be a component, its name or a space; got {what!r}", key="what"
            )
        return what

    def _target(self, target: Target | None) -> Target:
        if target is not None:
            return target
        if self.runner.needs_program and self.component is not None:
            return self.component.target
        return Computed(_no_value, name=GIVEN_VALUE)

    def _default_name(self) -> str:
        what = str(self.runner.to_dict().get("recorded", "space"))
        if self.component is not None:
            what = self.component.name
        rest = self.settings.resampling.name
        tail = "" if rest == "none" else f"-{rest}"
        return f"{what}-{self.settings.heuristic.name}{tail}-seed{self.settings.seed}"


@named_options(ExperimentOptions, _DEFAULTS)
def tune(
    what: Component | TuningSpace | str,
    runner: Runner | None = None,
    *,
    task: Task | None = None,
    **options: Unpack[ExperimentOptions],
) -> TuningResult:
    """Search the configurations of a component and return the result.

    Args:
        what: a component, the name of a shipped one, or a space.
        runner: what executes runs; None for processes of this machine.
        task: as for ``Experiment.run``.
        options: further arguments of ``Experiment``: ``budget``, ``heuristic``, ``store``...

    Raises:
        ParameterError: an argument is not accepted.
        RunnerError: nothing can be run.
        StudyError: the store cannot be used.
    """
    with Experiment(what, runner, **options) as experiment:
        return experiment.run(task=task)


def resume(
    where: str | Path,
    name: str | None = None,
    *,
    component: Component | TuningSpace | None = None,
    runner: Runner | None = None,
    target: Target | None = None,
    jobs: int = 1,
    budget: int | None = None,
    stopping: ChosenLike = None,
) -> Experiment:
    """Return a stored experiment with its settings, to resume it.

    Args:
        where: SQLite file or PostgreSQL address.
        name: its name; None where there is one experiment.
        component: what is tuned; None takes the shipped one of that name, or reads its file again.
        runner: what executes runs; None makes a local or a Slurm runner again,
            which the experiment closes.
        target: the number a run gives; None makes the stored one again.
        jobs: runs at once, by this process.
        budget: runs in all, initial ones and repeats included; None takes the stored number.
        stopping: what ends the search before that; None for the stored rule.

    Raises:
        StudyError: there is no such experiment, or its component is not what it was.
        ParameterError: it was made with something that no store can hold, which must be given.
        ParseError: the component's file cannot be read any more.
    """
    from workbench.tune.store.stored_experiments import find_experiment, load_result

    stored = load_result(where, find_experiment(where, name).name)
    problem = stored.settings
    last = stored.sessions[-1] if stored.sessions else {}
    keys = SearchSettings().fixed().keys() & problem.keys()
    chosen = {key: problem[key] for key in keys}
    chosen |= {key: last[key] for key in ("budget", "stopping") if key in last}
    chosen |= {} if budget is None else {"budget": budget}
    chosen |= {} if stopping is None else {"stopping": stopping}
    what = component or find_component(problem, last) or stored.space
    made = find_runner(problem["runner"], where) if runner is None else None
    if target is None and problem["target"].get("name") != GIVEN_VALUE:
        target = target_from_dict(problem["target"])
    experiment = Experiment(
        what,
        runner or made,
        target=target,
        space=None if isinstance(what, TuningSpace) else stored.space,
        application=problem["application"],
        jobs=jobs,
        store=where,
        name=stored.name,
        settings=SearchSettings(**chosen),
    )
    # A runner made here is closed here, with its allocation for example.
    experiment._owns_runner = runner is None
    return experiment


def _component(what: Component | TuningSpace) -> Component | None:
    if isinstance(what, Component):
        return what
    if isinstance(what, TuningSpace):
        return None
    raise ParameterError(f"what must be a component, its name or a space; got {what!r}", key="what")


def _settings(settings: SearchSettings | None, options: SearchOptions) -> SearchSettings:
    base = SearchSettings() if settings is None else settings
    known = base.to_dict()
    for name in options:
        if name not in known:
            raise ParameterError(
                f"{name} is not a setting of an experiment{did_you_mean(name, known)}; known: "
                f"{', '.join(known)}",
                key=name,
            )
    return replace(base, **cast(dict[str, Any], options))


def _no_value(output: object) -> float:
    raise ParameterError(
        "the runner gives the value of this experiment; name a target to read it from an output"
    )


def find_component(problem: Mapping[str, Any], session: Mapping[str, Any]) -> Component | None:
    """Return a stored experiment's component, from its file or shipped; None for a space alone."""
    name = problem["component"]
    file = Path(str(session.get("component file") or ""))
    if not name:
        return None
    if file.is_file():
        found = read_components(file)
        if name in found:
            return found[name]
    return components()[name]


def find_runner(stored_runner: Mapping[str, Any], where: str | Path) -> Runner | None:
    """Return a stored experiment's runner; None for local processes."""
    kind = stored_runner.get("kind")
    if kind == Local.name:
        return None
    if kind == Slurm.name:
        return Slurm(runs_folder(where), stored_runner.get("options", ()))
    if kind == SlurmSteps.name:
        options, step_options = (
            stored_runner.get("options", ()),
            stored_runner.get("step_options", ()),
        )
        return SlurmSteps(runs_folder(where), options, step_options=step_options)
    raise ParameterError(
        f"the {kind} runner of this experiment is not in the store; pass it again", key="runner"
    )
