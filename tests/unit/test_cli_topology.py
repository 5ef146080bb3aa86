"""``workbench topology``: as JSON and as text, from words, machines and files, what is refused."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from tests.cases import for_each
from tests.unit import commands
from workbench import programs, topology
from workbench.cli import main
from workbench.topology.demand import read_demand
from workbench.topology.metrics import compare, summary
from workbench.topology.program_traffic import message_traffic

answer = partial(commands.answer, "topology")


def test_metrics_as_the_function_gives_them(capsys: pytest.CaptureFixture[str]) -> None:
    printed = answer(capsys, "metrics", "slim-fly:5", "--traffic", "uniform", "--method", "quick")
    made = topology.slim_fly(5)
    expected = summary(made, traffic=["uniform"], method="quick").to_dict()
    assert printed == json.loads(json.dumps(expected))
    assert printed["bisection"] == [63, 65]


def test_options_are_passed_on(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["metrics", "jellyfish:20,3", "--part", "diversity", "--seed", "7"]
    printed = answer(capsys, *words)
    made = topology.parse_topology("jellyfish:20,3")
    expected = summary(made, parts=["diversity"], rng=7).to_dict()
    assert printed == json.loads(json.dumps(expected))
    everything = answer(capsys, "metrics", "torus:3x3", "--part", "all")
    assert "hosts together, 50% of links failed" in everything


def test_a_comparison_names_the_best(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["torus:4x4", "hypercube:4", "--part", "distances", "--part", "cost"]
    printed = answer(capsys, "compare", *words)
    made = [topology.torus((4, 4)), topology.hypercube(4)]
    expected = compare(made, parts=["distances", "cost"]).to_dict()
    assert printed == json.loads(json.dumps(expected))
    assert main(["topology", "compare", "slim-fly:5", "fat-tree:4", "--part", "distances"]) == 0
    row = [line for line in capsys.readouterr().out.splitlines() if line.startswith("diameter")]
    assert row[0].split()[1:3] == ["2", "4"]
    assert row[0].endswith("Slim Fly, q=5, 4 hosts a router")


def test_text_has_a_line_for_each_measure(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["topology", "metrics", "fat-tree:4", "--part", "bisection"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("TopologyMetrics(fat tree, k=4: 16 hosts, 20 routers, 32 links")
    assert "bisection           8" in lines


def test_a_network_goes_to_a_file_and_comes_back(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = str(tmp_path / "tree.graphml")
    built = answer(capsys, "build", "fat-tree:4", "--output", path)
    assert (built["hosts"], built["routers"], built["links"]) == (16, 20, 32)
    again = answer(capsys, "metrics", path, "--part", "bisection")
    assert again["bisection"] == 8
    assert main(["topology", "build", "fat-tree:4", "--output", path]) == 0
    assert capsys.readouterr().out.endswith(f"written to {path}\n")


def test_hosts_of_a_file_are_assumed_aloud_or_set(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "mine.txt"
    path.write_text("0 3\n1 3\n2 3\n0 4\n1 4\n2 4\n")
    assert main(["topology", "build", str(path), "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["hosts"] == 5
    assert "names no hosts: one at each of its 5 routers is assumed" in err
    built = answer(capsys, "build", f"{path}:hosts=4,at=edge")
    assert built["hosts"] == 12


def test_a_programs_own_traffic(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    graph = programs.generate.halo(16, dims=2, cells=8, iterations=1).graph()
    path = graph.to_goal(tmp_path / "halo.goal")
    printed = answer(capsys, "metrics", "torus:4x4", "--part", "cost", "--program", str(path))
    sends = (graph.kind == 1).nonzero()[0]
    made = topology.torus((4, 4))
    sent = message_traffic(made, graph.rank_of(sends), graph.peer[sends], graph.size[sends])
    expected = topology.throughput(made, sent).lower
    assert printed["throughput, halo.goal"] == pytest.approx(expected)
    # Neighbours on the grid are neighbours on the torus: only the hosts' own links are full.
    assert printed["throughput, halo.goal"] == 1


def test_a_matrix_of_ones_own_loads_the_network(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("src,dst,weight\n" + "".join(f"{h},{(h + 8) % 16},5\n" for h in range(16)))
    words = ["torus:4x4", "hypercube:4", "--part", "cost", "--traffic", str(path)]
    printed = answer(capsys, "compare", *words)
    carried = [one["throughput, mine.csv"] for one in printed["topologies"]]
    halves = [
        read_demand(path).on(made) for made in (topology.torus((4, 4)), topology.hypercube(4))
    ]
    assert carried == [topology.throughput(one.topology, one).lower for one in halves]
    path.write_text("src,dst,weight\n0,99,1\n")
    assert main(["topology", "compare", *words]) == 1
    assert "between 100 hosts; torus 4x4 has 16" in capsys.readouterr().err
    path.write_text("0 1\n1 0\n")
    assert main(["topology", "compare", *words]) == 1
    assert "mine.csv:1: a weight must be a number" in capsys.readouterr().err


def test_a_network_without_groups_does_not_end_a_comparison(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["dragonfly:9,4,2,2", "torus:3x3x8", "dragonfly:5,2,2", "--part", "distances"]
    words += ["--traffic", "adversarial", "--method", "quick"]
    printed = answer(capsys, "compare", *words)
    torus = printed["topologies"][1]
    assert torus["throughput ran instead"] == {"adversarial": "longest-matching"}
    assert not any("torus" in name for name in printed["best"]["throughput, adversarial"])
    assert printed["notes"][0] == (
        "throughput, adversarial: torus 3x3x8 has no groups of hosts and ran longest-matching "
        "instead"
    )
    assert "unequal numbers of hosts (dragonfly" in printed["notes"][1]
    assert main(["topology", "compare", *words]) == 0
    shown = capsys.readouterr()
    assert "(longest-matching)" in shown.out
    assert all(note in shown.err for note in printed["notes"])
    # Where all run the same, they are compared.
    printed = answer(capsys, "compare", "torus:4x4", "torus:16", *words[3:])
    assert printed["best"]["throughput, adversarial"] == ["torus 4x4"]
    assert len(printed["notes"]) == 2


def test_families_and_machines_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    printed = answer(capsys, "list")
    assert set(printed["families"]) == set(topology.FAMILIES)
    assert set(printed["machines"]) == set(topology.PRESETS)
    assert printed["families"]["fat-tree"]["example"] == "fat-tree:8"
    assert main(["topology", "list"]) == 0
    listed = capsys.readouterr().out
    assert all(f"{word}:" in listed for word in topology.FAMILIES)


@for_each(
    "words, said",
    [
        (["metrics", "nonsense"], "there is no such file either"),
        (["metrics", "torus:0x4"], "error:"),
        (["metrics", "."], "it is a folder, and must be a file"),
        (["metrics", "torus:4x4", "--part", "colour"], "parts must be of distances"),
        (["metrics", "torus:4x4", "--seed", "-1"], "must be a whole number of at least 0; got -1"),
        (["metrics", "torus:1", "--part", "resilience"], "torus 1 has 0 links and 1 hosts"),
        (["metrics", "torus:4x4", "--traffic", "rush"], "pattern must be one of uniform"),
        (["metrics", "torus:4x4", "--traffic", "uniform", "--method", "x"], "method must be"),
        (["build", "torus:4x4", "--output", "network.xyz"], "network.xyz"),
    ],
)
def test_what_is_refused(capsys: pytest.CaptureFixture[str], words: list[str], said: str) -> None:
    assert main(["topology", *words]) == 1
    assert said in capsys.readouterr().err
