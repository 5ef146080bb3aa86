from __future__ import annotations

import numpy as np
import pytest

from workbench.errors import ParameterError
from workbench.plotting import palette
from workbench.plotting.topology.columns import (
    CLASS_COLOURS,
    MOST_LINKS,
    drawing_note,
    drawn_links,
    link_columns,
)
from workbench.plotting.topology.layout import topology_layout
from workbench.plotting.topology.map import plot_topology, topology_map
from workbench.topology import fully_connected, parse_topology, torus


def test_every_link_is_drawn_between_its_routers() -> None:
    topology = parse_topology("fat-tree:4")
    layout = topology_layout(topology)
    drawn = drawn_links(topology, layout)
    assert len(drawn.ends) == topology.num_links
    columns, marked = link_columns(layout, drawn, None)
    assert len(marked["x0"]) == 0
    seen = {tuple(sorted(pair)) for pair in zip(columns["one"], columns["other"], strict=True)}
    assert seen == {tuple(sorted(pair)) for pair in topology.links.tolist()}
    at = {"x0": "one", "x1": "other"}
    for end, router in at.items():
        assert columns[end] == pytest.approx(layout.x[columns[router]], abs=1e-6)


def test_parallel_links_are_one_with_the_largest_load() -> None:
    topology = torus((4, 4), multiplicity=(2, 1))
    layout = topology_layout(topology)
    drawn = drawn_links(topology, layout)
    assert len(drawn.ends) == 32
    assert drawn.count.sum() == topology.num_links == 48
    load = np.arange(48.0)
    worst = drawn.largest(load)
    for link, value in enumerate(load):
        assert worst[drawn.drawn[link]] >= value
    assert set(worst.tolist()) <= set(load.tolist())


def test_the_most_loaded_are_drawn_last_and_marked_where_they_are_few() -> None:
    topology = torus((5, 5))
    load = np.ones(50)
    load[7] = 4.0
    drawn = topology_map(topology, load)
    assert drawn.links.data["load"][-1] == 4.0
    ends = {int(drawn.hottest.data["one"][0]), int(drawn.hottest.data["other"][0])}
    assert ends == set(topology.links[7].tolist())
    assert len(drawn.hottest.data["x0"]) == 1
    drawn.show(topology, np.ones(50))
    assert len(drawn.hottest.data["x0"]) == 0, "where all are alike none is the hottest"
    drawn.show(topology, np.zeros(50))
    assert len(drawn.hottest.data["x0"]) == 0


def test_links_are_coloured_by_load_or_by_class() -> None:
    topology = parse_topology("dragonfly:a=4,p=2,h=2")
    drawn = topology_map(topology, np.linspace(0, 3, topology.num_links))
    assert drawn.mapper.low == 0
    assert drawn.mapper.high == pytest.approx(3)
    assert drawn.bar.visible
    drawn.rescale(2.0)
    assert drawn.mapper.high == pytest.approx(2)
    assert drawn.mapper.high_color == palette.VERMILLION
    drawn.show(topology)
    assert set(drawn.links.data["value"].tolist()) == {1.0, 2.0}
    assert tuple(drawn.mapper.palette) == CLASS_COLOURS
    # Class c has colour c - 1: the ends of the scale lie between two classes.
    share = (np.array([1, 6]) - drawn.mapper.low) / (drawn.mapper.high - drawn.mapper.low)
    assert (share * len(CLASS_COLOURS)).astype(int).tolist() == [0, 5]
    assert not drawn.bar.visible
    before = drawn.mapper.high
    drawn.rescale(9.0)
    assert drawn.mapper.high == before, "classes have no scale"
    assert drawn.classes.data["name"] == ["terminal", "intra-group", "inter-group"]


def test_a_link_that_is_just_full_is_not_too_much() -> None:
    topology = torus((4, 4))
    drawn = topology_map(topology, np.full(32, 1.0 + 1e-9))
    drawn.rescale(1.0)
    assert max(drawn.links.data["value"]) <= drawn.mapper.high


def test_routers_without_hosts_are_hollow_and_reported() -> None:
    drawn = topology_map(parse_topology("fat-tree:4"))
    data = drawn.routers.data
    assert data["filled"].tolist() == [1.0] * 8 + [0.0] * 12
    assert data["about"][0] == "2 hosts"
    assert data["name"][0] == "router 0 at (0, 0, 0)"


