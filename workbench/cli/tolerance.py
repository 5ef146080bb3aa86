"""How much latency a program tolerates: T over L without contention, exactly.

FILE is GOAL, as text or LogGOPSim's binary, or a trace, as for workbench replay. The command
prints the run time at -L, the number of latencies (lambda_L) and bytes (lambda_G) on the critical
path, the number of messages that have these latencies (a rendezvous has four), the latencies'
share of the path (rho_L), the largest latency within each percentage, and the critical latencies of
the interval, at which another path becomes the critical one. Times are in nanoseconds; in JSON an
unlimited latency is null. A note is printed if CPUs and NICs, which are not limited here, change
the run time by more than 5 %.

--measured takes run times that were measured while latency was added to the network's own, a CSV
with the columns latency_us and time_s and a row a run. -L is then the latency with nothing added.
The command prints measured and predicted times and their RRMSE: the root mean square error over the
mean measured time, in all and by zone. Added latency is hidden while lambda_L is at its first
value, proportional once it is at its last, and in transition between.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.cli.output import (
    add_json,
    given,
    output_file,
    print_json,
    say,
    slow_import_notice,
)
from workbench.cli.program_options import (
    add_program,
    graph_of,
    model_of,
    nanoseconds,
    seconds,
)
from workbench.cli.signals import run_stoppable
from workbench.errors import ParameterError

if TYPE_CHECKING:
    from workbench.measure import MeasuredRuns
    from workbench.programs import ExecutionGraph
    from workbench.sensitivity.result import LatencySensitivity
    from workbench.sensitivity.run_prediction import RunPrediction

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
    parser.add_argument(
        "--measured", metavar="FILE.csv", help="compare with run times measured under added latency"
    )
    parser.add_argument(
        "--measured-program",
        metavar="NAME",
        help="the program's name in FILE.csv, where that has several",
    )
    parser.add_argument(
        "--save", type=output_file(".html"), metavar="FILE.html", help="write the figure there"
    )
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Analyse the program, print its tolerances and return the exit status."""
    graph = graph_of(arguments)
    model = model_of(arguments)
    with slow_import_notice():
        from workbench.sensitivity.analysis import analyse
        from workbench.sensitivity.run_prediction import RunPrediction, measured_interval
    runs = _measured(arguments, graph)
    options: dict[str, Any] = {
        **given(arguments, "percent"),
        "lp": arguments.lp,
        "contention": arguments.contention,
    }
    if arguments.interval is not None:
        low, high = arguments.interval
        options["interval"] = (seconds(low), seconds(high))
    elif runs is not None:
        options["interval"] = measured_interval(model.L, runs)
    result, status = run_stoppable(lambda halt: analyse(graph, model, halt=halt, **options))
    if result is None:
        return status
    prediction = None if runs is None else RunPrediction(result, runs)
    for note in _notes(result):
        say(f"note: {note}")
    if arguments.save is not None:
        _save(result if prediction is None else prediction, arguments.save)
    if arguments.json:
        beside = {} if prediction is None else {"measured": prediction.summary()}
        print_json(result.summary() | beside)
    else:
        print(_report(result))
        if prediction is not None:
            print(_comparison(prediction))
    return 0


def _measured(arguments: argparse.Namespace, graph: ExecutionGraph) -> MeasuredRuns | None:
    """Return the program's measured runs, where a file of them is given."""
    from workbench.measure import read_measured_runs
    from workbench.sensitivity.run_prediction import runs_of

    if arguments.measured is None:
        if arguments.measured_program is not None:
            raise ParameterError(
                f"measured_program={arguments.measured_program} needs --measured FILE.csv",
                key="measured_program",
            )
        return None
    runs = read_measured_runs(arguments.measured)
    return runs_of(runs, graph, name=arguments.measured_program)


def _save(result: LatencySensitivity | RunPrediction, path: str) -> None:
    """Write the figure of a result as a page."""
    from workbench import plotting

    title = f"latency tolerance of {Path(path).stem}"
    Path(path).write_text(plotting.standalone_html(result.plot(), title), "utf-8")


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


def _comparison(prediction: RunPrediction) -> str:
    """Return measured and predicted run times as text for people."""
    zones = prediction.zone_rrmse_percent.items()
    table = prediction.to_frame()
    shown = table[
        ["added (µs)", "zone", "repeats", "measured (s)", "predicted (s)", "error (%)"]
    ].to_string(index=False, float_format=lambda value: f"{value:.6g}")
    return "\n".join(
        [
            "",
            f"measured runs: {prediction.runs.provenance.caption()}",
            f"RRMSE {prediction.rrmse_percent:.2f} % of {len(table)} medians ("
            f"{', '.join(f'{zone} {error:.2f} %' for zone, error in zones)})",
            shown,
        ]
    )


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
