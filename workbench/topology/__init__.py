"""Which routers there are, who is joined to whom, and how far it is.

    from workbench import topology

    network = topology.fat_tree(16)
    network = topology.dragonfly(a=4, p=8, g=8)
    network.mean_hops(range(256))

A generator returns a `Topology`; what it holds is proved in its tests against the formulas of its
family.
"""

from __future__ import annotations

# Not looked up late as elsewhere: generators have the names of their modules, and a module that is
# imported later would take the generator's place.
from workbench.topology.dragonfly import WIRINGS, dragonfly
from workbench.topology.fat_tree import fat_tree
from workbench.topology.spec import FAMILIES, parse_topology
from workbench.topology.topology import TERMINAL, Topology

__all__ = [
    "FAMILIES",
    "TERMINAL",
    "WIRINGS",
    "Topology",
    "dragonfly",
    "fat_tree",
    "parse_topology",
]
