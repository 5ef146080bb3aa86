"""The channels that messages take through a network, and how long that is without traffic."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kernels.fabric_programs import paths
from workbench.errors import ParameterError
from workbench.models import PISCES, SNAPPR
from workbench.simulate.fabric.channel_rates import latency_ticks
from workbench.simulate.fabric.network_interface import NetworkInterface
from workbench.simulate.ticks import ticks
from workbench.topology.channels import Channels
from workbench.topology.routing import Routing
from workbench.topology.topology import Topology

IntArray = NDArray[np.int64]

COMPUTED = ("torus", "hypercube", "hyperx")
"""Families whose paths take one dimension after the other; coordinates alone give them."""

_ADAPTIVE = ("ugal-l", "ugal-g", "par")
_BY_ENDS = ("first", "hash")
_LONGEST = 512  # links between the ends of a ring of 1024 routers; each row of paths has room


@dataclass(frozen=True, eq=False)
class Paths:
    """The channels of each message between hosts, from injection to ejection."""

    start: IntArray  # (paths + 1,); path p takes channel[start[p]:start[p + 1]]
    channel: NDArray[np.int32]  # numbered as in Channels; injection first, ejection last
    weight: NDArray[np.float64]  # share of the message's bytes on each channel
    links: IntArray  # (paths,), links between routers from end to end
    source: NDArray[np.int32]  # (paths,), host where each begins
    of_message: NDArray[np.int32]  # (messages,), path of each, -1 within a host


def message_paths(
    channels: Channels,
    source: NDArray[np.integer],  # (messages,), hosts
    target: NDArray[np.integer],  # (messages,), hosts
    *,
    routing: Routing | None = None,
    ordered: bool = True,  # computed paths take dimensions in order, as on tori
    side_by_side: bool = False,  # and all parallel links at once, each with its share
    seed: int = 0,  # of the choice among shortest paths; a routing has its own
) -> Paths:
    """Return the paths of messages between hosts.

    A routing gives all minimal routes, its one route or a random Valiant route; None gives each
    pair of hosts one shortest path, on dragonflies with the fewest links between groups.
    """
    network = channels.topology
    source, target = source.astype(np.int64), target.astype(np.int64)
    beyond = source != target
    if routing is not None and routing.scheme in _ADAPTIVE:
        raise ParameterError(
            f"{routing.name} routing depends on queues, which the flow model does not have: take "
            "minimal or "
            "valiant routing, or packets",
            key="routing",
        )
    if routing is not None and routing.goes_around:
        first = source[beyond], target[beyond]
        inverse = np.arange(len(first[0]))
    else:
        pairs, inverse = np.unique(
            source[beyond] * network.num_hosts + target[beyond], return_inverse=True
        )
        first = np.divmod(pairs, network.num_hosts)
    of_message = np.full(len(source), -1, np.int32)
    of_message[beyond] = inverse
    routers = (network.host_router[first[0]], network.host_router[first[1]])
    weight: NDArray[np.float64] | None = None
    if routing is not None and not (routing.goes_around or routing.choice in _BY_ENDS):
        start, between, weight = _spread(routing, *routers)
        links = routing.minimal.hops[routers[0], routing.minimal.column[routers[1]]]
    else:
        if routing is not None:
            start, between = _walked(routing, *routers, first[0])
        elif ordered and network.family in COMPUTED:
            start, between = _by_dimension(channels, *routers, seed)
        else:
            start, between = _shortest(channels, *routers, seed)
        links = np.diff(start)
        if routing is None and ordered and side_by_side:
            start, between, weight = _beside(channels, start, between)
    if weight is not None and network.unequal:
        start, between, weight = _merged(start, between, weight)
    count = len(first[0])
    whole = np.empty(len(between) + 2 * count, np.int32)
    ends = start + 2 * np.arange(count + 1)
    whole[ends[:-1]] = channels.injection[first[0]]
    whole[ends[1:] - 1] = channels.ejection[first[1]]
    inside = np.ones(len(whole), bool)
    inside[ends[:-1]] = inside[ends[1:] - 1] = False
    whole[inside] = between
    shares = np.ones(len(whole))
    if weight is not None:
        shares[inside] = weight
    return Paths(
        start=ends,
        channel=whole,
        weight=shares,
        links=links.astype(np.int64),
        source=first[0].astype(np.int32),
        of_message=of_message,
    )


def latencies(
    made: Paths,
    channels: Channels,
    model: SNAPPR | PISCES,
    interface: NetworkInterface | None = None,
) -> IntArray:
    """Return the latency of each path, in ticks, with injection and ejection, int64[paths].

    With an interface it is the latency of what has no bytes. A path that parts has the mean of its
    ways, by their shares.
    """
    ends = end_latency(model, interface)
    if not len(channels.topology.link_latency):
        return ends + made.links * ticks(model.link_latency)
    of_channel = latency_ticks(channels, model)
    of_channel[channels.between_routers :] = 0
    path = np.repeat(np.arange(len(made.links)), np.diff(made.start))
    between = np.bincount(path, made.weight * of_channel[made.channel], len(made.links))
    return ends + np.rint(between).astype(np.int64)


def end_latency(model: SNAPPR | PISCES, interface: NetworkInterface | None = None) -> int:
    """Return the latency of injection and ejection together, in ticks; see ``latencies``."""
    if interface is not None and interface.control_ticks is not None:
        return interface.control_ticks
    return ticks(model.injection_latency) + ticks(model.ejection_latency)


def _walked(
    routing: Routing,
    sources: NDArray[np.int32],
    targets: NDArray[np.int32],
    hosts: NDArray[np.int64],
) -> tuple[IntArray, NDArray[np.int32]]:
    """Return the routes of a routing's packets; see ``message_paths``."""
    from kernels.fabric_programs import walk

    count = len(sources)
    start = np.zeros(count + 1, np.int64)
    out = np.empty(count * routing.longest, np.int32)
    # Numbered host by host: what others send changes no random choice.
    order = np.argsort(hosts, kind="stable")
    number = np.empty(count, np.int64)
    number[order] = np.arange(count) - np.searchsorted(hosts[order], hosts[order])
    packets = (hosts << 32) | number
    depth = np.zeros(routing.channels.between_routers, np.int32)
    done = walk.walk(routing.tables(), depth, packets, sources, targets, start, out)
    if done < count:
        raise ParameterError(
            f"{routing.name} routing must lead from router {int(sources[done])} to router "
            f"{int(targets[done])}; it goes in a loop",
            key="routing",
        )
    return start, out[: start[-1]]


