"""Designs as tables, and tables of runs as surrogates."""

from __future__ import annotations

import csv
import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.cases import for_each
from tests.unit import commands
from workbench.cli import uq
from workbench.errors import ParameterError, ParseError
from workbench.uq import Parameter, ParameterBox, design, read_runs

command = partial(commands.run, uq)
WORDS = ("--parameter", "latency:s:1e-7:1e-5:log-uniform", "--parameter", "share::0.1:0.9")
BOX = ParameterBox(
    [
        Parameter("latency", "s", 1e-7, 1e-5, log=True),
        Parameter("share", "", 0.1, 0.9),
    ]
)
HEAD = "run,latency (s),share,small,large\n"


def test_a_design_is_a_table_that_becomes_a_surrogate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command("design", *WORDS, "--points", 40, "--seed", 3) == 0
    head, *rows = csv.reader(capsys.readouterr().out.splitlines())
    assert head == ["run", "latency (s)", "share"]
    points = np.array(rows, float)[:, 1:]
    assert np.array_equal(points, design(BOX, 40, seed=3))
    path = tmp_path / "runs.csv"
    lines = [",".join([*row, repr(1e-3 + 5 * float(row[1])), row[2]]) for row in rows]
    lines[7] = ",".join([*rows[7], "failed", "0.5"])
    path.write_text(HEAD + "\n".join(lines) + "\n")
    runs = read_runs(path, BOX)
    assert (runs.tests, len(runs.points)) == (("small", "large"), 39)
    assert runs.failed == ("line 9: small failed",)
    assert "39 runs of small, large, 1 runs failed" in repr(runs)
    found = runs.surrogate().predict([[1e-6, 0.3]])
    assert_allclose(found, [[1e-3 + 5e-6, 0.3]], rtol=1e-3)
    assert read_runs(path, BOX, ["large"]).failed == ()


def test_an_extended_design_goes_on_where_the_first_ends(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "first.csv"
    assert command("design", *WORDS, "--points", 10, "--output", file) == 0
    assert command("design", *WORDS, "--points", 6, "--extend", file, "--json") == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["first"] == 10
    assert np.array_equal(shown["points"], design(BOX, 16)[10:])
    with pytest.raises(ParameterError, match=r"line 2 of .* is another point"):
        command("design", *WORDS, "--points", 6, "--extend", file, "--seed", 1)
    with pytest.raises(ParameterError, match="method must be sobol with --extend; a grid has"):
        command("design", *WORDS, "--points", 6, "--extend", file, "--method", "grid")


@for_each("end", ["2,1e-6,0.5,1", "2,1e-6,0.", "2", '2,"1e-6', "2,1e-6,0.5,1,"])
def test_a_last_row_that_is_cut_is_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], end: str
) -> None:
    path = tmp_path / "runs.csv"
    path.write_text(f"{HEAD}0,1e-6,0.5,1,2\n1,1e-6,0.5,3,4\n{end}")
    runs = read_runs(path, BOX)
    assert runs.times.tolist() == [[1, 2], [3, 4]]
    assert runs.failed == ("line 4: the text ends in the middle of this row; left out",)


def test_a_design_that_is_cut_goes_on_from_its_last_whole_row(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "first.csv"
    assert command("design", *WORDS, "--points", 10, "--output", file) == 0
    file.write_text(file.read_text()[:-25])
    assert command("design", *WORDS, "--points", 7, "--extend", file, "--json") == 0
    out, said = capsys.readouterr()
    assert np.array_equal(json.loads(out)["points"], design(BOX, 16)[9:])
    assert "first.csv:11: the text ends in the middle of this row; left out" in said


@for_each("text", ["latency", "latency:s:low:1", "a:s:1:2:uniform:3"])
def test_a_parameter_has_a_form(text: str) -> None:
    with pytest.raises(ParameterError, match="parameter must be NAME:UNIT:LOW:HIGH"):
        command("design", "--parameter", text, "--points", 4)


def test_other_methods_make_designs(capsys: pytest.CaptureFixture[str]) -> None:
    for method, count in (("grid", 9), ("latin-hypercube", 3)):
        assert command("design", *WORDS, "--points", 3, "--method", method) == 0
        assert len(capsys.readouterr().out.splitlines()) == 1 + count


@for_each(
    "text, line, message",
    [
        ("run,latency (s),small\n0,1e-6,1\n", 1, "must have a column 'share'"),
        ("latency,share\n1e-6,0.5\n", 1, "a column of times for each test"),
        (f"{HEAD}0,1e-6,0.5,1,1\n1,2e-5,0.5,1,1\n", 3, "latency must be from 1e-07 to 1e-05"),
        (f"{HEAD}0,fast,0.5,1,1\n", 2, "latency must be from .* got fast"),
        (f"{HEAD}0,1e-6,0.5,1,\n", 2, "time of large must be above 0 s and finite; it is missing"),
        (f"{HEAD}0,1e-6,0.5,-1,2\n", 2, "time of small must be above 0 s and finite; got '-1'"),
        (f"{HEAD}0,1e-6,0.5,1\n", 2, "a row must have 5 cells"),
        (f"{HEAD}0,1e-6,0.5,failed,1\n", 0, "a run that did not fail; got 1"),
        ("a,a\n1,2\n", 1, "'a' is there twice"),
        (HEAD, 0, "a row or more"),
    ],
)
def test_a_wrong_table_is_named_with_its_line(
    tmp_path: Path, text: str, line: int, message: str
) -> None:
    path = tmp_path / "runs.csv"
    path.write_text(text)
    with pytest.raises(ParseError, match=message) as caught:
        read_runs(path, BOX)
    assert (caught.value.line or 0) == line
