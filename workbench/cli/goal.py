"""Convert, check and count GOAL files: execution graphs as text or as LogGOPSim's binary.

    workbench goal convert halo.goal halo.bin
    workbench goal from-trace trace halo.goal --algorithm allreduce=ring
    workbench goal check halo.goal
    workbench goal summary halo.bin --json

The format of a file is recognised from its first bytes, not from its name. ``check`` ends with
status 1 if the program cannot run to its end.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.output import (
    BINARY_SUFFIX,
    FAILED,
    add_json,
    byte_count,
    output_file,
    print_json,
    say,
    slow_import_notice,
)
from workbench.cli.program_options import add_algorithm, graph_of

if TYPE_CHECKING:
    from workbench.programs.graph import ExecutionGraph

ABOUT = "convert, check and count GOAL files"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True, dest="action")
    for name, about in (
        ("convert", "write a GOAL file as text, or as LogGOPSim's binary"),
        ("from-trace", "write a trace, or a shipped program, as GOAL"),
        ("check", "check for circular waits, wrong peers, and messages without a match"),
        ("summary", "count ranks, operations, bytes and dependencies"),
    ):
        action = actions.add_parser(name, help=about, description=about)
        if name == "from-trace":
            action.add_argument(
                "file",
                metavar="TRACE",
                help="a trace's folder or first file, or a shipped program's name such as cg-8",
            )
            add_algorithm(action)
        else:
            action.add_argument("file", metavar="FILE", help="GOAL, text or binary")
        if name in ("convert", "from-trace"):
            action.add_argument("out", type=output_file(), metavar="OUT", help="file to write")
            action.add_argument(
                "--to",
                choices=("text", "binary"),
                help=f"format of OUT (default: binary where its name ends in {BINARY_SUFFIX})",
            )
        if name == "check":
            action.add_argument(
                "-S",
                type=byte_count,
                metavar="BYTES",
                help="largest message sent without waiting for its receiver, for circular waits of "
                "larger ones to be errors (default: report the least S at which the program ends)",
            )
        add_json(action)


def run(arguments: argparse.Namespace) -> int:
    """Run the chosen action and return the exit status."""
    if arguments.action == "from-trace":
        return _convert(graph_of(arguments), arguments)
    with slow_import_notice():
        from workbench.programs.goal import read_goal

        graph = read_goal(Path(arguments.file))
    for note in graph.notes:
        say(f"note: {note}")
    if arguments.action == "convert":
        return _convert(graph, arguments)
    if arguments.action == "check":
        return _check(graph, eager_bytes=arguments.S, json=arguments.json)
    summary = graph.summary()
    if arguments.json:
        print_json(summary)
        return 0
    width = max(map(len, summary))
    for name, value in summary.items():
        print(f"{name.replace('_', ' '):<{width}}  {value}")
    return 0


def _convert(graph: ExecutionGraph, arguments: argparse.Namespace) -> int:
    from workbench.programs.goal import write_goal

    out = Path(arguments.out)
    form = arguments.to or ("binary" if out.suffix == BINARY_SUFFIX else "text")
    write_goal(graph, out, binary=form == "binary")
    if arguments.json:
        print_json({"file": str(out), "format": form, "operations": graph.num_ops})
    else:
        print(f"{out}: {form}, {graph.num_ranks} ranks, {graph.num_ops} operations")
    return 0


def _check(graph: ExecutionGraph, *, eager_bytes: int | None, json: bool) -> int:
    problems = graph.check(eager_bytes=eager_bytes)
    counts = {
        f"{severity}s": sum(p.count for p in problems if p.severity == severity)
        for severity in ("error", "warning", "note")
    }
    if json:
        print_json({**counts, "problems": [asdict(problem) for problem in problems]})
    else:
        for problem in problems:
            print(problem)
        print(", ".join(f"{count} {name}" for name, count in counts.items()))
    return FAILED if counts["errors"] else 0
