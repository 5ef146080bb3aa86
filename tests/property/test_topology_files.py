"""Any network survives every format; any bytes are read or refused with a ``ParseError``."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tests.cases import for_each
from workbench.errors import ParseError
from workbench.topology.files import (
    read_topology,
    to_csv,
    to_edge_list,
    to_graphml,
    to_sstmacro_json,
)
from workbench.topology.files.codes import parse_codes, parse_configuration
from workbench.topology.topology import Topology

WRITERS = {"edge-list": to_edge_list, "csv": to_csv, "graphml": to_graphml}
NAMES = st.text("abc <&\"'é\n,;#-", min_size=1, max_size=6)


@st.composite
def networks(draw: st.DrawFn) -> Topology:
    """Return any small network, connected or not."""
    n = draw(st.integers(1, 8))
    ends = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda e: e[0] != e[1])
    links = draw(st.lists(ends, max_size=20)) if n > 1 else []
    kinds = draw(st.lists(st.integers(1, 3), min_size=len(links), max_size=len(links)))
    hosts = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    coordinates = draw(st.integers(0, 3))
    place = st.lists(
        st.integers(-(2**31) + 1, 2**31 - 1), min_size=coordinates, max_size=coordinates
    )
    rates = {
        "link_bandwidth": (len(links), st.floats(1e-3, 1e15)),
        "link_latency": (len(links), st.floats(0, 10)),
        "host_bandwidth": (sum(hosts), st.floats(1e-3, 1e15) | st.just(25e9)),
    }
    known = {
        key: np.array(draw(st.lists(values, min_size=count, max_size=count)))
        for key, (count, values) in rates.items()
        if draw(st.booleans())
    }
    return Topology(
        **known,
        relative=draw(st.booleans()) and bool(known),
        router_names=tuple(f"{draw(NAMES)}{router}" for router in range(n)) * draw(st.booleans()),
        host_names=tuple(f"h {host}" for host in range(sum(hosts))) * draw(st.booleans()),
        name=draw(NAMES),
        num_routers=n,
        links=np.array(links, np.int32).reshape(-1, 2),
        link_class=np.array(kinds, np.uint8),
        classes=("terminal", "one", "a second", "blue & <far>"),
        host_router=np.repeat(np.arange(n), hosts).astype(np.int32),
        group=np.array(draw(st.lists(st.integers(-1, 2), min_size=n, max_size=n)), np.int32),
        coordinates=np.array([draw(place) for _ in range(n)], np.int32).reshape(n, coordinates),
    )


def canonical(made: Topology, *, hyphens: bool = False) -> list[tuple[int, int, str, float, float]]:
    """Return the links with their classes' names and rates, in an order of their own."""
    names = [name.replace(" ", "-") if hyphens else name for name in made.classes]
    unknown = [-1.0] * made.num_links
    return sorted(
        (min(link), max(link), names[place], bandwidth, latency)
        for link, place, bandwidth, latency in zip(
            made.links.tolist(),
            made.link_class.tolist(),
            made.link_bandwidth.tolist() or unknown,
            made.link_latency.tolist() or unknown,
            strict=True,
        )
    )


@given(networks(), st.sampled_from(sorted(WRITERS)))
def test_what_is_written_is_read_back(made: Topology, form: str) -> None:
    back = read_topology(WRITERS[form](made).encode(), format=form, directed=False)
    hyphens = form == "edge-list"
    assert canonical(back, hyphens=hyphens) == canonical(made, hyphens=hyphens)
    assert back.num_routers == made.num_routers
    assert np.array_equal(back.host_router, made.host_router)
    assert np.array_equal(back.host_bandwidth, made.host_bandwidth)
    assert back.router_names in ((), made.router_names)
    assert back.host_names in ((), made.host_names)
    if form != "edge-list" and made.num_hosts:  # whose names are words
        assert back.host_names == made.host_names
    if len(made.link_bandwidth):
        assert back.relative == made.relative
    # Groups keep who is with whom, and their order.
    named = np.unique(made.group[made.group >= 0])
    expected = np.where(made.group < 0, -1, np.searchsorted(named, made.group))
    assert np.array_equal(back.group, expected)
    assert np.array_equal(back.coordinates, made.coordinates)
    assert read_topology(WRITERS[form](made).encode(), directed=False) == back


