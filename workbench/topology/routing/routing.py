"""How packets find their way over a topology: minimal, by way of others, or as the load asks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from workbench.checks import whole
from workbench.errors import ConfigurationError, ParameterError
from workbench.suggestions import did_you_mean
from workbench.topology.channels import Channels, channels
from workbench.topology.routing.dependency import Dependencies, dependencies, turns
from workbench.topology.routing.lanes import Lanes, rules
from workbench.topology.routing.tables import (
    MinimalRoutes,
    dimensions,
    groups,
    in_proportion,
    leading,
    minimal_routes,
)
from workbench.topology.topology import Topology

if TYPE_CHECKING:
    from kernels.fabric.routing import Routes

Scheme = Literal["minimal", "valiant", "ugal-l", "ugal-g", "par"]
SCHEMES: tuple[Scheme, ...] = get_args(Scheme)

RouteChoice = Literal["first", "hash", "rotate", "random", "least"]
CHOICES: tuple[RouteChoice, ...] = get_args(RouteChoice)


class Named(NamedTuple):
    """The settings of a routing's name."""

    scheme: Scheme  # decides between the minimal way and one by an intermediate router
    choice: RouteChoice  # default for several minimal channels
    ordered: bool | None  # dimensions in their order; None: where that needs fewer lanes
    meaning: str  # one line of text


ROUTINGS: Mapping[str, Named] = MappingProxyType(
    {
        "minimal": Named("minimal", "random", False, "a random one of the shortest routes"),
        "deterministic": Named("minimal", "first", False, "always the same shortest route"),
        "ecmp": Named("minimal", "hash", False, "a shortest route by a hash of source and target"),
        "minimal-adaptive": Named(
            "minimal", "least", False, "the one of the shortest routes that has the shortest queue"
        ),
        "dimension-order": Named(
            "minimal", "random", True, "a shortest route, one dimension after the other"
        ),
        "up-down": Named(
            "minimal", "random", False, "up a random port of the tree, then down; one lane"
        ),
        "valiant": Named("valiant", "random", None, "via a random router"),
        "ugal-l": Named(
            "ugal-l", "random", None, "shortest or via a random router, by the router's own queues"
        ),
        "ugal-g": Named("ugal-g", "random", None, "shortest or via a random router, by all queues"),
        "par": Named("par", "random", None, "as ugal-l, decided again after the first hop"),
    }
)
"""The routings by name.

Valiant: A Scheme for Fast Parallel Communication, SIAM J. Computing, 1982. UGAL: Singh, PhD thesis,
Stanford, 2005, and Kim, Dally, Scott, Abts, ISCA 2008, section 4. PAR: Jiang, Kim, Dally: Indirect
Adaptive Routing on Large Scale Interconnection Networks, ISCA 2009.
"""

_RINGS = ("torus", "tofu-d", "mesh", "hypercube")
_ORDERED = (*_RINGS, "hyperx")
_LARGEST_PROOF = 2**28  # turns times lanes, a byte each: 256 MiB


@dataclass(frozen=True, eq=False)
class Routing:
    """A topology's routes, the lanes packets take, and the proof that they cannot deadlock.

    Attributes:
        name: what it was asked for by, one of ``ROUTINGS``.
        topology: the network.
        channels: its channels.
        scheme: what decides between the minimal way and one by an intermediate router.
        choice: which of several minimal channels is taken.
        minimal: the minimal routes.
        rule: by which packets take lanes.
        lanes: virtual channels of each channel between routers.
        proof: the channel dependency graph's; None where lanes rise with every hop, which needs
            no graph, and the graph would be too large.
        seed: of the random choices.
    """

    name: str
    topology: Topology
    channels: Channels
    scheme: Scheme
    choice: RouteChoice
    minimal: MinimalRoutes
    rule: Lanes
    lanes: int
    proof: Dependencies | None
    seed: int = 0

    @property
    def goes_around(self) -> bool:
        """Whether packets may go by way of intermediate routers."""
        return self.scheme != "minimal"

    @property
    def longest(self) -> int:
        """Most channels between routers that a packet takes."""
        apart = int(self.minimal.hops[self.minimal.targets].max(initial=0))
        if self.scheme == "par":
            # Diverted after one hop, perhaps at a router without hosts.
            return max(2 * apart, 1 + int(self.minimal.hops.max(initial=0)) + apart)
        return apart * (1 + self.goes_around)

    def with_seed(self, seed: int) -> Routing:
        """Return the same routing with other random choices.

        Args:
            seed: from 0 to 2**62.
        """
        return replace(self, seed=_checked_seed(seed))

    def tables(self) -> Routes:
        """Return the arrays that the packet simulation reads.

        A channel of more bandwidth stands several times in its set, so that packets take it in
        proportion (`Topology.link_share`).
        """
        from kernels.fabric import routing as kernel

        set_first, candidate = in_proportion(self.minimal, self.channels)
        settings = np.zeros(kernel.N_SETTINGS, np.int64)
        settings[kernel.SCHEME] = SCHEMES.index(self.scheme)
        settings[kernel.CHOICE] = CHOICES.index(self.choice)
        settings[kernel.RULE] = kernel.DATELINE if self.rule.dateline else kernel.COUNTING
        settings[kernel.LANES] = self.lanes
        settings[kernel.PHASE_STEP] = self.rule.phase_step
        settings[kernel.SEED] = self.seed
        return kernel.Routes(
            column=self.minimal.column,
            targets=self.minimal.targets,
            row=self.minimal.row,
            set_first=set_first,
            candidate=candidate,
            hops=self.minimal.hops,
            leads_to=leading(self.channels),
            lane_step=self.rule.step,
            dimension=self.rule.dimension,
            wraps=self.rule.wraps,
            group=groups(self.topology),
            settings=settings,
        )

    def path(self, source: int, target: int) -> list[int]:
        """Return a minimal route as its channels; of several the first.

        Args:
            source: a router.
            target: a router with hosts.

        Raises:
            ParameterError: they are not.
        """
        routers = self.topology.num_routers
        if not 0 <= source < routers or not 0 <= target < routers:
            raise ParameterError(
                f"routers must be 0 to {routers - 1}; got {source} and {target}", key="source"
            )
        if self.minimal.column[target] < 0:
            raise ParameterError(
                f"routes lead to routers with hosts; router {target} has none", key="target"
            )
        taken: list[int] = []
        while source != target:
            taken.append(int(self.minimal.between(source, target)[0]))
            source = int(self.channels.target[taken[-1]])
        return taken

    def __repr__(self) -> str:
        proof = "no deadlock: lanes rise with every hop"
        if self.proof is not None:
            proof = f"no deadlock: no cycle among {self.proof.dependencies} dependencies"
        return (
            f"Routing({self.name} on {self.topology.name}: {self.lanes} "
            f"lane{'s' * (self.lanes > 1)} by {self.rule.name}, {proof})"
        )