def test_names_travel_once() -> None:
    topology = torus((4, 4))
    drawn = topology_map(topology)
    layout = topology_layout(topology)
    places = layout, drawn_links(topology, layout)
    drawn.show(topology, places=places)
    before = drawn.routers.data
    drawn.show(topology, np.ones(32), places=places)
    assert drawn.routers.data is before
    drawn.show(torus((3, 3)))
    assert len(drawn.routers.data["x"]) == 9


def test_of_too_many_links_as_many_as_fit_are_drawn() -> None:
    topology = fully_connected(250)
    layout = topology_layout(topology)
    drawn = drawn_links(topology, layout)
    assert drawn.shown == MOST_LINKS < topology.num_links
    load = np.arange(float(topology.num_links))
    columns, _ = link_columns(layout, drawn, load)
    last = columns["load"][-MOST_LINKS // 2 :]
    # Loads within a thousandth of the largest count as alike.
    assert last.min() >= topology.num_links * (1 - 2e-3) - MOST_LINKS // 2
    others = columns["load"][: MOST_LINKS // 2]
    assert np.median(others) == pytest.approx(np.median(load), rel=0.1), "of all the others some"
    assert len(set(columns["load"].tolist())) == MOST_LINKS
    assert "4,000 of 31,125 links" in drawing_note(topology, layout, drawn)
    grouped = parse_topology("dragonfly:a=16,p=1,h=8,g=129")
    layout = topology_layout(grouped, most_nodes=200)
    drawn = drawn_links(grouped, layout)
    assert drawing_note(grouped, layout, drawn) == (
        "drawn: 2,064 routers as 129 nodes, 4,000 of 8,256 links"
    )
    assert (drawn.drawn[grouped.link_class == 1] == -1).all(), "links within a group have no length"
    assert drawn.count.sum() == (grouped.link_class == 2).sum()


def test_what_is_too_full_stands_out_beside_what_is_far_too_full() -> None:
    topology = torus((4, 4))
    layout = topology_layout(topology)
    load = np.zeros(topology.num_links)
    load[:3] = 1.5, 30.0, 0.5
    columns, _ = link_columns(layout, drawn_links(topology, layout), load)
    alpha = dict(zip(columns["load"].tolist(), columns["alpha"].tolist(), strict=True))
    assert alpha[1.5] == alpha[30.0] > alpha[0.5] > alpha[0.0]


def test_there_is_a_load_for_each_link() -> None:
    with pytest.raises(ParameterError, match="one for each of 32 links"):
        plot_topology(torus((4, 4)), load=[1.0])
    fig = plot_topology(torus((4, 4)), load=np.ones(32), full=2.0)
    assert fig.title.text.startswith("torus 4x4")
    named = plot_topology(parse_topology("fat-tree:4")).legend[0].items
    assert [item.label["value"] for item in named] == ["intra-group", "inter-group"]


def test_a_topology_draws_itself() -> None:
    made = torus((3, 3))
    load = np.arange(made.num_links, dtype=float)
    drawn, plain = made.plot(load=load, full=2.0), plot_topology(made, load=load, full=2.0)
    assert [type(one) for one in drawn.renderers] == [type(one) for one in plain.renderers]
    for mine, other in zip(drawn.renderers, plain.renderers, strict=True):
        assert repr(mine.data_source.data) == repr(other.data_source.data)
    with pytest.raises(ParameterError, match="load"):
        made.plot(load=[1.0])


def test_links_of_more_bandwidth_are_thicker_and_named() -> None:
    topology = parse_topology("dragonfly:5,2,2,2,bandwidth=1x4")
    fig = plot_topology(topology)
    drawn = topology_map(topology)
    width, kind = (np.asarray(drawn.links.data[name]) for name in ("width", "kind"))
    assert width[kind == 2] == pytest.approx(3 * width[kind == 1][0])
    labels = [item.label.value for item in fig.legend[0].items]
    assert labels == ["intra-group", "inter-group", "1 × a host's link", "4 × a host's link"]
    assert drawn.tip.tooltips[-1] == ("bandwidth", "@capacity{0.[00]} × a host's link")
    layout = topology_layout(topology)
    note = drawing_note(topology, layout, drawn_links(topology, layout))
    assert note == "drawn: links of 1 × a host's link (thin) to 4 × a host's link (thick)"
    drawn.show(parse_topology("dragonfly:5,2,2"))
    assert len(drawn.tip.tooltips) == 3
