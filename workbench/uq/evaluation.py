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
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from workbench.arrays import FloatArray
from workbench.errors import ParameterError, WorkbenchError
from workbench.provenance import Provenance
from workbench.storage.row_table import RowTable, StoredRow
from workbench.tasks import Task, task_of
from workbench.uq.design_plan import DesignPlan
from workbench.uq.parameters import ParameterBox
from workbench.uq.runs import SimulatorRuns
from workbench.workers.rows import RowWork
from workbench.workers.run import choose_executor
from workbench.workers.work import HELD

SimulatorFunction = Callable[[FloatArray], ArrayLike]
"""Times in s, float64[n, tests], of points, float64[n, parameters]."""


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
        task: gets the number of evaluated rows, failed ones included, after each call; once it is
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
    order: dict[str, Any] = {"plan": plan.to_dict(), "tests": list(labels)}
    order |= {} if model is None else {"model": model}
    work = RowWork(table, __name__)
    rows = range(plan.row_count)
    work.add(plan.name, order, rows, plan.rows_at_once, retry_failed=retry_failed)
    if work.pieces and model is None:
        work.check()
    lost = work.complete("rows", executor, task)
    failed = {name: reason for name, reason in lost.items() if reason != HELD}
    return _runs(plan, labels, table, failed)


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


def compute(order: Mapping[str, Any], numbers: Sequence[int]) -> list[StoredRow]:
    """Evaluate rows of the design of an order; see ``workbench.workers.rows``."""
    plan = _plan_of(json.dumps(order["plan"]))
    return _evaluated(order.get("model", plan.times), plan, numbers, order["tests"])


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


@lru_cache(maxsize=4)
def _plan_of(text: str) -> DesignPlan:
    """Return a plan from the JSON of an order; its model and points are made once a process."""
    return DesignPlan(**json.loads(text))
