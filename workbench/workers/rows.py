"""Rows of a table that are missing, computed on all cores or a cluster: stopped, killed, resumed.

    work = RowWork(RowTable("runs.db", "design"), "workbench.uq.evaluation")
    work.table.prepare("gather-grid", problem)
    pieces = work.pieces("gather-grid", order, range(100), at_once=16)
    lost = work.do(pieces, choose_executor(None, None), task, note)

Designs, comparisons of searches and runs of made-up worlds are computed so. Fits and experiments
are not: their next row depends on the rows before it.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workbench.errors import StudyError, StudyHeldError, WorkbenchError
from workbench.storage.database import short_text
from workbench.storage.row_table import RowTable, StoredRow
from workbench.tasks import Task
from workbench.workers.run import Executor, do_pieces
from workbench.workers.work import HELD, Answer, PiecedWork, WorkPiece, ended

Compute = Callable[[Mapping[str, Any], Sequence[int]], Sequence[StoredRow]]
"""``compute(order, numbers)`` returns a row for each number, those that failed included."""

_PERFORMER = "workbench.workers.rows"


@dataclass(frozen=True)
class RowWork:
    """Rows of one kind, and the module that computes them."""

    table: RowTable
    module: str  # has a function ``compute``, of type ``Compute``

    def pieces(
        self,
        name: str,  # of the rows, which are prepared
        order: Mapping[str, Any],  # for ``compute``; JSON can hold it where processes get it
        numbers: Sequence[int],  # ascending
        at_once: int = 1,  # numbers of one call of ``compute``
        *,
        retry_failed: bool = False,
    ) -> list[WorkPiece]:
        """Return the calls of ``compute`` that have rows to add."""
        stored = self.table.read(name, numbers[0], numbers[-1] + 1, content=False)
        found = []
        for at in range(0, len(numbers), at_once):
            some = list(numbers[at : at + at_once])
            if _missing(some, stored, retry_failed):
                piece = f"{name} {some[0]} to {some[-1]}"
                about = {"kind": self.table.kind, "module": self.module, "name": name}
                more = {"piece": piece, "numbers": some, "retry": retry_failed, "order": order}
                found.append(WorkPiece(piece, about | more))
        return found

    def check(self, name: str, order: Mapping[str, Any], numbers: Sequence[int]) -> bool:
        """Return whether a good row is stored; StudyError if the first has other digits now."""
        rows = self.table.read(name, numbers[0], numbers[-1] + 1).values()
        stored = next((row for row in rows if row.state == "done"), None)
        if stored is None:
            return False
        (now,) = _compute(self.module)(order, [stored.number])
        was, is_now = json.dumps(stored.content), json.dumps(now.content)
        if was != is_now:
            raise StudyError(
                f"{self.table.database.where} holds rows of {name!r} that this release computes "
                f"differently (run {now.number}: {short_text(was)}, now "
                f"{now.message or short_text(is_now)}); choose another name or database"
            )
        return True

    def do(
        self,
        pieces: Sequence[WorkPiece],
        executor: Executor,
        task: Task,
        note: Callable[[Sequence[int], Answer], None],  # numbers of a piece and its answer
    ) -> dict[str, str]:
        """Compute pieces until all end or the task is stopped; return why some have no rows.

        An answer that is ``done`` lists the numbers of the rows that failed. A piece that another
        process computes is left to it, and looked at once more at the end; the reason is ``HELD``.
        """
        lost: dict[str, str] = {}
        numbers = {piece.name: piece.order["numbers"] for piece in pieces}

        def heard(name: str, answer: Answer) -> None:
            lost.pop(name, None)
            if answer["state"] == "failed" or answer["message"] == HELD:
                lost[name] = str(answer["message"])
            note(numbers[name], answer)

        with self.table.kept_open():
            work = PiecedWork(_PERFORMER, self.table.where, heard)
            do_pieces(work, pieces, executor, task)
        return lost

    def complete(
        self, pieces: Sequence[WorkPiece], total: int, what: str, executor: Executor, task: Task
    ) -> None:
        """Compute pieces and report how many of a total there are; StudyError if not all of them.

        Where the task is stopped, those that are done are enough.
        """
        done = total - len(pieces)

        def report() -> None:
            task.report(done, total, f"{done} of {total} {what}")

        def note(_: Sequence[int], answer: Answer) -> None:
            nonlocal done
            if answer["state"] == "done":
                done += 1
                report()

        report()
        lost = self.do(pieces, executor, task, note)
        if lost and not task.stopping:
            raise StudyError(
                f"only {done} of {total} {what}: {next(iter(lost.values()))}; start again to continue"
            )


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
    found: Compute = importlib.import_module(module).compute
    return found