def _spread(
    routing: Routing, sources: NDArray[np.int32], targets: NDArray[np.int32]
) -> tuple[IntArray, NDArray[np.int32], NDArray[np.float64]]:
    """Return all minimal routes of each pair as channels and weights; see ``message_paths``."""
    from kernels.fabric_programs import walk

    start = np.zeros(len(sources) + 1, np.int64)
    room = (len(sources) + 1) * (routing.longest + 1)
    channel, weight = np.empty(room, np.int32), np.empty(room)
    done = 0
    while True:
        done = walk.spread(routing.tables(), sources, targets, done, start, channel, weight)
        if done == len(sources):
            return start, channel[: start[-1]], weight[: start[-1]]
        channel, weight = np.resize(channel, 2 * room), np.resize(weight, 2 * room)
        room *= 2


def _by_dimension(
    channels: Channels, sources: NDArray[np.int32], targets: NDArray[np.int32], seed: int
) -> tuple[IntArray, NDArray[np.int32]]:
    network = channels.topology
    dims = (network.coordinates.max(axis=0) + 1).astype(np.int32)
    start = np.zeros(len(sources) + 1, np.int64)
    out = np.empty(len(sources) * int(dims.sum()), np.int32)
    done = paths.paths_by_dimension(
        channels.first,
        channels.target,
        network.coordinates,
        dims,
        _has_rings(network),
        sources,
        targets,
        np.int64(seed),
        start,
        out,
    )
    if done < len(sources):
        raise ParameterError(
            f"a {network.family} must have all links of its dimensions; {network.name} lacks one "
            f"on the way from router {int(sources[done])} to router {int(targets[done])}: make "
            "the family 'custom'",
            key="topology",
        )
    return start, out[: start[-1]].copy()


