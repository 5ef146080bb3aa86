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
    from workbench.topology.aries import aries as aries
    from workbench.topology.bandwidths import with_bandwidths as with_bandwidths
    from workbench.topology.channels import Channels as Channels, channels as channels
    from workbench.topology.complete import fully_connected as fully_connected
    from workbench.topology.demand import Demand as Demand, read_demand as read_demand
    from workbench.topology.dragonfly import dragonfly as dragonfly
    from workbench.topology.dragonfly_links import WIRINGS as WIRINGS
    from workbench.topology.dragonfly_plus import dragonfly_plus as dragonfly_plus
    from workbench.topology.families import (
        FAMILIES as FAMILIES,
        Family as Family,
        TopologyParameter as TopologyParameter,
    )
    from workbench.topology.fat_tree import fat_tree as fat_tree
    from workbench.topology.files import (
        from_networkx as from_networkx,
        read_topology as read_topology,
        to_codes as to_codes,
        to_csv as to_csv,
        to_edge_list as to_edge_list,
        to_graphml as to_graphml,
        to_sstmacro_json as to_sstmacro_json,
        write_topology as write_topology,
    )
    from workbench.topology.hammingmesh import hammingmesh as hammingmesh
    from workbench.topology.hypercube import hypercube as hypercube
    from workbench.topology.hyperx import hyperx as hyperx
    from workbench.topology.jellyfish import jellyfish as jellyfish
    from workbench.topology.link_load import LinkLoads as LinkLoads, link_loads as link_loads
    from workbench.topology.metrics import (
        Comparison as Comparison,
        PriceTable as PriceTable,
        TopologyMetrics as TopologyMetrics,
        compare as compare,
        resilience as resilience,
        summary as summary,
    )
    from workbench.topology.polarfly import polarfly as polarfly
    from workbench.topology.presets import (
        PRESETS as PRESETS,
        Preset as Preset,
        preset as preset,
        presets as presets,
    )
    from workbench.topology.program_traffic import (
        matrix_traffic as matrix_traffic,
        message_traffic as message_traffic,
    )
    from workbench.topology.propose import (
        ProposedTopology as ProposedTopology,
        matched as matched,
        propose as propose,
        usual_radix as usual_radix,
    )
    from workbench.topology.slim_fly import slim_fly as slim_fly
    from workbench.topology.spec import (
        parse_topology as parse_topology,
        topology_spec as topology_spec,
    )
    from workbench.topology.spectralfly import spectralfly as spectralfly
    from workbench.topology.star import star as star
    from workbench.topology.throughput import Throughput as Throughput, throughput as throughput
    from workbench.topology.tofu_d import tofu_d as tofu_d
    from workbench.topology.topology import TERMINAL as TERMINAL, Topology as Topology
    from workbench.topology.torus import torus as torus
    from workbench.topology.traffic import (
        PATTERNS as PATTERNS,
        Traffic as Traffic,
        traffic as traffic,
    )
    from workbench.topology.xgft import xgft as xgft
    from workbench.topology.xpander import xpander as xpander
else:
    __getattr__, __dir__ = lazy_exports(__name__)
