"""How good a network is: distances, cuts, eigenvalues, ways, cost, and what failures leave of it.

    from workbench import topology

    topology.summary(topology.slim_fly(5), traffic=["uniform", "longest-matching"])
    topology.compare([topology.slim_fly(13), topology.dragonfly(8, 4, 4)])

``bisection``, ``distances`` and the others are what ``summary`` is made of.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy import lazy_exports

if TYPE_CHECKING:
    from workbench.topology.metrics.bisection import Bisection as Bisection, bisection as bisection
    from workbench.topology.metrics.comparison import Comparison as Comparison, compare as compare
    from workbench.topology.metrics.cost import Cost as Cost, PriceTable as PriceTable, cost as cost
    from workbench.topology.metrics.distances import (
        Distances as Distances,
        distances as distances,
        girth as girth,
        moore_bound as moore_bound,
    )
    from workbench.topology.metrics.diversity import (
        PathDiversity as PathDiversity,
        path_diversity as path_diversity,
    )
    from workbench.topology.metrics.links import LinkSpeeds as LinkSpeeds
    from workbench.topology.metrics.resilience import (
        Resilience as Resilience,
        resilience as resilience,
    )
    from workbench.topology.metrics.spectrum import Spectrum as Spectrum, spectrum as spectrum
    from workbench.topology.metrics.summary import (
        PARTS as PARTS,
        Row as Row,
        TopologyMetrics as TopologyMetrics,
        summary as summary,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)