def _beside(
    channels: Channels, start: IntArray, between: NDArray[np.int32]
) -> tuple[IntArray, NDArray[np.int32], NDArray[np.float64]]:
    """Return paths with all the channels beside each of theirs, and the share of each."""
    # Channels are numbered by source, then by target: those beside one another follow.
    count = channels.between_routers
    source, target = channels.source[:count], channels.target[:count]
    new = np.ones(count, bool)
    new[1:] = (np.diff(source) != 0) | (np.diff(target) != 0)
    first = np.flatnonzero(new)
    size = np.diff(np.append(first, count))
    group = (np.cumsum(new) - 1)[between]
    several = size[group]
    after = np.zeros(len(between) + 1, np.int64)
    np.cumsum(several, out=after[1:])
    place = np.arange(after[-1]) - np.repeat(after[:-1], several)
    found = np.repeat(first[group], several) + place
    capacity = channels.capacity[found]
    whole = np.bincount(np.repeat(np.arange(len(between)), several), capacity, len(between))
    return after[start], found.astype(np.int32), capacity / np.repeat(whole, several)


def _merged(
    start: IntArray, between: NDArray[np.int32], weight: NDArray[np.float64]
) -> tuple[IntArray, NDArray[np.int32], NDArray[np.float64]]:
    """Return paths with each channel once: one of more share stands several times in its set."""
    paths = len(start) - 1
    path = np.repeat(np.arange(paths), np.diff(start))
    key = (path << 32) | between
    once, place = np.unique(key, return_inverse=True)
    ends = np.searchsorted(once, np.arange(paths + 1) << 32)
    shares = np.bincount(place, weight, len(once)).astype(np.float64)
    return ends.astype(np.int64), (once & 0xFFFFFFFF).astype(np.int32), shares


def _has_rings(network: Topology) -> bool:
    """Return whether the last router of a dimension is beside the first, as in no mesh."""
    ends = network.coordinates[network.links]
    return network.family == "torus" and bool((np.abs(ends[:, 0] - ends[:, 1]) > 1).any())


def _shortest(
    channels: Channels, sources: NDArray[np.int32], targets: NDArray[np.int32], seed: int
) -> tuple[IntArray, NDArray[np.int32]]:
    network = channels.topology
    weight = network.link_weight[channels.link].astype(np.int64)
    count = len(sources)
    length = np.zeros(count, np.int32)
    longest = 16
    while True:
        out = np.empty((count, longest), np.int32)
        status = paths.shortest_paths(
            channels.first,
            channels.target,
            weight,
            network.link_share[channels.link],
            sources,
            targets,
            np.argsort(targets, kind="stable"),
            np.int64(seed),
            length,
            out,
        )
        if status != paths.TOO_LONG or longest >= _LONGEST:
            break
        longest *= 2
    if status == paths.UNREACHED:
        raise ParameterError(
            f"there must be a route between all hosts; {network.name} has none between some",
            key="topology",
        )
    if status == paths.TOO_LONG:
        raise ParameterError(
            f"routes must have at most {_LONGEST} links; {network.name} has longer ones",
            key="topology",
        )
    start = np.zeros(count + 1, np.int64)
    np.cumsum(length, out=start[1:])
    return start, out[np.arange(longest) < length[:, None]]
