"""Networks in files: what each format says, and how what is wrong with one is told."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cases import for_each
from workbench import topology
from workbench.errors import ParameterError, ParseError
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
from workbench.topology.files.assembly import Assembly, Place
from workbench.topology.files.hosts import describe_hosts
from workbench.topology.topology import Topology


def links_of(made: Topology) -> list[tuple[int, int, str]]:
    """Return the links as sorted pairs with the names of their classes, in order."""
    return sorted(
        (min(link), max(link), made.classes[place])
        for link, place in zip(made.links.tolist(), made.link_class.tolist(), strict=True)
    )


def test_an_edge_list_of_two_columns() -> None:
    made = read_topology("# a ring\n0 1\n1 2  # closes next\n\n2 0\n")
    assert links_of(made) == [(0, 1, "link"), (0, 2, "link"), (1, 2, "link")]
    assert made.host_router.tolist() == [0, 1, 2]
    assert made.family == "custom"
    assert made.group.tolist() == [-1, -1, -1]


def test_an_edge_list_with_classes_parallel_links_and_routers() -> None:
    made = read_topology(
        "router 1 hosts=2 group=7 at=1,0\nrouter 0 hosts=0 group=9 at=0,-3\n1 0 blue links=3\n"
    )
    assert links_of(made) == [(0, 1, "blue")] * 3
    assert made.host_router.tolist() == [1, 1]
    # Groups that are numbers are in their order, from 0 and without gaps.
    assert made.group.tolist() == [1, 0]
    assert made.coordinates.tolist() == [[0, -3], [1, 0]]
    assert made.classes == ("terminal", "blue")


def test_routers_are_numbered_by_numbers_or_in_the_order_of_their_names() -> None:
    assert read_topology("10 9\n9 2\n").links.tolist() == [[2, 1], [1, 0]]
    assert read_topology("tor-b tor-a\ntor-a spine\n").links.tolist() == [[0, 1], [1, 2]]


def test_an_edge_list_with_every_link_both_ways_has_each_once() -> None:
    both = "0 1\n1 0\n1 2\n2 1\n1 2\n2 1\n"
    assert links_of(read_topology(both)) == [(0, 1, "link"), (1, 2, "link"), (1, 2, "link")]
    assert read_topology(both, directed=False).num_links == 6
    # One line more and they count as links of their own.
    assert read_topology(both + "0 2\n").num_links == 7
    assert read_topology(both + "0 2\n", directed=True).num_links == 4


def test_hosts_are_one_each_by_default() -> None:
    assert read_topology("0 1\n").num_hosts == 2
    assert read_topology("0 1\n", hosts=3).num_hosts == 6
    assert read_topology("router 0 hosts=4\n0 1\n").host_router.tolist() == [0] * 4
    assert read_topology("router 0 hosts=4\n0 1\n", hosts=1).num_hosts == 2


@for_each(
    "text",
    [
        "source,target\n0,1\n1,2\n",
        "from;to;class\n0;1;\n1;2;\n",
        "0,1\n1,2\n",
        "0\t1\n1\t2\n",
        '"one","other"\r\n"0","1"\r\n"1","2"\r\n',
        "\ufeffsrc,dst,bandwidth\n0,1,25\n1,2,25\n",
    ],
)
def test_csv_of_many_makers(text: str) -> None:
    made = read_topology(text)
    assert links_of(made) == [(0, 1, "link"), (1, 2, "link")]


def test_csv_with_all_columns() -> None:
    made = read_topology(
        "one,other,class,links,hosts,group,at\na,,,,2,left,0 1\nb,,,,0,right,4 5\na,b,blue,2,,,\n"
    )
    assert links_of(made) == [(0, 1, "blue"), (0, 1, "blue")]
    assert made.host_router.tolist() == [0, 0]
    assert made.group.tolist() == [0, 1]
    assert made.coordinates.tolist() == [[0, 1], [4, 5]]


GRAPHML = """<?xml version="1.0"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="d0" for="node" attr.name="kind" attr.type="string"><default>router</default></key>
  <key id="d1" for="edge" attr.name="link_class" attr.type="string"/>
  <graph edgedefault="{default}">
    <node id="n0"/><node id="n1"/>
    <node id="h"><data key="d0">host</data></node>
    <edge source="n0" target="n1"><data key="d1">blue &amp; long</data></edge>
    <edge source="h" target="n1"/>
  </graph>
