"""Simulate a collective of an SST/macro configuration, to the digits that SST/macro prints.

FILE is an .ini as SST/macro v11.1 reads it: a torus, a fat tree or a dragonfly of SNAPPR or PISCES
switches, and a benchmark of collectives, one rank a node. node.app1.mode names the collective
(allgather, alltoall, allreduce); sizes go from min_size by factors of four up to max_size, each
coll_iters times. The times are those of one iteration on rank 0, in microseconds. Fat trees that
SST/macro refuses and PISCES packets that it never places run too; the output then states why
SST/macro cannot run it.

    workbench fabric collective --config torus.ini -p node.app1.max_size=8192 --json
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.ini_options import add_ini
from workbench.cli.output import add_json, print_json, say, slow_import_notice
from workbench.cli.signals import run_stoppable

if TYPE_CHECKING:
    from workbench.simulate.fabric.sst import CollectiveTimes

ABOUT = "times of a collective on an SST/macro configuration"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_ini(parser, "SST/macro's .ini of the machine and the benchmark", required=True)
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Simulate, print the times and return the exit status."""
    with slow_import_notice():
        from workbench.simulate.fabric.sst import run_collective
        from workbench.simulate.fabric.sst_configuration import read_configuration

    configuration = read_configuration(Path(arguments.config), dict(arguments.parameters))
    for note in configuration.notes:
        say(f"note: {note}")
    result, status = run_stoppable(lambda halt: run_collective(configuration, halt=halt))
    if result is None:
        return status
    if result.beyond_sstmacro:
        say(f"note: beyond SST/macro v11.1: {result.beyond_sstmacro}")
    if arguments.json:
        print_json({"time_us": result.time_us(), "beyond_sstmacro": result.beyond_sstmacro})
    else:
        print(_table(result))
    return 0


def _table(result: CollectiveTimes) -> str:
    """Return the times in columns like those of the benchmarks."""
    return "\n".join(
        (
            f"# {result.provenance.caption()}",
            f"# {'Size (B)':<10}{'Time (us)':>18}",
            *(f"{size:<12}{time:>18.6f}" for size, time in result.time_us().items()),
        )
    )
