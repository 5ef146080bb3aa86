"""Options of the commands that take a network as SST/macro's .ini, and their values."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.machine_options import say_parts
from workbench.cli.output import given, say

if TYPE_CHECKING:
    from workbench.machines import Machine
    from workbench.models import PISCES, SNAPPR
    from workbench.simulate.fabric.fabric import Fabric
    from workbench.topology import Topology


def add_ini(
    parser: argparse.ArgumentParser,
    about: str,  # help text of --config
    *,
    required: bool = False,
    example: str = "node.nic.mtu=512",  # in the help text of -p
) -> None:
    """Add ``--config`` and ``-p``; they are parsed as ``config`` and ``parameters``."""
    parser.add_argument("--config", required=required, metavar="INI", help=about)
    parser.add_argument(
        "-p",
        dest="parameters",
        action="append",
        default=[],
        type=assignment,
        metavar="KEY=VALUE",
        help=f"override a value of the file, such as {example}; may be repeated",
    )


def fabric_of(arguments: argparse.Namespace, network: Topology, machine: Machine | None) -> Fabric:
    """Return the network with the ports of ``config`` and ``parameters``, or of the machine."""
    from workbench.errors import ParameterError
    from workbench.simulate.fabric.fabric import Fabric

    options = given(arguments, "routing", "congestion", "seed")
    configured = arguments.config is not None or bool(arguments.parameters)
    if machine is None:
        return Fabric(network, model_of_ports(arguments) if configured else None, **options)
    if configured:
        raise ParameterError(
            "--machine and --config or -p both give the links; leave one of them out",
            key="machine",
        )
    from workbench import machines

    fabric = machines.fabric_of(machine, network, **options)
    if fabric.ports != machine.model:
        say_parts(machine, *machines.LINKS)
    return fabric


def model_of_ports(arguments: argparse.Namespace) -> SNAPPR | PISCES:
    """Return the model of a fabric's ports from ``config``, ``parameters`` and ``congestion``."""
    from workbench.errors import ParameterError
    from workbench.models import PISCES, SNAPPR, inspect_ini

    config: str | Path | None = None if arguments.config is None else Path(arguments.config)
    if config is None and arguments.congestion == "packet-flow":
        config = PISCES().to_ini(v10=False)
    reading = inspect_ini(config, dict(arguments.parameters))
    for note in reading.notes:
        say(f"note: {note}")
    if not isinstance(reading.model, SNAPPR | PISCES):
        raise ParameterError(
            f"a network of many routers needs a SNAPPR or PISCES model; the file has "
            f"{type(reading.model).__name__}",
            key="switch.name",
        )
    return reading.model


def assignment(text: str) -> tuple[str, str]:
    """Return key and value of ``KEY=VALUE``, for argparse."""
    key, equals, value = (part.strip() for part in text.partition("="))
    if not key or not equals:
        raise argparse.ArgumentTypeError(
            f"must be KEY=VALUE, such as node.nic.mtu=512; got {text!r}"
        )
    return key, value
