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
    from workbench.topology.metrics.bisection import Bisection, bisection
    from workbench.topology.metrics.comparison import Comparison, compare
    from workbench.topology.metrics.cost import Cost, PriceTable, cost
    from workbench.topology.metrics.distances import Distances, distances, girth, moore_bound
    from workbench.topology.metrics.diversity import PathDiversity, path_diversity
    from workbench.topology.metrics.links import LinkSpeeds
    from workbench.topology.metrics.resilience import Resilience, resilience
    from workbench.topology.metrics.spectrum import Spectrum, spectrum
    from workbench.topology.metrics.summary import PARTS, Row, TopologyMetrics, summary
else:
    __getattr__, __dir__ = lazy_exports(__name__)

__all__ = [
    "PARTS",
    "Bisection",
    "Comparison",
    "Cost",
    "Distances",
    "LinkSpeeds",
    "PathDiversity",
    "PriceTable",
    "Resilience",
    "Row",
    "Spectrum",
    "TopologyMetrics",
    "bisection",
    "compare",
    "cost",
    "distances",
    "girth",
    "moore_bound",
    "path_diversity",
    "resilience",
    "spectrum",
    "summary",
]
