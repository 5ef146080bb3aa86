"""The controls of the placement panel: program and parameters, network, and how much to try."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import ipywidgets as widgets

from workbench import programs
from workbench.errors import ParameterError
from workbench.panels.controls import ErrorLine
from workbench.panels.look import named, wrapping_row
from workbench.panels.placement_state import Effort, Network, PlacementState, fitting
from workbench.panels.replay_controls import ReplayControls
from workbench.panels.replay_state import ReplayState
from workbench.panels.running import worded
from workbench.sensitivity.placement.problem import MOST_SLOTS
from workbench.topology import FAMILIES, WIRINGS, Topology, parse_topology

_FAMILY_NAMES = (("fat tree", "fat-tree"), ("dragonfly", "dragonfly"))
_LETTERS = {
    "k": ("k: ports of a switch", 4),
    "g": ("g: groups", 3),
    "a": ("a: routers each", 2),
    "p": ("p: hosts each", 2),
    "h": ("h: ports, 0 fewest", 0),
}
_MOST = 4096
_NETWORK_KEYS = (*_LETTERS, "topology", "wiring", "hosts", "ranks_per_host", "links")
_LATENCY_KEYS = ("l_wire_s", "d_switch_s", "same_host_s")


class ProgramControls(ReplayControls):
    """Program and parameters as in the replay panel, without what a topology takes the place of.

    Args:
        first: what is shown first.
        changed: called with the state when a user has changed it.
    """

    def __init__(self, first: ReplayState, changed: Callable[[ReplayState], None]) -> None:
        super().__init__(replace(first, semantics="llamp"), changed)
        rows = [self.sliders.rows[name].widget for name in ("o", "G", "S")]
        for one in rows:
            one.layout = widgets.Layout(flex="1 1 300px", width="auto", margin="0 14px 0 0")
        for name in ("o", "G", "S"):
            self.sliders.rows[name].slider.style = {"description_width": "104px"}
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
        """Return how many ranks the chosen program has, None where that is not known yet."""
        name = self.state.source.name
        if self._fields is not None:
            held = self._fields.arguments.get("ranks")
            return None if held is None else int(held)
        if self.state.source.serial:
            made = self.state.source.make()
            return made.num_ranks
        return programs.list()[name].ranks


class NetworkControls:
    """The topology and its latencies.

    Args:
        first: what is shown first.
        changed: called with the network when a user has changed it.
    """

    def __init__(self, first: Network, changed: Callable[[Network], None]) -> None:
        self.network = first
        self._changed = changed
        self._silent = False
        self.error = ErrorLine()
        self.family: Any = widgets.Dropdown(options=_FAMILY_NAMES, **named("Network", "180px"))
        self.letters: dict[str, Any] = {
            letter: widgets.BoundedIntText(
                value=start,
                min={"h": 0, "k": 2}.get(letter, 1),
                max=_MOST,
                step=2 if letter == "k" else 1,
                **named(words, f"{int(6.4 * len(words)) + 68}px"),
            )
            for letter, (words, start) in _LETTERS.items()
        }
        self.wiring: Any = widgets.Dropdown(options=WIRINGS, **named("wiring", "160px"))
        self.l_wire_ns = _nanoseconds("wire (ns)", first.l_wire_ns)
        self.d_switch_ns = _nanoseconds("switch (ns)", first.d_switch_ns)
        self.same_host_ns = _nanoseconds("same host (ns)", first.same_host_ns)
        self.ranks_per_host: Any = widgets.BoundedIntText(
            value=first.ranks_per_host, min=1, max=_MOST, **named("ranks a host", "170px")
        )
        self.shape = wrapping_row()
        self.latencies = self.l_wire_ns, self.d_switch_ns, self.same_host_ns, self.ranks_per_host
        self._size = widgets.HTML()
        self.show(first)
        for control in (self.family, self.wiring, *self.letters.values()):
            control.observe(lambda _: self._shaped(), "value")
        for name in ("l_wire_ns", "d_switch_ns", "same_host_ns", "ranks_per_host"):
            getattr(self, name).observe(
                lambda change, name=name: self._take(**{name: change["new"]}), "value"
            )

    def show(self, network: Network) -> None:
        """Show another network without calling back.

        Args:
            network: with a topology that `parse_topology` accepts.

        Raises:
            ParameterError: the topology is not accepted.
        """
        made = parse_topology(network.topology)
        families = [word for _, word in _FAMILY_NAMES]
        if made.family not in families or made.parameters.keys() - self.letters.keys() - {"wiring"}:
            raise ParameterError(
                f"a topology must be one of {', '.join(families)} to have controls here, with "
                f"{', '.join(self.letters)} and wiring; got {network.topology!r}: use "
                "workbench.sensitivity.placement.place_all for others",
                key="topology",
            )
        family = made.family
        self.network = network
        self._silent = True
        try:
            self.family.value = family
            for letter, value in made.parameters.items():
                if letter == "wiring":
                    self.wiring.value = value
                elif letter == "h" and f"{letter}=" not in network.topology:
                    self.letters[letter].value = 0
                else:
                    self.letters[letter].value = int(value)
            for one in fields(Network):
                if one.name != "topology":
                    getattr(self, one.name).value = getattr(network, one.name)
        finally:
            self._silent = False
        self._lay_out(made)

    def _shaped(self) -> None:
        if self._silent:
            return
        family = self.family.value
        held = {
            letter: self.letters[letter].value
            for letter in FAMILIES[family][1]
            if not (letter == "h" and self.letters[letter].value == 0)
        }
        if family == "dragonfly" and self.wiring.value != WIRINGS[0]:
            held["wiring"] = self.wiring.value
        words = ",".join(f"{letter}={value}" for letter, value in held.items())
        try:
            made = parse_topology(f"{family}:{words}")
        except ParameterError as error:
            self._lay_out(None)
            self.error.say(worded(error))
            return
        self._lay_out(made)
        self._take(topology=f"{family}:{words}")

    def _take(self, **changes: Any) -> None:
        if not self._silent:
            self.error.say("")
            self.network = replace(self.network, **changes)
            self._changed(self.network)

    def _lay_out(self, made: Topology | None) -> None:
        shown = [self.letters[letter] for letter in FAMILIES[self.family.value][1]]
        if "wiring" in inspect.signature(FAMILIES[self.family.value][0]).parameters:
            shown.append(self.wiring)
        self.shape.children = [self.family, *shown, self._size]
        said = "" if made is None else f"{made.num_hosts:,} hosts"
        self._size.value = f'<span style="font-size:12px;color:#555">{said}</span>'


class PlacementControls:
    """All controls, and the state that they hold.

    Args:
        first: what is shown first.
        changed: called with the state when a user has changed it.
    """

    def __init__(self, first: PlacementState, changed: Callable[[PlacementState], None]) -> None:
        self._changed = changed
        self.programs = ProgramControls(first.base, self._program_changed)
        self.network = NetworkControls(first.network, lambda _: self._tell())
        effort = first.effort
        self.evaluations: Any = widgets.BoundedIntText(
            value=effort.evaluations,
            min=0,
            max=10_000_000,
            step=500,
            **named("search tries", "180px"),
        )
        self.seconds: Any = widgets.BoundedFloatText(
            value=effort.seconds,
            min=0.05,
            max=86_400,
            step=5,
            **named("for at most (s)", "180px"),
        )
        self.seed: Any = widgets.BoundedIntText(
            value=effort.seed, min=0, max=2**31 - 1, **named("seed", "110px")
        )
        for control in (self.evaluations, self.seconds, self.seed):
            control.observe(lambda _: self._tell(), "value")
        self.widget = widgets.VBox(
            [
                self.programs.program_box,
                self.network.shape,
                wrapping_row(*self.network.latencies, self.programs.machine),
                self.network.error,
                self.programs.model_box,
            ]
        )
        self.effort_box = wrapping_row(self.evaluations, self.seconds, self.seed)
        self._source = first.base.source

    @property
    def state(self) -> PlacementState:
        """What the controls hold."""
        effort = Effort(self.evaluations.value, self.seconds.value, self.seed.value)
        return PlacementState(self.programs.state, self.network.network, effort)

    @property
    def errors(self) -> tuple[str, ...]:
        """What the controls say is wrong."""
        return *self.programs.errors, self.network.error.message

    def say(self, error: BaseException) -> None:
        """Say what is wrong beside what it is about.

        Args:
            error: of a placement, or of what came before it.
        """
        if getattr(error, "key", "") in (*_NETWORK_KEYS, *_LATENCY_KEYS):
            self.network.error.say(worded(error))
        else:
            self.programs.say(error)

    def clear_errors(self) -> None:
        """Say that nothing is wrong."""
        self.programs.clear_errors()
        self.network.error.say("")

    def take_network(self, network: Network) -> None:
        """Set the network.

        Args:
            network: its topology as `parse_topology` takes it.

        Raises:
            ParameterError: the topology is not accepted.
        """
        self.network.show(network)
        self.network.error.say("")
        self._tell()

    def _program_changed(self, state: ReplayState) -> None:
        if state.source != self._source:
            self._source = state.source
            self._make_room()
        self._tell()

    def _make_room(self) -> None:
        """Take a larger network where another program would not fit the one at hand."""
        ranks, network = self.programs.ranks(), self.network.network
        # What no network here could hold is refused in words when it is placed.
        if ranks is not None and ranks <= MOST_SLOTS:
            topology = fitting(network.topology, ranks, network.ranks_per_host)
            if topology != network.topology:
                self.network.show(replace(network, topology=topology))

    def _tell(self) -> None:
        self._changed(self.state)


def _nanoseconds(words: str, value: float) -> Any:
    return widgets.BoundedFloatText(
        value=value, min=0.0, max=1e9, step=10, **named(words, f"{7 * len(words) + 92}px")
    )
