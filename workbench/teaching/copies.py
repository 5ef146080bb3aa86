"""Copies of the notebooks for a class: without the solutions, or with the solutions open."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workbench.errors import ParameterError
from workbench.jsonfile import read_json

SOLUTION = "solution"
"""The tag of a cell that solves an exercise; JupyterLab shows such a cell folded."""

_LESSONS = "lessons"


def write_copies(
    folder: str | Path, *, solutions: bool, notebooks: str | Path | None = None
) -> list[Path]:
    """Write the lessons, and the other notebooks that they link to, for students or an instructor.

    Args:
        folder: to write to; it must be empty, or is made.
        solutions: whether the cells of the solutions are there, open, and with them the
            instructor's page; else they are left out.
        notebooks: folder of the notebooks; None for that of this checkout.

    Returns:
        The written lessons.

    Raises:
        ParameterError: the folder holds something, or there are no notebooks.
        ParseError: a notebook is not JSON.
        OSError: a file cannot be read or written.
    """
    target, source = Path(folder), _source(notebooks)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise ParameterError(
            f"the copies must go into an empty folder, or one to be made; {target} holds "
            "something, which may be answers; choose another",
            key="folder",
        )
    left_out = () if solutions else ("*.md",)
    ignored = shutil.ignore_patterns(".*", *left_out)
    shutil.copytree(source, target, ignore=ignored, dirs_exist_ok=True)
    written = sorted((target / _LESSONS).glob("*.ipynb"))
    for path in written:
        content = read_json(path, "a notebook")
        cells = [opened(cell) for cell in content["cells"] if solutions or not is_solution(cell)]
        text = json.dumps({**content, "cells": cells}, indent=1, ensure_ascii=False) + "\n"
        path.write_text(text, "utf-8")
    return written


def is_solution(cell: Mapping[str, Any]) -> bool:
    """Return whether a cell of a notebook solves an exercise."""
    return SOLUTION in cell["metadata"].get("tags", ())


def opened(cell: Mapping[str, Any]) -> dict[str, Any]:
    """Return a cell that JupyterLab does not fold."""
    metadata = {name: value for name, value in cell["metadata"].items() if name != "jupyter"}
    return {**cell, "metadata": metadata}


def _source(notebooks: str | Path | None) -> Path:
    checkout = Path(__file__).resolve().parents[2] / "notebooks"
    found = checkout if notebooks is None else Path(notebooks)
    if not (found / _LESSONS).is_dir():
        raise ParameterError(
            f"the notebooks must be in a folder that has {_LESSONS}/; {found} has not. They are no "
            "part of the installed package: give the folder notebooks/ of a checkout",
            key="notebooks",
        )
    return found
