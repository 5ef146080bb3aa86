"""Memory that a notebook's kernel holds, which a server needs for each student."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from tests.benchmarks.conftest import Table

FOLDER = Path(__file__).resolve().parents[2] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("[0-9]*.ipynb"))
LESSONS = sorted(FOLDER.glob("lessons/[0-9]*.ipynb"))
# MiB of resident memory, the same on every machine; 06 has the largest kernel.
TARGETS = {
    "00-start-here": 300,
    "01-fit-a-machine": 300,
    "07-compare-topologies": 300,
    "06-where-to-place-ranks": 300,
}
MEASURE = """
import psutil
held = psutil.Process().memory_full_info()
print(getattr(held, "pss", held.uss) >> 20, held.rss >> 20)
"""


def memory(cells: list[Any], folder: Path) -> tuple[int, int]:
    """Return the PSS (USS where there is none) and the RSS of a kernel that ran cells, MiB."""
    measured = nbformat.v4.new_code_cell(MEASURE)
    notebook = nbformat.v4.new_notebook(cells=[*cells, measured])
    client = NotebookClient(notebook, timeout=900, resources={"metadata": {"path": str(folder)}})
    pss, rss = client.execute().cells[-1].outputs[0].text.split()
    return int(pss), int(rss)


def cells_to_panel(notebook: Path) -> tuple[list[Any], list[Any]]:
    """Return the cells of a notebook as far as its panel, and all of them."""
    cells = nbformat.read(notebook, as_version=4).cells
    panel = next(i for i, cell in enumerate(cells) if cell.source.startswith("panel = "))
    return cells[: panel + 1], cells


@pytest.mark.parametrize("name", TARGETS)
def test_a_kernel_with_one_panel_holds(name: str, tmp_path: Path, table: Table) -> None:
    notebook = next(path for path in NOTEBOOKS if path.stem == name)
    pss, rss = memory(cells_to_panel(notebook)[0], tmp_path)
    what = f"resident memory of a kernel with the panel of {name}"
    table.add("2", f"{what}; its share (PSS) {pss}", rss, "MiB", at_most=TARGETS[name])


@pytest.mark.parametrize("notebook", [*NOTEBOOKS, *LESSONS], ids=lambda path: path.stem)
def test_a_kernel_holds(notebook: Path, tmp_path: Path) -> None:
    to_panel, cells = cells_to_panel(notebook)
    at_panel, whole = memory(to_panel, tmp_path), memory(cells, tmp_path)
    print(
        f"\n{notebook.stem}: with its panel PSS {at_panel[0]} MiB, RSS {at_panel[1]}; "
        f"whole PSS {whole[0]} MiB, RSS {whole[1]}"
    )
