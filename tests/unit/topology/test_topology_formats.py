"""Networks as other programs write them: what is read of each, kept, noted and refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.cases import for_each
from workbench.errors import ParseError
from workbench.host_lists import expand_hosts
from workbench.reading import reading_of
from workbench.topology import Topology
from workbench.topology.files import (
    read_topology,
    to_csv,
    to_edge_list,
    to_graphml,
    to_sstmacro_json,
)
from workbench.topology.files.reading import reading_of as network_of

REPORTS = Path(__file__).parents[2] / "data" / "reports"
GBPS = 1e9 / 8
NETWORKS = {
    "11_ns3_topology.txt": ("ns-3 topology: 4 hosts, 2 switches, 4 links", False),
    "12_anynet.txt": ("BookSim anynet: 8 hosts, 4 routers, 4 links", True),
    "13_ibnetdiscover.topo": ("ibnetdiscover: 4 hosts, 3 switches, 4 links", False),
    "13b_ibnetdiscover_p.txt": ("ibnetdiscover -p: 2 hosts, 2 switches, 1 link", False),
    "14_topology.conf": ("Slurm topology.conf: 12 hosts, 4 switches, 3 links", False),
    "14b_topology_star.conf": ("Slurm topology.conf: 4 hosts, 2 switches, 1 link", False),
    "14d_one_switch.conf": ("Slurm topology.conf: 64 hosts, 1 switch, 0 links", False),
    "15d_bw.graphml": ("GraphML: 4 hosts, 2 routers, 1 link", True),
    "23_fattree.ini": ("topology of an SST/macro .ini: 32 hosts, 20 switches, 64 links", False),
    "32_dgx_bw.csv": ("CSV of links: 8 hosts, 8 routers, 14 links", True),
    "32b_dgx_parallel.csv": ("CSV of links: 8 hosts, 8 routers, 22 links", False),
}


def ends(made: Topology) -> list[tuple[str, str]]:
    """Return the names of the routers of each link, in order."""
    names = made.router_names or tuple(map(str, range(made.num_routers)))
    return sorted((names[min(link)], names[max(link)]) for link in made.links.tolist())


@for_each("name, said", NETWORKS.items())
def test_what_a_file_is(name: str, said: tuple[str, bool]) -> None:
    found = reading_of((REPORTS / name).read_bytes(), name)
    title, unequal = said
    made = read_topology(REPORTS / name)
    assert (found.kind, found.title, found.facts["unequal"]) == ("topology", title, unequal)
    assert (made.num_hosts, made.num_links) == (found.facts["hosts"], found.facts["links"])
    assert found.notes[: len(made.notes)] == made.notes


def test_a_file_of_another_kind_is_no_network() -> None:
    others = [path for path in REPORTS.iterdir() if path.name not in NETWORKS]
    assert len(others) > 20
    assert {path.name for path in others if network_of(path.read_bytes(), path.name)} == set()
    for text in (
        "num_ranks 2\nrank 0 {\nl1: calc 5\n}\nrank 1 {\n}\n",
        "It was a dark night.\nNobody came.\n",
        "1 100\n2 200\n4 390\n8 800\n",
        "1,1.5\n2,1.6\n",
        "1 1000 1.77 0.56\n2 1000 1.80 1.1\n4 1000 1.83 2.2\n",
        "src,dst,size_bytes,latency_us\n0,1,8,1.5\n",
        "n1 slots=4\nn2 slots=4\n",
        "rank 0=n1 slot=0\nrank 1=n2 slot=0\n",
        "{}\n",
        "<html></html>\n",
        "",
    ):
        assert network_of(text.encode(), "text") is None


@for_each("text", ["a b 2\nb c 3\n", "0 1 2\n1 2 2\n", "a,b,2\nb,c,3\n"])
def test_a_list_with_a_number_behind_is_a_list_that_is_refused(text: str) -> None:
    with pytest.raises(ParseError, match="links=3"):
        network_of(text.encode(), "x")


def test_slurms_tree_keeps_the_names_of_switches_and_hosts() -> None:
    made = read_topology(REPORTS / "14_topology.conf")
    assert made.router_names == ("leaf1", "leaf2", "leaf3", "core")
    assert made.host_names[7:] == ("cn8", "cn9", "cn11", "cn13", "cn14")
    assert ends(made) == [("leaf1", "core"), ("leaf2", "core"), ("leaf3", "core")]
    assert made.notes == ("LinkSpeed has no unit in Slurm, and is left out",)
    written = (
        'switchname=s0 nodes="n[1-2]" # two\r\nSWITCHNAME=s1 \\\r\n  Nodes=n3,m[08-10]\r\n'
        "SwitchName=top Switches=s[0-1] LinkSpeed=9"
    )
    made = read_topology(written)
    assert made.host_names == ("n1", "n2", "n3", "m08", "m09", "m10")
    assert made.host_router.tolist() == [0, 0, 1, 1, 1, 1]
    assert ends(made) == [("s0", "top"), ("s1", "top")]


@for_each(
    "text",
    [
        "# blocks\nBlockName=b1 Nodes=n[01-04]\nBlockName=b2 Nodes=n[05-08]\nBlockSizes=4,8\n",
        "---\n- topology: one\n  cluster_default: true\n  block:\n    block_sizes: [4, 8]\n"
        "    blocks:\n      - block: b1\n        nodes: n[01-04]\n      - block: b2\n"
        "        nodes: n[05-08]\n- topology: flat\n  flat: true\n",
    ],
)
def test_slurms_blocks_have_hosts_and_no_links(text: str) -> None:
    made = read_topology(text)
    assert (made.router_names, made.num_links) == (("b1", "b2"), 0)
    assert made.host_names == tuple(f"n0{number}" for number in range(1, 9))
    assert any("blocks have no links" in note for note in made.notes)


def test_slurms_tree_in_yaml() -> None:
    made = read_topology(
        "- topology: t\n  tree:\n    switches:\n      - switch: top\n        children: s[1-2]\n"
        "      - switch: s1\n        nodes: n[1-2]\n      - switch: s2\n        nodes: n3\n"
    )
    assert ends(made) == [("top", "s1"), ("top", "s2")]
    assert made.host_names == ("n1", "n2", "n3")


def test_what_scontrol_shows_lists_hosts_at_upper_switches_too() -> None:
    made = read_topology(
        "SwitchName=s0 Level=0 LinkSpeed=1 Nodes=n[0-1]\n"
        "SwitchName=s1 Level=0 LinkSpeed=1 Nodes=n[2-3]\n"
        "SwitchName=top Level=1 LinkSpeed=1 Nodes=n[0-3] Switches=s[0-1]\n"
    )
    assert made.host_router.tolist() == [0, 0, 1, 1]
    assert made.num_links == 2
    blocks = "BlockName=b1 BlockIndex=0 Nodes=n[1-2] BlockSize=2\n"
    blocks += "AggregatedBlock=b1 BlockIndex=2 Nodes=n[1-2] BlockSize=4\n"
    assert read_topology(blocks).host_names == ("n1", "n2")


def test_lists_of_hosts() -> None:
    for text, names in {
        "cn[1,3,5-7]": "cn1 cn3 cn5 cn6 cn7",
        "a[01-03]": "a01 a02 a03",
        "r[1-2]n[09-10]": "r1n09 r1n10 r2n09 r2n10",
        "r[1-2]n[1-2]-ib,x": "r1n1-ib r1n2-ib r2n1-ib r2n2-ib x",
        "n[1-2,[4-5]]": "n1 n2 n4 n5",
        "rack[1[0-1],2]": "rack10 rack11 rack2",
    }.items():
        assert expand_hosts(text) == names.split(), text


def test_a_fabric_by_node_has_width_and_speed() -> None:
    made = read_topology(REPORTS / "13_ibnetdiscover.topo")
    assert made.host_names == ("n1", "n2", "n3", "n4")
    assert ends(made) == [("leaf1", "spine1")] * 2 + [("spine1", "leaf2")] * 2
    np.testing.assert_array_equal(made.link_bandwidth, 200 * GBPS)
    np.testing.assert_array_equal(made.host_bandwidth, 200 * GBPS)
    assert made.notes[0] == "108 ports without a link left out"
    partly = read_topology(REPORTS / "13b_ibnetdiscover_p.txt")
    assert (partly.host_names, ends(partly)) == (("n1", "n2"), [("leaf1", "spine1")])
    assert partly.notes == (
        "1 port without a link left out",
        "3 of 3 cables are listed by one end only: the fabric may be seen in part",
    )


FABRIC = """\
switchguid=0xa0(a0)
Switch	36 "S-00a0"		# "SwitchIB Mellanox Technologies leaf1" enhanced port 0 lid 1 lmc 0
[1]	"H-0001"[1](11) 		# "n1 HCA-1" lid 11 4xFDR
[2]	"H-0001"[2](12) 		# "n1 HCA-1" lid 12 4xFDR
[3]	"H-0002"[1](21) 		# "n2 mlx5_0" lid 13 4xEDR
[4]	"H-0009"[1](91) 		# "Mellanox Technologies Aggregation Node" lid 19 4xHDR
[5]	"S-00b0"[5]		# "leaf2" lid 2 1xSDR
[6]	"H-0007"[1](71) 		# "localhost HCA-1" lid 17 12xQDR

