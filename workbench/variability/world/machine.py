"""Machines of Aries routers on which a world plays: presets, their links by pair, I/O routers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import FloatArray, IntArray
from workbench.errors import ParameterError
from workbench.suggestions import did_you_mean
from workbench.topology.aries import COLUMNS, ROWS, aries
from workbench.topology.channels import Channels, channels
from workbench.topology.topology import Topology

CLASSES = ("row", "column", "global", "endpoint")
"""Of links: in a chassis, between the chassis of a group, between groups, and at the nodes."""

ROUTERS = ROWS * COLUMNS
"""Routers of a group."""

NODES = 4
"""Nodes of a router."""

_BANDWIDTH = MappingProxyType({"row": 5.25e9, "column": 5.25e9, "global": 4.7e9})
"""B/s of one link, one way (Faanes et al., SC 2012); optical links are the slower ones."""

NODE_BANDWIDTH = 10e9
"""B/s that a node sends or receives at most (the same)."""


@dataclass(frozen=True)
class WorldPreset:
    """A machine and how busy it is.

    Attributes:
        name: of the preset.
        groups: of 16 x 6 routers.
        compute_groups: groups whose nodes run jobs; the others' take no part.
        blue: links between each two groups; None takes as many as the ports allow.
        io_routers: routers of each compute group whose nodes connect to the file system.
        users: number of other users.
        busy: share of the nodes that their jobs ask for, on average.
        median_nodes: of a job.
    """

    name: str
    groups: int
    compute_groups: int
    blue: int | None
    io_routers: int
    users: int
    busy: float
    median_nodes: float


PRESETS: Mapping[str, WorldPreset] = MappingProxyType(
    {
        one.name: one
        for one in (
            WorldPreset("small", 5, 5, 16, 2, 24, 0.85, 110.0),
            WorldPreset("medium", 12, 12, 6, 2, 40, 0.85, 150.0),
            WorldPreset("cori", 34, 27, 4, 2, 60, 0.85, 200.0),
        )
    }
)
"""The machines by name: 5 groups, 12, and as Cori 34, of which 27 have the nodes of the paper's
runs (Bhatele et al. 2020, II-A)."""


def world_preset(name: str) -> WorldPreset:
    """Return a preset by its name; ParameterError if there is none."""
    if name not in PRESETS:
        raise ParameterError(
            f"preset must be one of {', '.join(PRESETS)}; got {name!r}"
            f"{did_you_mean(name, PRESETS)}",
            key="preset",
        )
    return PRESETS[name]


@dataclass(frozen=True, eq=False)
class WorldMachine:
    """A machine whose parallel links count as one wide link, with links of nodes at the end.

    Wide link e leads from router ``source[e]`` to ``target[e]``. After the B between routers come,
    for each node, one by which it sends (B + node), and then one by which it receives.

    Attributes:
        topology: the network.
        channels: its channels.
        wide: int32[D], the wide link of each channel between routers.
        source: int32[E], router.
        target: int32[E], router.
        kind: uint8[E], place in ``CLASSES``.
        capacity: float64[E], B/s.
        io: bool[routers], those of the file system.
        compute: bool[routers], those whose nodes run jobs.
    """

    topology: Topology
    channels: Channels
    wide: NDArray[np.int32]
    source: NDArray[np.int32]
    target: NDArray[np.int32]
    kind: NDArray[np.uint8]
    capacity: FloatArray
    io: NDArray[np.bool_]
    compute: NDArray[np.bool_]

    @property
    def between(self) -> int:
        """Number of wide links between routers, B."""
        return len(self.source) - 2 * self.topology.num_hosts

    @property
    def from_nodes(self) -> slice:
        """The links by which nodes send."""
        return slice(self.between, self.between + self.topology.num_hosts)

    @property
    def to_nodes(self) -> slice:
        """The links by which nodes receive."""
        return slice(self.between + self.topology.num_hosts, len(self.source))

    @property
    def routers(self) -> int:
        """Number of routers."""
        return self.topology.num_routers

    @property
    def groups(self) -> int:
        """Number of groups."""
        return self.routers // ROUTERS

    @property
    def nodes(self) -> IntArray:
        """Nodes that run jobs, int64[n]."""
        return np.flatnonzero(self.compute[self.topology.host_router])

    @cached_property
    def row_link(self) -> NDArray[np.int32]:
        """Wide link from each router to that at a column of its row, int32[routers, 16]."""
        return self._local(COLUMNS, 0, lambda router: router % COLUMNS)

    @cached_property
    def column_link(self) -> NDArray[np.int32]:
        """Wide link from each router to that at a row of its column, int32[routers, 6]."""
        return self._local(ROWS, 1, lambda router: router % ROUTERS // COLUMNS)

    @cached_property
    def gates(self) -> NDArray[np.int32]:
        """Wide links from each group to each other, int32[groups, groups, k]; -1 to itself."""
        at = np.flatnonzero(self.kind == CLASSES.index("global"))
        pair = self.source[at] // ROUTERS * self.groups + self.target[at] // ROUTERS
        order = np.argsort(pair, kind="stable")
        each = np.bincount(pair, minlength=self.groups**2)
        found = np.full((self.groups**2, max(int(each.max(initial=0)), 1)), -1, np.int32)
        place = np.arange(len(at)) - np.repeat(np.cumsum(each) - each, each)
        found[pair[order], place] = at[order]
        return found.reshape(self.groups, self.groups, -1)

    def _local(self, across: int, kind: int, place: object) -> NDArray[np.int32]:
        found = np.full((self.routers, across), -1, np.int32)
        at = np.flatnonzero(self.kind == kind)
        found[self.source[at], place(self.target[at])] = at  # type: ignore[operator]
        return found


@cache
def world_machine(preset: WorldPreset) -> WorldMachine:
    """Return the machine of a preset."""
    topology = aries(preset.groups, blue=preset.blue, hosts=NODES)
    # I/O routers stand at the same places of each group, apart from one another.
    place = np.arange(preset.io_routers) * (ROUTERS // max(preset.io_routers, 1)) + COLUMNS - 1
    compute = topology.group < preset.compute_groups
    io = compute & np.isin(np.arange(topology.num_routers) % ROUTERS, place % ROUTERS)
    return machine_of(topology, io, compute & ~io)


def machine_of(
    topology: Topology, io: NDArray[np.bool_], compute: NDArray[np.bool_]
) -> WorldMachine:
    """Return the machine on a topology of Aries routers."""
    ports = channels(topology)
    between = ports.between_routers
    source, target = ports.source[:between], ports.target[:between]
    new = np.ones(between, bool)
    new[1:] = (source[1:] != source[:-1]) | (target[1:] != target[:-1])
    wide = (np.cumsum(new) - 1).astype(np.int32)
    # Class 0 of the topology is that of nodes' links; row, column and blue are 1, 2 and 3.
    kind = (ports.link_class[:between][new] - 1).astype(np.uint8)
    each = np.array([_BANDWIDTH[name] for name in CLASSES[:-1]])
    ends = np.tile(topology.host_router, 2).astype(np.int32)
    at_nodes = np.full(len(ends), CLASSES.index("endpoint"), np.uint8)
    return WorldMachine(
        topology,
        ports,
        wide,
        np.concatenate((source[new], ends)),
        np.concatenate((target[new], ends)),
        np.concatenate((kind, at_nodes)),
        np.concatenate((np.bincount(wide) * each[kind], np.full(len(ends), NODE_BANDWIDTH))),
        io,
        compute,
    )
