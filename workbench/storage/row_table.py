"""Rows in a database of studies: each is there once it is known, whoever computes it.

    table = RowTable("runs.db", "design")
    table.prepare("gather-grid", {"seed": 0})
    table.write("gather-grid", [StoredRow([1.5e-3, 2.5e-3], number=0)])
    table.read("gather-grid")

Fits, designs, tuned programs, comparisons of searches and runs of made-up worlds keep their rows
so; they share two tables. A process that is killed loses at most the rows that it computes.
``workbench.workers.rows`` computes rows that are missing.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from workbench.errors import StudyError
from workbench.storage.database import OUTCOMES, PROBLEMS, Connection, locate, problem_differences

NEXT = -1
"""The number of a row that takes the one after the last."""

_ALL = 2**31 - 1  # the largest INTEGER of PostgreSQL, the type of the column
_INSERT = (
    f"INSERT INTO {OUTCOMES} (name, number, state, value, seconds, message, content)"
    " VALUES (?, ?, ?, ?, ?, ?, ?)"
)
_REPLACED = ("running", "failed")
"""States that another row of the same number replaces; all others are final."""


@dataclass(frozen=True)
class StoredRow:
    """One row: what is known, or the reason why it has none."""

    content: Any  # for JSON; None where it is not read
    number: int = NEXT  # from 0
    state: str = "done"  # or a word of the user's own; running and failed ones may be replaced
    value: float | None = None  # the number by which rows are compared
    seconds: float = 0.0
    message: str = ""


class RowTable:
    """Rows by name and number in a database."""

    def __init__(self, where: str | Path, kind: str) -> None:
        self.database = locate(where)
        self.where = where
        self.kind = kind  # such as "fit" or "design"; names are of one kind each
        self._kept: Connection | None = None

    def prepare(self, name: str, problem: Mapping[str, Any]) -> None:
        """Make the tables where there are none, and refuse rows of another problem."""
        if self._kept is None:
            self.database.prepare()
        with self._connected() as connection:
            connection.run(
                f"INSERT INTO {PROBLEMS} (name, kind, problem) VALUES (?, ?, ?)"
                " ON CONFLICT DO NOTHING",
                *(name, self.kind, json.dumps(problem)),
            )
        self.check(name, problem)

    def check(self, name: str, problem: Mapping[str, Any]) -> None:
        """Refuse rows that were made for another problem; none at all are right."""
        differences: list[str] = []
        for kind, stored in self._found("SELECT kind, problem", PROBLEMS, name):
            if kind == self.kind:
                differences = problem_differences(json.loads(stored), problem)
            else:
                differences = [f"it was of kind {kind} and is of kind {self.kind}"]
        if differences:
            raise StudyError(
                f"the {self.kind} {name!r} in {self.database.where} was made for another problem: "
                f"{'; '.join(differences)}; choose another name or database, or the settings it "
                "was made with"
            )

    def names(self) -> list[str]:
        """Return the names of this kind in the database."""
        if not self.database.has_tables():
            return []
        with self._connected() as connection:
            rows = connection.run(
                f"SELECT name FROM {PROBLEMS} WHERE kind = ? ORDER BY name", self.kind
            )
        return [str(name) for (name,) in rows]

    def stored_problem(self, name: str) -> dict[str, Any] | None:
        """Return the problem that the rows of a name belong to; None where the name is unknown."""
        for kind, stored in self._found("SELECT kind, problem", PROBLEMS, name):
            return dict(json.loads(stored)) if kind == self.kind else None
        return None

    def read(
        self, name: str, first: int = 0, end: int = _ALL, *, content: bool = True
    ) -> dict[int, StoredRow]:
        """Return the rows with numbers from ``first`` to below ``end``, by number."""
        rows = self._found(
            f"SELECT number, state, value, seconds, message, {'content' if content else 'NULL'}",
            *(OUTCOMES, name, " AND number >= ? AND number < ? ORDER BY number", first, end),
        )
        return {
            number: StoredRow(text and json.loads(text), number, *others)
            for number, *others, text in rows
        }

    def summaries(self, names: Sequence[str]) -> dict[str, tuple[int, float | None]]:
        """Return the number of rows and the least value of each name that is known."""
        if not self.database.has_tables():
            return {}
        with self._connected() as connection:
            rows = connection.run(
                f"SELECT p.name, COUNT(r.number), MIN(r.value) FROM {PROBLEMS} p"
                f" LEFT JOIN {OUTCOMES} r ON r.name = p.name WHERE p.kind = ? GROUP BY p.name",
                self.kind,
            )
        wanted = set(names)
        return {name: (count, least) for name, count, least in rows if name in wanted}

    def states(self, name: str) -> dict[str, int]:
        """Return the number of rows in each state."""
        return dict(self._found("SELECT state, COUNT(*)", OUTCOMES, name, " GROUP BY state"))

    def append(self, name: str, row: StoredRow) -> int:
        """Write a new row after the last and return its number; refuse any other place."""
        with self._connected() as connection, connection.transaction(name):
            ((last,),) = connection.run(f"SELECT MAX(number) FROM {OUTCOMES} WHERE name = ?", name)
            number = 0 if last is None else last + 1
            if row.number not in (NEXT, number):
                raise StudyError(
                    f"row {number} of the {self.kind} {name!r} in {self.database.where} must come "
                    f"next; got row {row.number}: another process writes it too, or it was "
                    "interrupted while it wrote; start again to continue from the stored rows"
                )
            connection.run(_INSERT, *_values(name, replace(row, number=number)))
        return number

    def write(self, name: str, rows: Iterable[StoredRow]) -> None:
        """Write rows; a stored one is replaced if it is running or failed, and else stays."""
        columns = ("state", "value", "seconds", "message", "content")
        with self._connected() as connection, connection.transaction(name):
            connection.run_for_each(
                f"{_INSERT} ON CONFLICT (name, number) DO UPDATE SET "
                f"{', '.join(f'{column} = excluded.{column}' for column in columns)}"
                f" WHERE {OUTCOMES}.state IN {_REPLACED}",
                [_values(name, row) for row in rows],
            )

    @contextlib.contextmanager
    def kept_open(self) -> Iterator[None]:
        """Keep one connection open until the context ends.

        SQLite moves its log into the file whenever the last connection closes, which flushes it to
        the disk: the store of a row would take three times as long.
        """
        with self.database.connected() as self._kept:
            # SQLite opens the file with the first statement that reads it.
            self._kept.run(f"SELECT COUNT(*) FROM {PROBLEMS}")
            try:
                yield
            finally:
                self._kept = None

    def _found(
        self, select: str, table: str, name: str, more: str = "", *values: Any
    ) -> list[tuple[Any, ...]]:
        if self._kept is None and not self.database.has_tables():
            return []
        with self._connected() as connection:
            return connection.run(f"{select} FROM {table} WHERE name = ?{more}", name, *values)

    @contextlib.contextmanager
    def _connected(self) -> Iterator[Connection]:
        if self._kept is not None:
            yield self._kept
            return
        with self.database.connected() as connection:
            yield connection


def _values(name: str, row: StoredRow) -> tuple[Any, ...]:
    content = json.dumps(row.content)
    return name, row.number, row.state, row.value, row.seconds, row.message, content
