"""The panel that tunes a component: choose it and its search, watch, resume.

What a control holds is an attribute, and what a button does a method of the same name:

    panel = TuningPanel()                      # recorded runs of Open MPI that ship
    panel.heuristic = "annealing:cooling=logarithmic"; panel.budget = 80
    panel.start(); panel.wait(); panel.result.best
    panel.subject = "sort"; panel.runner = "slurm-steps"; panel.ntasks = 4
"""

from __future__ import annotations

import html
import itertools
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import ipywidgets as widgets

from workbench.errors import ParameterError, StudyError, WorkbenchError
from workbench.panels import inputs
from workbench.panels.error_line import ErrorLine
from workbench.panels.export_tab import ExportTab
from workbench.panels.job_controls import JobControls
from workbench.panels.live_view import LiveView
from workbench.panels.panel import Panel
from workbench.panels.style import push_button, wrapping_row
from workbench.panels.tuning.controls import NUMBERS, RULES, TuningControls
from workbench.panels.tuning.experiments import FILES, ShownExperiments
from workbench.panels.tuning.runner_controls import NAMES
from workbench.panels.tuning.state import FIRST_SETTINGS, TuningState
from workbench.panels.tuning.subjects import first_word, space_html, subject_of, subjects
from workbench.panels.tuning.view import TuningView
from workbench.suggestions import did_you_mean
from workbench.tasks import Job, submit
from workbench.tune.experiment import Experiment
from workbench.tune.result import TuningResult
from workbench.tune.runners.runner import Runner
from workbench.tune.store.stored_experiments import (
    StoredExperiment,
    load_result,
    stored_experiments,
)

_OTHERS = ("values", "start_from", "aggregation", "store", *NAMES)
_SETTINGS = ("subject", *RULES, *NUMBERS, *_OTHERS)
_FIRST_S = 8.0  # with all kernels compiled it opens in 6 s on two busy cores
_READY = "Start runs the experiment"
_HELD = "Resume continues this experiment, Start begins a new one"
_NAMED = 3  # experiments of a store that the status line names; Compare lists all


