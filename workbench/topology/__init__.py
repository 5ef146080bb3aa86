"""Which routers there are, who is joined to whom, and how far it is.

    from workbench import topology

    network = topology.fat_tree(16)
    network = topology.dragonfly(a=4, p=8, g=8)
    network.mean_hops(range(256))

A generator returns a `Topology`; what it holds is proved in its tests against the formulas of its
family.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy import lazy_exports

if TYPE_CHECKING:
    from workbench.topology.aries import aries
    from workbench.topology.bandwidths import with_bandwidths
    from workbench.topology.channels import Channels, channels
    from workbench.topology.complete import fully_connected
    from workbench.topology.demand import Demand, read_demand
    from workbench.topology.dragonfly import WIRINGS, dragonfly
    from workbench.topology.dragonfly_plus import dragonfly_plus
    from workbench.topology.families import FAMILIES, Family, TopologyParameter
    from workbench.topology.fat_tree import fat_tree
    from workbench.topology.files import (
        from_networkx,
        read_topology,
        to_codes,
        to_csv,
        to_edge_list,
        to_graphml,
        to_sstmacro_json,
        write_topology,
    )
    from workbench.topology.hammingmesh import hammingmesh
    from workbench.topology.hypercube import hypercube
    from workbench.topology.hyperx import hyperx
    from workbench.topology.jellyfish import jellyfish
    from workbench.topology.link_load import LinkLoads, link_loads
    from workbench.topology.metrics import (
        Comparison,
        PriceTable,
        TopologyMetrics,
        compare,
        resilience,
        summary,
    )
    from workbench.topology.polarfly import polarfly
    from workbench.topology.presets import PRESETS, Preset, preset, presets
    from workbench.topology.program_traffic import matrix_traffic, message_traffic
    from workbench.topology.propose import ProposedTopology, matched, propose, usual_radix
    from workbench.topology.slim_fly import slim_fly
    from workbench.topology.spec import parse_topology, topology_spec
    from workbench.topology.spectralfly import spectralfly
    from workbench.topology.star import star
    from workbench.topology.throughput import Throughput, throughput
    from workbench.topology.tofu_d import tofu_d
    from workbench.topology.topology import TERMINAL, Topology
    from workbench.topology.torus import torus
    from workbench.topology.traffic import PATTERNS, Traffic, traffic
    from workbench.topology.xgft import xgft
    from workbench.topology.xpander import xpander
else:
    __getattr__, __dir__ = lazy_exports(__name__)

__all__ = [
    "FAMILIES",
    "PATTERNS",
    "PRESETS",
    "TERMINAL",
    "WIRINGS",
    "Channels",
    "Comparison",
    "Demand",
    "Family",
    "LinkLoads",
    "Preset",
    "PriceTable",
    "ProposedTopology",
    "Throughput",
    "Topology",
    "TopologyMetrics",
    "TopologyParameter",
    "Traffic",
    "aries",
    "channels",
    "compare",
    "dragonfly",
    "dragonfly_plus",
    "fat_tree",
    "from_networkx",
    "fully_connected",
    "hammingmesh",
    "hypercube",
    "hyperx",
    "jellyfish",
    "link_loads",
    "matched",
    "matrix_traffic",
    "message_traffic",
    "parse_topology",
    "polarfly",
    "preset",
    "presets",
    "propose",
    "read_demand",
    "read_topology",
    "resilience",
    "slim_fly",
    "spectralfly",
    "star",
    "summary",
    "throughput",
    "to_codes",
    "to_csv",
    "to_edge_list",
    "to_graphml",
    "to_sstmacro_json",
    "tofu_d",
    "topology_spec",
    "torus",
    "traffic",
    "usual_radix",
    "with_bandwidths",
    "write_topology",
    "xgft",
    "xpander",
]
