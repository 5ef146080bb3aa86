"""The panel of message regimes: move the threshold, see the error of each half and of the whole.

panel = RegimePanel("azure-hb96v3-hdr")
panel.threshold = 2048                     # bytes; the curves and errors follow at once
panel.low = "logp"; panel.high = "protocol"
panel.run(); panel.wait()                  # fit both halves at this threshold
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import ipywidgets as widgets

from workbench import tasks
from workbench.errors import ParameterError
from workbench.fit import LOSSES
from workbench.fit.bolted import Bolted
from workbench.fit.regimes import fit_regimes
from workbench.panels import inputs
from workbench.panels.error_line import ErrorLine
from workbench.panels.export_tab import ExportTab, write_file
from workbench.panels.fit.settings import ENGINE_NAMES, READY
from workbench.panels.job_controls import JobControls
from workbench.panels.live_view import LiveView
from workbench.panels.machine_choice import MachineChoice, curve_of
from workbench.panels.number_field import NumberField, check_all, errors_of
from workbench.panels.panel import Panel
from workbench.panels.regime.files import FILES, parameter_tables
from workbench.panels.regime.state import (
    Pair,
    RegimeState,
    bolted_lines,
    find_pair,
    refit_lines,
    refitted,
    shipped_studies,
)
from workbench.panels.regime.view import RegimeView
from workbench.panels.session.stateful import drawn_once
from workbench.panels.slider import Listed, Slider
from workbench.panels.study.own_fit import OWN_MODELS, QUICK_TRIALS
from workbench.panels.style import named, wrapping_row
from workbench.study import StudyResult

DEFAULT_MACHINE = "azure-hb96v3-hdr"
QUICK_ENGINE = "least-squares"
_SETTINGS = ("machine", "low", "high", "threshold", "loss", "engine", "trials", "seed")
_STATE = ("machine", "low", "high", "threshold")


class RegimePanel(Panel[Bolted]):
    """One model for small messages, another for large ones, and the threshold between them.

    Args:
        machine: name of a shipped machine.
        studies: studies whose fits are shown first; None takes those that ship.
        height: height of the figures in pixels.

    Raises:
        DatasetError: there is no such machine.
    """

    SETTINGS = _SETTINGS

    def __init__(
        self,
        machine: str = DEFAULT_MACHINE,
        studies: Sequence[StudyResult] | None = None,
        *,
        height: int = 235,
    ) -> None:
        super().__init__()
        self._studies = shipped_studies() if studies is None else tuple(studies)
        self._state = RegimeState(machine)
        self._refits: dict[tuple[str, str, str], Pair] = {}
        self._asked = self._drawn = self._state
        self._pair = find_pair(self._studies, self._state)
        self._bolted = self._pair.bolted(self._state.threshold)
        self._view = RegimeView(self._pair, self._state.threshold, height=height)
        self._make_controls()
        self._parameters = widgets.HTML()
        self._python = inputs.Textarea(rows=12, layout=widgets.Layout(width="98%", height="auto"))
        self.widget = self._lay_out()
        self._connect()
        self._parameters.value = parameter_tables(self._pair)

    @property
    def state(self) -> RegimeState:
        """The state of the controls."""
        return self._state

    @property
    def bolted(self) -> Bolted:
        """The pair at the threshold, with its errors."""
        return self._bolted

    @property
    def controls(self) -> Mapping[str, Any]:
        """The controls of the settings, by name."""
        return {**self._controls, "threshold": self._threshold}

    @property
    def python(self) -> str:
        """Python code that builds the displayed pair, as ``bolted``."""
        return bolted_lines(self._bolted, self._state.machine)

    def run(self) -> tasks.Job[Bolted]:
        """Fit both halves at the threshold, in the background, and return at once.

        Raises:
            ParameterError: the threshold leaves no size on one side, or a number is not accepted.
        """
        if self._work.job is not None:
            return self._work.job
        check_all(self._controls.values())
        state, c = self._state, self._controls
        measured = self._pair.measured
        if not measured.sizes[0] <= state.threshold < measured.sizes[-1]:
            raise ParameterError(
                "a refit needs sizes on both sides of the threshold, "
                f"{measured.sizes[0]} to {measured.sizes[-2]} B; got {state.threshold}; "
                "move it",
                key="threshold",
            )
        self._asked = state
        job = tasks.submit(
            fit_regimes,
            measured,
            state.low,
            state.high,
            threshold=state.threshold,
            trials=c["trials"].value,
            loss=c["loss"].value,
            engine=c["engine"].value,
            seed=c["seed"].value,
        )
        self._work.begin(job, lambda: _how_far(job))
        self._ticker.start()
        return job

    def stop(self) -> None:
        """Stop the refit; the best so far is shown if both halves have one."""
        self._work.stop()

    def save(self, path: str | Path) -> Path:
        """Write ``.csv`` (curves), ``.json`` (pair and errors) or ``.ini`` (for SST/macro).

        Args:
            path: file to write.

        Raises:
            ParameterError: the suffix is none of these, or SST/macro cannot run the pair.
        """
        return write_file(path, FILES, self._file)

    def __repr__(self) -> str:
        return f"RegimePanel({self._state.machine}, {self._bolted!r})"

    def _not_held(self) -> tuple[str, ...]:
        state = self._state
        if (state.machine, state.low, state.high) not in self._refits:
            return ()
        return ("the refit is not in a session: the button makes it again",)

    def _live_views(self) -> tuple[LiveView, ...]:
        return self._view.views

    def _outcome(self) -> Bolted:
        return self._bolted

    def _refresh(self) -> bool:
        return self._work.refresh()

    def _errors(self) -> list[ErrorLine]:
        own = (self._threshold.error, self._error, self._work.error, self._export.error)
        return [*own, *errors_of(self._controls.values())]

    def _jobs(self) -> list[tasks.Job[Any] | None]:
        return [self._work.job]

    def _make_controls(self) -> None:
        state = self._state
        self._controls: dict[str, Any] = {
            "machine": MachineChoice(state.machine, width="270px"),
            "low": inputs.Dropdown(
                options=OWN_MODELS, value=state.low, **named("Small messages", "250px")
            ),
            "high": inputs.Dropdown(
                options=OWN_MODELS, value=state.high, **named("Large messages", "250px")
            ),
            "loss": inputs.Dropdown(
                options=[(name.upper(), name) for name in LOSSES],
                value="rmsre",
                **named("Loss", "124px"),
            ),
            "engine": inputs.Dropdown(
                options=ENGINE_NAMES, value=QUICK_ENGINE, **named("Engine", "184px")
            ),
            "trials": NumberField(
                QUICK_TRIALS, 1, 1_000_000, step=100, **named("Trials each", "140px")
            ),
            "seed": NumberField(0, 0, 2**31 - 1, **named("Seed", "90px")),
        }
        self._threshold = Slider(
            self._sizes(),
            state.threshold,
            lambda _: self._error.guard(self._take_controls),
            name="Threshold",
            typed_tooltip="Type one of the measured sizes, such as 4 KiB",
            width="98%",
        )
        self._work: JobControls[Bolted] = JobControls(
            ("▶ Refit both halves here", "Fit each model to its half", "190px"),
            "Stop now and show the best so far",
            READY,
            lock=self._lock_controls,
            ended=self._end,
        )
        self._start, self._status = self._work.start, self._work.status
        self._error = ErrorLine()

    def _lay_out(self) -> Any:
        c = self._controls
        self._export = ExportTab(
            {suffix: about for suffix, (_, about) in FILES.items()},
            self._file,
            {"": (self._view.downloads, self._name)},
            lambda _: self._view.origins,
        )
        self._tabs = inputs.Tab(
            [self._parameters, self._python, self._export.widget],
            titles=("Parameters", "Python", "Export"),
            layout=widgets.Layout(width="100%"),
        )
        return self._boxed(
            [
                wrapping_row(c["machine"], c["low"], c["high"]),
                self._threshold.widget,
                self._error,
                self._view.widget,
                wrapping_row(
                    c["loss"],
                    c["engine"],
                    c["trials"],
                    c["seed"],
                    self._start,
                    self._work.stop_button,
                    self._work.state,
                ),
                self._work.error,
                self._tabs,
            ]
        )

    def _connect(self) -> None:
        for name, control in self._controls.items():
            if name in _STATE:
                control.observe(lambda _: self._error.guard(self._take_controls), "value")
            else:
                control.observe(lambda _: self._show_python(), "value")
        self._start.on_click(lambda _: self._work.error.guard(self.run))
        self._tabs.observe(lambda _: self._show_python(), "selected_index")

    def _take_controls(self) -> None:
        self._error.say("")
        before = self._state
        state = replace(before, **{name: self.controls[name].value for name in _STATE})
        self._state = state
        if state.machine != before.machine:
            self._offer_thresholds()
        self._draw()

    @drawn_once
    def _draw(self) -> None:
        """Draw the pair of the state, another one or at another threshold."""
        state, drawn = self._state, self._drawn
        if replace(state, threshold=drawn.threshold) != drawn:
            self._error.guard(self._take_pair)
            return
        self._drawn = state
        self._bolted = self._pair.bolted(state.threshold)
        self._view.show(self._bolted)
        self._show_python()

    def _take_pair(self) -> None:
        """Find, simulate and draw the two models that the state names."""
        state = self._state
        self._drawn = state
        kept = self._refits.get((state.machine, state.low, state.high))
        self._pair = kept or find_pair(self._studies, state)
        self._bolted = self._pair.bolted(state.threshold)
        self._view.show_pair(self._pair, self._bolted)
        self._parameters.value = parameter_tables(self._pair)
        self._show_python()

    def _show_python(self) -> None:
        # While a slider moves, hidden tabs are not redrawn; they are when they are opened.
        if self._tabs.titles[self._tabs.selected_index or 0] == "Python":
            c = self._controls
            asked = {name: c[name].value for name in ("loss", "engine", "trials", "seed")}
            refit = refit_lines(self._state, **asked)
            self._python.value = f"{self.python}\n\n# both halves fitted at this threshold\n{refit}"

    def _end(self, job: tasks.Job[Bolted]) -> None:
        bolted, asked = job.result(), self._asked
        word = "stopped" if job.state == "stopped" else "done"
        outcome = (
            f"RMSPE {bolted.rmspe['joint']:.1f} % with each half simulated alone"
            if bolted.success
            else "a half without a fit stays as it was"
        )
        self._status.value = f"{word} in {job.elapsed_s:.0f} s: {outcome}"
        pair = refitted(find_pair(self._studies, asked), bolted)
        self._refits[asked.machine, asked.low, asked.high] = pair
        self._take_pair()

    def _sizes(self) -> Listed:
        return Listed(curve_of(self._state.machine).sizes.tolist(), "threshold")

    def _offer_thresholds(self) -> None:
        """Give the slider the machine's sizes, and keep its value as near as possible."""
        sizes, state = self._sizes(), self._state
        nearest = sizes.value_at(sizes.position(state.threshold))
        self._threshold.offer(sizes, nearest)
        self._state = replace(state, threshold=nearest)

    def _name(self) -> str:
        state = self._state
        return f"{state.machine}-{state.low}-{state.high}-{state.threshold}"

    def _file(self, suffix: str) -> tuple[str, str]:
        return self._name(), FILES[suffix][0](self._pair, self._bolted)

    def _lock_controls(self, running: bool) -> None:
        # The threshold stays free: the shown pair can be explored meanwhile.
        for control in self._controls.values():
            control.disabled = running


def _how_far(job: tasks.Job[Bolted]) -> tuple[float, str]:
    progress = job.progress
    return progress.fraction, f"{progress.done} of {progress.total} trials, both halves"
