from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.unit.panels.networks import ring
from tests.unit.panels.waiting import PATIENCE_S, settled
from workbench import programs, tasks, topology
from workbench.errors import DatasetError, ParameterError, ParseError, WorkbenchError
from workbench.panels.compare import (
    deferred,
    result_cache,
    runs as compare_runs,
    state as compare_state,
)
from workbench.panels.compare.metrics import comparison_frame, metric_rows, slow_metrics_of
from workbench.panels.compare.panel import ComparePanel
from workbench.panels.compare.result_cache import LoadPoint, next_load
from workbench.panels.compare.state import FIRST, Simulated, distinct, short_name
from workbench.plotting.topology.map import CLASS_COLOURS
from workbench.simulate.fabric.collectives import collective_times
from workbench.simulate.fabric.fabric import Fabric
from workbench.tasks import Task
from workbench.topology.demand import read_demand
from workbench.topology.files import read_topology
from workbench.topology.link_load import link_loads
from workbench.topology.metrics.resilience import resilience
from workbench.topology.throughput import Throughput, throughput

SMALL = ("fat-tree:4", "dragonfly:a=2,p=2,h=1", "torus:4x4", "")
AT_FIRST: dict[str, Any] = {
    "match": "",
    "traffic": "uniform",
    "routing": "minimal",
    "offered": 0.7,
    "shade": "load",
    "collective": "allreduce/recursive-doubling",
    "model": "fluid",
    "seed": 0,
    "runs": 1,
}


@pytest.fixture(scope="module")
def small() -> programs.Program:
    """A program of eight ranks that talk to one another in a ring."""
    builder = programs.ProgramBuilder(8, source="small")
    for _ in range(3):
        for rank in range(8):
            builder.compute(rank, 100)
            builder.send(rank, (rank + 1) % 8, 64)
            builder.recv(rank, (rank - 1) % 8, 64)
    return builder.build()


@pytest.fixture(scope="module")
def only_panel(small: programs.Program) -> ComparePanel:
    """The panel that the tests share, outside of a kernel: its figures take a second to make."""
    panel = ComparePanel([word for word in SMALL if word], simulate=False)
    panel.program = small
    return panel


