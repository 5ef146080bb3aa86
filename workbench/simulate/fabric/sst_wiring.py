"""SST/macro's torus, fat tree and dragonfly: its numbering of ports and links, and its routers.

They differ from the generators of ``workbench.topology`` in what decides ties: the order of links,
which way round a ring is taken if both are as short, and whose turn it is among equal ports.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workbench.errors import ConfigurationError
from workbench.simulate.fabric.network import Wiring
from workbench.simulate.fabric.sst_limits import check_fat_tree, fat_tree_limit

IntArray = NDArray[np.int64]
Table = NDArray[np.int32]

LARGEST = 2**12
"""Most switches: routes are a table of all pairs."""

MOST_PORTS = 2**20
"""Most ports of all switches, those to nodes included."""

_WORD = 2**32  # values of SST/macro's unsigned int


@dataclass(frozen=True, eq=False)
class SSTNetwork:
    """A machine's switches, with the routes of its routers."""

    wiring: Wiring
    route: Table  # (R, R), channel from a switch towards another, or -1 - rotor
    candidates: Table  # channels that rotors turn through
    rotors: IntArray  # (n, 3), first candidate, number of candidates, whose turn it is
    hops: Table  # (R, R), hops that the LogP overlay counts
    limit: str = ""  # why SST/macro v11.1 does not run it; empty where it does


def torus(sizes: tuple[int, ...], concentration: int) -> SSTNetwork:
    """Return a torus routed dimension by dimension, the shorter way, + if both are as short.

    Switch id = x0 + d0 * (x1 + d1 * ...). Each dimension has a port in either direction, also if it
    has two switches. The overlay counts the ring distance in the last dimension only.
    """
    routers = _checked(math.prod(sizes), 2 * len(sizes) + concentration)
    ids = np.arange(routers, dtype=np.int64)
    at, strides = [], np.cumprod([1, *sizes[:-1]])
    targets = np.empty((routers, 2 * len(sizes)), np.int64)
    wraps = np.empty_like(targets)
    route = np.zeros((routers, routers), np.int32)
    for axis, (size, stride) in enumerate(zip(sizes, strides, strict=True)):
        x = ids // stride % size
        at.append(x)
        targets[:, 2 * axis] = ids + ((x + 1) % size - x) * stride
        targets[:, 2 * axis + 1] = ids + ((x - 1) % size - x) * stride
        wraps[:, 2 * axis], wraps[:, 2 * axis + 1] = x == size - 1, x == 0
    for axis in reversed(range(len(sizes))):
        ahead = (at[axis][None, :] - at[axis][:, None]) % sizes[axis]
        port = 2 * axis + (2 * ahead > sizes[axis])
        channel = ids[:, None] * 2 * len(sizes) + port
        route = np.where(ahead > 0, channel, route).astype(np.int32)
    ahead = (at[-1][None, :] - at[-1][:, None]) % sizes[-1]
    count = targets.size
    wiring = Wiring(
        num_routers=routers,
        source=np.repeat(ids, 2 * len(sizes)).astype(np.int32),
        target=targets.ravel().astype(np.int32),
        host_router=np.repeat(ids, concentration).astype(np.int32),
        lanes=2,
        dimension=np.tile(np.repeat(np.arange(len(sizes)), 2), routers),
        wraps=wraps.ravel(),
        lane_step=np.zeros(count, np.int64),
        order=np.arange(count, dtype=np.int64),
    )
    hops = np.minimum(ahead, sizes[-1] - ahead).astype(np.int32)
    return SSTNetwork(wiring, route, np.zeros(0, np.int32), np.zeros((0, 3), np.int64), hops)


