"""The command ``workbench goal``: converts, checks and counts."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import pytest

from tests.unit import commands
from workbench.cli import goal
from workbench.errors import ParseError
from workbench.programs.goal import read_goal

run = partial(commands.run, goal)

GOOD = (
    "num_ranks 2\n\nrank 0 {\nl1: send 8b to 1 tag 0\n}\n\nrank 1 {\nl1: recv 8b from 0 tag 0\n}\n"
)
BAD = GOOD.replace("from 0", "from 1")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.goal"
    path.write_text(GOOD)
    return path


def test_convert_goes_to_binary_and_back(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    binary, text = tmp_path / "a.bin", tmp_path / "b.goal"
    assert run("convert", file, binary) == 0
    assert capsys.readouterr().out == f"{binary}: binary, 2 ranks, 2 operations\n"
    assert run("convert", binary, text, "--json") == 0
    assert json.loads(capsys.readouterr().out) == {
        "file": str(text),
        "format": "text",
        "operations": 2,
    }
    assert text.read_text() == GOOD
    assert run("convert", file, text, "--to", "binary") == 0
    assert text.read_bytes() == binary.read_bytes()


def test_check_ends_with_status_1_on_errors_only(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("check", file) == 0
    assert capsys.readouterr().out == "0 errors, 0 warnings, 0 notes\n"
    file.write_text(BAD)
    assert run("check", file) == 1
    out = capsys.readouterr().out.splitlines()
    assert out[0] == "error: rank 0, line 4: send 8 B to 1 tag 0: no receive matches it"
    assert out[-1] == "2 errors, 0 warnings, 1 notes"
    assert run("check", file, "--json") == 1
    said = json.loads(capsys.readouterr().out)
    assert (said["errors"], said["problems"][0]["line"]) == (2, 4)


def test_summary_counts_and_notes_go_to_stderr(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text(GOOD.replace("l1: recv", "l1: calc 5\nl1: recv"))
    assert run("summary", file) == 0
    out, err = capsys.readouterr()
    assert "operations             3\n" in out
    assert err.startswith("workbench: note: a label is defined again in line 9")
    assert run("summary", file, "--json") == 0
    assert json.loads(capsys.readouterr().out) == read_goal(file).summary()


def test_a_file_that_is_not_goal_is_an_error(file: Path) -> None:
    file.write_text("hello")
    with pytest.raises(ParseError, match=r"a\.goal:1: the first item"):
        run("summary", file)
