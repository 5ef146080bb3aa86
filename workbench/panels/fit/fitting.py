"""A fit in a thread, seen from a panel: what it has tried, the best so far, the time left."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from datetime import datetime

from workbench import jobs
from workbench.errors import ParameterError, StudyError
from workbench.fit import DEFAULT_ENGINE, FitResult, FitStudy, TrialReport
from workbench.measure import OSUCurve
from workbench.models import NetworkModel
from workbench.panels.fit.state import FitState

_REDRAW_S = 0.3


@dataclass(frozen=True)
class FitRequest:
    """What is fitted to what, as `workbench.fit.fit` takes it.

    Attributes:
        curve: the machine.
        model: where the search starts; it keeps what is not searched.
        loss, target, trials, seed: as in `workbench.fit.fit`.
        study: file the trials are kept in; empty keeps none.
        name: name of the study in the file.
        engine: what searches.
        held: keys of the parameters that stay as the model has them.
    """

    curve: OSUCurve
    model: NetworkModel
    loss: str
    target: str
    trials: int
    seed: int
    study: str = ""
    name: str = ""
    engine: str = DEFAULT_ENGINE
    held: tuple[str, ...] = ()

    @property
    def stem(self) -> str:
        """What the names of all studies of this request begin with."""
        stem = f"{self.curve.name} {self.model.label} {self.loss} {self.target} seed {self.seed}"
        parts = [stem, *([] if self.engine == DEFAULT_ENGINE else [self.engine])]
        return " ".join([*parts, *(f"held {key}" for key in self.held)])

    def named_afresh(self) -> FitRequest:
        """Return the request with the name of a study that does not exist yet."""
        return replace(self, name=f"{self.stem}, {datetime.now():%Y-%m-%d %H:%M:%S.%f}"[:-3])


class FitRun:
    """One run of a fit, from Start or Resume until it ends.

    Args:
        request: what to fit.
        go_on: take up the latest study of this kind in the file instead of a new one.
        after: the run that is gone on with; its last trial may still be in flight.
    """

    def __init__(
        self, request: FitRequest, *, go_on: bool = False, after: FitRun | None = None
    ) -> None:
        self.request = request
        self.study: FitStudy | None = None
        self.stopping = False
        self.losses: list[float] = []
        self.best: OSUCurve | None = None
        self._go_on = go_on
        self._after = after
        self._begun_with = 0
        self.job: jobs.Job[FitResult] = jobs.submit(self._work)

    @property
    def new(self) -> int:
        """Number of trials of this run, without those it was taken up with."""
        return len(self.losses) - self._begun_with

    @property
    def remaining_s(self) -> float | None:
        """Seconds the rest will take at the pace so far; None while that is not known."""
        if self.new <= 0 or self.job.finished:
            return None
        left = max(self.request.trials - len(self.losses), 0)
        return left * self.job.elapsed_s / self.new

    @property
    def running(self) -> bool:
        """Whether trials are still being started; the last one may outlive a stop by seconds."""
        return not (self.stopping or self.job.finished)

    def stop(self) -> None:
        """Start no further trial; returns at once."""
        self.stopping = True
        self.job.stop()

    def _work(self, ctx: jobs.JobContext) -> FitResult:
        request = self.request
        if self._after is not None:
            self._after.job.wait()
            self.study, self._after = self._after.study, None
        if self.study is None:
            if self._go_on and not request.name:
                request = self.request = replace(request, name=_latest_name(request))
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
            )
        so_far = self.study.result()
        self.losses.extend(so_far.losses.tolist())
        self._begun_with = len(self.losses)
        self.best = so_far.simulated
        drawn_at, drawn_loss = 0.0, so_far.best_loss

        def report(trial: TrialReport) -> None:
            nonlocal drawn_at, drawn_loss
            self.losses.append(trial.loss)
            now = time.monotonic()
            if trial.best_loss < drawn_loss and now - drawn_at > _REDRAW_S:
                # Simulated here and not by the poll, which shares its thread with the sliders.
                self.best = self._simulate(trial)
                drawn_at, drawn_loss = now, trial.best_loss
            ctx.progress(trial.done, trial.total, f"best loss {trial.best_loss:.4g}")
            ctx.breathe()

        try:
            result = self.study.run(request.trials, stop=ctx.stop_event, on_trial=report)
        finally:
            if request.study:
                self.study.close()
                self.study = None
        self.best = result.simulated
        return result

    def _simulate(self, trial: TrialReport) -> OSUCurve:
        from workbench.simulate import simulate_osu

        model = self.request.model.with_values(trial.best_values)
        return simulate_osu(model, self.request.curve.sizes.tolist())


def next_request(state: FitState, *, go_on: bool, before: FitRun | None) -> FitRequest:
    """Return what Start or Resume is to fit.

    Args:
        state: what the panel's controls hold.
        go_on: whether an earlier study is gone on with.
        before: the last run of this panel, where it is gone on with.

    Raises:
        ParameterError: there is nothing to go on with.
    """
    if before is not None:
        # The sliders may have moved since; the search goes on from where it began.
        return replace(before.request, trials=state.trials)
    request = FitRequest(
        curve=state.measured,
        model=state.model,
        loss=state.loss,
        target=state.target,
        trials=state.trials,
        seed=state.seed,
        study=state.study,
        engine=state.engine,
        held=state.held_keys,
    )
    if not go_on:
        return request.named_afresh()
    if not state.study:
        raise ParameterError("Resume needs a fit that was stopped; press Start", key="study")
    return request


def status_of(run: FitRun) -> str:
    """Return how far a run is, in a few words beside the buttons.

    Args:
        run: the fit.
    """
    done, total = len(run.losses), run.request.trials
    if run.stopping and not run.job.finished:
        return f"stopped: {done} of {total} trials, the last one is ending"
    if run.job.finished:
        word = {"done": "done", "stopped": "stopped", "failed": "failed"}.get(run.job.state, "")
        new = f", {run.new} of them new" if run.new < done else ""
        return f"{word}: {done} of {total} trials{new}, in {run.job.elapsed_s:.0f} s"
    left = run.remaining_s
    rest = f", {_duration(left)} left" if left is not None else ""
    return f"{done} of {total} trials{rest}"


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"


def _latest_name(request: FitRequest) -> str:
    """Return the name of the newest study of this kind in the file.

    Raises:
        StudyError: the file holds none.
    """
    from pathlib import Path

    import optuna

    where = request.study
    exists = "://" in where or Path(where).exists()
    url = where if "://" in where else f"sqlite:///{where}"
    names = optuna.get_all_study_names(url) if exists else []
    known = sorted(name for name in names if name.startswith(f"{request.stem}, "))
    if not known:
        raise StudyError(
            f"there must be a study to go on with; {where} holds none of {request.stem!r}; "
            "press Start"
        )
    return known[-1]
