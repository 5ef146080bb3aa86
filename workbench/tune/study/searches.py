"""The searches of a study, one row each, and the file that holds them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from workbench.errors import ParseError
from workbench.replacing import replace_file


class Cell(NamedTuple):
    """What is shared by all seeds and stopping rules of a method on a space.

    Attributes:
        recording: name of the recording.
        space: name of the space.
        heuristic: its name.
        resampling: label of the rule.
        pruning: label of the rule.
        noise: what was added to each run, in words.
        initial: initial points, the default first.
        budget: runs at most.
        data: beginning of the checksum of the file that the runs were drawn from.
    """

    recording: str
    space: str
    heuristic: str
    resampling: str
    pruning: str
    noise: str
    initial: int
    budget: int
    data: str


@dataclass(frozen=True)
class SearchRow:
    """One search, read where one stopping rule ends it.

    Attributes:
        cell: what was searched, and how.
        stopping: label of the rule.
        seed: seed of the search.
        runs: runs, initial ones and repeats among them.
        pruned: those that the pruning rule ended.
        configurations: different ones among the runs.
        seconds: time that the runs took together, in s; of pruned ones the time up to the limit.
        best: recorded median of the configuration whose own runs were best, of the repeats that
            judge; of the default where no configuration has a value that is known, as pruning may
            leave it.
        expected: the same of the one that a model of all runs expects most of.
    """

    cell: Cell
    stopping: str
    seed: int
    runs: int
    pruned: int
    configurations: int
    seconds: float
    best: float
    expected: float


_OWN = tuple(each.name for each in fields(SearchRow) if each.name != "cell")
_COLUMNS = (*Cell._fields, *_OWN)
_WHOLE = ("initial", "budget", "seed", "runs", "pruned", "configurations")
_REAL = ("seconds", "best", "expected")

_ADDED: Mapping[str, str] = MappingProxyType({"pruning": "none", "pruned": "0"})
"""What the columns stand for that files lack from before pruning was compared."""
_EARLIER = tuple(name for name in _COLUMNS if name not in _ADDED)


def append_rows(path: Path, rows: Iterable[SearchRow], *, anew: bool = False) -> None:
    """Add searches to a file.

    Args:
        path: the CSV file.
        rows: what to add.
        anew: whether the file is written from its first line on, in one step.

    Raises:
        OSError: the file cannot be written.
    """
    lines = [",".join(_cells(row)) + "\n" for row in rows]
    if anew:
        replace_file(path, "".join([",".join(_COLUMNS) + "\n", *lines]).encode())
        return
    with path.open("a", encoding="utf-8") as file:
        file.write("".join(lines))


def read_rows(path: Path) -> list[SearchRow]:
    """Return the searches in a file; a last line that was cut by a kill is left out.

    Args:
        path: what ``append_rows`` wrote.

    Raises:
        ParseError: it holds something else.
        OSError: it cannot be read.
    """
    text = path.read_text(encoding="utf-8", errors="replace")
    lines = text.split("\n")[:-1]
    columns = tuple(lines[0].split(",")) if lines else ()
    if columns not in (_COLUMNS, _EARLIER):
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
            cell = Cell(**{name: values.pop(name) for name in Cell._fields})
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
