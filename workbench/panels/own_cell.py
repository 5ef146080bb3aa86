"""Run a fit of one's own beside a study: what to fit, Start, Stop, and how far it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ipywidgets as widgets

from workbench import datasets
from workbench.errors import WorkbenchError
from workbench.fit import DEFAULT_ENGINE, DEFAULT_TRIALS, LOSSES, TARGETS, FitResult
from workbench.panels.controls import ErrorLine
from workbench.panels.fitting import FitRequest, FitRun, status_of
from workbench.panels.look import choose, named, push_button, wrapping_row
from workbench.panels.settings import ENGINE_NAMES, READY
from workbench.panels.state import model_of

OWN_MODELS = (
    ("SNAPPR", "snappr"),
    ("LogP", "logp"),
    ("Protocol-aware", "protocol"),
    ("PISCES", "pisces"),
)
_QUICK_TRIALS = 300


class OwnCell:
    """The controls of a fit of one's own, and the fit.

    Args:
        started: called when a fit was started; the panel then polls `refresh`.
        finished: called with the result and what was asked for, when a fit has ended.
    """

    def __init__(
        self, started: Callable[[], None], finished: Callable[[FitResult, FitRequest], None]
    ) -> None:
        self._started, self._finished = started, finished
        self._told = True
        self.run: FitRun | None = None
        self.controls: dict[str, Any] = {
            "machine": widgets.Dropdown(options=[*datasets.list()], **named("Machine", "280px")),
            "model": widgets.Dropdown(options=OWN_MODELS, **named("Model", "200px")),
            "loss": widgets.Dropdown(
                options=[(name.upper(), name) for name in LOSSES],
                value="rmsre",
                **named("Loss", "124px"),
            ),
            "target": widgets.Dropdown(options=TARGETS, value="both", **named("Target", "144px")),
            "engine": widgets.Dropdown(
                options=ENGINE_NAMES, value=DEFAULT_ENGINE, **named("Engine", "170px")
            ),
            "trials": widgets.BoundedIntText(
                min=1,
                max=1_000_000,
                value=min(_QUICK_TRIALS, DEFAULT_TRIALS),
                step=100,
                **named("Trials", "112px"),
            ),
            "seed": widgets.BoundedIntText(min=0, max=2**31 - 1, value=0, **named("Seed", "90px")),
        }
        self.start = push_button("▶ Start", "Run this fit", "success")
        self.stop_button = push_button("■ Stop", "End it now; the best so far is shown", "warning")
        self.error = ErrorLine()
        self.progress = widgets.FloatProgress(
            min=0.0, max=1.0, layout=widgets.Layout(width="98%", height="10px", margin="0")
        )
        self.status = widgets.HTML(READY)
        self.start.on_click(lambda _: self.begin())
        self.stop_button.on_click(lambda _: self.stop())
        state = widgets.VBox(
            [self.progress, self.status], layout=widgets.Layout(flex="1 1 230px", width="auto")
        )
        about = widgets.HTML(
            "The result is shown above as the chosen fit, to be pinned or compared."
        )
        self.widget = widgets.VBox(
            [
                wrapping_row(*self.controls.values()),
                wrapping_row(self.start, self.stop_button, state),
                self.error,
                about,
            ]
        )
        self._lock(False)

    @property
    def running(self) -> bool:
        """Whether a fit runs."""
        return self.run is not None and self.run.running

    def set(self, settings: dict[str, Any]) -> None:
        """Set some of the controls.

        Args:
            settings: values by name.

        Raises:
            ParameterError: a control does not offer its value.
        """
        for name, value in settings.items():
            choose(self.controls[name], name, value)

    def begin(self) -> FitRun:
        """Start the fit that the controls describe, in the background, and return at once."""
        if self.run is not None and self.run.running:
            return self.run
        held = {name: control.value for name, control in self.controls.items()}
        curve, model = datasets.load(held.pop("machine")), model_of(held.pop("model"))
        self.error.say("")
        self.run = FitRun(FitRequest(curve=curve, model=model, **held))
        self._told = False
        self._lock(True)
        self.status.value = "starting …"
        self._started()
        return self.run

    def stop(self) -> None:
        """End the fit; the best so far is kept."""
        if self.run is not None:
            self.run.stop()

    def refresh(self) -> bool:
        """Show how far the fit is, and return whether it still runs."""
        run = self.run
        if run is None:
            return False
        ended = run.job.finished
        self.progress.value = min(len(run.losses) / run.request.trials, 1.0)
        self.status.value = status_of(run)
        if not ended or self._told:
            return not ended
        self._told = True
        self._lock(False)
        error = run.job.exception
        if error is None:
            self._finished(run.job.result(), run.request)
        else:
            self.error.say(str(error) if isinstance(error, WorkbenchError) else f"{error!r}")
            self.status.value = "failed"
        return False

    def _lock(self, running: bool) -> None:
        for control in (*self.controls.values(), self.start):
            control.disabled = running
        self.stop_button.disabled = not running
