"""SST/macro's torus, fat tree and dragonfly: who is connected to whom, and which way packets go.

Ports are numbered as SST/macro numbers them. A topology says, for each switch, its connections in
the order they are made (output port, neighbour, the neighbour's input port) and its first node
port; its router sets a packet's next output port and lane.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.reference.fabric_config import FabricConfig

Connection = tuple[int, int, int]
"""Output port, neighbour, input port there."""


class Torus:
    """Switch id = x0 + d0*(x1 + d1*...); ports 2*dimension (+), 2*dimension + 1 (-), then nodes."""

    lanes = 2

    def __init__(self, config: FabricConfig) -> None:
        self.sizes = config.geometry["geometry"]
        (self.concentration,) = config.geometry["concentration"]
        self.switches = self.leaves = prod(self.sizes)
        self._strides = [prod(self.sizes[:axis]) for axis in range(len(self.sizes))]

    def node_port(self, switch: int) -> int:
        """Return the first node port of a switch."""
        return 2 * len(self.sizes)

    def _at(self, switch: int, axis: int) -> int:
        return switch // self._strides[axis] % self.sizes[axis]

    def connections(self, switch: int) -> list[Connection]:
        """Return a switch's connections in their order."""
        found = []
        for axis, (size, stride) in enumerate(zip(self.sizes, self._strides, strict=True)):
            at = self._at(switch, axis)
            base = switch - at * stride
            found.append((2 * axis, base + (at + 1) % size * stride, 2 * axis + 1))
            found.append((2 * axis + 1, base + (at - 1) % size * stride, 2 * axis))
        return found

    def hops(self, source: int, target: int) -> int:
        """Return the hops the LogP overlay counts: those of the last dimension only."""
        axis = len(self.sizes) - 1
        apart = abs(self._at(source, axis) - self._at(target, axis))
        return min(apart, self.sizes[axis] - apart)

    def router(self, switch: int) -> TorusRouter:
        """Return the router of a switch."""
        return TorusRouter(self, switch)


class TorusRouter:
    """Dimension by dimension, the shorter way round, + if both are as short.

    A packet changes to lane 1 where it crosses the edge of a dimension.
    """

    def __init__(self, torus: Torus, switch: int) -> None:
        self._torus = torus
        self._switch = switch

    def route(self, packet: Any, target: int) -> None:
        """Set the packet's output port and lane towards the switch `target`."""
        torus = self._torus
        for axis, size in enumerate(torus.sizes):
            at, to = torus._at(self._switch, axis), torus._at(target, axis)
            if at == to:
                continue
            up = (to - at) % size <= (at - to) % size
            if at == (size - 1 if up else 0):
                lane = 1
            elif axis != packet.header.get("axis", 0):
                lane = 0
            else:
                lane = packet.header.get("lane", 0)
            packet.header = {"axis": axis, "lane": lane}
            packet.out, packet.next_lane = 2 * axis + (not up), lane
            return


