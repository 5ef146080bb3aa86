"""Networks in and out of files, and of networkx.

network = read_topology("machine.csv")
network = from_networkx(networkx.petersen_graph())
write_topology(network, "machine.graphml")
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy import lazy_exports

if TYPE_CHECKING:
    from workbench.topology.files.codes import to_codes as to_codes
    from workbench.topology.files.csv_table import to_csv as to_csv
    from workbench.topology.files.edge_list import to_edge_list as to_edge_list
    from workbench.topology.files.graphml import to_graphml as to_graphml
    from workbench.topology.files.networkx_graph import from_networkx as from_networkx
    from workbench.topology.files.reading import (
        FORMATS as FORMATS,
        SUFFIXES as SUFFIXES,
        read_topology as read_topology,
        write_topology as write_topology,
    )
    from workbench.topology.files.sstmacro_json import to_sstmacro_json as to_sstmacro_json
else:
    __getattr__, __dir__ = lazy_exports(__name__)
