"""The state and the results of the placement panel, and the Python code that computes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import ceil
from typing import TYPE_CHECKING, Any

from workbench.machines import Machine, links_of, wires_of
from workbench.panels.loggps_choice import python_of
from workbench.panels.program_sources import GIVEN, AnyProgram
from workbench.panels.replay.state import ReplayState
from workbench.placement import (
    EVALUATIONS,
    HOST_NAMES,
    Placement,
    PlacementMethod,
    frame_of,
    job_hosts,
)
from workbench.programs import ExecutionGraph, Program
from workbench.tolerance.wires import L_WIRE_S
from workbench.topology import FAMILIES, Topology, parse_topology, propose
from workbench.topology.metrics.links import D_SWITCH_S
from workbench.topology.topology import TERMINAL

if TYPE_CHECKING:
    import pandas as pd

    from workbench.tolerance.pairs import PairSensitivity

BEST = "best"
"""Name of the method with the least run time."""

SECONDS = 10.0
"""Time limit of the panel's searches, s."""

# Most changes do not concern the topology.
_parsed = lru_cache(maxsize=4)(parse_topology)

_GROWTH = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0)
"""Times the hosts at which members are sought. Of 272 searches, in 17 families for 2 to 9000 hosts,
every second factor finds a larger member in 2 and none in 1; the factors up to 16, none in 3."""


@dataclass(frozen=True)
class Network:
    """The network and the latencies of its parts."""

    topology: str = "dragonfly:g=3,a=2,p=2"  # spec for parse_topology
    l_wire_ns: float = round(L_WIRE_S * 1e9, 3)
    d_switch_ns: float = round(D_SWITCH_S * 1e9, 3)
    card_ns: float = 0.0  # of a host's network card, on top of its wire
    same_host_ns: float = 0.0  # between two ranks of a host
    ranks_per_host: int = 1
    hosts: str = ""  # that may be used, for job_hosts; "" for the first ones that the ranks need
    host_names: str = HOST_NAMES  # of all hosts, in their order

    @property
    def wires_s(self) -> float | dict[str, float]:
        """The latency of a wire in s, by class where network cards add to the hosts' ones."""
        wire, host = self.l_wire_ns / 1e9, (self.l_wire_ns + self.card_ns) / 1e9
        if wire == host:
            return wire
        return {name: host if name == TERMINAL else wire for name in self.parse().classes}

    def of_machine(self, machine: Machine) -> Network:
        """Return the network with what a machine has: its wires, topology and ranks a host."""
        spec = machine.given["topology"].value if "topology" in machine.given else self.topology
        known = replace(self, topology=str(spec))
        wires = wires_of(machine, known.parse())
        links = links_of(machine)
        return replace(
            known,
            l_wire_ns=_picoseconds(links.wire_s),
            card_ns=_picoseconds(max(links.host_s - links.wire_s, 0.0)),
            d_switch_ns=_picoseconds(links.switch_s),
            same_host_ns=_picoseconds(wires.get("same_host_s", 0.0)),
            ranks_per_host=int(machine.number("ranks_per_node")),
        )

    @property
    def latencies(self) -> dict[str, Any]:
        """The latencies in s, by the names of the arguments of ``place``."""
        return {
            "l_wire_s": self.wires_s,
            "d_switch_s": self.d_switch_ns / 1e9,
            "same_host_s": self.same_host_ns / 1e9,
        }

    def allocated(self) -> list[int] | None:
        """Return the numbers of the hosts that may be used; None for the first ones."""
        if not self.hosts.strip():
            return None
        return job_hosts(self.hosts, self.parse(), self.host_names)

    def parse(self) -> Topology:
        """Return the topology."""
        return _parsed(self.topology)


def _picoseconds(seconds: float) -> float:
    """Return a time in ns, to the picosecond that the simulators count in."""
    return round(1e9 * seconds, 3)


@dataclass(frozen=True)
class Effort:
    """The limits of the searches."""

    evaluations: int = EVALUATIONS  # mappings tried by the search
    seconds: float = SECONDS  # limit of each method
    seed: int = 0


@dataclass(frozen=True)
class PlacementState:
    """The program, parameters, network and search limits of a placement."""

    base: ReplayState  # of the parameters, o, G and S count
    network: Network = field(default_factory=Network)
    effort: Effort = field(default_factory=Effort)

    @property
    def options(self) -> dict[str, Any]:
        """The keyword arguments of ``place``, without the method."""
        effort, network = self.effort, self.network
        return {
            "hosts": network.allocated(),
            "ranks_per_host": network.ranks_per_host,
            **network.latencies,
            "evaluations": effort.evaluations,
            "seconds": effort.seconds,
            "seed": effort.seed,
        }


