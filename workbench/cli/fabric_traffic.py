"""Latency and accepted load of a network under random traffic, simulated packet by packet.

SPEC is a network as for workbench topology. Hosts send messages at random times at the given load,
even if the network does not accept them; loads are shares of the hosts' bandwidth. Latency counts
from
the time a message is generated, the wait at its host included. --json gives each run's percentiles,
hops and queues over time; with --tables also counters of each channel and router. Routings:
minimal, deterministic, ecmp, minimal-adaptive, dimension-order, up-down, valiant, ugal-l, ugal-g,
par; each uses the fewest virtual channels that are proved free of deadlock.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.ini_options import add_ini, fabric_of
from workbench.cli.machine_options import add_machine, machine_of
from workbench.cli.output import (
    add_json,
    byte_count,
    output_file,
    print_json,
    say,
    slow_import_notice,
)
from workbench.cli.signals import run_stoppable
from workbench.cli.topology import network_of, pattern_of
from workbench.shell.function_options import FunctionOptions

if TYPE_CHECKING:
    from workbench.simulate.fabric.latency_load import LatencyLoad

ABOUT = "latency and accepted load of a network under random traffic"

_FABRIC = FunctionOptions("workbench.simulate.fabric.fabric.Fabric")
_CURVE = FunctionOptions("workbench.simulate.fabric.latency_load.load_curve")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument(
        "spec",
        metavar="SPEC",
        nargs="?",
        help="network, such as torus:8,8,8, dragonfly:9,8,4, fat-tree:16, or a file of links "
        "(default: that of --machine)",
    )
    add_machine(parser, "links of a machine: their bandwidth, wires and switches")
    parser.add_argument(
        "--pattern",
        metavar="NAME",
        default="uniform",
        help="uniform (default), permutation, tornado, transpose, bit-complement, adversarial, "
        "hotspot, longest-matching, or a CSV file of your own, hosts by hosts or src,dst,weight",
    )
    _CURVE.add(parser, "loads", option="--load", type=float, nargs="+", metavar="X")
    _FABRIC.add(parser, "routing")
    _FABRIC.add(parser, "congestion", help="packet (SNAPPR, default) or packet-flow (PISCES)")
    _CURVE.add(parser, "process")
    _CURVE.add(parser, "message_bytes", type=byte_count)
    _CURVE.add(parser, "messages")
    parser.add_argument(
        "--seeds",
        type=int,
        metavar="N",
        default=1,
        help="runs of each load (default 1); of several the least and the largest are printed",
    )
    parser.add_argument(
        "--seed", type=int, metavar="N", default=0, help="seed of the first run (default 0)"
    )
    _CURVE.add(parser, "workers")
    add_ini(
        parser,
        "SST/macro's .ini with bandwidths, latencies and credits (default: the model's values)",
        example="switch.link.bandwidth=25GB/s",
    )
    parser.add_argument(
        "--csv",
        type=output_file(),
        metavar="FILE",
        help="write the channels of the highest load to a CSV file",
    )
    parser.add_argument(
        "--tables",
        action="store_true",
        help="with --json: the counters of each channel and of each router as well",
    )
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Simulate each load, print latency and accepted load, and return the exit status."""
    machine = machine_of(arguments)
    network = network_of(arguments.spec, machine)
    with slow_import_notice():
        from workbench.simulate.fabric.latency_load import load_curve
    fabric = fabric_of(arguments, network, machine)
    seeds = range(arguments.seed, arguments.seed + max(arguments.seeds, 0))
    pattern = pattern_of(arguments.pattern, network)
    curve, status = run_stoppable(
        load_curve, fabric, pattern, seeds=seeds, **_CURVE.given(arguments)
    )
    if curve is None:
        return status
    for note in fabric.notes:
        say(f"note: {note}")
    if status:
        say("stopped; these are the finished runs")
    if arguments.csv is not None:
        curve.runs[-1].to_frame().to_csv(Path(arguments.csv), index=False)
    if arguments.json:
        print_json(curve.to_dict(tables=arguments.tables))
    else:
        print(_report(curve))
    return status


def _report(curve: LatencyLoad) -> str:
    """Return the curve as text for people: a line for each load, means over the seeds."""
    lines = [repr(curve), repr(curve.fabric.routes)]
    several = bool((curve.num_runs > 1).any())
    lines.append(
        f"{'load':>6}{'accepted':>10}{'mean latency':>15}{'median':>12}{'99 %':>12}{'hops':>7}"
        + (f"{'mean latency of the runs':>32}" if several else "")
    )
    columns = (
        curve.offered,
        curve.accepted,
        curve.mean_latency_s,
        curve.latency_s(50),
        curve.latency_s(99),
        curve.of("mean_hops"),
        *(curve.latency_ends_s * 1e6),
        curve.num_runs,
    )
    for load, accepted, mean, median, high, hops, least, most, runs in zip(*columns, strict=True):
        if math.isnan(mean):
            lines.append(f"{load:>6.3f}{accepted:>10.4f}{'saturated':>15}")
            continue
        lines.append(
            f"{load:>6.3f}{accepted:>10.4f}{mean * 1e6:>12.3f} us{median * 1e6:>9.3f} us"
            f"{high * 1e6:>9.3f} us{hops:>7.2f}"
            + (f"{least:>11.3f} to {most:.3f} us in {runs}" if several else "")
        )
    return "\n".join(lines)