def default_routing(topology: Topology) -> str:
    """Return the name of the routing that a topology is usually run with.

    Args:
        topology: the network.
    """
    return "dimension-order" if topology.family in _ORDERED else "minimal"


def route(
    topology: Topology, name: str | None = None, *, choice: RouteChoice | None = None, seed: int = 0
) -> Routing:
    """Return the routing of a topology, with the fewest lanes that keep it free of deadlock.

    Args:
        topology: the network; links go both ways.
        name: one of ``ROUTINGS``; None takes dimension order where there are dimensions, else
            minimal.
        choice: which of several minimal channels packets take; None leaves it to the name.
        seed: of the random choices, 0 to 2**62.

    Raises:
        ParameterError: there is no such routing, it does not fit the topology, or there is no
            route between two routers.
        ConfigurationError: no rule of lanes keeps it free of deadlock.
    """
    name = default_routing(topology) if name is None else name
    if name not in ROUTINGS:
        raise ParameterError(
            f"routing must be one of {', '.join(ROUTINGS)}; got {name!r}"
            f"{did_you_mean(name, ROUTINGS)}",
            key="routing",
        )
    if choice is not None and choice not in CHOICES:
        raise ParameterError(
            f"choice must be one of {', '.join(CHOICES)}; got {choice!r}"
            f"{did_you_mean(choice, CHOICES)}",
            key="choice",
        )
    scheme, usual, ordered, _ = ROUTINGS[name]
    if ordered is None:
        ordered = topology.family in _RINGS
    numbered = channels(topology)
    dimension = dimensions(topology, numbered) if ordered else None
    minimal = minimal_routes(numbered, dimension)
    rule, lanes, proof = _lanes(name, scheme, numbered, minimal, dimension)
    return Routing(
        name=name,
        topology=topology,
        channels=numbered,
        scheme=scheme,
        choice=usual if choice is None else choice,
        minimal=minimal,
        rule=rule,
        lanes=lanes,
        proof=proof,
        seed=_checked_seed(seed),
    )


def channel_dependency_graph(routing: Routing) -> Dependencies:
    """Return the channel dependencies of a routing's packets, and a cycle if there is one.

    Args:
        routing: with its rule of lanes.
    """
    return dependencies(
        routing.channels,
        routing.minimal,
        routing.rule,
        around=routing.goes_around,
        diverts=routing.scheme == "par",
        keep=True,
    )


def _lanes(
    name: str,
    scheme: Scheme,
    numbered: Channels,
    minimal: MinimalRoutes,
    dimension: NDArray[np.int8] | None,
) -> tuple[Lanes, int, Dependencies | None]:
    """Return the rule with the fewest lanes that is free of deadlock, and the proof."""
    around, diverts = scheme != "minimal", scheme == "par"
    phases = 1 + around + diverts
    largest = int(turns(numbered)[-1])
    found: tuple[Lanes, int, Dependencies | None] | None = None
    refused = ""
    for rule in rules(numbered, dimension, phases=phases):
        size = rule.most(minimal, phases)
        if found is not None and rule.always_rises and size > found[1]:
            continue
        if rule.always_rises and largest * size > _LARGEST_PROOF:
            if found is None:
                found = rule, size, None
            continue
        if largest * size > _LARGEST_PROOF:
            continue
        proof = dependencies(numbered, minimal, rule, around=around, diverts=diverts)
        if proof.deadlock_free and (found is None or proof.lanes < found[1]):
            found = rule, proof.lanes, proof
        elif proof.cycle and not refused:
            waiting = proof.named(numbered)
            refused = f"with {rule.name} these channels wait for one another: {waiting}"
        if name == "up-down" or (found is not None and found[1] == 1):
            break
    if found is None and name == "up-down":
        raise ConfigurationError(
            "up-down routing needs a tree, where shortest routes go up and then down and one lane "
            f"is free of deadlock; on {numbered.topology.name} {refused}: take minimal routing",
            rule="no cycle of channel dependencies",
            keys=("routing",),
        )
    if found is None:
        raise ConfigurationError(
            f"{name} routing on {numbered.topology.name} has routes too long for one lane for each "
            f"hop, and {refused}: take a topology of smaller diameter or another routing",
            rule="no cycle of channel dependencies",
            keys=("routing",),
        )
    return found


def _checked_seed(seed: int) -> int:
    return whole(seed, "seed", 0, 2**62)
