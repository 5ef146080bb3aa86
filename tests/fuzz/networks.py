"""Networks to damage, in the formats of other programs and our own, and how they are read."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from workbench.topology import parse_topology
from workbench.topology.files import (
    read_topology,
    to_csv,
    to_edge_list,
    to_graphml,
    to_sstmacro_json,
)
from workbench.topology.files.reading import reading_of

_REPORTS = Path(__file__).parents[1] / "data" / "reports"
_NAMES = (
    *("11_ns3_topology.txt", "12_anynet.txt", "13_ibnetdiscover.topo", "13b_ibnetdiscover_p.txt"),
    *("14_topology.conf", "14b_topology_star.conf", "15d_bw.graphml", "23_fattree.ini"),
    "32_dgx_bw.csv",
)
_OTHERS = (
    b"""\
5 2 1 1 5 H100
3 4
0 3 2880Gbps 0.000025ms 0
0 4 200Gbps 0.0005ms 0
1 3 2880Gbps 0.000025ms 0
1 4 200Gbps 0.0005ms 0
2 4 200Gbps 0.0005ms 0.1
""",
    b"""\
---
- topology: one
  tree:
    switches:
      - switch: top
        children: s[1-2]
      - switch: s1
        nodes: n[01-04]
      - switch: s2
        nodes: n[1[0-1],05]
- topology: two
  block:
    blocks:
      - block: b1
        nodes: m[1-2]
""",
    b"""\
BlockName=b1 Nodes=n[01-04] \\
 # two
BlockName=b2 Nodes=r[1-2]n[05-08]
BlockSizes=4,8
""",
    b"""\
graph "net" {
  node [shape=box] /* all */
  subgraph cluster_a { s1 [type=switch]; s2 }
  { s1 s2 } -- "sp 1":p [bandwidth="400Gbps", latency=1us]
  h1 [type=host]; h1 -- s1 [label="100G"] // to a host
}
""",
    b"topology.name = dragonfly\ntopology.geometry = [4,9]\ntopology.h = 2\n",
    b"topology {\n name = torus\n geometry = [4,3,2]\n concentration = 2\n}\n",
    b"# src dst rate latency\n0 1 200Gbps 0.5us\n1 2 400Gbps 0.001ms\n2 0 1Gbps 1us\n",
    b"a b optical links=3 bandwidth=1.5x\nb c bandwidth=2x\nhost h1 a bandwidth=1x\n",
)
_OWN = [
    write(network).encode()
    for network in (parse_topology("torus:3,hosts=2"), read_topology(_REPORTS / _NAMES[0]))
    for write in (to_edge_list, to_csv, to_graphml, to_sstmacro_json)
]

_MOST_WRITTEN = 5000  # hosts or links; a digit more in a list or an .ini makes millions

NETWORKS = [
    {"": content}
    for content in (*((_REPORTS / name).read_bytes() for name in _NAMES), *_OTHERS, *_OWN)
]


def read_any_network(files: dict[str, bytes]) -> object:
    """Say what a file is, read its network, and see that it is written and read back."""
    content = files[""]
    found = reading_of(content, "file")
    if found is not None:
        json.dumps(found.to_dict(), allow_nan=False)
    network = read_topology(content)
    if max(network.num_hosts, network.num_routers, network.num_links) > _MOST_WRITTEN:
        return network
    for write in (to_edge_list, to_csv, to_graphml):
        again = read_topology(write(network).encode(), directed=False)
        # Lists number hosts router by router, whatever their numbers were.
        if not np.array_equal(np.sort(again.host_router), np.sort(network.host_router)):
            raise AssertionError(f"{write.__name__} does not keep where hosts are")
        if (again.num_routers, again.num_links) != (network.num_routers, network.num_links):
            raise AssertionError(f"{write.__name__} does not keep routers and links")
        for name in ("link_bandwidth", "link_latency", "host_bandwidth"):
            before, after = np.sort(getattr(network, name)), np.sort(getattr(again, name))
            if not np.array_equal(before, after):
                raise AssertionError(f"{write.__name__} does not keep {name}")
    return network
