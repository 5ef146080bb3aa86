"""The command ``workbench collective``, through its own parser."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest

from tests.cases import for_each
from workbench.cli import collective
from workbench.errors import ParameterError
from workbench.programs.collectives import ALGORITHMS, schedule
from workbench.programs.goal import write_goal
from workbench.programs.graph import ExecutionGraph


def command(line: str) -> int:
    """Run the command with these words."""
    parser = argparse.ArgumentParser()
    collective.add_arguments(parser)
    return collective.run(parser.parse_args(line.split()))


def test_it_prints_goal(capsys: pytest.CaptureFixture[str]) -> None:
    assert command("bcast --algorithm pipeline:1000 --ranks 4 --bytes 2500 --root 2") == 0
    printed = ExecutionGraph.from_goal(capsys.readouterr().out)
    plan = schedule("bcast", "pipeline:1000", 4, size=2500, root=2)
    assert printed == plan.graph()


@for_each("name", ["ring.goal", "ring.bin"])
def test_it_writes_a_file_in_the_format_of_its_name(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / name
    assert command(f"allreduce --algorithm ring --ranks 4 --bytes 64 -o {file}") == 0
    assert capsys.readouterr().out == ""
    graph = schedule("allreduce", "ring", 4, size=64).graph()
    expected = write_goal(graph, binary=name.endswith(".bin"))
    content = file.read_bytes()
    assert content == (expected if isinstance(expected, bytes) else expected.encode())
    assert command(f"allreduce --ranks 4 --bytes 64 -o {file} --json") == 0
    assert json.loads(capsys.readouterr().out)["messages"] == 8
    assert file.read_bytes() != content


def test_it_takes_sizes_and_a_time_to_combine(capsys: pytest.CaptureFixture[str]) -> None:
    options = "--ranks 3 --sizes 5,0,7 --reduce-ns-per-byte 0.5"
    assert command(f"reduce_scatter --algorithm ring {options} --json") == 0
    said = json.loads(capsys.readouterr().out)
    assert said["algorithm"] == "ring"
    assert (said["messages"], said["bytes_sent"]) == (4, 24)
    assert said["compute_ns"] == 3 + 3 + 3 + 3 or said["compute_ns"] == 2 + 2 + 4 + 4


def test_it_lists_the_algorithms(capsys: pytest.CaptureFixture[str]) -> None:
    assert command("--list") == 0
    printed = capsys.readouterr().out
    for operation, algorithms in ALGORITHMS.items():
        assert f"\n{operation}\n" in f"\n{printed}"
        assert all(one.description in printed for one in algorithms.values())
    assert command("allreduce --list --json") == 0
    said = json.loads(capsys.readouterr().out)
    assert list(said) == ["allreduce"]
    assert said["allreduce"]["default"] == "recursive-doubling"
    by_name = {one["name"]: one for one in said["allreduce"]["algorithms"]}
    assert by_name["ring"]["parameter"] is None
    assert by_name["segmented-ring"]["value"] == 65536


def test_nothing_to_send_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    assert command("allreduce --ranks 4") == 0
    captured = capsys.readouterr()
    assert "note: no messages" in captured.err
    assert captured.out.startswith("num_ranks 4")


@for_each(
    "line, message",
    [
        ("", "needs OPERATION and --ranks"),
        ("allreduce", "needs OPERATION and --ranks"),
        ("allreduce --ranks 4 --algorithm rung", "did you mean ring"),
        ("allreduces --list", "did you mean allreduce"),
    ],
)
def test_what_is_missing_or_unknown_is_reported(line: str, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        command(line)


def test_sizes_must_be_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command("gather --ranks 2 --sizes 1,x")
    assert "whole numbers of bytes" in capsys.readouterr().err
