"""What the comparison of topologies shows, as values, and the Python that gives it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from workbench.errors import ParameterError
from workbench.panels.compare.late import late_lines
from workbench.panels.compare.traffic import OWN, traffic_call
from workbench.panels.programs import Source
from workbench.plotting.load_curves import LoadCurve
from workbench.plotting.topology_columns import DrawnLinks
from workbench.plotting.topology_layout import TopologyLayout
from workbench.simulate.fabric.fabric import Congestion
from workbench.suggestions import did_you_mean
from workbench.topology import FAMILIES, Topology
from workbench.topology.demand import Demand
from workbench.topology.link_load import LinkLoads, LoadRouting
from workbench.topology.presets import PRESETS

if TYPE_CHECKING:
    from workbench.topology import TopologyMetrics
    from workbench.topology.metrics.resilience import Resilience
    from workbench.topology.throughput import Throughput

SLOTS = 4
FIRST = ("fat-tree:16", "dragonfly:a=8,p=4,h=4", "slim-fly:9", "torus:8x8x16")
"""Four topologies of about a thousand hosts."""

UPLOADED = "file"
"""Stands before the name of an uploaded file, where a family's word could stand."""

LOADS = (0.1, 0.3, 0.5, 0.7, 0.9)
"""Offered loads that are simulated at first; where a network is full between two, more follow."""

SIZES = (64, 1024, 16_384, 262_144, 1_048_576)
"""Message sizes of the collective, bytes."""

RANKS = 128
"""Ranks of the collective, or as many as the smallest topology has hosts."""

WIRE_MACHINE = "azure-hb96v3-hdr"
"""Whose o, G and S the program runs with where its wire latency is asked for."""

Shade = Literal["load", "class"]

ROUTINGS: Mapping[str, tuple[str, LoadRouting]] = {
    "minimal": ("minimal: any shortest route", "minimal"),
    "valiant": ("Valiant: by way of a random router", "valiant"),
    "ugal-l": ("UGAL-L: as own queues suggest", "mixed"),
    "ugal-g": ("UGAL-G: as all queues suggest", "mixed"),
    "par": ("PAR: UGAL-L, decided again after a hop", "mixed"),
}
"""By name: what the list says, and how its mean loads are computed without a simulation."""


class Model(NamedTuple):
    """How the messages of a collective share links.

    Attributes:
        text: what the list says.
        about: what the figure says.
        congestion: as ``Fabric`` calls it.
    """

    text: str
    about: str
    congestion: Congestion


MODELS: Mapping[str, Model] = {
    "fluid": Model("fluid: fair shares of links", "fluid", "flow"),
    "packets": Model("packets: SNAPPR, with credits", "packets", "packet"),
}
"""What the collective may run on."""

_FLUID: tuple[str, ...] = ("minimal", "valiant")  # the others look at queues, of which it has none
_NAME_LETTERS = 26
_UNNAMED = ("hosts", "parallel", "radix", "links")


@dataclass(frozen=True)
class CompareState:
    """Everything that decides what is compared.

    Attributes:
        words: the topology of each slot, as ``parse_topology`` takes it; empty for none.
        traffic: the pattern that loads the links.
        routing: one of `ROUTINGS`.
        shade: whether links have the colour of their load or of their class.
        program: whose wire latency is asked for.
        collective: operation and algorithm, with a slash between them.
        model: one of `MODELS`, which the collective runs on.
        seed: of random traffic and of the simulations.
        runs: of each load, with this seed and the next ones.
        own: the user's own traffic, where ``traffic`` names a file.
    """

    words: tuple[str, ...]
    program: Source
    traffic: str = "uniform"
    routing: str = "minimal"
    shade: Shade = "load"
    collective: str = "allreduce/recursive-doubling"
    model: str = "fluid"
    seed: int = 0
    runs: int = 1
    own: Demand | None = None

    @property
    def sent(self) -> tuple[str, int, Demand | None]:
        """What decides the traffic of a network: the arguments of ``traffic_of`` after it."""
        return self.traffic, self.seed, self.own

    @property
    def load_routing(self) -> LoadRouting:
        """How mean loads are computed."""
        return ROUTINGS[self.routing][1]

    @property
    def operation(self) -> str:
        """The collective operation."""
        return self.collective.partition("/")[0]

    @property
    def algorithm(self) -> str:
        """Its algorithm."""
        return self.collective.partition("/")[2]


@dataclass(frozen=True, eq=False)
class Entry:
    """One topology of the comparison: what does not hang on traffic.

    Attributes:
        word: of its slot.
        topology: itself.
        layout: where its routers are drawn.
        drawn: its links as they are drawn.
        metrics: what is known of it at once.
        serial: tells apart what was handed over or uploaded under one word; 0 for the rest.
    """

    word: str
    topology: Topology
    layout: TopologyLayout
    drawn: DrawnLinks
    metrics: TopologyMetrics
    serial: int = 0

    @property
    def key(self) -> tuple[str, int]:
        """What all that is found for the topology is kept by."""
        return self.word, self.serial


