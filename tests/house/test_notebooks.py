"""Notebooks are committed as they were written: thin, without outputs, for any Python kernel."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").rglob("*.ipynb"))
NOTEBOOKS = [path for path in NOTEBOOKS if ".ipynb_checkpoints" not in path.parts]
LINES_IN_A_CELL = 12

every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.name)


def code_cells(path: Path) -> list[dict[str, Any]]:
    """Return the code cells of a notebook as plain dictionaries."""
    cells = json.loads(path.read_text("utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


def test_the_notebook_that_make_lab_opens_exists() -> None:
    assert ROOT / "notebooks" / "00-start-here.ipynb" in NOTEBOOKS


@every_notebook
def test_no_outputs_and_no_execution_counts(path: Path) -> None:
    for cell in code_cells(path):
        assert cell["outputs"] == []
        assert cell["execution_count"] is None


@every_notebook
def test_links_to_files_lead_to_files(path: Path) -> None:
    cells = json.loads(path.read_text("utf-8"))["cells"]
    text = "".join("".join(c["source"]) + "\n" for c in cells if c["cell_type"] == "markdown")
    targets = set(re.findall(r"\]\((?!https?:|#)([^)#\s]+)", text))
    assert [target for target in targets if not (path.parent / target).is_file()] == []


@every_notebook
def test_any_python_kernel_runs_it(path: Path) -> None:
    content = json.loads(path.read_text("utf-8"))
    assert content["metadata"]["kernelspec"]["name"] == "python3"
    assert "widgets" not in content["metadata"], "saved widget state is an output"
    assert content["nbformat"] == 4


@every_notebook
def test_cells_are_short_and_define_nothing_worth_testing(path: Path) -> None:
    for cell in code_cells(path):
        source = "".join(cell["source"])
        assert len(source.splitlines()) <= LINES_IN_A_CELL, source
        nodes = list(ast.walk(ast.parse(source)))
        definitions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        assert not [n for n in nodes if isinstance(n, definitions)], (
            f"belongs in workbench: {source}"
        )
        names = [n.module or "" for n in nodes if isinstance(n, ast.ImportFrom)]
        names += [alias.name for n in nodes if isinstance(n, ast.Import) for alias in n.names]
        assert "kernels" not in {name.split(".")[0] for name in names}
