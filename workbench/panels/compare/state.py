"""The state and the results of the comparison, and the Python code that computes them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from workbench.errors import ParameterError
from workbench.panels.compare.deferred import deferred_lines
from workbench.panels.compare.traffic import OWN, traffic_call
from workbench.panels.program_sources import ProgramSource
from workbench.plotting.topology.columns import DrawnLinks
from workbench.plotting.topology.layout import TopologyLayout
from workbench.plotting.topology.load_curves import LoadCurve
from workbench.simulate.fabric.fabric import Congestion
from workbench.suggestions import did_you_mean
from workbench.topology import FAMILIES, Topology
from workbench.topology.demand import Demand
from workbench.topology.families import BANDWIDTH
from workbench.topology.files.hosts import hosts_set
from workbench.topology.link_load import LinkLoads, LoadRouting
from workbench.topology.presets import PRESETS

if TYPE_CHECKING:
    from workbench.topology import TopologyMetrics
    from workbench.topology.metrics.resilience import Resilience
    from workbench.topology.throughput import Throughput

SLOTS = 4  # chosen: drawings of 250 px stand side by side in a page of 1000
FIRST = ("fat-tree:16", "dragonfly:a=8,p=4,h=4", "slim-fly:9", "torus:8x8x16")
"""Four topologies of about a thousand hosts."""

UPLOADED = "file"
"""Prefix of the name of an uploaded file, in place of a family's name."""

LOADS = (0.1, 0.3, 0.5, 0.7, 0.9)
"""Offered loads that are simulated at first; where a network is full between two, more follow."""

SIZES = (64, 1024, 16_384, 262_144, 1_048_576)
"""Message sizes of the collective, bytes."""

RANKS = 128
"""Ranks of the collective, or as many as the smallest topology has hosts."""

WIRE_MACHINE = "azure-hb96v3-hdr"
"""The machine whose o, G and S the program has in the analysis of wire latency."""

DEFAULT_LINKS = "links of 12.5 GB/s and 100 ns"
"""What links are without a machine: SNAPPR's defaults."""

Shade = Literal["load", "class"]

ROUTING_OPTIONS: Mapping[str, tuple[str, LoadRouting]] = {
    "minimal": ("minimal: any shortest route", "minimal"),
    "valiant": ("Valiant: via a random router", "valiant"),
    "ugal-l": ("UGAL-L: adaptive, by own queues", "mixed"),
    "ugal-g": ("UGAL-G: adaptive, by all queues", "mixed"),
    "par": ("PAR: UGAL-L, revised after a hop", "mixed"),
}
"""By name: the entry in the list, and the routing of its mean loads without a simulation."""


class CongestionModel(NamedTuple):
    """A congestion model of the collective."""

    text: str  # in the list
    about: str  # in the figure
    congestion: Congestion  # for Fabric


COLLECTIVE_MODELS: Mapping[str, CongestionModel] = {
    "fluid": CongestionModel("fluid: fair shares of links", "fluid", "flow"),
    "packets": CongestionModel("packets: SNAPPR, with credits", "packets", "packet"),
}
"""The simulations that a collective may use."""

_FLUID: tuple[str, ...] = ("minimal", "valiant")  # the others depend on queues
_NAME_LETTERS = 26  # chosen: the title of a drawing of 250 px has room for them
_UNNAMED = ("hosts", "parallel", "radix", "links")


