"""The runs of a design, kept in a database: on all cores or a cluster, stopped and resumed.

    plan = DesignPlan.from_yaml("plan.yaml")
    runs = evaluate_design(plan, "runs.db")
    runs.surrogate()

A simulator of one's own is a function of points, float64[n, parameters], that returns times,
float64[n, tests]:

    plan = DesignPlan("mine", box, 64)
    runs = evaluate_design(plan, "runs.db", model=simulate, tests=["small", "large"])

Several processes may evaluate one plan in one database, such as the tasks of a Slurm allocation:
each takes rows that no other has.
"""

from __future__ import annotations

import dataclasses
import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from workbench.arrays import FloatArray
from workbench.errors import ParameterError, StudyError, StudyHeldError, WorkbenchError
from workbench.provenance import Provenance
from workbench.storage.row_table import RowTable, StoredRow
from workbench.tasks import Task, task_of
from workbench.uq.design_plan import DesignPlan
from workbench.uq.parameters import ParameterBox
from workbench.uq.runs import SimulatorRuns
from workbench.workers.run import Pace, choose_executor, do_pieces
from workbench.workers.work import HELD, Answer, PiecedWork, WorkPiece, ended

SimulatorFunction = Callable[[FloatArray], ArrayLike]
"""Times in s, float64[n, tests], of points, float64[n, parameters]."""

_PERFORMER = "workbench.uq.evaluation"
_REPORT_S = 0.1  # chosen: a bar that moves ten times a second looks steady


@dataclass(frozen=True)
class DesignProgress:
    """Progress of a design's evaluation.

    Attributes:
        name: of the plan.
        done: rows that were evaluated, failed ones included.
        total: rows of the design and of its hold-out.
        failed: rows that have no times.
        message: about rows that another process evaluates, or of a process that died.
        eta_s: seconds until the last row at the pace so far; nan where there is no pace yet.
    """

    name: str
    done: int
    total: int
    failed: int = 0
    message: str = ""
    eta_s: float = math.nan

    def line(self) -> str:
        """Return one line for people, e.g. ``120 of 356 rows, 2 failed, 12 s to go``."""
        parts = [f"{self.done} of {self.total} rows"]
        parts += [f"{self.failed} failed"] if self.failed else []
        if math.isfinite(self.eta_s) and self.done < self.total:
            parts.append(f"{self.eta_s:.0f} s to go")
        return ", ".join(parts)


def evaluate_design(
    plan: DesignPlan,
    database: str | Path,
    *,
    model: SimulatorFunction | None = None,
    tests: Sequence[str] | None = None,
    workers: int | None = None,
    cluster: Any = None,
    retry_failed: bool = False,
    task: Task | None = None,
) -> SimulatorRuns:
    """Return the times of a simulator at the points of a design and of its hold-out.

    Each call of the simulator takes ``plan.rows_at_once`` points, and its times are in the database
    before they are reported: the evaluation may be stopped or killed at any time, and the same
    call goes on with the rows that are not there. Rows that another process evaluates are left to
    it, and looked at once more at the end. A row at which the simulator raises an error, or gives
    a time that is not above 0 and finite, is stored with the reason and left out of the runs.
    Before rows are added to those of a named model, one of these is evaluated again: rows of
    another release must have the same digits.

    Args:
        plan: what is run where.
        database: SQLite file, made where there is none, or the address of a PostgreSQL database.
        model: the simulator, where the plan names none. A row must not depend on the others of a
            call. It is not recognised when rows are resumed: another function takes another name
            of the plan.
        tests: labels of the columns of its times.
        workers: processes; None takes one a core. A ``model`` of one's own gets threads instead,
            and its compiled parts must release the interpreter lock. With 1 the rows are evaluated
            in this thread.
        cluster: a ``dask.distributed.Client`` whose workers evaluate the rows instead; see
            ``workbench.workers.cluster``.
        retry_failed: evaluate rows that failed before again.
        task: gets a ``DesignProgress`` at most ten times a second and once at the end; once it is
            stopped, the rows so far are returned, after the calls in flight.

    Returns:
        The runs, or those so far; ``pending`` of them are missing.

    Raises:
        ParameterError: an argument is not accepted, or there is no model.
        StudyError: the database cannot be used, or holds rows of that name of another problem or
            with other digits.
    """
    labels = _tests_of(plan, model, tests)
    executor = choose_executor(workers, cluster, threads=model is not None)
    table = RowTable(database, "design")
    table.prepare(plan.name, plan.problem(labels))
    task = task_of(task)
    task.partial_from(lambda: read_design(plan, database, tests=tests))
    board = _Board(plan, table, task)
    order: dict[str, Any] = {"plan": plan.to_dict(), "tests": list(labels)}
    order |= {"retry": bool(retry_failed)} | ({} if model is None else {"model": model})
    pieces = [
        WorkPiece(_piece_name(plan, first, end), {**order, "first": first, "end": end})
        for first, end in board.missing(retry_failed)
    ]
    if pieces and model is None:
        board.check_digits(labels, table.database.where)
    work = PiecedWork(_PERFORMER, database, board.note)
    with table.kept_open():
        do_pieces(work, pieces, executor, task)
    board.report()
    return _runs(plan, labels, table, board.lost)


