"""Run a study: all its cells, on all cores or a cluster; it can be stopped and resumed.

result = run(plan, "which-loss.db")
job = tasks.submit(run, plan, "which-loss.db")  # in a thread; job.partial is the study so far
"""

from __future__ import annotations

import dataclasses
import math
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from workbench.fit.losses import find_loss
from workbench.fit.store import read_progress
from workbench.storage.database import locate
from workbench.study.cell import Cell, CellProgress, CellResult
from workbench.study.fit_cell import fit_order, read_cell
from workbench.study.model_choice import ModelChoice
from workbench.study.plan import StudyPlan
from workbench.study.result import StudyResult
from workbench.study.status import StudyStatus, status
from workbench.tasks import Task, task_of
from workbench.workers.run import Pace, choose_executor, do_pieces
from workbench.workers.work import HELD, Answer, PiecedWork, WorkPiece

_PERFORMER = "workbench.study.fit_cell"
_REPORT_S = 0.1  # as often as a worker reports
_LOOK_AGAIN_S = 0.5  # chosen: a figure of the cells so far is redrawn twice a second


def run(
    plan: StudyPlan,
    database: str | Path,
    *,
    workers: int | None = None,
    cluster: Any = None,
    task: Task | None = None,
) -> StudyResult:
    """Fit every cell of a plan and return the results.

    Each cell is a study of its own in the database, so the run may be stopped or killed at any
    time: a restart continues from the last trial of each, exactly as if nothing had
    happened. Cells that are done are only read. A cell that another process runs is left to it
    and looked at once more at the end: several machines may run one plan on one database.

    Args:
        plan: what to fit.
        database: SQLite file, made where there is none, or the address of a PostgreSQL database.
        workers: processes; None takes one a core. With 1 the cells are fitted in this process, one
            after the other.
        cluster: a ``dask.distributed.Client`` whose workers fit the cells instead; see
            ``workbench.workers.cluster``.
        task: gets a ``StudyStatus`` at most ten times a second and once at the end; once it is
            stopped, the run ends with the study so far, within about a second.

    Returns:
        The study so far, or as it ended; a cell that cannot be fitted is in it as ``failed``.

    Raises:
        ParameterError: ``workers`` is not a positive whole number, or comes with a cluster.
        StudyError: the database cannot be used, or no process can be started.
    """
    task = task_of(task)
    board = Board(plan, database, task)
    task.partial_from(board.result)
    executor = choose_executor(workers, cluster)
    locate(board.database).prepare()
    board.refresh()
    work = PiecedWork(_PERFORMER, board.database, board.note, board.stored)
    do_pieces(work, board.pieces(), executor, task)
    return board.finish()


class Board:
    """The state of each cell while a study runs; any thread may ask for the result so far."""

    def __init__(
        self,
        plan: StudyPlan,
        database: str | Path,
        task: Task,
    ) -> None:
        self.plan = plan
        self.database = database
        self._task = task
        self._cells: dict[Cell, CellProgress] = {}
        self._reported_at = -math.inf
        self._pace = Pace(0)
        self._by_name = {cell.name: cell for cell in plan.cells()}
        self._reading = threading.Lock()
        self._results: dict[Cell, tuple[float, CellProgress, CellResult]] = {}

    def refresh(self) -> None:
        """Read the state of each cell from the database."""
        now = status(self.plan, self.database)
        self._cells = {progress.cell: progress for progress in now.cells}
        self._pace = Pace(now.trials)
        self._report()

    def pieces(self) -> list[WorkPiece]:
        """Return the fits of the unfinished cells.

        Cells that can copy the trials of another come last, when those are likely to be there.
        """
        cells = [cell for cell, progress in self._cells.items() if progress.state != "done"]
        cells.sort(key=lambda cell: bool(find_loss(cell.loss).rises_with))
        return [
            WorkPiece(cell.name, fit_order(cell, self.plan.choice(cell.model), self.plan.trials))
            for cell in cells
        ]

    def stored(self, names: Sequence[str]) -> dict[str, Answer]:
        """Return the trials that are stored of some cells, by name."""
        found = read_progress(self.database, names)
        return {
            name: {"trials": one.trials, "best_loss": one.best_loss}
            for name, one in found.items()
            if one.trials
        }

    def note(self, name: str, answer: Answer) -> None:
        """Record the state of one cell; the count of its stored trials never decreases."""
        before = self._cells[self._by_name[name]]
        trials, best = answer.get("trials", 0), answer.get("best_loss", math.inf)
        if trials < before.trials:
            trials, best = before.trials, before.best_loss
        self._cells[before.cell] = CellProgress(
            before.cell, answer["state"], trials, self.plan.trials, best, answer["message"]
        )
        if time.monotonic() - self._reported_at >= _REPORT_S:
            self._report()

    def finish(self) -> StudyResult:
        """Report the last state and return the result of the study."""
        self._report()
        return self.result(fresh=True)

    def result(self, *, fresh: bool = False) -> StudyResult:
        """Return the study so far; reread changed cells after 0.5 s or, if ``fresh``, at once."""
        with self._reading:
            cells = self._cells or {
                cell: CellProgress(cell, "waiting", 0, self.plan.trials)
                for cell in self.plan.cells()
            }
            return StudyResult(
                self.plan, tuple(self._result(progress, fresh) for progress in [*cells.values()])
            )

    def _result(self, progress: CellProgress, fresh: bool) -> CellResult:
        now = time.monotonic()
        read_at, known, result = self._results.get(
            progress.cell, (-math.inf, None, CellResult(progress.cell, self._choice(progress)))
        )
        if known == progress or not (fresh or now - read_at >= _LOOK_AGAIN_S):
            return result
        result = read_cell(
            progress.cell,
            self._choice(progress),
            self.plan.trials,
            self.database,
            held=progress.state == "running",
        )
        if progress.state == "failed":
            result = dataclasses.replace(result, status="failed", message=progress.message)
        elif progress.message == HELD and result.status == "running":
            result = dataclasses.replace(result, message=HELD)
        self._results[progress.cell] = (now, progress, result)
        return result

    def _choice(self, progress: CellProgress) -> ModelChoice:
        return self.plan.choice(progress.cell.model)

    def _report(self) -> None:
        self._reported_at = time.monotonic()
        now = StudyStatus(self.plan, tuple(self._cells.values()))
        left = sum(c.total - min(c.trials, c.total) for c in now.cells if c.state != "failed")
        eta = self._pace.left_s(now.trials, left)
        now = dataclasses.replace(now, eta_s=eta)
        self._task.report(now.trials, now.total, now.line(), now)
