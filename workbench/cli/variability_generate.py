"""Make up runs beside other users' jobs on a dragonfly, with what slowed them down.

workbench variability generate --preset small --application milc-128 --runs 200 --output world
workbench variability blame --runs world/runs.csv --jobs world/jobs.csv

FOLDER gets runs.csv (run, start, end, time_s), jobs.csv with sacct's columns, steps.csv (run, step,
time_s and counters), placement.csv, routines.csv and truth.csv, and datapackage.json, which says
what each column is. Ctrl-C leaves what is done, and the same command goes on.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.cli.output import (
    SIGNALLED,
    add_json,
    given,
    output_folder,
    print_json,
    say,
    slow_import_notice,
)
from workbench.cli.progress import PROGRESS_S, ProgressLine
from workbench.cli.signals import stoppable
from workbench.errors import SimulationHalted
from workbench.shell.function_options import FunctionOptions

if TYPE_CHECKING:
    from workbench.variability.world.world import World

ABOUT = "make up runs beside other users' jobs, with what slowed them down"

_GENERATED = FunctionOptions("workbench.variability.world.world.generate")

# Users slow 8 runs of milc-128 down by 0 to 23 %: by 8 steps within 0.17 points of what all steps
# give (root mean square), in 6 s for 69; by 4 within 0.33 in 3 s, by 16 within 0.09 in 10 s.
_TRUTH_STEPS = 8


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of a world."""
    _GENERATED.add(parser, "preset", "application", "runs", "seed")
    _GENERATED.add(
        parser,
        "interference",
        option="--null",
        help="make a world in which the others' traffic does not slow runs down",
    )
    parser.add_argument(
        "--truth-steps",
        type=int,
        metavar="N",
        default=_TRUTH_STEPS,
        help=f"steps of each run for truth.csv, 0 for all (default {_TRUTH_STEPS})",
    )
    _GENERATED.add(parser, "workers")
    parser.add_argument(
        "--output", required=True, type=output_folder, metavar="FOLDER", help="for the tables"
    )
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Make the world and return the exit status."""
    with slow_import_notice():
        from workbench.tasks import Task
        from workbench.variability.world.pieces import remove_pieces
        from workbench.variability.world.world import generate
    folder = Path(arguments.output)
    with stoppable() as stop, ProgressLine(every_s=PROGRESS_S) as line:
        task = Task(lambda now: line.show(now.message), stop.event)
        common: dict[str, Any] = {"store": folder, "task": task}
        with contextlib.suppress(SimulationHalted):
            world = generate(**_GENERATED.given(arguments), **common)
            if not stop.number:
                known = world.truth(
                    steps=arguments.truth_steps, **given(arguments, "workers"), **common
                )
                world = dataclasses.replace(world, known=known)
        if stop.number:
            say(f"stopped; what is done is in {folder}: the same command continues from there")
            return SIGNALLED + stop.number
    world.save(folder)
    remove_pieces(folder)
    _print(world, arguments)
    return 0


def _print(world: World, arguments: argparse.Namespace) -> None:
    truth = world.known
    if truth is None:
        return
    if arguments.json:
        print_json(
            {
                "output": arguments.output,
                "origin": world.provenance.origin,
                "runs": len(world.runs),
                "jobs": len(world.jobs),
                "time_s": [float(world.runs.time_s.min()), float(world.runs.time_s.max())],
                "culprits": list(truth.culprits),
                "slower_percent": dict(
                    zip(truth.users, (100 * truth.effect).tolist(), strict=True)
                ),
            }
        )
        return
    print(world)
    print(truth.to_frame().to_string(index=False, float_format="{:.2f}".format))
