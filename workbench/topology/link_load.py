"""How loaded each link is on average, without a simulation: traffic over minimal routes.

Each message takes any of the minimal routes that packets take, as ``Topology.link_weight`` defines
them: a dragonfly's go by one global link. Routers share what they pass on equally among the
channels that such routes begin with (ECMP), as packets with the routing ``minimal`` do; a link of
more bandwidth gets as much more (WCMP: Zhou et al., EuroSys 2014), as parallel links together do.
With Valiant's routing a message goes to a random router first (Valiant, SIAM J. Comput. 11, 1982).
Links have the bandwidth of a host's link unless the topology states theirs. Loads are means:
queues, and what they do to latency, need a simulation.
"""

from __future__ import annotations

import hashlib
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from workbench import tasks
from workbench.arrays import FloatArray
from workbench.errors import ParameterError, SimulationHalted
from workbench.result import Drawing, StoredResult
from workbench.suggestions import did_you_mean
from workbench.tasks import Task, task_of
from workbench.topology.channels import Channels, channels
from workbench.topology.router_traffic import MatrixTraffic, RouterTraffic, SumTraffic
from workbench.topology.topology import Topology
from workbench.topology.traffic import Traffic, refuse_matrix, uniform
from workbench.topology.twins import Twins, twins

if TYPE_CHECKING:
    import pandas as pd


LoadRouting = Literal["minimal", "valiant", "mixed"]
LOAD_ROUTINGS: tuple[LoadRouting, ...] = get_args(LoadRouting)
"""All minimal routes; over a random router; the best share of both, which UGAL aims at."""

_NARROWINGS = 40  # to two thirds each: leaves 1e-7 of the share, and of the load
_SHARE_DIGITS = 12  # of a share: sums are rounded below them
_DETOURS: dict[bytes, FloatArray] = {}
_KEEPING = threading.Lock()
_MOST_DETOURS, _MOST_BYTES = 16, 1 << 26  # chosen: some networks compared, and 64 MiB
_PARTS, _WORTH_THREADS = 4, 1_000_000  # ``slim_fly(11)`` has so much: 9 ms, with threads 10
_BLOCK = 1 << 20
"""Numbers of the traffic that are made at a time: 8 MiB."""


@dataclass(frozen=True, eq=False)
class LinkLoads(StoredResult):
    """The mean load of each channel where every host sends at full bandwidth.

    A load of 1 fills a channel; 2 is twice what it can carry. Where links are unequal, full
    bandwidth is the reference of `Topology.capacity`.

    Attributes:
        channels: of the network.
        channel: float64[channels], load of each channel from router to router.
        host: the largest load of a link between a host and its router, by traffic from and to
            other routers; the mean of a router's hosts.
        routing: of the messages.
        minimal_share: share of the traffic on minimal routes; the rest takes random routers.
    """

    channels: Channels
    channel: FloatArray
    host: float
    routing: LoadRouting
    minimal_share: float

    plot = Drawing("plot_link_loads")

    @property
    def topology(self) -> Topology:
        """The network."""
        return self.channels.topology

    @cached_property
    def link(self) -> FloatArray:
        """The larger load of the two directions of each link, float64[links]."""
        found = np.zeros(self.topology.num_links)
        np.maximum.at(found, self.channels.link, self.channel)
        return found

    @property
    def largest(self) -> float:
        """The largest load of any channel, the hosts' own among them."""
        return float(max(self.channel.max(initial=0.0), self.host))

    @property
    def saturation(self) -> float:
        """The share of their bandwidth at which hosts may send before some channel is full."""
        return min(1.0, 1.0 / self.largest) if self.largest > 0 else 1.0

    def to_dict(self) -> dict[str, Any]:
        """Return values that JSON can hold; ``channel`` is the load of each, as ``channels`` is."""
        return {
            "topology": self.topology.name,
            "routing": self.routing,
            "minimal_share": self.minimal_share,
            "largest": self.largest,
            "saturation": self.saturation,
            "host": self.host,
            "channel": self.channel.tolist(),
        }

    def to_frame(self) -> pd.DataFrame:
        """Return ``hottest`` of all channels between routers."""
        return self.hottest(len(self.channel))

    def hottest(self, count: int = 10) -> pd.DataFrame:
        """Return the most loaded channels between routers, the most loaded first.

        Args:
            count: number of rows at most.

        Returns:
            ``source`` and ``target``, the routers, ``link_class``, and ``load``.
        """
        import pandas as pd

        return pd.DataFrame(self.hottest_columns(count))

    def hottest_columns(self, count: int) -> dict[str, list[Any]]:
        """Return the columns of ``hottest`` as lists: a panel needs no pandas for a few rows."""
        order = np.argsort(-self.channel, kind="stable")[:count]
        classes = self.topology.classes
        return {
            "source": self.channels.source[order].tolist(),
            "target": self.channels.target[order].tolist(),
            "link_class": [classes[one] for one in self.channels.link_class[order]],
            "load": self.channel[order].tolist(),
        }

    def __repr__(self) -> str:
        return (
            f"LinkLoads({self.topology.name}, {self.routing}: largest {self.largest:.3g}, full at "
            f"{self.saturation:.3g} of the hosts' bandwidth)"
        )


