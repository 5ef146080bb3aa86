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
value, proportional once it is at its last, and in transition between. --traced adds a trace of the
same program that was recorded with latency added, such as --traced 500us=FILE, and prints the error
of each trace's prediction; a program that does first what arrives first may do other things then.
--arrivals lets arrivals decide at each measured latency whom a receive from any source answers, and
so who gets the work of a task, where the trace of a master and workers makes it plain.

--bandwidth asks the same of G, the gap per byte and inverse of bandwidth: the number of bytes
(lambda_G) on the critical path, their share (rho_G), and the largest gap per byte and least
bandwidth within each percentage. --overhead-at-mean-size takes for o what a host spends on a
message of the program's mean size: by --overheads, what Netgauge's loggp module printed, by the
fitted model of --machine, or o + O times the size.
"""

from __future__ import annotations

import argparse
import contextlib
import math
from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.cli.machine_options import machine_of
from workbench.cli.output import add_json, given, output_file, print_json, say, slow_import_notice
from workbench.cli.program_options import (
    add_program,
    expanded,
    model_of,
    nanoseconds,
    program_of,
    seconds,
)
from workbench.cli.signals import run_stoppable
from workbench.errors import ParameterError
from workbench.shell.function_options import FunctionOptions

if TYPE_CHECKING:
    import pandas as pd

    from workbench.machines import Machine
    from workbench.measure import MeasuredRuns
    from workbench.models import LogGPS
    from workbench.models.overheads import Overheads
    from workbench.programs import ExecutionGraph, Program
    from workbench.tolerance import RunPrediction, TracePredictions
    from workbench.tolerance.curve import ToleranceCurve

ABOUT = "report how much network latency a program tolerates before it gets slower"

_SHOWN = 20  # chosen: with the tolerances above them about a page of a terminal
_COLUMNS = ("added (µs)", "zone", "repeats", "measured (s)", "predicted (s)", "error (%)")
_ANALYSED = FunctionOptions("workbench.tolerance.analysis.analyse")
_PREDICTED = FunctionOptions("workbench.tolerance.predict_runs")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments; file and parameters are those of ``workbench replay``."""
    add_program(parser)
    _ANALYSED.add(parser, "percent", type=_percent, nargs="+", metavar="P")
    parser.add_argument(
        "--interval",
        type=nanoseconds,
        nargs=2,
        metavar=("LO", "HI"),
        help="look for critical latencies between these, ns, or critical gaps, ns/B (default: from "
        "the base to beyond the largest tolerance)",
    )
    _ANALYSED.add(parser, "lp")
    _ANALYSED.add(
        parser, "contention", help="leave out the replay with CPUs and NICs occupied, and its note"
    )
    parser.add_argument(
        "--bandwidth", action="store_true", help="analyse G, the inverse of bandwidth, instead of L"
    )
    parser.add_argument(
        "--overhead-at-mean-size",
        action="store_true",
        help="set o to the overhead of a message of the program's mean size: by --overheads, the "
        "machine's fitted model, or o + O times the size",
    )
    parser.add_argument(
        "--overheads",
        metavar="FILE",
        help="overheads by message size, as Netgauge's loggp module prints them, for "
        "--overhead-at-mean-size",
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
        "--traced",
        action="append",
        default=[],
        type=_traced,
        metavar="LATENCY=FILE",
        help="with --measured: a trace recorded with LATENCY added, in ns or with its unit; may be "
        "repeated",
    )
    _PREDICTED.add(
        parser,
        "arrivals",
        help="with --measured: let arrivals, not the trace, decide whom receives from any source "
        "answer, where the trace makes it plain",
    )
    parser.add_argument(
        "--save", type=output_file(".html"), metavar="FILE.html", help="write the figure there"
    )
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Analyse the program, print its tolerances and return the exit status."""
    from workbench.programs import Program, without_own_messages

    program = program_of(arguments)
    graph = expanded(program, arguments)
    model = _model_of(arguments, graph)
    if arguments.measured is not None and isinstance(program, Program):
        there = without_own_messages(program, round(model.o * 1e9))  # no latency was added to them
        for note in there.notes[len(program.notes) :]:
            say(f"note: {note}")
            program, graph = there, expanded(there, arguments)
    options = given(arguments, "percent")
    if arguments.interval is not None:
        options["interval"] = tuple(map(seconds, arguments.interval))
    if arguments.bandwidth:
        return _run_bandwidth(arguments, graph, model, options)
    with slow_import_notice():
        from workbench.tolerance.analysis import analyse
        from workbench.tolerance.run_prediction import RunPrediction, measured_interval
    runs = _measured(arguments, graph)
    if arguments.arrivals:
        return _run_arrivals(arguments, program, model, runs, options)
    if arguments.traced:
        return _run_traces(arguments, program, model, runs)
    if runs is not None:
        options.setdefault("interval", measured_interval(model.L, runs))
    result, status = run_stoppable(analyse, graph, model, **_ANALYSED.given(arguments) | options)
    if result is None:
        return status
    if runs is None:
        return _show(arguments, result, _curve_report, result.summary(), result.notes)
    found = RunPrediction(result, runs)
    values = result.summary() | {"measured": found.summary()}
    return _show(arguments, found, _prediction_report, values, result.notes)


def _run_bandwidth(
    arguments: argparse.Namespace, graph: ExecutionGraph, model: LogGPS, options: dict[str, Any]
) -> int:
    """Analyse the gap per byte instead of the latency, and return the exit status."""
    for name in ("lp", "measured", "measured_program", "traced", "arrivals"):
        if getattr(arguments, name):
            option = f"--{name.replace('_', '-')}"
            raise ParameterError(
                f"{option} is of the latency L; leave out --bandwidth or {option}", key=name
            )
    with slow_import_notice():
        from workbench.tolerance import analyse_bandwidth, compare_contention
    result, status = run_stoppable(analyse_bandwidth, graph, model, **options)
    if result is None:
        return status
    warning = compare_contention(graph, model).warning if arguments.contention else None
    notes = result.notes if warning is None else (warning, *result.notes)
    return _show(arguments, result, _curve_report, result.summary(), notes)


def _run_traces(
    arguments: argparse.Namespace,
    program: Program | ExecutionGraph,
    model: LogGPS,
    runs: MeasuredRuns | None,
) -> int:
    """Compare predictions of several traces with measured run times; return the exit status."""
    from workbench.programs import find
    from workbench.tolerance import predict_from_traces

    if runs is None:
        raise ParameterError("--traced needs --measured FILE.csv", key="traced")
    found = predict_from_traces(
        {0.0: program, **{added: find(file) for added, file in arguments.traced}},
        model,
        runs,
        algorithms=dict(arguments.algorithms),
        **given(arguments, "percent"),
    )
    return _show(arguments, found, _traces_report, found.summary())


def _run_arrivals(
    arguments: argparse.Namespace,
    program: Program | ExecutionGraph,
    model: LogGPS,
    runs: MeasuredRuns | None,
    options: dict[str, Any],
) -> int:
    """Predict measured run times with answers as messages arrive; return the exit status."""
    from workbench.programs import ExecutionGraph
    from workbench.tolerance import predict_runs

    if runs is None:
        raise ParameterError("--arrivals needs --measured FILE.csv", key="arrivals")
    for name in ("lp", "traced"):
        if getattr(arguments, name):
            raise ParameterError(
                f"--{name} is of answers as traced; leave out --arrivals or --{name}", key=name
            )
    if isinstance(program, ExecutionGraph):
        raise ParameterError(
            f"--arrivals needs a trace, which has calls; {arguments.file} is a GOAL file",
            key="arrivals",
        )
    found = predict_runs(
        program,
        model,
        runs,
        algorithms=dict(arguments.algorithms),
        **_PREDICTED.given(arguments) | options,
    )
    values = found.analysis.summary() | {"measured": found.summary()}
    return _show(arguments, found, _prediction_report, values, found.analysis.notes)


def _show(
    arguments: argparse.Namespace,
    result: Any,
    report: Callable[[Any], str],
    values: dict[str, Any],
    notes: Iterable[str] = (),
) -> int:
    """Print notes, write the figure, print values or the report, and return the exit status."""
    for note in notes:
        say(f"note: {note}")
    if arguments.save is not None:
        from workbench import plotting

        page = plotting.standalone_html(result.plot(), f"tolerance of {Path(arguments.save).stem}")
        Path(arguments.save).write_text(page, "utf-8")
    print_json(values) if arguments.json else print(report(result))
    return 0


def _model_of(arguments: argparse.Namespace, graph: ExecutionGraph) -> LogGPS:
    """Return the parameters, with the overhead of the program's mean message where asked for."""
    model = model_of(arguments)
    if not arguments.overhead_at_mean_size:
        if arguments.overheads is not None:
            raise ParameterError(
                f"overheads={arguments.overheads} needs --overhead-at-mean-size", key="overheads"
            )
        return model
    from workbench.models import OverheadTable
    from workbench.tolerance.mean_size import overhead_at_mean_size

    overheads: Overheads | Machine | None = None
    if arguments.overheads is not None:
        text = Path(arguments.overheads).read_text("utf-8", errors="replace")
        overheads = OverheadTable.from_netgauge(text, source=arguments.overheads)
        for note in overheads.notes:
            say(f"note: {arguments.overheads}: {note}")
    elif arguments.machine is not None and arguments.o is None and arguments.O is None:
        overheads = machine_of(arguments)
    found = overhead_at_mean_size(graph, model, overheads)
    say(f"note: {found.describe()}")
    return found.model


