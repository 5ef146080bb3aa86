"""Run many fits as one study: machines by losses by targets by models, from a YAML file.

The trials are stored in a database. Ctrl-C stops the study; running the same
command again continues the study, also after a kill.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING

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
from workbench.shell.function_options import FunctionOptions

if TYPE_CHECKING:
    import pandas as pd

    from workbench.study import StudyPlan, StudyResult, StudyStatus

ABOUT = "run many fits as one study, and show it"

_RUN = FunctionOptions("workbench.study.run")
_TARGETS = (("joint", "latency and bandwidth"), ("latency", "latency"), ("bandwidth", "bandwidth"))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True, dest="action")
    for name, about in (
        ("run", "run the fits that are not finished"),
        ("status", "show the progress of each fit, in whichever process it runs"),
        ("show", "print the errors: loss by machine, for each target"),
    ):
        action = actions.add_parser(name, help=about, description=about)
        action.add_argument("plan", metavar="FILE.yaml", help="plan of the study")
        action.add_argument(
            "--database",
            metavar="FILE_OR_URL",
            help="SQLite file, or postgresql://user@host/database (default: FILE.db)",
        )
        if name == "run":
            _RUN.add(action, "workers")
        if name != "status":
            action.add_argument(
                "--save",
                type=output_folder,
                metavar="FOLDER",
                help="write the result there, as a data package",
            )
        add_json(action)


def run(arguments: argparse.Namespace) -> int:
    """Run the chosen action and return the exit status."""
    with slow_import_notice():
        from workbench import study
    plan = study.StudyPlan.from_yaml(Path(arguments.plan))
    database = arguments.database or str(Path(arguments.plan).with_suffix(".db"))
    if arguments.action == "run":
        return _run(plan, database, arguments)
    if arguments.action == "status":
        _print_status(study.status(plan, database), database, json=arguments.json)
        return 0
    result = study.StudyResult.read(plan, database)
    _print_result(result, arguments)
    return 0


def _run(plan: StudyPlan, database: str, arguments: argparse.Namespace) -> int:
    from workbench import study, tasks

    with stoppable() as stop, ProgressLine() as line:
        job = tasks.submit(study.run, plan, database, **_RUN.given(arguments))
        while not job.wait(PROGRESS_S):
            line.show(job.progress.message)
            if stop.event.is_set():
                job.stop()
        result = job.result()
    _print_result(result, arguments)
    for cell in result:
        if cell.status == "failed":
            say(f"error: {cell.cell.name}: {' '.join(cell.message.split())}")
    if stop.number:
        done = sum(cell.status == "done" for cell in result)
        say(
            f"stopped with {done} of {len(result)} cells done, {result.trials} trials stored in "
            f"{database}: the same command continues from there"
        )
        return SIGNALLED + stop.number
    for cell in result:
        if cell.status == "running":
            say(f"note: {cell.cell.name}: {cell.message}")
    return FAILED if any(cell.status == "failed" for cell in result) else 0


def _print_status(status: StudyStatus, database: str, *, json: bool) -> None:
    if json:
        cells = status.to_frame().to_dict("records")
        print_json({**status.to_dict(), "database": _shown(database), "by_cell": cells})
        return
    print(f"{status.plan!r} in {_shown(database)}\n{status.line()}")
    width = max(len(progress.cell.name) for progress in status.cells)
    for progress in status.cells:
        best = f"best loss {progress.best_loss:.4g}" if math.isfinite(progress.best_loss) else ""
        counted = f"{progress.trials:>6} of {progress.total}"
        print(f"  {progress.cell.name:<{width}}  {progress.state:<8}{counted}  {best}".rstrip())


def _print_result(result: StudyResult, arguments: argparse.Namespace) -> None:
    if arguments.save is not None:
        result.save(arguments.save)
    if arguments.json:
        print_json(result.to_dict())
        return
    print(repr(result))
    for error, what in _TARGETS:
        for caption, table in result.tables(error).items():
            fitted = f", fitted to {caption}" if caption else ""
            print(f"\nRMSPE of {what} in percent{fitted}\n{_text(table)}")


def _text(table: pd.DataFrame) -> str:
    """Return a table of errors with one decimal, an empty place where there is none."""
    head: list[str] = [str(table.index.name), *map(str, table.columns)]
    rows = [
        [str(name), *("" if math.isnan(n) else f"{n:.1f}" for n in numbers)]
        for name, numbers in zip(table.index, table.to_numpy(float).tolist(), strict=True)
    ]
    widths = [max(len(row[at]) for row in [head, *rows]) for at in range(len(head))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if at == 0 else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in [head, *rows]
    )


def _shown(database: str) -> str:
    from workbench.storage.database import locate

    return locate(database).where
