"""Notebooks are committed as they were written: thin, without outputs, for any Python kernel."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").rglob("*.ipynb"))
NOTEBOOKS = [path for path in NOTEBOOKS if ".ipynb_checkpoints" not in path.parts]
LINES_IN_A_CELL = 12


def code_cells(path: Path) -> list[dict[str, Any]]:
    """Return the code cells of a notebook as plain dictionaries."""
    cells = json.loads(path.read_text("utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


def test_the_notebook_that_make_lab_opens_exists() -> None:
    assert ROOT / "notebooks" / "00-start-here.ipynb" in NOTEBOOKS


def test_no_outputs_and_no_execution_counts() -> None:
    for path in NOTEBOOKS:
        for cell in code_cells(path):
            assert cell["outputs"] == [], path
            assert cell["execution_count"] is None, path


def test_links_to_files_lead_to_files() -> None:
    missing = []
    for path in NOTEBOOKS:
        cells = json.loads(path.read_text("utf-8"))["cells"]
        text = "".join("".join(c["source"]) + "\n" for c in cells if c["cell_type"] == "markdown")
        targets = set(re.findall(r"\]\((?!https?:|#)([^)#\s]+)", text))
        missing += [(path, one) for one in targets if not (path.parent / one).is_file()]
    assert missing == []


def test_any_python_kernel_runs_each() -> None:
    for path in NOTEBOOKS:
        content = json.loads(path.read_text("utf-8"))
        assert content["metadata"]["kernelspec"]["name"] == "python3", path
        assert "widgets" not in content["metadata"], f"saved widget state is an output: {path}"
        assert content["nbformat"] == 4, path


def test_cells_are_short_and_define_nothing_worth_testing() -> None:
    for cell in (cell for path in NOTEBOOKS for cell in code_cells(path)):
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


def names(cells: list[dict[str, Any]], context: type[ast.expr_context]) -> set[str]:
    """Return the names that cells assign or use; what they import is assigned."""
    trees = [node for cell in cells for node in ast.walk(ast.parse("".join(cell["source"])))]
    found = {n.id for n in trees if isinstance(n, ast.Name) and isinstance(n.ctx, context)}
    if context is ast.Store:
        imported = [n.names for n in trees if isinstance(n, ast.Import | ast.ImportFrom)]
        found |= {a.asname or a.name.partition(".")[0] for aliases in imported for a in aliases}
    return found


def test_pages_can_leave_out_what_takes_long() -> None:
    """Voilà shows nothing before the last cell has run, and leaves out cells tagged ``long``."""
    for path in NOTEBOOKS:
        cells = code_cells(path)
        long = [cell for cell in cells if "long" in cell["metadata"].get("tags", [])]
        kept = [cell for cell in cells if cell not in long]
        missing = names(long, ast.Store) - names(kept, ast.Store)
        assert missing & names(kept, ast.Load) == set(), f"pages lack what {path} assigns"
        text = path.read_text("utf-8")
        assert not long or "left out on pages of Voilà" in text, f"say what a page of {path} lacks"


def test_a_long_cell_exists_and_voila_leaves_it_out() -> None:
    beside, of_servers = (
        json.loads((ROOT / folder / "voila.json").read_text())
        for folder in ("notebooks", "workbench/workshop/jupyter/etc")
    )
    assert of_servers == beside | {"VoilaConfiguration": {"template": "workbench"}}
    left_out = beside["TagRemovePreprocessor"]["remove_cell_tags"]
    tags = [cell["metadata"].get("tags", []) for path in NOTEBOOKS for cell in code_cells(path)]
    assert "long" in left_out and ["long"] in tags


def test_what_pages_fold_stands_after_its_exercise() -> None:
    """`AnswerForm` hides cells by their tag until its exercise was tried."""
    folded = set()
    for path in NOTEBOOKS:
        asked = set()
        for cell in code_cells(path):
            numbers = re.findall(r'^check\("(\d+)\.(\d+)"', "".join(cell["source"]), re.MULTILINE)
            asked |= {f"after-{lesson}-{at}" for lesson, at in numbers}
            tags = {tag for tag in cell["metadata"].get("tags", []) if tag.startswith("after-")}
            assert tags <= asked, path
            folded |= tags
    assert len(folded) > 6
