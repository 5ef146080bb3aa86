"""A machine in parts: messages between and within nodes, what ranks share, and where each is from.

machine = machine_of(read_point_to_point("fugaku_p2p.csv"), topology="torus:8x8x8")
machine.to_frame()      # each part with its source: measured, published or assumed
machine.loggps()        # between nodes; machine.loggps("within")
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from workbench.checks import above_zero, number, whole
from workbench.errors import ParameterError
from workbench.machines import LIBRARIES, Library, Machine, Source, loggps_of_curve
from workbench.machines.rules import GAP_SHARE, interval_of
from workbench.measure.message_curve import MessageCurve
from workbench.models import LogGPS
from workbench.predict.known_systems import KnownSystem, known_system
from workbench.predict.node_groups import NodeGroups
from workbench.predict.point_to_point import (
    Buffers,
    Level,
    LevelCurves,
    PointToPoint,
    point_to_point_of_curve,
)
from workbench.predict.tofu_shapes import UNKNOWN_SHAPE
from workbench.result import Drawing, StoredResult
from workbench.topology.spec import parse_topology

if TYPE_CHECKING:
    import pandas as pd

HOP_S = 1e-7
"""Latency of a router, s: switches of 2015 to 2024 are sold with 90 to 300 ns."""
CORE_BPS = 30e9
"""Memory traffic of a core of a server, B/s."""
MEMORY_BPS = 150e9
"""Memory traffic of a node, B/s: of servers with two sockets."""
ACCELERATOR_BPS = 1.5e12
"""Memory traffic of an accelerator, B/s: HBM2 of an A100 40 GB has 1.555 TB/s, a die of an MI250X
1.6 TB/s (their data sheets)."""
WITHIN = LevelCurves(
    MessageCurve(np.array([0.0, 1024.0, 2.0**22]), np.array([4e-7, 5e-7, 4.2e-4])),
)
"""Messages between the ranks of a node, where they were not measured: 0.4 µs, 10 GB/s."""
WITHIN_PART, MEMORY_PART, CORE_PART = "messages within a node", "memory of a node", "core"
CROWD_PART = "ranks of a node at once"
TRAFFIC = 3
"""Bytes to and from memory for each byte that is combined or copied: two reads and a write."""


@dataclass(frozen=True)
class MachinePart:
    """A part of a machine, in words, and where it is from."""

    name: str
    value: str
    source: Source
    note: str


@dataclass(frozen=True, eq=False, repr=False)
class MachineProfile(StoredResult):
    """A machine of many nodes, as far as collectives depend on it.

    Attributes:
        name: of the system.
        between: messages between two nodes, with an interval.
        within: messages between two ranks of a node, with an interval.
        ranks_per_node: which share the node's network cards.
        engines: messages that a node moves at the full rate of one at the same time.
        node_s_per_byte: least time of a byte in or out of a node whose ranks share it, s/B.
        node_gap_s: least time between two messages of a node whose ranks share it, s; 0 where it
            was not measured.
        hop_s: latency of a router, s.
        core_Bps: memory traffic of a core, B/s, by which data are combined and copied.
        memory_Bps: memory traffic of a node, B/s, which its ranks share.
        topology: spec of the network whose first hosts the nodes are; empty where it is unknown.
        library: whose rules choose algorithms.
        parts: of which it is made, each with its source.
        groups: switches and groups of the nodes, where they are known and no topology is.
    """

    name: str
    between: LevelCurves
    within: LevelCurves
    ranks_per_node: int
    engines: int
    node_s_per_byte: float
    node_gap_s: float
    hop_s: float
    core_Bps: float
    memory_Bps: float
    topology: str
    library: Library
    parts: tuple[MachinePart, ...]
    groups: NodeGroups | None = None

    plot = Drawing("plot_machine_profile")

    @property
    def assumed(self) -> tuple[str, ...]:
        """What is assumed, a sentence each; without what is of no account for one rank a node."""
        return tuple(
            f"{part.name}: {part.value}, {part.note}"
            for part in self.parts
            if part.source == "assumed"
            and not (
                part.name in (WITHIN_PART, MEMORY_PART, CROWD_PART) and self.ranks_per_node == 1
            )
        )

    @property
    def own_messages(self) -> bool:
        """Whether the messages between nodes were measured on the machine."""
        return not any(
            part.name == "messages between nodes" and part.source == "assumed"
            for part in self.parts
        )

    @property
    def crowd_measured(self) -> bool:
        """Whether messages were measured while several ranks of a node sent at once."""
        return self.between.crowded is not None

    @property
    def combine_s_per_byte(self) -> float:
        """Time to combine a byte with another, or to copy it, s/B; all ranks of a node do so."""
        return TRAFFIC * max(1.0 / self.core_Bps, self.ranks_per_node / self.memory_Bps)

    def curves(self, level: Level) -> LevelCurves:
        """Return the messages of a level.

        Args:
            level: ``between`` or ``within``.
        """
        return self.between if level == "between" else self.within

    def interval(self, level: Level) -> MessageCurve:
        """Return the time from one message of a rank to its next, measured or assumed.

        Args:
            level: ``between`` or ``within``.
        """
        curves = self.curves(level)
        return curves.interval or interval_of(curves.latency)

    def loggps(self, level: Level = "between") -> LogGPS:
        """Return LogGPS parameters of a level, for replays: two straight lines through its curves.

        Args:
            level: ``between`` or ``within``.
        """
        return loggps_of_curve(self.curves(level).latency, self.interval(level))

    def uncrowded(self) -> MachineProfile:
        """Return the machine without what was measured while several ranks of a node sent."""
        between = replace(self.between, crowded=None, crowd=1, shared=None, pairs=1)
        node, node_part = _node_rate(between, self.ranks_per_node)
        new = {one.name: one for one in (node_part, _crowd_part(between))}
        parts = tuple(new.get(part.name, part) for part in self.parts)
        return replace(self, between=between, node_s_per_byte=node, node_gap_s=0.0, parts=parts)

    def on(self, topology: str) -> MachineProfile:
        """Return the machine on another network.

        Args:
            topology: its spec, such as ``torus:8x8x8``; empty for none; ``tofu-d`` where the shape
                of the job is not known.

        Raises:
            ParameterError: there is no such topology.
        """
        _check_topology(topology)
        parts = tuple(part for part in self.parts if part.name != "topology")
        parts = (*parts, _topology_part(topology))
        return replace(self, topology=topology, parts=parts, groups=None)

    def placed(self, groups: NodeGroups) -> MachineProfile:
        """Return the machine with the switches and groups of its nodes, in place of a topology.

        Args:
            groups: of ``read_node_groups``.
        """
        parts = tuple(part for part in self.parts if part.name != "topology")
        known = MachinePart("topology", groups.label, "published", "routers on the way by group")
        links = MachinePart("links", "free", "assumed", "links between switches are not published")
        return replace(self, topology="", groups=groups, parts=(*parts, known, links))

    def to_frame(self) -> pd.DataFrame:
        """Return one row a part: ``part``, ``value``, ``source`` and ``note``."""
        import pandas as pd

        rows = [(part.name, part.value, part.source, part.note) for part in self.parts]
        return pd.DataFrame(rows, columns=["part", "value", "source", "note"])

    def __repr__(self) -> str:
        count = sum(part.source == "assumed" for part in self.parts)
        return (
            f"MachineProfile({self.name}, {self.ranks_per_node} ranks a node, "
            f"{self.topology or 'network unknown'}, {self.between.latency!r}, "
            f"{count} of {len(self.parts)} parts assumed)"
        )


def machine_of(
    measured: PointToPoint | Machine,
    *,
    ranks_per_node: int | None = None,
    topology: str | None = None,
    engines: int | None = None,
    hop_s: float | None = None,
    core_Bps: float | None = None,
    memory_Bps: float | None = None,
    library: Library | None = None,
    buffers: Buffers | None = None,
) -> MachineProfile:
    """Return the machine that point-to-point measurements and what else is known describe.

    What is not given is taken from what is published of a system of that name, or assumed; each
    part of the result says which.

    Args:
        measured: messages between nodes, and within one where they were measured; or a machine,
            whose parts then count for the arguments that are None.
        ranks_per_node: ranks on each node, which share its network cards; None takes 1.
        topology: network whose first hosts the nodes are, such as ``torus:8x8x8`` or
            ``fat-tree:16``; ``tofu-d`` where the shape of the job on it is not known, which the
            interval then covers (an alltoall by ``pairwise`` on 4096 nodes takes 10 s
            for its four shapes); None means no links are shared.
        engines: messages that a node moves at full rate at once; None takes what is published, or
            1.
        hop_s: latency of a router, s.
        core_Bps: memory traffic of a core, B/s, by which data are combined and copied; None takes
            what is published, or 30 GB/s, 1500 GB/s with device buffers.
        memory_Bps: memory traffic of a node, B/s, which its ranks share; that of one core at least.
            None takes what is published, or 150 GB/s.
        library: whose rule chooses an algorithm, and whose names of algorithms come first:
            ``open-mpi``, ``mpich``, ``fujitsu-mpi`` or ``unknown``; None takes that of the system's
            name, or ``unknown``.
        buffers: ``host`` or ``device``: with ``device`` each rank combines in the memory of its own
            accelerator; None takes what the measurements say, or ``host``. It combines at
            ``core_Bps``.

    Raises:
        ParameterError: an argument is not accepted.
    """
    if isinstance(measured, Machine):
        hops = [measured.part(name) for name in ("switch_latency", "wire_latency")]
        found = machine_of(
            point_to_point_of_curve(measured.curve, measured.within),
            hop_s=sum(float(one.value) for one in hops) if hop_s is None else hop_s,
            buffers=buffers,
            **_given_parts(
                measured,
                {
                    "ranks_per_node": ranks_per_node,
                    "topology": topology,
                    "engines": engines,
                    "core_bandwidth": core_Bps,
                    "memory_bandwidth": memory_Bps,
                    "library": library,
                },
            ),
        )
        if hop_s is None and any(one.source == "assumed" for one in hops):
            router = next(part for part in found.parts if part.name == "router")
            assumed = replace(router, source="assumed", note="a switch and a wire of the machine")
            parts = tuple(assumed if part is router else part for part in found.parts)
            return replace(found, parts=parts)
        return found
    topology = topology or ""
    _check_topology(topology)
    if library is not None and library not in LIBRARIES:
        raise ParameterError(
            f"library must be one of {', '.join(LIBRARIES)}; got {library!r}", key="library"
        )
    place = buffers or measured.buffers
    if place not in get_args(Buffers):
        raise ParameterError(
            f"buffers must be one of {', '.join(get_args(Buffers))}; got {place!r}", key="buffers"
        )
    known = known_system(measured.system) if place == "host" else KnownSystem()
    sources = dict(known.sources)
    given_parts = {
        "engines": engines,
        CORE_PART: core_Bps,
        MEMORY_PART: memory_Bps,
        "library": library,
    }
    for name, value in given_parts.items():
        if value is not None:
            sources[name] = ("published", "as given")
    cards = whole(engines if engines is not None else known.engines or 1, "engines", 1, 64)
    usual = CORE_BPS if place == "host" else ACCELERATOR_BPS
    given_core = known.core_Bps or usual if core_Bps is None else core_Bps
    core = above_zero(given_core, "core_Bps", unit="B/s")
    given = known.memory_Bps or MEMORY_BPS if memory_Bps is None else memory_Bps
    memory = max(above_zero(given, "memory_Bps", unit="B/s"), core)
    hop = number(HOP_S if hop_s is None else hop_s, "hop_s", 0.0, unit="s")
    rule: Library = known.library if library is None else library
    between, within = measured.between, measured.within or WITHIN
    per_node = whole(1 if ranks_per_node is None else ranks_per_node, "ranks_per_node", 1, 4096)
    if place == "device":
        memory = per_node * core
        sources[MEMORY_PART] = ("assumed", "each rank has the memory of an accelerator of its own")
    node, node_part = _node_rate(between, per_node)
    parts = (
        *_message_parts(measured),
        node_part,
        _crowd_part(between),
        _part("engines", f"{cards}", sources, "one message at a time has a node's network card"),
        MachinePart(
            "router",
            f"{1e9 * hop:g} ns",
            "assumed" if hop_s is None else "published",
            "each router more than between the first two nodes" if hop_s is None else "as given",
        ),
        _part(CORE_PART, f"{1e-9 * core:g} GB/s", sources, _COMBINED[place]),
        _part(MEMORY_PART, f"{1e-9 * memory:g} GB/s", sources, "shared by the ranks of a node"),
        _part("library", rule, sources, "the algorithm that is predicted to be fastest is taken"),
        _topology_part(topology),
    )
    return MachineProfile(
        measured.system,
        between,
        within,
        per_node,
        cards,
        node,
        0.0 if between.shared is None else float(between.shared.at(1)) / between.pairs,
        hop,
        core,
        memory,
        topology,
        rule,
        parts,
    )


_COMBINED_AT = f"combining moves {TRAFFIC} B for each byte at that rate, which core_Bps sets"
_COMBINED = {
    "host": f"{_COMBINED_AT} (buffers=device: in the memory of an accelerator)",
    "device": f"{_COMBINED_AT}, in the memory of a rank's accelerator",
}
_ARGUMENTS = {"core_bandwidth": "core_Bps", "memory_bandwidth": "memory_Bps"}


def _given_parts(machine: Machine, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of ``machine_of``: as asked for, else a part that the machine has."""
    found = {}
    for name, value in asked.items():
        known = machine.given[name].value if name in machine.given else None
        found[_ARGUMENTS.get(name, name)] = known if value is None else value
    return found


