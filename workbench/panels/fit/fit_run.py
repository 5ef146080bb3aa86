"""A fit in a thread, as a panel shows it: trials, the best so far, the time left."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

from workbench import tasks
from workbench.errors import ParameterError, StudyError, WorkbenchError
from workbench.fit import DEFAULT_ENGINE, FitResult, FitStudy, TrialReport
from workbench.fit.engines import PAPER_ENGINE
from workbench.fit.store import read_names, read_progress
from workbench.measure import OSUCurve
from workbench.models import NetworkModel
from workbench.panels.fit.state import FitState
from workbench.simulate import simulate_osu

_REDRAW_S = 0.3  # chosen: three pictures a second; a simulation of 0.02 s takes 7 % of it


@dataclass(frozen=True)
class FitRequest:
    """The arguments of a fit, named as in `workbench.fit.fit`."""

    curve: OSUCurve
    model: NetworkModel  # start; keeps values not searched
    loss: str
    target: str
    trials: int
    seed: int
    study: str = ""  # file or database of the trials; "" stores none
    name: str = ""  # of the study in the file
    engine: str = DEFAULT_ENGINE
    held: tuple[str, ...] = ()  # keys of parameters not searched
    without: str = ""  # message sizes left out, with commas

    @property
    def stem(self) -> str:
        """The common start of the names of this request's studies."""
        stem = f"{self.curve.name} {self.model.label} {self.loss} {self.target} seed {self.seed}"
        parts = [stem, *([] if self.engine == PAPER_ENGINE else [self.engine])]
        out = [f"without {self.without}"] if self.without else []
        return " ".join([*parts, *(f"held {key}" for key in self.held), *out])

    def named_afresh(self) -> FitRequest:
        """Return the request with a new name for its study, from the time of day."""
        return replace(self, name=f"{self.stem}, {datetime.now():%Y-%m-%d %H:%M:%S.%f}"[:-3])


class FitRun:
    """One run of a fit in the background; ``go_on`` resumes a stored study of its kind."""

    # With ``after``, it resumes that run's study once its last trial is finished.

    def __init__(
        self, request: FitRequest, *, go_on: bool = False, after: FitRun | None = None
    ) -> None:
        self.request = request
        self.study: FitStudy | None = None
        self.losses: list[float] = []
        self.best: OSUCurve | None = None
        self._go_on = go_on
        self._after = after
        self._begun_with = 0
        self.job: tasks.Job[FitResult] = tasks.submit(self._work)

    @property
    def new(self) -> int:
        """The number of trials of this run, without those of the resumed study."""
        return len(self.losses) - self._begun_with

    @property
    def remaining_s(self) -> float | None:
        """The seconds left at the pace so far; None while unknown."""
        if self.new <= 0 or self.job.finished:
            return None
        left = max(self.request.trials - len(self.losses), 0)
        return left * self.job.elapsed_s / self.new

    @property
    def share(self) -> float:
        """The share of the trials that are done."""
        return min(len(self.losses) / self.request.trials, 1.0)

    @property
    def running(self) -> bool:
        """Whether trials are still started; after a stop the last one may take seconds."""
        return not (self.job.stopping or self.job.finished)

    def _work(self, task: tasks.Task) -> FitResult:
        request = self.request
        if self._after is not None:
            self._after.job.wait()
            self.study, self._after = self._after.study, None
        if self.study is None:
            if self._go_on and not request.name:
                request = self.request = replace(request, name=_furthest_name(request))
            self.study = FitStudy(
                request.curve,
                request.model,
                loss=request.loss,
                target=request.target,
                seed=request.seed,
                engine=request.engine,
                study=request.study or None,
                name=request.name or None,
                fixed=dict.fromkeys(request.held),
                without=request.without,
            )
        so_far = self.study.result()
        self.losses.extend(so_far.losses.tolist())
        self._begun_with = len(self.losses)
        self.best = whole_curve(so_far, request.curve)
        drawn_at, drawn_loss = 0.0, so_far.best_loss
        sizes = request.curve.sizes.tolist()

        def report(trial: TrialReport) -> None:
            nonlocal drawn_at, drawn_loss
            self.losses.append(trial.loss)
            now = time.monotonic()
            if trial.best_loss < drawn_loss and now - drawn_at > _REDRAW_S:
                # Simulated here and not by the poll, which shares its thread with the sliders.
                self.best = simulate_osu(request.model.with_values(trial.best_values), sizes)
                drawn_at, drawn_loss = now, trial.best_loss
            task.report(trial.done, trial.total, f"best loss {trial.best_loss:.4g}")
            task.breathe()

        try:
            result = self.study.run(request.trials, task=task.part(report))
        finally:
            if request.study:
                self.study.close()
                self.study = None
        self.best = whole_curve(result, request.curve)
        # Here, and not by the page that shows its table: two simulations a parameter.
        _ = result.nearby
        return result