def read_design(
    plan: DesignPlan, database: str | Path, *, tests: Sequence[str] | None = None
) -> SimulatorRuns:
    """Return the runs of a plan that a database holds; nothing is evaluated.

    Args:
        plan: what is run where.
        database: an SQLite file or a PostgreSQL address; one that is not there holds no runs.
        tests: labels of the columns of times, where the plan names no model.

    Raises:
        StudyError: the database cannot be read, or holds rows of that name of another problem.
    """
    labels = tuple(map(str, tests)) if tests is not None else plan.tests
    table = RowTable(database, "design")
    table.check(plan.name, plan.problem(labels))
    return _runs(plan, labels, table, {})


def perform(order: Mapping[str, Any], database: str, task: Task) -> Answer:
    """Evaluate the rows of an order that are not stored yet; see ``workbench.workers``."""
    first, end = order["first"], order["end"]
    table = RowTable(database, "design")
    try:
        plan = _plan_of(json.dumps(order["plan"]))
        with table.database.hold(_piece_name(plan, first, end)):
            rows = table.read(plan.name, first, end)
            wanted = [
                number
                for number in range(first, end)
                if number not in rows or (order["retry"] and rows[number].message)
            ]
            if wanted:
                function = order.get("model", plan.times)
                fresh = _evaluated(function, plan, wanted, order["tests"])
                table.write(plan.name, fresh)
                rows |= {row.number: row for row in fresh}
    except StudyHeldError:
        return {**ended("running", HELD), "first": first, "end": end}
    except WorkbenchError as error:
        return ended("failed", str(error))
    return {
        **ended("done"),
        "first": first,
        "end": end,
        "failed": [row.number for row in rows.values() if row.message],
    }


def _evaluated(
    function: SimulatorFunction, plan: DesignPlan, numbers: Sequence[int], tests: Sequence[str]
) -> list[StoredRow]:
    """Return rows as the simulator gives them; where it fails for several, one by one."""
    points = plan.rows[np.array(numbers)]
    try:
        times = np.asarray(function(points), np.float64)
        if times.shape != (len(numbers), len(tests)):
            raise ParameterError(
                f"the simulator must return times of shape {(len(numbers), len(tests))}, a row a "
                f"point and a column a test; got {times.shape}"
            )
    # Whatever a simulator raises is the reason why its row has no times.
    except Exception as error:
        if len(numbers) > 1:
            return [row for one in numbers for row in _evaluated(function, plan, [one], tests)]
        named = "" if isinstance(error, WorkbenchError) else f"{type(error).__name__}: "
        message = f"{named}{' '.join(str(error).split())}"
        return [StoredRow([], numbers[0], "failed", message=message)]
    return [
        StoredRow([], number, "failed", message=message)
        if (message := _complaint(row, tests))
        else StoredRow(row.tolist(), number)
        for number, row in zip(numbers, times, strict=True)
    ]


def _complaint(row: FloatArray, tests: Sequence[str]) -> str:
    """Return a sentence on the first time that is not above 0 and finite; empty if all are."""
    bad = np.flatnonzero(~((row > 0) & np.isfinite(row)))
    if not len(bad):
        return ""
    return f"the time of {tests[bad[0]]} must be above 0 s and finite; got {row[bad[0]]:g}"


