"""Rows of a table that are missing, computed on all cores or a cluster: stopped, killed, resumed.

    table = RowTable("runs.db", "design")
    table.prepare("gather-grid", problem)
    work = RowWork(table, "workbench.uq.evaluation")
    work.add("gather-grid", order, range(100), at_once=16)
    work.complete_all("rows", choose_executor(None, None), task)

Designs, comparisons of searches and runs of made-up worlds are computed so. Fits and experiments
are not: their next row depends on the rows before it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from workbench.errors import StudyError, StudyHeldError, WorkbenchError
from workbench.storage.database import short_text
from workbench.storage.row_table import RowTable, StoredRow
from workbench.tasks import Task
from workbench.workers.run import Executor, Pace, do_pieces
from workbench.workers.work import HELD, Answer, PiecedWork, WorkPiece, ended, own_module

Compute = Callable[[Mapping[str, Any], Sequence[int]], Sequence[StoredRow]]
"""``compute(order, numbers)`` returns a row for each number, those that failed included."""

_PERFORMER = "workbench.workers.rows"


class RowWork:
    """Rows of one kind that are wanted, and the module that computes those that are missing.

    Attributes:
        pieces: the calls of ``compute`` that are missing.
    """

    def __init__(self, table: RowTable, module: str) -> None:
        self.pieces: list[WorkPiece] = []
        self._table = table
        self._module = module  # has a function ``compute``, of type ``Compute``
        self._total = 0
        self._known: set[tuple[str, int]] = set()  # names and numbers
        self._failed: set[tuple[str, int]] = set()
        self._checked: tuple[str, Mapping[str, Any], int] | None = None  # a good row, its order

    def add(
        self,
        name: str,  # of the rows, which are prepared
        order: Mapping[str, Any],  # for ``compute``; JSON can hold it where processes get it
        numbers: Sequence[int],  # ascending
        at_once: int = 1,  # numbers of one call of ``compute``
        *,
        retry_failed: bool = False,
    ) -> None:
        """Want rows of a name; those that are stored are not computed."""
        stored = self._table.read(name, numbers[0], numbers[-1] + 1, content=False)
        self._total += len(numbers)
        failed = [n for n, row in stored.items() if row.message]
        self._note(name, [n for n in numbers if n in stored], failed)
        good = next((n for n, row in stored.items() if row.state == "done"), None)
        if self._checked is None and good is not None:
            self._checked = name, order, good
        for at in range(0, len(numbers), at_once):
            some = list(numbers[at : at + at_once])
            if _missing(some, stored, retry_failed):
                piece = f"{name} {some[0]} to {some[-1]}"
                about = {"kind": self._table.kind, "module": self._module, "name": name}
                more = {"piece": piece, "numbers": some, "retry": retry_failed, "order": order}
                self.pieces.append(WorkPiece(piece, about | more))

    def check(self) -> None:
        """Compute one of the stored rows again; StudyError if its digits are others."""
        if self._checked is None:
            return
        name, order, number = self._checked
        stored = self._table.read(name, number, number + 1)[number]
        (now,) = _compute(self._module)(order, [number])
        was, is_now = json.dumps(stored.content), json.dumps(now.content)
        if was != is_now:
            raise StudyError(
                f"{self._table.database.where} holds rows of {name!r} that this release computes "
                f"differently (run {number}: {short_text(was)}, now "
                f"{now.message or short_text(is_now)}); choose another name or database"
            )

    def complete(self, what: str, executor: Executor, task: Task) -> dict[str, str]:
        """Compute what is missing until a stop; return why some pieces have no rows.

        A piece that another process computes is left to it, and looked at once more at the end.
        The task gets a report of ``what`` at the beginning and after each piece.
        """
        lost: dict[str, str] = {}
        orders = {piece.name: piece.order for piece in self.pieces}
        pace = Pace(len(self._known))

        def report(message: str) -> None:
            done = len(self._known)
            left_s = pace.left_s(done, self._total - done)
            parts = [
                f"{done} of {self._total} {what}",
                f"{len(self._failed)} failed" if self._failed else "",
                f"{left_s:.0f} s to go" if done < self._total and math.isfinite(left_s) else "",
                message,
            ]
            task.report(done, self._total, ", ".join(filter(None, parts)))

        def note(piece: str, answer: Answer) -> None:
            lost.pop(piece, None)
            if answer["state"] == "done":
                self._note(orders[piece]["name"], orders[piece]["numbers"], answer["failed"])
            elif answer["state"] == "failed" or answer["message"] == HELD:
                lost[piece] = str(answer["message"])
            report(str(answer["message"]))

        report("")
        with self._table.kept_open():
            do_pieces(PiecedWork(_PERFORMER, self._table.where, note), self.pieces, executor, task)
        return lost

    def complete_all(self, what: str, executor: Executor, task: Task) -> None:
        """Check and complete; StudyError if something is missing, unless the task is stopped."""
        if self.pieces:
            self.check()
        lost = self.complete(what, executor, task)
        if lost and not task.stopping:
            raise StudyError(
                f"only {len(self._known)} of {self._total} {what}: {next(iter(lost.values()))}; "
                "start again to continue"
            )

    def _note(self, name: str, numbers: Sequence[int], failed: Sequence[int]) -> None:
        """Record rows that are there, some of which failed."""
        rows = {(name, number) for number in numbers}
        self._known |= rows
        self._failed -= rows
        self._failed |= {(name, number) for number in numbers if number in failed}


def perform(order: Mapping[str, Any], database: str, task: Task) -> Answer:
    """Compute the rows of a piece that are not stored yet; see ``workbench.workers``."""
    table, name, numbers = RowTable(database, order["kind"]), order["name"], order["numbers"]
    try:
        with table.database.hold(order["piece"]):
            rows = table.read(name, numbers[0], numbers[-1] + 1, content=False)
            if missing := _missing(numbers, rows, order["retry"]):
                fresh = _compute(order["module"])(order["order"], missing)
                table.write(name, fresh)
                rows |= {row.number: row for row in fresh}
    except StudyHeldError:
        return ended("running", HELD)
    except WorkbenchError as error:
        return ended("failed", str(error))
    return {**ended("done"), "failed": [row.number for row in rows.values() if row.message]}


def _missing(
    numbers: Sequence[int], stored: Mapping[int, StoredRow], retry_failed: bool
) -> list[int]:
    return [
        number
        for number in numbers
        if number not in stored or (retry_failed and stored[number].message)
    ]


def _compute(module: str) -> Compute:
    found: Compute = own_module(module).compute
    return found
