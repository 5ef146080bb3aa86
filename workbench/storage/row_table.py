"""Rows of numbers in a database of studies: each is there once it is known, whoever computes it.

    table = RowTable("runs.db")
    table.prepare("gather-grid", {"seed": 0})
    table.write("gather-grid", [StoredRow(0, (1.5e-3, 2.5e-3))])
    table.read("gather-grid")

The rows of several names share two tables, beside those of Optuna.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.errors import StudyError
from workbench.storage.database import locate, problem_differences

_TABLES = (
    "CREATE TABLE IF NOT EXISTS workbench_row_sets (name TEXT PRIMARY KEY, problem TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS workbench_rows"
    " (name TEXT NOT NULL, number INTEGER NOT NULL, outcome TEXT NOT NULL, message TEXT NOT NULL,"
    " PRIMARY KEY (name, number))",
)
_ALL = 2**31 - 1
_AT_ONCE = 1000
"""Rows of one statement, which is written whole or not at all."""


@dataclass(frozen=True)
class StoredRow:
    """One row: its numbers, or the reason why it has none."""

    number: int  # from 0
    values: tuple[float, ...]
    message: str = ""


class RowTable:
    """Rows by name and number in a database."""

    def __init__(self, where: str | Path) -> None:
        self.database = locate(where)

    def prepare(self, name: str, problem: Mapping[str, Any]) -> None:
        """Make the tables where there are none, and refuse rows of another problem."""
        self.database.prepare()
        if not self._there():
            self.database.add_tables(_TABLES)
        if self.stored_problem(name) is None:
            self.database.change(
                "INSERT INTO workbench_row_sets (name, problem) VALUES (:name, :problem)"
                " ON CONFLICT DO NOTHING",
                {"name": name, "problem": json.dumps(problem)},
            )
        self.check(name, problem)

    def check(self, name: str, problem: Mapping[str, Any]) -> None:
        """Refuse rows that were made for another problem; none at all are right."""
        stored = self.stored_problem(name)
        differences = [] if stored is None else problem_differences(stored, problem)
        if differences:
            raise StudyError(
                f"{self.database.where} holds {name!r} of another problem: "
                f"{'; '.join(differences)}; choose another name or database, or the settings it "
                "was made with"
            )

    def stored_problem(self, name: str) -> dict[str, Any] | None:
        """Return the problem that the rows of a name belong to; None where the name is unknown."""
        if not self._there():
            return None
        rows = self.database.query(
            "SELECT problem FROM workbench_row_sets WHERE name = :name", {"name": name}
        )
        return None if not rows else dict(json.loads(rows[0][0]))

    def read(self, name: str, first: int = 0, end: int = _ALL) -> dict[int, StoredRow]:
        """Return the rows with numbers from ``first`` to below ``end``, by number."""
        if not self._there():
            return {}
        rows = self.database.query(
            "SELECT number, outcome, message FROM workbench_rows"
            " WHERE name = :name AND number >= :first AND number < :last ORDER BY number",
            {"name": name, "first": first, "last": end},
        )
        return {
            number: StoredRow(number, tuple(json.loads(outcome)), message)
            for number, outcome, message in rows
        }

    def write(self, name: str, rows: Sequence[StoredRow]) -> None:
        """Write rows; one that has numbers already is left as it is."""
        for at in range(0, len(rows), _AT_ONCE):
            part = rows[at : at + _AT_ONCE]
            places = ", ".join(f"(:name, :n{i}, :v{i}, :m{i})" for i in range(len(part)))
            values: dict[str, Any] = {"name": name}
            for i, row in enumerate(part):
                values |= {
                    f"n{i}": row.number,
                    f"v{i}": json.dumps(row.values),
                    f"m{i}": row.message,
                }
            self.database.change(
                "INSERT INTO workbench_rows (name, number, outcome, message)"
                f" VALUES {places} ON CONFLICT (name, number) DO UPDATE SET"
                " outcome = excluded.outcome, message = excluded.message"
                " WHERE workbench_rows.message <> ''",
                values,
            )

    @contextlib.contextmanager
    def kept_open(self) -> Iterator[None]:
        """Keep the file open until the context ends.

        SQLite moves its log into the file whenever the last connection closes, which flushes it to
        the disk: the store of a row would take three times as long.
        """
        with self.database.reading() as session:
            if self.database.path is not None:
                session.exec_driver_sql("SELECT name FROM workbench_row_sets").fetchall()
            yield

    def _there(self) -> bool:
        return self.database.exists and self.database.has_table("workbench_rows")
