from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.cases import for_each
from tests.unit.panels.waiting import settled
from workbench import models, programs, topology
from workbench.errors import DatasetError, ParameterError, ParseError
from workbench.panels.placement.family import FamilyFields
from workbench.panels.placement.panel import FIRST, FIRST_MACHINE, PlacementPanel
from workbench.panels.placement.state import fitting, near_member
from workbench.placement import METHODS, compare_placements, place
from workbench.tolerance.pairs import pair_sensitivity
from workbench.tolerance.wires import Wires
from workbench.topology import FAMILIES

NETWORK = "dragonfly:g=3,a=2,p=2"
TRIES = 60
AT_FIRST: dict[str, Any] = {
    "evaluations": TRIES,
    "seconds": 30.0,
    "seed": 0,
    "model": models.LogGPS(L=2.5e-6, o=1.5e-6, g=1e-6, G=6e-9, O=0.0, S=65535),
    "topology": NETWORK,
    "l_wire_ns": 274.0,
    "d_switch_ns": 108.0,
    "same_host_ns": 0.0,
    "ranks_per_host": 1,
    "placement": "best",
    "value": "lambda_L",
}


def used_by(panel: PlacementPanel) -> topology.Topology:
    return panel.placements["block"].topology


@pytest.fixture(scope="module")
def small() -> programs.Program:
    """Distant ranks exchange messages, and neighbours do not."""
    builder = programs.ProgramBuilder(8, source="small")
    for _ in range(6):
        for rank in range(8):
            builder.compute(rank, 100)
            builder.send(rank, (rank + 4) % 8, 64)
            builder.recv(rank, (rank + 4) % 8, 64)
        builder.collective("allreduce", 64)
    return builder.build()


@pytest.fixture(scope="module")
def only_panel(small: programs.Program) -> PlacementPanel:
    """The panel that the tests share, outside of a kernel: its figures take a second to make."""
    return PlacementPanel(small, topology=NETWORK, machine="loggopsim")


@pytest.fixture
def panel(only_panel: PlacementPanel, small: programs.Program) -> Iterator[PlacementPanel]:
    """The shared panel as it was when it was new, whatever a test before has done to it."""
    if only_panel.program != "program" or only_panel.algorithms:
        only_panel.program = small
    for name, value in AT_FIRST.items():
        # Each change places the ranks again.
        if getattr(only_panel, name) != value:
            setattr(only_panel, name, value)
    settled(only_panel)
    yield only_panel
    only_panel.stop()
    settled(only_panel)


def times(panel: PlacementPanel) -> dict[str, float]:
    return {str(method): one.T for method, one in panel.placements.items()}


def test_it_opens_with_a_picture() -> None:
    panel = PlacementPanel()
    comparison = settled(panel)
    assert panel.program == FIRST
    assert panel.machine == FIRST_MACHINE
    assert list(comparison["method"]) == list(METHODS)
    assert comparison["T_ns"].max() > comparison["T_ns"].min(), "placement matters in it"
    expected = compare_placements(
        programs.load(FIRST), panel.model, topology.parse_topology(panel.topology)
    )
    assert comparison["T_ns"].tolist() == expected["T_ns"].tolist()
    assert panel.error == ""
    assert "ranks on dragonfly" in panel.text


def test_each_method_gives_what_place_gives(panel: PlacementPanel, small: Any) -> None:
    assert list(panel.placements) == list(METHODS)
    for method, found in panel.placements.items():
        alone = place(
            *(small, panel.model, topology.parse_topology(NETWORK)),
            method=method,
            evaluations=TRIES,
        )
        assert found.T == alone.T
        assert found.hosts.tolist() == alone.hosts.tolist()
    assert times(panel)["search"] < times(panel)["block"]