class _Board:
    """The rows of a design while they are evaluated."""

    def __init__(
        self,
        plan: DesignPlan,
        table: RowTable,
        task: Task,
    ) -> None:
        stored = table.read(plan.name, 0, plan.row_count)
        self._plan, self._task = plan, task
        self._known = np.zeros(plan.row_count, np.bool_)
        self._failed = np.zeros(plan.row_count, np.bool_)
        self._known[[*stored]] = True
        self._failed[[row.number for row in stored.values() if row.message]] = True
        self._good = next((row for row in stored.values() if not row.message), None)
        self._pace = Pace(int(self._known.sum()))
        self._message = ""
        self._reported_at = -math.inf
        self.lost: dict[str, str] = {}
        self.report()

    def missing(self, retry: bool) -> list[tuple[int, int]]:
        """Return first and end of each call of the simulator that has rows to evaluate."""
        wanted, step = ~self._known | (retry & self._failed), self._plan.rows_at_once
        starts = range(0, len(wanted), step)
        ranges = [(first, min(first + step, len(wanted))) for first in starts]
        return [(first, end) for first, end in ranges if wanted[first:end].any()]

    def check_digits(self, tests: Sequence[str], where: str) -> None:
        """Refuse to add to stored rows if this release computes the first of them differently."""
        if self._good is None:
            return
        (now,) = _evaluated(self._plan.times, self._plan, [self._good.number], tests)
        if now != self._good:
            raise StudyError(
                f"{where} holds rows of {self._plan.name!r} that this release computes "
                f"differently (run {now.number}: {self._good.content[0]!r} s, now "
                f"{now.message or repr(now.content[0])}); choose another name or database"
            )

    def note(self, name: str, answer: Answer) -> None:
        """Record what came of a call."""
        self._message = str(answer["message"])
        self.lost.pop(name, None)
        if answer["state"] == "done":
            self._known[answer["first"] : answer["end"]] = True
            self._failed[answer["first"] : answer["end"]] = False
            self._failed[answer["failed"]] = True
        elif answer["state"] == "failed":
            self.lost[name] = self._message
        if time.monotonic() - self._reported_at >= _REPORT_S:
            self.report()

    def report(self) -> None:
        """Tell how many rows are evaluated."""
        self._reported_at = time.monotonic()
        done, total = int(self._known.sum()), len(self._known)
        eta = self._pace.left_s(done, total - done)
        failed = int(self._failed.sum())
        now = DesignProgress(self._plan.name, done, total, failed, self._message, eta)
        self._task.report(done, total, now.line(), now)


def _tests_of(
    plan: DesignPlan, model: SimulatorFunction | None, tests: Sequence[str] | None
) -> tuple[str, ...]:
    """Return the labels of the tests; a plan's model has its own, a function needs some."""
    if model is None and plan.simulator is None:
        raise ParameterError(
            f"the plan {plan.name!r} names no model, so the simulator must be given: model=..., "
            "tests=[...]",
            key="model",
        )
    if (model is None) != (tests is None) or (model is not None and plan.simulator is not None):
        raise ParameterError(
            "model and tests must be given together, with a plan that names no model; got "
            f"{'a' if model is not None else 'no'} model, "
            f"{'tests' if tests is not None else 'no tests'}, and a plan that names "
            f"{plan.model or 'none'}",
            key="model" if plan.simulator is not None else "tests",
        )
    labels = plan.tests if tests is None else tuple(map(str, tests))
    if not labels or len(set(labels)) < len(labels):
        raise ParameterError(
            f"tests must be one label or more, each once; got {', '.join(labels) or 'none'}",
            key="tests",
        )
    return labels


def _runs(
    plan: DesignPlan, tests: tuple[str, ...], table: RowTable, lost: Mapping[str, str]
) -> SimulatorRuns:
    """Return the stored rows as runs; ``lost`` names pieces of which nothing is stored."""
    stored = table.read(plan.name, 0, plan.row_count)
    about = plan.simulator.about if plan.simulator is not None else "a simulator"
    provenance = Provenance("simulated", about, plan.name)
    rows, parameters = plan.rows, plan.parameters
    sets = {"design": range(len(plan.design)), "holdout": range(len(plan.design), len(rows))}
    found: dict[str, SimulatorRuns] = {}
    for name, numbers in reversed(sets.items()):
        known = [stored[number] for number in numbers if number in stored]
        good = np.array([row.number for row in known if not row.message], np.int64)
        times = np.array([row.content for row in known if not row.message], np.float64)
        failed = tuple(
            f"run {row.number} ({_described(parameters, rows[row.number])}): {row.message}"
            for row in known
            if row.message
        )
        found[name] = SimulatorRuns(
            parameters,
            tests,
            rows[good],
            times.reshape(len(good), len(tests)),
            failed,
            good,
            provenance=provenance,
            pending=len(numbers) - len(known),
        )
    begins = len(plan.name) + 1
    pieces = tuple(f"runs {piece[begins:]}: {reason}" for piece, reason in lost.items())
    return dataclasses.replace(
        found["design"],
        failed=found["design"].failed + pieces,
        holdout=found["holdout"] if plan.holdout else None,
        plan=plan,
        pending=len(rows) - len(stored),
    )


def _described(box: ParameterBox, point: FloatArray) -> str:
    return ", ".join(f"{one.key}={one.text(value)}" for one, value in zip(box, point, strict=True))


def _piece_name(plan: DesignPlan, first: int, end: int) -> str:
    """Return the name that is locked in the database while a call's rows are evaluated."""
    return f"{plan.name} {first} to {end - 1}"


@lru_cache(maxsize=4)
def _plan_of(text: str) -> DesignPlan:
    """Return a plan from the JSON of an order; its model and points are made once a process."""
    return DesignPlan(**json.loads(text))
