"""Replay a program on LogGOPS: the finish time of each rank.

FILE is GOAL, as text or LogGOPSim's binary, or a trace: liballprof's (the file of rank 0 or its
folder), SimGrid's time-independent one, Score-P's (traces.otf2 or its folder; needs its package
otf2), or a folder of workbench trace. A trace holds its collectives as calls; --algorithm chooses
how they become messages. Times are in nanoseconds, and a program that cannot run to its end is an
error that shows which operations wait, with status 1.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from workbench.cli.output import SHOWN_RANKS, add_json, print_json, slow_import_notice
from workbench.cli.program_options import add_program, graph_of, model_of
from workbench.cli.signals import run_stoppable
from workbench.shell.function_options import FunctionOptions

if TYPE_CHECKING:
    from workbench.simulate.replay_result import ReplayResult

ABOUT = "replay a program (GOAL or trace) on LogGOPS and print when each rank finishes"

_REPLAYED = FunctionOptions("workbench.simulate.replay.replay")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_program(parser)
    _REPLAYED.add(parser, "semantics", "ties", "compatible")
    parser.add_argument(
        "--waiting",
        action="store_true",
        help="report why ranks waited: late senders and receivers, collectives, messages under "
        "way; and whose work before which calls made them wait",
    )
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Replay, print the ranks' finish times and return the exit status."""
    graph = graph_of(arguments)
    model = model_of(arguments)
    with slow_import_notice():
        from workbench.simulate.replay import replay
    options = _REPLAYED.given(arguments) | {"times": arguments.waiting}
    result, status = run_stoppable(replay, graph, model, **options)
    if result is None:
        return status
    if arguments.json:
        from workbench.facts import facts_json

        values = facts_json(result.facts())
        if arguments.waiting:
            values["waiting"] = result.waiting().to_dict("list")
            values["root_causes"] = result.root_causes().to_dict("records")
        print_json(values)
    else:
        print(_report(result, waiting=arguments.waiting))
    return 0


def _report(result: ReplayResult, *, waiting: bool) -> str:
    """Return a replay as text for people: the ranks' finish times, the slowest of many."""
    finish = dict(enumerate(result.finish_ns))
    ranks = list(finish)
    head = [result.report(), ""]
    if len(ranks) > SHOWN_RANKS:
        ranks = sorted(ranks, key=lambda rank: -finish[rank])[:SHOWN_RANKS]
        head.append(f"the {SHOWN_RANKS} of {len(finish)} ranks that finish last (--json: all)")
    width = max(len(_number(finish[rank])) for rank in ranks)
    rows = [f"rank {rank:<8}{_number(finish[rank]):>{width}} ns" for rank in ranks]
    if waiting:
        rows += ["", *_waiting(result, ranks)]
    return "\n".join([*head, *rows])


def _waiting(result: ReplayResult, ranks: list[int]) -> list[str]:
    """Return the lines of the table of causes, and the sentence about it."""
    from workbench.simulate.root_causes import root_causes_table
    from workbench.simulate.waiting import CAUSES, describe_waiting

    table = result.waiting()
    head = ("waiting, ns", *(cause.replace("_", " ") for cause in CAUSES))
    names = ("waiting_ns", *(f"{cause}_ns" for cause in CAUSES))
    lines = [" " * 13 + "".join(f"{word:>16}" for word in head)]
    for rank in ranks:
        values = (_number(float(table[name].iloc[rank])) for name in names)
        lines.append(f"rank {rank:<8}" + "".join(f"{value:>16}" for value in values))
    lines += [describe_waiting(result), "", "what made ranks wait"]
    rows = root_causes_table(result.root_causes())
    width = max(len(text) for text, _, _ in rows)
    return lines + [f"{text:<{width}}{time:>12}{share:>9}" for text, time, share in rows]


def _number(nanoseconds: float) -> str:
    return f"{nanoseconds:,.3f}".rstrip("0").rstrip(".")
