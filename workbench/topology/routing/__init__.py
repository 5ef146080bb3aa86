"""Routes over any topology, with lanes that keep them free of deadlock."""

from workbench.topology.routing.dependency import Dependencies, dependencies
from workbench.topology.routing.lanes import Lanes, rules
from workbench.topology.routing.routing import (
    CHOICES,
    ROUTINGS,
    SCHEMES,
    Routing,
    channel_dependency_graph,
    default_routing,
    route,
)
from workbench.topology.routing.tables import MinimalRoutes, minimal_routes

__all__ = [
    "CHOICES",
    "ROUTINGS",
    "SCHEMES",
    "Dependencies",
    "Lanes",
    "MinimalRoutes",
    "Routing",
    "channel_dependency_graph",
    "default_routing",
    "dependencies",
    "minimal_routes",
    "route",
    "rules",
]