class _Turns:
    """Collects routes whose packets take several channels in turn."""

    def __init__(self, routers: int) -> None:
        self.route = np.zeros((routers, routers), np.int32)
        self._candidates: list[int] = []
        self._rotors: list[tuple[int, int, int]] = []

    def add(self, here: int, targets: list[int] | IntArray, channels: list[int]) -> None:
        """Add routes that take the channels in turn, from index ``here`` modulo their number on."""
        if len(channels) == 1:
            self.route[here, targets] = channels[0]
            return
        self.route[here, targets] = -1 - len(self._rotors)
        turn = here % len(channels)
        self._rotors.append((len(self._candidates), len(channels), turn))
        self._candidates.extend(channels)

    def network(self, wiring: Wiring, hops: Table, limit: str = "") -> SSTNetwork:
        """Return the machine with these routes."""
        rotors = np.array(self._rotors, np.int64).reshape(-1, 3)
        candidates = np.array(self._candidates, np.int32)
        return SSTNetwork(wiring, self.route, candidates, rotors, hops, limit)


def _counted(
    connections: list[list[int]], concentration: int, leaves: int, lanes: int, step: IntArray
) -> Wiring:
    """Return the wiring of switches with these neighbours, lanes taken by counting."""
    routers = len(connections)
    degree = [len(neighbours) for neighbours in connections]
    target = np.concatenate([np.array(neighbours, np.int32) for neighbours in connections])
    return Wiring(
        num_routers=routers,
        source=np.repeat(np.arange(routers, dtype=np.int32), degree),
        target=target,
        host_router=np.repeat(np.arange(leaves, dtype=np.int32), concentration),
        lanes=lanes,
        dimension=np.full(len(target), -1, np.int64),
        wraps=np.zeros(len(target), np.int64),
        lane_step=step,
        order=np.arange(len(target), dtype=np.int64),
    )


