"""The searches of a comparison, one row each, as a database or an older CSV file holds them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

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


_MEASURES = ("runs", "pruned", "configurations", "seconds", "best", "expected", "average", "steps")
_COLUMNS = (*SearchCell._fields, "stopping", "seed", *_MEASURES)
_WHOLE = ("initial", "budget", "reruns", "seed", "runs", "pruned", "configurations")
_REAL = ("seconds", "best", "expected", "average", "steps")

_ADDED: Mapping[str, str] = MappingProxyType(
    {"pruning": "none", "pruned": "0", "average": "nan", "steps": "inf", "reruns": "0"}
)
"""Values of the columns that files of earlier comparisons lack."""
_LEAST = frozenset(_COLUMNS) - _ADDED.keys()


def stored_searches(rows: Iterable[SearchRow]) -> dict[str, dict[str, float]]:
    """Return one search as a database holds it: by stopping rule, how far it came."""
    return {row.stopping: {name: getattr(row, name) for name in _MEASURES} for row in rows}


def read_rows(path: Path) -> dict[tuple[SearchCell, str, int], SearchRow]:
    """Return the searches in an earlier CSV file, which may be missing, by cell, rule and seed."""
    if not path.is_file():
        return {}
    text = path.read_text(encoding="utf-8", errors="replace")
    lines = text.split("\n")[:-1]  # without what a kill left of the last one
    columns = tuple(lines[0].split(",")) if lines else ()
    if not _LEAST <= set(columns) <= set(_COLUMNS):
        raise ParseError(
            f"the columns must be {','.join(_COLUMNS)}; name another file", source=str(path), line=1
        )
    found = {}
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
        search = SearchRow(cell, **values)
        found[cell, search.stopping, search.seed] = search
    return found
