"""List the measured machines that ship with the workbench, for fit --machine."""

from __future__ import annotations

import argparse

from workbench.cli.output import add_json, print_json

ABOUT = "list the measured machines that can be fitted by name"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the datasets and return the exit status."""
    from workbench import datasets

    shipped = datasets.list()
    if arguments.json:
        print_json(
            {
                d.name: {
                    "system": d.system,
                    "interconnect": d.interconnect,
                    "mpi": d.mpi,
                    "statistic": d.statistic,
                    "caveats": list(d.caveats),
                    "provenance": d.provenance.to_dict(),
                }
                for d in shipped.things
            }
        )
        return 0
    width = max(map(len, shipped))
    for d in shipped.things:
        print(f"{d.name:<{width}}  {d.provenance.caption()}")
    return 0