def fat_tree(shape: Mapping[str, int]) -> SSTNetwork:
    """Return a fat tree of leaves, aggregation and core switches, all ports taken in turn.

    Ids: leaves, aggregation switches, cores, subtree by subtree. Up ports take turns for all
    packets, down ports for those to the same leaf (aggregation switch) or subtree (core).
    """
    check_fat_tree(shape)
    trees, leaves_each = shape["num_agg_subtrees"], shape["leaf_switches_per_subtree"]
    aggs_each, cores = shape["agg_switches_per_subtree"], shape["num_core_switches"]
    leaf_up, agg_down = shape["up_ports_per_leaf_switch"], shape["down_ports_per_agg_switch"]
    agg_up, core_down = shape["up_ports_per_agg_switch"], shape["down_ports_per_core_switch"]
    leaves, aggs = trees * leaves_each, trees * aggs_each
    routers = _checked(
        leaves + aggs + cores,
        max(leaf_up + shape["concentration"], agg_down + agg_up, core_down),
    )
    top = leaves + aggs
    connections: list[list[int]] = []
    for leaf in range(leaves):
        tree, place = divmod(leaf, leaves_each)
        first = leaves + tree * aggs_each
        connections.append(
            [first + (place + up * leaves_each) // agg_down for up in range(leaf_up)]
        )
    for agg in range(aggs):
        tree, place = divmod(agg, aggs_each)
        down = [tree * leaves_each + port % leaves_each for port in range(agg_down)]
        turn = [up * aggs + place * trees + tree for up in range(agg_up)]
        connections.append(down + [top + number // core_down for number in turn])
    for core in range(cores):
        numbers = [core * core_down + down for down in range(core_down)]
        connections.append([leaves + q % trees * aggs_each + q % aggs // trees for q in numbers])
    turns = _Turns(routers)
    first = 0
    everywhere = np.arange(leaves)
    tree_of = np.concatenate(
        (everywhere // leaves_each, np.arange(aggs) // aggs_each, np.full(cores, -1))
    )
    for switch, neighbours in enumerate(connections):
        channels = list(range(first, first + len(neighbours)))
        first += len(neighbours)
        up = [
            channel
            for channel, neighbour in zip(channels, neighbours, strict=True)
            if neighbour > switch and switch < top
        ]
        if up:
            turns.add(switch, everywhere, up)
        groups: dict[int, list[int]] = {}
        for channel, neighbour in zip(channels, neighbours, strict=True):
            if channel not in up:
                where = int(tree_of[neighbour]) if switch >= top else neighbour
                groups.setdefault(where, []).append(channel)
        for where, lower in groups.items():
            reached = np.flatnonzero(tree_of[:leaves] == where) if switch >= top else [where]
            turns.add(switch, reached, lower)
    count = sum(len(neighbours) for neighbours in connections)
    step = np.zeros(count, np.int64)
    wiring = _counted(connections, shape["concentration"], leaves, 1, step)
    same = np.arange(routers)
    # The original subtracts in unsigned 32 bits, and ignores where subtrees begin.
    subtree = (same - leaves) % _WORD // aggs_each
    hops = np.where(subtree[:, None] == subtree[None, :], 2, 4)
    hops[same, same] = 0
    return turns.network(wiring, hops.astype(np.int32), fat_tree_limit(shape))


def dragonfly(
    per_group: int, groups: int, globals_each: int, concentration: int, *, static: bool
) -> SSTNetwork:
    """Return a dragonfly with circulant global links and minimal routes; lanes count global hops.

    Switch id = place + group * switches of a group. A packet leaves by its switch's own global
    links to the group, else by other switches': in turn, or by the target's id (``static``).
    """
    routers = _checked(per_group * groups, per_group + globals_each + concentration)
    half = globals_each // 2
    connections, beyond = [], []
    for switch in range(routers):
        group, place = divmod(switch, per_group)
        local = [group * per_group + other for other in range(per_group) if other != place]
        reached = [
            place + other % groups * per_group
            for step in range(place * half + 1, place * half + half + 1)
            for other in (group + step, group - step)
            if other % groups != group
        ]
        connections.append(local + reached)
        beyond.append(reached)
    count = sum(len(neighbours) for neighbours in connections)
    step = np.zeros(count, np.int64)
    turns = _Turns(routers)
    first = 0
    group_of = np.arange(routers) // per_group
    far_of = [sorted({neighbour // per_group for neighbour in reached}) for reached in beyond]
    hops = np.full((routers, routers), 3, np.int32)
    for switch, neighbours in enumerate(connections):
        group, place = divmod(switch, per_group)
        step[first + per_group - 1 : first + len(neighbours)] = 1
        own: dict[int, list[int]] = {}
        for number, neighbour in enumerate(beyond[switch]):
            own.setdefault(neighbour // per_group, []).append(first + per_group - 1 + number)
            # A last partner that is switch 0 is taken for none.
            hops[switch, group_of == neighbour // per_group] = 2 if neighbour > 0 else 3
        hops[switch, beyond[switch]] = 1
        hops[switch, group_of == group] = 1
        for number, neighbour in enumerate(neighbours[: per_group - 1]):
            turns.route[switch, neighbour] = first + number
        for other in range(per_group):
            for far in far_of[group * per_group + other]:
                if far not in far_of[switch]:
                    own.setdefault(far, []).append(first + other - (other > place))
        for far, channels in own.items():
            targets = np.flatnonzero(group_of == far)
            if static:
                turns.route[switch, targets] = np.array(channels)[targets % len(channels)]
            else:
                turns.add(switch, targets, channels)
        if len(own) != groups - 1:
            raise ConfigurationError(
                f"the global links of a dragonfly must reach all groups: {per_group} switches with "
                f"h = {globals_each} reach {len(own) + 1} of {groups}; raise topology.h",
                rule="global links reach all groups",
                keys=("topology.h", "topology.geometry"),
            )
        first += len(neighbours)
    wiring = _counted(connections, concentration, routers, 2, step)
    return turns.network(wiring, hops)


def _checked(routers: int, ports: int) -> int:
    """Return a number of switches, or refuse it; ``ports`` is the most that a switch has."""
    if routers > LARGEST or routers * ports > MOST_PORTS:
        raise ConfigurationError(
            f"a machine must have at most {LARGEST} switches and {MOST_PORTS} ports here; got "
            f"{routers} switches of {ports} ports",
            rule="number of switches and ports",
            keys=("topology.geometry", "topology.concentration"),
        )
    return routers
