"""The commands ``workbench tune record`` and ``workbench tune compare-searches``."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from tests.unit import commands
from workbench.cli import tune_compare_searches, tune_record
from workbench.errors import DatasetError, ParameterError

record = partial(commands.run, tune_record)
compare = partial(commands.run, tune_compare_searches)


def test_simulate_show_and_compare(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, tables = tmp_path / "small", tmp_path / "tables"
    assert record("simulated", folder, "--ranks", 4, "--collectives", "bcast", "--sizes", 4096) == 0
    assert "51 runs in" in capsys.readouterr().out
    assert record("show", folder, "--json") == 0
    shown = json.loads(capsys.readouterr().out)["bcast/4096"]
    assert shown["configurations"] == 51
    assert shown["optimum"] <= shown["default"]
    assert shown["noise"] is None
    words = ("--recording", folder, "--heuristics", "random", "--resamplings", "none")
    options = ("--noise", "normal:0.05", "--seeds", 2, "--budget", 12, "--save", tables)
    assert compare(*words, *options) == 0
    out = capsys.readouterr().out
    assert "saved_grid" in out
    assert "normal 5 %" in out
    assert (tables / "methods.csv").is_file()
    assert compare(*words, *options, "--json") == 0
    assert len(json.loads(capsys.readouterr().out)["methods"]) == 5


def test_show_a_shipped_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert record("show", "open-mpi-4-ranks") == 0
    shown = capsys.readouterr()
    assert "allreduce/4096" in shown.out
    assert "measured" in shown.out
    assert "note:" in shown.err


def test_a_component_is_recorded_and_searched(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "own.yaml"
    file.write_text(
        "components:\n"
        "  own:\n"
        "    command: sh -c 'echo took $N ms'\n"
        "    target: {regex: 'took ([0-9]+) ms', unit: ms}\n"
        "    parameters:\n"
        "      n: {type: int, default: 3, env_var: N, values: [1, 2, 3]}\n"
    )
    folder = tmp_path / "recording"
    assert record("component", folder, file, "--rounds", 4, "--limit", 0, "--json") == 1
    assert json.loads(capsys.readouterr().out)["wanted"] == 12
    assert record("component", folder, file, "--rounds", 4) == 0
    assert "12 of 12 starts" in capsys.readouterr().out
    assert record("show", folder, "--json") == 0
    shown = json.loads(capsys.readouterr().out)["own"]
    assert (shown["default"], shown["optimum"], shown["unit"]) == (3, 1, "ms")


def test_wrong_words(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="known: dd-write, open-mpi-4-ranks"):
        record("show", "nothing")
    with pytest.raises(ParameterError, match="name a --recording"):
        compare("--budget", "20")
    with pytest.raises(ParameterError, match=r"normal:0\.05"):
        compare("--recording", "simulated-12-ranks", "--noise", "normal:much")
    with pytest.raises(ParameterError, match=r"noise held-out has no scale; got 0\.1"):
        compare("--recording", "simulated-12-ranks", "--noise", "held-out:0.1")
    with pytest.raises(SystemExit):
        record("open-mpi", tmp_path, "--sizes", "big")
