"""Run a study: all its cells, on all cores or a cluster; it can be stopped and resumed.

result = run(plan, "which-loss.db")
job = submit(plan, "which-loss.db")     # in a thread; job.partial is the study so far
"""

from __future__ import annotations

import dataclasses
import math
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from workbench import jobs
from workbench.checks import whole
from workbench.errors import ParameterError
from workbench.fit.losses import find_loss
from workbench.storage.database import locate
from workbench.study.cell import Cell, CellProgress, CellResult
from workbench.study.fit_cell import HELD, fit_cell, read_cell
from workbench.study.model_choice import ModelChoice
from workbench.study.plan import StudyPlan
from workbench.study.processes import Task, fit_in_processes
from workbench.study.result import StudyResult
from workbench.study.status import StudyStatus, status

_REPORT_S = 0.1
_LOOK_AGAIN_S = 0.5


def run(
    plan: StudyPlan,
    database: str | Path,
    *,
    workers: int | None = None,
    cluster: Any = None,
    stop: threading.Event | None = None,
    on_progress: Callable[[StudyStatus], None] | None = None,
) -> StudyResult:
    """Fit every cell of a plan and return the results.

    Each cell is a study of its own in the database, so the run may be stopped or killed at any
    time: a restart continues from the last trial of each, exactly as if nothing had
    happened. Cells that are done are only read. A cell that another process runs is left to it
    and looked at once more at the end: several machines may run one plan on one database.

    Args:
        plan: what to fit.
        database: SQLite file, made where there is none, or the address of a PostgreSQL database.
        workers: processes of this machine; as many as it lends cores to this process where it is
            None, and with 1 the cells are fitted in this process, one after the other.
        cluster: a ``dask.distributed.Client`` whose workers fit the cells instead; see
            ``workbench.study.cluster``.
        stop: once set, the run ends with the study so far, within about a second.
        on_progress: called in this thread, at most ten times a second and once at the end.

    Returns:
        The study so far, or as it ended; a cell that cannot be fitted is in it as ``failed``.

    Raises:
        ParameterError: ``workers`` is not a positive whole number, or comes with a cluster.
        StudyError: the database cannot be used, or no process can be started.
    """
    board = Board(plan, database, on_progress)
    return _run(board, workers, cluster, stop or threading.Event())


def submit(
    plan: StudyPlan,
    database: str | Path,
    *,
    workers: int | None = None,
    cluster: Any = None,
    on_progress: Callable[[StudyStatus], None] | None = None,
) -> jobs.Job[StudyResult]:
    """Run a study as a job: ``job.partial`` is the study so far, ``job.stop()`` ends it early.

    Args:
        plan: what to fit.
        database: as in ``run``.
        workers: as in ``run``.
        cluster: as in ``run``.
        on_progress: as in ``run``; called in the job's thread.
    """

    def work(ctx: jobs.JobContext) -> StudyResult:
        def report(now: StudyStatus) -> None:
            ctx.progress(now.trials, now.total, now.line())
            if on_progress is not None:
                on_progress(now)

        board = Board(plan, database, report)
        ctx.partial_from(board.result)
        return _run(board, workers, cluster, ctx.stop_event)

    return jobs.submit(work)


def _run(board: Board, workers: int | None, cluster: Any, stop: threading.Event) -> StudyResult:
    fit_cells = _cell_executor(board.plan, board.database, workers, cluster, stop)
    locate(board.database).prepare()
    board.refresh()
    fit_cells(board.tasks(), board.note)
    # The process that ran a cell may have stopped meanwhile; its trials are continued here.
    elsewhere = board.tasks(held=True)
    if elsewhere and not stop.is_set():
        fit_cells(elsewhere, board.note)
    return board.finish()


class Board:
    """The state of each cell while a study runs; any thread may ask for the result so far."""

    def __init__(
        self,
        plan: StudyPlan,
        database: str | Path,
        on_progress: Callable[[StudyStatus], None] | None,
    ) -> None:
        self.plan = plan
        self.database = database
        self._tell = on_progress
        self._cells: dict[Cell, CellProgress] = {}
        self._reported_at = -math.inf
        self._began = time.monotonic()
        self._trials_before = 0
        self._paced = False
        self._reading = threading.Lock()
        self._results: dict[Cell, tuple[float, CellProgress, CellResult]] = {}

    def refresh(self) -> None:
        """Read the state of each cell from the database."""
        now = status(self.plan, self.database)
        self._cells = {progress.cell: progress for progress in now.cells}
        self._began, self._trials_before = time.monotonic(), now.trials
        self._report()

    def tasks(self, *, held: bool = False) -> list[Task]:
        """Return the unfinished cells and their models; if ``held``, only those run elsewhere.

        Cells that can copy the trials of another come last, when those are likely to be there.
        """
        cells = [
            cell
            for cell, progress in self._cells.items()
            if (progress.message == HELD if held else progress.state != "done")
        ]
        cells.sort(key=lambda cell: bool(find_loss(cell.loss).rises_with))
        return [(cell, self.plan.choice(cell.model)) for cell in cells]

    def note(self, progress: CellProgress) -> None:
        """Record the state of one cell; the count of its stored trials never decreases."""
        before = self._cells[progress.cell]
        if progress.trials < before.trials:
            progress = dataclasses.replace(
                progress, trials=before.trials, best_loss=before.best_loss
            )
        self._cells[progress.cell] = progress
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
        if self._tell is None:
            return
        self._reported_at = time.monotonic()
        now = StudyStatus(self.plan, tuple(self._cells.values()))
        fresh, elapsed = now.trials - self._trials_before, self._reported_at - self._began
        if fresh and not self._paced:
            # The processes are up: from here on time goes into trials.
            self._paced, fresh = True, 0
            self._began, self._trials_before = self._reported_at, now.trials
        left = sum(c.total - min(c.trials, c.total) for c in now.cells if c.state != "failed")
        eta = left * elapsed / fresh if fresh else math.nan
        self._tell(dataclasses.replace(now, eta_s=eta))


def _cell_executor(
    plan: StudyPlan,
    database: str | Path,
    workers: int | None,
    cluster: Any,
    stop: threading.Event,
) -> Callable[[Sequence[Task], Callable[[CellProgress], None]], None]:
    if cluster is not None:
        if workers is not None:
            raise ParameterError(
                "workers counts processes of this machine; with cluster= leave it out and scale "
                "the cluster",
                key="workers",
            )
        from workbench.study.cluster import fit_on_cluster

        return lambda tasks, note: fit_on_cluster(tasks, plan.trials, database, cluster, stop, note)
    count = jobs.cores() if workers is None else whole(workers, "workers", 1)
    if count > 1:
        return lambda tasks, note: fit_in_processes(tasks, plan.trials, database, count, stop, note)

    def one_by_one(tasks: Sequence[Task], note: Callable[[CellProgress], None]) -> None:
        for cell, choice in tasks:
            if stop.is_set():
                break
            note(fit_cell(cell, choice, plan.trials, database, stop, note))

    return one_by_one