@dataclass(frozen=True)
class CompareState:
    """The state of the controls."""

    specs: tuple[str, ...]  # spec of each slot, "" for none
    program: ProgramSource  # of the wire tolerance
    traffic: str = "uniform"  # pattern, or file:NAME
    routing: str = "minimal"  # of ROUTING_OPTIONS
    shade: Shade = "load"  # colours of links
    collective: str = "allreduce/recursive-doubling"  # operation/algorithm
    model: str = "fluid"  # of COLLECTIVE_MODELS, for the collective
    seed: int = 0  # of random traffic and simulations
    runs: int = 1  # of each load, seeds in sequence
    own: Demand | None = None  # of an uploaded file
    machine: str = ""  # of the links, and of the hosts in collectives; "": DEFAULT_LINKS

    @property
    def sent(self) -> tuple[str, int, Demand | None]:
        """The arguments of ``traffic_of`` that follow the topology."""
        return self.traffic, self.seed, self.own

    @property
    def links(self) -> str:
        """The links and hosts of the simulations in words."""
        return f"links and hosts of {self.machine}" if self.machine else DEFAULT_LINKS

    @property
    def load_routing(self) -> LoadRouting:
        """The routing of the mean loads."""
        return ROUTING_OPTIONS[self.routing][1]

    @property
    def operation(self) -> str:
        """The collective operation."""
        return self.collective.partition("/")[0]

    @property
    def algorithm(self) -> str:
        """The algorithm of the collective."""
        return self.collective.partition("/")[2]


@dataclass(frozen=True, eq=False)
class ComparedTopology:
    """One topology of the comparison, with all that does not depend on traffic."""

    spec: str
    topology: Topology
    layout: TopologyLayout  # of the routers
    drawn: DrawnLinks
    metrics: TopologyMetrics  # quick ones
    serial: int = 0  # not 0: identifies a given or uploaded one

    @property
    def key(self) -> tuple[str, int]:
        """The topology's part of the keys of results."""
        return self.spec, self.serial


@dataclass(frozen=True, eq=False)
class StaticComparison:
    """The results without simulation, by slot."""

    state: CompareState
    entries: tuple[ComparedTopology | None, ...]  # None: no topology
    loads: tuple[LinkLoads | None, ...]  # None: none for this traffic
    errors: tuple[str, ...]  # "": none; for a bad spec the earlier entry remains

    def alike(self, other: StaticComparison) -> bool:
        """Return whether another comparison differs at most in the colours of links."""
        mine = replace(self.state, shade=other.state.shade)
        # A spec may name another topology by now.
        return (mine, self.entries, self.loads) == (other.state, other.entries, other.loads)

    @property
    def names(self) -> tuple[str, ...]:
        """A short unique name for each slot, "" for an empty one."""
        return distinct([short_name(e.spec, e.topology) if e else "" for e in self.entries])

    @property
    def shown(self) -> dict[str, tuple[ComparedTopology, LinkLoads | None]]:
        """The topologies with their loads, by name."""
        rows = zip(self.names, self.entries, self.loads, strict=True)
        return {name: (entry, loads) for name, entry, loads in rows if entry is not None}


@dataclass(frozen=True, eq=False)
class Simulated:
    """The results of the simulations so far, by the topology's spec."""

    metrics: dict[str, TopologyMetrics] = field(default_factory=dict)  # slow ones
    resilience: dict[str, Resilience] = field(default_factory=dict)  # with failed links
    throughput: dict[str, dict[str, Throughput]] = field(default_factory=dict)  # by pattern
    curves: dict[str, LoadCurve] = field(default_factory=dict)  # latency over load
    times: dict[str, dict[int, float]] = field(default_factory=dict)  # s by message size, bytes
    tolerances: dict[str, dict[float, float]] = field(default_factory=dict)  # ns by percent
    notes: tuple[str, ...] = ()  # errors
    without: frozenset[tuple[object, ...]] = frozenset()  # (kind, spec) of failed ones


def routing_name(routing: str) -> str:
    """Return the usual name of a routing of `ROUTING_OPTIONS`, such as ``UGAL-L``."""
    return ROUTING_OPTIONS[routing][0].partition(":")[0]


def collective_routing(state: CompareState) -> str:
    """Return the collective's routing: minimal where the fluid lacks the queues for it."""
    return state.routing if state.model != "fluid" or state.routing in _FLUID else "minimal"


