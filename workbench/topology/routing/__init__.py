"""Routes over any topology, with lanes that keep them free of deadlock."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy import lazy_exports

if TYPE_CHECKING:
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
else:
    __getattr__, __dir__ = lazy_exports(__name__)

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
