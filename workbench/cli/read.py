"""Say what files are: tables of benchmarks, topologies, jobs, counters, traces or GOAL.

    workbench read job.out
    workbench read topology.conf sacct.txt --json

Nothing is done with them. Notes say what was assumed, joined or left out. The status is 2 if a file
is nothing that is read, or is broken; the others are read all the same.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.output import add_json, print_json, say
from workbench.errors import ParseError

if TYPE_CHECKING:
    from workbench.reading import Reading, ReadTable

ABOUT = "say what files of measurements, topologies, jobs and programs hold"

_NOT_READ = 2  # argparse's status of wrong words: the other files are printed all the same


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("files", metavar="FILE", nargs="+", help="files, or folders of traces")
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print what each file is and return the exit status."""
    from workbench.measure.read import read

    status = 0
    for file in arguments.files:
        try:
            found = read(Path(file))
        except ParseError as error:
            say(f"error: {' '.join(str(error).split())}")
            status = _NOT_READ
            continue
        if arguments.json:
            print_json(found.to_dict())
        else:
            print("\n".join(_lines(found)))
    return status


def _lines(found: Reading) -> list[str]:
    lines = [f"{found.file}: {found.title}"]
    lines += [f"  {name.replace('_', ' ')}: {value}" for name, value in found.facts.items()]
    for number, table in enumerate(found.tables, start=1):
        lines += [f"  {number}. {_head(table)}", f"     {_range(table)}"]
    lines += [f"  note: {note}" for note in found.notes]
    return lines


def _head(table: ReadTable) -> str:
    told = [f"{n.replace('_', ' ')} {text}" for n, text in table.labels.items() if n != "command"]
    runs = [f"median of {table.runs} runs"] if table.runs > 1 else []
    return ", ".join([table.benchmark, *told, *runs])


def _range(table: ReadTable) -> str:
    from workbench.measure.curve import byte_label

    unit = table.unit.replace("us", "µs")
    values = [value for value in table.values if not math.isnan(value)]
    if not values:
        return "no values"
    first, last = (byte_label(int(table.sizes[at])) for at in (0, -1))
    return (
        f"{len(table.sizes)} sizes, {first} to {last}: {table.values[0]:.6g} to "
        f"{table.values[-1]:.6g} {unit}"
    )
