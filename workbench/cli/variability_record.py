"""Record a program over a link that users with secret schedules share, with the truth beside it.

workbench variability record --runs 40 --steps 60 --output recording
workbench variability record --runs 80 --output recording      # goes on: 40 runs more

An MPI program with ranks on both sides of one link of limited rate runs again and again, while five
users send over the link and four do not, all in network namespaces that the command makes and that
end with it. FOLDER gets the tables of runs, jobs, steps and counters, and which user sent how much
when. A run of 60 steps takes about 20 s. Ctrl-C keeps the finished runs; the same command goes on.

It needs root, or a user namespace where the kernel allows them:

    unshare --user --map-root-user workbench variability record --output recording
"""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path

from workbench.cli.output import SIGNALLED, add_json, print_json, say
from workbench.cli.progress import ProgressLine
from workbench.cli.signals import stoppable
from workbench.shell.function_options import FunctionOptions

ABOUT = "record a program on a shared link here, with the causes of its delays known"

_SETTINGS = FunctionOptions("workbench.variability.recording.LinkSettings")
_RECORDED = FunctionOptions("workbench.variability.recording.record_link")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("--runs", type=int, default=40, metavar="N", help="in all (default 40)")
    _SETTINGS.add(parser, "steps")
    parser.add_argument("--output", required=True, metavar="FOLDER", help="folder of the recording")
    _SETTINGS.add(parser, "seed")
    _SETTINGS.add(parser, "rate_Mbps", option="--rate", metavar="MBPS")
    _RECORDED.add(parser, "mpirun", metavar="PATH")
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Record, write the tables, print a summary and return the exit status."""
    from workbench.tasks import Task
    from workbench.variability.recording import LinkSettings, link_tables, record_link

    # Without settings of its own the command goes on with those of the folder's recording.
    chosen = _SETTINGS.given(arguments)
    settings = LinkSettings(**chosen) if chosen else None
    with stoppable() as stop, ProgressLine() as line:
        line.show(f"0 of {arguments.runs} runs")
        recording = record_link(
            arguments.output,
            runs=arguments.runs,
            settings=settings,
            task=Task(lambda now: line.show(now.message), stop.event),
            **_RECORDED.given(arguments),
        )
    status = SIGNALLED + stop.number if stop.number else 0
    if len(recording.runs) < 2:
        say(f"stopped with {len(recording.runs)} finished runs; tables need 2 or more")
        return status
    name = Path(arguments.output).resolve().name
    created_by = shlex.join(["workbench", *sys.argv[1:]])
    tables = link_tables(recording, name, created_by=created_by)
    tables.save(arguments.output)
    if arguments.json:
        values = {"folder": arguments.output, "runs": len(recording.runs)}
        print_json({**values, "wanted": arguments.runs, "crossing": tables.crossing})
    else:
        print(f"{tables!r}\nin {arguments.output}")
    return status