def ranks_of(compared: StaticComparison) -> int:
    """Return the number of ranks of the collective, the same on every topology."""
    return min([RANKS, *(entry.topology.num_hosts for entry, _ in compared.shown.values())])


def short_name(spec: str, topology: Topology) -> str:
    """Return a name for the legend from a topology's spec."""
    family, colon, _ = spec.partition(":")
    if family in FAMILIES and colon:
        about, made = FAMILIES[family], topology.parameters
        values = [made[one] for one in about.order if made.get(one) and one not in _UNNAMED]
        name = f"{about.title} {','.join(map(str, values))}"
        if BANDWIDTH.name in made:
            name += f" ({made[BANDWIDTH.name]})"
    else:
        name = (
            split_upload(spec)[0].partition(":")[2]
            if family == UPLOADED
            else topology.name.partition(" (")[0]
        )
    return name if len(name) <= _NAME_LETTERS + 2 else f"{name[:_NAME_LETTERS]}…"


def split_upload(spec: str) -> tuple[str, str]:
    """Return an uploaded graph's spec without the hosts that were set, and those."""
    graph, _, hosts = spec.rpartition(":")
    return (graph, hosts) if "=" in hosts and graph.startswith(f"{UPLOADED}:") else (spec, "")


def known_spec(text: str, given: Collection[str]) -> str:
    """Return a spec without spaces; only its family, machine or file is checked."""
    if split_upload(str(text))[0] in given:
        return str(text)
    family, colon, rest = (part.strip() for part in str(text).partition(":"))
    if family in FAMILIES or not (family or colon) or (not colon and family.lower() in PRESETS):
        return f"{family}{colon}{rest}"
    raise ParameterError(
        f"a topology must be one of {', '.join(FAMILIES)} with its parameters, such as "
        f"{FIRST[0]}, one of {', '.join(PRESETS)}, or a Topology; got {text!r}"
        f"{did_you_mean(family, (*FAMILIES, *PRESETS))}",
        key="topologies",
    )


def distinct(names: list[str]) -> tuple[str, ...]:
    """Return the names with a number added to each that occurs again, except ""."""
    found: list[str] = []
    for name in names:
        number, one = 2, name
        while one and one in found:
            one = f"{name} ({number})"
            number += 1
        found.append(one)
    return tuple(found)


def python_lines(compared: StaticComparison, offered: float) -> str:
    """Return Python code for the results without simulations, and the first drawing."""
    # comparison has the measures, failing and best the rows on failures and on throughput, loads
    # the mean loads.
    state = compared.state
    made: list[str] = []
    patterns: list[str] = []
    for entry, _ in compared.shown.values():
        graph, hosts = split_upload(entry.spec)
        family, _, file = graph.partition(":")
        words = "".join(f", {key}={value!r}" for key, value in hosts_set(hosts).items() if hosts)
        call = (
            f"read_topology({file!r}{words})"
            if family == UPLOADED
            else f"parse_topology({entry.spec!r})"
        )
        made.append(f"    topology.{call},\n")
        variable = f"networks[{len(patterns)}]"
        call = traffic_call(entry.topology, variable, state.traffic, state.seed)
        patterns.append(f"    {call},\n")
    return "\n".join(
        [
            "from workbench import topology",
            "from workbench.plotting import plot_topology",
            "from workbench.topology import link_loads, "
            + ("read_demand" if state.traffic.startswith(f"{OWN}:") else "traffic"),
            f"networks = [\n{''.join(made)}]",
            "comparison = topology.compare(networks)",
            *deferred_lines([entry.topology for entry, _ in compared.shown.values()], state.seed),
            f"sent = [\n{''.join(patterns)}]",
            "loads = [",
            f"    link_loads(one.topology, one, routing={state.load_routing!r})",
            "    for one in sent",
            "]",
            f"plot_topology(networks[0], load={offered:g} * loads[0].link, full=1.0)",
        ]
    )