switchguid=0xb0(b0)
Switch	36 "S-00b0"		# "leaf2" enhanced port 0 lid 2 lmc 0
[1]	"H-0003"[1](31) 		# "n2 mlx5_1" lid 14 4xEDR
[2]	"H-0008"[1](81) 		# "localhost HCA-1" lid 18 4xFDR10
[5]	"S-00a0"[5]		# "SwitchIB Mellanox Technologies leaf1" lid 1 1xSDR
"""


def test_machines_with_several_adapters_and_ports() -> None:
    made = read_topology(FABRIC)
    rates = dict(zip(made.host_names, (made.host_bandwidth / GBPS).tolist(), strict=True))
    fdr = 14.0625 * 64 / 66
    assert rates == {
        "n1": pytest.approx(8 * fdr),  # both ports of its adapter are at one switch
        "n2 mlx5_0": pytest.approx(100),  # at two switches: a host for each
        "n2 mlx5_1": pytest.approx(100),
        "localhost HCA-1 H-0007": pytest.approx(96),
        "localhost HCA-1 H-0008": pytest.approx(40),
    }
    np.testing.assert_allclose(made.link_bandwidth / GBPS, [2.0])
    said = " ".join(made.notes)
    assert "1 machine at several switches" in said
    assert "1 aggregation node" in said
    warned = "src/query_smp.c:199; umad (DR path slid 0) bad status 110; Connection timed out\n"
    indented = read_topology(warned + "  " + FABRIC.replace("\n", "\n  "))
    assert indented.host_names == made.host_names
    assert indented.notes[-1] == "line 1: 1 line of something else left out, this one first"
    slow = read_topology(FABRIC.replace(" 1xSDR", " 0xSDR"))
    assert not len(slow.link_bandwidth)
    assert "bandwidths left out" in " ".join(slow.notes)


def test_a_fabric_whose_guids_are_blacked_out() -> None:
    made = read_topology(
        "[root@n7 ~]# ibnetdiscover\n"
        'Switch\t40 "S-77<cut>"\t\t# "MF0;edge3:QM8790/U1" enhanced port 0 lid 3 lmc 0\n'
        '[4]\t"H-b8<cut>"[1](b8<cut>) \t\t# "n7 mlx5_1" lid 22 2xHDR\n'
        '[9]\t"H-b8<cut>"[1](b8<cut>) \t\t# "n8 mlx5_1" lid 23 2xHDR\n'
        "... and so on\n"
    )
    assert (made.host_names, made.num_routers) == (("n7", "n8"), 1)
    np.testing.assert_array_equal(made.host_bandwidth, 100 * GBPS)
    assert made.notes[-1] == "line 1: 2 lines of something else left out, this one first"


def test_machines_that_are_joined_without_a_switch() -> None:
    made = read_topology(
        'Ca\t1 "H-0a"\t\t# "left mlx5_0"\n'
        '[1](0xa1) \t"H-0x0b"[1] (0xb1) \t\t# lid 1 lmc 0 "right mlx5_0" lid 2 4xEDR\n'
    )
    assert (made.host_names, ends(made)) == (("left", "right"), [("left", "right")])
    np.testing.assert_array_equal(made.link_bandwidth, 100 * GBPS)
    assert "without a switch" in " ".join(made.notes)
    with pytest.raises(ParseError, match="1 adapter and no link"):
        read_topology('Ca\t1 "H-0a"\t\t# "left mlx5_0"\n')


def test_ends_of_a_cable_that_state_different_speeds() -> None:
    made = read_topology(FABRIC.replace('leaf1" lid 1 1xSDR', 'leaf1" lid 1 4xSDR'))
    np.testing.assert_allclose(made.link_bandwidth / GBPS, [2.0])
    assert "the ends of 1 cable state different speeds" in " ".join(made.notes)


def test_warnings_before_the_ports_of_a_fabric() -> None:
    ports = (REPORTS / "13b_ibnetdiscover_p.txt").read_text()
    made = read_topology("$ ibnetdiscover -p\nibwarn: [61] mad_rpc: timed out\n" + ports)
    assert made.host_names == ("n1", "n2")
    assert made.notes[-1] == "line 1: 2 lines of something else left out, this one first"


def test_a_topology_conf_as_it_is_pasted() -> None:
    made = read_topology(
        "The plugin is set in slurm.conf:\nTopologyPlugin=topology/tree\n```\n"
        "> SwitchName=e1 Nodes=w[1-3]\n> SwitchName=e2 Nodes=w4\n> SwitchName=up Switches=e[1-2]\n"
        "```\n"
    )
    assert ends(made) == [("e1", "up"), ("e2", "up")]
    assert made.notes == ("line 1: 4 lines of something else left out, this one first",)


@for_each("default, hosts, links", [("tree-a", 5, 1), ("parts", 6, 0), ("even", 5, 1)])
def test_the_default_of_several_topologies(default: str, hosts: int, links: int) -> None:
    text = (
        "- topology: tree-a\n  tree:\n    switches:\n      - switch: s\n        nodes: n[1-5]\n"
        "      - switch: t\n        children: s\n"
        "- topology: parts\n  block:\n    block_sizes: [3]\n    blocks:\n"
        "      - block: p\n        nodes: n[1-3]\n      - block: q\n        nodes: n[4-6]\n"
        "- topology: even\n  flat: true\n"
    ).replace(f"topology: {default}\n", f"topology: {default}\n  cluster_default: True\n")
    chart = "files:\n  topology.yaml: |\n" + "".join(f"    {x}\n" for x in text.split("\n"))
    for one in (text, chart + "other: 1\n"):
        made = read_topology(one)
        assert (made.num_hosts, made.num_links) == (hosts, links)
        assert "other topologies left out" in made.notes[-1]


def test_ns3_with_comments_and_links_for_each_way() -> None:
    there = [f"{host} 3 50Gbps 2us 0" for host in range(3)]
    back = [f"3 {host} 50Gbps 2us 0  // back" for host in range(3)]
    made = read_topology("\n".join(["4 1 6  # sizes", "3  # the switch", *there, *back, ""]))
    assert (made.num_hosts, made.num_routers) == (3, 1)
    np.testing.assert_array_equal(made.host_bandwidth, 50 * GBPS)
    assert "once for each way" in " ".join(made.notes)


@for_each(
    "name",
    ["11_ns3_topology.txt", "12_anynet.txt", "15d_bw.graphml", "32_dgx_bw.csv", "23_fattree.ini"],
)
@for_each("way", ["fence", "quote", "command", "html"])
def test_a_network_as_it_is_pasted(name: str, way: str) -> None:
    text = (REPORTS / name).read_text()
    pasted = {
        "fence": f"```\n{text}```\n",
        "quote": "".join(f"> {line}\n" for line in text.splitlines()),
        "command": f"Our file:\n[me@n1 ~]$ cat net\n{text}",
        "html": f"$ cat net\n{text}".replace('"', "&quot;")
        .replace("<", "&lt;")
        .replace(">", "&gt;"),
    }[way]
    found = network_of(pasted.encode(), name)
    assert found is not None
    assert found.title == NETWORKS[name][0]
    made, plain = read_topology(pasted), read_topology(REPORTS / name)
    assert (made.num_hosts, ends(made)) == (plain.num_hosts, ends(plain))


def test_settings_are_no_links() -> None:
    text = "Hosts 12\nTiers 2\nTier 0\nRadix_Up 3\nTier 1\nRadix_Down 4\n"
    assert network_of(text.encode(), "x") is None
    with pytest.raises(ParseError, match="these lines are settings"):
        read_topology(text)


def test_attributes_in_braces_as_networkx_writes_them() -> None:
    text = "# made by it\n0 1 {'weight': 2, 'bandwidth': 40.0}\n1 2 {'bandwidth': 80.0}\n"
    found = network_of(text.encode(), "x")
    assert found is not None
    assert found.facts["links"] == 2
    np.testing.assert_allclose(read_topology(text).link_bandwidth / GBPS, [40, 80])
    assert "attribute of edges left out: weight" in found.notes


def test_units_in_an_attribute_of_their_own() -> None:
    made = read_topology(
        "1 2 {'LinkSpeed': '55', 'LinkSpeedUnits': 'M'}\n2 3 {'speed': 3, 'speed_unit': 'GB/s'}\n"
    )
    np.testing.assert_allclose(made.link_bandwidth / GBPS, [0.055, 24])
    assert not any("no unit" in note for note in made.notes)


def test_a_list_of_cables() -> None:
    made = read_topology(
        "Source Device,Source Port,Destination Device,Destination Port,Cable Type,Length,Speed\n"
        "e1,1/7,top,1/1,copper,2,200G\ne2,1/7,top,1/2,optical,9,100G\n"
    )
    assert ends(made) == [("e1", "top"), ("top", "e2")]
    np.testing.assert_array_equal(made.link_bandwidth, [200 * GBPS, 100 * GBPS])
    assert made.classes[1:] == ("copper", "optical")


def test_a_label_may_be_a_latency() -> None:
    made = read_topology('graph {\n a -- b [label="30ns\\nlink_ab"]\n}\n')
    np.testing.assert_allclose(made.link_latency, [30e-9])


def test_an_ini_may_have_its_topology_in_another(tmp_path: Path) -> None:
    (tmp_path / "net.ini").write_text("topology {\n name = torus\n geometry = [3,2]\n}\n")
    (tmp_path / "run.ini").write_text("include net.ini\nnode.app1.name = x\n")
    assert read_topology(tmp_path / "run.ini").num_routers == 6
    (tmp_path / "net.ini").write_text("node.name = simple\n")
    with pytest.raises(ParseError, match="neither it nor"):
        read_topology(tmp_path / "run.ini")


def test_ns3_has_bandwidth_and_latency_by_link() -> None:
    made = read_topology(REPORTS / "11_ns3_topology.txt")
    assert ends(made) == [("4", "5")] * 4
    np.testing.assert_array_equal(made.link_bandwidth, 100 * GBPS)
    np.testing.assert_array_equal(made.link_latency, 1e-6)
    assert made.host_router.tolist() == [0, 0, 1, 1]


SIMAI = """\
9 2 2 3 10 H100
4 5 6 7 8
0 4 2880Gbps 0.000025ms 0
0 6 200Gbps 0.0005ms 0
1 4 2880Gbps 0.000025ms 0
1 7 200Gbps 0.0005ms 0
2 5 2880Gbps 0.000025ms 0
2 6 200Gbps 0.0005ms 0
3 5 2880Gbps 0.000025ms 0
3 7 200Gbps 0.0005ms 0
6 8 400Gbps 0.0005ms 0
7 8 400Gbps 0.0005ms 0
"""


def test_simais_gpus_are_at_their_nvswitch() -> None:
    made = read_topology(SIMAI)
    assert network_of(SIMAI.encode(), "x").title == "SimAI topology: 4 hosts, 5 switches, 6 links"
    assert made.router_names == ("4", "5", "6", "7", "8")
    assert made.host_router.tolist() == [0, 0, 1, 1]
    assert ends(made) == sorted(
        [("4", "6"), ("4", "7"), ("5", "6"), ("5", "7"), ("6", "8"), ("7", "8")]
    )
    np.testing.assert_allclose(made.host_bandwidth / GBPS, 2880)
    assert "4 GPUs at the NVSwitch" in " ".join(made.notes)


def test_hosts_of_ns3_with_links_to_several_switches_have_a_router() -> None:
    made = read_topology(
        "5 2 5\n3 4\n0 3 1Gbps 1us 0\n1 3 1Gbps 1us 0\n1 4 1Gbps 1us 0.1\n"
        "2 4 1Gbps 1us 0\n3 4 2Gbps 1us 0\n"
    )
    assert (made.num_hosts, made.num_routers, made.num_links) == (3, 3, 3)
    mesh = "4 0 4\n\n0 1 1Gbps 1us 0\n1 2 1Gbps 1us 0\n2 3 1Gbps 1us 0\n3 0 1Gbps 1us 0\n"
    assert network_of(mesh.encode(), "x").title == "ns-3 topology: 4 hosts, 4 switches, 4 links"
    said = " ".join(made.notes)
    assert "1 host with links to several nodes" in said
    assert "error rates left out" in said


def test_anynet_has_latencies_in_cycles() -> None:
    made = read_topology(REPORTS / "12_anynet.txt")
    assert made.host_router.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert ends(made) == [("0", "1"), ("0", "2"), ("1", "3"), ("2", "3")]
    np.testing.assert_allclose(sorted(made.link_latency), [1e-9, 1e-9, 5e-9, 5e-9])
    # A channel that both routers list is one, and nodes keep their numbers.
    both = read_topology("router 0 node 1 router 1 3\nrouter 1 router 0 3 node 0\n")
    assert (both.host_router.tolist(), both.num_links) == ([1, 0], 1)
    assert not len(both.link_latency)


def test_a_fat_tree_of_an_ini_is_wired_as_by_sstmacro() -> None:
    made = read_topology(REPORTS / "23_fattree.ini")
    assert made.host_router.tolist() == [leaf for leaf in range(8) for _ in range(4)]
    assert made.degree.tolist() == [4] * 8 + [8] * 12
    assert made.diameter == 4
    assert made.group.tolist() == [0] * 4 + [1] * 4 + [0] * 4 + [1] * 4 + [-1] * 4


@for_each(
    "keys, spec",
    [
        ("name = torus\n geometry = [4,3,2]\n concentration = 2", "torus:4x3x2,hosts=2"),
        ("name = hypercube\n geometry = [4,3]", "hyperx:4x3,hosts=1"),
        (
            "name = dragonfly\n geometry = [4,9]\n h = 2\n concentration = 2\n"
            " inter_group = circulant",
            "dragonfly:9,4,2,2,wiring=sst-circulant",
        ),
        ("name = fully_connected\n geometry = [5]", "fully-connected:5"),
    ],
)
def test_families_of_an_ini(keys: str, spec: str) -> None:
    from workbench.topology import parse_topology

    dotted = "topology." + keys.replace("\n ", "\ntopology.") + "\n"
    for text in (f"topology {{\n {keys}\n}}\n", dotted):
        assert read_topology(text) == parse_topology(spec)


def test_a_tapered_tree_of_an_ini() -> None:
    made = read_topology(
        "topology {\n name = tapered_fat_tree\n num_core_switches = 4\n num_agg_subtrees = 2\n"
        " agg_switches_per_subtree = 2\n leaf_switches_per_subtree = 3\n concentration = 2\n}\n"
    )
    assert (made.num_hosts, made.num_routers, made.num_links) == (12, 9, 8)
    assert "are one" in made.notes[0]


DOT = """\
/* a cluster */
strict graph "my net" {
  graph [rankdir=LR]; node [shape=box];
  rankdir = "TB"
  subgraph cluster_a { label="A"; sw1 [type=switch]; sw2 }
  // the spine
  "sp 1" [type=router]
  { sw1 sw2 } -- "sp 1":p1 [bandwidth="400Gbps", color=red]
  h1 [type=host] h2 [type=host, label=<<b>h2</b>>]
  h1 -- sw1 -- h2 [label="100G"];
}
"""


def test_dot_has_subgraphs_chains_and_attributes() -> None:
    made = read_topology(DOT)
    assert (made.name, made.router_names) == ("my net", ("sw1", "sw2", "sp 1"))
    assert ends(made) == [("sw1", "sp 1"), ("sw2", "sp 1")]
    np.testing.assert_array_equal(made.link_bandwidth, 400 * GBPS)
    np.testing.assert_array_equal(made.host_bandwidth, 100 * GBPS)
    assert (made.host_names, made.host_router.tolist()) == (("h1", "h2"), [0, 0])
    assert made.group.tolist() == [0, 0, -1]
    both = read_topology("digraph { a -> b; b -> a; b -> c }\n")
    assert ends(both) == [("a", "b"), ("b", "c")]


@for_each(
    "text",
    [
        "src,dst,bandwidth_Gbps,latency_us\n0,1,200,0.5\n1,2,400,1\n",
        "# src dst rate latency\n0 1 200Gbps 0.5us\n1 2 400Gbps 0.001ms\n",
        "src dst rate latency\n0 1 200Gbps 500ns\n1 2 400Gbps 1us\n",
        "from\tto\tLink Bandwidth (GB/s)\tdelay [ns]\n0\t1\t25\t500\n1\t2\t50\t1000\n",
        "source;target;capacity;lat.us;src_port\n0;1;200G;0.5;1\n1;2;400 Gbit/s;1;2\n",
        "0 1 200Gbps 0.5us\n1 2 latency=1us bandwidth=400Gbps\n",
        "nodeA,nodeB,linkBandwidthGBps,linkLatency_ns\n0,1,25,500\n1,2,50,1000\n",
        "switch1,port1,switch2,port2,speed,delay\n0,1,1,1,200 Gb/s,0.5 us\n1,2,2,1,400G,1us\n",
        "0,1,200Gbps,0.5us\n1,2,400Gbps,1us\n",
    ],
)
def test_the_columns_of_a_list_of_links(text: str) -> None:
    made = read_topology(text)
    np.testing.assert_allclose(made.link_bandwidth / GBPS, [200, 400], rtol=1e-15)
    np.testing.assert_allclose(made.link_latency, [5e-7, 1e-6], rtol=1e-15)
    assert made.num_links == 2
    found = network_of(text.encode(), "x")
    assert found is not None
    assert found.facts["unequal"]


def test_a_bandwidth_without_a_unit_is_noted() -> None:
    made = read_topology("src,dst,bandwidth\n0,1,200\n1,2,400\n")
    np.testing.assert_allclose(made.link_bandwidth / GBPS, [200, 400])
    assert made.notes == ("bandwidth has no unit, and is taken as Gbit/s",)
    ports = read_topology("src,src_port,dst,dst_port\na,1,b,2\n")
    assert ports.notes == ("columns left out: src_port, dst_port",)


def test_a_last_row_that_is_cut_off_is_left_out_with_a_note() -> None:
    for text, links in (
        ("src,dst,bandwidth_Gbps\n0,1,200\n1,2,400\n2,", 2),
        ("src,dst,bandwidth_Gbps\n0,1,200\n1,2,400\n2,0\n", 2),
        ("src,dst,bandwidth_Gbps\n0,1,200\n1,2,400\n2,0,", 2),
        ("src dst rate latency\n0 1 1Gbps 1us\n1 2 1Gbps 1us\n2 0 1Gbps", 2),
        ("0 1\n1 2\n2", 2),
        ("0 1 1Gbps 0.1us\n1 2 1Gbps 0.1us\n2 0 1Gbps 0.", 2),
        ("4 2 3\n2 3\n0 2 1Gbps 1us 0\n1 3 1Gbps 1us 0\n2 3 1Gb", 0),
        ("router 0 node 0 router 1\nrouter 1 node 1 rou", 1),
        ("SwitchName=a Nodes=n1\nSwitchName=t Switches=a\nSwitchName=b Nod", 1),
        ("SwitchName=a Nodes=n1\nSwitchName=t Switches=a\nSwitchName=b Nodes=n[2-", 1),
        ("SwitchName=a Nodes=n1\nSwitchName=t Switches=a\nSwitchName=b", 1),
        (FABRIC + '[6]\t"S-00', 1),
    ):
        made = read_topology(text)
        assert made.num_links == links, text
        assert "cut off" in " ".join(made.notes)
    assert read_topology("0 1\n1 2\n2 0").num_links == 3


@for_each(
    "text, line, said",
    [
        ("0 1 3\n1 2 3\n", 1, "'3' behind two routers .* links=3"),
        ("0,1,3\n1,2,3\n", 1, "must name the columns"),
        ("0 1 x 3\n", 1, "'3' behind two routers"),
        ("src,dst,weight\n0,1,2\n", 1, "'weight' is not understood"),
        ("src dst cost\n0 1 2\n", 1, "'cost' is not understood"),
        ("# src dst cost\n0 1 2\n", 1, "'cost' is not understood"),
        ("src,dst,latency\n0,1,2\n", 2, "'latency' must have a unit: name it latency_us"),
        ("src,dst,bandwidth\n0,1,fast\n", 2, "bandwidth must be a bandwidth such as 100Gbps"),
        ("src,dst,bandwidth_Gbps\n0,1,1\n1,2,\n2,0,1\n", 3, "all links must state their bandwidth"),
        ("0 1 1Gbps\n1 2 2x\n", 2, "all multiples, such as 2x, or all have a unit"),
        ("0 1 color=red\n", 1, "'color' is nothing that a link has"),
        ("host n1\n0 1\n", 1, "host must be followed by"),
        ("host n1 0\nhost n1 1\n0 1\n", 0, "'n1' is listed again"),
        ("SwitchName=a Nodes=n[1-2]\nSwitchName=b Nodes=n2\n", 2, "'n2' is at 'a' too"),
        ("SwitchName=a Nodes=n1\nSwitchName=t Switches=a,b\n", 2, "'b', which no SwitchName="),
        ("SwitchName=a Nodes=n[1-\n", 1, "a host must be"),
        ("SwitchName=a Nodes=n1\nSwitchName=a Nodes=n2\n", 2, "'a' must be given once"),
        ("SwitchName=a Nodes=n1 Color=red\n", 1, "color is not one of switchname"),
        ("SwitchName=a Nodes=n1 rubbish\n", 1, "a line must be pairs"),
        ("SwitchName=a[1-2] Nodes=n1\n", 1, "must have one name, not a list"),
        ("SwitchName=a\n", 1, "'a' must have Nodes= or Switches="),
        ("4 2 1\n2 3\n0 9 1Gbps 1us 0\n", 3, "a node must be a whole number from 0 to 3"),
        ("router 0 node 0 router 1\nrouter 1 node 0\n", 2, "0 is at two"),
        ("topology {\n name = cascade\n}\n", 2, "'cascade' is not read from an .ini; torus"),
        ("topology {\n name = torus\n}\n", 0, "must have geometry"),
        (
            "topology {\n name = dragonfly\n geometry = [4,9]\n h = 2\n inter_group = single\n}\n",
            5,
            "inter_group must be circulant",
        ),
        ("graph { a -- b\n", 2, "a brace must be closed"),
        ("graph {\n a -> b }\n", 2, "-> in a digraph and -- in a graph"),
        ("graph {\n a -- b [bandwidth=fast] }\n", 2, "bandwidth must be a bandwidth"),
    ],
)
def test_networks_that_are_wrong(text: str, line: int, said: str) -> None:
    with pytest.raises(ParseError, match=said) as caught:
        read_topology(text)
    assert caught.value.line == line


@for_each("name", NETWORKS)
def test_what_was_read_is_written_and_read_back(name: str) -> None:
    made = read_topology(REPORTS / name)
    for write in (to_edge_list, to_csv, to_graphml):
        again = read_topology(write(made).encode(), directed=False)
        assert (again.router_names, again.host_names) == (made.router_names, made.host_names)
        np.testing.assert_array_equal(again.host_router, made.host_router)
        np.testing.assert_array_equal(again.host_bandwidth, made.host_bandwidth)
        rows = [
            sorted(
                (*sorted(link), one, other)
                for link, one, other in zip(
                    network.links.tolist(),
                    network.link_bandwidth.tolist() or [0] * network.num_links,
                    network.link_latency.tolist() or [0] * network.num_links,
                    strict=True,
                )
            )
            for network in (made, again)
        ]
        assert rows[0] == rows[1]
    as_json = read_topology(to_sstmacro_json(made, average_hops=1))
    assert as_json.num_links == made.num_links
    if name == "14b_topology_star.conf":  # whose names are in their order
        assert (as_json.router_names, as_json.host_names) == (made.router_names, made.host_names)
