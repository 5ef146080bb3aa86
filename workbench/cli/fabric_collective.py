"""Simulate a collective of an SST/macro configuration, to the digits that SST/macro prints.

FILE is an .ini as SST/macro v11.1 reads it: a torus, a fat tree or a dragonfly of SNAPPR or PISCES
switches, and a benchmark of collectives, one rank a node. node.app1.mode names the collective
(allgather, alltoall, allreduce); sizes go from min_size by factors of four up to max_size, each
coll_iters times. The times are those of one iteration on rank 0, in microseconds. Fat trees that
SST/macro refuses and PISCES packets that it never places run too; the output then states why
SST/macro cannot run it.

    workbench fabric collective --config torus.ini -p node.app1.max_size=8192 --json

With --machine and no file, the collective runs on the machine's links and topology, with its hosts:

    workbench fabric collective --machine my-machine.json --operation allreduce --ranks 128
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.ini_options import add_ini, fabric_of
from workbench.cli.machine_options import add_machine, machine_of
from workbench.cli.output import add_json, byte_count, given, print_json, say, slow_import_notice
from workbench.cli.signals import run_stoppable
from workbench.cli.topology import network_of
from workbench.errors import ParameterError
from workbench.shell.function_options import FunctionOptions

if TYPE_CHECKING:
    from workbench.simulate.fabric.sst import CollectiveTimes

ABOUT = "times of a collective on an SST/macro configuration, or on a machine"

_TIMED = FunctionOptions("workbench.simulate.fabric.collectives.collective_times")
_OF_MACHINE = (
    *("machine", "topology", "routing", "congestion"),
    *("operation", "algorithm", "ranks", "sizes"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_ini(parser, "SST/macro's .ini of the machine and the benchmark")
    add_machine(parser, "instead of --config: a machine, whose links and hosts are taken")
    parser.add_argument(
        "--topology", metavar="SPEC", help="with --machine: the network (default: the machine's)"
    )
    parser.add_argument("--routing", metavar="NAME", help="with --machine: as for fabric traffic")
    parser.add_argument(
        "--congestion", metavar="NAME", help="with --machine: packet (default), packet-flow, flow"
    )
    _TIMED.add(parser, "operation", required=False, help="with --machine: such as allreduce")
    _TIMED.add(parser, "algorithm", "ranks")
    _TIMED.add(parser, "sizes", option="--bytes", type=byte_count, nargs="+", metavar="N")
    parser.set_defaults(seed=None)
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Simulate, print the times and return the exit status."""
    if arguments.config is None:
        return _on_machine(arguments)
    unused = given(arguments, *_OF_MACHINE)
    if unused:
        raise ParameterError(
            f"--config names the network and the collective; leave out {', '.join(unused)}",
            key="config",
        )
    with slow_import_notice():
        from workbench.simulate.fabric.sst import run_collective
        from workbench.simulate.fabric.sst_configuration import read_configuration

    configuration = read_configuration(Path(arguments.config), dict(arguments.parameters))
    for note in configuration.notes:
        say(f"note: {note}")
    result, status = run_stoppable(run_collective, configuration)
    if result is None:
        return status
    if result.beyond_sstmacro:
        say(f"note: beyond SST/macro v11.1: {result.beyond_sstmacro}")
    if arguments.json:
        print_json({"time_us": result.time_us(), "beyond_sstmacro": result.beyond_sstmacro})
    else:
        print(_table(result))
    return 0


def _on_machine(arguments: argparse.Namespace) -> int:
    """Simulate a collective on a machine's links and hosts, and print its times."""
    machine = machine_of(arguments)
    if machine is None or arguments.operation is None:
        raise ParameterError(
            "--config FILE.ini, or --machine and --operation must be given", key="config"
        )
    network = network_of(arguments.topology, machine)
    with slow_import_notice():
        from workbench.simulate.fabric.collectives import collective_times
    fabric = fabric_of(arguments, network, machine)
    found, status = run_stoppable(
        collective_times, fabric, host=machine.loggps, **_TIMED.given(arguments)
    )
    times = {size: 1e6 * time for size, time in (found or {}).items()}
    if arguments.json:
        print_json({"time_us": times, "fabric": repr(fabric)})
    else:
        print(f"# simulated: {arguments.operation} on {fabric!r}, hosts of {machine.name}")
        print(_columns(times))
    return status


def _table(result: CollectiveTimes) -> str:
    """Return the times in columns like those of the benchmarks."""
    return f"# {result.provenance.caption()}\n{_columns(result.time_us())}"


def _columns(time_us: Mapping[int, float]) -> str:
    rows = (f"{size:<12}{time:>18.6f}" for size, time in time_us.items())
    return "\n".join((f"# {'Size (B)':<10}{'Time (us)':>18}", *rows))
