"""Evaluate a design: run a simulator at its points, in processes, and keep every row.

FILE.yaml names the simulator, its settings, the parameters that vary and the design;
workbench/uq/design_plan.py explains its keys, and datasets/designs has examples. Ctrl-C stops, and
the same command goes on, also after a kill. Several of these commands may share a database, on
PostgreSQL also those of other machines, such as the tasks that srun starts in a Slurm allocation:
each takes rows that no other has.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.cli.output import (
    FAILED,
    SIGNALLED,
    add_json,
    output_folder,
    print_json,
    say,
    slow_import_notice,
)
from workbench.cli.progress import PROGRESS_S, ProgressLine
from workbench.cli.signals import stoppable
from workbench.errors import ParameterError
from workbench.shell.function_options import FunctionOptions

if TYPE_CHECKING:
    from workbench.uq import SimulatorRuns


_EVALUATED = FunctionOptions("workbench.uq.evaluate_design")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of an evaluation."""
    parser.add_argument("plan", metavar="FILE.yaml", help="plan of the design")
    parser.add_argument(
        "--database",
        metavar="FILE_OR_URL",
        help="SQLite file, or postgresql://user@host/database (default: FILE.db)",
    )
    _EVALUATED.add(parser, "workers", "retry_failed")
    parser.add_argument(
        "--show", action="store_true", help="evaluate nothing; show what the database holds"
    )
    parser.add_argument(
        "--save",
        type=output_folder,
        metavar="FOLDER",
        help="write the runs there, as a data package",
    )
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Evaluate the design and return the exit status."""
    with slow_import_notice():
        from workbench import tasks
        from workbench.storage.database import locate
        from workbench.uq import DesignPlan, evaluate_design, read_design
    plan = DesignPlan.from_yaml(Path(arguments.plan))
    if not plan.model:
        raise ParameterError(
            f"{arguments.plan} must name its model; add model: ..., or evaluate a function of your "
            "own from Python",
            key="model",
        )
    database = arguments.database or str(Path(arguments.plan).with_suffix(".db"))
    if arguments.show:
        _print(read_design(plan, database), arguments, locate(database).where)
        return 0
    with stoppable() as stop, ProgressLine(every_s=PROGRESS_S) as line:
        job = tasks.submit(
            evaluate_design,
            plan,
            database,
            **_EVALUATED.given(arguments),
        )
        while not job.wait(PROGRESS_S):
            line.show(job.progress.message)
            if stop.event.is_set():
                job.stop()
        runs = job.result()
    _print(runs, arguments, locate(database).where)
    for failed in runs.all_failed:
        say(f"error: {failed}")
    if stop.number:
        done = plan.row_count - runs.pending
        say(
            f"stopped with {done} of {plan.row_count} rows in {locate(database).where}: the same "
            "command continues from there"
        )
        return SIGNALLED + stop.number
    if runs.pending:
        say(f"note: {runs.pending} rows are not there; run by another process, or lost with theirs")
    return FAILED if runs.all_failed else 0


def _print(runs: SimulatorRuns, arguments: argparse.Namespace, database: str) -> None:
    if arguments.save is not None:
        runs.save(arguments.save)
    error = _holdout_error(runs)
    if not arguments.json:
        print(runs)
        if error is not None:
            worst, test = error
            print(
                f"a surrogate of these runs is at most {100 * worst:.2g} % off at the hold-out "
                f"points, in {test}"
            )
        return
    summary: dict[str, Any] = {
        "name": arguments.plan if runs.plan is None else runs.plan.name,
        "database": database,
        "origin": runs.provenance.origin,
        "model": runs.provenance.title,
        "parameters": runs.box.names,
        "tests": runs.tests,
        "runs": len(runs.points),
        "holdout": 0 if runs.holdout is None else len(runs.holdout.points),
        "failed": runs.all_failed,
        "pending": runs.pending,
        "saved": arguments.save,
        "largest_error": None if error is None else error[0],
    }
    print_json(summary)


def _holdout_error(runs: SimulatorRuns) -> tuple[float, str] | None:
    """Return the largest error of a surrogate and its test; None where it cannot be judged."""
    if runs.pending or runs.holdout is None or not len(runs.holdout.points):
        return None
    try:
        errors = runs.holdout_error(runs.surrogate()).maximum
    except ParameterError:  # too few runs for a surrogate
        return None
    return float(errors.max()), runs.tests[int(errors.argmax())]
