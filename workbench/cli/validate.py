r"""Hold predictions against programs that ran, under latency added on an emulated cluster.

workbench validate measure cg --ranks 4 --output cg-4     # minutes; goes on where it was
workbench validate measure comd --ranks 4 --program ./CoMD-mpi --slowdown 3 --message-bytes 8192 \
    --algorithm allreduce=recursive-doubling --output comd-4 --arguments="-x 8 -y 8 -z 8"
workbench validate predict cg-4                           # a folder, or a shipped recording
workbench validate report                                 # all shipped recordings
workbench validate collectives --ranks 4 --output collectives-4.json   # measured and predicted
workbench validate injectors cg --ranks 4         # a switch and a library, both adding latency
workbench validate messages --output two-messages.json     # LLAMP, figure 8
workbench validate list

The prediction takes a trace and the cost of messages of the network with nothing added; nothing is
fitted to the run times.
"""

from __future__ import annotations

import argparse
import shlex
from typing import TYPE_CHECKING

from workbench.cli.output import SIGNALLED, add_json, output_file, print_json, say
from workbench.cli.progress import ProgressLine
from workbench.cli.signals import stoppable
from workbench.shell.function_options import FunctionOptions
from workbench.units import parse_typed_quantity

if TYPE_CHECKING:
    from workbench.validation import ValidationProgram

ABOUT = "hold predicted run times against programs that ran under added latency"

_MEASURED = FunctionOptions("workbench.validation.measure_program")
_PROGRAM = FunctionOptions("workbench.validation.ValidationProgram")
_PREDICTED = FunctionOptions("workbench.validation.predict_recording")
_REPORTED = FunctionOptions("workbench.validation.validation_report")
_COLLECTIVES = FunctionOptions("workbench.validation.measure_collectives")
_MESSAGES = FunctionOptions("workbench.validation.measure_two_messages")
_INJECTORS = FunctionOptions("workbench.validation.compare_injectors")
_AS_TRACED = "leave it to the trace, not to arrivals, whom receives from any source answer"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the actions and their arguments."""
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True, dest="action")
    measure = actions.add_parser("measure", help="measure a program here")
    measure.add_argument(
        "program", metavar="PROGRAM", help="one that workbench validate list names"
    )
    _MEASURED.add(measure, "ranks", option=("-n", "--ranks"))
    _MEASURED.add(measure, "repeats")
    measure.add_argument(
        "--latencies", metavar="LIST", help="to be added, such as 0,500us,1ms; the first one is 0"
    )
    measure.add_argument(
        "--traces",
        metavar="LIST",
        help="those at which the median run's trace is kept (default: 0)",
    )
    measure.add_argument("--output", required=True, metavar="FOLDER", help="of the recording")
    _MEASURED.add(measure, "mpirun", metavar="PATH")
    measure.add_argument(
        "--program", dest="path", metavar="PATH", help="a program of your own, called PROGRAM"
    )
    _PROGRAM.add(measure, "slowdown", metavar="F")
    measure.add_argument(
        "--message-bytes",
        type=int,
        metavar="N",
        help="size of most of its messages (default: 1024)",
    )
    measure.add_argument(
        "--algorithm",
        action="append",
        metavar="COLLECTIVE=NAME",
        help="of its collectives, forced in the MPI; may be repeated",
    )
    measure.add_argument(
        "--arguments", default="", metavar="TEXT", help="of it, as in --arguments='-x 8'"
    )
    predict = actions.add_parser("predict", help="predict a recorded program")
    predict.add_argument("recording", metavar="RECORDING", help="shipped, or a folder")
    _PREDICTED.add(predict, "latency", metavar="WHICH")
    _PREDICTED.add(predict, "arrivals", help=_AS_TRACED)
    report = actions.add_parser("report", help="the errors of all recordings")
    _REPORTED.add(report, "arrivals", help=_AS_TRACED)
    report.add_argument("recordings", metavar="RECORDING", nargs="*", help="default: the shipped")
    collectives = actions.add_parser(
        "collectives",
        help="measure and predict collectives with forced algorithms",
    )
    _COLLECTIVES.add(collectives, "ranks", option=("-n", "--ranks"))
    _COLLECTIVES.add(collectives, "repeats")
    collectives.add_argument(
        "--output", required=True, type=output_file(".json"), metavar="FILE", help="of the result"
    )
    _COLLECTIVES.add(collectives, "mpirun", metavar="PATH")
    injectors = actions.add_parser("injectors", help="compare two ways to add latency")
    injectors.add_argument(
        "program", metavar="PROGRAM", help="one that workbench validate list names"
    )
    _INJECTORS.add(injectors, "ranks", option=("-n", "--ranks"))
    _INJECTORS.add(injectors, "repeats")
    _INJECTORS.add(injectors, "mpirun", metavar="PATH")
    messages = actions.add_parser("messages", help="time two messages under added latency")
    _MESSAGES.add(messages, "repeats")
    messages.add_argument(
        "--output", required=True, type=output_file(".json"), metavar="FILE", help="of the result"
    )
    _MESSAGES.add(messages, "mpirun", metavar="PATH")
    listing = actions.add_parser("list", help="programs and shipped recordings")
    for action in (measure, predict, report, collectives, injectors, messages, listing):
        add_json(action)


def run(arguments: argparse.Namespace) -> int:
    """Run the chosen action and return the exit status."""
    if arguments.action == "measure":
        return _measure(arguments)
    if arguments.action == "predict":
        return _predict(arguments)
    if arguments.action == "collectives":
        return _collectives(arguments)
    if arguments.action == "injectors":
        return _injectors(arguments)
    if arguments.action == "messages":
        return _messages(arguments)
    return _report(arguments) if arguments.action == "report" else _list(json=arguments.json)


def _measure(arguments: argparse.Namespace) -> int:
    from workbench.tasks import Task
    from workbench.validation import measure_program

    options = _MEASURED.given(arguments)
    for option, name in (("latencies", "latencies_s"), ("traces", "traced_s")):
        if (text := getattr(arguments, option)) is not None:
            options[name] = [
                float(parse_typed_quantity(word, "time", name=option)) for word in text.split(",")
            ]
    with stoppable() as stop, ProgressLine() as line:
        recording = measure_program(
            _program(arguments),
            arguments.output,
            task=Task(lambda now: line.show(now.message), stop.event),
            **options,
        )
    if arguments.json:
        print_json({"folder": arguments.output, "runs": len(recording.runs)})
    else:
        print(f"{recording!r}\nin {arguments.output}")
    return SIGNALLED + stop.number if stop.number else 0


def _program(arguments: argparse.Namespace) -> str | ValidationProgram:
    """Return the program to measure: one of the suite, or the user's own."""
    from workbench.validation import ValidationProgram

    if arguments.path is None:
        return str(arguments.program)
    algorithms = dict(word.partition("=")[::2] for word in arguments.algorithm or ())
    return ValidationProgram(
        arguments.program,
        arguments.program,
        tuple(shlex.split(arguments.arguments)),
        1024 if arguments.message_bytes is None else arguments.message_bytes,
        algorithms,
        path=arguments.path,
        **_PROGRAM.given(arguments),
    )