class TuningPanel(Panel[TuningResult | None]):
    """Tune a component, and show the results.

    Args:
        subject: word of what is tuned, or the part after the colon; None takes recorded runs.
        start: whether the first experiment begins at once, where its runs are recorded.

    Raises:
        ParameterError: there is nothing to tune, or no such subject.
    """

    SETTINGS = _SETTINGS
    # What runs it, and where the runs are kept, are of this machine.
    NOT_SAVED = ("store", *(name for name in NAMES if name not in ("noise", "timeout_s")))

    def __init__(self, subject: str | None = None, *, start: bool = True) -> None:
        super().__init__()
        known, problem = subjects()
        word = first_word(known) if subject is None else _word(subject, list(known))
        self._controls = TuningControls(known, word, FIRST_SETTINGS, self._other_subject)
        self._running: tuple[Experiment, TuningState] | None = None
        self._view = TuningView()
        # The last of each subject: Resume continues that of the chosen one.
        self._last: dict[str, tuple[Experiment, TuningState]] = {}
        self._experiments = ShownExperiments(self._view, self._controls)
        self._stored: tuple[StoredExperiment, ...] = ()  # of the named store
        self._found = ""  # the displayed one of them that nothing here has resumed
        self._work: JobControls[TuningResult] = JobControls(
            ("▶ Start", "Begin this experiment", "92px"),
            "Stop the running programs; finished runs are kept, and Resume continues",
            _READY,
            lock=self._hold,
            ended=lambda job: self._ended(job.result()),
        )
        self._resume = push_button("Resume", "Continue this experiment up to the budget")
        self._resume.disabled = True
        self._error = ErrorLine()
        self._python: Any = inputs.Textarea(
            rows=16, layout=widgets.Layout(width="98%", height="auto")
        )
        self._space = widgets.HTML()
        self._export = ExportTab(
            FILES,
            self._experiments.file,
            {
                "runs": (self._view.upper_downloads, lambda: "trajectory"),
                "parameters": (self._view.lower_downloads, lambda: "parameters"),
            },
            lambda _: f"Tuned: {self._controls.subject.label}.",
        )
        self._tabs = inputs.Tab(
            [
                self._view.runs.widget,
                self._view.compare_box,
                self._space,
                self._python,
                self._export.widget,
            ],
            titles=("Runs", "Compare", "Parameters", "Python", "Export"),
            selected_index=0,
            layout=widgets.Layout(width="99%"),
        )
        bar = wrapping_row(self._work.start, self._work.stop_button, self._resume, self._work.state)
        self.widget = self._boxed(
            [
                self._controls.widget,
                bar,
                self._work.error,
                self._error,
                self._view.widget,
                self._tabs,
            ]
        )
        self._connect()
        self._error.say(problem)
        self._other_subject()
        if start and self._controls.chosen.recorded is not None:
            self.start().wait(_FIRST_S)
            if self.refresh():
                self._ticker.start()

    @property
    def state(self) -> TuningState:
        """The state of the controls.

        Raises:
            ParameterError: something in it is not accepted.
        """
        return self._controls.state()

    @property
    def result(self) -> TuningResult | None:
        """The result so far of the displayed experiment; None before the first."""
        return self._experiments.result

    @property
    def results(self) -> dict[str, TuningResult]:
        """The experiments of this subject, run here or loaded, by their search settings."""
        return self._experiments.compared

    @property
    def description(self) -> str:
        """The sentences that describe the displayed experiment."""
        return self._view.sentence

    @property
    def controls(self) -> Mapping[str, Any]:
        """The controls of the settings, by name."""
        return self._controls.by_name

    @property
    def python(self) -> str:
        """Python code that computes ``result``."""
        return "" if self._shown is None else self._shown[1].python()

    @property
    def experiments(self) -> tuple[StoredExperiment, ...]:
        """All experiments of the store in the controls, whichever process runs them.

        Raises:
            StudyError: it cannot be read.
        """
        return stored_experiments(self._store) if self._store else ()

    def start(self) -> Job[TuningResult]:
        """Start the experiment that the controls describe, and return at once.

        With a store that holds it already, it continues from there.

        Raises:
            ParameterError: a control holds what is not accepted.
            StudyError: one runs already, or the store cannot be used.
        """
        if self.refresh() and self._work.job is not None:
            return self._work.job
        self._say("")
        state = self._controls.state()
        experiment = state.experiment()
        before = self._last.get(state.subject.word)
        if before is not None:
            before[0].close()
        return self._go_on(experiment, state, state.settings.budget)

    def stop(self) -> None:
        """Stop the running runs; finished ones are kept, and Resume continues."""
        self._work.stop()

    def resume(self) -> Job[TuningResult]:
        """Resume the displayed experiment, up to the budget and by the stopping rule.

        That is the one of the named store that the controls describe, or the last one here.

        Raises:
            ParameterError: there is none, or its budget is spent.
            StudyError: the store cannot be used.
        """
        if self.refresh() and self._work.job is not None:
            return self._work.job
        self._say("")
        held = self._held
        if held is not None:
            _check_budget(held.runs, self._controls.numbers["budget"].value)
            return self.start()
        if self._shown is None:
            raise ParameterError(
                f"no experiment with {self._controls.chosen.title} can be resumed; press Start"
            )
        experiment, state = self._shown
        chosen = self._controls.state().settings
        _check_budget(experiment.done, chosen.budget)
        if not state.store and chosen.stopping != state.settings.stopping:
            raise ParameterError(
                "the stopping rule can change only with a store; name one and press Start",
                key="stopping",
            )
        # These two may change while an experiment stays the same one.
        settings = replace(state.settings, budget=chosen.budget, stopping=chosen.stopping)
        state = replace(state, settings=settings)
        if state.store:
            experiment.close()
            experiment = state.experiment()
        return self._go_on(experiment, state, chosen.budget)

    def upload(self, files: Mapping[str, bytes]) -> None:
        """Offer the components of component files.

        Args:
            files: content by file name.

        Raises:
            WorkbenchError: they declare none that can be tuned.
        """
        self._controls.take(files)

    def load(self, store: str | Path | None = None) -> dict[str, TuningResult]:
        """Add the experiments of a store to the comparison, and return those of this subject.

        Args:
            store: SQLite file or PostgreSQL address; None takes the one in the controls.

        Raises:
            ParameterError: no store is named, or none of its experiments is of what can be tuned.
            StudyError: it cannot be read.
        """
        where = str(store or self._store).strip()
        if not where:
            raise ParameterError("name a store first", key="store")
        self._experiments.load(where)
        self._view.list_store(where, stored_experiments(where))
        return self.results

    def save(self, path: str | Path) -> Path:
        """Write the displayed experiment: ``.csv`` (runs) or ``.json`` (everything).

        Args:
            path: file to write.

        Raises:
            ParameterError: the suffix is none of these, or there is no result.
        """
        return self._experiments.save(path)

    def __repr__(self) -> str:
        return f"TuningPanel({self.result if self.result is not None else self.subject})"

    def _saved_names(self) -> tuple[str, ...]:
        first = ("subject", "values")
        return (*first, *(name for name in super()._saved_names() if name not in first))

    def _restored(self) -> None:
        # What is recorded runs no program.
        if self._controls.chosen.recorded is not None and self._work.job is None:
            self._guarded(self.start)

    def _not_held(self) -> tuple[str, ...]:
        notes = []
        if self._controls.chosen.file:
            # A component file names a command that Start runs: nobody is to get one by a link.
            notes.append(
                f"the component file {self._controls.chosen.file!r} is not in a session: upload it "
                "before the session is opened"
            )
        if self._controls.chosen.recorded is None and self.result is not None:
            notes.append("the runs are not in a session: Start makes them again")
        return tuple(notes)

    def _live_views(self) -> Iterable[LiveView]:
        return self._view.views

    def _outcome(self) -> TuningResult | None:
        return self.result

    def _refresh(self) -> bool:
        job = self._work.job
        if job is not None and not job.finished and self._running is not None:
            self._experiments.draw(self._running[0].result())
        return self._work.refresh()

    def _errors(self) -> list[ErrorLine]:
        own = (self._work.error, self._error, self._export.error, self._view.runs.which.error)
        return [*self._controls.error_lines, *own]

    def _jobs(self) -> list[Job[Any] | None]:
        return [self._work.job]

    def _get(self, name: str) -> Any:
        return self._controls.get("start" if name == "start_from" else name)

    def _set(self, name: str, value: Any) -> None:
        if name == "subject":
            value = _word(value, list(self._controls.known))
        self._controls.set("start" if name == "start_from" else name, value)

    def _connect(self) -> None:
        self._work.start.on_click(lambda _: self._guarded(self.start))
        self._resume.on_click(lambda _: self._guarded(self.resume))
        self._controls.store.observe(lambda _: self._list_store(), "value")
        for name, control in self._controls.by_name.items():
            if name not in ("subject", "upload", "values"):
                control.observe(lambda _: self._look(), "value")
        self._view.load.on_click(lambda _: self._guarded(self.load))
        self._view.clear.on_click(lambda _: self._experiments.forget())
        self._view.over.observe(lambda _: self._experiments.compare(), "value")
        self._tabs.observe(lambda _: self._experiments.compare(), "selected_index")
        numbers = self._controls.numbers.values()
        for control in (*self._controls.running.by_name.values(), *numbers, self._controls.store):
            # An error from Start or Slurm on other values does not concern the new ones.
            control.observe(lambda _: self._say(""), "value")

    @property
    def _store(self) -> str:
        """The store in the controls; "" is none."""
        return str(self._controls.store.value).strip()

    @property
    def _held(self) -> StoredExperiment | None:
        """The experiment of the named store that the controls describe, unless it is ``_shown``."""
        if not self._stored:
            return None
        try:
            name = self._controls.state().name
        except WorkbenchError:
            return None
        shown = self._shown
        if shown is not None and (shown[0].name, shown[1].store) == (name, self._store):
            return None
        return next((one for one in self._stored if one.name == name), None)

    @property
    def _shown(self) -> tuple[Experiment, TuningState] | None:
        """The last experiment of the chosen subject, with its state."""
        return self._last.get(self._controls.subject.value)

    def _go_on(self, experiment: Experiment, state: TuningState, budget: int) -> Job[TuningResult]:
        self._running = self._last[state.subject.word] = (experiment, state)
        self._found = ""
        self._experiments.begin()
        job = submit(experiment.run, budget)
        threading.Thread(target=_give_back, args=(job, experiment.runner), daemon=True).start()
        self._work.begin(job, lambda: _how_far(job, experiment, budget))
        self._python.value = self.python
        self._ticker.start()
        return job

    def _ended(self, result: TuningResult) -> None:
        done, total = len(result), self._controls.numbers["budget"].value
        why = result.stop_reason or f"stopped after {done} of {total} runs; Resume continues"
        self._work.status.value = why
        if self._running is not None:
            self._experiments.keep(self._running[1].subject.word, result)
        self._resume.disabled = self._shown is None
        self._list_store()

    def _other_subject(self) -> None:
        self._space.value = space_html(self._controls.chosen)
        if self._work.job is not None:
            self._experiments.compare()
            return
        shown = self._shown
        self._experiments.turn(None if shown is None else shown[0].result())
        self._resume.disabled = shown is None
        self._work.progress.value = 0.0
        self._work.status.value = _READY if shown is None else _HELD
        self._python.value = self.python
        self._found = ""
        self._look()

    def _list_store(self) -> None:
        try:
            self._stored = self.experiments
            self._view.list_store(self._store, self._stored)
        except StudyError as error:
            self._stored = ()
            self._say(str(error))

    def _look(self) -> None:
        """Show the experiment of the named store that the controls describe."""
        if self._work.job is not None:
            return
        held, shown = self._held, self._shown
        name = "" if held is None else held.name
        if name != self._found:
            self._found = name
            here = None if shown is None else shown[0].result()
            self._experiments.turn(load_result(self._store, name) if name else here)
            self._resume.disabled = not name and shown is None
            self._work.status.value = _READY if shown is None else _HELD
        if held is not None:
            budget = self._controls.numbers["budget"].value
            how = "Resume continues" if held.runs < budget else "raise the budget to continue"
            self._work.status.value = html.escape(
                f"{self._store} holds {held.runs} of {budget} runs; {how}"
            )
        elif shown is None and self._stored:
            self._work.status.value = self._others_held()

    def _others_held(self) -> str:
        """Return the status that names what the store holds on this subject."""
        word, known = self._controls.subject.value, self._controls.known
        found = [
            f"{one.name} ({one.runs} of {one.budget} runs)"
            for one in self._stored
            if subject_of(one.name, str(one.problem["component"]), known) == word
        ]
        if not found:
            return _READY
        names = "; ".join(itertools.islice(found, _NAMED))
        return html.escape(
            f"{_READY}. {self._store} holds experiments with other settings, which these continue: "
            f"{names}"
        )

    def _hold(self, running: bool) -> None:
        self._controls.hold(running)
        if "_resume" in self.__dict__:
            self._resume.disabled = running or (self._shown is None and not self._found)

    def _guarded(self, action: Callable[[], Any]) -> None:
        """Run the action of a button, and show its error below."""
        try:
            action()
        except WorkbenchError as error:
            said = str(error) in [line.message for line in self._controls.error_lines]
            self._say("" if said else str(error))

    def _say(self, message: str) -> None:
        self._work.error.say("")
        self._error.say(message)


def _how_far(job: Job[TuningResult], experiment: Experiment, budget: int) -> tuple[float, str]:
    message, done = job.progress.message, experiment.done
    last = f"; the last {message}" if message else ""
    waits = f"; {experiment.runner.waits_for}" if experiment.runner.waits_for else ""
    return min(done / budget, 1.0), f"{done} of {budget} runs, {job.elapsed_s:.1f} s{waits or last}"


def _check_budget(done: int, budget: int) -> None:
    """Refuse to resume an experiment whose budget is spent."""
    if done >= budget:
        raise ParameterError(
            f"{done} runs are done; raise the budget above that to continue", key="budget"
        )


def _give_back(job: Job[TuningResult], runner: Runner) -> None:
    """Release the runner's allocation after the job, also while the kernel's loop is busy."""
    job.wait()
    runner.close()


def _word(text: str, known: list[str]) -> str:
    """Return the word of a subject, given it or its part after the colon."""
    found = [word for word in known if text in (word, word.partition(":")[2])]
    if not found:
        raise ParameterError(
            f"no subject is named {text!r}{did_you_mean(text, known)}; known: {', '.join(known)}",
            key="subject",
        )
    return found[0]
