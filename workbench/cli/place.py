"""Place a program's ranks on a network: a host for each rank, and the run time.

FILE is GOAL, as text or LogGOPSim's binary, or a trace, as for workbench replay. The topology is a
family with its parameters, such as fat-tree:16 or torus:8x8x8, or a machine's name, and gives the
latency: a message that passes h switches takes h + 1 wires and h switches; -L, -g and -O are not
used. A --machine has its own wires, topology and ranks per host. Methods are block, round-robin,
random, volume (by the bytes exchanged), metis (the same by METIS), algorithm-3 (LLAMP's) and search
(annealing on critical paths); all compares them. Times are in nanoseconds and without contention.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.cli.machine_options import machine_of, ranks_per_host, say_parts
from workbench.cli.output import add_json, given, print_json, say, slow_import_notice
from workbench.cli.program_options import add_program, graph_of, model_of, nanoseconds, seconds
from workbench.cli.signals import run_stoppable
from workbench.cli.topology import network_of
from workbench.errors import ParameterError
from workbench.shell.function_options import FunctionOptions

if TYPE_CHECKING:
    from workbench.placement import Placement
    from workbench.topology import Topology

ABOUT = "place a program's ranks on a network"

_PLACED = FunctionOptions("workbench.placement.place")
ALL = "all"

_UNUSED = "LgO"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments; file and parameters are those of ``workbench replay``."""
    add_program(parser)
    parser.add_argument(
        "--topology",
        metavar="SPEC",
        help="network, such as fat-tree:16, dragonfly:8,4,8 (groups, routers of each, hosts of "
        "each), by letters, dragonfly:a=4,p=8,h=2,wiring=relative, a machine, edison, or a file of "
        "links (default: that of --machine)",
    )
    parser.add_argument(
        "--method",
        metavar="NAME",
        help="block, round-robin, random, volume, metis, algorithm-3, search (default) or all",
    )
    _PLACED.add(parser, "ranks_per_host")
    parser.add_argument(
        "--hosts",
        metavar="HOSTS",
        help="hosts that may be used: the first N; those that a job got, as Slurm lists them, "
        "cn[1,3,5-9]; or a rankfile or hostfile (default: the first ones that the ranks need)",
    )
    parser.add_argument(
        "--l-wire", type=nanoseconds, metavar="NS", help="latency of a wire (default 274)"
    )
    parser.add_argument(
        "--d-switch", type=nanoseconds, metavar="NS", help="latency of a switch (default 108)"
    )
    parser.add_argument(
        "--same-host",
        type=nanoseconds,
        metavar="NS",
        help="latency between ranks of one host (default 0)",
    )
    _PLACED.add(parser, "evaluations")
    _PLACED.add(parser, "seconds", metavar="S")
    _PLACED.add(parser, "seed")
    parser.add_argument(
        "--rankfile", metavar="OUT", help="write the placement for Open MPI: mpirun --rankfile OUT"
    )
    parser.add_argument(
        "--hostfile",
        metavar="OUT",
        help="write the placement for MPICH, mpiexec -f OUT, and Slurm, SLURM_HOSTFILE=OUT srun "
        "-m arbitrary",
    )
    parser.add_argument(
        "--host-names",
        metavar="NAMES",
        help="names of the network's hosts in order, for both files and --hosts: a pattern such as "
        "nid{:05d} (default host{}), a list such as rack[1-2]n[01-16], or a file of names",
    )
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Place the ranks, print their hosts and return the exit status."""
    machine = machine_of(arguments)
    network = network_of(arguments.topology, machine)
    names = _names(arguments, network)
    graph, model = graph_of(arguments), model_of(arguments)
    unused = [f"-{name}" for name in _UNUSED if getattr(arguments, name) is not None]
    if unused:
        say(f"note: {', '.join(unused)} not used: latencies are those of the topology's wires")
    with slow_import_notice():
        from workbench.placement import place, place_all
    options: dict[str, Any] = _PLACED.given(arguments)
    options |= ranks_per_host(arguments.ranks_per_host, machine)
    if machine is not None:
        from workbench.machines import LINKS, wires_of

        options |= wires_of(machine, network)
        say_parts(machine, *LINKS[1:])
    times = {"l_wire": "l_wire_s", "d_switch": "d_switch_s", "same_host": "same_host_s"}
    options |= {times[name]: seconds(ns) for name, ns in given(arguments, *times).items()}
    if arguments.hosts is not None:
        options["hosts"] = _hosts(arguments, network)
    work: Any = place
    if arguments.method == ALL:
        work = place_all
    elif arguments.method is not None:
        options["method"] = arguments.method
    found, status = run_stoppable(work, graph, model, network, **options)
    if found is None:
        return status
    if status:
        say("stopped; this is the best so far")
    if arguments.rankfile is not None:
        found.to_rankfile(arguments.rankfile, names)
    if arguments.hostfile is not None:
        found.to_hostfile(arguments.hostfile, names)
    if arguments.method == ALL and arguments.json:
        print_json({method: placement.to_dict() for method, placement in found.items()})
    elif arguments.method == ALL:
        print(_table(found.values()))
    elif arguments.json:
        print_json(found.to_dict())
    else:
        print(_report(found))
    return status


def _hosts(arguments: argparse.Namespace, network: Topology) -> list[int]:
    """Return the numbers of the hosts that may be used."""
    from workbench.placement import job_hosts

    text = _text(arguments.hosts)
    named = arguments.host_names is not None
    names = {"names": _text(arguments.host_names)} if named else {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        hosts = job_hosts(text, network, **names)
    for one in caught:
        say(f"note: {one.message}")
    if not (named or network.host_names or text.strip().isdecimal()):
        say(
            f"note: hosts are taken by the numbers in their names, from 0: {len(hosts)} of "
            f"{network.name}, the first host {hosts[0]}; --host-names has other names"
        )
    return hosts


def _names(arguments: argparse.Namespace, network: Topology) -> list[str]:
    """Return the hosts' names for the requested files; refuse misfits before the search."""
    if arguments.rankfile is None and arguments.hostfile is None:
        return []
    if arguments.method == ALL:
        raise ParameterError(
            "a rankfile or hostfile holds one placement; got --method all: choose a method",
            key="method",
        )
    from workbench.placement import HOST_NAMES, host_names
    from workbench.placement.launch_files import names_of

    names = names_of(network, _text(arguments.host_names or HOST_NAMES))
    return host_names(names, network.num_hosts)


def _text(given: str) -> str:
    """Return what a file holds, or the text itself where it names none."""
    return Path(given).read_text() if Path(given).is_file() else given


def _alike(placements: Collection[Placement]) -> list[str]:
    """Return a line where every placement takes as long, and what to do."""
    if not all(one.alike for one in placements):
        return []
    return ["every placement takes as long: all hosts used are equally far apart; --hosts has more"]


def _table(placements: Collection[Placement]) -> str:
    """Return a row a method, with the facts of its placement."""
    import pandas as pd

    from workbench.facts import facts_columns

    heads, rows = facts_columns({one.method: one.facts()[1:] for one in placements}, exact=True)
    table = pd.DataFrame(rows, columns=["method", *(fact.name for fact in heads)])
    return "\n".join([table.to_string(index=False), *_alike(placements)])


def _report(placement: Placement) -> str:
    """Return a placement as text for people: the ranks at each router."""
    lines = [placement.report(), ""]
    frame = placement.to_frame().sort_values(["router", "host", "rank"])
    for (group, router), rows in frame.groupby(["group", "router"]):
        ranks = " ".join(str(rank) for rank in rows["rank"])
        lines.append(f"group {group}, router {router}: ranks {ranks}")
    return "\n".join(lines + _alike([placement]))
