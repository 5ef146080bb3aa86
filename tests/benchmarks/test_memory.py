"""Memory that a notebook's kernel holds, which a server needs for each student."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).resolve().parents[2] / "notebooks").glob("*.ipynb"))
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


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_kernel_holds(notebook: Path, tmp_path: Path) -> None:
    cells = nbformat.read(notebook, as_version=4).cells
    panel = next(i for i, cell in enumerate(cells) if cell.source.startswith("panel = "))
    at_panel, whole = memory(cells[: panel + 1], tmp_path), memory(cells, tmp_path)
    print(
        f"\n{notebook.stem}: with its panel PSS {at_panel[0]} MiB, RSS {at_panel[1]}; "
        f"whole PSS {whole[0]} MiB, RSS {whole[1]}"
    )
