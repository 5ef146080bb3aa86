"""What the placement panel shows, as a value, and the Python that gives it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from math import ceil
from typing import TYPE_CHECKING, Any

from workbench.panels.programs import GIVEN, AnyProgram
from workbench.panels.replay.state import ReplayState, model_expression
from workbench.programs import ExecutionGraph, Program
from workbench.sensitivity.placement import (
    EVALUATIONS,
    Method,
    Placement,
    frame_of,
)
from workbench.sensitivity.rank_wires import D_SWITCH_S, L_WIRE_S
from workbench.topology import FAMILIES, Topology, parse_topology, propose

if TYPE_CHECKING:
    import pandas as pd

    from workbench.sensitivity.pairs import PairSensitivity

BEST = "best"
"""Stands for the method with the least run time."""

SECONDS = 10.0
"""Time after which the panel's searches end with what they have."""

# Nearly every change is of something else than the topology.
_parsed = lru_cache(maxsize=4)(parse_topology)

_GROWTH = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0, 24.0, 32.0)


@dataclass(frozen=True)
class Network:
    """The network and the latencies of its parts.

    Attributes:
        topology: as ``workbench.topology.parse_topology`` takes it.
        l_wire_ns: latency of a wire.
        d_switch_ns: latency of a switch.
        same_host_ns: latency between two ranks of one host.
        ranks_per_host: how many ranks a host takes.
    """

    topology: str = "dragonfly:g=3,a=2,p=2"
    l_wire_ns: float = round(L_WIRE_S * 1e9, 3)
    d_switch_ns: float = round(D_SWITCH_S * 1e9, 3)
    same_host_ns: float = 0.0
    ranks_per_host: int = 1

    @property
    def latencies(self) -> dict[str, float]:
        """The latencies in s, by the names of the arguments of ``place``."""
        return {
            "l_wire_s": self.l_wire_ns / 1e9,
            "d_switch_s": self.d_switch_ns / 1e9,
            "same_host_s": self.same_host_ns / 1e9,
        }

    def parse(self) -> Topology:
        """Return the topology.

        Raises:
            ParameterError: one of its parameters is not accepted.
        """
        return _parsed(self.topology)


@dataclass(frozen=True)
class Effort:
    """How much a search may try.

    Attributes:
        evaluations: mappings that the search tries.
        seconds: after which each method ends with what it has.
        seed: of the random choices.
    """

    evaluations: int = EVALUATIONS
    seconds: float = SECONDS
    seed: int = 0


@dataclass(frozen=True)
class PlacementState:
    """Everything that decides what is found.

    Attributes:
        base: program, algorithms of its collectives and the parameters, of which o, G and S count.
        network: where it runs.
        effort: of the searches.
    """

    base: ReplayState
    network: Network = field(default_factory=Network)
    effort: Effort = field(default_factory=Effort)

    @property
    def options(self) -> dict[str, Any]:
        """The named arguments of ``place``, but for the method."""
        effort, network = self.effort, self.network
        return {
            "ranks_per_host": network.ranks_per_host,
            **network.latencies,
            "evaluations": effort.evaluations,
            "seconds": effort.seconds,
            "seed": effort.seed,
        }


@dataclass(frozen=True, eq=False)
class Placed:
    """What has been found, all of it or so far.

    Attributes:
        state: what the controls held.
        program: as it was read or made.
        graph: its messages.
        placements: by method, those that have been found.
        pairs: the sensitivities of pairs of ranks, with each of these placements.
        stopped: whether Stop ended it.
    """

    state: PlacementState
    program: AnyProgram
    graph: ExecutionGraph
    placements: Mapping[Method, Placement]
    pairs: Mapping[Method, PairSensitivity]
    stopped: bool = False

    @property
    def frame(self) -> pd.DataFrame:
        """A row for each placement, as ``compare_placements`` returns it."""
        return frame_of(self.placements.values())

    @property
    def best(self) -> Method:
        """The method with the least run time; of several the one that comes first."""
        return min(self.placements, key=lambda method: self.placements[method].T_s)

    def chosen(self, method: str) -> Method:
        """Return the method that is meant.

        Args:
            method: one of ``METHODS``, or ``BEST``; one that has not been found yet stands for
                the best so far.
        """
        return next((known for known in self.placements if known == method), self.best)


def python_lines(state: PlacementState, program: AnyProgram, method: Method) -> str:
    """Return Python for ``found``, ``comparison`` and, with one placement, ``pairs``.

    Args:
        state: what the controls hold.
        program: what its source gives.
        method: of the placement whose pairs are shown.
    """
    base, network = state.base, state.network
    lines = [
        "from workbench import models, programs, topology",
        "from workbench.sensitivity.pairs import pair_sensitivity",
        "from workbench.sensitivity.placement import frame_of, place_all",
        "from workbench.sensitivity.rank_wires import Wires",
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
    for name, usual in (("ranks_per_host", 1), ("evaluations", EVALUATIONS), ("seed", 0)):
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
    wire = "" if network.l_wire_ns == default.l_wire_ns else repr(network.l_wire_ns / 1e9)
    lines += [
        f"graph = {graph}",
        f"model = {model_expression(base)}",
        f'network = topology.parse_topology("{network.topology}")',
        f"found = place_all(graph, model, network{words})",
        "comparison = frame_of(found.values())",
        f'wires = Wires.of(network, graph.num_ranks, found["{method}"]{joined})',
        f"pairs = pair_sensitivity(graph, model, L=wires.latency_ps({wire}) / 1e12)",
    ]
    return "\n".join(lines)


def fitting(topology: str, ranks: int, ranks_per_host: int) -> str:
    """Return a topology with room for all ranks: the same one, or the smallest of its family.

    A dragonfly grows as Kim et al. balance it, a = 2 h routers of p = h hosts. A machine stays as
    it is, and so does a family that has no member near enough.

    Args:
        topology: as ``parse_topology`` takes it.
        ranks: of the program.
        ranks_per_host: how many a host takes.

    Raises:
        ParameterError: the topology is not accepted.
    """
    hosts = -(-ranks // ranks_per_host)
    if _parsed(topology).num_hosts >= hosts:
        return topology
    family = topology.partition(":")[0].strip()
    if family == "dragonfly":
        h = next(h for h in range(1, 1 << 12) if 2 * h * h * (2 * h * h + 1) >= hosts)
        return f"dragonfly:g={-(-hosts // (2 * h * h))},a={2 * h},p={h}"
    return near_member(family, hosts) or topology


def near_member(family: str, hosts: int) -> str:
    """Return the smallest member with room for hosts that `propose` names; empty where none is.

    Args:
        family: a word of ``FAMILIES``; a machine's name has no members.
        hosts: at least so many.
    """
    if family not in FAMILIES:
        return ""
    found = [
        one
        for growth in _GROWTH
        for one in propose(ceil(growth * hosts), families=[family], tolerance=0.5, most=64)
        if one.hosts >= hosts
    ]
    return min(found, key=lambda one: (one.hosts, one.word)).word if found else ""
