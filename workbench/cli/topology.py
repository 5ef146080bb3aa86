"""Make networks, measure them, and compare them.

SPEC is a family with its parameters, such as fat-tree:16, torus:8x8x8 or dragonfly:9,4,2,2 (groups,
routers of each, hosts and global ports of a router), or by letters,
dragonfly:a=4,p=2,h=2,wiring=relative; a machine, such as hopper; or a file: a list of links (edge
list or CSV), GraphML, dot, Slurm's topology.conf, what ibnetdiscover prints, a topology of ns-3,
SimAI, BookSim (anynet), SST/macro (JSON or .ini) or CODES. FILE:hosts=16 sets the hosts of each
router, FILE:hosts=16,at=edge those of the routers with the fewest links, so that spines have none;
without, one at each where the file names none. workbench topology list names all families and
machines. Any family takes bandwidth=1x2, the bandwidth of each class of links (here within and
between groups) in hosts' links; where links are unequal, bisections count in hosts' links, or in
the least link's bandwidth where that of hosts is not known.

Average path is the mean number of links on a shortest path between the routers of two hosts at
different routers; spines without hosts do not count as ends. Throughput is the largest share of
their bandwidth at which all hosts can send at once, at most 1, over the best possible routes:
exact for small networks, two bounds for others. A network without groups runs longest-matching
instead of adversarial traffic, with a note in the table. Cost and power are estimates by a price
table.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.cli.machine_options import add_machine, machine_of, say_parts
from workbench.cli.output import add_json, output_file, print_json, say, slow_import_notice
from workbench.cli.signals import run_stoppable
from workbench.errors import ParameterError
from workbench.shell.function_options import FunctionOptions

if TYPE_CHECKING:
    from workbench.machines import Machine
    from workbench.topology import Topology
    from workbench.topology.metrics import TopologyMetrics
    from workbench.topology.traffic import Traffic

ABOUT = "make networks, measure and compare them"

_MEASURED = FunctionOptions("workbench.topology.metrics.summary")
_ALL = "all"
_MOST_NAMED = 12  # names of routers or hosts that fit a line


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True, dest="action")
    for name, about in (
        ("build", "make a network, print its size, and write it to a file"),
        ("metrics", "print distances, cuts, eigenvalues, path diversity, cost and throughput"),
        ("compare", "print these for several networks, and the best of each row"),
        ("list", "name the families with their parameters, and the machines"),
    ):
        action = actions.add_parser(name, help=about, description=about)
        if name == "compare":
            action.add_argument("specs", metavar="SPEC", nargs="+", help="networks")
        elif name != "list":
            action.add_argument("specs", metavar="SPEC", nargs=1, help="a network")
        if name == "build":
            action.add_argument(
                "--output",
                type=output_file(),
                metavar="FILE",
                help="write it: .txt or .edges (edge list), .csv, .graphml, .json (SST/macro's)",
            )
        elif name != "list":
            _add_measures(action)
        add_json(action)


def _add_measures(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--part",
        action="append",
        metavar="NAME",
        help="distances, spectrum, bisection, diversity, cost, resilience, or all; may be repeated "
        "(default: all but resilience)",
    )
    parser.add_argument(
        "--traffic",
        action="append",
        default=[],
        metavar="NAME",
        help="find the throughput under it: uniform, permutation, tornado, transpose, "
        "bit-complement, adversarial, hotspot, longest-matching, or a CSV file of your own, hosts "
        "by hosts or src,dst,weight; may be repeated",
    )
    parser.add_argument(
        "--program",
        dest="file",
        metavar="FILE",
        help="find the throughput under the messages of a GOAL file or a trace, rank i at host i",
    )
    parser.set_defaults(algorithms=[])
    _MEASURED.add(parser, "method")
    _MEASURED.add(parser, "rng", option="--seed")
    add_machine(parser, "also print latency in us and bandwidth in GB/s, of a machine's links")


def run(arguments: argparse.Namespace) -> int:
    """Run the chosen action and return the exit status."""
    if arguments.action == "list":
        return _list(json=arguments.json)
    networks = [topology_of(spec) for spec in arguments.specs]
    if arguments.action == "build":
        return _build(networks[0], arguments)
    with slow_import_notice():
        from workbench.topology.metrics import Comparison, summary
    machine = machine_of(arguments)
    if machine is not None:
        from workbench.machines import LINKS

        say_parts(machine, *LINKS)
    measured: list[TopologyMetrics] = []
    for network in networks:
        options = _options(arguments, network)
        found, status = run_stoppable(summary, network, **options)
        if found is None:
            return status
        measured.append(found)
    if arguments.action == "compare":
        compared = Comparison(tuple(measured))
        if arguments.json:
            print_json(compared.to_dict())
        else:
            print(compared.to_frame().to_string())
            for note in compared.notes:
                say(f"note: {note}")
    elif arguments.json:
        print_json(measured[0].to_dict())
    else:
        print(measured[0])
        rows = measured[0].rows()
        width = max(map(len, rows))
        print("\n".join(f"{name:<{width}}  {row}" for name, row in rows.items()))
    return 0


def topology_of(spec: str) -> Topology:
    """Return the network of a spec: a family with its parameters, a machine, or a file's path."""
    from workbench.topology import parse_topology

    file, _, hosts = spec.rpartition(":") if "=" in spec.rpartition(":")[2] else (spec, "", "")
    if Path(file).is_file():
        from workbench.topology.files import read_topology
        from workbench.topology.files.assembly import ASSUMED
        from workbench.topology.files.hosts import describe_hosts, hosts_set

        made = read_topology(Path(file), **(hosts_set(hosts) if hosts else {}))
        for note in made.notes:
            say(f"note: {file}: {note}")
        if made.parameters.get("hosts") == ASSUMED:
            say(f"note: {file}: {describe_hosts(made)}; {file}:hosts=16,at=edge sets others")
        return made
    try:
        return parse_topology(spec)
    except ParameterError as error:
        if ":" in spec or error.key != "topology":
            raise
        other = (
            "; it is a folder, and must be a file"
            if Path(spec).is_dir() and spec
            else "; there is no such file either"
        )
        raise ParameterError(f"{error}{other}", key=error.key) from None


