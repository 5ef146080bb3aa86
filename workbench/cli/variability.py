"""Say why one run is slower than another.

workbench variability blame --runs runs.csv --jobs jobs.csv
workbench variability blame --runs runs.csv --jobs sacct.txt --zone America/Los_Angeles --json
workbench variability blame --runs runs.csv --jobs sacct.txt --job-columns user=Account

RUNS has a row per run of one program with the columns run, start, end and time_s (without it, from
start to end). JOBS has a row per job of any user with the columns job, user, nodes, start and end,
or is what sacct prints with the columns JobID, User, NNodes, Start and End. Times are seconds or
dates such as 2019-01-31T08:15:00. A job with the name of a run is that run itself.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from types import ModuleType
from typing import TYPE_CHECKING, Any

from workbench.cli import (
    variability_deviation,
    variability_forecast,
    variability_forecast_studies,
    variability_generate,
    variability_record,
    variability_report,
    variability_score,
    variability_stalls,
)
from workbench.cli.output import add_columns, add_json, print_json, say
from workbench.shell.function_options import FunctionOptions
from workbench.shell.parser import Action, add_actions

if TYPE_CHECKING:
    from workbench.variability import Blame


ABOUT = "say why one run is slower than another, and forecast the next steps"

_RUNS = FunctionOptions("workbench.variability.read_runs")
_JOBS = FunctionOptions("workbench.variability.read_jobs")
_BLAMED = FunctionOptions("workbench.variability.blame")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the actions."""
    about = "order users by how much longer runs take beside their jobs, with p-values"
    actions: dict[str, Action | ModuleType] = {
        "blame": Action(about, _add_blame, _blame),
        "record": variability_record,
        "generate": variability_generate,
        "deviation": variability_deviation,
        "forecast": variability_forecast,
        "report": variability_report,
        "score": variability_score,
        "stalls": variability_stalls,
        **variability_forecast_studies.ACTIONS,
    }
    add_actions(parser, actions, formatter_class=argparse.RawDescriptionHelpFormatter)


def _add_blame(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--runs", required=True, metavar="RUNS", help="table of runs")
    parser.add_argument("--jobs", required=True, metavar="JOBS", help="table of all users' jobs")
    add_columns(parser, "runs", "jobs")
    _BLAMED.add(parser, "least_nodes")
    _BLAMED.add(
        parser,
        "during_all",
        option="--any-overlap",
        help="take a user for present beside any part of a run, not only during all of it",
    )
    _BLAMED.add(parser, "trend", "tau")
    _RUNS.add(parser, "zone")
    _JOBS.add(parser, "offset_s")
    _BLAMED.add(parser, "permutations", "seed")
    add_json(parser)


def _blame(arguments: argparse.Namespace) -> int:
    from workbench.variability import blame, read_jobs, read_runs, table_gaps

    zone = _RUNS.given(arguments)
    runs = read_runs(arguments.runs, columns=arguments.runs_columns, **zone)
    of_jobs = zone | _JOBS.given(arguments)
    jobs = read_jobs(arguments.jobs, columns=arguments.jobs_columns, **of_jobs)
    found = blame(runs, jobs, **_BLAMED.given(arguments))
    found = replace(found, notes=(*found.notes, *table_gaps(runs, jobs)))
    for note in found.notes:
        say(f"note: {note}")
    if arguments.json:
        print_json(_summary(found))
    else:
        from workbench.plotting import describe_blame

        print(found.to_frame().to_string(index=False, float_format="{:.3g}".format))
        print(describe_blame(found))
    return 0


def _summary(found: Blame) -> dict[str, Any]:
    """Return a row a user, the most to blame first; users always together have the same figures."""
    from workbench.variability.blame import RECOMMENDED

    rows = []
    for at, together in enumerate(found.users):
        methods = {
            method: {
                "score": float(found.score[row, at]),
                "slower_percent": _or_none(100 * float(found.slowdown[row, at])),
                "p": float(found.p[row, at]),
                "p_adjusted": float(found.p_adjusted[row, at]),
            }
            for row, method in enumerate(found.methods)
        }
        rows += [
            {
                "user": user,
                "always_with": [other for other in together if other != user],
                "runs_beside": int(found.present[at]),
                "recommended": {"method": RECOMMENDED, **methods[RECOMMENDED]},
                "methods": methods,
            }
            for user in together
        ]
    return {
        "runs": found.runs,
        "least_nodes": found.least_nodes,
        "exposure": found.exposure,
        "tau": found.tau,
        "trend_removed": found.trend_removed,
        "trend": found.trend.tolist(),
        "blamed": list(found.blamed),
        "others": found.others,
        "permutations": found.permutations,
        "seed": found.seed,
        "notes": list(found.notes),
        "users": rows,
    }


def _or_none(value: float) -> float | None:
    return value if value == value else None
