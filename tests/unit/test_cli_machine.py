"""From OSU text to a machine's file, and from there to every question, in the shell."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit import commands
from workbench import datasets, machines
from workbench.cli import main

TRIALS = 60


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with OSU text of latency and bandwidth, and of messages within a node."""
    monkeypatch.chdir(tmp_path)
    curve = datasets.load("llnl-dane-omnipath")
    rows = list(zip(curve.sizes, curve.latency_us, curve.bandwidth_MBps, strict=True))
    texts = {
        "latency.out": ("Latency Test v7.4", "Latency (us)", [(s, t) for s, t, _ in rows]),
        "bw.out": ("Bandwidth Test v7.4", "Bandwidth (MB/s)", [(s, b) for s, _, b in rows]),
        "within.out": ("Latency Test v7.4", "Latency (us)", [(s, t / 5) for s, t, _ in rows]),
    }
    for name, (title, column, values) in texts.items():
        lines = "".join(f"{size:<12}{value:.2f}\n" for size, value in values)
        Path(name).write_text(f"# OSU MPI {title}\n# Size  {column}\n{lines}", encoding="utf-8")
    return tmp_path


def test_one_file_goes_from_osu_text_to_every_question(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fitted = "fit --osu latency.out bw.out --within within.out --save mine.json"
    parts = "--part topology=fat-tree:4 --part ranks_per_node=2 --part library=open-mpi"
    assert main([*fitted.split(), *parts.split(), "--trials", str(TRIALS)]) == 0
    assert "saved mine.json; use it as --machine mine.json" in capsys.readouterr().err
    mine = machines.load("mine.json")
    assert (mine.name, mine.model.name, mine.part("ranks_per_node").value) == (
        "mine",
        "protocol",
        2,
    )

    answer = commands.answer("machine", capsys, "show", "mine.json")
    assert answer["loggps"]["L"] == mine.loggps.L
    found = commands.answer("tolerance", capsys, "cg-4", "--machine", "mine.json")
    L = found["rho_L"] * found["makespan_ns"] / found["lambda_L"]
    assert L == pytest.approx(1e9 * mine.loggps.L, rel=1e-6)  # kept in whole picoseconds
    main(["replay", "cg-4", "--machine", "mine.json"])
    assert repr(mine.loggps)[:20] in capsys.readouterr().out

    place = ["place", "cg-4", "--machine", "mine.json", "--method", "block", "--json"]
    placed, notes = commands.answer_and_notes(capsys, *place)
    assert placed["hosts"] == [0, 0, 1, 1]
    for used in ("topology fat-tree:4 of mine, published", "host_latency", "ranks_per_node 2"):
        assert used in notes
    replayed = ["fabric", "replay", "cg-4", "--machine", "mine.json", "--json"]
    assert commands.answer_and_notes(capsys, *replayed)[0]["topology"].startswith("fat tree")

    allreduce = "--machine mine.json --operation allreduce --ranks 4 --bytes 8"
    times = commands.answer("fabric", capsys, "collective", *allreduce.split())["time_us"]
    latency_us = 1e6 * (mine.loggps.L + 2 * mine.loggps.o)
    assert latency_us < times["8"] < 4 * latency_us
    traffic = "traffic --machine mine.json --load 0.2 --messages 200"
    assert commands.answer("fabric", capsys, *traffic.split())["runs"][0]["load"] == 0.2
    compared = commands.answer(
        "topology", capsys, "compare", "fat-tree:4", "torus:4x4", "--machine", "mine.json"
    )
    assert "bisection, GB/s" in json.dumps(compared)

    asked = "collective --machine mine.json --collective allreduce --nodes 8 --bytes 8"
    found = commands.answer("predict", capsys, *asked.split())
    low, high = found["interval_us"]["8"]
    assert low < found["times_us"]["8"] < high
    assert (found["topology"], found["ranks_per_node"]) == ("fat-tree:4", 2)


def test_parts_are_added_to_a_file_and_a_name_is_known_in_its_folder(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    machines.keep(machines.load("azure-hb96v3-hdr").with_parts(engines=2))
    path = "machines/azure-hb96v3-hdr.json"
    words = ["machine", "set", path, "switch_latency=90ns", "--source", "measured"]
    assert main(words) == 0
    assert "switch_latency" in capsys.readouterr().out
    kept = machines.load(path)
    assert kept.part("switch_latency") == machines.KnownPart(9e-8, "measured", "as given")
    assert kept.part("engines").value == 2
    assert main(["machine", "list"]) == 0
    assert "azure-hb96v3-hdr  (machines/azure-hb96v3-hdr.json)" in capsys.readouterr().out
    assert "engines must be" in commands.refusal(capsys, "machine", "set", path, "engines=no")
    assert main(["machine", "set", "aws-hpc6a-efa", "engines=2"]) == 0
    assert "saved engines in machines/aws-hpc6a-efa.json" in capsys.readouterr().err
    assert machines.load("aws-hpc6a-efa").part("engines").value == 2
    assert "a machine has the parts" in commands.refusal(capsys, "machine", "set", path, "motors=3")


def test_an_ini_is_a_machine_of_its_model_alone(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from workbench.models import SNAPPR

    Path("my.ini").write_text(SNAPPR().to_ini(), encoding="utf-8")
    assert commands.answer("tolerance", capsys, "cg-4", "--machine", "my.ini")["rho_L"] > 0
    refused = commands.refusal(capsys, "fit", "--machine", "my.ini")
    assert "it is a model alone: fit it to OSU output" in refused
    both = ["fabric", "traffic", "fat-tree:4", "--machine", "my.ini", "--config", "my.ini"]
    assert "leave one of them out" in commands.refusal(capsys, *both)
    none = ["fabric", "traffic", "--machine", "my.ini"]
    assert "a topology must be given" in commands.refusal(capsys, *none)
