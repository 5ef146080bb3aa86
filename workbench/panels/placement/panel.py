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
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from workbench import machines, tasks
from workbench.errors import ParameterError
from workbench.panels import inputs
from workbench.panels.error_line import ErrorLine
from workbench.panels.export_tab import ExportTab
from workbench.panels.job_controls import AT_ONCE_S, FIRST_S, error_text
from workbench.panels.live_view import LiveView
from workbench.panels.number_field import NumberField, errors_of
from workbench.panels.placement.files import FILES
from workbench.panels.placement.network import NetworkControls
from workbench.panels.placement.state import Effort, Network, Placed, PlacementState, python_lines
from workbench.panels.placement.view import PlacementView, table_html
from workbench.panels.placement.work import Placer
from workbench.panels.program_panel import ProgramPanel
from workbench.panels.program_sources import AnyProgram, source_of
from workbench.panels.replay.state import ReplayState
from workbench.panels.session.stateful import drawn_once
from workbench.panels.settings import Setting
from workbench.panels.style import named, wrapping_row
from workbench.placement import Placement, PlacementMethod
from workbench.programs import ExecutionGraph, Program
from workbench.tolerance.pairs import PairSensitivity

if TYPE_CHECKING:
    import pandas as pd

FIRST = "cg-8"
"""The default recorded program."""

FIRST_MACHINE = "azure-hb96v3-hdr"
"""The default machine."""

_NETWORK_KEYS = (
    *("topology", "hosts", "links", "ranks_per_host", "placement", "names"),
    *("l_wire_s", "d_switch_s", "same_host_s"),
)
"""Keys of errors that belong to the network."""

_NO_MATTER = ("L_us", "g_us", "O_ns")
"""Parameters that the network gives, or that a placement does not depend on."""

_SHOWN = ("placement", "value")
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
        super().__init__(source_of(program, FIRST), machine)
        self._placer = Placer()
        self._view: PlacementView | None = None
        self._exports: dict[str, ExportTab] = {}
        network = Network() if topology is None else Network(topology)
        self._network = NetworkControls(
            network, lambda _: self._changed(), lambda: self._programs.ranks
        )
        first = Effort()
        self._effort: dict[str, Any] = {
            "evaluations": NumberField(
                first.evaluations, 0, 10_000_000, step=500, **named("search tries", "180px")
            ),
            "seconds": NumberField(
                float(first.seconds), 0.05, 86_400, step=5, **named("time limit (s)", "180px")
            ),
            "seed": NumberField(first.seed, 0, 2**31 - 1, **named("seed", "110px")),
        }
        for field in self._effort.values():
            field.observe(lambda _: self._changed(), "value")
        self._source, self._machine = self._programs.source, self._loggps.machine
        self._place = widgets.VBox(layout=widgets.Layout(width="100%"))
        self._table = widgets.HTML()
        self._python = inputs.Textarea(rows=13, layout=widgets.Layout(width="98%", height="auto"))
        self._tabs = inputs.Tab(layout=widgets.Layout(width="99%"))
        self.widget = self._lay_out()
        self._begin(FIRST_S)

    @property
    def state(self) -> PlacementState:
        """The state of the controls."""
        programs, loggps = self._programs, self._loggps
        base = ReplayState(
            programs.source, loggps.model, programs.algorithms, "llamp", loggps.machine
        )
        effort = {name: field.value for name, field in self._effort.items()}
        return PlacementState(base, self._network.network, Effort(**effort))

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
        return {**super().controls, **self._network.by_name}

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
        exports = [tab.error for tab in self._exports.values()]
        effort = errors_of(self._effort.values())
        return [*super()._errors(), *self._network.errors, *effort, *exports]

    def _all_settings(self) -> Mapping[str, Setting]:
        base = {
            name: one for name, one in super()._all_settings().items() if name not in _NO_MATTER
        }
        effort = {name: Setting(field) for name, field in self._effort.items()}
        shown = {name: self._shown_setting(name) for name in _SHOWN}
        return {**base, **self._network.settings, **effort, **shown}

    def _shown_setting(self, name: str) -> Setting:
        """Return the setting of what is shown, which raises until there is something."""
        if self._view is None:
            return Setting(get=self._shown_view, take=self._shown_view, session="no")
        return Setting(self._view.controls[name], session="after jobs")

    def _late_names(self, settings: Mapping[str, Any]) -> tuple[str, ...]:
        return _SHOWN  # also before there is something to show

    def _lay_out(self) -> Any:
        programs, network, loggps = self._programs, self._network, self._loggps
        settings = [
            wrapping_row(programs.program, programs.upload),
            programs.below,
            network.shape,
            wrapping_row(network.hosts, network.host_names),
            network.error,
            wrapping_row(*network.latencies, loggps.list),
            loggps.sliders("o", "G", "S", least=300),
            loggps.error,
        ]
        bar = wrapping_row(
            self._work.start,
            self._work.stop_button,
            *self._effort.values(),
            self._work.state,
        )
        return self._boxed([*settings, bar, self._place])

    @drawn_once
    def _changed(self) -> None:
        self._begin(AT_ONCE_S)

    def _program_changed(self) -> None:
        if self._programs.source != self._source:
            self._source = self._programs.source
            self._network.make_room()
        self._changed()

    def _model_changed(self) -> None:
        machine = self._loggps.machine
        if machine and machine != self._machine:
            self._network.show(self._network.network.of_machine(machines.load(machine)))
            self._network.make_room()
        self._machine = machine
        self._changed()

    def _say(self, error: BaseException) -> None:
        if getattr(error, "key", "") in _NETWORK_KEYS:
            self._network.error.say(error_text(error))
        else:
            super()._say(error)

    def _clear_errors(self) -> None:
        super()._clear_errors()
        self._network.error.say("")

    def _submit(self) -> tuple[tasks.Job[Placed], Callable[[], tuple[float, str]]]:
        state = self.state
        job = tasks.submit(self._placer.work, state)
        return job, lambda: self._placer.how_far(job, state)

    def _program(self) -> AnyProgram | None:
        return self._placer.program(self.state)

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

    def _shown_view(self, *_: object) -> PlacementView:
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
