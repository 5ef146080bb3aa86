"""Score methods of blame on generated worlds whose causes are known.

workbench variability score --worlds 20 --store scores --save scores.json

Each world has runs beside other users' jobs, and each run is simulated again without each user: a
user is to blame where runs beside them take 2 % longer than without. Null worlds have the same
users, whose traffic slows nothing down. Ctrl-C scores the worlds so far; with --store the same
command goes on.
"""

from __future__ import annotations

import argparse

from workbench.cli.output import (
    SIGNALLED,
    add_json,
    output_file,
    output_folder,
    print_json,
    say,
    slow_import_notice,
)
from workbench.cli.progress import PROGRESS_S, ProgressLine
from workbench.cli.signals import stoppable
from workbench.errors import SimulationHalted
from workbench.shell.function_options import FunctionOptions

ABOUT = "score methods of blame on generated worlds whose causes are known"

_SCORED = FunctionOptions("workbench.variability.score_worlds")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    _SCORED.add(parser, "worlds", "null", "preset", "application", "runs", "seed", "permutations")
    _SCORED.add(parser, "workers")
    _SCORED.add(parser, "store", type=output_folder, metavar="FOLDER")
    parser.add_argument("--save", type=output_file(".json"), metavar="FILE", help="for all scores")
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Score, print the table and return the exit status."""
    with slow_import_notice():
        from workbench.plotting import describe_blame_scores
        from workbench.tasks import Task
        from workbench.variability import score_worlds
    options = _SCORED.given(arguments)
    with stoppable() as stop, ProgressLine(every_s=PROGRESS_S) as line:
        try:
            task = Task(lambda now: line.show(now.message), stop.event)
            found = score_worlds(**options, task=task)
        except SimulationHalted as error:
            say(str(error))
            return SIGNALLED + stop.number
    if arguments.save:
        found.save(arguments.save)
    rows = found.to_frame()
    if arguments.json:
        print_json(
            {
                "worlds": len(found.auc),
                "null_worlds": len(found.null_least),
                "origin": "synthetic",
                "best": found.best,
                "methods": rows.to_dict("records"),
            }
        )
    else:
        print(rows.to_string(index=False, float_format="{:.3f}".format))
        print(describe_blame_scores(found))
    return SIGNALLED + stop.number if stop.number else 0