@given(networks())
def test_sstmacros_json_is_read_back(made: Topology) -> None:
    back = read_topology(to_sstmacro_json(made, average_hops=1).encode())
    assert [link[:2] for link in canonical(back)] == [link[:2] for link in canonical(made)]
    assert np.array_equal(back.host_router, made.host_router)


def survives(content: bytes, form: str | None = None) -> None:
    """Read bytes, which are a network or are refused."""
    try:
        made = read_topology(content, format=form)  # type: ignore[arg-type]
    except ParseError as error:
        assert str(error)
        return
    assert made.num_routers >= 1


@given(
    st.binary(max_size=200) | st.text(max_size=200).map(str.encode),
    st.sampled_from([None, "edge-list", "csv", "graphml", "sstmacro", "codes"]),
)
def test_any_bytes_are_read_or_refused(content: bytes, form: str | None) -> None:
    survives(content, form)


@given(networks(), st.sampled_from(["edge-list", "csv", "graphml", "sstmacro"]), st.data())
def test_damaged_files_are_read_or_refused(made: Topology, form: str, data: st.DataObject) -> None:
    written = (
        to_sstmacro_json(made, average_hops=1) if form == "sstmacro" else WRITERS[form](made)
    ).encode()
    start = data.draw(st.integers(0, len(written)))
    end = data.draw(st.integers(start, min(start + 8, len(written))))
    put = data.draw(st.binary(max_size=6) | st.sampled_from([b"99999999999", b"-1", b"<", b"{}"]))
    survives(written[:start] + put + written[end:], form)
    survives(written[:start] + put + written[end:])


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["a", "n", "b"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["a", "n", "0", "outports", "destination", "inport"]), inner, max_size=3
        )
    ),
    max_leaves=12,
)


@given(VALUES, VALUES)
def test_any_json_is_read_or_refused(switches: object, nodes: object) -> None:
    survives(json.dumps({"switches": switches, "nodes": nodes}).encode(), "sstmacro")


@given(
    st.integers(0, 3),
    st.integers(0, 3),
    st.integers(0, 3),
    st.lists(st.integers(-1, 9), max_size=12) | st.binary(max_size=40),
    st.lists(st.integers(-1, 30), max_size=12) | st.binary(max_size=40),
)
def test_any_cabling_of_codes_is_read_or_refused(
    rows: int, columns: int, groups: int, intra: list[int] | bytes, inter: list[int] | bytes
) -> None:
    text = (
        'modelnet_order=( "dragonfly_dally" );\n'
        f'num_router_rows="{rows}"; num_router_cols="{columns}"; num_groups="{groups}";\n'
        'num_cns_per_router="1";\n'
    )
    content = [
        part if isinstance(part, bytes) else np.array(part, "<i4").tobytes()
        for part in (intra, inter)
    ]
    try:
        made = parse_codes(parse_configuration(text, "conf"), *content, "conf")
    except ParseError:
        return
    assert made.num_routers == rows * columns * groups


@for_each(
    "content",
    [
        b"0 1 x links=256\n" * 17000,
        b"router 0 hosts=65536\n" + b"".join(b"router %d hosts=65536\n" % n for n in range(70)),
        b"<graphml>" + b"<graph>" * 100000,
        b"<graphml>" + b"<data>" + b"&#65;" * 100000,
        b"[" * 100000,
        b'{"a":' * 100000,
        b'"' * 100000,
        b"1" * 1000000,
        b"one,other\n" + b"0,1\n" * 1000 + b'"',
        b"\x00" * 100000,
    ],
)
def test_greedy_files_are_refused_soon(content: bytes) -> None:
    with pytest.raises(ParseError):
        read_topology(content)