def link_loads(
    topology: Topology,
    traffic: ArrayLike | Traffic | None = None,
    *,
    routing: LoadRouting = "minimal",
    task: Task | None = None,
) -> LinkLoads:
    """Return the mean load of each channel under some traffic.

    Args:
        topology: the network.
        traffic: a pattern's; or float64[routers, routers], sent by the hosts of one router to those
            of another, in units of a host's bandwidth; None sends from each host to all others
            equally.
        routing: ``minimal``, ``valiant``, or ``mixed``: the share of both with the smallest largest
            load, one share for all messages.
        task: once it is stopped, the work ends.

    Raises:
        ParameterError: the traffic is not of these routers, or between routers without a path;
            there are no hosts, whose routers detours take, or too many routers.
        SimulationHalted: the task was stopped.
    """
    if routing not in LOAD_ROUTINGS:
        raise ParameterError(
            f"routing must be one of {', '.join(LOAD_ROUTINGS)}; got {routing!r}"
            f"{did_you_mean(routing, LOAD_ROUTINGS)}",
            key="routing",
        )
    sent = _between_routers(topology, uniform(topology) if traffic is None else traffic)
    hosts = np.bincount(topology.host_router, minlength=topology.num_routers)
    ports = channels(topology)
    beside = _side_by_side(topology)
    several = channels(beside) if beside is not topology else ports
    task = task_of(task)
    share = 1.0 if routing == "minimal" else 0.0
    alike = twins(several)

    def joined(load: FloatArray) -> FloatArray:
        """Return the load of each channel from those of the links side by side that it stands for.

        A channel of capacity 2 that carries 2 has the load 1.
        """
        if beside is topology:
            return load
        count = topology.link_share[ports.link]
        whole = np.add.reduceat(load, np.cumsum(count) - count) if len(count) else load
        return whole / ports.capacity[: ports.between_routers]

    found = joined(_loads(several, alike, sent, task)) if routing != "valiant" else np.zeros(0)
    if routing != "minimal":
        detour = joined(_detour_loads(several, alike, sent, hosts, task))
        share = _best_share(found, detour) if routing == "mixed" else 0.0
        found = detour if routing == "valiant" else share * found + (1 - share) * detour
    attached = np.bincount(topology.host_router, topology.host_capacity, topology.num_routers)
    attached[hosts == 0] = 1.0
    per_host = np.maximum(sent.sent, sent.received) / attached
    return LinkLoads(ports, found, float(per_host.max(initial=0.0)), routing, share)


def _side_by_side(topology: Topology) -> Topology:
    """Return a network with as many equal links in place of each as its share says.

    Channels are numbered by their ends and then by link, so those of one link stay together.
    """
    if not topology.unequal:
        return topology
    share = topology.link_share
    none = np.zeros(0)
    return replace(
        topology,
        links=np.repeat(topology.links, share, axis=0),
        link_class=np.repeat(topology.link_class, share),
        link_bandwidth=none,
        link_latency=none,
        host_bandwidth=none,
    )


def _between_routers(topology: Topology, traffic: ArrayLike | Traffic) -> RouterTraffic:
    refuse_matrix(topology)
    if not isinstance(traffic, Traffic):
        return MatrixTraffic(_checked(topology, traffic))
    if traffic.topology is not topology and traffic.topology != topology:
        raise ParameterError(
            f"traffic must be of {topology.name}; got that of {traffic.topology.name}",
            key="traffic",
        )
    return SumTraffic.of(traffic)


