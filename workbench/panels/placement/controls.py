"""The controls of the placement panel: program and parameters, network, search limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import ipywidgets as widgets

from workbench import machines, programs
from workbench.panels.error_line import ErrorLine
from workbench.panels.job_controls import error_text
from workbench.panels.number_field import NumberField, errors_of
from workbench.panels.placement.network import NetworkControls
from workbench.panels.placement.state import Effort, Network, PlacementState
from workbench.panels.replay.controls import ReplayControls
from workbench.panels.replay.state import ReplayState
from workbench.panels.style import named, wrapping_row

_NETWORK_KEYS = ("topology", "hosts", "links", "ranks_per_host", "placement", "names")
_LATENCY_KEYS = ("l_wire_s", "d_switch_s", "same_host_s")


class ProgramControls(ReplayControls):
    """The replay panel's controls of the program and of o, G and S; the network gives L."""

    def __init__(self, first: ReplayState, changed: Callable[[ReplayState], None]) -> None:
        super().__init__(replace(first, semantics="llamp"), changed)
        rows = [self.sliders.rows[name].widget for name in ("o", "G", "S")]
        for one in rows:
            one.layout = widgets.Layout(flex="1 1 300px", width="auto", margin="0 14px 0 0")
        for name in ("o", "G", "S"):
            self.sliders.rows[name].input.style = {"description_width": "104px"}
        self.program_box = widgets.VBox(
            [
                wrapping_row(self.program, self.upload),
                self._generator,
                self._collectives,
                self.program_error,
            ]
        )
        self.model_box = widgets.VBox(
            [
                widgets.HBox(rows, layout=widgets.Layout(flex_flow="row wrap", width="100%")),
                self.model_error,
            ]
        )

    def ranks(self) -> int | None:
        """Return the number of ranks of the chosen program; None if unknown."""
        name = self.state.source.name
        if self._fields is not None:
            held = self._fields.arguments.get("ranks")
            return None if held is None else int(held)
        if self.state.source.serial:
            made = self.state.source.make()
            return made.num_ranks
        return programs.list()[name].ranks


class PlacementControls:
    """All controls; ``changed`` gets the state after a user's change."""

    def __init__(self, first: PlacementState, changed: Callable[[PlacementState], None]) -> None:
        self._changed = changed
        self.programs = ProgramControls(first.base, self._program_changed)
        self.network = NetworkControls(first.network, lambda _: self._tell(), self.programs.ranks)
        effort = first.effort
        self.evaluations: Any = NumberField(
            effort.evaluations, 0, 10_000_000, step=500, **named("search tries", "180px")
        )
        self.seconds: Any = NumberField(
            float(effort.seconds), 0.05, 86_400, step=5, **named("time limit (s)", "180px")
        )
        self.seed: Any = NumberField(effort.seed, 0, 2**31 - 1, **named("seed", "110px"))
        self.effort = (self.evaluations, self.seconds, self.seed)
        for control in self.effort:
            control.observe(lambda _: self._tell(), "value")
        self.widget = widgets.VBox(
            [
                self.programs.program_box,
                self.network.shape,
                wrapping_row(self.network.hosts, self.network.host_names),
                self.network.error,
                wrapping_row(*self.network.latencies, self.programs.machine),
                self.programs.model_box,
            ]
        )
        self._source, self._machine = first.base.source, first.base.machine

    @property
    def state(self) -> PlacementState:
        """The state of the controls."""
        effort = Effort(self.evaluations.value, self.seconds.value, self.seed.value)
        return PlacementState(self.programs.state, self.network.network, effort)

    @property
    def errors(self) -> list[ErrorLine]:
        """The error lines of the controls."""
        return [*self.programs.errors, *self.network.errors, *errors_of(self.effort)]

    @property
    def by_name(self) -> dict[str, Any]:
        """The controls by the names of settings; an algorithm's by its operation."""
        effort = {"evaluations": self.evaluations, "seconds": self.seconds, "seed": self.seed}
        return {**self.programs.by_name, **self.network.by_name, **effort}

    def say(self, error: BaseException) -> None:
        """Show an error at the network if its key names that, else at the program."""
        if getattr(error, "key", "") in (*_NETWORK_KEYS, *_LATENCY_KEYS):
            self.network.error.say(error_text(error))
        else:
            self.programs.say(error)

    def clear_errors(self) -> None:
        """Remove the error messages of program and network."""
        self.programs.clear_errors()
        self.network.error.say("")

    def take_network(self, network: Network) -> None:
        """Set the network."""
        self.network.show(network)
        self.network.error.say("")
        for field in self.network.latencies:
            field.forget()
        self._tell()

    def _program_changed(self, state: ReplayState) -> None:
        if state.machine and state.machine != self._machine:
            self.network.show(self.network.network.of_machine(machines.load(state.machine)))
            self.network.make_room()
        self._machine = state.machine
        if state.source != self._source:
            self._source = state.source
            self.network.make_room()
        self._tell()

    def _tell(self) -> None:
        self._changed(self.state)
