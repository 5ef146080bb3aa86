"""Run all analyses on the runs of one program: blame, deviation, forecasts and what flatters them.

workbench variability report emulated-link
workbench variability report world --save report.json
workbench variability report --runs runs.csv --jobs jobs.csv --steps steps.csv --m 3,8 --k 5,10

DATA is the name of a shipped recording, or a folder that `workbench variability generate` or
`workbench variability record` wrote. Tables of one's own are as for `blame` and `forecast`.
"""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.cli.analysis import run_analysis
from workbench.cli.output import add_columns, add_json, counts, given, output_file, print_json
from workbench.errors import ParameterError

if TYPE_CHECKING:
    from workbench.tasks import Task
    from workbench.variability import VariabilityReport

ABOUT = "run all analyses on the runs of one program"

_TABLES = ("runs", "jobs", "steps")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of a report."""
    parser.add_argument("data", nargs="?", metavar="DATA", help="a recording, or a folder")
    for name in _TABLES:
        parser.add_argument(f"--{name}", metavar="FILE", help=f"table of {name}, in place of DATA")
    add_columns(parser, *_TABLES)
    for name, what in (("m", "seen"), ("k", "forecast")):
        parser.add_argument(
            f"--{name}",
            type=counts,
            default=(),
            metavar="LIST",
            help=f"numbers of steps that are {what} in forecasts of the tables (default: none)",
        )
    parser.add_argument("--seed", type=int, metavar="N", help="of all analyses (default 0)")
    parser.add_argument(
        "--save", type=output_file(".json"), metavar="FILE.json", help="keep the result"
    )
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the analyses and return the exit status."""

    def show(found: VariabilityReport) -> None:
        if arguments.save is not None:
            found.save(arguments.save)
        if arguments.json:
            rows = found.to_frame().to_dict("records")
            print_json({"name": found.name, "origin": found.provenance.origin, "report": rows})
            return
        from workbench.plotting import describe_variability_report

        print(found.to_frame().to_string(index=False))
        print(describe_variability_report(found))

    return run_analysis(partial(_report, arguments), show)


def _report(arguments: argparse.Namespace, *, task: Task) -> VariabilityReport:
    from workbench.variability import known_reports, read_jobs, read_runs, read_steps, report

    files = [getattr(arguments, name) for name in _TABLES]
    if (arguments.data is None) == (None in files) or (arguments.data and any(files)):
        raise ParameterError(
            "either DATA or all of --runs, --jobs and --steps must be given", key="data"
        )
    options: dict[str, Any] = {"task": task, **given(arguments, "seed")}
    if arguments.data is not None:
        return known_reports.report_on(arguments.data, **options)
    runs, jobs, steps = files
    return report(
        Path(runs).stem,
        runs=read_runs(runs, columns=arguments.runs_columns),
        jobs=read_jobs(jobs, columns=arguments.jobs_columns),
        steps=read_steps(steps, columns=arguments.steps_columns),
        m=arguments.m,
        k=arguments.k,
        **options,
    )