</graphml>
"""


@for_each("default", ["undirected", "directed"])
def test_graphml_with_hosts_as_nodes(default: str) -> None:
    text = GRAPHML.format(default=default)
    for made in (read_topology(text), read_topology(text.encode("utf-16"), name="network")):
        assert links_of(made) == [(0, 1, "blue & long")]
        assert made.host_router.tolist() == [1]
    assert made.name == "network"


def test_an_entity_bomb_is_refused_at_its_document_type() -> None:
    lines = ['<!ENTITY a0 "ha">']
    lines += [f'<!ENTITY a{n} "&a{n - 1};&a{n - 1};&a{n - 1};&a{n - 1};">' for n in range(1, 60)]
    text = "\n".join(['<?xml version="1.0"?>', "<!DOCTYPE bomb [", *lines, "]>", "<graphml>&a59;"])
    for content in (text.encode(), text.encode("utf-16")):
        with pytest.raises(ParseError, match="no document type") as caught:
            read_topology(content)
        assert caught.value.line == 2


def test_nothing_outside_a_graphml_file_is_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    text = f'<!DOCTYPE x [<!ENTITY e SYSTEM "{secret.as_uri()}">]><graphml>&e;</graphml>'
    with pytest.raises(ParseError, match="no document type"):
        read_topology(text.encode())


SST = {
    "avg_num_hops": 2,
    "switches": {
        "s10": {"outports": {"0": {"destination": "s9", "inport": 1}}},
        "s9": {
            "outports": {
                "1": {"destination": "s10", "inport": 0},
                "2": {"destination": "nid1", "inport": 0},
                "3": {"destination": "nid0", "inport": 0},
            }
        },
    },
    "nodes": {"nid1": {"outports": {}}, "nid0": {"outports": {}}},
}


def test_sstmacros_json_is_numbered_in_the_order_of_names() -> None:
    made = read_topology(json.dumps(SST).encode())
    assert made.num_routers == 2
    assert links_of(made) == [(0, 1, "link")]
    # s10 comes before s9, as bytes.
    assert made.host_router.tolist() == [1, 1]


def test_what_sstmacro_is_given_names_every_port_once_at_both_ends() -> None:
    made = topology.torus((2, 3), hosts=2)
    values = json.loads(to_sstmacro_json(made))
    assert values["avg_num_hops"] == 2
    for name, switch in values["switches"].items():
        for port, there in switch["outports"].items():
            to = (
                values["switches"].get(there["destination"])
                or values["nodes"][there["destination"]]
            )
            assert to["outports"][str(there["inport"])] == {
                "destination": name,
                "inport": int(port),
            }
    assert json.loads(to_sstmacro_json(made, average_hops=7))["avg_num_hops"] == 7


def test_codes_files_there_and_back(tmp_path: Path) -> None:
    made = topology.aries(3, hosts=2)
    written = write_topology(made, tmp_path / "machine.conf")
    assert [path.name for path in written] == ["machine.conf", "intra-machine", "inter-machine"]
    # Each group's 1440 links of rows and 720·... both ways, of 12 bytes; all blue ones, of 8.
    assert written[1].stat().st_size == 2 * 1440 * 12
    assert written[2].stat().st_size == 2 * 8 * int((made.link_class == 3).sum())
    back = read_topology(tmp_path / "machine.conf")
    assert links_of(back) == links_of(made)
    assert np.array_equal(back.group, made.group)
    assert np.array_equal(back.coordinates, made.coordinates)
    assert np.array_equal(back.host_router, made.host_router)


CONFIGURATION = """PARAMS
{
   modelnet_order=( "dragonfly_custom","dragonfly_custom_router" );
   num_router_rows="1"; num_router_cols="2";   # a comment with num_groups="9";
   num_groups="2";
   num_cns_per_router="3";
   intra-group-connections="../conf/inside";
   inter-group-connections="outside";
}
"""


def codes(folder: Path, inside: Any, outside: Any, text: str = CONFIGURATION) -> Path:
    """Write CODES's three files and return the configuration's path."""
    (folder / "inside").write_bytes(np.array(inside, "<i4").tobytes())
    (folder / "outside").write_bytes(np.array(outside, "<i4").tobytes())
    path = folder / "small.conf"
    path.write_text(text)
    return path


def test_codes_records_are_read_by_their_layout(tmp_path: Path) -> None:
    path = codes(tmp_path, [[0, 1, 0], [1, 0, 0]], [[1, 2], [2, 1], [1, 2], [2, 1]])
    made = read_topology(path)
    assert links_of(made) == [(0, 1, "row"), (1, 2, "blue"), (1, 2, "blue"), (2, 3, "row")]
    assert made.num_hosts == 12
    assert made.group.tolist() == [0, 0, 1, 1]


def test_codes_bandwidths_of_local_global_and_hosts_links(tmp_path: Path) -> None:
    rates = 'num_groups="2"; local_bandwidth="5.25"; global_bandwidth="4.69"; cn_bandwidth="16.0";'
    text = CONFIGURATION.replace('num_groups="2";\n', f"{rates}\n")
    path = codes(tmp_path, [[0, 1, 0], [1, 0, 0]], [[1, 2], [2, 1]], text)
    made = read_topology(path)
    gib = 2.0**30
    assert made.link_bandwidth.tolist() == [5.25 * gib, 5.25 * gib, 4.69 * gib]
    assert set(made.host_bandwidth.tolist()) == {16.0 * gib}
    write_topology(made, tmp_path / "again.conf")
    again = read_topology(tmp_path / "again.conf")
    np.testing.assert_array_equal(again.link_bandwidth, made.link_bandwidth)
    np.testing.assert_array_equal(again.host_bandwidth, made.host_bandwidth)
    with pytest.raises(ParameterError, match="hold bandwidths in GiB/s"):
        to_codes(topology.with_bandwidths(made, (1, 1, 2)), "name")
    uneven = replace(made, link_bandwidth=np.array([1e9, 2e9, 3e9]))
    with pytest.raises(ParameterError, match="hold one local_bandwidth"):
        to_codes(uneven, "name")


@for_each(
    "inside, outside, change, said",
    [
        ([[0, 1, 0]], [], ("", ""), "once each way"),
        ([[0, 1, 2], [1, 0, 2]], [], ("", ""), "type 0 or 1"),
        ([[0, 2, 0], [2, 0, 0]], [], ("", ""), "record 0 must name routers 0 to 1"),
        ([[1, 1, 0]], [], ("", ""), "record 0 must join two routers"),
        ([], [[0, 1], [1, 0]], ("", ""), "must join two groups"),
        ([0, 1], [], ("", ""), "records of 12 bytes; it has 8"),
        ([], [], ('"2";\n', '"0";\n'), "num_groups must be a whole number from 1"),
        ([], [], ("num_cns_per_router", "other"), "num_cns_per_router must be"),
        ([], [], ("../conf/inside", ""), "must have intra-group-connections"),
        ([], [], ("../conf/inside", ".."), "cannot read it"),
        ([], [], ("num_groups", 'local_bandwidth="5"; num_groups'), "global_bandwidth, or neither"),
        ([], [], ("num_groups", 'cn_bandwidth="fast"; num_groups'), "cn_bandwidth must be above 0"),
        ([], [], ("dragonfly_custom", "torus"), "must name dragonfly_custom or dragonfly_dally"),
        ([], [], ('"2";\n', '"65536";\n'), None),
        ([], [], ('cols="2"', 'cols="65536"'), None),
        ([], [], ('cols="2";', 'cols="65536"; num_router_rows="65536";'), "at most 4194304"),
    ],
)
def test_codes_files_that_are_wrong(
    tmp_path: Path, inside: Any, outside: Any, change: tuple[str, str], said: str | None
) -> None:
    path = codes(tmp_path, inside, outside, CONFIGURATION.replace(*change))
    if said is None:
        assert read_topology(path).num_links == 0
        return
    with pytest.raises(ParseError, match=said):
        read_topology(path)


def test_a_configuration_without_its_files_says_so(tmp_path: Path) -> None:
    with pytest.raises(ParseError, match="inside and outside: give its path"):
        read_topology(CONFIGURATION)
    (tmp_path / "alone.conf").write_text(CONFIGURATION)
    with pytest.raises(ParseError, match="inside: cannot read it: No such file"):
        read_topology(tmp_path / "alone.conf")


@for_each("made", [topology.fat_tree(4), topology.slim_fly(5)])
def test_codes_files_cannot_hold_other_networks(made: Topology) -> None:
    with pytest.raises(ParameterError, match="rows and columns"):
        to_codes(made, "name")


class Graph:
    """What of networkx is asked for, so that it need not be installed."""

    def __init__(self, nodes: Any, edges: Any, *, directed: bool = False, **own: object) -> None:
        self._nodes, self._edges, self._directed, self.graph = nodes, edges, directed, own

    def nodes(self, *, data: bool) -> Any:
        assert data
        return self._nodes

    def edges(self, *, data: bool) -> Any:
        assert data
        return self._edges

    def is_directed(self) -> bool:
        return self._directed


def test_a_graph_of_networkx() -> None:
    nodes = [("b", {"hosts": 2, "group": 1, "coordinates": (3, 4)})]
    nodes += [("a", {"hosts": 0, "group": -1, "coordinates": (0, 0)})]
    graph = Graph(nodes, [("a", "b", {"link_class": "blue"}), ("a", "b", {})], name="two")
    made = from_networkx(graph)
    assert links_of(made) == [(0, 1, "blue"), (0, 1, "link")]
    assert made.host_router.tolist() == [0, 0]
    assert made.coordinates.tolist() == [[3, 4], [0, 0]]
    assert made.group.tolist() == [0, -1]
    assert made.name == "two"
    both = [("a", "b", {}), ("b", "a", {}), ("a", "b", {})]
    assert from_networkx(Graph(nodes, both, directed=True)).num_links == 2
    with pytest.raises(ParameterError, match="one of networkx's; got list"):
        from_networkx([(0, 1)])  # type: ignore[arg-type]
    with pytest.raises(ParseError, match="itself"):
        from_networkx(Graph(nodes, [("a", "a", {})]))


@for_each(
    "text, line, said",
    [
        ("0 1\n1\n", 2, "a link must be two routers"),
        ("0 1\n\n1 1\n", 3, "joins a router to itself"),
        ("0 1 blue links=0\n", 1, "parallel links must be a whole number from 1"),
        ("0 1 blue links=257\n", 1, "from 1 to 256"),
        ("0 1 terminal\n", 1, "name other than 'terminal'"),
        ("0 1 blue links=1 more\n", 1, "a link has one class; got another, 'more'"),
        ("".join(f"0 1 class{n}\n" for n in range(7)), 7, "at most 6 classes of links"),
        ("router\n", 1, "followed by a router's name"),
        ("router 0 hosts=-1\n", 1, "a router's hosts must be a whole number from 0"),
        ("router 0 hosts=99999999\n", 1, "from 0 to 65536"),
        ("router 0 hosts=1\nrouter 0 hosts=2\n", 2, "given once"),
        ("router 0 group=1\nrouter 0 group=2\n", 2, "group must be given once"),
        ("router 0 at=1,2\nrouter 1 at=1\n", 2, "as many coordinates"),
        ("router 0 at=1,x\n", 1, "a coordinate must be"),
        ("router 0 at=1\n0 1\n", 0, "all 2 routers must have coordinates or none; 1 have"),
        ("router 0 color=red\n", 1, "hosts=, group= and at="),
        ("# nothing\n", 0, "must have routers"),
        ("one,other\n0\n\n0,1\n,1\n", 5, "name a router in its first column"),
        ("one,other\n0,1,2\n", 2, "at most the 2 columns"),
        ("one,other,one\n0,1,2\n", 1, "one occurs more often"),
        ("hop,skip,jump,run,walk\n\n", 1, "must name the columns"),
        ("one,other,links\n0,1,x\n", 2, "parallel links"),
        ("one,other\n" + "0" * 300 + ",1\n", 2, "1 to 255 characters; got 300"),
        ("one,other\n" + "0" * 200000 + ",1\n", 2, "it must be CSV"),
        ('{"switches": {}}\n', 0, "must have 'nodes'"),
        ('{"switches": 3, "nodes": {}}\n', 0, "must have 'switches'"),
        ('{"switches": {"a": {}}, "nodes": {}}\n', 0, "a must have 'outports'"),
        ('{"switches": {"a": {"outports": {"0": 1}}}, "nodes": {}}\n', 0, "have a destination"),
        ('{"switches": {"a": {"outports": {}}}, "nodes": {"a": {}}}\n', 0, "a switch and a node"),
        ('{"switches": {"a": {"outports": {}}}, "nodes": {"n": {}}}\n', 0, "of a switch's port"),
        ("{\n", 2, "must be JSON"),
        ("<html>\n</html>\n", 1, "must begin with <graphml>"),
        ("<graphml>\n<node/></graphml>\n", 2, "must have id="),
        ("<graphml>\n<edge source='a' target='b'/></graphml>\n", 2, "'a' is not a node"),
        ("<graphml>\n<node id='a'/>\n<node id='a'/></graphml>\n", 3, "is listed again"),
        ("<graphml>\n<hyperedge/></graphml>\n", 2, "hyperedges"),
        ("<graphml>\n<node></graphml>\n", 2, "must have id="),
        ("<graphml>\n<graph></graphml>\n", 2, "must be XML: mismatched tag"),
        ("<graphml>\n" + "<a>" * 70, 2, "at most 64 deep"),
        ("<graphml>\n<data>" + "x" * 5000 + "</data></graphml>", 2, "at most 4096 characters"),
        ("<?xml version='1.0' encoding='nonsense'?>\n<graphml/>\n", 1, "encoding"),
        ("<graphml/>\n", 0, "must have routers"),
    ],
)
def test_files_that_are_wrong(text: str, line: int, said: str) -> None:
    with pytest.raises(ParseError, match=said) as caught:
        read_topology(text)
    assert caught.value.line == line


def test_hosts_at_two_routers_or_none_are_refused() -> None:
    node = "<node id='{}'><data key='kind'>{}</data></node>".format
    edge = "<edge source='{}' target='{}'/>".format
    nodes = node("a", "router") + node("b", "router") + node("h", "host") + node("i", "host")
    for edges, said in (
        (edge("h", "a") + edge("h", "b"), "'h' is at two"),
        (edge("h", "i"), "joined to a router"),
    ):
        with pytest.raises(ParseError, match=said):
            read_topology(f"<graphml>\n{nodes}{edges}</graphml>")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ParseError, match="No such file"):
        read_topology(tmp_path / "none")
    with pytest.raises(ParseError, match="cannot read it"):
        read_topology(tmp_path)
    with pytest.raises(ParseError, match="UTF-8") as caught:
        read_topology(b"0 1\n\xff 2\n")
    assert caught.value.line == 2


@for_each(
    "arguments, said",
    [
        ({"format": "png"}, "edge-list, csv, graphml, sstmacro, codes, .*; got 'png'"),
        ({"hosts": -1}, "at least 0"),
        ({"hosts": 10**6}, "at most 65536"),
    ],
)
def test_arguments_that_are_wrong(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        read_topology("0 1\n", **arguments)


def test_the_end_of_a_files_name_tells_what_is_written(tmp_path: Path) -> None:
    made = topology.xpander(3, 2)
    for name, written in (
        ("a.txt", to_edge_list(made)),
        ("a.CSV", to_csv(made)),
        ("a.graphml", to_graphml(made)),
        ("a.json", to_sstmacro_json(made)),
    ):
        assert write_topology(made, tmp_path / name) == [tmp_path / name]
        assert (tmp_path / name).read_text("utf-8") == written
        assert read_topology(tmp_path / name).name in (name, made.name)
    with pytest.raises(ParameterError, match=r"got 'a\.png'"):
        write_topology(made, tmp_path / "a.png")


def test_hosts_are_set_at_all_routers_or_at_the_edge() -> None:
    text = b"0 4\n1 4\n2 4\n3 4\n0 5\n1 5\n2 5\n3 5\n"
    assumed = read_topology(text)
    assert assumed.parameters == {"hosts": "assumed"}
    assert describe_hosts(assumed).endswith("one at each of its 6 routers is assumed")
    edge = read_topology(text, hosts=3, at="edge")
    assert np.bincount(edge.host_router, minlength=6).tolist() == [3, 3, 3, 3, 0, 0]
    assert describe_hosts(edge) == "3 hosts at each of 4 routers, none at 2 (spines)"
    np.testing.assert_array_equal(edge.links, assumed.links)
    again = read_topology(to_edge_list(edge).encode())
    np.testing.assert_array_equal(again.host_router, edge.host_router)
    assert again.parameters == {}, "what a file names is not assumed"
    with pytest.raises(ParameterError, match="at must be one of all, edge; got 'leaf'"):
        read_topology(text, hosts=1, at="leaf")
    with pytest.raises(ParameterError, match="hosts"):
        read_topology(text, hosts=-1, at="edge")


def assembled(
    *links: tuple[str, str, float | None], hosts: Sequence[float | None] = ()
) -> Assembly:
    found = Assembly("made.csv")
    for line, (one, other, bandwidth) in enumerate(links, 1):
        place = Place("made.csv", line)
        found.link(found.router(one, place), found.router(other, place), place, bandwidth=bandwidth)
    for router, bandwidth in enumerate(hosts):
        found.add_host(router, bandwidth)
    return found


def test_an_assembly_keeps_bandwidths_and_latencies() -> None:
    made = assembled(("a", "b", 50e9), ("b", "c", 25e9), hosts=[25e9, 25e9]).topology()
    np.testing.assert_array_equal(made.link_bandwidth, [50e9, 25e9])
    np.testing.assert_array_equal(made.capacity, [2, 1])
    np.testing.assert_array_equal(made.host_bandwidth, [25e9, 25e9])
    # Listed each way, and in the order of the routers' numbers.
    made = assembled(("1", "0", 2.0), ("0", "1", 2.0), ("1", "2", 4.0), ("2", "1", 4.0)).topology(
        directed=None
    )
    assert made.num_links == 2
    np.testing.assert_array_equal(made.link_bandwidth, [2.0, 4.0])


def test_an_assembly_refuses_what_only_some_links_state() -> None:
    with pytest.raises(ParseError, match="all links must state their bandwidth, or none") as error:
        assembled(("a", "b", 50e9), ("b", "c", None)).topology()
    assert error.value.line == 2
    with pytest.raises(ParseError, match="all hosts must state the bandwidth of their link"):
        assembled(("a", "b", 50e9), hosts=[25e9, None]).topology()
    with pytest.raises(ParseError, match="a bandwidth must be above 0; got -1") as error:
        assembled(("a", "b", -1.0))
    assert error.value.line == 1
    with pytest.raises(ParseError, match="a link must have the same bandwidth both ways"):
        assembled(("a", "b", 2.0), ("b", "a", 1.0)).topology(directed=True)
