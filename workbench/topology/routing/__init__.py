"""Routes over any topology, with lanes that keep them free of deadlock."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy import lazy_exports

if TYPE_CHECKING:
    from workbench.topology.routing.dependency import (
        Dependencies as Dependencies,
        dependencies as dependencies,
    )
    from workbench.topology.routing.lanes import Lanes as Lanes, rules as rules
    from workbench.topology.routing.routing import (
        CHOICES as CHOICES,
        ROUTINGS as ROUTINGS,
        SCHEMES as SCHEMES,
        Routing as Routing,
        channel_dependency_graph as channel_dependency_graph,
        default_routing as default_routing,
        route as route,
    )
    from workbench.topology.routing.tables import (
        MinimalRoutes as MinimalRoutes,
        minimal_routes as minimal_routes,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)