class FatTree:
    """Leaves, aggregation and core switches of subtrees, cabled round robin."""

    lanes = 1

    def __init__(self, config: FabricConfig) -> None:
        shape = {key: numbers[0] for key, numbers in config.geometry.items()}
        self.concentration = shape["concentration"]
        self.subtrees = shape["num_agg_subtrees"]
        self.leaves_each = shape["leaf_switches_per_subtree"]
        self.aggs_each = shape["agg_switches_per_subtree"]
        self.leaf_up = shape["up_ports_per_leaf_switch"]
        self.agg_down = shape["down_ports_per_agg_switch"]
        self.agg_up = shape["up_ports_per_agg_switch"]
        self.core_down = shape["down_ports_per_core_switch"]
        self.leaves = self.subtrees * self.leaves_each
        self.aggs = self.subtrees * self.aggs_each
        self.switches = self.leaves + self.aggs + shape["num_core_switches"]

    def node_port(self, switch: int) -> int:
        """Return the first node port of a leaf."""
        return self.leaf_up

    def subtree(self, switch: int) -> int:
        """Return the subtree of a leaf or an aggregation switch."""
        if switch < self.leaves:
            return switch // self.leaves_each
        return (switch - self.leaves) // self.aggs_each

    def connections(self, switch: int) -> list[Connection]:
        """Return a switch's connections in their order."""
        if switch < self.leaves:
            return self._of_leaf(switch)
        if switch < self.leaves + self.aggs:
            return self._of_agg(switch)
        found = []
        for down in range(self.core_down):
            q = (switch - self.leaves - self.aggs) * self.core_down + down
            agg = self.leaves + q % self.subtrees * self.aggs_each
            agg += q % self.aggs // self.subtrees
            found.append((down, agg, self.agg_down + q // self.aggs))
        return found

    def _of_leaf(self, switch: int) -> list[Connection]:
        tree, position = divmod(switch, self.leaves_each)
        found = []
        for up in range(self.leaf_up):
            q = position + up * self.leaves_each
            agg = self.leaves + tree * self.aggs_each + q // self.agg_down
            found.append((up, agg, q % self.agg_down))
        return found

    def _of_agg(self, switch: int) -> list[Connection]:
        tree, position = divmod(switch - self.leaves, self.aggs_each)
        ups, downs = [], []
        for up in range(self.agg_up):
            q = up * self.aggs + position * self.subtrees + tree
            core = self.leaves + self.aggs + q // self.core_down
            ups.append((self.agg_down + up, core, q % self.core_down))
        for down in range(self.agg_down):
            q = position * self.agg_down + down
            leaf = tree * self.leaves_each + q % self.leaves_each
            downs.append((down, leaf, q // self.leaves_each))
        return ups + downs

    def hops(self, source: int, target: int) -> int:
        """Return the hops the LogP overlay counts; it mistakes leaves for aggregation switches."""
        if source == target:
            return 0
        trees = {(leaf - self.leaves) % 2**32 // self.aggs_each for leaf in (source, target)}
        return 2 if len(trees) == 1 else 4

    def router(self, switch: int) -> FatTreeRouter:
        """Return the router of a switch."""
        return FatTreeRouter(self, switch)


class FatTreeRouter:
    """Round robin over the up ports, and over the down ports that lead to a packet's subtree."""

    def __init__(self, tree: FatTree, switch: int) -> None:
        self._tree = tree
        self._switch = switch
        core = tree.leaves + tree.aggs
        self._up: list[int] = []
        self._down: dict[int, list[int]] = {}
        for port, neighbour, _ in tree.connections(switch):
            if neighbour > switch and switch < core:
                self._up.append(port)
            else:
                where = tree.subtree(neighbour) if switch >= core else neighbour
                self._down.setdefault(where, []).append(port)
        self._turn = {where: switch % len(ports) for where, ports in self._down.items()}
        self._up_turn = switch % len(self._up) if self._up else 0

    def route(self, packet: Any, target: int) -> None:
        """Set the packet's output port and lane towards the leaf `target`."""
        packet.next_lane = 0
        tree = self._tree
        where = tree.subtree(target) if self._switch >= tree.leaves + tree.aggs else target
        if where in self._down:
            ports = self._down[where]
            packet.out = ports[self._turn[where]]
            self._turn[where] = (self._turn[where] + 1) % len(ports)
        else:
            packet.out = self._up[self._up_turn]
            self._up_turn = (self._up_turn + 1) % len(self._up)


class Dragonfly:
    """Groups of fully connected switches, circulant between groups."""

    lanes = 2

    def __init__(self, config: FabricConfig) -> None:
        self.per_group, self.groups = config.geometry["geometry"]
        (self.globals,) = config.geometry["h"]
        (self.concentration,) = config.geometry["concentration"]
        self.switches = self.leaves = self.per_group * self.groups
        self.static = config.static_gateways

    def node_port(self, switch: int) -> int:
        """Return the first node port of a switch."""
        return self.per_group + self.globals

    def global_neighbours(self, switch: int) -> list[tuple[int, int]]:
        """Return the global links of a switch: output port and neighbour."""
        group, at = divmod(switch, self.per_group)
        half = self.globals // 2
        found = []
        for step in range(at * half + 1, at * half + half + 1):
            for other in (group + step, group - step):
                if other % self.groups != group:
                    port = self.per_group + len(found)
                    found.append((port, at + other % self.groups * self.per_group))
        return found

    def connections(self, switch: int) -> list[Connection]:
        """Return a switch's connections in their order."""
        group, at = divmod(switch, self.per_group)
        found = [
            (other, other + group * self.per_group, at)
            for other in range(self.per_group)
            if other != at
        ]
        for port, neighbour in self.global_neighbours(switch):
            found.append((port, neighbour, self.per_group + ((port - self.per_group) ^ 1)))
        return found

    def hops(self, source: int, target: int) -> int:
        """Return the hops the LogP overlay counts; switch 0 as the last partner does not count."""
        if source // self.per_group == target // self.per_group:
            return 1
        neighbours = [neighbour for _, neighbour in self.global_neighbours(source)]
        if target in neighbours:
            return 1
        group = target // self.per_group
        there = [switch for switch in neighbours if switch // self.per_group == group]
        return 2 if there and there[-1] > 0 else 3

    def router(self, switch: int) -> DragonflyRouter:
        """Return the router of a switch."""
        return DragonflyRouter(self, switch)


class DragonflyRouter:
    """Minimal: over a gateway to the group, own ones first; the lane counts global hops."""

    def __init__(self, dragonfly: Dragonfly, switch: int) -> None:
        self._dragonfly = dragonfly
        self._group, self._at = divmod(switch, dragonfly.per_group)
        self._gateways: dict[int, list[int]] = {}
        for port, neighbour in dragonfly.global_neighbours(switch):
            self._gateways.setdefault(neighbour // dragonfly.per_group, []).append(port)
        own = set(self._gateways)
        for at in range(dragonfly.per_group):
            groups = {
                neighbour // dragonfly.per_group
                for _, neighbour in dragonfly.global_neighbours(
                    at + self._group * dragonfly.per_group
                )
            }
            for group in sorted(groups - own):
                self._gateways.setdefault(group, []).append(at)
        self._turn = {group: switch % len(ports) for group, ports in self._gateways.items()}

    def route(self, packet: Any, target: int) -> None:
        """Set the packet's output port and lane towards the switch `target`."""
        dragonfly = self._dragonfly
        taken = packet.header.get("taken", 0)
        packet.next_lane = taken
        group, at = divmod(target, dragonfly.per_group)
        if group == self._group:
            packet.out = at
            return
        ports = self._gateways[group]
        if dragonfly.static:
            packet.out = ports[target % len(ports)]
        else:
            packet.out = ports[self._turn[group]]
            self._turn[group] = (self._turn[group] + 1) % len(ports)
        if packet.out >= dragonfly.per_group:
            packet.header = {"taken": taken + 1}


TOPOLOGIES: dict[str, Any] = {"torus": Torus, "fat_tree": FatTree, "dragonfly": Dragonfly}
