"""Serve the notebooks as pages for a class: prints what that needs, then an address for everyone.

Ctrl-C ends the server and all kernels. A page ends its kernel when it is closed.
"""

from __future__ import annotations

import argparse
import secrets
from pathlib import Path

from workbench.cli.output import say, slow_import_notice
from workbench.errors import ParameterError

ABOUT = "serve the notebooks as pages for a class"
_FIRST = "00-start-here.ipynb"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("--people", type=int, default=30, metavar="N", help="(default: 30)")
    interface = "of the network interface to listen on (default: 127.0.0.1, this machine alone)"
    parser.add_argument("--address", default="127.0.0.1", help=interface)
    parser.add_argument("--port", type=int, default=8866, help="(default: 8866)")
    parser.add_argument("--token", help="that the class's address holds (default: a new one)")
    opened = f"that the class opens first: its kernels wait ready (default: {_FIRST})"
    parser.add_argument("--first", default=_FIRST, metavar="NOTEBOOK", help=opened)
    folder = "to serve (default: those of this checkout)"
    parser.add_argument("--notebooks", metavar="FOLDER", help=folder)


def run(arguments: argparse.Namespace) -> int:
    """Serve, and return the exit status."""
    from workbench import workshop

    folder = Path(arguments.notebooks or Path(__file__).parents[2] / "notebooks").resolve()
    if not folder.is_dir():  # a wheel has none
        raise ParameterError(
            f"notebooks must be a folder; {folder} is none. Name one: --notebooks FOLDER",
            key="notebooks",
        )
    first = folder / arguments.first
    if not first.is_file():
        raise ParameterError(f"first must be a notebook in {folder}; got {arguments.first}")
    workshop.check_address(arguments.address, arguments.port)
    with slow_import_notice():
        needed = workshop.need(arguments.people, first)
    print(needed.to_text(), flush=True)
    token = arguments.token or secrets.token_urlsafe(12)
    shown = (
        f"\nthe address for the class: http://{arguments.address}:{arguments.port}/?token={token}\n"
        "Ctrl-C ends the server, and all kernels\n"
    )
    workshop.serve(
        folder,
        arguments.first,
        needed,
        address=arguments.address,
        port=arguments.port,
        token=token,
        listening=lambda: print(shown, flush=True),
    )
    say("ended")
    return 0
