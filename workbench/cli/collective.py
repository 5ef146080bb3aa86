"""Print a collective as GOAL: the messages of one algorithm between some ranks.

workbench collective allreduce --algorithm ring --ranks 16 --bytes 4096 > ring.goal
workbench collective bcast --algorithm pipeline:8192 --ranks 8 --bytes 1000000 --root 3
workbench collective alltoall --ranks 64 --bytes 512 -o alltoall.bin
workbench collective --list
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.output import (
    BINARY_SUFFIX,
    add_json,
    byte_count,
    output_file,
    print_json,
    say,
)
from workbench.errors import ParameterError
from workbench.shell.function_options import FunctionOptions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from workbench.programs.collectives import Algorithm

ABOUT = "print a collective as GOAL, and list the algorithms"

_SCHEDULED = FunctionOptions("workbench.programs.collectives.schedule")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "operation", nargs="?", metavar="OPERATION", help="collective, such as allreduce"
    )
    _SCHEDULED.add(parser, "algorithm", "ranks", required=False)
    _SCHEDULED.add(parser, "size", option="--bytes", type=byte_count)
    _SCHEDULED.add(parser, "sizes", type=_sizes, metavar="LIST")
    _SCHEDULED.add(parser, "root", metavar="RANK")
    _SCHEDULED.add(parser, "reduce_ns_per_byte", metavar="NS")
    parser.add_argument("--list", action="store_true", help="list the algorithms, of OPERATION")
    parser.add_argument(
        "-o",
        "--output",
        type=output_file(),
        metavar="FILE",
        help="write to FILE instead, in LogGOPSim's binary where its name ends in .bin",
    )
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the collective, or the list, and return the exit status."""
    from workbench.programs.collectives import ALGORITHMS, find_algorithm, schedule

    if arguments.list:
        if arguments.operation is not None:
            find_algorithm(arguments.operation)
        shown = {
            name: algorithms
            for name, algorithms in ALGORITHMS.items()
            if arguments.operation in (None, name)
        }
        _print_list(shown, json=arguments.json)
        return 0
    if arguments.operation is None or arguments.ranks is None:
        raise ParameterError(
            "needs OPERATION and --ranks N, such as allreduce --ranks 16; "
            "workbench collective --list names the operations",
            key="operation" if arguments.operation is None else "ranks",
        )
    options = {"algorithm": None, **_SCHEDULED.given(arguments)}
    plan = schedule(arguments.operation, **options)
    if not plan.num_messages:
        say("note: no messages, as there is nothing to send; set --bytes or --sizes")
    graph = plan.graph()
    if arguments.output is not None:
        from workbench.programs.goal import write_goal

        out = Path(arguments.output)
        write_goal(graph, out, binary=out.suffix == BINARY_SUFFIX)
    if arguments.json:
        print_json(
            {
                "operation": plan.operation,
                "algorithm": plan.algorithm,
                "root": plan.root,
                "messages": plan.num_messages,
                **graph.summary(),
            }
        )
    elif arguments.output is None:
        print(graph.to_goal(), end="")
    return 0


def _print_list(shown: Mapping[str, Mapping[str, Algorithm]], *, json: bool) -> None:
    from workbench.programs.collectives import DEFAULTS

    if json:
        print_json(
            {
                operation: {
                    "default": DEFAULTS[operation],
                    "algorithms": [
                        {
                            "name": one.name,
                            "description": one.description,
                            "reference": one.reference,
                            "parameter": one.parameter or None,
                            "value": one.value if one.parameter else None,
                            "combines_in_order": one.order or None,
                        }
                        for one in algorithms.values()
                    ],
                }
                for operation, algorithms in shown.items()
            }
        )
        return
    width = max(len(one.label) for algorithms in shown.values() for one in algorithms.values())
    for operation, algorithms in shown.items():
        print(operation)
        for one in algorithms.values():
            star = "*" if one.name == DEFAULTS[operation] else " "
            print(f" {star} {one.label:<{width}}  {one.description}")
    print("* default")


def _sizes(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"sizes must be whole numbers of bytes, such as 100,0,250; got {text!r}"
        ) from None
