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

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets
import numpy as np

from workbench import tasks
from workbench.errors import ParameterError, SimulationHalted
from workbench.panels import inputs
from workbench.panels.error_line import ErrorLine
from workbench.panels.export_tab import write_file
from workbench.panels.job_controls import FIRST_S, progress_of
from workbench.panels.layout import Fold, columns, group
from workbench.panels.live_view import LiveView
from workbench.panels.loggps_choice import seconds_of
from workbench.panels.mute import Mute
from workbench.panels.program_panel import ProgramPanel
from workbench.panels.program_sources import AnyProgram, ProgramSource, source_of
from workbench.panels.session.session import Files, OwnFiles
from workbench.panels.session.stateful import drawn_once
from workbench.panels.settings import Setting, Written
from workbench.panels.style import named, push_button, wrapping_row
from workbench.simulate.replay_result import ReplayResult
from workbench.tolerance import (
    BandwidthSensitivity,
    ContentionReport,
    LatencySensitivity,
    RunPrediction,
)
from workbench.tolerance.curve import OVER, PERCENT, CurveParameter
from workbench.tolerance.panel_details import ToleranceDetails, must_be
from workbench.tolerance.panel_files import FILES, python_lines, tolerances_frame
from workbench.tolerance.panel_measured import MeasuredControl
from workbench.tolerance.panel_programs import (
    ALONE,
    ONE_PROGRAM,
    KeptPrograms,
    ProgramVariant,
    families_of,
    family_of,
)
from workbench.tolerance.panel_state import (
    Analysed,
    LatencyInterval,
    ToleranceState,
    check_interval,
    interval_text,
    parse_interval,
    parse_percents,
    percents_text,
)
from workbench.tolerance.panel_view import ToleranceView
from workbench.tolerance.panel_work import Analyser, many_operations, with_contention

if TYPE_CHECKING:
    import pandas as pd

FIRST = "halo-8"
"""The default recorded program."""

