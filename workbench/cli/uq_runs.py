"""Calibrate a simulator of your own by its runs, and predict by further ones.

workbench uq calibrate-runs runs.csv replicas.csv --store found.json --next draws.csv
workbench uq predict-runs found.json larger.csv

workbench uq design writes the points at which to run the simulator. runs.csv has these columns, a
column a parameter, and one of times in s for each test. replicas.csv has a row a measured time with
the columns test and time_s, and may have nodes, bytes and others that hold a number a test. --next
writes draws of the posterior: run larger tests there, and add a column of times for each.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.cli.output import (
    SIGNALLED,
    add_json,
    in_options,
    output_file,
    print_json,
    say,
)
from workbench.cli.progress import ProgressLine
from workbench.cli.signals import stoppable
from workbench.cli.uq_design import FORM, parameter_of
from workbench.errors import ParameterError
from workbench.shell.function_options import FunctionOptions

if TYPE_CHECKING:
    from workbench.tasks import Progress
    from workbench.uq import CalibratedRuns

_CALIBRATED = FunctionOptions("workbench.uq.calibrate_runs")
_IN_SHELL = {"resume": "--resume", "draws": "--draws"}


def add_calibrate(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of a calibration."""
    parser.add_argument(
        "runs", metavar="RUNS.csv", help="runs, or a folder of workbench uq evaluate --save"
    )
    parser.add_argument("replicas", metavar="REPLICAS.csv", help="measured times, a row each")
    parser.add_argument(
        "--parameter",
        action="append",
        default=[],
        metavar=FORM,
        help="bounds and prior of a parameter (default: the range of the runs, uniform)",
    )
    _CALIBRATED.add(parser, "noise", "draws", "seed")
    parser.add_argument(
        "--remove-outliers",
        action="store_true",
        help="leave out times far above the others of their test: three interquartile ranges above "
        "the upper quartile",
    )
    parser.add_argument(
        "--store",
        required=True,
        type=output_file(".json"),
        metavar="FILE.json",
        help="where the posterior is kept",
    )
    parser.add_argument(
        "--resume", action="store_true", help="go on with what a stop left in --store"
    )
    parser.add_argument(
        "--next",
        type=output_file(".csv"),
        metavar="FILE.csv",
        help="write draws at which to run larger tests",
    )
    parser.add_argument(
        "--count", type=int, metavar="N", default=100, help="draws of --next (default 100)"
    )
    add_json(parser)


def add_predict(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of a prediction."""
    parser.add_argument("file", metavar="FILE.json", help="what calibrate-runs has kept")
    parser.add_argument(
        "runs", metavar="RUNS.csv", help="the draws of --next with a column of times for each test"
    )
    parser.add_argument("--seed", type=int, metavar="N", default=0, help="(default 0)")
    add_json(parser)


def calibrate(arguments: argparse.Namespace) -> int:
    """Run the chains, keep the posterior, and return the exit status."""
    from workbench.atomic_write import atomic_write
    from workbench.tasks import Task
    from workbench.uq import CalibratedRuns, calibrate_runs, read_replicas, runs_for

    replicas = read_replicas(arguments.replicas)
    if arguments.remove_outliers:
        every, replicas = len(replicas.values), replicas.without_outliers()
        say(f"note: {every - len(replicas.values)} outliers were removed")
    runs = runs_for(arguments.runs, replicas, [parameter_of(one) for one in arguments.parameter])
    options, store = _CALIBRATED.given(arguments), Path(arguments.store)
    if arguments.resume:
        if not store.exists():
            raise ParameterError(
                f"--resume goes on with a stored calibration, but {store} does not exist; leave "
                "--resume out to begin one",
                key="resume",
            )
        options["resume"] = CalibratedRuns.load(store)
    with stoppable() as stop, ProgressLine(every_s=0.2) as line:

        def note(now: Progress) -> None:
            line.show(now.message)

        found = calibrate_runs(runs, replicas, **options, task=Task(note, stop.event))
    posterior = found.posterior
    if not posterior.draws:
        say(f"stopped before the first draw; {store} is left as it was")
        return SIGNALLED + stop.number
    found.save(store)
    if arguments.next is not None:
        with atomic_write(Path(arguments.next)) as part:
            found.to_run(arguments.count, posterior.seed).to_csv(part, index=False)
    for text in (*found.notes, *found.warnings):
        say(f"note: {in_options(text, _IN_SHELL)}")
    if arguments.json:
        print_json(_summary(found, str(store)))
    else:
        print(posterior.summary().round(6).to_string(index=False))
        print(in_options(posterior.verdict, _IN_SHELL))
    return SIGNALLED + stop.number if stop.number else 0


def predict(arguments: argparse.Namespace) -> int:
    """Print intervals of the tests of a table, and return the exit status."""
    from workbench.uq import CalibratedRuns

    found = CalibratedRuns.load(Path(arguments.file))
    predicted = found.predict(arguments.runs, seed=arguments.seed)
    for text in found.warnings:
        say(f"note: in the calibration: {in_options(text, _IN_SHELL)}")
    say(
        "note: congestion and other effects that the calibrated tests do not show are not in the "
        "intervals (Wilke et al., section 7)"
    )
    if arguments.json:
        print_json({"predictions": predicted.to_frame().to_dict("records")})
    else:
        print(predicted.to_frame().to_string(index=False))
    return 0


def _summary(found: CalibratedRuns, store: str) -> dict[str, Any]:
    posterior = found.posterior
    return {
        "store": store,
        "tests": len(posterior.replicas),
        "noise": posterior.noise.name,
        "converged": posterior.converged,
        "verdict": in_options(posterior.verdict, _IN_SHELL),
        "surrogate_error": float(found.surrogate_error.max()),
        "parameters": posterior.summary().to_dict("records"),
    }