def network_of(spec: str | None, machine: Machine | None) -> Topology:
    """Return the network of a spec or a file, else that of the machine."""
    if spec is not None:
        return topology_of(spec)
    if machine is None or "topology" not in machine.given:
        raise ParameterError(
            "a topology must be given, such as fat-tree:16, or a --machine that has one (workbench "
            "machine set FILE.json topology=fat-tree:16)",
            key="topology",
        )
    say_parts(machine, "topology")
    return topology_of(str(machine.part("topology").value))


def pattern_of(word: str, network: Topology) -> str | Traffic:
    """Return the traffic of the file at that path, else the word as a pattern's name."""
    from workbench.topology.demand import read_demand
    from workbench.topology.traffic import PATTERNS

    if word in PATTERNS or not Path(word).is_file():
        return word
    demand = read_demand(Path(word))
    for note in demand.notes:
        say(f"note: {note}")
    return demand.on(network)


def _options(arguments: argparse.Namespace, network: Topology) -> dict[str, Any]:
    from workbench.topology.metrics import PARTS

    options = _MEASURED.given(arguments)
    if arguments.part:
        options["parts"] = PARTS if _ALL in arguments.part else arguments.part
    machine = machine_of(arguments)
    if machine is not None:
        from workbench.machines import links_of

        options["links"] = links_of(machine)
    traffic = [pattern_of(word, network) for word in arguments.traffic]
    if arguments.file is not None:
        traffic.append(_program(arguments, network))
    return options | {"traffic": traffic}


def _program(arguments: argparse.Namespace, network: Topology) -> Traffic:
    """Return the traffic of a program's messages."""
    from workbench.cli.program_options import graph_of
    from workbench.programs.graph import SEND
    from workbench.topology.program_traffic import message_traffic

    graph = graph_of(arguments)
    sends = (graph.kind == SEND).nonzero()[0]
    return message_traffic(
        network,
        graph.rank_of(sends),
        graph.peer[sends],
        graph.size[sends],
        name=Path(arguments.file).name,
    )


def _build(network: Topology, arguments: argparse.Namespace) -> int:
    if arguments.output is not None:
        from workbench.topology.files import write_topology

        write_topology(network, Path(arguments.output))
        if network.unequal and Path(arguments.output).suffix.lower() == ".json":
            say(f"note: {arguments.output} has no bandwidths, which SST/macro's JSON cannot hold")
    if arguments.json:
        print_json(_sizes(network))
    else:
        print(network)
        for what, names in (("routers", network.router_names), ("hosts", network.host_names)):
            if names:
                print(f"{what}: {_some(names)}")
        if arguments.output is not None:
            print(f"written to {arguments.output}")
    return 0


def _some(names: tuple[str, ...]) -> str:
    """Return names with commas between them, of many the first and the last."""
    if len(names) <= _MOST_NAMED:
        return ", ".join(names)
    return f"{', '.join(names[: _MOST_NAMED - 1])}, ..., {names[-1]}"


def _sizes(network: Topology) -> dict[str, Any]:
    from workbench.topology.metrics import summary

    names = {"router_names": network.router_names, "host_names": network.host_names}
    known = {key: list(values) for key, values in names.items() if values}
    return summary(network, parts=()).to_dict() | known


def _list(*, json: bool) -> int:
    from workbench.topology import FAMILIES, PRESETS
    from workbench.topology.families import BANDWIDTH

    if json:
        print_json(
            {
                "families": {
                    word: {
                        "about": family.about,
                        "example": f"{word}:{family.example}",
                        "parameters": {one.name: one.meaning for one in family.parameters},
                    }
                    for word, family in FAMILIES.items()
                },
                "machines": {name: preset.title for name, preset in PRESETS.items()},
            }
        )
        return 0
    for word, family in FAMILIES.items():
        print(f"{word}:{family.example}\n    {family.about}")
        for one in family.parameters:
            print(f"    {one.name:<14}{one.meaning}")
    print(f"any family\n    {BANDWIDTH.name:<14}{BANDWIDTH.meaning}, such as 1x2")
    for name, preset in PRESETS.items():
        print(f"{name}\n    {preset.title}")
    return 0
