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
from workbench.cli.output import add_columns, add_json, given, print_json, say

if TYPE_CHECKING:
    from workbench.variability import Blame

_ANALYSES = {
    "deviation": variability_deviation,
    "forecast": variability_forecast,
    "report": variability_report,
    "score": variability_score,
    "stalls": variability_stalls,
}

ABOUT = "say why one run is slower than another, and forecast the next steps"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True, dest="action")
    about = "order users by how much longer runs take beside their jobs, with p-values"
    blamed = actions.add_parser("blame", help=about, description=about, allow_abbrev=False)
    blamed.add_argument("--runs", required=True, metavar="RUNS", help="table of runs")
    blamed.add_argument("--jobs", required=True, metavar="JOBS", help="table of all users' jobs")
    add_columns(blamed, "runs", "jobs")
    blamed.add_argument(
        "--least-nodes",
        type=int,
        metavar="N",
        help="of a large job, which a user must have beside a run (default 128, or 1 where users "
        "with such jobs hold less than half of what runs beside)",
    )
    blamed.add_argument(
        "--any-overlap",
        action="store_true",
        help="take a user for present beside any part of a run, not only during all of it",
    )
    blamed.add_argument(
        "--zone", metavar="NAME", help="time zone of dates that name none (default UTC)"
    )
    blamed.add_argument(
        "--offset",
        type=float,
        default=0.0,
        metavar="S",
        help="seconds to add to the times of JOBS, whose clock may differ (default 0)",
    )
    blamed.add_argument(
        "--permutations", type=int, metavar="N", help="for the p-values (default 2000)"
    )
    blamed.add_argument("--seed", type=int, metavar="N", help="of the permutations (default 0)")
    add_json(blamed)
    recorded = actions.add_parser(
        "record",
        help=variability_record.ABOUT,
        description=variability_record.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    variability_record.add_arguments(recorded)
    about = "make up runs beside other users' jobs, with what slowed them down"
    made = actions.add_parser("generate", help=about, description=about, allow_abbrev=False)
    variability_generate.add_arguments(made)
    for name, command in _ANALYSES.items():
        analysed = actions.add_parser(
            name,
            help=command.ABOUT,
            description=command.__doc__,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        command.add_arguments(analysed)
    for name, about in variability_forecast_studies.ACTIONS.items():
        studied = actions.add_parser(
            name,
            help=about,
            description=variability_forecast_studies.__doc__,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        variability_forecast_studies.add_arguments(studied, name)


def run(arguments: argparse.Namespace) -> int:
    """Run the chosen action and return the exit status."""
    if arguments.action == "record":
        return variability_record.run(arguments)
    if arguments.action == "generate":
        return variability_generate.run(arguments)
    if arguments.action in _ANALYSES:
        return int(_ANALYSES[arguments.action].run(arguments))
    if arguments.action in variability_forecast_studies.ACTIONS:
        return variability_forecast_studies.run(arguments)
    from workbench.variability import blame, read_jobs, read_runs, table_gaps

    zone = given(arguments, "zone")
    runs = read_runs(arguments.runs, columns=arguments.runs_columns, **zone)
    jobs = read_jobs(
        arguments.jobs, columns=arguments.jobs_columns, offset_s=arguments.offset, **zone
    )
    options = given(arguments, "least_nodes", "permutations", "seed")
    found = blame(runs, jobs, during_all=not arguments.any_overlap, **options)
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
        "permutations": found.permutations,
        "seed": found.seed,
        "notes": list(found.notes),
        "users": rows,
    }


def _or_none(value: float) -> float | None:
    return value if value == value else None
