"""What is done in pieces: a performer, which processes import by name, and its orders."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.errors import StudyError
from workbench.tasks import Task

HELD = "run by another notebook or process"
"""The message about a piece that another process does."""

PATIENCE_S = 10.0
"""Seconds that stopped pieces have to end; their simulation halts at once, so most are spare."""

Answer = dict[str, Any]
"""How a piece stands: its ``state`` and ``message``, and what the performer adds."""

Perform = Callable[[Mapping[str, Any], str, Task], Answer]
"""``perform(order, database, task)`` does a piece, reports answers and returns the last one."""


@dataclass(frozen=True)
class WorkPiece:
    """One piece of a work."""

    name: str  # held in the database while the piece is done
    order: Mapping[str, Any]  # for the performer; values that JSON can hold where processes do it


@dataclass(frozen=True)
class PiecedWork:
    """What all pieces have in common."""

    performer: str  # module with a function ``perform``, of type ``Perform``
    database: str | Path
    note: Callable[[str, Answer], None]  # name of a piece and its answer; in the caller's thread
    stored: Callable[[Sequence[str]], Mapping[str, Answer]] = lambda names: {}


def perform_by_name(performer: str) -> Perform:
    """Return the function of a performer, a module of the workbench."""
    found: Perform = own_module(performer).perform
    return found


def own_module(name: str) -> Any:
    """Return a module of the workbench; no other is ever imported by its name."""
    if not name.startswith("workbench."):
        raise StudyError(f"what does pieces of work must be a workbench module; got {name}")
    return importlib.import_module(name)


def ended(state: str, message: str = "") -> Answer:
    """Return the answer about a piece of which no more than that is known."""
    return {"state": state, "message": message}
