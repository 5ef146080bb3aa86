"""Proof that a routing cannot deadlock: the graph of channels that wait for one another."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from workbench.topology.channels import Channels
from workbench.topology.routing.lanes import Lanes
from workbench.topology.routing.tables import MinimalRoutes, groups, leading

MOST_LANES = 60
"""Most lanes that are tried."""


@dataclass(frozen=True)
class Dependencies:
    """The channels that packets of a routing may wait for, and whether these form a cycle.

    Attributes:
        lanes: virtual channels of each channel that packets use; 0 where there were too many.
        dependencies: pairs of a channel's lane and another that a packet on it may wait for.
        cycle: channels and lanes that wait for one another in turn, empty where none do; the
            routing then cannot deadlock.
        turns: int32[dependencies, 4]: channel, lane, and the channel and lane that a packet on it
            may wait for; None where they were not kept.
    """

    lanes: int
    dependencies: int
    cycle: tuple[tuple[int, int], ...]
    turns: NDArray[np.int32] | None = field(default=None, repr=False, compare=False)

    @property
    def deadlock_free(self) -> bool:
        """Whether there is no cycle."""
        return self.lanes > 0 and not self.cycle

    def named(self, channels: Channels, most: int = 8) -> str:
        """Return the cycle by its routers and lanes, for a message.

        Args:
            channels: of the topology.
            most: members to name.
        """
        steps = [
            f"{int(channels.source[channel])}->{int(channels.target[channel])} lane {lane}"
            for channel, lane in self.cycle[:most]
        ]
        return ", ".join(steps) + (", ..." if len(self.cycle) > most else "")


def turns(channels: Channels) -> NDArray[np.int64]:
    """Return the row of the first turn from each channel to the next ones, int64[channels + 1]."""
    degree = np.diff(channels.first).astype(np.int64)
    start = np.zeros(channels.between_routers + 1, np.int64)
    np.cumsum(degree[leading(channels)], out=start[1:])
    return start


def dependencies(
    channels: Channels,
    routes: MinimalRoutes,
    lanes: Lanes,
    *,
    around: bool,
    diverts: bool,
    keep: bool = False,
) -> Dependencies:
    """Return the dependencies of all packets that a routing may send.

    Phase 0 goes straight to any target. Where packets go around by intermediate routers, another
    phase begins wherever one may end; where they may be diverted, one also begins after the first
    hop, if that stays in the group. Each candidate of each minimal route counts, whichever an
    adaptive choice would take.

    Args:
        channels: of the topology.
        routes: its minimal routes.
        lanes: the rule by which packets take lanes.
        around: whether packets may go by way of an intermediate router.
        diverts: whether they may turn to one after their first hop.
        keep: whether to return the dependencies themselves.
    """
    from kernels import dependency as kernel

    leads_to = leading(channels)
    size = lanes.most(routes, phases=1 + around + diverts)
    if size > MOST_LANES:
        return Dependencies(lanes=0, dependencies=0, cycle=())
    turn_first = turns(channels)
    used = np.zeros((int(turn_first[-1]), size), np.uint8)
    rule = kernel.LaneRule(
        lanes.step, lanes.dimension, lanes.wraps, lanes.phase_step, lanes.dateline
    )
    minimal = kernel.Routes(
        routes.targets, routes.row, routes.set_first, routes.candidate, routes.hops
    )

    def phase(number: int, entry: NDArray[np.uint64]) -> tuple[int, NDArray[np.uint64], Masks]:
        last = np.zeros(len(leads_to), np.uint64)
        once = np.zeros(len(leads_to), np.uint64)
        marks = (turn_first, used, last, once)
        highest = kernel.walk(channels.first, leads_to, minimal, rule, number, entry, *marks)
        return highest, last, once

    def begin(number: int, ended: NDArray[np.uint64]) -> tuple[int, NDArray[np.uint64], Masks]:
        found = phase(number, _entries(channels, lanes, ended))
        kernel.join(channels.first, leads_to, ended, found[2], number, turn_first, used)
        return found

    start = np.zeros(len(channels.first) - 1, np.uint64)
    start[routes.targets] = 1
    highest, last, once = phase(0, start)
    highests = [highest]
    if around:
        highests.append(begin(1, last)[0])
    if diverts:
        group = groups(channels.topology)
        leaves = group[channels.source[: len(leads_to)]] != group[leads_to]
        highest, last, _ = begin(1, np.where(leaves, np.uint64(0), once))
        highests += [highest, begin(2, last)[0]]
    if min(highests) < 0:
        return Dependencies(lanes=0, dependencies=0, cycle=())
    found = int(max(highests)) + 1
    start_of = np.empty(len(leads_to) * size + 1, np.int64)
    described = (channels.first, leads_to, rule, turn_first, used, start_of)
    number = kernel.turns(*described, np.empty(0, np.int32))
    to = np.empty(number, np.int32)
    kernel.turns(*described, to)
    cycle = np.empty(max(len(leads_to) * size, 1), np.int32)
    members = kernel.find_cycle(start_of, to, cycle)
    return Dependencies(
        lanes=found,
        dependencies=int(number),
        cycle=tuple((int(node) // size, int(node) % size) for node in cycle[:members]),
        turns=_listed(start_of, to, size) if keep else None,
    )


def _listed(start: NDArray[np.int64], to: NDArray[np.int32], size: int) -> NDArray[np.int32]:
    """Return dependencies as channels and lanes, int32[n, 4]."""
    node = np.repeat(np.arange(len(start) - 1), np.diff(start))
    return np.column_stack((node // size, node % size, to // size, to % size)).astype(np.int32)


Masks = NDArray[np.uint64]
"""Lanes of each channel, as bits."""


def _entries(channels: Channels, lanes: Lanes, ended: Masks) -> Masks:
    """Return the counts with which packets enter a phase at each router, as bits."""
    grown = lanes.step.astype(np.uint64) + np.uint64(lanes.phase_step)
    counts = ended if lanes.dateline else ended << grown
    entry = np.zeros(len(channels.first) - 1, np.uint64)
    np.bitwise_or.at(entry, leading(channels), counts)
    return entry
