"""How much latency a program tolerates: T over L without contention, exactly.

FILE is GOAL, as text or LogGOPSim's binary, or a trace, as for workbench replay. The command
prints the run time at -L, the number of latencies (lambda_L) and bytes (lambda_G) on the critical
path, the number of messages that have these latencies (a rendezvous has four), the latencies'
share of the path (rho_L), the largest latency within each percentage, and the critical latencies of
the interval, at which another path becomes the critical one. Times are in nanoseconds; in JSON an
unlimited latency is null. A note is printed if CPUs and NICs, which are not limited here, change
the run time by more than 5 %.
"""

from __future__ import annotations

import argparse
import math
from typing import TYPE_CHECKING, Any

from workbench.cli.output import add_json, given, print_json, say, slow_import_notice
from workbench.cli.program_options import (
    add_program,
    graph_of,
    model_of,
    nanoseconds,
    seconds,
)
from workbench.cli.signals import run_stoppable

if TYPE_CHECKING:
    from workbench.sensitivity.result import LatencySensitivity

ABOUT = "report how much network latency a program tolerates before it gets slower"

_SHOWN = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments; file and parameters are those of ``workbench replay``."""
    add_program(parser)
    parser.add_argument(
        "--percent",
        type=_percent,
        nargs="+",
        metavar="P",
        help="how much slower the program may become (default 1 2 5)",
    )
    parser.add_argument(
        "--interval",
        type=nanoseconds,
        nargs=2,
        metavar=("LO", "HI"),
        help="look for critical latencies between these, ns (default: from L to beyond the "
        "largest tolerance)",
    )
    parser.add_argument(
        "--lp", action="store_true", help="solve the linear program instead of sweeping the graph"
    )
    parser.add_argument(
        "--no-contention",
        dest="contention",
        action="store_false",
        help="leave out the replay with CPUs and NICs occupied, and its note",
    )
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Analyse the program, print its tolerances and return the exit status."""
    graph = graph_of(arguments)
    model = model_of(arguments)
    with slow_import_notice():
        from workbench.sensitivity.analysis import analyse
    options: dict[str, Any] = {
        **given(arguments, "percent"),
        "lp": arguments.lp,
        "contention": arguments.contention,
    }
    if arguments.interval is not None:
        low, high = arguments.interval
        options["interval"] = (seconds(low), seconds(high))
    result, status = run_stoppable(lambda halt: analyse(graph, model, halt=halt, **options))
    if result is None:
        return status
    for note in _notes(result):
        say(f"note: {note}")
    if arguments.json:
        print_json(result.summary())
    else:
        print(_report(result))
    return 0


def _notes(result: LatencySensitivity) -> list[str]:
    from workbench.sensitivity.result import RENDEZVOUS, more_than_messages

    notes = list(result.warnings)
    if more_than_messages(result):
        notes.append(RENDEZVOUS)
    unbounded = [f"{p:g} %" for p, largest in result.tolerance.items() if math.isinf(largest)]
    if unbounded:
        notes.append(f"no latency makes the program slower by {', '.join(unbounded)}")
    return notes


def _report(result: LatencySensitivity) -> str:
    """Return an analysis as text for people, with the first of many critical latencies."""
    from workbench.sensitivity.result import latencies_text

    values = result.summary()
    lines = [
        f"{result.source}, {result.ranks} ranks, {result.operations:,} operations",
        str(result.model),
        "",
        *_rows(
            {
                "makespan": f"{_number(values['makespan_ns'])} ns",
                "lambda_L": latencies_text(result),
                "lambda_G": f"{values['lambda_G']:,} (bytes on the critical path)",
                "rho_L": f"{100 * values['rho_L']:.2f} % (latency's share of the makespan)",
                **{
                    f"L within {percent} %": f"{_number(largest)} ns"
                    if math.isfinite(largest)
                    else "any"
                    for percent, largest in values["tolerance_ns"].items()
                },
            }
        ),
        "",
    ]
    low, high = (_number(1e9 * end) for end in result.interval)
    critical = values["critical_latencies_ns"]
    lines.append(f"critical latencies between {low} and {high} ns: {len(critical):,}")
    slopes = result.slopes.tolist()
    for number, latency in enumerate(critical[:_SHOWN]):
        change = f"lambda_L {slopes[number]:,} to {slopes[number + 1]:,}"
        lines.append(f"{_number(latency):>16} ns  {change}")
    if len(critical) > _SHOWN:
        lines.append(f"the first {_SHOWN} of them (--json: all)")
    return "\n".join(lines)


def _rows(values: dict[str, str]) -> list[str]:
    width = max(map(len, values))
    return [f"{name:<{width}}  {value}" for name, value in values.items()]


def _number(value: float) -> str:
    return f"{value:,.3f}".rstrip("0").rstrip(".")


def _percent(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (value > 0 and math.isfinite(value)):
        raise argparse.ArgumentTypeError(f"must be a percentage above 0; got {text!r}")
    return value