@dataclass(frozen=True, eq=False)
class Placed:
    """The placements found so far, by method."""

    state: PlacementState
    program: AnyProgram
    graph: ExecutionGraph  # of the program
    placements: Mapping[PlacementMethod, Placement]
    pairs_of: Callable[[PlacementMethod], PairSensitivity]  # with a placement; computed once
    stopped: bool = False  # by the user

    @property
    def frame(self) -> pd.DataFrame:
        """A row for each placement, as ``compare_placements`` returns it."""
        return frame_of(self.placements.values())

    @property
    def best(self) -> PlacementMethod:
        """The method with the least run time, the first of several."""
        return min(self.placements, key=lambda method: self.placements[method].T)

    def chosen(self, method: str) -> PlacementMethod:
        """Return a method of ``METHODS``, or the best so far for ``BEST`` and missing ones."""
        return next((known for known in self.placements if known == method), self.best)


def python_lines(state: PlacementState, program: AnyProgram, method: PlacementMethod) -> str:
    """Return Python code for ``found``, ``comparison`` and, with one method, ``pairs``."""
    base, network = state.base, state.network
    module, model = python_of(base.model, base.machine)
    lines = [
        f"from workbench import {module}, programs, topology",
        "from workbench.tolerance.pairs import pair_sensitivity",
        "from workbench.placement import frame_of, place_all",
        "from workbench.tolerance.wires import Wires",
    ]
    if base.source.expression != GIVEN:
        lines.append(f"program = {base.source.expression}")
    graph = "program"
    if isinstance(program, Program):
        chosen = ", ".join(f'"{op}": "{name}"' for op, name in sorted(base.algorithms.items()))
        graph = f"program.graph({{{chosen}}})" if chosen else "program.graph()"
    options = {**state.options}
    default = Network()
    for name, value in default.latencies.items():
        if options[name] == value:
            del options[name]
    for name, usual in (
        ("hosts", None),
        ("ranks_per_host", 1),
        ("evaluations", EVALUATIONS),
        ("seed", 0),
    ):
        if options[name] == usual:
            del options[name]
    words = "".join(f", {name}={value!r}" for name, value in options.items())
    wires = {
        f"{name}_s": value / 1e9
        for name, value, usual in (
            ("d_switch", network.d_switch_ns, default.d_switch_ns),
            ("same_host", network.same_host_ns, default.same_host_ns),
        )
        if value != usual
    }
    joined = "".join(f", {name}={value!r}" for name, value in wires.items())
    wire = "" if network.wires_s == default.wires_s else repr(network.wires_s)
    lines += [
        f"graph = {graph}",
        f"model = {model}",
        f'network = topology.parse_topology("{network.topology}")',
        f"found = place_all(graph, model, network{words})",
        "comparison = frame_of(found.values())",
        f'wires = Wires.of(network, graph.num_ranks, found["{method}"]{joined})',
        f"pairs = pair_sensitivity(graph, model, L=wires.latency_ps({wire}) / 1e12)",
    ]
    return "\n".join(lines)


def fitting(topology: str, ranks: int, ranks_per_host: int) -> str:
    """Return a topology with room for all ranks: the same or the smallest of its family."""
    # A dragonfly grows balanced (Kim et al. 2008): a = 2h routers in a group, p = h hosts each.
    # A machine, and a family without a member near enough, stay as they are.
    hosts = -(-ranks // ranks_per_host)
    if _parsed(topology).num_hosts >= hosts:
        return topology
    family = topology.partition(":")[0].strip()
    if family == "dragonfly":
        h = next(h for h in range(1, 1 << 12) if 2 * h * h * (2 * h * h + 1) >= hosts)
        return f"dragonfly:g={-(-hosts // (2 * h * h))},a={2 * h},p={h}"
    return near_member(family, hosts) or topology


def near_member(family: str, hosts: int) -> str:
    """Return the spec of the smallest member with at least ``hosts`` hosts; "" for none."""
    if family not in FAMILIES:
        return ""
    found = [
        one
        for growth in _GROWTH
        for one in propose(ceil(growth * hosts), families=[family], tolerance=0.5, most=64)
        if one.hosts >= hosts
    ]
    return min(found, key=lambda one: (one.hosts, one.spec)).spec if found else ""
