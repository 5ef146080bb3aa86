"""Where to run a simulator: the points of a design as a table.

workbench uq design --parameter latency:s:1e-7:1e-5:log-uniform --parameter bandwidth:B/s:1e9:4e9
    --points 64 > design.csv

The table has a column for each parameter. Add a column of times for each test, and
workbench.uq.read_runs makes a surrogate of it. Simulators of the workbench are run at the points of
a plan by workbench uq evaluate.
"""

from __future__ import annotations

import argparse
import csv
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.output import add_json, output_file, print_json, say
from workbench.errors import ParameterError
from workbench.shell.function_options import FunctionOptions

if TYPE_CHECKING:
    from workbench.uq import Parameter

_DESIGNED = FunctionOptions("workbench.uq.design")
FORM = "NAME:UNIT:LOW:HIGH[:PRIOR]"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of a design."""
    parser.add_argument(
        "--parameter",
        action="append",
        required=True,
        metavar=FORM,
        help="one for each parameter; the unit may be empty; PRIOR is uniform (default) or "
        "log-uniform, which also spaces the points by the logarithm",
    )
    parser.add_argument(
        "--points",
        type=int,
        required=True,
        metavar="N",
        help="how many; of a grid, along each parameter; with --extend, how many more",
    )
    _DESIGNED.add(parser, "method", "seed")
    parser.add_argument(
        "--extend",
        metavar="FILE.csv",
        help="a sobol design of the same parameters and seed: write the points that follow it",
    )
    parser.add_argument(
        "--output",
        type=output_file(".csv"),
        metavar="FILE.csv",
        help="where to write (default: to stdout)",
    )
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Write the design and return the exit status."""
    import numpy as np

    from workbench.atomic_write import atomic_write
    from workbench.uq import ParameterBox, design
    from workbench.uq.design_plan import column_names
    from workbench.uq.runs import RUN, read_points

    box = ParameterBox(parameter_of(text) for text in arguments.parameter)
    options, first = _DESIGNED.given(arguments), 0
    if arguments.extend is not None:
        if arguments.method not in (None, "sobol"):
            raise ParameterError(
                f"method must be sobol with --extend; a {arguments.method} has no further points",
                key="method",
            )
        before, notes = read_points(arguments.extend, box)
        for note in notes:
            say(f"note: {note}")
        first = len(before)
        options["skip"] = first
        again = design(box, first, **{**options, "skip": 0})
        same = again.shape == before.shape and np.isclose(again, before, rtol=1e-9, atol=0)
        if not np.all(same):
            line = 2 if np.ndim(same) < 2 else 2 + int(np.argmin(np.all(same, axis=1)))
            raise ParameterError(
                f"extend must name a sobol design of the same parameters and seed; line {line} of "
                f"{arguments.extend} is another point; repeat the arguments that made it",
                key="extend",
            )
    points = design(box, arguments.points, **options)
    names = column_names(box)
    if arguments.json:
        print_json({"columns": names, "first": first, "points": points.tolist()})
        return 0
    rows = [[first + at, *map(repr, point)] for at, point in enumerate(points.tolist())]
    if arguments.output is None:
        csv.writer(sys.stdout, lineterminator="\n").writerows([[RUN, *names], *rows])
        return 0
    with atomic_write(Path(arguments.output)) as part, part.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([[RUN, *names], *rows])
    return 0


def parameter_of(text: str) -> Parameter:
    """Return the parameter of an option, or raise ParameterError."""
    from workbench.uq import Parameter

    parts = text.split(":")
    try:
        name, unit, low, high, *prior = parts
        bounds = float(low), float(high)
        if len(prior) > 1:
            raise ValueError
    except ValueError as error:
        raise ParameterError(
            f"parameter must be {FORM}, such as latency:s:1e-7:1e-5:log-uniform; got {text!r}",
            key="parameter",
        ) from error
    fields = {"name": name, "unit": unit, "low": bounds[0], "high": bounds[1]}
    return Parameter.from_dict({**fields, **({"prior": prior[0]} if prior else {})})