@dataclass(frozen=True, eq=False)
class Compared:
    """What is known without a simulation, by slot.

    Attributes:
        state: what the controls held.
        entries: of each slot, None where there is none.
        loads: of each slot under the traffic, None where it cannot be.
        errors: what is wrong with each slot, empty where nothing is; where its word is, the entry
            is the one that was there before.
    """

    state: CompareState
    entries: tuple[Entry | None, ...]
    loads: tuple[LinkLoads | None, ...]
    errors: tuple[str, ...]

    def alike(self, other: Compared) -> bool:
        """Return whether another comparison differs in nothing but the colours of links.

        Args:
            other: any.
        """
        mine = replace(self.state, shade=other.state.shade)
        # A word may stand for another topology by now.
        return (mine, self.entries, self.loads) == (other.state, other.entries, other.loads)

    @property
    def names(self) -> tuple[str, ...]:
        """A short name for each slot, each another; empty where there is no topology."""
        return distinct([short_name(e.word, e.topology) if e else "" for e in self.entries])

    @property
    def shown(self) -> dict[str, tuple[Entry, LinkLoads | None]]:
        """The topologies by name, with their loads."""
        rows = zip(self.names, self.entries, self.loads, strict=True)
        return {name: (entry, loads) for name, entry, loads in rows if entry is not None}


@dataclass(frozen=True, eq=False)
class Simulated:
    """What simulations have found so far, by the word of the topology.

    Attributes:
        metrics: those that take a moment.
        resilience: what is left when links fail.
        throughput: what it carries at best, by the pattern of traffic.
        curves: latency over load.
        times: seconds of the collective by message size in bytes.
        tolerances: nanoseconds of wire latency by percent.
        notes: what could not be simulated, and why.
        without: what these are about: what is sought, and the word.
    """

    metrics: dict[str, TopologyMetrics] = field(default_factory=dict)
    resilience: dict[str, Resilience] = field(default_factory=dict)
    throughput: dict[str, dict[str, Throughput]] = field(default_factory=dict)
    curves: dict[str, LoadCurve] = field(default_factory=dict)
    times: dict[str, dict[int, float]] = field(default_factory=dict)
    tolerances: dict[str, dict[float, float]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    without: frozenset[tuple[object, ...]] = frozenset()


def routing_name(routing: str) -> str:
    """Return what people call a routing, such as ``UGAL-L``.

    Args:
        routing: one of `ROUTINGS`.
    """
    return ROUTINGS[routing][0].partition(":")[0]


def collective_routing(state: CompareState) -> str:
    """Return the routing that the collective takes; in a fluid none that looks at queues.

    Args:
        state: what the controls hold.
    """
    return state.routing if state.model != "fluid" or state.routing in _FLUID else "minimal"


def ranks_of(compared: Compared) -> int:
    """Return the ranks of the collective: as many on every topology.

    Args:
        compared: the topologies.
    """
    return min([RANKS, *(entry.topology.num_hosts for entry, _ in compared.shown.values())])


def short_name(word: str, topology: Topology) -> str:
    """Return a name that fits into a legend.

    Args:
        word: as ``parse_topology`` takes it, or of an uploaded file.
        topology: what it stands for.
    """
    family, colon, rest = word.partition(":")
    if family in FAMILIES and colon:
        about, made = FAMILIES[family], topology.parameters
        values = [made[one] for one in about.order if made.get(one) and one not in _UNNAMED]
        name = f"{about.title} {','.join(map(str, values))}"
    else:
        name = rest if family == UPLOADED else topology.name.partition(" (")[0]
    return name if len(name) <= _NAME_LETTERS + 2 else f"{name[:_NAME_LETTERS]}…"


def known_word(text: str, given: Collection[str]) -> str:
    """Return the word of a topology without spaces; whether its parameters fit is seen later.

    Args:
        text: as ``parse_topology`` takes it, the word of one that was given, or empty.
        given: the words of topologies that no word makes.

    Raises:
        ParameterError: it is of no family, no machine's name, and none that was given.
    """
    if text in given:
        return text
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
    """Return names of which none stands twice, but for the empty one.

    Args:
        names: any.
    """
    found: list[str] = []
    for name in names:
        number, one = 2, name
        while one and one in found:
            one = f"{name} ({number})"
            number += 1
        found.append(one)
    return tuple(found)


def python_lines(compared: Compared, offered: float) -> str:
    """Return the Python for what is shown but simulations, and for the drawing of the first.

    ``comparison`` has the measures, ``failing`` and ``best`` what the rows on links that fail and
    on throughput are made of, ``loads`` the mean loads.

    Args:
        compared: what is shown.
        offered: what hosts send, as a share of their bandwidth.
    """
    state = compared.state
    made: list[str] = []
    patterns: list[str] = []
    for entry, _ in compared.shown.values():
        family, _, rest = entry.word.partition(":")
        call = (
            f"read_topology({rest!r})" if family == UPLOADED else f"parse_topology({entry.word!r})"
        )
        made.append(f"    topology.{call},\n")
        variable = f"networks[{len(patterns)}]"
        call = traffic_call(entry.topology, variable, state.traffic, state.seed)
        patterns.append(f"    {call},\n")
    return "\n".join(
        [
            "from workbench import topology",
            "from workbench.plotting.topology_map import plot_topology",
            "from workbench.topology.link_load import link_loads",
            "from workbench.topology.demand import read_demand"
            if state.traffic.startswith(f"{OWN}:")
            else "from workbench.topology.traffic import traffic",
            f"networks = [\n{''.join(made)}]",
            "comparison = topology.compare(networks)",
            *late_lines([entry.topology for entry, _ in compared.shown.values()], state.seed),
            f"sent = [\n{''.join(patterns)}]",
            "loads = [",
            f"    link_loads(one.topology, one.between_routers(), routing={state.load_routing!r})",
            "    for one in sent",
            "]",
            f"plot_topology(networks[0], load={offered:g} * loads[0].link, full=1.0)",
        ]
    )