def test_the_pairs_are_those_of_the_placement_that_is_shown(
    panel: PlacementPanel, small: programs.Program
) -> None:
    for method in ("block", "search"):
        panel.placement = method
        found = panel.placements[method]  # type: ignore[index]
        wires = Wires.of(found.topology, 8, found.hosts)
        expected = pair_sensitivity(small, panel.model, L=wires.latency_ps() / 1e12)
        assert panel.pairs is not None
        assert panel.pairs.lambda_L.tolist() == expected.lambda_L.tolist()
        assert panel.pairs.T == found.T
        assert f"by {method}" in panel.text
        assert any(method in title for title in panel.figures)
        assert sum(panel.drawn("pairs")["value"]) == expected.lambda_L.sum()
    panel.value = "lambda_G"
    assert sum(panel.drawn("pairs")["value"]) == expected.lambda_G.sum()
    with pytest.raises(ParameterError, match="known are"):
        panel.placement = "alphabetical"


def test_a_click_on_a_point_shows_its_placement(panel: PlacementPanel) -> None:
    panel.select("times", METHODS.index("random"))
    assert panel.placement == "random"
    assert any("random" in title for title in panel.figures)
    assert panel.selected("times") == [], "it can be clicked again"


def test_the_best_is_shown_until_one_is_chosen(panel: PlacementPanel) -> None:
    best = min(times(panel), key=times(panel).__getitem__)
    assert f"by {best}" in panel.text
    assert f"<b>{best}</b>" in panel._table.value  # which row is bold


def test_a_longer_wire_takes_longer(panel: PlacementPanel) -> None:
    before = times(panel)
    panel.controls["l_wire_ns"].value = 900.0
    settled(panel)
    assert panel.l_wire_ns == 900.0
    assert all(after > before[method] for method, after in times(panel).items())
    spread = max(before.values()) - min(before.values())
    after = times(panel)
    assert max(after.values()) - min(after.values()) > spread


def test_the_network_is_a_word_and_its_controls(panel: PlacementPanel) -> None:
    panel.topology = "fat-tree:4"
    settled(panel)
    network = panel._network  # its row of controls, in their order
    assert network.family.value == "fat-tree"
    assert network.parameters["k"].value == 4
    assert network.shape.children[:2] == (network.family, network.parameters["k"])
    assert "16 hosts" in network._size.value
    assert panel.placements["block"].topology == topology.fat_tree(4)
    network.family.value = "dragonfly"
    assert panel.topology == NETWORK, "what it was before"
    network.parameters["h"].value = "3"
    network.parameters["wiring"].value = "circulant"
    settled(panel)
    assert panel.topology == "dragonfly:g=3,a=2,p=2,h=3,wiring=circulant"
    expected = topology.dragonfly(a=2, p=2, h=3, g=3, wiring="circulant")
    assert panel.placements["block"].topology == expected
    panel.topology = NETWORK
    assert network.parameters["h"].value == "", "the fewest ports"
    assert network.parameters["wiring"].value == "absolute"


@for_each("family", FAMILIES)
def test_fields_are_what_a_word_says(family: str) -> None:
    example = f"{family}:{FAMILIES[family].example}"
    fields = FamilyFields(family, lambda: None)
    made = topology.parse_topology(example)
    fields.show(example, made)
    assert topology.parse_topology(fields.spec) == made
    names = {one.name for one in FAMILIES[family].parameters}
    assert fields.controls.keys() == names
    for parameter in FAMILIES[family].parameters:
        about = f"{parameter.name}: {parameter.meaning}"
        assert fields.controls[parameter.name].description == about
    near = near_member(family, 100)
    if near:
        there = topology.parse_topology(near)
        fields.show(near, there)
        assert topology.parse_topology(fields.spec) == there
        assert there.num_hosts >= 100


@for_each(
    "word, name, value",
    [
        ("dragonfly:8,4,8,2", "h", "2"),
        ("dragonfly:8,4,8", "h", ""),
        ("dragonfly:a=4,p=2,h=2,g=3,links=none", "links", "none"),
        ("torus:8,8", "dims", "8x8"),
        ("torus:4x4,mesh=yes", "mesh", True),
        ("fat-tree:k=6,taper=2", "taper", 2),
        ("jellyfish:10,3,seed=5", "seed", 5),
        ("dragonfly:9,4,2,2,bandwidth=1x2", "a", 4),
    ],
)
def test_a_field_holds_what_the_word_gives_it(word: str, name: str, value: Any) -> None:
    family = word.partition(":")[0]
    fields = FamilyFields(family, lambda: None)
    made = topology.parse_topology(word)
    fields.show(word, made)
    assert fields.controls[name].value == value
    assert topology.parse_topology(fields.spec) == made


