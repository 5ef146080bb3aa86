"""Run MPI programs on an emulated cluster: hosts of this machine, a network of chosen latency.

workbench cluster run --ranks 4 --latency 500us -- ./app 100
workbench cluster run --ranks 4 --latency 500us --by library -- ./app 100
workbench cluster costs --ranks 4 --latency 500us --bytes 8,1024

Each host is a network namespace; a switch in user space adds the latency to every packet, one way.
It needs root, or a user namespace where the kernel allows one and /dev/net/tun is open:

    unshare --user --map-root-user workbench cluster run --ranks 4 --latency 500us -- ./app

With --by library nothing of this is needed: the program runs as usual, and a library lets each of
its messages complete later.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from workbench.cli.output import FAILED, SIGNALLED, add_json, given, print_json, say
from workbench.cli.signals import stoppable
from workbench.errors import ParameterError
from workbench.shell.function_options import FunctionOptions
from workbench.units import Kind, format_quantity, parse_typed_quantity

if TYPE_CHECKING:
    from workbench.measure.cluster import Cluster, Quartiles

_KINDS = {
    "half_trip": "half a round trip",
    "send": "send",
    "receive": "receive",
    "gap": "gap in a burst",
}

ABOUT = "run MPI programs on hosts of this machine with latency added between them"

_CLUSTER = FunctionOptions("workbench.measure.cluster.Cluster")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the actions and their arguments."""
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True, dest="action")
    run = actions.add_parser("run", help="run a program")
    costs = actions.add_parser("costs", help="measure what messages cost")
    for action in (run, costs):
        _CLUSTER.add(action, "hosts", option=("-n", "--ranks"))
        action.add_argument(
            "--latency",
            dest="latency_s",
            default="0",
            metavar="TIME",
            help="added to each packet, one way, such as 500us (default: 0)",
        )
        action.add_argument(
            "--jitter",
            dest="jitter_s",
            metavar="TIME",
            help="a packet waits up to so much longer (default: 0)",
        )
        action.add_argument(
            "--bandwidth", metavar="RATE", help="of each host, such as 1Gbit/s (default: no limit)"
        )
        _CLUSTER.add(action, "mpirun", metavar="PATH")
        action.add_argument(
            "--usual-priority",
            dest="realtime",
            action="store_const",
            const=False,
            help="give ranks no real-time priority where it is allowed",
        )
        action.add_argument("--timeout", type=float, metavar="S", help="time limit, s")
        add_json(action)
    costs.add_argument(
        "--bytes", default="8,1024,8192", metavar="LIST", help="sizes (default: 8,1024,8192)"
    )
    run.add_argument(
        "--by",
        choices=("switch", "library"),
        default="switch",
        help="what adds the latency: a switch between emulated hosts (default), or a library in "
        "the program, without privileges",
    )
    run.add_argument(
        "command", nargs="+", metavar="PROGRAM", help="the program and its arguments, after --"
    )


def run(arguments: argparse.Namespace) -> int:
    """Run the chosen action and return the exit status."""
    if getattr(arguments, "by", "switch") == "library":
        return _run_delayed(arguments)
    from workbench.measure.cluster import Cluster

    options = _CLUSTER.given(arguments) | given(arguments, "realtime")
    for name in ("latency_s", "jitter_s", "bandwidth"):
        if (text := getattr(arguments, name)) is not None:
            kind: Kind = "bandwidth" if name == "bandwidth" else "time"
            options[name] = parse_typed_quantity(text, kind, name=name)
    with Cluster(**options) as cluster:
        if arguments.action == "costs":
            return _costs(cluster, arguments)
        return _run(cluster, arguments)


def _run(cluster: Cluster, arguments: argparse.Namespace) -> int:
    from workbench.mpi import MPIError
    from workbench.tasks import Task

    with stoppable() as stop:
        try:
            done = cluster.run(
                arguments.command,
                output=lambda line: print(line, file=sys.stderr if arguments.json else None),
                task=Task(stop_event=stop.event),
                **given(arguments, "timeout"),
            )
        except MPIError as error:
            if not stop.number:
                raise
            say(str(error))
            return SIGNALLED + stop.number
    report: dict[str, Any] = {
        "elapsed_s": done.elapsed_s,
        "latency_s": done.latency_s,
        "load": done.load,
        "realtime": cluster.realtime,
        "switch": vars(done.switch),
    }
    if arguments.json:
        print_json(report)
    else:
        late = format_quantity(done.switch.lateness_p99_s, "time")
        say(
            f"emulated: {done.switch.packets} packets with "
            f"{format_quantity(done.latency_s, 'time')} added, 99 % of them less than {late} late, "
            f"{done.switch.dropped} dropped"
        )
    return 0


def _run_delayed(arguments: argparse.Namespace) -> int:
    from workbench.measure.delay import run_delayed

    for name in ("jitter_s", "bandwidth", "realtime"):
        if getattr(arguments, name) is not None:
            raise ParameterError("a library adds latency only; leave the option out", key=name)
    done = run_delayed(
        arguments.command,
        arguments.hosts,
        float(parse_typed_quantity(arguments.latency_s, "time", name="latency_s")),
        output=lambda line: print(line, file=sys.stderr if arguments.json else None),
        **given(arguments, "mpirun", "timeout"),
    )
    if arguments.json:
        print_json(done.to_dict())
    else:
        say(repr(done))
    return 0 if done.exit == 0 else FAILED


def _costs(cluster: Cluster, arguments: argparse.Namespace) -> int:
    from workbench.measure.cluster import measure_costs

    sizes = [
        int(parse_typed_quantity(word, "bytes", name="bytes"))
        for word in arguments.bytes.split(",")
    ]
    found = measure_costs(cluster, sizes, **given(arguments, "timeout"))
    if arguments.json:
        costs = [
            {kind: vars(getattr(cost, kind)) for kind in _KINDS} | {"bytes": cost.size_bytes}
            for cost in found
        ]
        print_json({"origin": "emulated", "latency_s": cluster.latency_s, "costs_s": costs})
        return 0
    print(f"emulated, {format_quantity(cluster.latency_s, 'time')} added; median (quartiles) in µs")
    print("bytes".rjust(8), *(words.rjust(24) for words in _KINDS.values()))
    for cost in found:
        texts = (_microseconds(getattr(cost, kind)).rjust(24) for kind in _KINDS)
        print(str(cost.size_bytes).rjust(8), *texts)
    return 0


def _microseconds(quartiles: Quartiles) -> str:
    lower, median, upper = (1e6 * s for s in (quartiles.lower, quartiles.median, quartiles.upper))
    return f"{median:.1f} ({lower:.1f} to {upper:.1f})"