@pytest.fixture
def panel(only_panel: ComparePanel) -> Iterator[ComparePanel]:
    """The shared panel as it was when it was new, whatever a test before has done to it."""
    for name, value in AT_FIRST.items():
        if getattr(only_panel, name) != value:
            setattr(only_panel, name, value)
    only_panel.topologies = SMALL
    settled(only_panel)
    yield only_panel
    only_panel.stop()
    settled(only_panel)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulations of few messages."""
    monkeypatch.setattr(compare_runs, "MESSAGES", 300)
    monkeypatch.setattr(result_cache, "LOADS", (0.2, 0.4))
    monkeypatch.setattr(compare_runs, "SIZES", (64, 4096))


def tabs(panel: ComparePanel) -> Any:
    assert panel._tabs is not None
    return panel._tabs


def view(panel: ComparePanel) -> Any:
    assert panel._view is not None
    return panel._view


def test_traffic_of_ones_own_loads_the_links(panel: ComparePanel, tmp_path: Path) -> None:
    panel.topologies = ["torus:4x4", "fat-tree:4", "torus:3"]
    content = "src,dst,weight\n" + "".join(f"{h},{15 - h},{h + 1}\n" for h in range(16))
    panel.upload_traffic({"mine.csv": content.encode()})
    settled(panel)
    assert panel.traffic == "file:mine.csv"
    sent = read_demand(content.encode())
    for name in ("torus 4x4", "fat tree 4"):
        network = panel.networks[name]
        expected = link_loads(network, sent.on(network).between_routers())
        assert np.array_equal(panel.loads[name].channel, expected.channel)
    assert "between 16 hosts; torus 3 has 3" in panel.error
    assert "mine.csv traffic" in panel.description
    assert "read_demand('mine.csv').on(networks[1])" in panel.python
    assert "carries: mine.csv, minimal" in panel.comparison.index  # type: ignore[union-attr]
    before = panel.loads["torus 4x4"].channel
    with pytest.raises(ParseError, match=r"mine\.csv:2: dst must be"):
        panel.upload_traffic({"mine.csv": b"src,dst,weight\n0,x,1\n"})
    panel.upload_traffic({"mine.csv": b"src,dst,weight\n0,5,1\n"})
    settled(panel)
    assert not np.array_equal(panel.loads["torus 4x4"].channel, before), "another file of its name"
    control = panel.controls["upload_traffic"]
    control.take({"a.csv": b"1,2\n3\n"})
    assert "a.csv:2: each row of a matrix" in panel.error
    assert control.button.accept.startswith(".csv")
    panel.traffic = "uniform"
    settled(panel)
    assert panel.error == "", "the mistake was about traffic that is not chosen any more"


def test_it_opens_with_four_of_about_a_thousand_hosts() -> None:
    panel = ComparePanel(simulate=False)
    settled(panel)
    assert panel.topologies == FIRST
    assert [net.num_hosts for net in panel.networks.values()] == [1024, 1056, 1134, 1024]
    assert panel.error == ""
    assert "carries" in panel.description
    assert [drawn.figure.visible for drawn in view(panel).maps] == [True] * 4
    assert "ComparePanel(fat tree 16, dragonfly 33,8,4,4" in repr(panel)
    assert panel.text.count("★") > 3
    assert "\t…" in panel.text, "what takes a moment is waited for"


def test_what_is_drawn_is_what_the_library_says(panel: ComparePanel) -> None:
    panel.traffic = "tornado"
    settled(panel)
    for drawn, word in zip(view(panel).maps, SMALL, strict=True):
        assert drawn.figure.visible == bool(word)
        if not word:
            continue
        network = topology.parse_topology(word)
        sent = topology.traffic(network, "tornado")
        expected = link_loads(network, sent.between_routers())
        assert sorted(drawn.links.data["load"]) == pytest.approx(
            sorted(expected.link), rel=1e-6
        )  # the page is given float32
    loads = panel.loads["fat tree 4"]
    assert (
        loads.saturation
        == link_loads(
            loads.topology, topology.traffic(loads.topology, "tornado").between_routers()
        ).saturation
    )


def test_the_slider_moves_the_scale_and_draws_nothing_anew(panel: ComparePanel) -> None:
    drawn = view(panel).maps[2]
    before = drawn.links.data
    panel.offered = 0.25
    assert drawn.links.data is before
    assert drawn.mapper.high == pytest.approx(4.0)
    assert "25 %" in view(panel).key.value
    assert view(panel).curves.mark.location == 0.25
    assert "0.25 * loads[0].link" in panel.python


def test_links_have_the_colour_of_their_class(panel: ComparePanel) -> None:
    panel.shade = "class"
    assert tuple(view(panel).maps[0].mapper.palette) == CLASS_COLOURS
    assert "inter-group" in view(panel).key.value
    panel.offered = 0.5
    assert "inter-group" in view(panel).key.value, "the key of classes stays"
    panel.shade = "load"
    assert "Mean load" in view(panel).key.value
    with pytest.raises(ParameterError, match="known are"):
        panel.shade = "price"


def test_adversarial_traffic_without_groups_goes_to_the_farthest(panel: ComparePanel) -> None:
    panel.traffic = "adversarial"
    settled(panel)
    assert panel.error == ""
    assert "longest-matching, as it has no groups" in tabs(panel).hottest.value
    torus = topology.parse_topology("torus:4x4")
    expected = link_loads(torus, topology.traffic(torus, "longest-matching").between_routers())
    assert panel.loads["torus 4x4"].largest == expected.largest
    assert "adversarial load" in panel.description


def test_a_detour_costs_what_it_brings(panel: ComparePanel) -> None:
    minimal = panel.loads["fat tree 4"].saturation
    panel.routing = "valiant"
    settled(panel)
    valiant = panel.loads["fat tree 4"].saturation
    assert valiant < minimal
    panel.routing = "ugal-l"
    settled(panel)
    assert panel.loads["fat tree 4"].saturation >= max(minimal, valiant) - 1e-6
    assert "UGAL-L" in panel.description


def test_an_error_stands_beside_its_slot_and_the_figures_stay(panel: ComparePanel) -> None:
    controls = panel.controls
    controls["parameters_0"].value = "5"
    settled(panel)
    assert "even" in panel.error
    assert "\n" not in panel.error, "of one slot alone"
    assert "fat tree 4" in panel.networks, "the last good one"
    panel.traffic = "tornado"
    settled(panel)
    assert "even" in panel.error
    tree = panel.networks["fat tree 4"]
    tornado = link_loads(tree, topology.traffic(tree, "tornado").between_routers())
    assert panel.loads["fat tree 4"].largest == tornado.largest, "under the traffic of now"
    assert panel.loads["fat tree 4"].largest != link_loads(tree).largest
    controls["parameters_0"].value = "6"
    settled(panel)
    assert panel.error == ""
    assert "fat tree 6" in panel.networks
    controls["family_0"].value = "hypercube"
    settled(panel)
    assert "hypercube 6" in panel.networks
    controls["family_0"].value = ""
    settled(panel)
    assert list(panel.networks) == ["dragonfly 3,2,2,1", "torus 4x4"]
    assert not view(panel).maps[0].figure.visible


def test_a_topology_that_is_too_large_is_refused_at_its_slot(panel: ComparePanel) -> None:
    panel.topologies = ["torus:129x128", "torus:3"]
    settled(panel)
    assert "torus 129x128 has 16,512" in panel.error
    assert "torus 3" in panel.networks


def test_what_takes_long_says_so_and_can_be_stopped(
    panel: ComparePanel, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, before = threading.Event(), list(panel.networks)
    work = panel._comparer.work

    def slow(*rest: Any, task: tasks.Task) -> Any:
        task.report(0, 2, "computing a large one")
        asked.set()
        task.stop_event.wait(60)
        return work(*rest, task=task)

    assert "▶ Simulate" in panel.buttons
    assert not panel.buttons["■ Stop"]
    monkeypatch.setattr(panel._comparer, "work", slow)
    panel.traffic = "tornado"
    assert asked.wait(60)
    panel.refresh()
    assert "computing a large one" in panel.text
    panel.press("■ Stop")
    settled(panel)
    assert not panel.buttons["■ Stop"]
    assert "computing a large one" not in panel.text, "its line is hidden"
    assert list(panel.networks) == before


def test_traffic_that_a_topology_has_no_place_for_loads_nothing(panel: ComparePanel) -> None:
    panel.topologies = ["torus:3"]
    panel.traffic = "transpose"
    settled(panel)
    assert "transpose needs hosts that form a rectangle" in panel.error
    assert list(panel.networks) == ["torus 3"]
    assert panel.loads == {}
    assert panel.description == (
        "The load of these networks under transpose traffic with minimal routing is not known."
    )


def test_nothing_may_be_chosen(panel: ComparePanel, tmp_path: Path) -> None:
    panel.topologies = []
    settled(panel)
    assert panel.networks == {}
    assert panel.comparison is None
    assert panel.python == ""
    assert panel.description == "Choose a topology."
    assert panel.run() is None
    with pytest.raises(ParameterError, match="there must be a topology"):
        panel.save(tmp_path / "a.html")


def test_a_real_machine(panel: ComparePanel) -> None:
    panel.topologies = ["theta"]
    settled(panel)
    assert panel.topologies == ("theta", "", "", "")
    assert panel.networks["Theta"].num_hosts == topology.preset("theta").num_hosts


def test_one_control_matches_them_on_hosts(panel: ComparePanel) -> None:
    panel.match = "hosts"
    settled(panel)
    assert panel.amount == 16, "of the first topology"
    panel.amount = 128
    settled(panel)
    hosts = [net.num_hosts for net in panel.networks.values()]
    assert hosts[0] == 128
    assert all(96 <= one <= 160 for one in hosts)
    panel.match = "radix"
    settled(panel)
    assert panel.amount == 8
    panel.match = "ports"
    settled(panel)
    first = next(iter(panel.networks.values()))
    assert panel.amount == 2 * first.num_links + first.num_hosts
    panel.match = ""
    assert panel.controls["amount"].disabled


def test_other_sizes_are_offered(panel: ComparePanel) -> None:
    sizes = panel.controls["sizes_2"]
    words = [word for _, word in sizes.options if word]
    assert words
    assert all(word.startswith("torus:") for word in words)
    sizes.value = words[-1]
    settled(panel)
    assert panel.topologies[2] == words[-1]
    assert panel.error == ""


def test_a_graph_is_uploaded(panel: ComparePanel) -> None:
    panel.upload({"ring.txt": b"0 1\n1 2\n2 3\n3 0\n"})
    settled(panel)
    assert panel.topologies[3] == "file:ring.txt"
    assert panel.networks["ring.txt"].num_links == 4
    assert "read_topology('ring.txt')" in panel.python
    panel.upload({"ring.txt": b"0 1\n1 2\n2 0\n"})
    settled(panel)
    assert panel.networks["ring.txt"].num_links == 3, "the new file of the old name"
    (links,) = [row for row in view(panel).table.value.split("<tr>") if ">links between" in row]
    assert links.endswith(">3</td></tr>")
    with pytest.raises(WorkbenchError):
        panel.upload({"bad.graphml": b"<graphml><graph>"})
    with pytest.raises(ParameterError, match="choose a file"):
        panel.upload({})
    panel.controls["upload"].take({"bad.txt": b"\xff\x00 1"})
    assert panel.error
    panel.controls["upload"].take({"ring.txt": b"0 1\n1 2\n2 0\n"})
    assert panel.error == ""


LEAF_SPINE = "\n".join(f"{leaf} {spine}" for leaf in range(4) for spine in (4, 5)).encode()


def test_hosts_of_an_uploaded_graph_are_said_and_set(panel: ComparePanel) -> None:
    panel.upload({"mine.txt": LEAF_SPINE})
    settled(panel)
    assert "read mine.txt: 6 routers, 8 links" in panel.text
    assert "it names no hosts: one at each of its 6 routers is assumed" in panel.text
    assert "all links are those of Machine" in panel.text
    assert panel.networks["mine.txt"].num_hosts == 6
    panel.controls["parameters_3"].value = "hosts=8, at=edge"
    settled(panel)
    hosts = panel.networks["mine.txt"].host_router
    assert "is assumed" not in panel.text
    assert np.bincount(hosts, minlength=6).tolist() == [8, 8, 8, 8, 0, 0], "spines have none"
    assert "read_topology('mine.txt', hosts=8, at='edge')" in panel.python
    assert list(panel.session().files["topology"]) == ["file:mine.txt"]
    panel.load_session(panel.session())
    assert panel.topologies[3] == "file:mine.txt:hosts=8, at=edge"
    panel.controls["parameters_3"].value = "spines=2"
    settled(panel)
    assert "hosts=N and at=all or at=edge; got 'spines=2'" in panel.error


def test_what_an_upload_holds_is_said(panel: ComparePanel) -> None:
    panel.upload({"links.csv": b"src,dst,bandwidth_Gbps\na,b,100\nb,c,200\na,c,200\n"})
    settled(panel)
    assert "Its links have 12.5 GB/s to 25 GB/s." in panel.text
    panel.controls["upload_traffic"].take({"cut.csv": b"src,dst,weight\n0,1,2\n1,2,1\n2"})
    assert "cut.csv:4: the text ends in the middle of this row; left out" in panel.text


def test_a_graph_asks_for_a_column_where_all_are_taken(panel: ComparePanel) -> None:
    panel.topologies = [*SMALL[:3], "torus:3x3"]
    settled(panel)
    panel.upload({"ring.txt": b"0 1\n1 2\n2 3\n3 0\n"})
    settled(panel)
    assert panel.topologies == (*SMALL[:3], "torus:3x3"), "none is replaced unasked"
    assert "choose the one it replaces" in panel.text
    assert "2: instead of dragonfly:a=2,p=2,h=1" in dict(panel.controls["replaces"].options)
    panel.controls["replaces"].value = 1
    settled(panel)
    assert panel.topologies == (SMALL[0], "file:ring.txt", SMALL[2], "torus:3x3")
    assert panel.controls["replaces"].layout.display == "none"


def test_any_topology_can_be_given(panel: ComparePanel) -> None:
    mine = topology.torus((3, 3))
    panel.topologies = [mine, "fat-tree:2"]
    settled(panel)
    assert next(iter(panel.networks.values())) == mine
    with pytest.raises(ParameterError, match="at most 4"):
        ComparePanel(["fat-tree:2"] * 5)


def test_a_word_is_of_a_family_or_a_machine(panel: ComparePanel) -> None:
    panel.topologies = [" fat-tree : 4", "", "Theta"]
    settled(panel)
    assert panel.topologies == ("fat-tree:4", "", "theta", "")
    assert list(panel.networks) == ["fat tree 4", "Theta"]
    for word in ("ring:4", "Torus:4x4", "file:nobody", "theta:4", ":"):
        with pytest.raises(ParameterError, match="a topology must be one of"):
            panel.topologies = [word]
    assert panel.topologies == ("fat-tree:4", "", "theta", "")


def test_two_that_are_given_under_one_name_stay_apart(panel: ComparePanel) -> None:
    one, other = ring(4), ring(5)
    assert one.name == other.name
    panel.topologies = [one, other]
    settled(panel)
    assert list(panel.networks.values()) == [one, other]


def test_two_of_a_kind_have_names_of_their_own(panel: ComparePanel) -> None:
    panel.topologies = ["fat-tree:4", "fat-tree:k=4"]
    settled(panel)
    assert list(panel.networks) == ["fat tree 4", "fat tree 4 (2)"]
    assert distinct(["", "a", "", "a", "a"]) == ("", "a", "", "a (2)", "a (3)")
    long = topology.parse_topology("xgft:2x2x2x2x2x2,1x2x2x2x2x2")
    assert len(short_name("xgft:2x2x2x2x2x2,1x2x2x2x2x2", long)) < 30


def test_simulations_fill_in_and_can_be_stopped(
    panel: ComparePanel, quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel.topologies = ["fat-tree:4", "torus:4x2"]
    settled(panel)
    begun, metrics = threading.Event(), compare_runs.slow_metrics_of

    def until_stopped(topology: Any, task: Task) -> Any:
        begun.set()
        assert task.stop_event.wait(PATIENCE_S)
        return metrics(topology, task)

    with monkeypatch.context() as patch:
        patch.setattr(compare_runs, "slow_metrics_of", until_stopped)
        panel.run()
        assert begun.wait(PATIENCE_S)
        panel.stop()
        settled(panel)
    assert "Simulate continues" in panel.text
    assert panel.simulated.metrics == {}, "of what was stopped nothing is kept"
    panel.run()
    settled(panel)
    assert panel.error == ""
    found = panel.simulated
    assert (
        set(found.metrics) == set(found.curves) == set(found.times) == {"fat-tree:4", "torus:4x2"}
    )
    assert set(found.times["torus:4x2"]) == {64, 4096}
    assert found.tolerances["torus:4x2"][1] > 274
    assert min(found.curves["fat-tree:4"].load) == 0.2
    shown = view(panel)
    assert shown.curves.lines[0].source.data["load"][0] == 0.2
    assert shown.times.lines[1].source.data["size"] == [64, 4096]
    assert np.isfinite(shown.wires.marks.source.data["ns_5"]).all()
    assert "Simulated" in shown.description.value
    assert "…" not in shown.table.value
    assert panel.run() is None, "nothing is missing"
    panel.collective = "allgather/ring"
    settled(panel)
    assert shown.times.lines[0].source.data["size"] == [], (
        "of another collective nothing is known yet"
    )
    assert shown.curves.lines[0].source.data["load"], "but the loads are"
    frame = panel.comparison
    assert frame is not None
    assert "bisection per host" in frame.index


def test_links_fail_and_throughput_is_found(panel: ComparePanel, quick: None) -> None:
    panel.topologies = ["fat-tree:4", "torus:4x4"]
    panel.run()
    settled(panel)
    frame = panel.comparison
    assert frame is not None
    word, name = "torus:4x4", "torus 4x4"
    network = panel.networks[name]
    known = resilience(network, shares=deferred.SHARES, trials=deferred.TRIALS, rng=0)
    assert (panel.simulated.resilience[word].average == known.average).all()
    grown = 100 * (known.average[2] / known.average[0] - 1)
    row = frame.loc["distances, 10 % of links down"]
    assert grown.std() == pytest.approx(0.6, abs=0.05), "one digit, and as many of the mean"
    assert row[name] == f"+{grown.mean():.1f} ± {grown.std():.1f} %"
    assert row[name] in view(panel).table.value
    drawn = view(panel).failed.lines[1].source.data
    assert drawn["longer"][2] == pytest.approx(grown.mean())
    assert drawn["failed"][-1] == 50
    best = throughput(network, "longest-matching")
    assert best.exact
    assert frame.loc["throughput, longest matching", name] == f"{min(best.lower, 1):.3g}"
    assert panel.simulated.throughput["fat-tree:4"]["uniform"].upper == 1, "hosts send no more"
    panel.seed = 1
    assert panel.simulated.resilience == {}, "other links fail"
    assert panel.simulated.throughput[word], "but no draw decides on this"


def test_a_bracket_is_shown_as_one_and_may_be_the_best(
    panel: ComparePanel,
) -> None:
    panel.topologies = ["fat-tree:4", "torus:4x4"]
    settled(panel)
    compared = panel._compared
    assert compared is not None

    def texts(first: Throughput, second: Throughput) -> deferred.MetricRow:
        kinds = {"fat-tree:4": {"uniform": first}, "torus:4x4": {"uniform": second}}
        return deferred.deferred_rows(compared, Simulated(throughput=kinds))[2]

    wide, exact, less = (
        Throughput("u", *ends, ends, 1, method)
        for ends, method in (((0.5, 0.7), "bounds"), ((0.6, 0.6), "exact"), ((0.3, 0.4), "bounds"))
    )
    assert dict(texts(wide, exact).texts) == {"fat tree 4": "0.5 to 0.7", "torus 4x4": "0.6"}
    assert texts(wide, exact).best == [], "both may be"
    assert texts(less, exact).best == ["torus 4x4"]
    few = {"torus:4x4": resilience(topology.star(16), shares=deferred.SHARES, rng=0)}
    torn = deferred.deferred_rows(compared, Simulated(resilience=few))[1]
    assert torn.texts["torus 4x4"] == "-0.833 %", "what is left is smaller"
    whole = resilience(panel.networks["torus 4x4"], shares=deferred.SHARES, rng=0)
    both = Simulated(resilience={**few, "fat-tree:4": whole})
    together, distances = deferred.deferred_rows(compared, both)[:2]
    assert together.best == ["fat tree 4"]
    assert distances.texts["fat tree 4"].startswith("+")
    assert distances.best == [], "a network is not the better one for falling apart"
    rows = deferred.deferred_rows(compared, Simulated())
    assert {text for row in rows for text in row.texts.values()} == {"…"}
    known = {"fat-tree:4": slow_metrics_of(panel.networks["fat tree 4"], Task())}
    table = comparison_frame(compared, Simulated(metrics=known))
    assert table.loc["algebraic connectivity", "torus 4x4"] == "…", "as the panel shows it"
    assert table.loc["algebraic connectivity", "fat tree 4"] != "…"
    assert table.loc["algebraic connectivity", "best"] == "", "while one is not known"
    assert table.loc["routers per host", "best"] == "torus 4x4"
    gone = Simulated(without=frozenset({("throughput uniform", "torus:4x4")}))
    assert deferred.deferred_rows(compared, gone)[2].texts["torus 4x4"] == "–"


def test_what_is_asked_for_while_topologies_are_drawn_is_simulated_after_that(
    panel: ComparePanel, quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    settled(panel)
    drawn, work = threading.Event(), panel._comparer.work

    def slow(*what: Any, task: tasks.Task) -> Any:
        drawn.wait(PATIENCE_S)
        return work(*what, task=task)

    monkeypatch.setattr(panel._comparer, "work", slow)
    panel.topologies = ["torus:3x3"]
    assert panel.run() is None
    drawn.set()
    settled(panel)
    assert set(panel.simulated.metrics) == {"torus:3x3"}


def test_what_has_no_links_is_reported_once_and_not_waited_for(
    panel: ComparePanel, quick: None
) -> None:
    panel.topologies = ["fully-connected:n=1,hosts=8"]
    panel.run()
    settled(panel)
    assert "has 0 links" in view(panel).description.value
    assert "…" not in view(panel).table.value


def test_a_collective_runs_as_packets_with_the_routing_that_is_chosen(
    panel: ComparePanel, quick: None
) -> None:
    panel.topologies = ["dragonfly:a=4,p=2,h=2"]
    panel.routing = "ugal-g"
    panel.run()
    settled(panel)
    shown = view(panel)
    assert shown.times.figure.title.text.endswith("recursive-doubling, fluid, minimal")
    assert "with minimal routing, not UGAL-G" in shown.description.value
    fluid = panel.simulated.times["dragonfly:a=4,p=2,h=2"]
    panel.model = "packets"
    assert panel.simulated.times == {}
    panel.run()
    settled(panel)
    assert shown.times.figure.title.text.endswith("recursive-doubling, packets, UGAL-G")
    assert "not UGAL-G" not in shown.description.value
    packets = panel.simulated.times["dragonfly:a=4,p=2,h=2"]
    expected = collective_times(
        Fabric(panel.networks["dragonfly 9,4,2,2"], None, "ugal-g", "packet"),
        "allreduce",
        "recursive-doubling",
        (64, 4096),
        ranks=72,
    )
    assert packets == expected != fluid


def test_what_cannot_be_simulated_is_reported(
    panel: ComparePanel, quick: None, small: programs.Program
) -> None:
    panel.topologies = ["fully-connected:4"]
    panel.program = programs.generate.cg(16, iterations=1, rng=0)
    settled(panel)
    panel.run()
    settled(panel)
    assert "fully connected 4: " in view(panel).description.value
    assert "4 hosts for 16 ranks" in view(panel).description.value
    assert panel.simulated.curves, "the rest is simulated"
    panel.program = small


def test_loads_rise_until_one_is_too_much_and_close_in() -> None:
    def point(load: float) -> LoadPoint:
        return LoadPoint(1.0, min(load, 0.42), load > 0.42)

    points: dict[float, LoadPoint] = {}
    while (load := next_load(points)) is not None:
        assert load not in points
        points[load] = point(load)
    assert list(points)[:3] == [0.1, 0.3, 0.5]
    assert 0.9 not in points, "beyond what is too much nothing is run"
    over = min(load for load, one in points.items() if one.saturated)
    under = max(load for load, one in points.items() if not one.saturated)
    assert over - under < 0.06
    none = {load: LoadPoint(1.0, load, False) for load in compare_state.LOADS}
    assert next_load(none) is None
    assert next_load({0.1: LoadPoint(1.0, 0.0, True)}) == 0.05
    assert next_load({0.1: LoadPoint(1.0, 0.0, True), 0.01: LoadPoint(1.0, 0.0, True)}) is None


def test_the_lines_of_python_give_what_is_shown(panel: ComparePanel, quick: None) -> None:
    panel.traffic, panel.seed, panel.routing, panel.offered = "permutation", 5, "ugal-l", 0.5
    settled(panel)
    scope: dict[str, Any] = {}
    exec(panel.python, scope)
    assert [one.saturation for one in scope["loads"]] == [
        one.saturation for one in panel.loads.values()
    ]
    assert scope["networks"] == list(panel.networks.values())
    assert scope["comparison"].metrics[0].routers == 20
    compared = panel._compared
    assert compared is not None
    specs = [entry.spec for entry, _ in compared.shown.values()]
    best = {
        spec: {
            name: replace(of[at], lower=min(of[at].lower, 1), upper=min(of[at].upper, 1))
            for name, of in scope["best"].items()
        }
        for at, spec in enumerate(specs)
    }
    told = Simulated(resilience=dict(zip(specs, scope["failing"], strict=True)), throughput=best)
    rows = {row.name: dict(row.texts) for row in deferred.deferred_rows(compared, told)}
    assert panel.run() is not None
    settled(panel)
    shown = {row.name: dict(row.texts) for row in metric_rows(compared, panel.simulated)}
    assert {name: shown[name] for name in rows} == rows
    assert tabs(panel).python.value == panel.python


def test_files_hold_what_is_shown(panel: ComparePanel, tmp_path: Path) -> None:
    table = pd.read_csv(panel.save(tmp_path / "a.csv"), index_col=0, dtype=str)
    assert list(table.columns) == [*panel.networks, "best"]
    assert table.loc["hosts", "fat tree 4"] == "16"
    page = panel.save(tmp_path / "a.html").read_text()
    assert "torus 4x4" in page
    assert "computed: mean loads of links when every host sends 100 %" in page
    assert "cdn.bokeh.org" not in page.partition("<body>")[2]
    saved = panel.save(tmp_path / "a.graphml", "torus 4x4")
    assert read_topology(saved).links.tolist() == panel.networks["torus 4x4"].links.tolist()
    with pytest.raises(ParameterError, match="suffix must be one of"):
        panel.save(tmp_path / "a.txt")
    with pytest.raises(ParameterError, match="name must be one of"):
        panel.save(tmp_path / "a.graphml", "nobody")
    assert tabs(panel).whose.value == "fat tree 4"
    panel.topologies = ["torus:4x4"]
    settled(panel)
    assert tabs(panel).whose.value == "torus 4x4"
    for button in tabs(panel).exports.buttons.values():
        button.click()
    assert panel.error == ""


def test_a_picture_says_where_its_values_come_from(panel: ComparePanel) -> None:
    shown, buttons = view(panel), tabs(panel).exports.buttons
    buttons["PNG topologies"].click()
    (said,) = shown.map_downloads._picture.data["caption"]
    assert said.startswith("computed: mean loads of links when every host sends 70 %")
    assert "uniform traffic, minimal routing, no queues" in said
    buttons["SVG curves"].click()
    (curves,) = shown.curve_downloads._picture.data["caption"]
    assert curves.startswith("simulated: latency over load with uniform traffic")
    for part in (panel.state.program.name, panel.state.operation, panel.state.algorithm):
        assert part in curves
    panel.shade = "class"
    settled(panel)
    buttons["PNG topologies"].click()
    (said,) = shown.map_downloads._picture.data["caption"]
    assert said.startswith("computed: drawn from the definitions")


def test_only_settings_can_be_set(panel: ComparePanel) -> None:
    with pytest.raises(AttributeError, match="traffic"):
        panel.price = 5
    with pytest.raises(AttributeError):
        panel.price  # noqa: B018
    assert {"topologies", "traffic", "routing", "offered", "wait"} <= set(dir(panel))
    with pytest.raises(DatasetError):
        panel.program = "no-such-program"
    with pytest.raises(ParameterError, match="known are"):
        panel.traffic = "rush hour"


def test_a_number_out_of_range_is_reported_and_changes_nothing(panel: ComparePanel) -> None:
    controls, before = panel.controls, panel.state
    panel.match = "hosts"
    controls["amount"].typed.value = 1
    controls["offered"].text.value = "7"
    controls["seed"].typed.value = -1
    assert panel.error.splitlines() == [
        f"{name} must be {rule}; the value stays {value} until a valid one is typed"
        for name, rule, value in (
            ("number of hosts", "a whole number from 2 to 2,000,000; got 1", panel.amount),
            ("Hosts send", "a number from 0.05 to 1; got 7", 0.7),
            ("seed", "a whole number from 0 to 2,147,483,647; got -1", 0),
        )
    ]
    panel.match = ""
    assert "number of hosts" not in panel.error, "it is asked no more"
    with pytest.raises(ParameterError, match=r"Hosts send must be a number from 0\.05 to 1; got 0"):
        panel.offered = 0
    panel.offered, panel.seed = 0.7, 0
    assert panel.error == ""
    assert panel.state.traffic == before.traffic