def test_any_family_and_any_machine_can_be_chosen(panel: PlacementPanel) -> None:
    network = panel._network
    panel.evaluations = 1
    for family in ("torus", "slim-fly", "star"):
        network.family.value = family
        settled(panel)
        assert panel.error == ""
        used = used_by(panel)
        assert used == topology.parse_topology(panel.topology)
        assert used.family == family
        assert used.num_hosts >= 8
    before, another = panel.topology, network.sizes.options[-1][1]
    network.sizes.value = another
    settled(panel)
    assert panel.topology == another != before
    assert topology.parse_topology(network._fields_of("star").spec) == used_by(panel)
    assert network.sizes.value == "", "another one can be chosen"
    network.family.value = "machine"
    network.machine.value = "sierra"
    settled(panel)
    assert panel.topology == "sierra"
    assert panel.placements["search"].topology == topology.preset("sierra")
    assert network.shape.children[:2] == (network.family, network.machine)


def test_several_ranks_of_one_host(panel: PlacementPanel) -> None:
    panel.ranks_per_host, panel.same_host_ns = 4, 50.0
    settled(panel)
    hosts = panel.placements["block"].hosts
    assert hosts.tolist() == [0] * 4 + [1] * 4


def test_what_cannot_be_is_reported_and_the_figures_stay(panel: PlacementPanel) -> None:
    before = times(panel)
    network = panel._network
    network.parameters["g"].value = "1"
    settled(panel)
    assert "there must be a place for each of 8 ranks" in panel.error
    assert times(panel) == before
    network.parameters["g"].value = "3"
    settled(panel)
    assert panel.error == ""
    network.family.value = "fat-tree"
    network.parameters["k"].value = 5
    assert "even" in panel.error
    network.family.value = "torus"
    assert panel.error == ""
    network.parameters["dims"].value = "3xthree"
    assert "must be a whole number" in network.error.message
    settled(panel)
    assert "must be a whole number" in network.error.message, "also once the first torus is drawn"
    with pytest.raises(ParseError, match="must be a trace"):
        panel.upload({"x.goal": b"hello"})
    assert panel.topology == "torus:3x3", "the last one that can be"
    with pytest.raises(ParameterError, match="a topology must be one of"):
        panel.topology = "ring:4"
    with pytest.raises(ParameterError, match="a topology must be one of"):
        PlacementPanel(topology="ring:4")
    with pytest.raises(DatasetError):
        PlacementPanel("no-such-program")


@for_each("name", ["ring-pipeline-64", "halo-3d", "cg"])
def test_another_program_finds_room(panel: PlacementPanel, name: str) -> None:
    panel.evaluations = 1
    panel.program = name
    settled(panel)
    assert panel.error == ""
    assert panel.placements["block"].topology.num_hosts >= len(panel.placements["block"].hosts)
    assert f"{panel.program} on" in repr(panel)


