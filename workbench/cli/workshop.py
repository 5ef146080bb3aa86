"""Serve the notebooks as pages for a class: prints what that needs, then an address for everyone.

Ctrl-C ends the server and all kernels. A page ends its kernel when it is closed.
"""

from __future__ import annotations

import argparse
import contextlib
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.output import output_file, say, slow_import_notice
from workbench.errors import ParameterError, WorkshopError

if TYPE_CHECKING:
    from workbench.workshop import ForkServer

ABOUT = "serve the notebooks as pages for a class"
_FIRST = "00-start-here.ipynb"
_ADDRESS = "the address for the class"
_END = "Ctrl-C ends it, and all kernels"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    parser.add_argument("--people", type=int, default=30, metavar="N", help="(default: 30)")
    parser.add_argument(
        "--address",
        default="127.0.0.1",
        help="of the network interface to listen on (default: 127.0.0.1, this machine alone)",
    )
    parser.add_argument("--port", type=int, default=8866, help="(default: 8866)")
    parser.add_argument("--token", help="that the class's address holds (default: a new one)")
    parser.add_argument(
        "--first",
        default=_FIRST,
        metavar="NOTEBOOK",
        help=f"that the class opens first: its kernels wait ready (default: {_FIRST})",
    )
    parser.add_argument(
        "--notebooks", metavar="FOLDER", help="to serve (default: those of this checkout)"
    )
    parser.add_argument(
        "--no-fork",
        action="store_true",
        help="start each kernel by itself, instead of copying a process that has loaded all",
    )
    parser.add_argument(
        "--rehearse",
        action="store_true",
        help="instead, let 1, 5, 10 ... simulated visitors move a slider, and print what they wait",
    )
    parser.add_argument(
        "--save", type=output_file(".json"), metavar="FILE.json", help="keep what --rehearse found"
    )


def run(arguments: argparse.Namespace) -> int:
    """Serve, or rehearse, and return the exit status."""
    from workbench import workshop

    folder = _folder(arguments.notebooks)
    first = folder / arguments.first
    if not first.is_file():
        raise ParameterError(f"first must be a notebook in {folder}; got {arguments.first}")
    if arguments.rehearse:
        table = workshop.rehearse(folder, arguments.people, fork=not arguments.no_fork)
        print(table.to_frame().round(2).to_string(index=False))
        if arguments.save:
            table.save(arguments.save)
        return 0
    workshop.check_address(arguments.address, arguments.port)
    with contextlib.ExitStack() as until:
        with slow_import_notice():
            forks = None if arguments.no_fork else _forks(until)
            needed = workshop.need(arguments.people, first, forks)
        print(needed.to_text(), flush=True)
        token = arguments.token or secrets.token_urlsafe(12)
        shown = f"http://{arguments.address}:{arguments.port}/?token={token}"
        workshop.serve(
            folder,
            seats=needed.seats,
            token=token,
            address=arguments.address,
            port=arguments.port,
            warm={arguments.first: needed.warm} if needed.warm else {},
            listening=lambda: print(f"\n{_ADDRESS}: {shown}\n{_END}\n", flush=True),
        )
    say("ended")
    return 0


def _forks(until: contextlib.ExitStack) -> ForkServer | None:
    """Start the process that forks kernels; return None where that is not possible."""
    from workbench import workshop

    try:
        return until.enter_context(workshop.forked_kernels())
    except WorkshopError as error:
        say(f"each kernel is started by itself, which takes some seconds: {error}")
        return None


def _folder(given: str | None) -> Path:
    """Return the folder of the notebooks; a wheel has none."""
    folder = Path(given or Path(__file__).parents[2] / "notebooks")
    if not folder.is_dir():
        raise ParameterError(
            f"notebooks must be a folder; {folder} is none. Name one: --notebooks FOLDER",
            key="notebooks",
        )
    return folder.resolve()