FIRST_MACHINE = "azure-hb96v3-hdr"
"""The default machine."""

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

    _START = ("▶ Analyse", "Analyse again, in the background", "96px")
    _STOP = "Stop the analysis and keep the last figures"
    _KEPT = "the figures show the last finished analysis"

    def __init__(
        self,
        program: str | AnyProgram | list[str | AnyProgram] | None = None,
        *,
        machine: str = FIRST_MACHINE,
    ) -> None:
        given = program if isinstance(program, (list, tuple)) else [program]
        sources = [source_of(one, FIRST) for one in given] or [source_of(None, FIRST)]
        super().__init__(sources[0], machine)
        self._ready = False  # to be analysed
        self._analyser = Analyser()
        self._view: ToleranceView | None = None
        self._probe: float | None = None
        self._diagram: ReplayResult | None = None
        self._pointing: tasks.Job[ReplayResult] | None = None
        self._comparing: tasks.Job[dict[str, ContentionReport]] | None = None
        self._make_controls()
        self._place = widgets.VBox(layout=widgets.Layout(width="100%"))
        self._details = ToleranceDetails(lambda: self._shown)
        self.widget = self._lay_out()
        self._kept.take([ProgramVariant(source) for source in sources[1:]])
        self._ready = True
        self._begin(FIRST_S)

    def _make_controls(self) -> None:
        """Make the controls of what is drawn, and say once what each of them sets."""
        changed = self._changed
        self._kept = KeptPrograms(self._programs.known, changed)
        self._measured = MeasuredControl(lambda: self._programs.source.name, self._measured_changed)
        self._family: Any = inputs.Dropdown(options=ONE_PROGRAM, **named("Draw", "100%"))
        self._over: Any = inputs.ToggleButtons(
            options=[(word.capitalize(), word) for word in OVER],
            tooltips=[f"T over the {parameter.axis}" for parameter in OVER.values()],
            description="T over",
            style={"button_width": "90px", "description_width": "initial"},
            layout=widgets.Layout(width="auto"),
        )
        self._percent: Written[tuple[float, ...]] = Written(
            PERCENT, parse_percents, percents_text, changed, name="Zones (%)"
        )
        self._axis: Written[LatencyInterval | None] = Written(
            None,
            parse_interval,
            interval_text,
            changed,
            name="Axis of L (µs)",
            placeholder="automatic, or 0 to 20us",
        )
        self._follow: Any = inputs.Checkbox(
            value=True,
            description="Follow the pointer; click to hold",
            indent=False,
            tooltip="Draw the critical path at the latency under the pointer",
        )
        self._known = {
            **super()._all_settings(),
            "programs": Setting(
                get=lambda: [one.title for one in self.state.variants],
                take=self._take_programs,
                session="no",
            ),
            "kept": Setting(
                get=lambda: self._kept.variants,
                save=self._kept.saved,
                restore=self._kept.restore,
                attribute=False,
            ),
            "over": Setting(self._over),
            "percent": Setting(
                self._percent,
                get=lambda: self._percent.held,
                take=lambda given: self._percent.take(
                    parse_percents(" ".join(map(str, np.ravel(given))))
                ),
            ),
            "interval_us": Setting(
                self._axis,
                get=lambda: self._axis.held and tuple(1e6 * end for end in self._axis.held),
                take=lambda ends: self._take_interval(
                    ends and [seconds_of("L", end, -6) for end in ends]
                ),
                session="no",
            ),
            "interval_s": Setting(
                get=lambda: self._axis.held, take=self._take_interval, attribute=False
            ),
            "measured": self._measured.setting,
            "family": Setting(self._family, session="after jobs"),
            "follow": Setting(self._follow),
            "probe_L_us": self._probe_setting("latency", -6),
            "probe_G_ns": self._probe_setting("bandwidth", -9),
            "probe": Setting(
                get=lambda: self._probe,
                take=lambda at: self._look_at(None if at is None else float(at)),
                session="after jobs",
                attribute=False,
            ),
        }
        self._family_of = self._programs.source.name
        self._mute = Mute()
        self._family.observe(lambda _: self._family_changed(), "value")
        self._over.observe(lambda _: self._changed(), "value")
        self._follow.observe(lambda change: self._following(change["new"]), "value")

    def _all_settings(self) -> Mapping[str, Setting]:
        return self._known

    @property
    def _parameter(self) -> CurveParameter:
        """What T is drawn over."""
        return OVER[self._over.value]

    def _probe_setting(self, over: str, power: int) -> Setting:
        """Return the setting of the diagram's latency, or gap, in a unit of 10^power s or s/B."""
        letter = OVER[over].letter

        def get() -> float:
            same = self._over.value == over
            return (self._probed() if same else getattr(self._loggps.model, letter)) * 10.0**-power

        def take(value: Any) -> None:
            if self._over.value != over:
                raise ParameterError(
                    f"a probe of {letter} needs over to be {over!r}; it is {self._over.value!r}",
                    key="over",
                )
            self._look_at(None if value is None else seconds_of(letter, value, power))

        return Setting(get=get, take=take, session="no")

    @property
    def state(self) -> ToleranceState:
        """The state of the controls."""
        programs, loggps = self._programs, self._loggps
        chosen = ProgramVariant(programs.source, programs.algorithms)
        family = family_of(self._family.value, chosen, programs.arguments)
        keys = [one.key for one in family]
        beside = tuple(one for one in self._kept.variants if one.key not in keys)
        return ToleranceState(
            variants=(*family, *beside),
            own=keys.index(chosen.key),
            model=loggps.model,
            machine=loggps.machine,
            percent=self._percent.held,
            interval=self._axis.held,
            measured=self._measured.held if self._over.value == "latency" else None,
            over=self._parameter,
        )

    @property
    def result(self) -> LatencySensitivity | None:
        """The analysis of the chosen program; None before the first."""
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
        chosen = ProgramVariant(self._programs.source, self._programs.algorithms)
        self._kept.take([*(one for one in self._kept.variants if one.key != chosen.key), chosen])

    def clear(self) -> None:
        """Remove the kept programs from the figure."""
        self._kept.take([])

    def save(self, path: str | Path) -> Path:
        """Write ``.csv`` (the pieces of the curves) or ``.json`` (tolerances and all else).

        Args:
            path: file to write.

        Raises:
            ParameterError: the suffix is neither, or nothing has been analysed yet.
        """
        return write_file(path, FILES, self._details.file)

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
        own = [self._percent.error, self._axis.error, self._measured.error]
        return [*super()._errors(), *own, *self._details.errors]

    def _jobs(self) -> list[tasks.Job[Any] | None]:
        return [self._work.job, self._pointing, self._comparing]

    def _sources(self) -> list[ProgramSource]:
        return [self._programs.source, *(one.source for one in self._kept.variants)]

    def _own_files(self) -> OwnFiles:
        return {**super()._own_files(), "measured": self._measured.own_files()}

    def _take_own_files(self, use: str, name: str, files: Files) -> None:
        if use == "measured":
            self._measured.take_own(name, files)
        else:
            super()._take_own_files(use, name, files)

    def _lay_out(self) -> Any:
        programs, loggps, work = self._programs, self._loggps, self._work
        keep = push_button(
            "+ Keep it", "Keep this program in the figure and choose another one", width="96px"
        )
        keep.on_click(lambda _: programs.error.guard(self.keep))
        self._more = Fold("More programs", self._family, programs.upload)
        self._runs = Fold("Measured run times", self._measured.widget)
        settings = [
            group(
                programs.program,
                programs.below,
                wrapping_row(keep, self._kept.widget),
            ),
            group(loggps.list, loggps.sliders("LogGOS"), loggps.error),
            group(
                self._over,
                self._percent,
                self._percent.error,
                self._axis,
                self._axis.error,
                self._follow,
            ),
            self._more,
            self._runs,
        ]
        work.stop_button.on_click(lambda _: self.stop())
        actions = wrapping_row(work.start, work.stop_button, work.state)
        return self._boxed([columns(settings, [actions, self._place]), self._details.widget])

    def _take_programs(self, names: Sequence[str | AnyProgram]) -> None:
        if not names:
            raise ParameterError("at least one program must be given; got none", key="programs")
        first, *others = [source_of(name) for name in names]
        self._kept.take([ProgramVariant(source) for source in others])
        self._programs.take_source(first)

    def _take_interval(self, ends: Sequence[float] | None) -> None:
        self._axis.take(None if ends is None else check_interval((ends[0], ends[-1])))

    def _program_changed(self) -> None:
        name = self._programs.source.name
        if name != self._family_of:
            # Another program has another family.
            self._family_of = name
            self._mute.set(self._family, ALONE, ONE_PROGRAM)
        self._changed()

    def _family_changed(self) -> None:
        if not self._mute.on:
            self._more.unfold()
            self._changed()

    def _measured_changed(self) -> None:
        if self._measured.held is not None:
            self._runs.unfold()
        self._changed()

    def _offer(self, program: AnyProgram) -> None:
        super()._offer(program)
        offered = families_of(self._programs.source, program)
        if list(self._family.options) != offered:
            held, known = self._family.value, [value for _, value in offered]
            self._mute.set(self._family, held if held in known else ALONE, offered)

    @drawn_once
    def _changed(self) -> None:
        if not self._ready:
            return
        over_latency = self._over.value == "latency"
        self._axis.layout.display = self._runs.layout.display = None if over_latency else "none"
        if self._shown is not None and self._parameter != self._shown.state.over:
            self._probe = None  # it was of the other parameter
        self._begin(_AT_ONCE_S if self._analyser.quick(self.state) else 0.0)

    def _submit(self) -> tuple[tasks.Job[Analysed], Callable[[], tuple[float, str]]]:
        self._pointing = self._comparing = None
        state = self.state
        job = tasks.submit(self._analyser.work, state)
        return job, lambda: progress_of(job)

    def _program(self) -> AnyProgram | None:
        return self._analyser.program(self.state.own_variant)

    def _show(self, shown: Analysed) -> None:
        if self._view is None:
            self._view = ToleranceView(shown, self._pointed)
            self._place.children = [self._view.widget]
        low, high = shown.curve.interval
        if self._probe is not None and not low <= self._probe <= high:
            self._probe = None
        self._view.show(shown, self._probed())
        self._measured.error.say(shown.measured_error)
        self._comparing = tasks.submit(self._analyser.compare, shown)
        self._point()
        # The diagram, the last of the figures, does not wait until the page has laid out a table.
        self._view.say(shown)
        self._details.draw()

    def _pointed(self, at_ns: float, stays: bool) -> None:
        """Show the replay at a latency or gap in ns that the user points at; a click fixes it."""
        if stays:
            self._follow.value = False
        elif not self._follow.value or (self._shown and many_operations(self._shown)):
            return
        digits = 3 if self._parameter.whole_ps else 9
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
        if self._probe is not None:
            return self._probe
        return float(getattr(self._loggps.model, self._parameter.letter))

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
            drawn = self._view.show_diagram(self._diagram, self._parameter.symbol, self._probed())
            self._details.offer_files(self._view.downloads, drawn)
        elif not isinstance(job.exception, (SimulationHalted, tasks.JobError, type(None))):
            self._say(job.exception)

    def _take_comparison(self) -> None:
        job = self._comparing
        if job is None or not job.finished:
            return
        self._comparing = None
        if self._shown is None or self._view is None:
            return
        if job.exception is None:
            self._shown = with_contention(self._shown, job.result())
            self._view.warn(self._shown)
            self._details.draw()
