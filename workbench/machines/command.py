"""List the machines, print what is known of one, and add to it.

A machine is what workbench fit --save writes: a fitted model, LogGPS parameters, the measured
messages, and parts such as the topology, each measured, published or assumed. Every command takes
it by --machine, by its file or, from the folder "machines", by its name.

    workbench machine show my-machine.json
    workbench machine set my-machine.json topology=fat-tree:16 ranks_per_node=64
"""

from __future__ import annotations

import argparse
from pathlib import Path

from workbench.cli.ini_options import assignment
from workbench.cli.output import add_json, print_json, say

ABOUT = "list machines, print what is known of one, and add to it"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the actions and their arguments."""
    actions = parser.add_subparsers(
        title="actions", metavar="ACTION", required=True, dest="machine_action"
    )
    for name, about in (
        ("list", "name the machines: those of the folder machines, then the shipped ones"),
        ("show", "print each part of a machine, and where it is from"),
        ("set", "add parts to a machine's file, such as topology=fat-tree:16"),
    ):
        action = actions.add_parser(name, help=about, description=about)
        if name == "show":
            action.add_argument("machine", metavar="NAME|FILE", help="its name, or its file")
        if name == "set":
            action.add_argument("machine", metavar="NAME|FILE", help="its file, or its name")
            action.add_argument(
                "parts",
                metavar="PART=VALUE",
                nargs="+",
                type=assignment,
                help="parts as workbench machine show names them, values with their unit: "
                "topology=fat-tree:16 ranks_per_node=64 link_bandwidth=25GB/s switch_latency=90ns",
            )
            action.add_argument(
                "--source",
                metavar="NAME",
                default="published",
                help="where they are from: measured, published (default) or assumed",
            )
        add_json(action)


def run(arguments: argparse.Namespace) -> int:
    """Run the chosen action and return the exit status."""
    from workbench import machines

    if arguments.machine_action == "list":
        mine = machines.own()
        if arguments.json:
            print_json({"own": mine, "shipped": machines.shipped()})
        for name in () if arguments.json else machines.names():
            print(f"{name}{'  (machines/' + name + '.json)' if name in mine else ''}")
        return 0
    found = machines.load(arguments.machine)
    if arguments.machine_action == "set":
        found = found.with_parts(arguments.source, **dict(arguments.parts))
        file = Path(arguments.machine)
        path = found.save(file) if file.suffix == ".json" else machines.keep(found)
        say(f"saved {', '.join(name for name, _ in arguments.parts)} in {path}")
    if arguments.json:
        print_json(found.to_dict())
    else:
        print(found)
        print(found.to_frame().to_string(index=False))
    return 0
