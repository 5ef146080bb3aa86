"""The panel of programs that ran: predicted run times beside measured ones, under added latency.

What a button does is a method, and what a list holds is an attribute:

    panel = ValidationPanel("cg-4")             # a shipped recording, or a folder
    panel.latency = "set"                       # added latency as set, not as messages showed it
    panel.traced_us = "all"                     # a curve from each trace, where several are kept
    panel.arrivals = False                      # whom a master answers is as the trace has it
    panel.points, panel.repeats = 4, 1; panel.run(); panel.wait()      # measure on this machine
    panel.result, panel.own, panel.report
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import ipywidgets as widgets

from workbench import tasks
from workbench.datapackage import DESCRIPTOR
from workbench.errors import ParameterError
from workbench.panels import inputs
from workbench.panels.error_line import ErrorLine
from workbench.panels.export_tab import ExportTab, write_file
from workbench.panels.job_controls import JobControls, error_text
from workbench.panels.live_view import LiveView
from workbench.panels.mute import Mute
from workbench.panels.panel import Panel
from workbench.panels.session.stateful import drawn_once
from workbench.panels.style import choose, named, wrapping_row
from workbench.panels.validation.files import FILES
from workbench.panels.validation.measure import measure_here
from workbench.panels.validation.state import (
    ALL,
    US_PER_S,
    ShownValidation,
    ValidationState,
    predicted,
    python_lines,
    some_latencies,
)
from workbench.panels.validation.view import ValidationView, program_html, programs_html
from workbench.simulate import receives_from_any
from workbench.tolerance import RunPrediction
from workbench.units import format_quantity
from workbench.validation import (
    ProgramRecording,
    ValidationReport,
    recording_of,
    shipped_names,
    validation_report,
)

_SETTINGS = ("recording", "latency", "traced_us", "arrivals", "points", "repeats")
_POINTS = (3, 4, 6, 11)  # the shipped recordings have 11 added latencies
_REPEATS = (1, 2, 5)  # the shipped recordings have 5 to 7
_AT_ONCE_S = 0.4  # a shipped recording is predicted in 0.1 to 0.3 s on two busy cores
_RUN_S = 4  # of a run with the start of the MPI, on two cores


class ValidationPanel(Panel[RunPrediction | None]):
    """See how far predicted run times are from those of programs that ran, and measure here.

    Args:
        recording: a shipped one, such as ``cg-4``, or a folder that ``workbench validate measure``
            wrote; empty takes the first shipped one.

    Raises:
        ParameterError: there is no such recording, or none ships with this installation.
    """

    SETTINGS = _SETTINGS

    def __init__(self, recording: str | Path = "") -> None:
        super().__init__()
        self._mute = Mute()
        self._names = _offered(str(recording))
        self._own: dict[str, ProgramRecording] = {}
        self._shown: ShownValidation | None = None
        self._view: ValidationView | None = None
        self._predicting: tasks.Job[ShownValidation] | None = None
        self._reporting: tasks.Job[ValidationReport] | None = None
        self._report: ValidationReport | None = None
        self._measured = ""  # the recording whose program is being measured
        self._controls = self._make_controls()
        self._error = ErrorLine()
        self._work: JobControls[ProgramRecording] = JobControls(
            ("▶ Measure here", "Run this program on an emulated cluster of this machine", "130px"),
            "Stop the measurement; repeats that have ended are kept",
            "",
            lock=lambda running: None,
            ended=self._ended,
            failed=self._failed,
        )
        self._work.start.on_click(lambda _: self._error.guard(self.run))
        self._place = widgets.VBox(layout=widgets.Layout(width="100%"))
        self._programs, self._program = widgets.HTML(), widgets.HTML()
        self._python: Any = inputs.Textarea(
            rows=12, layout=widgets.Layout(width="98%", height="auto")
        )
        self._export_place = widgets.VBox()
        self._export: ExportTab | None = None
        self.widget = self._lay_out()
        for name in ("recording", "latency", "traced_us", "arrivals"):
            self._controls[name].observe(lambda _: self._error.guard(self._choose), "value")
        self._controls["points"].observe(lambda _: self._say_how_long(), "value")
        self._controls["repeats"].observe(lambda _: self._say_how_long(), "value")
        self._choose()
        self._reporting = tasks.submit(
            lambda **_: validation_report(map(recording_of, self._names))
        )
        self._ticker.start()

    @property
    def state(self) -> ValidationState:
        """The state of the controls."""
        names = ("recording", "latency", "traced_us", "arrivals")
        return ValidationState(**{name: self._controls[name].value for name in names})

    @property
    def result(self) -> RunPrediction | None:
        """The prediction beside the recorded runs; None before the first."""
        return None if self._shown is None else self._shown.result

    @property
    def results(self) -> dict[str, RunPrediction]:
        """All displayed predictions, by the names in the legend."""
        return {} if self._shown is None else dict(self._shown.predictions)

    @property
    def own(self) -> ProgramRecording | None:
        """The chosen program as it was measured here; None before. It can be saved."""
        return self._own.get(self._controls["recording"].value)

    @property
    def report(self) -> ValidationReport | None:
        """The errors of all recordings; None until they are computed."""
        return self._report

    @property
    def controls(self) -> Mapping[str, Any]:
        """The controls of the settings, by name."""
        return self._controls

    @property
    def python(self) -> str:
        """Python code that makes what is shown, as ``result``."""
        return "" if self._shown is None else python_lines(self._shown)

    def run(self) -> tasks.Job[ProgramRecording]:
        """Measure the chosen program on this machine, in the background, and return at once.

        Raises:
            ParameterError: a measurement runs already.
        """
        if self._work.job is not None:
            raise ParameterError("a measurement runs; stop it, or wait for its end")
        self._measured = self._controls["recording"].value
        recording = recording_of(self._measured)
        latencies_s = some_latencies(recording, self._controls["points"].value)
        repeats = self._controls["repeats"].value
        job = tasks.submit(measure_here, recording, latencies_s, repeats)
        self._work.begin(job, lambda: _how_far(job, recording.name))
        self._ticker.start()
        return job

    def stop(self) -> None:
        """Stop the measurement; repeats that have ended are kept."""
        self._work.stop()

    def save(self, path: str | Path) -> Path:
        """Write ``.csv`` (the runs), ``.json`` (the errors) or ``.html`` (the figure).

        Args:
            path: file to write.

        Raises:
            ParameterError: the suffix is another, or nothing is shown yet.
        """
        return write_file(path, FILES, self._file)

    def __repr__(self) -> str:
        return f"ValidationPanel({self.result!r})"

    def _saved(self, name: str) -> Any:
        value = self._controls[name].value
        if name == "recording":
            return Path(value).name  # a folder of this machine is none of another
        return str(value) if name == "traced_us" else value

    def _restore(self, name: str, value: Any) -> None:
        control = self._controls[name]
        if name in ("recording", "traced_us"):
            options = [one[1] for one in control.options]
            found = [one for one in options if Path(str(one)).name == value]
            choose(control, name, found[0] if found else value)
        else:
            choose(control, name, value)

    def _not_held(self) -> tuple[str, ...]:
        notes = []
        if self._controls["recording"].value not in shipped_names():
            notes.append("the recording is a folder of this machine: pass it on beside the session")
        if self.own is not None:
            notes.append("what was measured here is not in a session")
        return tuple(notes)

    def _live_views(self) -> tuple[LiveView, ...]:
        return () if self._view is None else (self._view.view,)

    def _outcome(self) -> RunPrediction | None:
        return self.result

    def _errors(self) -> list[ErrorLine]:
        exports = [] if self._export is None else [self._export.error]
        return [self._error, self._work.error, *exports]

    def _jobs(self) -> list[tasks.Job[Any] | None]:
        return [self._predicting, self._reporting, self._work.job]

    def _refresh(self) -> bool:
        self._work.refresh()
        self._take_prediction()
        self._take_report()
        return self.running

    def _make_controls(self) -> dict[str, Any]:
        listed = [(_title(recording_of(name), name), name) for name in self._names]
        return {
            "recording": inputs.Dropdown(options=listed, **named("Recording", "420px")),
            "latency": inputs.ToggleButtons(
                options=[("as messages showed it", "seen"), ("as set", "set")],
                tooltips=(
                    "How much half a round trip between two hosts grew, measured before each run",
                    "What the switch was told to add",
                ),
                **named("Added latency", "530px"),
            ),
            "traced_us": inputs.Dropdown(
                options=[("nothing added", 0.0)], **named("Traced with", "260px")
            ),
            "arrivals": inputs.Dropdown(
                options=[("as messages arrive", True), ("as traced", False)],
                **named("Master answers", "290px"),
            ),
            "points": inputs.Dropdown(options=_POINTS, value=4, **named("Latencies", "130px")),
            "repeats": inputs.Dropdown(options=_REPEATS, **named("Repeats", "120px")),
        }

    def _lay_out(self) -> Any:
        c = self._controls
        c["latency"].style.button_width = "180px"
        self._about = widgets.HTML(layout=widgets.Layout(margin="2px 16px 2px 0"))
        tabs = inputs.Tab(
            [self._programs, self._program, self._python, self._export_place],
            titles=("All programs", "This program", "Python", "Export"),
            selected_index=0,
            layout=widgets.Layout(width="99%"),
        )
        work = self._work
        return self._boxed(
            [
                wrapping_row(c["recording"], c["latency"], c["traced_us"], c["arrivals"]),
                wrapping_row(
                    work.start, work.stop_button, c["points"], c["repeats"], self._about, work.state
                ),
                work.error,
                self._error,
                self._place,
                tabs,
            ]
        )

    def _choose(self) -> None:
        """Predict for the present choice, in the background; a quick one is drawn at once."""
        if self._mute.on:
            return
        self._error.say("")
        recording = recording_of(self._controls["recording"].value)
        self._offer_traces(recording)
        self._say_how_long()
        self._predict()

    @drawn_once
    def _predict(self) -> None:
        """Predict for the state of the controls, in the background; draw what is quick."""
        state, own = self.state, self.own
        job = self._predicting = tasks.submit(lambda **_: predicted(state, own))
        job.wait(_AT_ONCE_S)
        self._take_prediction()
        if self._predicting is not None and self._view is not None:
            self._view.fade()
        self._ticker.start()

    def _offer_traces(self, recording: ProgramRecording) -> None:
        """List the recording's traces; keep the chosen one, or take the first."""
        known: list[tuple[str, Any]] = [
            (_added_text(added), added * US_PER_S) for added in sorted(recording.traces)
        ]
        several = len(known) > 1
        known += [("each, a curve from each trace", ALL)] if several else []
        control = self._controls["traced_us"]
        with self._mute:
            if list(control.options) != known:
                kept = control.value
                control.options = known
                control.value = kept if kept in [one for _, one in known] else known[0][1]
        control.layout.display = "" if several else "none"
        # Each trace, drawn for itself, answers as traced.
        answers = control.value != ALL and receives_from_any(recording.program()) > 0
        self._controls["arrivals"].layout.display = "" if answers else "none"

    def _take_prediction(self) -> None:
        job = self._predicting
        if job is None or not job.finished:
            return
        self._predicting = None
        if job.exception is not None:
            self._error.say(error_text(job.exception))
            return
        shown = self._shown = job.result()
        if self._view is None:
            self._view = ValidationView(shown)
            self._export = ExportTab(
                {suffix: about for suffix, (_, about) in FILES.items()},
                self._file,
                {"": (self._view.downloads, self._stem)},
            )
            self._export_place.children = [self._export.widget]
        self._view.show(shown)
        if not self._place.children:
            self._view.view.renew()
            self._place.children = [self._view.widget]
        self._program.value = program_html(shown)
        self._python.value = python_lines(shown)
        self._write_programs()

    def _take_report(self) -> None:
        job = self._reporting
        if job is None or not job.finished:
            return
        self._reporting = None
        if job.exception is not None:
            self._error.say(error_text(job.exception))
            return
        self._report = job.result()
        self._write_programs()

    def _write_programs(self) -> None:
        if self._report is not None and self._shown is not None:
            self._programs.value = programs_html(self._report, self._shown)

    def _ended(self, job: tasks.Job[ProgramRecording]) -> None:
        found = job.result()
        self._own[self._measured] = found
        self._work.progress.value = 1.0
        stopped = "stopped; " if job.state == "stopped" else ""
        self._work.status.value = f"{stopped}{len(found.runs)} runs in {job.elapsed_s:.0f} s"
        if self._controls["recording"].value == self._measured:
            self._choose()

    def _failed(self, error: BaseException) -> None:
        if not self._work.refused(error, "nothing was kept" if not self._own else ""):
            self._work.error.say(error_text(error))

    def _say_how_long(self) -> None:
        recording = recording_of(self._controls["recording"].value)
        points = len(some_latencies(recording, self._controls["points"].value))
        seconds = _RUN_S * (points * self._controls["repeats"].value + 1)
        self._about.value = f"takes about {10 * max(round(seconds / 10), 1)} s"

    def _file(self, suffix: str) -> tuple[str, str]:
        if self._shown is None:
            raise ParameterError("nothing is shown yet; wait for the prediction", key="path")
        return self._stem(), FILES[suffix][0](self._shown)

    def _stem(self) -> str:
        return f"{Path(self.state.recording).name}-validation"


def _offered(recording: str) -> list[str]:
    """Return the recordings of the list, the chosen one first."""
    known = shipped_names()
    if (Path(recording) / DESCRIPTOR).exists() and recording not in ("", *known):
        return [recording, *known]
    if not known:
        raise ParameterError(
            "recordings must ship in datasets/validation, and there is none; reinstall the "
            "package, or name a folder that workbench validate measure wrote",
            key="recording",
        )
    if recording:
        recording_of(recording)
        known.remove(recording)
        return [recording, *known]
    return known


def _title(recording: ProgramRecording, name: str) -> str:
    return f"{recording.title}, {recording.ranks} ranks ({Path(name).name})"


def _added_text(added_s: float) -> str:
    return f"{format_quantity(added_s, 'time')} added" if added_s else "nothing added"


def _how_far(job: tasks.Job[ProgramRecording], name: str) -> tuple[float, str]:
    progress = job.progress
    runs = f"{progress.done} of {progress.total} runs" if progress.total else f"compiling {name}"
    return progress.fraction, f"{runs}, {job.elapsed_s:.0f} s"