def whole_curve(result: FitResult, curve: OSUCurve) -> OSUCurve | None:
    """Return a fitted model's curve at all sizes of a machine, those left out of the fit too."""
    if result.simulated is None or len(result.simulated) == len(curve):
        return result.simulated
    return simulate_osu(result.model, curve.sizes.tolist())


def request_of(state: FitState) -> FitRequest:
    """Return the fit of the controls, of no name yet."""
    return FitRequest(
        curve=state.measured,
        model=state.model,
        loss=state.loss,
        target=state.target,
        trials=state.trials,
        seed=state.seed,
        study=state.study,
        engine=state.engine,
        held=state.held_keys,
        without=state.without,
    )


def resumed_request(state: FitState, name: str, before: FitRun | None) -> FitRequest:
    """Return the fit that Resume goes on with: a stored one, or the last run, ``before``."""
    if before is not None and name in ("", before.request.name):
        # The sliders may have moved since; the search keeps its start.
        return replace(before.request, trials=state.trials)
    if not state.study:
        raise ParameterError("Resume needs a fit that was stopped; press Start", key="study")
    return replace(request_of(state), name=name)


def status_of(run: FitRun) -> str:
    """Return a run's progress in a few words."""
    done, total = len(run.losses), run.request.trials
    if run.job.stopping and not run.job.finished:
        return f"stopped: {done} of {total} trials, finishing the last one"
    if run.job.finished:
        word = {"done": "done", "stopped": "stopped", "failed": "failed"}.get(run.job.state, "")
        new = f", {run.new} of them new" if run.new < done else ""
        return f"{word}: {done} of {total} trials{new}, in {run.job.elapsed_s:.0f} s"
    left = run.remaining_s
    rest = f", {_duration(left)} left" if left is not None else ""
    return f"{done} of {total} trials{rest}"


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


class StoredFit(NamedTuple):
    """A stored search with the settings of a request."""

    name: str
    trials: int
    text: str  # in a list


def stored_fits(request: FitRequest) -> list[StoredFit]:
    """Return the stored searches of this kind, the one with most trials first."""
    if not request.study:
        return []
    try:
        names = [n for n in read_names(request.study) if n.startswith(f"{request.stem}, ")]
        found = read_progress(request.study, names)
    except WorkbenchError:  # Start and Resume say what is wrong with the file
        return []
    stored = [
        StoredFit(
            name,
            one.trials,
            f"{one.trials} trials, best {one.best_loss:.3g}, {_begun(request, name)}",
        )
        for name, one in found.items()
    ]
    return sorted(stored, key=lambda one: (-one.trials, one.name))


def _begun(request: FitRequest, name: str) -> str:
    """Return when a search began, by its name: month, day, hour and minute."""
    return name.removeprefix(f"{request.stem}, ")[5:16]


def _furthest_name(request: FitRequest) -> str:
    """Return the name of the stored search of this kind with most trials."""
    known = stored_fits(request)
    if not known:
        raise StudyError(
            f"no study in {request.study} is named {request.stem!r}; press Start to begin one"
        )
    return known[0].name