def _predict(arguments: argparse.Namespace) -> int:
    from workbench.tolerance.figure import describe_run_prediction
    from workbench.validation import predict_recording, recording_of

    recording = recording_of(arguments.recording)
    found = predict_recording(recording, **_PREDICTED.given(arguments))
    if arguments.json:
        rows = zip(
            found.added_s.tolist(),
            found.measured_s.tolist(),
            found.predicted_s.tolist(),
            strict=True,
        )
        print_json(
            {
                "program": recording.name,
                "ranks": recording.ranks,
                "origin": recording.origin,
                "rrmse_percent": found.rrmse_percent,
                "zone_rrmse_percent": found.zone_rrmse_percent,
                "by_arrival": found.by_arrival,
                "warnings": list(found.analysis.warnings),
                "points": [{"added_s": a, "measured_s": m, "predicted_s": p} for a, m, p in rows],
            }
        )
    else:
        print(f"{recording!r}\n{describe_run_prediction(found)}")
        print(found.to_frame().to_string(index=False))
    return 0


def _report(arguments: argparse.Namespace) -> int:
    from workbench.validation import recording_of, validation_report

    chosen = [recording_of(name) for name in arguments.recordings] or None
    report = validation_report(chosen, **_REPORTED.given(arguments))
    frame = report.to_frame()
    if arguments.json:
        print_json({"programs": frame.to_dict("records")})
    else:
        print(report)
        print(frame.to_string(index=False, float_format=lambda value: f"{value:.2f}"))
    return 0


def _collectives(arguments: argparse.Namespace) -> int:
    from workbench.tasks import Task
    from workbench.validation import measure_collectives

    with stoppable() as stop, ProgressLine() as line:
        found = measure_collectives(
            arguments.output,
            task=Task(lambda now: line.show(now.message), stop.event),
            **_COLLECTIVES.given(arguments),
        )
    if arguments.json:
        print_json(
            {
                "origin": found.provenance.origin,
                "median_error_percent": found.median_error_percent,
                "best_within_5_percent": found.best_within(5),
                "choices": found.choices().to_dict("records"),
            }
        )
    else:
        print(found)
        print(found.choices().to_string(index=False, float_format=lambda value: f"{value:.1f}"))
    return SIGNALLED + stop.number if stop.number else 0


def _injectors(arguments: argparse.Namespace) -> int:
    from workbench.tasks import Task
    from workbench.validation import compare_injectors

    with stoppable() as stop, ProgressLine() as line:
        found = compare_injectors(
            arguments.program,
            task=Task(lambda now: line.show(now.message), stop.event),
            **_INJECTORS.given(arguments),
        )
    if arguments.json:
        print_json(found.to_dict() | {"origin": "emulated", "growth_ratio": found.growth_ratio})
    else:
        print(found)
        print(found.to_frame().to_string(index=False, float_format=lambda value: f"{value:.2f}"))
    return 0


def _messages(arguments: argparse.Namespace) -> int:
    from workbench.validation import measure_two_messages

    found = measure_two_messages(arguments.output, **_MESSAGES.given(arguments))
    if arguments.json:
        print_json(found.to_dict() | {"origin": found.provenance.origin})
    else:
        print(found)
        print(found.to_frame().to_string(float_format=lambda value: f"{value:.3f}"))
    return 0


def _list(*, json: bool) -> int:
    from workbench.validation import SUITE, shipped_names

    shipped = shipped_names()
    if json:
        print_json({"programs": {p.name: p.title for p in SUITE.values()}, "recordings": shipped})
        return 0
    for program in SUITE.values():
        print(f"{program.name:16} {program.title}")
    if shipped:
        say(f"shipped recordings: {', '.join(shipped)}")
    return 0
