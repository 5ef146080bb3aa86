"""All that is known of a network in one table."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypedDict, get_args

import numpy as np

from workbench.checks import whole
from workbench.errors import ParameterError, SimulationHalted
from workbench.html_table import html_table
from workbench.result import StoredResult
from workbench.suggestions import did_you_mean
from workbench.tasks import Task, task_of
from workbench.topology.link_load import link_loads
from workbench.topology.metrics.adjacency import RouterGraph
from workbench.topology.metrics.bisection import STARTS, Bisection, bisection
from workbench.topology.metrics.cost import Cost, PriceTable, cost
from workbench.topology.metrics.distances import Distances, distances, girth, moore_bound
from workbench.topology.metrics.diversity import PathDiversity, path_diversity
from workbench.topology.metrics.links import LinkSpeeds
from workbench.topology.metrics.resilience import Resilience, resilience
from workbench.topology.metrics.spectrum import Spectrum, spectrum
from workbench.topology.throughput import EQUAL, Throughput, ThroughputMethod, throughput
from workbench.topology.topology import Topology
from workbench.topology.traffic import Traffic, pattern_for
from workbench.units import format_quantity

if TYPE_CHECKING:
    import pandas as pd


MetricsPart = Literal["distances", "spectrum", "bisection", "diversity", "cost", "resilience"]
PARTS: tuple[MetricsPart, ...] = get_args(MetricsPart)
"""What ``summary`` can find; throughput is asked for by its traffic."""

USUAL: tuple[MetricsPart, ...] = PARTS[:-1]
"""The parts that ``summary`` finds by default."""


@dataclass(frozen=True, eq=False)
class TopologyMetrics(StoredResult):
    """What is known of a network; a part that was not asked for is None.

    Attributes:
        name: of the network.
        family: name of its family.
        parameters: what it was made with.
        hosts: number of hosts.
        routers: number of routers.
        links: number of links between routers.
        link_classes: number of links of each class.
        radix: most ports in use of a router, hosts' ones among them.
        degree: most links of a router to others.
        least_degree: fewest.
        distances: how far apart routers and hosts are.
        girth: links of the shortest cycle; nan where distances were not asked for.
        spectrum: eigenvalues.
        bisection: links between halves of the hosts.
        diversity: ways between routers.
        cost: price and power, estimated.
        resilience: what is left when links fail.
        throughput: how much of each traffic it carries, by the name that was asked for; where that
            pattern needs groups that the network lacks, its ``traffic`` names the one that it ran.
        links_take: bandwidth and latencies of links, by which rows are in bytes and seconds too;
            None where they are not known.
        reference_Bps: `Topology.reference_bandwidth`; nan where the network states none.
        capacities: the least and the most `Topology.capacity` of a link or a host's link.
        hosts_alike: whether hosts are only assumed to have links of capacity 1.
        links_s: latency of the links between routers that a message takes, by what the network
            states, the mean over all pairs of hosts and their minimal routes, s; nan where it
            states none.
    """

    name: str
    family: str
    parameters: Mapping[str, int | str]
    hosts: int
    routers: int
    links: int
    link_classes: Mapping[str, int]
    radix: int
    degree: int
    least_degree: int
    distances: Distances | None = None
    girth: float = math.nan
    spectrum: Spectrum | None = None
    bisection: Bisection | None = None
    diversity: PathDiversity | None = None
    cost: Cost | None = None
    resilience: Resilience | None = None
    throughput: Mapping[str, Throughput] = field(default_factory=dict)
    links_take: LinkSpeeds | None = None
    reference_Bps: float = math.nan
    capacities: tuple[float, float] = (1.0, 1.0)
    hosts_alike: bool = True
    links_s: float = math.nan

    @property
    def unit_Bps(self) -> float:
        """The bandwidth of a link of capacity 1, B/s, by the links or the network; else nan."""
        return self.reference_Bps if self.links_take is None else self.links_take.bandwidth_Bps

    @property
    def unequal(self) -> str:
        """A clause on links of unequal bandwidth, and what they are counted in; else empty."""
        if self.capacities == (1.0, 1.0):
            return ""
        if math.isnan(self.unit_Bps):
            return "unequal links, counted in hosts' links"
        unit = format_quantity(self.unit_Bps, "bandwidth")
        assumed = ", which hosts are assumed to have" if self.hosts_alike else ""
        return f"unequal links, counted in links of {unit}{assumed}"

    @property
    def moore_efficiency(self) -> float:
        """Routers as a share of the most that its degree and diameter allow; nan if unknown."""
        if self.distances is None or not self.distances.connected or self.degree < 1:
            return math.nan
        most = moore_bound(self.degree, int(self.distances.diameter))
        return self.routers / most if most > 0 else math.nan

    def rows(self) -> dict[str, Row]:
        """Return the measures that are known, in the order of a table.

        Average path is ``Distances.between_hosts``: links on a shortest way between the routers of
        two hosts at different routers, the mean. Throughput is a share of the hosts' bandwidth, at
        most 1.
        """
        found = {
            "hosts": Row(self.hosts),
            "routers": Row(self.routers),
            "links": Row(self.links),
            "radix": Row(self.radix),
        }
        rate = 1e-9 * self.unit_Bps
        least, most = self.capacities
        if not math.isnan(rate):
            found["link bandwidth, GB/s"] = Row(rate * least, rate * most, note=self.unequal)
        elif self.unequal:
            found["link bandwidth"] = Row(least, most, note=self.unequal)
        if self.hosts:
            found["routers per host"] = Row(self.routers / self.hosts, better=-1)
            found["links per host"] = Row(self.links / self.hosts, better=-1)
        if self.distances is not None:
            found["diameter"] = Row(self.distances.diameter, better=-1)
            found["average path"] = Row(self.distances.between_hosts, better=-1)
            found["routers passed"] = Row(self.distances.host_average, better=-1)
            stated = not math.isnan(self.links_s)
            if self.links_take is not None:
                passed = self.distances.host_average
                mean = self.links_take.latency_s(passed)
                if stated:
                    mean += self.links_s - (passed - 1) * self.links_take.wire_s
                found["mean latency, µs"] = Row(1e6 * mean, better=-1)
            elif stated:
                found["mean latency of links, µs"] = Row(1e6 * self.links_s, better=-1)
            found["Moore efficiency"] = Row(self.moore_efficiency, better=1)
            found["girth"] = Row(self.girth)
        if self.spectrum is not None:
            found["λ₂"] = Row(self.spectrum.lambda_2)
            found["spectral gap"] = Row(self.spectrum.gap)
            found["algebraic connectivity"] = Row(self.spectrum.connectivity, better=1)
            found["Ramanujan"] = Row(
                math.nan if self.spectrum.ramanujan is None else float(self.spectrum.ramanujan),
                words=(("no", "yes")),
            )
        if self.bisection is not None:
            cut = self.bisection
            half = self.hosts / 2 if self.hosts else math.nan
            found["bisection"] = Row(cut.lower, cut.upper)
            found["bisection per host"] = Row(cut.lower / half, cut.upper / half, better=1)
            if not math.isnan(rate):
                found["bisection, GB/s"] = Row(rate * cut.lower, rate * cut.upper, better=1)
        if self.diversity is not None:
            found["shortest routes"] = Row(self.diversity.mean_shortest, better=1)
            found["routes without common link"] = Row(self.diversity.mean_disjoint, better=1)
        for name, carried in self.throughput.items():
            instead = carried.traffic if carried.traffic != name else ""
            found[f"throughput, {name}"] = Row(
                carried.lower, carried.upper, better=1, instead=instead
            )
            if not math.isnan(rate):
                found[f"throughput per host, {name}, GB/s"] = Row(
                    rate * carried.lower, rate * carried.upper, better=1, instead=instead
                )
        if self.cost is not None:
            found["cost per host"] = Row(self.cost.per_host, better=-1, note=self.cost.note)
            found["power per host, W"] = Row(self.cost.power_per_host_w, better=-1)
        if self.resilience is not None:
            last = f"{self.resilience.shares[-1]:.0%} of links failed"
            found[f"hosts together, {last}"] = Row(
                float(self.resilience.connected[-1].mean()), better=1
            )
            found[f"average path, {last}"] = Row(
                float(self.resilience.average[-1].mean()), better=-1
            )
        return found

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each measure: ``lower`` and ``upper``, equal where it is known."""
        import pandas as pd

        rows = self.rows()
        frame = pd.DataFrame(
            {
                "lower": [row.lower for row in rows.values()],
                "upper": [row.highest for row in rows.values()],
            },
            index=pd.Index(list(rows), name="measure"),
        )
        return frame.astype(float)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold; a bracket as its two numbers."""
        found: dict[str, Any] = {
            "name": self.name,
            "family": self.family,
            "parameters": dict(self.parameters),
            "links by class": dict(self.link_classes),
        }
        if self.unequal:
            found["unequal links"] = self.unequal
        for name, row in self.rows().items():
            found[name] = row.plain()
        if self.distances is not None:
            found["pairs of routers by links"] = self.distances.routers.tolist()
            found["pairs of hosts by links"] = self.distances.hosts.tolist()
        if self.bisection is not None:
            found["bisection bounds"] = {
                "spectral": self.bisection.spectral,
                "by traffic": self.bisection.routed,
                "best cut": self.bisection.upper,
            }
        if self.throughput:
            found["throughput is exact"] = {
                name: carried.exact for name, carried in self.throughput.items()
            }
            found["throughput ran instead"] = {
                name: carried.traffic
                for name, carried in self.throughput.items()
                if carried.traffic != name
            }
        return found

    def __repr__(self) -> str:
        return (
            f"TopologyMetrics({self.name}: {self.hosts} hosts, {self.routers} routers, "
            f"{self.links} links"
            + (f", diameter {self.distances.diameter:g}" if self.distances is not None else "")
            + (f", bisection {self.rows()['bisection']}" if self.bisection is not None else "")
            + ")"
        )

    def _repr_html_(self) -> str:
        rows = ((name, str(row)) for name, row in self.rows().items())
        return html_table(rows, caption=self.name)


class Row(NamedTuple):
    """One measure of a network: a number, or a bracket of two.

    Attributes:
        lower: the number, or the lower bound.
        upper: the upper bound; None where the number is known.
        better: 1 where more is better, -1 where less is, 0 where neither.
        words: what 0 and 1 mean; none for numbers.
        instead: what was measured where it is not what the name of the measure says.
        note: what a reader must know of the number.
    """

    lower: float
    upper: float | None = None
    better: int = 0
    words: tuple[str, ...] = ()
    instead: str = ""
    note: str = ""

    @property
    def highest(self) -> float:
        """The upper bound, or the number."""
        return self.lower if self.upper is None else self.upper

    def plain(self) -> Any:
        """Return the value for JSON: a number, a pair of numbers, or a truth value."""
        if self.words:
            return None if math.isnan(self.lower) else bool(self.lower)
        if self.highest == self.lower or math.isnan(self.lower):
            return self.lower
        return [self.lower, self.highest]

    def __str__(self) -> str:
        if math.isnan(self.lower):
            return "–"
        if self.words:
            return self.words[int(self.lower)]
        text = _figure(self.lower)
        if self.highest - self.lower > EQUAL * abs(self.lower) and not math.isinf(self.lower):
            text = f"{text} to {_figure(self.highest)}"
        remark = self.instead or self.note
        return f"{text} ({remark})" if remark else text


def _figure(value: float) -> str:
    if math.isinf(value):
        return "∞"
    return f"{value:,.0f}" if value == round(value) or abs(value) >= 1e5 else f"{value:.4g}"


class SummaryOptions(TypedDict, total=False):
    """The named arguments of ``summary``."""

    parts: Sequence[MetricsPart]
    traffic: Sequence[str | Traffic]
    method: ThroughputMethod
    prices: PriceTable | None
    links: LinkSpeeds | None
    starts: int
    rng: int
    task: Task | None


def summary(
    topology: Topology,
    *,
    parts: Sequence[MetricsPart] = USUAL,
    traffic: Sequence[str | Traffic] = (),
    method: ThroughputMethod = "auto",
    prices: PriceTable | None = None,
    links: LinkSpeeds | None = None,
    starts: int = STARTS,
    rng: int = 0,
    task: Task | None = None,
) -> TopologyMetrics:
    """Return the measures of a network.

    Args:
        topology: the network.
        parts: what to find, of ``PARTS``; sizes are always there.
        traffic: patterns' names, or traffic of this network, to find the throughput of; a pattern
            that needs groups where there are none is replaced by the longest matching, which the
            row says.
        method: method for the throughput: ``auto`` (exact up to about 100 routers), ``exact``,
            ``bounds`` or ``quick``. See ``throughput``.
        prices: the price table; None takes the default one, at the bandwidth of ``links``, or
            that which the network states.
        links: bandwidth and latencies of the links, such as a machine's: where links are unequal,
            of one of capacity 1. None takes the bandwidth that the network states; where it states
            none measures are shares of a host's bandwidth. Latencies of links that the network
            states are taken in place of the wires'; without either latency is left out.
        starts: random divisions that the search for a bisection begins with.
        rng: seed of all random choices: divisions, pairs of routers, links that fail.
        task: gets the progress with the name of the next step; once it is stopped, the work ends.

    Raises:
        ParameterError: there is no such part or pattern, or the seed is none.
        SimulationHalted: the task was stopped.
    """
    unknown = [part for part in parts if part not in PARTS]
    if unknown:
        raise ParameterError(
            f"parts must be of {', '.join(PARTS)}; got {unknown[0]!r}"
            f"{did_you_mean(unknown[0], PARTS)}",
            key="parts",
        )
    rng = whole(rng, "rng", 0, meaning="the seed of random choices")
    rate = topology.reference_bandwidth if links is None else links.bandwidth_Bps
    if prices is None and not math.isnan(rate):
        prices = PriceTable(bandwidth_gbit_s=8e-9 * rate)
    graph = RouterGraph.of(topology)
    task = task_of(task)
    quiet = task.part()
    work: dict[str, Callable[[], Any]] = {
        "distances": lambda: (
            distances(graph, task=quiet),
            girth(graph),
            _links_s(topology, quiet),
        ),
        "spectrum": lambda: spectrum(graph),
        "bisection": lambda: bisection(topology, starts=starts, rng=rng, task=quiet),
        "diversity": lambda: path_diversity(topology, rng=rng),
        "cost": lambda: cost(topology, prices),
        "resilience": lambda: resilience(topology, rng=rng, task=quiet),
    }
    steps = [part for part in PARTS if part in parts]
    total = len(steps) + len(traffic)
    found: dict[str, Any] = {}

    def begin(done: int, name: str) -> None:
        if task.stopping:
            raise SimulationHalted(f"the summary was stopped before {name}")
        task.report(done, total, name)

    for done, step in enumerate(steps):
        begin(done, step)
        found[step] = work[step]()
    if "distances" in found:
        found["distances"], found["girth"], found["links_s"] = found["distances"]
    carried: dict[str, Throughput] = {}
    for done, pattern in enumerate(traffic, len(steps)):
        name = pattern if isinstance(pattern, str) else pattern.name
        begin(done, name)
        sent = pattern_for(topology, pattern) if isinstance(pattern, str) else pattern
        carried[name] = throughput(topology, sent, method=method, task=quiet)
    begin(total, "its end")
    degree = topology.degree
    ports = degree + graph.hosts
    capacities = np.concatenate((topology.capacity, topology.host_capacity))
    classes = np.bincount(topology.link_class, minlength=len(topology.classes))
    return TopologyMetrics(
        name=topology.name,
        family=topology.family,
        parameters=MappingProxyType(dict(topology.parameters)),
        hosts=topology.num_hosts,
        routers=topology.num_routers,
        links=topology.num_links,
        link_classes={
            name: int(count) for name, count in zip(topology.classes[1:], classes[1:], strict=True)
        },
        radix=int(ports.max()),
        degree=int(degree.max()),
        least_degree=int(degree.min()),
        throughput=MappingProxyType(carried),
        links_take=links,
        reference_Bps=topology.reference_bandwidth,
        hosts_alike=not len(topology.host_bandwidth),
        capacities=(float(capacities.min(initial=1.0)), float(capacities.max(initial=1.0))),
        **found,
    )


def _links_s(topology: Topology, task: Task) -> float:
    """Return the mean latency of the links that a message takes, s; nan if none is stated.

    Where each host sends one message in all, to every other alike, that is each channel's traffic
    times its latency.
    """
    if not len(topology.link_latency) or topology.num_hosts < 2:
        return math.nan
    try:
        loads = link_loads(topology, task=task)
    except ParameterError:  # some hosts are apart, or the network is too large
        return math.nan
    link = loads.channels.link
    carried = loads.channel * topology.capacity[link]
    return float(carried @ topology.link_latency[link]) / topology.num_hosts