def _checked(topology: Topology, traffic: ArrayLike) -> FloatArray:
    sent = np.array(traffic, float)
    n = topology.num_routers
    if sent.shape != (n, n) or not np.isfinite(sent).all() or (sent < 0).any():
        raise ParameterError(
            f"traffic must be a matrix of {n} by {n} numbers of at least 0, a row for each router "
            f"that sends; got shape {sent.shape}",
            key="traffic",
        )
    # What stays at a router takes no channel between routers.
    np.fill_diagonal(sent, 0.0)
    return sent


def _detour_loads(
    ports: Channels,
    alike: Twins,
    traffic: RouterTraffic,
    hosts: NDArray[np.int64],
    task: Task,
) -> FloatArray:
    """Return the loads of both phases of Valiant's routing, over routers that have hosts.

    They depend only on what each router sends and receives in all, so recent results are cached.
    """
    total = float(traffic.sent.sum())
    if not total:
        return np.zeros(ports.between_routers)
    if not hosts.any():
        raise ParameterError(
            f"there must be hosts, whose routers detours go over; {ports.topology.name} has none",
            key="topology",
        )
    # Sums of other patterns differ in their last digits.
    out, into = (np.round(sums / total, _SHARE_DIGITS) for sums in (traffic.sent, traffic.received))
    digest = hashlib.sha256()
    weight = ports.topology.link_weight[ports.link]
    for part in (ports.first, ports.target, weight, hosts, out, into):
        digest.update(part.tobytes())
    key = digest.digest()
    load = _DETOURS.get(key)
    if load is None:
        over = hosts / hosts.sum()
        load = _loads(ports, alike, SumTraffic.of_products((out, over), (over, into)), task)
        with _KEEPING:
            _DETOURS[key] = load
            while len(_DETOURS) > _MOST_DETOURS or _bytes_kept() > _MOST_BYTES:
                del _DETOURS[next(iter(_DETOURS))]
    return total * load


def _bytes_kept() -> int:
    return sum(one.nbytes for one in _DETOURS.values())


def _loads(ports: Channels, alike: Twins, traffic: RouterTraffic, task: Task) -> FloatArray:
    from kernels import link_load as kernel

    between = ports.between_routers
    network = kernel.Ports(
        ports.first,
        ports.target[:between],
        ports.opposite,
        ports.topology.link_weight[ports.link],
    )
    bundles = kernel.Bundles(
        alike.class_of, alike.members, alike.first, alike.target, alike.weight, alike.channels
    )
    senders = np.flatnonzero(traffic.sent)
    receivers = np.flatnonzero(traffic.received)
    # Routers of a class share their routes, so they follow one another.
    receivers = receivers[np.argsort(alike.class_of[receivers], kind="stable")]

    def part(some: NDArray[np.int64]) -> tuple[int, FloatArray]:
        load, common = np.zeros(between), np.zeros(len(alike.target))
        status, rows = kernel.DONE, max(_BLOCK // max(len(senders), 1), 1)
        for begin in range(0, len(some), rows):
            block = some[begin : begin + rows]
            status = kernel.equal_split(
                network,
                bundles,
                block.astype(np.int32),
                senders.astype(np.int32),
                traffic.to(block, senders),
                task.stop_event.cell,
                load,
                common,
            )
            if status != kernel.DONE:
                break
        return status, load + common[alike.bundle_of]

    # As many parts on every machine: sums depend on their order.
    work = len(receivers) * len(alike.target)
    pieces = np.array_split(receivers, _PARTS if work > _WORTH_THREADS else 1)
    if len(pieces) > 1:
        with ThreadPoolExecutor(min(tasks.cores(), _PARTS)) as pool:
            found = list(pool.map(part, pieces))
    else:
        found = [part(pieces[0])]
    stati = {status for status, _ in found}
    load = np.sum([one for _, one in found], axis=0)
    if kernel.HALTED in stati:
        raise SimulationHalted("stopped before the loads were known")
    if kernel.APART in stati:
        raise ParameterError(
            f"there must be a route for all traffic; {ports.topology.name} has parts that no link "
            "joins",
            key="topology",
        )
    return np.asarray(load, float)


def _best_share(direct: FloatArray, detour: FloatArray) -> float:
    """Return the share of direct traffic with the smallest largest load; a convex function."""
    low, high = 0.0, 1.0
    for _ in range(_NARROWINGS):
        one, other = low + (high - low) / 3, high - (high - low) / 3
        worst = [float((s * direct + (1 - s) * detour).max(initial=0.0)) for s in (one, other)]
        # Of equal ones the larger share: a short route costs less latency.
        if worst[0] < worst[1]:
            high = other
        else:
            low = one
    return high
