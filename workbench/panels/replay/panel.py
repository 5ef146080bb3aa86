"""The panel that replays a program: change its network or its collectives, and watch it run.

What a button does is a method of the same name, and what a slider holds is an attribute:

    panel = ReplayPanel("cg-8")                # or a Program, an ExecutionGraph, nothing at all
    panel.L_us = 5; panel.semantics = "llamp"
    panel.algorithms = {"allreduce": "ring"}
    panel.pin(); panel.machine = "azure-hb96v3-hdr"     # two settings side by side
    panel.result.breakdown()
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import ipywidgets as widgets

from workbench import tasks
from workbench.errors import ParameterError
from workbench.panels import inputs
from workbench.panels.error_line import ErrorLine
from workbench.panels.export_tab import ExportTab, write_file
from workbench.panels.job_controls import FIRST_S, progress_of
from workbench.panels.live_view import LiveView
from workbench.panels.program_panel import ProgramPanel
from workbench.panels.program_sources import AnyProgram, source_of
from workbench.panels.replay.files import FILES, notes_html
from workbench.panels.replay.state import ReplayState, ShownReplay, python_lines
from workbench.panels.replay.view import CommunicationView, ReplayView
from workbench.panels.replay.work import Replayer
from workbench.panels.session.stateful import drawn_once
from workbench.panels.settings import Setting
from workbench.panels.style import named, push_button, wrapping_row
from workbench.programs import ExecutionGraph, Program
from workbench.simulate.replay_result import ReplayResult

FIRST = "halo-8"
"""The default recorded program."""

FIRST_MACHINE = "azure-hb96v3-hdr"
"""The default machine."""

_COMMUNICATION, _PYTHON, _EXPORT, _NOTES = "Communication", "Python", "Export", "Notes"
_SEMANTICS = (
    ("LogGOPSim: CPUs and NICs are occupied", "loggopsim"),
    ("LLAMP: the graph alone", "llamp"),
)
_AT_ONCE_S = 0.15  # a replay of MANY_OPERATIONS takes 0.2 s on two busy cores


class ReplayPanel(ProgramPanel[ReplayResult | None, ShownReplay]):
    """Replay a program on LogGOPS and see where its time goes.

    Args:
        program: the name of a shipped program, a generator's name, a program or a graph; None
            takes a recorded one.
        machine: a name or a file; ``loggopsim`` for LogGOPSim's defaults.
        height: of the space-time diagram in pixels; None for what the ranks need.

    Raises:
        DatasetError: there is no such program, or no such machine.
    """

    _START = ("▶ Replay", "Replay again, in the background", "88px")
    _STOP = "Stop the replay and keep the last figures"
    _KEPT = "the figures show the last finished replay"

    def __init__(
        self,
        program: str | Program | ExecutionGraph | None = None,
        *,
        machine: str = FIRST_MACHINE,
        height: int | None = None,
    ) -> None:
        super().__init__(source_of(program, FIRST), machine)
        self._height = height
        self._replayer = Replayer()
        self._pinned: ShownReplay | None = None
        self._view: ReplayView | None = None
        self._export: ExportTab | None = None
        self._semantics: Any = inputs.Dropdown(options=_SEMANTICS, **named("Semantics", "380px"))
        self._pin = push_button("Pin as A", "Keep this replay, to compare the next one with it")
        self._unpin = push_button("Unpin", "Show one replay again")
        self._place = widgets.VBox(layout=widgets.Layout(width="100%"))
        self._communication = CommunicationView()
        self._python = inputs.Textarea(rows=5, layout=widgets.Layout(width="98%", height="auto"))
        self._notes = widgets.HTML(layout=widgets.Layout(max_height="260px", overflow="auto"))
        self._tabs = inputs.Tab(layout=widgets.Layout(width="99%"))
        self.widget = self._lay_out()
        self._connect()
        self._begin(FIRST_S)

    @property
    def state(self) -> ReplayState:
        """The state of the controls."""
        programs, loggps = self._programs, self._loggps
        return ReplayState(
            programs.source,
            loggps.model,
            programs.algorithms,
            self._semantics.value,
            loggps.machine,
        )

    @property
    def result(self) -> ReplayResult | None:
        """The displayed replay; None before the first is finished."""
        return None if self._shown is None else self._shown.result

    @property
    def graph(self) -> ExecutionGraph | None:
        """The displayed program as an execution graph."""
        return None if self._shown is None else self._shown.result.graph

    @property
    def pinned(self) -> ReplayResult | None:
        """The pinned replay, shown as A; None where there is none."""
        return None if self._pinned is None else self._pinned.result

    @property
    def python(self) -> str:
        """Python code that computes the displayed replay, as ``result``."""
        return "" if self._shown is None else python_lines(self._shown.state, self._shown.program)

    def pin(self) -> None:
        """Keep the present replay as A; the next one is shown beside it as B."""
        self._pinned = self._shown
        self._draw()

    def unpin(self) -> None:
        """Show one replay only."""
        self._pinned = None
        self._draw()

    def save(self, path: str | Path) -> Path:
        """Write ``.csv`` (operations), ``.json`` (ranks) or ``.goal`` (the program).

        Args:
            path: file to write.

        Raises:
            ParameterError: the suffix is none of these, or nothing has been replayed yet.
        """
        return write_file(path, FILES, self._file)

    def __repr__(self) -> str:
        return f"ReplayPanel({self.state.source.name}, {self.result!r})"

    def _live_views(self) -> tuple[LiveView, ...]:
        return () if self._view is None else (*self._view.views, *self._communication.views)

    def _outcome(self) -> ReplayResult | None:
        return self.result

    def _not_held(self) -> list[str]:
        pinned = [] if self._pinned is None else [f"the pinned replay ({self._pinned.title})"]
        return [*super()._not_held(), *(f"{one} is not in a session" for one in pinned)]

    def _errors(self) -> list[ErrorLine]:
        return [*super()._errors(), *([] if self._export is None else [self._export.error])]

    def _all_settings(self) -> Mapping[str, Setting]:
        semantics = Setting(self._semantics)
        return {**self._programs.settings, "semantics": semantics, **self._loggps.settings}

    def _lay_out(self) -> Any:
        bar = wrapping_row(
            self._work.start, self._work.stop_button, self._pin, self._unpin, self._work.state
        )
        programs, loggps = self._programs, self._loggps
        settings = [
            wrapping_row(programs.program, programs.upload),
            programs.below,
            wrapping_row(loggps.list, self._semantics),
            loggps.sliders("Log", "GOS"),
            loggps.error,
        ]
        return self._boxed([*settings, bar, self._place])

    def _connect(self) -> None:
        self._pin.on_click(lambda _: self.pin())
        self._unpin.on_click(lambda _: self.unpin())
        self._pin.disabled = self._unpin.disabled = True
        self._semantics.observe(lambda _: self._changed(), "value")
        self._tabs.observe(lambda _: self._draw_tab(), "selected_index")

    @drawn_once
    def _changed(self) -> None:
        self._begin(_AT_ONCE_S if self._replayer.quick(self.state) else 0.0)

    def _submit(self) -> tuple[tasks.Job[ShownReplay], Callable[[], tuple[float, str]]]:
        job = tasks.submit(self._replayer.work, self.state)
        return job, lambda: progress_of(job)

    def _program(self) -> AnyProgram | None:
        return self._replayer.program(self.state)

    def _show(self, shown: ShownReplay) -> None:
        self._draw()

    def _draw(self) -> None:
        shown = self._shown
        if shown is None:
            return
        if self._view is None:
            self._view = ReplayView(shown, height=self._height)
            self._place.children = [self._view.widget, self._make_tabs(self._view)]
        self._view.show(shown, self._pinned)
        self._pin.disabled, self._unpin.disabled = False, self._pinned is None
        self._draw_tab()

    def _make_tabs(self, view: ReplayView) -> Any:
        self._export = ExportTab(
            {suffix: about for suffix, (_, about) in FILES.items()},
            self._file,
            {
                "diagram": (view.downloads, lambda: f"{self._stem()}-spacetime"),
                "breakdown": (view.breakdown_downloads, lambda: f"{self._stem()}-breakdown"),
            },
        )
        self._tabs.children = [
            self._communication.widget,
            self._python,
            self._export.widget,
            self._notes,
        ]
        self._tabs.titles = (_COMMUNICATION, _PYTHON, _EXPORT, _NOTES)
        self._tabs.selected_index = 0
        return self._tabs

    def _draw_tab(self) -> None:
        """Draw the open tab only: hidden tabs would delay the slider's figure."""
        shown = self._shown
        if shown is None or not self._tabs.titles:
            return
        opened = self._tabs.titles[self._tabs.selected_index or 0]
        if opened == _COMMUNICATION:
            self._communication.show(shown.result.graph)
        elif opened == _PYTHON:
            self._python.value = self.python
        elif opened == _NOTES:
            self._notes.value = notes_html(shown)

    def _file(self, suffix: str) -> tuple[str, str]:
        if self._shown is None:
            raise ParameterError("nothing has been replayed yet", key="path")
        return self._stem(), FILES[suffix][0](self._shown)

    def _stem(self) -> str:
        return self.state.source.name
