"""A network to send packets over: topology, port model, routing."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import ClassVar, Literal, get_args

from workbench.errors import ConfigurationError, ParameterError
from workbench.models import PISCES, SNAPPR, NetworkModel
from workbench.simulate.fabric.channel_rates import bytes_under_way, rates_notes
from workbench.simulate.fabric.network_interface import NetworkInterface
from workbench.suggestions import did_you_mean
from workbench.topology import Topology
from workbench.topology.channels import Channels, channels
from workbench.topology.routing import ROUTINGS, Routing, default_routing, route
from workbench.topology.routing.routing import RouteChoice

Congestion = Literal["packet", "packet-flow", "flow"]
CONGESTIONS: tuple[Congestion, ...] = get_args(Congestion)
"""Packets with credits (SNAPPR); packets that share links as they flow through (PISCES); and fluid
with max-min fair shares of the links."""

LANE_CREDITS = 64_000
"""Default credits: bytes that each lane of a port may have in flight."""

NIC_CREDITS = 32_000
"""The same for a NIC: enough for the round trip to its router, and fewer than a lane's.

Ports serve first come, first served. A NIC that may fill more of a router than a lane holds takes
the larger part of the next link from the packets that only pass, and beyond saturation whole rings
come to a near standstill.
"""


@dataclass(frozen=True)
class StoredFabric:
    """A fabric as a file holds it: its routes by name."""

    topology: Topology
    model: NetworkModel
    routing: str
    choice: RouteChoice
    congestion: Congestion | None
    seed: int
    interface: NetworkInterface = field(default_factory=NetworkInterface)

    def restore(self) -> Fabric:
        """Return the fabric."""
        if not isinstance(self.model, SNAPPR | PISCES):
            raise ParameterError(
                f"the model must be SNAPPR or PISCES; got {type(self.model).__name__}"
            )
        routing: str | Routing = self.routing
        if ROUTINGS[self.routing].choice != self.choice:
            routing = route(self.topology, self.routing, choice=self.choice, seed=self.seed)
        return Fabric(
            self.topology, self.model, routing, self.congestion, self.seed, self.interface
        )


@dataclass(frozen=True, eq=False)
class Fabric:
    """A network whose packets are simulated.

    Attributes:
        topology: routers, links and hosts.
        model: of the ports; None takes the defaults of the one that ``congestion`` stands for, with
            `LANE_CREDITS` for each lane and `NIC_CREDITS`, and the bandwidths that the topology
            states, if it does. A given model's bandwidth is that of a link of capacity 1:
            where links are unequal the others have theirs in proportion.
        routing: routing, such as ``minimal``, ``dimension-order``, ``valiant`` or ``ugal-l``; None
            takes the topology's usual one. One that was made before is taken too.
        congestion: how messages share links: ``packet`` (SNAPPR), ``packet-flow`` (PISCES) or
            ``flow`` (max-min fair shares); None takes what the model stands for, ``packet`` without
            one.
        seed: seed of the random choices of routes.
        interface: what a host's network interface does to a message; by default nothing.

    Raises:
        ParameterError: the parts do not fit one another.
        ConfigurationError: the buffers of a lane cannot hold one packet.
    """

    stored_as: ClassVar[type[StoredFabric]] = StoredFabric

    topology: Topology
    model: SNAPPR | PISCES | None = None
    routing: str | Routing | None = None
    congestion: Congestion | None = None
    seed: int = 0
    interface: NetworkInterface = field(default_factory=NetworkInterface)

    def __post_init__(self) -> None:
        if self.congestion is not None and self.congestion not in CONGESTIONS:
            raise ParameterError(
                f"congestion must be one of {', '.join(CONGESTIONS)}; got {self.congestion!r}"
                f"{did_you_mean(self.congestion, CONGESTIONS)}",
                key="congestion",
            )
        congestion = self.congestion
        if congestion is None:
            congestion = "packet-flow" if isinstance(self.model, PISCES) else "packet"
        needed = {"packet": SNAPPR, "packet-flow": PISCES}.get(congestion, (SNAPPR, PISCES))
        if self.model is not None and not isinstance(self.model, needed):
            raise ParameterError(
                f"congestion {congestion!r} needs a model that is "
                f"{'PISCES' if congestion == 'packet-flow' else 'SNAPPR'}; got "
                f"{type(self.model).__name__}",
                key="model",
            )
        routing = default_routing(self.topology) if self.routing is None else self.routing
        if isinstance(routing, Routing) and routing.topology != self.topology:
            raise ParameterError(
                f"the routing must be one of {self.topology.name}; got one of "
                f"{routing.topology.name}",
                key="routing",
            )
        object.__setattr__(self, "congestion", congestion)
        object.__setattr__(self, "routing", routing)

    @cached_property
    def routes(self) -> Routing:
        """The routing with its tables and lanes.

        Raises:
            ParameterError: it does not fit the topology.
            ConfigurationError: no lanes keep it free of deadlock.
        """
        if isinstance(self.routing, Routing):
            return self.routing.with_seed(self.seed)
        return route(self.topology, self.routing, seed=self.seed)

    @cached_property
    def channels(self) -> Channels:
        """The topology's channels."""
        return channels(self.topology)

    @property
    def routing_name(self) -> str:
        """The routing's name."""
        return self.routing.name if isinstance(self.routing, Routing) else str(self.routing)

    @cached_property
    def ports(self) -> SNAPPR | PISCES:
        """The model of the ports, with its defaults where none was given."""
        if self.model is not None:
            return self.model
        usual: SNAPPR | PISCES = SNAPPR(switch_credits=0, nic_credits=0)
        if self.congestion == "packet-flow":
            usual = PISCES(link_credits=0, nic_credits=0)
        rate = self.topology.reference_bandwidth
        if not math.isnan(rate):
            usual = usual.replace(link_bandwidth=rate, injection_bandwidth=rate)
        stated = not math.isnan(rate) or len(self.topology.link_latency) > 0
        return self.with_credits(usual, bytes_under_way(usual, self.topology) if stated else 0)

    def with_credits(self, ports: SNAPPR | PISCES, needed: int) -> SNAPPR | PISCES:
        """Return ports with at least the default credits, and what is needed in each lane.

        Args:
            ports: of either model.
            needed: bytes, such as `bytes_under_way`.
        """
        lane, nic = max(LANE_CREDITS, needed) * self.routes.lanes, max(NIC_CREDITS, needed)
        if isinstance(ports, SNAPPR):
            return ports.replace(
                switch_credits=max(ports.switch_credits, lane),
                nic_credits=max(ports.nic_credits, nic),
            )
        return ports.replace(
            link_credits=max(ports.link_credits, lane), nic_credits=max(ports.nic_credits, nic)
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on links that differ from the model's; none where all are alike."""
        return rates_notes(self.topology, self.ports)

    def checked(self) -> Fabric:
        """Return the fabric itself if its buffers hold packets.

        Raises:
            ConfigurationError: the credits of a lane are fewer than a packet's bytes, so it would
                never move.
        """
        model = self.ports
        model.validate()
        credits = model.switch_credits if isinstance(model, SNAPPR) else model.link_credits
        each, lanes = credits // self.routes.lanes, self.routes.lanes
        flows = not isinstance(model, SNAPPR) or model.switch_flow_control
        if flows and each < model.mtu:
            key = "switch.credits" if isinstance(model, SNAPPR) else "switch.link.credits"
            raise ConfigurationError(
                f"credits must hold one packet in each of {lanes} lanes that {self.routing_name} "
                f"routing needs on {self.topology.name}: {key}={credits} B / {lanes} = {each} B < "
                f"mtu {model.mtu} B; raise {key} to {lanes * model.mtu} or lower the mtu",
                rule=f"{key} / lanes >= mtu",
                keys=(key, "node.nic.mtu"),
            )
        return self

    def stored(self) -> StoredFabric:
        """Return the fabric in the form in which a file stores it."""
        made = isinstance(self.routing, Routing)
        return StoredFabric(
            topology=self.topology,
            model=self.ports,
            routing=self.routing_name,
            choice=self.routes.choice if made else ROUTINGS[self.routing_name].choice,
            congestion=self.congestion,
            seed=self.seed,
            interface=self.interface,
        )

    def with_seed(self, seed: int) -> Fabric:
        """Return the same network with other random choices of routes.

        Args:
            seed: from 0 to 2**62.
        """
        return replace(self, routing=self.routes, seed=seed)

    def __repr__(self) -> str:
        limits = self.interface.about and f", {self.interface.about}"
        return (
            f"Fabric({self.topology.name}, {self.routing_name} routing, {self.congestion} "
            f"congestion{limits})"
        )
