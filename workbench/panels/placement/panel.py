"""The panel that places a program's ranks: which pairs matter, and which hosts suit them.

What a button does is a method of the same name, and what a control holds is an attribute:

    panel = PlacementPanel("cg-8")             # or a Program, an ExecutionGraph, nothing at all
    panel.topology = "fat-tree:4"; panel.l_wire_ns = 500
    panel.placement = "block"                  # whose pairs are shown
    panel.wait(); panel.comparison
    panel.placements["search"].hosts
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from workbench import tasks
from workbench.errors import ParameterError
from workbench.panels import inputs
from workbench.panels.error_line import ErrorLine
from workbench.panels.export_tab import ExportTab
from workbench.panels.job_controls import AT_ONCE_S, FIRST_S
from workbench.panels.live_view import LiveView
from workbench.panels.placement.controls import PlacementControls, ProgramControls
from workbench.panels.placement.files import FILES
from workbench.panels.placement.state import Effort, Network, Placed, PlacementState, python_lines
from workbench.panels.placement.view import PlacementView, table_html
from workbench.panels.placement.work import Placer
from workbench.panels.program_panel import ProgramPanel
from workbench.panels.program_sources import AnyProgram, source_of
from workbench.panels.replay.controls import SAVED, parameters_of
from workbench.panels.replay.state import ReplayState
from workbench.panels.session.stateful import drawn_once
from workbench.panels.style import choose, wrapping_row
from workbench.placement import Placement, PlacementMethod
from workbench.programs import ExecutionGraph, Program
from workbench.tolerance.pairs import PairSensitivity

if TYPE_CHECKING:
    import pandas as pd

FIRST = "cg-8"
"""The default recorded program."""

FIRST_MACHINE = "azure-hb96v3-hdr"
"""The default machine."""

_NETWORK = tuple(one.name for one in fields(Network))
_EFFORT = tuple(one.name for one in fields(Effort))
_LISTS = ("hosts", "host_names")
_SHOWN = ("placement", "value")
_SETTINGS = (*("program", "machine", "model", "algorithms", *_SHOWN, *_NETWORK, *_EFFORT),)
_MAP = "map"
_TABLE, _PYTHON, _EXPORT = "Table", "Python", "Export"


class PlacementPanel(ProgramPanel["pd.DataFrame | None", Placed]):
    """Find hosts for a program's ranks on a network, by every method, and compare them.

    Args:
        program: the name of a shipped program, a generator's name, a program or a graph; None
            takes a recorded one.
        topology: as ``workbench.topology.parse_topology`` takes it; None takes a small dragonfly.
        machine: a name or a file, which gives o, G and S; ``loggopsim`` for LogGOPSim's defaults.

    Raises:
        DatasetError: there is no such program, or no such machine.
        ParameterError: the topology is not accepted.
    """

    SETTINGS = _SETTINGS

    _START = ("▶ Place", "Place the ranks again, in the background", "88px")
    _STOP = "Stop the search and keep the results so far"
    _KEPT = "the figures show the earlier results"

    def __init__(
        self,
        program: str | Program | ExecutionGraph | None = None,
        *,
        topology: str | None = None,
        machine: str = FIRST_MACHINE,
    ) -> None:
        super().__init__()
        self._placer = Placer()
        self._view: PlacementView | None = None
        self._exports: dict[str, ExportTab] = {}
        base = ReplayState(source_of(program, FIRST), **parameters_of(machine))
        network = Network() if topology is None else Network(topology)
        first = PlacementState(base, network)
        self._controls: PlacementControls = PlacementControls(first, self._changed)
        self._place = widgets.VBox(layout=widgets.Layout(width="100%"))
        self._table = widgets.HTML()
        self._python = inputs.Textarea(rows=13, layout=widgets.Layout(width="98%", height="auto"))
        self._tabs = inputs.Tab(layout=widgets.Layout(width="99%"))
        self.widget = self._lay_out()
        self._begin(FIRST_S)

    @property
    def state(self) -> PlacementState:
        """The state of the controls."""
        return self._controls.state

    @property
    def placements(self) -> Mapping[PlacementMethod, Placement]:
        """The placements found so far, by method."""
        return MappingProxyType({} if self._shown is None else dict(self._shown.placements))

    @property
    def comparison(self) -> pd.DataFrame | None:
        """A row for each placement; None before the first is found."""
        return None if self._shown is None else self._shown.frame

    @property
    def pairs(self) -> PairSensitivity | None:
        """The displayed sensitivities of pairs of ranks; None before the first placement."""
        return None if self._shown is None else self._shown.pairs_of(self._method())

    @property
    def controls(self) -> Mapping[str, Any]:
        """The controls of the settings, by name."""
        shown = {} if self._view is None else self._view.controls
        return {**self._controls.by_name, **shown}

    @property
    def python(self) -> str:
        """Python code for ``found``, ``comparison`` and ``pairs`` as displayed."""
        placed = self._shown
        if placed is None:
            return ""
        return python_lines(placed.state, placed.program, self._method())

    def save(self, path: str | Path, what: str = "placement") -> Path:
        """Write ``.csv`` of the comparison, the pairs or the placement, or a placement's file.

        A placement can be written as ``.json``, as Open MPI's ``.rankfile`` and as ``.hostfile``
        for MPICH and Slurm, with the hosts' names that ``host_names`` holds.

        Args:
            path: file to write.
            what: ``comparison``, ``pairs`` or ``placement``.

        Raises:
            ParameterError: there is no such file, or nothing has been found yet.
        """
        target = Path(path)
        if target.suffix not in FILES.get(what, {}):
            known = ", ".join(f"{name} as {' or '.join(files)}" for name, files in FILES.items())
            raise ParameterError(f"one can save {known}; got {what} as {target.name!r}", key="path")
        target.write_text(self._file(what, target.suffix)[1], encoding="utf-8")
        return target

    def __repr__(self) -> str:
        network = self.state.network.topology
        found = ", ".join(self.placements) or "no placement yet"
        return f"PlacementPanel({self.state.base.source.name} on {network}: {found})"

    def _live_views(self) -> tuple[LiveView, ...]:
        return () if self._view is None else tuple(self._view.views)

    def _outcome(self) -> pd.DataFrame | None:
        return self.comparison

    def _errors(self) -> list[ErrorLine]:
        return [*self._controls.errors, *(tab.error for tab in self._exports.values())]

    def _get(self, name: str) -> Any:
        state = self.state
        if name in _NETWORK:
            return getattr(state.network, name)
        if name in _EFFORT:
            return getattr(state.effort, name)
        if name in _SHOWN:
            return self._shown_view().controls[name].value
        return self._controls.programs.get(name)

    def _set(self, name: str, value: Any) -> None:
        controls = self._controls
        if name in _NETWORK:
            if name in _LISTS and not isinstance(value, str):
                value = " ".join(map(str, value))
            controls.take_network(replace(self.state.network, **{name: value}))
        elif name in _EFFORT:
            choose(getattr(controls, name), name, value)
        elif name in _SHOWN:
            choose(self._shown_view().controls[name], name, value)
        else:
            controls.programs.set(name, value)

    def _saved_names(self) -> tuple[str, ...]:
        programs = (name for name in SAVED if name != "semantics")
        shown = () if self._view is None else _SHOWN
        return (*programs, *_NETWORK, *_EFFORT, *shown)

    def _late_names(self, settings: Mapping[str, Any]) -> tuple[str, ...]:
        return _SHOWN

    def _lay_out(self) -> Any:
        bar = wrapping_row(
            self._work.start,
            self._work.stop_button,
            *self._controls.effort,
            self._work.state,
        )
        return self._boxed([self._controls.widget, bar, self._place])

    @drawn_once
    def _changed(self, state: PlacementState) -> None:
        """Place the ranks with the present controls; a quick result is drawn at once."""
        self._begin(AT_ONCE_S)

    @property
    def _programs(self) -> ProgramControls:
        return self._controls.programs

    def _submit(self) -> tuple[tasks.Job[Placed], Callable[[], tuple[float, str]]]:
        state = self._controls.state
        job = tasks.submit(self._placer.work, state)
        return job, lambda: self._placer.how_far(job, state)

    def _program(self) -> AnyProgram | None:
        return self._placer.program(self._controls.state)

    def _show(self, shown: Placed) -> None:
        self._draw()

    def _refuse(self, error: BaseException) -> None:
        super()._refuse(error)
        self._draw()  # the sentence must not say that a search goes on

    @drawn_once
    def _draw(self) -> None:
        placed = self._shown
        if placed is None:
            return
        if self._view is None:
            self._view = PlacementView(placed, self._draw)
            self._place.children = [self._view.widget, self._make_tabs(self._view)]
        self._view.show(placed, running=self.running)
        self._table.value = table_html(placed)
        self._python.value = self.python

    def _make_tabs(self, view: PlacementView) -> Any:
        pictures = {
            "comparison": {"figures": (view.downloads, lambda: self._stem("comparison"))},
            "pairs": {"figures": (view.downloads, lambda: self._stem("pairs"))},
            "placement": {_MAP: (view.map_downloads, lambda: self._stem("placement"))},
        }
        titles = {
            "comparison": "The comparison",
            "pairs": "The pairs of ranks that are shown",
            "placement": "The placement that is shown",
        }
        shown: list[Any] = []
        for what, files in FILES.items():
            about = {suffix: text for suffix, (_, text) in files.items()}
            self._exports[what] = ExportTab(
                about, partial(self._file, what), pictures[what], self._origin
            )
            shown += [widgets.HTML(f"<b>{titles[what]}</b>"), self._exports[what].widget]
        self._tabs.children = [self._table, self._python, widgets.VBox(shown)]
        self._tabs.titles = (_TABLE, _PYTHON, _EXPORT)
        self._tabs.selected_index = 0
        return self._tabs

    def _shown_view(self) -> PlacementView:
        if self._view is None:
            raise ParameterError("no placement has been found yet", key="placement")
        return self._view

    def _method(self) -> PlacementMethod:
        placed = self._shown
        if placed is None:
            raise ParameterError("no placement has been found yet", key="placement")
        return placed.best if self._view is None else placed.chosen(self._view.method.value)

    def _file(self, what: str, suffix: str) -> tuple[str, str]:
        if self._shown is None:
            raise ParameterError("no placement has been found yet", key="path")
        return self._stem(what), FILES[what][suffix][0](
            self._shown, self._method(), self.state.network.host_names
        )

    def _origin(self, drawn: str) -> str:
        """Return the provenance and the placement of a picture."""
        placed, method = self._shown, self._method()
        if placed is None:
            raise ParameterError("no placement has been found yet", key="path")
        shown = "Ranks" if drawn == _MAP else "Pairs of ranks"
        return f"{placed.placements[method].provenance.caption()}. {shown} as placed by {method}."

    def _stem(self, what: str) -> str:
        return f"{self.state.base.source.name}-{what}"
