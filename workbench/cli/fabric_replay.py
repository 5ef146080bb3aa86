"""Replay a program over a network: finish times of the ranks when messages share links.

FILE is GOAL, as text or LogGOPSim's binary, or a trace, as for workbench replay. Messages travel as
packets with credits (--congestion packet, SNAPPR), as packets that share links as they flow
(packet-flow, PISCES), or as fluid with max-min fair shares (flow). By default hosts take no time
and all messages are eager; -o, -O, -S change that. A --machine gives hosts, links and, where it
has one, the topology. -L, -g and -G are not used, as
the network replaces them. With --beside other programs run at the same time, each on its own
hosts, and the slowdown of each against running alone is printed. Times are in nanoseconds.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from workbench.cli.ini_options import add_ini, fabric_of
from workbench.cli.machine_options import machine_of, ranks_per_host
from workbench.cli.output import SHOWN_RANKS, add_json, given, print_json, say, slow_import_notice
from workbench.cli.program_options import add_program, graph_of, model_of
from workbench.cli.signals import run_stoppable
from workbench.cli.topology import network_of
from workbench.shell.function_options import FunctionOptions

if TYPE_CHECKING:
    from workbench.models import LogGPS
    from workbench.programs import ExecutionGraph
    from workbench.simulate.fabric.concurrent_jobs import SharedRun
    from workbench.simulate.fabric.program_result import FabricReplay

ABOUT = "replay a program over a network and print when each rank finishes"

_FABRIC = FunctionOptions("workbench.simulate.fabric.fabric.Fabric")
_REPLAYED = FunctionOptions("workbench.simulate.fabric.program.replay_on")
_UNUSED = "LgG"
_OF_HOSTS = "oOS"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments; file and parameters are those of ``workbench replay``."""
    add_program(parser)
    parser.add_argument(
        "--topology",
        metavar="SPEC",
        help="network, such as torus:8,8,8, dragonfly:9,8,4, fat-tree:16, or a file of links "
        "(default: that of --machine)",
    )
    _FABRIC.add(parser, "routing", "congestion")
    _REPLAYED.add(parser, "placement", "ranks_per_host")
    _FABRIC.add(parser, "seed", help="seed of random routes and placements (default 0)")
    parser.add_argument(
        "--beside",
        action="append",
        default=[],
        metavar="FILE",
        help="another program that runs at the same time; may be repeated",
    )
    add_ini(
        parser,
        "SST/macro's .ini with bandwidths, latencies and credits (default: the model's values)",
        example="switch.link.bandwidth=25GB/s",
    )
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Replay, print the ranks' finish times and return the exit status."""
    machine = machine_of(arguments)
    network = network_of(arguments.topology, machine)
    jobs_asked = {arguments.file: graph_of(arguments), **_others(arguments)}
    unused = [f"-{name}" for name in _UNUSED if getattr(arguments, name) is not None]
    if unused:
        say(f"note: {', '.join(unused)} not used: the network gives latency and bandwidth")
    with slow_import_notice():
        from workbench.simulate.fabric.concurrent_jobs import run_jobs
        from workbench.simulate.fabric.program import replay_on
    fabric = fabric_of(arguments, network, machine)
    options: dict[str, Any] = ranks_per_host(arguments.ranks_per_host, machine)
    options |= _REPLAYED.given(arguments)
    if not options.get("placement") and machine is not None and "placement" in machine.given:
        options["placement"] = machine.part("placement").value
    options |= {"host": _hosts(arguments), "rng": arguments.seed or 0}
    graph = jobs_asked[arguments.file]

    result: FabricReplay | SharedRun | None
    if len(jobs_asked) == 1:
        result, status = run_stoppable(replay_on, graph, fabric, **options)
    else:
        result, status = run_stoppable(run_jobs, jobs_asked, fabric, **options)
    if result is None:
        return status
    for note in getattr(result, "notes", ()):
        say(f"note: {note}")
    if arguments.json:
        print_json(result.to_dict())
    else:
        print(_report(result))
    return 0


def _others(arguments: argparse.Namespace) -> dict[str, ExecutionGraph]:
    """Return the programs that run beside, by file; one that is named twice has a number."""
    found: dict[str, ExecutionGraph] = {}
    for file in arguments.beside:
        name, number = file, 2
        while name in found or name == arguments.file:
            name, number = f"{file} ({number})", number + 1
        found[name] = graph_of(argparse.Namespace(**{**vars(arguments), "file": file}))
    return found


def _hosts(arguments: argparse.Namespace) -> LogGPS | None:
    """Return the hosts' costs of messages, None if no option gives any."""
    if arguments.machine is not None:
        return model_of(arguments)
    if not given(arguments, *_OF_HOSTS):
        return None
    values = {name: getattr(arguments, name) for name in _OF_HOSTS}
    free = {"o": values["o"] or 0.0, "O": values["O"] or 0.0}
    free["S"] = -1 if values["S"] is None else values["S"]
    return model_of(argparse.Namespace(**{**vars(arguments), **free}))


def _report(result: FabricReplay | SharedRun) -> str:
    """Return a run as text for people: the jobs, or the ranks that finish last."""
    frame = result.to_frame()
    head = [result.report(), ""]
    if "finish_ns" not in frame:
        return "\n".join([*head, frame.to_string(index=False)])
    if len(frame) > SHOWN_RANKS:
        head.append(f"the {SHOWN_RANKS} of {len(frame)} ranks that finish last (--json: all)")
        frame = frame.sort_values("finish_ns", ascending=False, kind="stable").head(SHOWN_RANKS)
    times = [f"{value:,.3f}".rstrip("0").rstrip(".") for value in frame["finish_ns"]]
    width = max(map(len, times))
    rows = [
        f"rank {rank:<8}host {host:<8}{time:>{width}} ns"
        for rank, host, time in zip(frame["rank"], frame["host"], times, strict=True)
    ]
    return "\n".join([*head, *rows])
