from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.cases import for_each
from tests.unit.commands import answer, run
from workbench.cli import lessons as command
from workbench.errors import ParseError
from workbench.teaching import Feedback, check, progress, student
from workbench.teaching.progress import record
from workbench.teaching.registry import find_exercise

EXERCISE = find_exercise("1.1")
RIGHT = EXERCISE.solve(EXERCISE.drawn())
TWICE = 2 * RIGHT


def test_tries_count_until_the_first_right_one(progress_path: Path) -> None:
    for value in (..., "text", TWICE, 1e30, RIGHT, TWICE, RIGHT):
        assert check("1.1", value).note == ""
    check("1.2", RIGHT * 1e9, keep=False)
    stored = json.loads(progress_path.read_text("utf-8"))["students"][""]
    assert stored.keys() == {"1.1"}
    entry = stored["1.1"]
    assert (entry["tries"], entry["mistakes"]) == (3, {"round trip": 1})
    assert entry["right"] >= entry["first_try"] > "2020"


def test_the_table_has_the_exercises_still_to_do() -> None:
    assert progress().to_frame().empty
    check("1.1", RIGHT)
    student("Ada")
    check("1.1", 1e30)
    table = progress().to_frame()
    assert list(table["student"].unique()) == ["", "Ada"]
    assert len(table) == 2 * 7
    assert list(table["tries"]) == [1, *[0] * 6, 1, *[0] * 6]
    assert (table["right at"] != "").sum() == 1
    assert repr(progress()) == "Progress: 1 of 14 exercises right"
    assert "<table" in progress()._repr_html_()


def test_csv_has_a_line_for_each_exercise(
    tmp_path: Path, progress_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    check("1.1", TWICE)
    text = progress().to_csv(tmp_path / "table.csv")
    assert (tmp_path / "table.csv").read_text("utf-8") == text
    assert text.splitlines()[0] == "file,student,exercise,tries,first try,right at,mistakes"
    assert text.splitlines()[1].endswith(",,round trip (1)")
    run(command, "progress", progress_path, "--csv")
    assert capsys.readouterr().out == text.replace("\nprogress.json", f"\n{progress_path}")
    other = tmp_path / "other.json"
    other.write_bytes(progress_path.read_bytes())
    run(command, "progress", progress_path, other, "--csv", tmp_path / "class.csv")
    assert len((tmp_path / "class.csv").read_text("utf-8").splitlines()) == 15
    frame = progress(progress_path, other).by_exercise()
    assert list(frame.iloc[0]) == ["1.1", 2, 2, 0, 2, "round trip (2)"]
    assert list(frame.iloc[1]) == ["1.2", 2, 0, 0, 0, ""]
    run(command, "progress", progress_path)
    said = capsys.readouterr().out
    assert str(progress_path) in said
    assert re.search(r"\n +1\.1 +1 +1 +0 +1 +round trip \(1\)\n", said)
    assert (
        answer("lessons progress", capsys, str(progress_path)) == progress(progress_path).to_dict()
    )


def test_a_table_of_nothing_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    run(command, "progress")
    assert capsys.readouterr().out == "nobody has tried an exercise yet\n"


def test_two_notebooks_may_share_the_file() -> None:
    def try_one(number: int) -> str:
        return record("Ada", Feedback(f"1.{number % 7 + 1}", "hint", "h", "round trip"))

    with ThreadPoolExecutor(8) as threads:
        assert set(threads.map(try_one, range(70))) == {""}
    assert list(progress().to_frame()["tries"]) == [10] * 7


@for_each(
    "text",
    [
        "{",
        "[]",
        "{}",
        '{"format": "workbench-progress", "version": 9}',
        '{"format": "workbench-progress", "version": 1}',
        '{"format": "workbench-progress", "version": 1, "students": {"": {"1.1": {}}}}',
    ],
)
def test_a_damaged_file_stays_as_it_is_and_the_answer_is_checked(
    progress_path: Path, text: str
) -> None:
    progress_path.write_text(text)
    found = check("1.1", RIGHT)
    assert found.right
    assert "progress is not kept: progress.json" in found.note
    assert progress_path.read_text() == text
    with pytest.raises(ParseError, match=r"progress\.json"):
        progress()


def test_a_folder_that_is_not_there_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORKBENCH_PROGRESS", str(tmp_path / "no" / "p.json"))
    found = check("1.1", RIGHT)
    assert found.right
    assert "not kept" in found.note


def test_without_the_variable_the_file_is_in_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("WORKBENCH_PROGRESS")
    monkeypatch.chdir(tmp_path)
    check("1.1", RIGHT)
    assert (tmp_path / "workbench-progress.json").exists()
