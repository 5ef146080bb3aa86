"""The user's own fit beside a study: its settings, Start, Stop and progress."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypedDict

import ipywidgets as widgets

from workbench import datasets, tasks
from workbench.fit import DEFAULT_ENGINE, LOSSES, TARGETS, FitResult
from workbench.panels import inputs
from workbench.panels.error_line import ErrorLine
from workbench.panels.fit.fit_run import FitRequest, FitRun, status_of
from workbench.panels.fit.settings import ENGINE_NAMES, READY
from workbench.panels.fit.state import model_of
from workbench.panels.job_controls import JobControls
from workbench.panels.machine_choice import MachineChoice, curve_of
from workbench.panels.number_field import NumberField, check_all, errors_of
from workbench.panels.style import choose, named, wrapping_row

OWN_MODELS = (
    ("SNAPPR", "snappr"),
    ("LogP", "logp"),
    ("Protocol-aware", "protocol"),
    ("PISCES", "pisces"),
)
# RMSPE of SNAPPR on alps-gh200, three seeds: with 150 222 %, with 300 207 to 222, with 600 207.
QUICK_TRIALS = 300


class OwnFitSettings(TypedDict, total=False):
    """The settings of the user's own fit, by the names of their controls."""

    machine: str
    model: str
    loss: str
    target: str
    engine: str
    trials: int
    seed: int


class OwnFit:
    """The controls of the user's own fit; ``started`` lets the panel poll `refresh`."""

    def __init__(
        self, started: Callable[[], None], finished: Callable[[FitResult, FitRequest], None]
    ) -> None:
        self._started, self._finished = started, finished
        self.run: FitRun | None = None
        self.controls: dict[str, Any] = {
            "machine": MachineChoice(datasets.list().names[0]),
            "model": inputs.Dropdown(options=OWN_MODELS, **named("Model", "200px")),
            "loss": inputs.Dropdown(
                options=[(name.upper(), name) for name in LOSSES],
                value="rmsre",
                **named("Loss", "124px"),
            ),
            "target": inputs.Dropdown(options=TARGETS, value="both", **named("Target", "144px")),
            "engine": inputs.Dropdown(
                options=ENGINE_NAMES, value=DEFAULT_ENGINE, **named("Engine", "184px")
            ),
            "trials": NumberField(
                QUICK_TRIALS,
                1,
                1_000_000,
                step=100,
                **named("Trials", "112px"),
            ),
            "seed": NumberField(0, 0, 2**31 - 1, **named("Seed", "90px")),
        }
        self._work: JobControls[FitResult] = JobControls(
            ("▶ Start", "Run this fit", "88px"),
            "Stop now and show the best so far",
            READY,
            lock=self._lock,
            ended=self._end,
            width=230,
        )
        self.start = self._work.start
        self.start.on_click(lambda _: self._work.error.guard(self.begin))
        about = widgets.HTML(
            "The result is shown above as the chosen fit, to be pinned or compared."
        )
        self.widget = widgets.VBox(
            [
                wrapping_row(*self.controls.values()),
                wrapping_row(self.start, self._work.stop_button, self._work.state),
                self._work.error,
                about,
            ]
        )

    @property
    def job(self) -> tasks.Job[FitResult] | None:
        """The fit that runs; None where none does, or its last trial is ending."""
        return self.run.job if self.run is not None and self.run.running else None

    @property
    def errors(self) -> list[ErrorLine]:
        """The error lines of the controls."""
        return [self._work.error, *errors_of(self.controls.values())]

    def set(self, settings: OwnFitSettings) -> None:
        """Set some of the controls, by name."""
        for name, value in settings.items():
            choose(self.controls[name], name, value)

    def begin(self) -> FitRun:
        """Start the fit that the controls describe, in the background."""
        if self.run is not None and self.run.running:
            return self.run
        check_all(self.controls.values())
        held = {name: control.value for name, control in self.controls.items()}
        curve = curve_of(held.pop("machine"))
        model = model_of(held.pop("model"), measured=curve)
        self.run = run = FitRun(FitRequest(curve=curve, model=model, **held))
        self._work.begin(run.job, lambda: (run.share, status_of(run)))
        self._started()
        return run

    def stop(self) -> None:
        """Stop the fit; the best so far is kept."""
        self._work.stop()

    def refresh(self) -> bool:
        """Update the progress, and return whether the fit still runs."""
        return self._work.refresh()

    def _end(self, job: tasks.Job[FitResult]) -> None:
        if self.run is not None:
            self._work.status.value = status_of(self.run)
            self._finished(job.result(), self.run.request)

    def _lock(self, running: bool) -> None:
        for control in self.controls.values():
            control.disabled = running
