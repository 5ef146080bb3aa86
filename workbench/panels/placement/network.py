"""The controls of the placement panel's network: any topology, and its latencies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import ipywidgets as widgets

from workbench.errors import ParameterError
from workbench.panels import inputs
from workbench.panels.error_line import ErrorLine
from workbench.panels.job_controls import error_text
from workbench.panels.mute import Mute
from workbench.panels.number_field import NumberField, errors_of
from workbench.panels.placement.family import FamilyFields
from workbench.panels.placement.state import Network, fitting, near_member
from workbench.panels.settings import Setting
from workbench.panels.style import named, with_errors, wrapping_row
from workbench.panels.topology_options import MACHINE, family_options, machine_options, near_sizes
from workbench.placement.problem import MOST_SLOTS
from workbench.plotting.theme import SMALL
from workbench.topology import FAMILIES, Topology

_LATENCIES = ("l_wire_ns", "d_switch_ns", "card_ns", "same_host_ns", "ranks_per_host")
_TEXTS = ("hosts", "host_names")
_FIRST_SHOWN = {"fat-tree": "fat-tree:k=4", "dragonfly": Network().topology}
_OTHER_SIZES = ("other sizes …", "")


class NetworkControls:
    """The controls of the topology and its latencies."""

    def __init__(
        self,
        first: Network,
        changed: Callable[[Network], None],
        ranks: Callable[[], int | None],  # number of ranks, None if unknown
    ) -> None:
        self.network = first
        self._changed, self._ranks = changed, ranks
        self._mute = Mute()
        self._families: dict[str, FamilyFields] = {}
        self._held: dict[str, str] = dict(_FIRST_SHOWN)
        self.error = ErrorLine()
        self.settings = {one.name: self._setting(one.name) for one in fields(Network)}
        self.family: Any = inputs.Dropdown(options=family_options(), **named("Network", "230px"))
        self.machine: Any = inputs.Dropdown(options=machine_options(), **named("machine", "280px"))
        self.sizes: Any = inputs.Dropdown(
            options=[_OTHER_SIZES],
            tooltip="Members of the family with about as many hosts",
            **named("", "170px"),
        )
        self.l_wire_ns = _nanoseconds("wire (ns)", first.l_wire_ns)
        self.d_switch_ns = _nanoseconds("switch (ns)", first.d_switch_ns)
        self.card_ns = _nanoseconds(
            "network card (ns)", first.card_ns, "Of a host, on top of the latency of its wire"
        )
        self.same_host_ns = _nanoseconds("same host (ns)", first.same_host_ns)
        self.ranks_per_host: Any = NumberField(
            first.ranks_per_host, 1, MOST_SLOTS, **named("ranks a host", "170px")
        )
        self.hosts: Any = inputs.Textarea(
            rows=1,
            placeholder="the first that the ranks need",
            tooltip="Hosts that may be used: the first N; those that a job got, as Slurm lists "
            "them, cn[1,3,5-9]; or the text of a rankfile or hostfile",
            continuous_update=False,
            **named("hosts to use", "360px"),
        )
        self.host_names: Any = inputs.Text(
            first.host_names,
            tooltip="Names of all hosts of the network, in their order: a pattern such as "
            "nid{:05d}, or a list such as rack[1-2]n[01-16]",
            continuous_update=False,
            **named("host names", "260px"),
        )
        self.shape = wrapping_row()
        self.latencies = tuple(getattr(self, name) for name in _LATENCIES)
        self._size = widgets.HTML(layout=widgets.Layout(margin="2px 12px 2px 0"))
        self.show(first)
        self.family.observe(lambda change: self._family_chosen(change["new"]), "value")
        self.machine.observe(lambda change: self._take_spec(change["new"]), "value")
        self.sizes.observe(lambda change: self._take_spec(change["new"]), "value")
        for name in _TEXTS:
            getattr(self, name).observe(
                lambda change, name=name: self._take(
                    replace(self.network, **{name: change["new"]})
                ),
                "value",
            )
        for name in _LATENCIES:
            getattr(self, name).observe(
                lambda change, name=name: self._take(
                    replace(self.network, **{name: change["new"]})
                ),
                "value",
            )

    @property
    def parameters(self) -> dict[str, Any]:
        """The controls of the family's parameters, by name; none for a machine."""
        family = self.family.value
        return {} if family == MACHINE else self._fields_of(family).controls

    @property
    def by_name(self) -> dict[str, Any]:
        """The controls by name: the lists, the latencies and the family's parameters."""
        lists = {"family": self.family, "preset": self.machine, "sizes": self.sizes}
        named = {name: getattr(self, name) for name in (*_LATENCIES, *_TEXTS)}
        return {**lists, **named, **self.parameters}

    @property
    def errors(self) -> list[ErrorLine]:
        """The error lines of the controls."""
        return [self.error, *errors_of((*self.parameters.values(), *self.latencies))]

    def _setting(self, name: str) -> Setting:
        return Setting(
            get=lambda: getattr(self.network, name), take=lambda value: self.take(name, value)
        )

    def take(self, name: str, value: Any) -> None:
        """Set one field of the network; hosts and their names may be a list, too."""
        if name in _TEXTS and not isinstance(value, str):
            value = " ".join(map(str, value))
        self.show(replace(self.network, **{name: value}))
        self.error.say("")
        for field in self.latencies:
            field.forget()
        self._changed(self.network)

    def show(self, network: Network) -> None:
        """Show another network without calling back."""
        made = network.parse()
        for name in _LATENCIES:
            getattr(self, name).check(getattr(network, name), name)
        spec = network.topology.strip()
        family, colon, _ = (part.strip() for part in spec.partition(":"))
        self.network = network
        with self._mute:
            for name in _TEXTS:
                getattr(self, name).value = getattr(network, name)
            if colon:
                self.family.value = family
                self._fields_of(family).show(spec, made)
                self._held[family] = spec
            else:
                self.family.value = MACHINE
                self.machine.value = spec.lower()
            for name in _LATENCIES:
                field, value = getattr(self, name), getattr(network, name)
                # An error there is kept while another topology is chosen.
                if field.value != value:
                    field.value = value
        self._lay_out(made)

    def make_room(self) -> None:
        """Show a larger network of the family if the present one lacks hosts for the ranks."""
        spec = self._with_room(self.network.topology)
        if spec != self.network.topology:
            self.show(replace(self.network, topology=spec))

    def _hosts_needed(self) -> int:
        """Return the number of hosts for the ranks, 0 if unknown."""
        return -(-(self._ranks() or 0) // self.network.ranks_per_host)

    def _with_room(self, spec: str) -> str:
        ranks = self._ranks()
        # Too many ranks for any network here raise an error when they are placed.
        if ranks is None or ranks > MOST_SLOTS:
            return spec
        return fitting(spec, ranks, self.network.ranks_per_host)

    def _fields_of(self, family: str) -> FamilyFields:
        if family not in self._families:
            self._families[family] = FamilyFields(family, self._shaped)
        return self._families[family]

    def _family_chosen(self, family: str) -> None:
        """Show the family's last network, or its smallest with room for all ranks."""
        if self._mute.on:
            return
        if family == MACHINE:
            self._take_spec(self.machine.value)
            return
        spec = self._held.get(family)
        if spec is None:
            hosts = self._hosts_needed() or self.network.parse().num_hosts
            spec = near_member(family, hosts) or f"{family}:{FAMILIES[family].example}"
        self._take_spec(self._with_room(spec))

    def _take_spec(self, spec: str) -> None:
        if spec and not self._mute.on:
            self.error.say("")
            self.show(replace(self.network, topology=spec))
            self._changed(self.network)

    def _shaped(self) -> None:
        """Set the network of the family's fields, or show the error in them."""
        if self._mute.on:
            return
        family = self.family.value
        network = replace(self.network, topology=self._fields_of(family).spec)
        try:
            made = network.parse()
        except ParameterError as error:
            self._lay_out(None)
            self.error.say(error_text(error))
            return
        self._held[family] = network.topology
        self._lay_out(made)
        self._take(network)

    def _take(self, network: Network) -> None:
        if not self._mute.on:
            self.error.say("")
            unused = replace(self.network, host_names=network.host_names) == network
            self.network = network
            if not unused or network.hosts:
                self._changed(self.network)

    def _lay_out(self, made: Topology | None) -> None:
        family = self.family.value
        known = family != MACHINE
        if made is not None:
            hosts = max(made.num_hosts, self._hosts_needed())
            near = near_sizes(family, hosts) if known else []
            self._mute.set(self.sizes, "", [_OTHER_SIZES, *near])
        offers = [self.sizes] if len(self.sizes.options) > 1 else []
        chosen = self.parameters.values() if known else [self.machine]
        self.shape.children = with_errors([self.family, *chosen, self._size, *offers])
        said = "" if made is None else f"{made.num_hosts:,} hosts, {made.num_routers:,} routers"
        self._size.value = f'<span style="{SMALL}">{said}</span>'


def _nanoseconds(words: str, value: float, tooltip: str = "") -> Any:
    width = f"{7 * len(words) + 92}px"
    return NumberField(float(value), 0.0, 1e9, step=10, tooltip=tooltip, **named(words, width))
