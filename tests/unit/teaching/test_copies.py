from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.source_trees import ROOT
from tests.unit.commands import answer, refusal
from workbench.errors import ParameterError
from workbench.teaching import lesson, write_copies
from workbench.teaching.copies import is_solution
from workbench.teaching.registry import COURSE

NAMES = [f"{lesson(number).name}.ipynb" for number in COURSE]


def cells(path: Path) -> list[dict[str, Any]]:
    return list(json.loads(path.read_text("utf-8"))["cells"])


def test_students_get_everything_but_the_solutions(tmp_path: Path) -> None:
    written = write_copies(tmp_path / "class", solutions=False)
    assert [path.name for path in written] == NAMES
    for path in written:
        kept = [
            cell for cell in cells(ROOT / "notebooks/lessons" / path.name) if not is_solution(cell)
        ]
        assert cells(path) == kept
        assert not [cell for cell in kept if "keep=False" in "".join(cell["source"])]
    assert (tmp_path / "class" / "00-start-here.ipynb").exists(), "lessons link to it"
    assert not list((tmp_path / "class").rglob("*.md"))


def test_instructors_get_the_solutions_open(tmp_path: Path) -> None:
    for path in write_copies(tmp_path, solutions=True):
        shown = cells(path)
        assert not [cell for cell in shown if "jupyter" in cell["metadata"]]
        assert any(map(is_solution, shown))
        sources = [cell["source"] for cell in cells(ROOT / "notebooks/lessons" / path.name)]
        assert [cell["source"] for cell in shown] == sources


def test_answers_are_not_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.ipynb").write_text("answers")
    assert "empty folder" in refusal(capsys, "lessons", "student", str(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["mine.ipynb"]


def test_the_folder_of_notebooks_is_named_where_it_lacks(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="folder notebooks/ of a checkout"):
        write_copies(tmp_path / "class", solutions=False, notebooks=tmp_path)


def test_the_shell_lists_and_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    listed = answer("lessons list", capsys)["lessons"]
    assert [row["lesson"] for row in listed] == [Path(name).stem for name in NAMES]
    folder = str(tmp_path / "class")
    written = answer("lessons instructor", capsys, folder)["written"]
    assert [Path(path).name for path in written] == NAMES
