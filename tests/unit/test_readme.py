"""What README shows runs when it is pasted, and what CONTRIBUTING names is there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.cases import for_each
from workbench import cli
from workbench.fit import FitResult
from workbench.models import read_ini
from workbench.simulate.replay_result import ReplayResult

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"


def test_the_python_of_readme_runs_as_it_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (block,) = re.findall(r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    scope: dict[str, Any] = {}
    fitted: list[FitResult] = []
    # Every line on its own, as in a console, so that the first result can be looked at too.
    for statement in re.split(r"\n(?=\S)", block):
        exec(statement, scope)
        if isinstance(scope.get("result"), FitResult):
            fitted = [scope["result"]]
    assert fitted[0].success and fitted[0].rmspe["joint"] < 15
    assert read_ini(tmp_path / "machine.ini") == fitted[0].model
    assert isinstance(scope["result"], ReplayResult)


def test_readme_has_every_notebook_and_its_pictures_are_there() -> None:
    text = README.read_text("utf-8")
    paths = re.findall(r'(?:\]\(|src=")([^):"#]+)[)"#]', text)
    assert [path for path in paths if not (ROOT / path).exists()] == []
    listed = {Path(path).name for path in paths if path.endswith(".ipynb")}
    assert {path.name for path in (ROOT / "notebooks").glob("[0-9]*.ipynb")} <= listed
    pictures = list((ROOT / "notebooks" / "images").glob("*.png"))
    assert len(pictures) > 12
    assert all(path.stat().st_size < 60_000 for path in pictures)


def test_readme_has_two_screens() -> None:
    assert len(README.read_text("utf-8").split()) <= 1200  # chosen: two screens


@for_each("page", ["README.md", "workbench/site/from-a-shell.md"])
def test_the_commands_that_are_printed_are_commands(
    page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli, "_run", lambda arguments: 0)
    text = (ROOT / page).read_text("utf-8")
    lines = re.findall(r"^    (?:\S*/)?workbench (.*)|`workbench ([^`]+)`", text, re.M)
    commands = [" ".join((indented or inline).split()) for indented, inline in lines]
    assert len(commands) > 18
    for command in commands:
        words = shlex.split(command, comments=True)
        words = words[: words.index(">")] if ">" in words else words
        assert cli.main(words) == 0, command


def test_every_file_that_contributing_names_is_there() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    # The map names what is inside each of its folders; tests/house/test_architecture.py reads it.
    text = re.sub(r"^## Map\n.*?(?=^## )", "", text, flags=re.M | re.S)
    paths = re.findall(r"`([\w.-]+/[\w./-]*)`", text)
    assert len(paths) > 20
    assert [path for path in paths if not (ROOT / path).exists()] == []
    # Each registry is defined in the file that is named beside it.
    registries = re.findall(r"`([A-Z]+)`\s+(?:in\s+)?\(?`(workbench/[\w./-]+\.py)`", text)
    known = {"MODELS", "LOSSES", "ENGINES", "HEURISTICS", "FAMILIES", "ROUTINGS"}
    known |= {"COURSE", "MOVES", "PANELS"}
    assert known == {name for name, _ in registries}
    for name, path in registries:
        assert re.search(rf"^{name}\b.*=", (ROOT / path).read_text("utf-8"), re.MULTILINE), path
