"""Selection of the cells of a study for a figure, and their common properties."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from workbench.errors import ParameterError
from workbench.study.cell import AXES, CellResult
from workbench.suggestions import did_you_mean

if TYPE_CHECKING:
    from workbench.study.result import StudyResult

_ONE_OF = ("model", "target", "regime", "engine", "seed")


def pick(
    result: StudyResult, free: Iterable[str], where: Mapping[str, object]
) -> tuple[CellResult, ...]:
    """Return the cells that a figure shows, in the study's order.

    Each of `AXES` that is neither drawn (`free`) nor asked for (`where`) is held at the study's
    first value, so that a figure does not mix two models unless asked to.
    """
    unknown = [name for name in (*where, *free) if name not in AXES]
    if unknown:
        raise ParameterError(
            f"a study's cells are distinguished by {', '.join(AXES)}; got {unknown[0]!r}"
            f"{did_you_mean(unknown[0], AXES)}",
            key=unknown[0],
        )
    cells = tuple(result.cells)
    for name, wanted in where.items():
        values = tuple(wanted) if isinstance(wanted, (list, tuple)) else (wanted,)
        known = distinct(cells, name)
        cells = tuple(cell for cell in cells if value(cell, name) in values)
        if not cells:
            raise ParameterError(
                f"no cell of the study has {name} {', '.join(map(str, values))}; there are "
                f"{', '.join(map(str, known)) or 'none'}",
                key=name,
            )
    for name in _ONE_OF:
        if cells and name not in free and name not in where:
            first = value(cells[0], name)
            cells = tuple(cell for cell in cells if value(cell, name) == first)
    return cells


def fitted(
    result: StudyResult, free: Iterable[str], where: Mapping[str, object]
) -> tuple[CellResult, ...]:
    """Return the cells of `pick` that have a fitted model."""
    return tuple(cell for cell in pick(result, free, where) if cell.success)


def value(cell: CellResult, name: str) -> Any:
    """Return a cell's value of one of `AXES`."""
    return getattr(cell.cell, name)


def distinct(cells: Sequence[CellResult], name: str) -> list[Any]:
    """Return the different values of the cells for one of `AXES`, in order of appearance."""
    return list(dict.fromkeys(value(cell, name) for cell in cells))


def in_common(cells: Sequence[CellResult], besides: Iterable[str] = ()) -> str:
    """Return the common properties of the cells, without `besides`: ``snappr, tpe, seed 0, …``."""
    words = []
    for name, text in (
        ("machine", "{}"),
        ("model", "{}"),
        ("loss", "loss {}"),
        ("target", "fitted to {}"),
        ("regime", "{} sizes"),
        ("engine", "{}"),
        ("seed", "seed {}"),
    ):
        found = distinct(cells, name)
        if name not in besides and len(found) == 1:
            words.append(text.format(found[0]))
        elif name not in besides and len(found) > 1:
            words.append(f"{len(found)} {plural(name, len(found))}")
    trials = [cell.trials for cell in cells]
    low, high = min(trials, default=0), max(trials, default=0)
    if high:
        words.append(f"{low} trials" if low == high else f"{low} to {high} trials")
    return ", ".join(words)


def plural(name: str, count: int) -> str:
    """Return one of `AXES` as a noun for a count: ``loss`` for 1, ``losses`` for others."""
    if count == 1:
        return name
    return f"{name}es" if name.endswith("s") else f"{name}s"