def _measured(arguments: argparse.Namespace, graph: ExecutionGraph) -> MeasuredRuns | None:
    """Return the program's measured runs, where a file of them is given."""
    from workbench.measure import read_measured_runs
    from workbench.tolerance.run_prediction import runs_of

    if arguments.measured is None:
        if arguments.measured_program is not None:
            raise ParameterError(
                f"measured_program={arguments.measured_program} needs --measured FILE.csv",
                key="measured_program",
            )
        return None
    runs = read_measured_runs(arguments.measured)
    for note in runs.notes:
        say(f"note: {note}")
    return runs_of(runs, graph, name=arguments.measured_program)


def _traced(text: str) -> tuple[float, str]:
    """Return an option's added latency in s, and the trace's file."""
    latency, equals, file = text.partition("=")
    if not equals or not file:
        raise argparse.ArgumentTypeError(f"must be LATENCY=FILE, such as 500us=trace; got {text!r}")
    return seconds(nanoseconds(latency)), file


def _percent(text: str) -> float:
    with contextlib.suppress(ValueError):
        if 0 < float(text) < math.inf:
            return float(text)
    raise argparse.ArgumentTypeError(f"must be a percentage above 0; got {text!r}")


def _curve_report(result: ToleranceCurve) -> str:
    """Return an analysis as text for people, with the first of many critical values."""
    from workbench.units import format_quantity

    symbol = result.parameter.slope.partition(" ")[0]
    texts = (
        format_quantity(value, result.parameter.quantity, exact=True) for value in result.critical
    )
    lines = [
        f"{text:>19}  {symbol} {below:,} to {above:,}"
        for text, (below, above) in zip(texts, pairwise(result.slopes.tolist()), strict=False)
    ]
    more = [f"the first {_SHOWN} of them (--json: all)"] if len(lines) > _SHOWN else []
    return "\n".join([result.report(), "", *lines[:_SHOWN], *more])


def _prediction_report(found: RunPrediction) -> str:
    """Return the analysis, and measured beside predicted run times, as text for people."""
    zones = ", ".join(f"{zone} {error:.2f} %" for zone, error in found.zone_rrmse_percent.items())
    table = found.to_frame()[list(_COLUMNS)]
    return (
        f"{_curve_report(found.analysis)}\n\n"
        f"measured runs: {found.runs.provenance.caption()}\n"
        f"RRMSE {found.rrmse_percent:.2f} % of {len(table)} medians ({zones})\n{_text(table)}"
    )


def _traces_report(found: TracePredictions) -> str:
    """Return the errors of predictions from several traces as text for people."""
    return f"measured runs: {found.runs.provenance.caption()}\n{_text(found.to_frame())}"


def _text(table: pd.DataFrame) -> str:
    return table.to_string(index=False, float_format=lambda value: f"{value:.6g}")