@for_each("hosts", [1, 2, 5, 16, 17, 73, 1000])
@for_each("family", ["fat-tree:2", "dragonfly:2,1,1", "torus:2", "hypercube:1"])
def test_the_smallest_network_with_room(family: str, hosts: int) -> None:
    assert topology.parse_topology(fitting(family, hosts, 1)).num_hosts >= hosts
    assert fitting(family, 2, 1) == family
    assert fitting("fat-tree:8", hosts // 10 + 1, 1) == "fat-tree:8"
    assert fitting("sierra", 5000, 1) == "sierra", "a machine does not grow"
    assert topology.parse_topology(fitting(family, 4 * hosts, 4)).num_hosts >= hosts


@for_each("family, hosts, room", [("aries", 257, 5760), ("fully-connected", 33, 36)])
def test_the_nearest_member_is_the_smallest_that_is_proposed(
    family: str, hosts: int, room: int
) -> None:
    assert topology.parse_topology(near_member(family, hosts)).num_hosts == room


def test_algorithms_and_parameters_change_the_program(
    panel: PlacementPanel, small: programs.Program
) -> None:
    panel.algorithms = {"allreduce": "ring"}
    panel.model = models.LogGPS(L=1.0, o=1e-6, g=1.0, G=1e-9, O=0.0, S=65536)
    settled(panel)
    alone = place(
        small.graph(allreduce="ring"),
        panel.model,
        topology.parse_topology(NETWORK),
        method="block",
    )
    assert panel.placements["block"].T == alone.T
    assert panel.machine == ""


def test_a_search_can_be_stopped_and_keeps_what_it_has(panel: PlacementPanel) -> None:
    panel.evaluations = 10_000_000
    assert panel.running
    assert panel.buttons["■ Stop"]
    while "ranks: search" not in panel.text:
        panel.refresh()
    assert "Still searching" in panel.text
    panel.stop()
    settled(panel)
    assert list(panel.placements) == list(METHODS)
    assert "Stopped." in panel.text
    assert panel.placements["search"].evaluations < 10_000_000
    assert panel.error == ""


def test_no_search_goes_on_after_a_network_that_is_too_small(panel: PlacementPanel) -> None:
    panel.evaluations = 10_000_000
    while "Still searching" not in panel.text:
        panel.refresh()
    panel.topology = "fat-tree:2"
    settled(panel)
    assert "there must be a place for each of 8 ranks" in panel.error
    assert "Still searching" not in panel.text


def test_of_several_in_a_row_the_last_one_is_shown(panel: PlacementPanel) -> None:
    for latency in (300.0, 400.0, 500.0):
        panel.l_wire_ns = latency
    settled(panel)
    expected = times(panel)
    panel.run()
    settled(panel)
    assert times(panel) == expected
    assert "5e-07" in panel.python


def test_the_lines_of_python_give_what_is_shown(
    panel: PlacementPanel, small: programs.Program
) -> None:
    panel.algorithms = {"allreduce": "ring"}
    panel.seed, panel.l_wire_ns, panel.d_switch_ns, panel.same_host_ns = 3, 100.0, 50.0, 20.0
    panel.ranks_per_host = 2
    settled(panel)
    panel.placement = "random"
    scope: dict[str, Any] = {"program": small}
    exec(panel.python, scope)
    assert panel.comparison is not None
    assert scope["comparison"]["T_ns"].tolist() == panel.comparison["T_ns"].tolist()
    assert panel.pairs is not None
    assert np.array_equal(scope["pairs"].lambda_L, panel.pairs.lambda_L)
    panel.open("Python")
    assert panel.python in panel.text


def test_files_hold_what_is_shown(panel: PlacementPanel, tmp_path: Path) -> None:
    panel.placement = "volume"
    frame = pd.read_csv(panel.save(tmp_path / "a.csv", "comparison"))
    assert frame["method"].tolist() == list(METHODS)
    pairs = pd.read_csv(panel.save(tmp_path / "b.csv", "pairs"))
    assert panel.pairs is not None
    assert pairs["lambda_L"].sum() == panel.pairs.lambda_L.sum()
    content = json.loads(panel.save(tmp_path / "c.json").read_text())
    assert content["method"] == "volume"
    assert content["hosts"] == panel.placements["volume"].hosts.tolist()
    assert models.LogGPS.from_dict(content["model"]) == panel.model
    ranks = pd.read_csv(panel.save(tmp_path / "d.csv"))
    assert ranks["host"].tolist() == content["hosts"]
    with pytest.raises(ParameterError, match="comparison as"):
        panel.save(tmp_path / "a.json", "comparison")
    placement = panel.placements[panel.placement]
    assert panel.save(tmp_path / "e.rankfile").read_text() == placement.to_rankfile()
    panel.host_names = "nid{:05d}"
    assert panel.save(tmp_path / "e.rankfile").read_text() == placement.to_rankfile(
        names="nid{:05d}"
    )
    first = panel.save(tmp_path / "e.hostfile").read_text().split()[0]
    assert first == f"nid{placement.hosts[0]:05d}"
    panel.host_names = ["only", "two"]
    with pytest.raises(ParameterError, match="got 2: add names"):
        panel.save(tmp_path / "e.hostfile")
    panel.host_names = "host{}"
    # Each of the three subjects has buttons of the same text.
    for button in panel._exports["placement"].buttons.values():
        button.click()
    assert panel.error == ""
    view = panel._view  # each figure has a source named picture
    assert view is not None
    (said,) = view.map_downloads._picture.data["caption"]
    assert said == f"{placement.provenance.caption()}. Ranks as placed by volume."
    assert said.startswith("simulated: ") and "on 8 hosts of" in said and "L 656 ns to" in said
    panel._exports["pairs"].buttons["PNG figures"].click()
    (said,) = view.downloads._picture.data["caption"]
    assert said == f"{placement.provenance.caption()}. Pairs of ranks as placed by volume."


def test_an_upload_is_placed(panel: PlacementPanel) -> None:
    goal = "num_ranks 2\nrank 0 {\na: send 8b to 1\n}\nrank 1 {\na: recv 8b from 0\n}\n"
    panel.upload({"two.goal": goal.encode()})
    settled(panel)
    assert panel.program == "two.goal"
    assert len(panel.placements["block"].hosts) == 2


def test_only_settings_can_be_set(panel: PlacementPanel) -> None:
    with pytest.raises(AttributeError, match="l_wire_ns"):
        panel.latency = 5
    assert {"topology", "placement", "seed", "wait"} <= set(dir(panel))
    with pytest.raises(AttributeError):
        panel.latency  # noqa: B018


def test_a_number_out_of_range_leaves_the_placement_as_it_was(panel: PlacementPanel) -> None:
    before, controls = panel.state, panel.controls
    for field, number, said in (
        (controls["ranks_per_host"], 99999, "ranks a host must be a whole number from 1 to"),
        (controls["l_wire_ns"], -3, "wire (ns) must be a number from 0 to"),
        (controls["a"], 0, "a must be a whole number from 1 to"),
        (controls["seed"], 3.7, "seed must be a whole number from 0 to"),
    ):
        field.typed.value = number
        assert panel.error.startswith(said)
        assert not panel.running
        field.forget()
        assert panel.error == ""
    rank_field = controls["ranks_per_host"]
    rank_field.typed.value = 99999
    controls["family"].value = "torus"
    assert rank_field.typed.value == 99999, "another topology is no answer to it"
    panel.topology = before.network.topology
    assert panel.error == ""
    for name, wrong in (("l_wire_ns", -3), ("ranks_per_host", 0), ("seconds", 0), ("seed", 0.5)):
        with pytest.raises(ParameterError, match=f"{name} must be a"):
            setattr(panel, name, wrong)
    assert panel.state == before


def test_the_hosts_of_a_job_are_those_that_are_used() -> None:
    panel = PlacementPanel("cg-8", topology="fat-tree:8")
    panel.hosts = "cn[1,3,5-9,100]"
    panel.wait()
    assert panel.placements["block"].hosts.tolist() == [1, 3, 5, 6, 7, 8, 9, 100]
    assert "hosts=[1, 3, 5, 6, 7, 8, 9, 100]" in panel.python
    panel.host_names = "rack[1-2]n[01-64]"
    panel.wait()
    assert "got 'cn1'" in panel.error
    panel.hosts = ["rack2n[01-04]", "rack1n[61-64]"]
    panel.wait()
    assert panel.placements["block"].hosts.tolist() == [64, 65, 66, 67, 60, 61, 62, 63]
    control = panel.controls["hosts"]
    control.value = "7"  # too few: said at the network, and the last result stays
    panel.wait()
    assert "a place for each of 8 ranks" in panel.error
    assert panel.placements["block"].hosts[0] == 64
