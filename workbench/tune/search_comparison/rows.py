"""The searches of a comparison, one row each, and the file that holds them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from workbench.atomic_write import replace_file
from workbench.errors import ParseError


class SearchCell(NamedTuple):
    """The fields that all seeds and stopping rules of a method on a space share."""

    recording: str
    space: str
    heuristic: str
    resampling: str  # label of the rule
    pruning: str  # label of the rule
    noise: str  # in words
    initial: int  # initial points, the default first
    budget: int  # runs at most
    data: str  # beginning of the checksum of the recorded file
    reruns: int = 0  # further runs of what was found, which judge it; 0: all that was recorded


@dataclass(frozen=True)
class SearchRow:
    """One search, up to where one stopping rule ends it."""

    cell: SearchCell
    stopping: str  # label of the rule
    seed: int
    runs: int  # initial ones and repeats included
    pruned: int  # runs that the pruning rule ended
    configurations: int  # different ones among the runs
    seconds: float  # of all runs; of a pruned one the time up to its limit
    best: float  # judges' median at the best by its own runs; the default's if none is known
    expected: float  # the same at the best by a model of all runs
    average: float = (
        math.nan
    )  # mean excess of the runs over the judges' optimum, %; nan if not known
    steps: float = math.inf  # runs until one lay within 5 % of that optimum; inf if none did


_OWN = tuple(each.name for each in fields(SearchRow) if each.name != "cell")
_COLUMNS = (*SearchCell._fields, *_OWN)
_WHOLE = ("initial", "budget", "reruns", "seed", "runs", "pruned", "configurations")
_REAL = ("seconds", "best", "expected", "average", "steps")

_ADDED: Mapping[str, str] = MappingProxyType(
    {"pruning": "none", "pruned": "0", "average": "nan", "steps": "inf", "reruns": "0"}
)
"""Values of the columns that files of earlier comparisons lack."""
_LEAST = frozenset(_COLUMNS) - _ADDED.keys()


def append_rows(path: Path, rows: Iterable[SearchRow], *, anew: bool = False) -> None:
    """Append searches to a CSV file; ``anew`` replaces the file atomically."""
    lines = [",".join(_cells(row)) + "\n" for row in rows]
    if anew:
        replace_file(path, "".join([",".join(_COLUMNS) + "\n", *lines]).encode())
        return
    with path.open("a", encoding="utf-8") as file:
        file.write("".join(lines))


def read_rows(path: Path) -> list[SearchRow]:
    """Return the searches in a file; a last line cut by a kill is left out."""
    text = path.read_text(encoding="utf-8", errors="replace")
    lines = text.split("\n")[:-1]
    columns = tuple(lines[0].split(",")) if lines else ()
    if not _LEAST <= set(columns) <= set(_COLUMNS):
        raise ParseError(
            f"the columns must be {','.join(_COLUMNS)}; name another file", source=str(path), line=1
        )
    found = []
    for at, line in enumerate(lines[1:], 2):
        row = {**_ADDED, **dict(zip(columns, line.split(","), strict=False))}
        try:
            values: dict[str, Any] = {
                **row,
                **{name: int(row[name]) for name in _WHOLE},
                **{name: float(row[name]) for name in _REAL},
            }
            cell = SearchCell(**{name: values.pop(name) for name in SearchCell._fields})
        except (KeyError, ValueError) as error:
            raise ParseError(
                f"a row must hold a search; {error}", source=str(path), line=at
            ) from error
        found.append(SearchRow(cell, **values))
    return found


def _cells(row: SearchRow) -> list[str]:
    own = (
        f"{getattr(row, name):.7g}" if name in _REAL else str(getattr(row, name)) for name in _OWN
    )
    return [*map(str, row.cell), *own]
