"""Replay a program on LogGOPS: when does each rank finish?

FILE is GOAL, as text or LogGOPSim's binary, or a trace: liballprof's (the file of rank 0 or its
folder), SimGrid's time-independent one, or a folder of workbench trace. A trace keeps its
collectives whole, so that --algorithm chooses what they become. Times are in nanoseconds, and a
program that cannot run to its end is an error that shows which operations wait, with status 1.
"""

from __future__ import annotations

import argparse
import math
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.cli.output import SIGNALLED, add_json, given, patience, print_json, say
from workbench.cli.stopping import stoppable
from workbench.errors import ParameterError, SimulationHalted

if TYPE_CHECKING:
    from workbench.models import LogGPS
    from workbench.programs import ExecutionGraph
    from workbench.simulate.replay_result import ReplayResult

ABOUT = "replay a program (GOAL or trace) on LogGOPS: when each rank finishes"

DEFAULTS_NS = {"L": 2500.0, "o": 1500.0, "g": 1000.0, "G": 6.0, "O": 0.0}
"""LogGOPSim's own, ns and ns/B."""

DEFAULT_S = 65535
"""LogGOPSim's own, bytes."""

_MEANINGS = {
    "L": "latency",
    "o": "overhead of each host for a message",
    "g": "gap between messages of a node",
    "G": "gap per byte",
    "O": "overhead per byte",
}
_WAIT_S = 0.05
_SHOWN_RANKS = 32
_MOST_S = 2**31 - 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what the command takes; the defaults are LogGOPSim's.

    Args:
        parser: the command's parser.
    """
    parser.add_argument("file", metavar="FILE", help="a GOAL file, or a trace")
    for name, default in DEFAULTS_NS.items():
        unit = "ns/B" if name in "GO" else "ns"
        parser.add_argument(
            f"-{name}",
            type=_time,
            metavar="NS",
            help=f"{_MEANINGS[name]}, {unit} (default {default:g})",
        )
    parser.add_argument(
        "-S",
        type=int,
        metavar="BYTES",
        help=f"largest message sent without waiting for the receiver; -1: all (default "
        f"{DEFAULT_S})",
    )
    parser.add_argument(
        "--machine",
        metavar="NAME",
        help="take L, o, g, G, O and S from a machine's fitted profile; options go before it",
    )
    parser.add_argument(
        "--semantics",
        metavar="NAME",
        help="loggopsim (default): CPUs and NICs are occupied; llamp: the graph alone",
    )
    parser.add_argument(
        "--algorithm",
        dest="algorithms",
        action="append",
        default=[],
        type=_choice,
        metavar="OPERATION=NAME",
        help="of a trace's collectives, such as allreduce=ring; may be repeated",
    )
    parser.add_argument(
        "--compatible",
        action="store_true",
        help="with LogGOPSim's quirks too: zero-byte messages, several cpus",
    )
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Replay, print when the ranks finish and return the exit status.

    Args:
        arguments: the parsed command line.

    Raises:
        WorkbenchError: the file cannot be read, the program cannot run to its end, or an option
            is not accepted.
    """
    graph = _graph(arguments)
    model = _model(arguments)
    with patience():
        from workbench import jobs
        from workbench.simulate.replay import replay
    options = {**given(arguments, "semantics"), "compatible": arguments.compatible}
    with stoppable() as stop:
        # In a thread of its own: the main thread handles signals between its Python steps.
        job = jobs.submit(lambda _: replay(graph, model, halt=stop.event.cell, **options))
        while not job.wait(_WAIT_S):
            pass
        try:
            result = job.result()
        except SimulationHalted:
            say("stopped")
            return SIGNALLED + stop.number
    if arguments.json:
        print_json(_summary(result))
    else:
        print(_report(result))
    return 0


def _graph(arguments: argparse.Namespace) -> ExecutionGraph:
    """Return the file's program, with the algorithms that were asked for."""
    from workbench.programs import Program, read

    program = read(Path(arguments.file))
    for note in program.notes:
        say(f"note: {note}")
    if isinstance(program, Program):
        return program.graph(dict(arguments.algorithms))
    if arguments.algorithms:
        raise ParameterError(
            "--algorithm needs a trace, whose collectives are still whole; a GOAL file has "
            f"messages only, and {arguments.file} is one",
            key="algorithm",
        )
    return program


def _model(arguments: argparse.Namespace) -> LogGPS:
    """Return the parameters: what was given, before the machine's, before LogGOPSim's."""
    from workbench.models import LogGPS, profile

    if arguments.machine is not None:
        model = profile(arguments.machine).loggps
    else:
        seconds: dict[str, Any] = {name: _seconds(ns) for name, ns in DEFAULTS_NS.items()}
        model = LogGPS(**seconds, S=DEFAULT_S)
    changes: dict[str, Any] = {
        name: _seconds(ns) for name, ns in given(arguments, *DEFAULTS_NS).items()
    }
    if arguments.S is not None:
        changes["S"] = _MOST_S if arguments.S == -1 else arguments.S
    return model.replace(**changes) if changes else model


def _summary(result: ReplayResult) -> dict[str, Any]:
    return {
        "finish_ns": result.finish_ns,
        "makespan_ns": result.makespan_ns,
        "events": result.events,
        "seconds": result.seconds,
        "semantics": result.semantics,
    }


def _report(result: ReplayResult) -> str:
    """Return a replay as a person reads it: the ranks' finish times, the slowest of many."""
    finish = dict(enumerate(result.finish_ns))
    ranks = list(finish)
    head = [repr(result), str(result.model)]
    if len(ranks) > _SHOWN_RANKS:
        ranks = sorted(ranks, key=lambda rank: -finish[rank])[:_SHOWN_RANKS]
        head.append(f"the {_SHOWN_RANKS} of {len(finish)} ranks that finish last (--json: all)")
    width = max(len(_number(finish[rank])) for rank in ranks)
    rows = [f"rank {rank:<8}{_number(finish[rank]):>{width}} ns" for rank in ranks]
    return "\n".join([*head, *rows])


def _number(nanoseconds: float) -> str:
    return f"{nanoseconds:,.3f}".rstrip("0").rstrip(".")


def _choice(text: str) -> tuple[str, str]:
    operation, equals, name = (part.strip() for part in text.partition("="))
    if not operation or not equals or not name:
        raise argparse.ArgumentTypeError(
            f"must be OPERATION=NAME, such as allreduce=ring; got {text!r}"
        )
    return operation, name


def _seconds(nanoseconds: float) -> float:
    """Return s by the decimal digits: 0.018 ns are 1.8e-11 s, to the last bit."""
    return float(Decimal(repr(nanoseconds)).scaleb(-9))


def _time(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (value >= 0 and math.isfinite(value)):
        raise argparse.ArgumentTypeError(f"must be a number of ns, at least 0; got {text!r}")
    return value