def _node_rate(between: LevelCurves, per_node: int) -> tuple[float, MachinePart]:
    """Return the time of a byte in or out of a node, s/B, and the part in words."""
    if between.shared is not None:
        per_byte = between.shared.per_byte / between.pairs
        source: Source = "measured"
        note = f"osu_mbw_mr of {between.pairs} pairs"
    else:
        per_byte = (between.interval or between.latency).per_byte
        source = "measured" if per_node == 1 else "assumed"
        note = "of one pair of ranks" if per_node == 1 else "all ranks together, the rate of one"
    return per_byte, MachinePart("node rate", f"{1e-9 / per_byte:.3g} GB/s", source, note)


def _crowd_part(between: LevelCurves) -> MachinePart:
    """Return how long messages wait for those of other ranks of their node, in words."""
    if between.crowded is None:
        note = "their messages wait for the node's rate only; osu_multi_lat was not measured"
        return MachinePart(CROWD_PART, "no wait", "assumed", note)
    wait = float(between.wait_of(np.ones(1))[0])
    note = f"osu_multi_lat of {between.crowd} pairs"
    return MachinePart(CROWD_PART, f"{1e9 * wait:.3g} ns a message", "measured", note)


def _message_parts(measured: PointToPoint) -> tuple[MachinePart, ...]:
    between, within = measured.between, measured.within
    found = [_level_part("messages between nodes", between.latency, measured.source)]
    if between.interval is None:
        found.append(
            MachinePart(
                "message interval",
                f"{GAP_SHARE:g} of the latency",
                "assumed",
                "no bandwidth was measured; large messages follow at the latency's rate",
            )
        )
    else:
        found.append(_level_part("message interval", between.interval, "osu_bw or osu_mbw_mr"))
    found.append(
        MachinePart("pairs of nodes", "differ", "assumed", "as the runs of the latency do")
        if between.slowest
        else MachinePart("pairs of nodes", "alike", "assumed", "one run shows no differences")
    )
    if between.both_ways is None:
        note = "an exchange takes as long as one message; osu_bibw or imb_pingping was not measured"
        found.append(MachinePart("both ways", "full duplex", "assumed", note))
    else:
        found.append(_level_part("both ways", between.both_ways, "imb_pingping or osu_bibw"))
    if within is not None:
        found.append(_level_part(WITHIN_PART, within.latency, measured.source))
    else:
        latency = WITHIN.latency
        value = f"{1e6 * latency.start:.3g} us, {1e-9 / latency.per_byte:.3g} GB/s"
        found.append(MachinePart(WITHIN_PART, value, "assumed", "not measured"))
    return tuple(found)


def _level_part(name: str, curve: MessageCurve, note: str) -> MachinePart:
    rate = f"{1e6 * curve.start:.3g} us, {1e-9 / curve.per_byte:.3g} GB/s"
    return MachinePart(name, rate, "measured", note)


def _part(
    name: str, value: str, sources: dict[str, tuple[Source, str]], otherwise: str
) -> MachinePart:
    source, note = sources.get(name, ("assumed", otherwise))
    return MachinePart(name, value, source, note)


def _check_topology(topology: str) -> None:
    """Refuse a spec of no topology; a job on Tofu-D may lack its shape."""
    if topology not in ("", UNKNOWN_SHAPE):
        parse_topology(topology)


def _topology_part(topology: str) -> MachinePart:
    if topology == UNKNOWN_SHAPE:
        note = "the shape of the job is unknown: the interval covers the plausible ones"
        return MachinePart("topology", topology, "assumed", note)
    if topology:
        return MachinePart("topology", topology, "published", "rank r is on host r // ranks a node")
    return MachinePart("topology", "unknown", "assumed", "all nodes equally far, no link is shared")
