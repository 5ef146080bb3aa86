"""Record a space by running every configuration, to compare searches on it.

workbench tune record open-mpi my-recording --ranks 4 --rounds 5
workbench tune record open-mpi my-recording --rounds 10 --limit 1500
workbench tune record component my-writes dd-write --rounds 10
workbench tune record simulated my-576 --ranks 576
workbench tune record show my-recording
"""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli import tune_component
from workbench.cli.machine_options import add_machine
from workbench.cli.output import FAILED, add_json, given, print_json, say

if TYPE_CHECKING:
    from workbench.tasks import Progress

ABOUT = "run every configuration of a space and keep the runs"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    actions = parser.add_subparsers(
        title="actions", metavar="ACTION", required=True, dest="record_action"
    )
    about = "run Open MPI's collectives on this machine; continues a stopped recording"
    mpi = actions.add_parser("open-mpi", help=about, description=about)
    _add_shared(mpi, "4")
    _add_passes(mpi)
    mpi.add_argument("--most", type=int, metavar="N", help="timed calls at the most (default 500)")
    mpi.add_argument(
        "--budget-ms", type=int, metavar="MS", help="time of the timed calls (default 40)"
    )
    mpi.add_argument("--mpirun", metavar="PATH", help="launcher of Open MPI (default: of the path)")
    mpi.add_argument(
        "--benchmark",
        choices=("C", "mpi4py"),
        help="what calls the collectives (default: C where it compiles)",
    )
    about = "run a component on this machine; continues a stopped recording"
    component = actions.add_parser("component", help=about, description=about)
    component.add_argument("folder", metavar="FOLDER", help="folder of the recording")
    tune_component.add_what(component)
    _add_passes(component)
    component.add_argument(
        "--timeout",
        dest="timeout_s",
        type=float,
        metavar="S",
        help="end a run after S seconds (default 120)",
    )
    add_json(component)
    about = "replay the workbench's own algorithms on a machine's LogGPS parameters"
    own = actions.add_parser("simulated", help=about, description=about)
    _add_shared(own, "12")
    add_machine(own, "the machine (default azure-hb96v3-hdr)")
    about = "describe a recording"
    show = actions.add_parser("show", help=about, description=about)
    show.add_argument("folder", metavar="FOLDER", help="a recording, or the name of a shipped one")
    add_json(show)


def run(arguments: argparse.Namespace) -> int:
    """Run the chosen action and return the exit status."""
    from workbench.tasks import Task

    if arguments.record_action == "show":
        return _show(arguments)
    words = [word for word in sys.argv[1:] if word]
    created_by = shlex.join(["workbench", *words])
    if arguments.record_action == "simulated":
        from workbench.tune.recorded.simulated import record_simulated

        count = record_simulated(
            arguments.folder,
            **given(arguments, "ranks", "collectives", "sizes", "machine"),
            created_by=created_by,
            task=Task(lambda now: say(f"simulated {now.message}")),
        )
        if arguments.json:
            print_json({"folder": arguments.folder, "runs": count})
        else:
            print(f"{count} runs in {arguments.folder}")
        return 0

    def report(now: Progress) -> None:
        if now.done % 20 == 0:
            say(f"{now.done} of {now.total} starts; next {now.message}")

    options = {
        **given(arguments, "rounds", "limit_s"),
        "created_by": created_by,
        "task": Task(report),
    }
    if arguments.record_action == "component":
        from workbench.tune.recorded.record_component import record_component

        options |= given(arguments, "timeout_s")
        component = tune_component.chosen(arguments)
        progress = record_component(arguments.folder, component, **options)
    else:
        from workbench.tune.benchmark import Loop
        from workbench.tune.recorded.record_open_mpi import record_open_mpi

        options |= given(arguments, "ranks", "collectives", "sizes", "mpirun", "benchmark")
        loop = Loop(**given(arguments, "most", "budget_ms"))
        progress = record_open_mpi(arguments.folder, **options, loop=loop)
    if arguments.json:
        print_json({"folder": arguments.folder, **vars(progress)})
    else:
        print(
            f"{progress.started} of {progress.wanted} starts in {arguments.folder}, "
            f"{progress.failed} failed"
        )
    return 0 if progress.whole else FAILED


def _add_passes(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", type=int, metavar="N", help="passes in all (default 5)")
    parser.add_argument(
        "--limit",
        dest="limit_s",
        type=float,
        metavar="S",
        help="start no further run after S seconds (default: none)",
    )


def _add_shared(parser: argparse.ArgumentParser, ranks: str) -> None:
    parser.add_argument("folder", metavar="FOLDER", help="folder of the recording")
    parser.add_argument("--ranks", type=int, metavar="N", help=f"processes (default {ranks})")
    parser.add_argument(
        "--collectives",
        type=lambda text: tuple(text.split(",")),
        metavar="LIST",
        help="collectives, such as allreduce,bcast (default: allreduce,bcast,gather,reduce)",
    )
    parser.add_argument(
        "--sizes",
        type=_sizes,
        metavar="LIST",
        help="message sizes in bytes, such as 4096,65536,1048576",
    )
    add_json(parser)


def _sizes(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"sizes must be whole numbers of bytes, such as 4096,65536; got {text!r}"
        ) from None


def _show(arguments: argparse.Namespace) -> int:
    from workbench.datapackage import DESCRIPTOR
    from workbench.tune.recorded.files import read_recording, shipped_recording

    folder = Path(arguments.folder)
    here = (folder / DESCRIPTOR).is_file()
    recording = read_recording(folder) if here else shipped_recording(arguments.folder)
    if arguments.json:
        print_json(
            {
                name: {
                    "configurations": len(space),
                    "failed": len(space.failed),
                    "repeats": min(map(len, space.values)),
                    "default": space.default_value,
                    "optimum": space.optimum_value,
                    "best": dict(space.optimum),
                    "unit": space.unit,
                    "potential": space.potential,
                    "confirmed_potential": space.confirmed_potential,
                    "noise": space.noise,
                    "ties": len(space.ties()),
                    "exhaustive_s": space.exhaustive_s,
                }
                for name, space in recording.items()
            }
        )
    else:
        print(recording)
        for caveat in recording.caveats:
            say(f"note: {caveat}")
    return 0
