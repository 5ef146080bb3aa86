"""The panel of latency tolerance: how much latency programs bear, and the path that decides it.

What a button does is a method of the same name, and what a slider holds is an attribute:

    panel = TolerancePanel("cg-8")             # or a Program, an ExecutionGraph, several of them
    panel.L_us = 5; panel.percent = (1, 2, 5)
    panel.keep(); panel.algorithms = {"allreduce": "ring"}      # both in one figure
    panel.probe_L_us = 12                      # its critical path on the space-time diagram
    panel.over = "bandwidth"                   # T over the gap per byte G, 1 / bandwidth
    panel.measured = "runs.csv"                # run times measured under added latency
    panel.result.tolerance; panel.tolerances(); panel.prediction
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from workbench import tasks
from workbench.errors import ParameterError, SimulationHalted
from workbench.panels import inputs
from workbench.panels.error_line import ErrorLine
from workbench.panels.export_tab import write_file
from workbench.panels.job_controls import FIRST_S, progress_of
from workbench.panels.live_view import LiveView
from workbench.panels.program_panel import ProgramPanel
from workbench.panels.program_sources import AnyProgram, ProgramSource, source_of
from workbench.panels.replay.controls import parameters_of, seconds_of
from workbench.panels.replay.state import ReplayState
from workbench.panels.session.session import Files, OwnFiles
from workbench.panels.session.stateful import drawn_once
from workbench.panels.style import wrapping_row
from workbench.simulate.replay_result import ReplayResult
from workbench.tolerance import (
    BandwidthSensitivity,
    ContentionReport,
    LatencySensitivity,
    RunPrediction,
)
from workbench.tolerance.panel_controls import CONTROLLED, SAVED, ToleranceControls
from workbench.tolerance.panel_files import FILES, tolerances_frame
from workbench.tolerance.panel_state import Analysed, ProgramVariant, ToleranceState, python_lines
from workbench.tolerance.panel_tabs import ToleranceTabs, must_be
from workbench.tolerance.panel_view import ToleranceView
from workbench.tolerance.panel_work import Analyser, many_operations, with_contention

if TYPE_CHECKING:
    import pandas as pd

FIRST = "halo-8"
"""The default recorded program."""

FIRST_MACHINE = "azure-hb96v3-hdr"
"""The default machine."""

_PROBES = {"probe_L_us": ("latency", "L", -6), "probe_G_ns": ("bandwidth", "G", -9)}
_SETTINGS = (*CONTROLLED, *_PROBES, "follow")
_AT_ONCE_S = 0.3  # an analysis of AT_ONCE_OPERATIONS takes 0.4 s on two busy cores
_DIAGRAM_AT_ONCE_S = 0.12  # chosen: the pointer asks for a diagram every 80 ms


class TolerancePanel(ProgramPanel[LatencySensitivity | None, Analysed]):
    """See how much network latency programs bear, and why.

    Args:
        program: the name of a shipped program, a generator's name, a program, a graph, or several
            of these; None takes a recorded one.
        machine: a name or a file; ``loggopsim`` for LogGOPSim's defaults.

    Raises:
        DatasetError: there is no such program, or no such machine.
    """

    SETTINGS = _SETTINGS

    _START = ("▶ Analyse", "Analyse again, in the background", "96px")
    _STOP = "Stop the analysis and keep the last figures"
    _KEPT = "the figures show the last finished analysis"

    def __init__(
        self,
        program: str | AnyProgram | list[str | AnyProgram] | None = None,
        *,
        machine: str = FIRST_MACHINE,
    ) -> None:
        super().__init__()
        self._analyser = Analyser()
        self._view: ToleranceView | None = None
        self._probe: float | None = None
        self._diagram: ReplayResult | None = None
        self._pointing: tasks.Job[ReplayResult] | None = None
        self._comparing: tasks.Job[dict[str, ContentionReport]] | None = None
        listed = program if isinstance(program, (list, tuple)) else [program]
        sources = [source_of(one, FIRST) for one in listed] or [source_of(None, FIRST)]
        first = ReplayState(sources[0], **parameters_of(machine))
        self._controls: ToleranceControls = ToleranceControls(first, self._changed)
        self._follow: Any = inputs.Checkbox(
            value=True,
            description="Follow the pointer; click to hold",
            indent=False,
            tooltip="Draw the critical path at the latency under the pointer",
            layout=widgets.Layout(width="250px"),
        )
        self._place = widgets.VBox(layout=widgets.Layout(width="100%"))
        self._tabs = ToleranceTabs(lambda: self._shown)
        self.widget = self._lay_out()
        self._connect()
        if len(sources) > 1:
            self._controls.take_kept([ProgramVariant(source) for source in sources[1:]], tell=False)
        self._begin(FIRST_S)

    @property
    def state(self) -> ToleranceState:
        """The state of the controls."""
        return self._controls.tolerance_state

    @property
    def result(self) -> LatencySensitivity | None:
        """The analysis of the program in the controls; None before the first."""
        return None if self._shown is None else self._shown.result

    @property
    def results(self) -> dict[str, LatencySensitivity]:
        """All displayed analyses, by the names in the legend."""
        return {} if self._shown is None else dict(self._shown.results)

    @property
    def bandwidths(self) -> dict[str, BandwidthSensitivity]:
        """All displayed analyses over the gap per byte; none where T is drawn over latency."""
        return {} if self._shown is None else dict(self._shown.bandwidths)

    @property
    def prediction(self) -> RunPrediction | None:
        """Measured run times beside the predicted ones; None where none are given."""
        return None if self._shown is None else self._shown.prediction

    @property
    def diagram(self) -> ReplayResult | None:
        """The replay on the space-time diagram, at ``probe_L_us``; None before the first."""
        return self._diagram

    @property
    def controls(self) -> Mapping[str, Any]:
        """The controls of the settings, by name."""
        return {**self._controls.by_name, "follow": self._follow}

    @property
    def python(self) -> str:
        """Python code that computes the results, as ``result`` or ``results`` by name."""
        return "" if self._shown is None else python_lines(self._shown)

    def tolerances(self) -> pd.DataFrame:
        """Return the table of tolerances: a row for each program and percentage.

        Returns:
            ``program``, ``percent``, and the columns of ``LatencySensitivity.tolerances``, or of
            ``BandwidthSensitivity.tolerances`` where T is drawn over bandwidth.

        Raises:
            ParameterError: nothing has been analysed yet.
        """
        return tolerances_frame(must_be(self._shown))

    def stop(self) -> None:
        """Stop the running analysis; the last figures remain."""
        self._analyser.halt()
        super().stop()
        for job in (self._pointing, self._comparing):
            if job is not None:
                job.stop()

    def keep(self) -> None:
        """Keep the chosen program in the figure, to choose another beside it.

        Raises:
            ParameterError: a figure has no further colours.
        """
        self._controls.keep()

    def clear(self) -> None:
        """Remove the kept programs from the figure."""
        self._controls.take_kept([])

    def save(self, path: str | Path) -> Path:
        """Write ``.csv`` (the pieces of the curves) or ``.json`` (tolerances and all else).

        Args:
            path: file to write.

        Raises:
            ParameterError: the suffix is neither, or nothing has been analysed yet.
        """
        return write_file(path, FILES, self._tabs.file)

    def __repr__(self) -> str:
        return f"TolerancePanel({self.result!r})"

    def _live_views(self) -> tuple[LiveView, ...]:
        return () if self._view is None else self._view.views

    def _outcome(self) -> LatencySensitivity | None:
        return self.result

    def _refresh(self) -> bool:
        self._work.refresh()
        self._take_diagram()
        self._take_comparison()
        return self.running

    def _errors(self) -> list[ErrorLine]:
        return [*self._controls.errors, *self._tabs.errors]

    def _jobs(self) -> list[tasks.Job[Any] | None]:
        return [self._work.job, self._pointing, self._comparing]

    def _get(self, name: str) -> Any:
        if name == "follow":
            return self._follow.value
        if name in _PROBES:
            over, symbol, power = _PROBES[name]
            same = self.state.over == over
            return (self._probed() if same else getattr(self.state.model, symbol)) * 10.0**-power
        return self._controls.get(name)

    def _set(self, name: str, value: Any) -> None:
        if name == "follow":
            self._follow.value = bool(value)
        elif name in _PROBES:
            over, symbol, power = _PROBES[name]
            if self.state.over != over:
                raise ParameterError(f"{name} needs over to be {over!r}", key="over")
            self._look_at(None if value is None else seconds_of(symbol, value, power))
        else:
            self._controls.set(name, value)

    def _saved_names(self) -> tuple[str, ...]:
        return (*SAVED, "follow", "probe")

    def _late_names(self, settings: Mapping[str, Any]) -> tuple[str, ...]:
        # The families are those of the program that is there, and so is the axis of the probe.
        return ("family", "probe")

    def _saved(self, name: str) -> Any:
        if name in SAVED:
            return self._controls.saved(name)
        return self._probe if name == "probe" else self._follow.value

    def _restore(self, name: str, value: Any) -> None:
        if name in SAVED:
            self._controls.restore(name, value)
        elif name == "probe":
            self._look_at(None if value is None else float(value))
        else:
            self._follow.value = value

    def _sources(self) -> list[ProgramSource]:
        return self._controls.own_sources()

    def _own_files(self) -> OwnFiles:
        return {**super()._own_files(), "measured": self._controls.own_runs()}

    def _take_own_files(self, use: str, name: str, files: Files) -> None:
        if use == "measured":
            self._controls.take_own_runs(name, files)
        else:
            super()._take_own_files(use, name, files)

    def _lay_out(self) -> Any:
        bar = wrapping_row(self._work.start, self._work.stop_button, self._follow, self._work.state)
        return self._boxed([self._controls.widget, bar, self._place])

    def _connect(self) -> None:
        self._work.stop_button.on_click(lambda _: self.stop())
        self._controls.keep_button.on_click(lambda _: self._keep_pressed())
        self._follow.observe(lambda change: self._following(change["new"]), "value")

    def _keep_pressed(self) -> None:
        try:
            self.keep()
        except ParameterError as error:
            self._controls.program_error.say(str(error))

    @drawn_once
    def _changed(self) -> None:
        """Analyse with the present controls; a small program is drawn before this returns."""
        if self._shown is not None and self.state.over != self._shown.state.over:
            self._probe = None  # it was of the other parameter
        self._begin(_AT_ONCE_S if self._analyser.quick(self.state) else 0.0)

    def _submit(self) -> tuple[tasks.Job[Analysed], Callable[[], tuple[float, str]]]:
        self._pointing = self._comparing = None
        state = self.state
        job = tasks.submit(self._analyser.work, state)
        return job, lambda: progress_of(job)

    def _program(self) -> AnyProgram | None:
        return self._analyser.program(self.state.own_case)

    def _show(self, shown: Analysed) -> None:
        if self._view is None:
            self._view = ToleranceView(shown, self._pointed)
            self._place.children = [self._view.widget, self._tabs.widget]
        low, high = shown.curve.interval
        if self._probe is not None and not low <= self._probe <= high:
            self._probe = None
        self._view.show(shown, self._probed())
        self._controls.measured.error.say(shown.measured_error)
        self._comparing = tasks.submit(self._analyser.compare, shown)
        self._point()
        # The diagram, the last of the figures, does not wait until the page has laid out a table.
        self._view.say(shown)
        self._tabs.draw()

    def _pointed(self, at_ns: float, stays: bool) -> None:
        """Show the replay at a latency or gap in ns that the user points at; a click fixes it."""
        if stays:
            self._follow.value = False
        elif not self._follow.value or (self._shown and many_operations(self._shown)):
            return
        digits = 3 if self.state.over == "latency" else 9
        self._look_at(round(at_ns, digits) * 1e-9)

    def _following(self, on: bool) -> None:
        if self._view is not None:
            self._view.follow(on)

    def _look_at(self, at: float | None) -> None:
        self._probe = at
        if self._shown is not None and self._view is not None:
            self._view.mark(self._probed())
            self._point()

    def _probed(self) -> float:
        """Return the diagram's latency in s, or gap in s/B, at first the model's."""
        model = self._controls.state.model
        base = model.L if self.state.over == "latency" else model.G
        return base if self._probe is None else self._probe

    def _point(self) -> None:
        """Draw the replay at the diagram's latency or gap, at once if it is small."""
        shown = self._shown
        if shown is None or self._view is None:
            return
        if self._pointing is not None:
            self._pointing.stop()
        at = self._probed()
        graph, model = shown.graph, shown.result.model.replace(**{shown.curve.variable: at})
        job = self._pointing = tasks.submit(self._analyser.point, graph, model)
        job.wait(0.0 if many_operations(shown) else _DIAGRAM_AT_ONCE_S)
        self._take_diagram()
        if self.running:
            self._ticker.start()

    def _take_diagram(self) -> None:
        job = self._pointing
        if job is None or not job.finished:
            return
        self._pointing = None
        if job.exception is None and self._view is not None:
            self._diagram = job.result()
            variable = "G" if self.state.over == "bandwidth" else "L"
            self._view.show_diagram(self._diagram, variable, self._probed())
            self._tabs.offer_files(self._view)
        elif not isinstance(job.exception, (SimulationHalted, tasks.JobError, type(None))):
            self._controls.say(job.exception)

    def _take_comparison(self) -> None:
        job = self._comparing
        if job is None or not job.finished:
            return
        self._comparing = None
        if self._shown is None or self._view is None:
            return
        if job.exception is None:
            self._shown = with_contention(self._shown, job.result())
            self._view.say_contention(self._shown)
            self._tabs.draw()
