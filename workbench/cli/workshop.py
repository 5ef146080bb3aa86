"""Serve the notebooks as pages for a class: prints what that needs, then an address for everyone.

Ctrl-C ends the server and all kernels. A page ends its kernel when it is closed.
"""

from __future__ import annotations

import argparse
import secrets
from pathlib import Path

from workbench.cli.output import output_file, say, slow_import_notice
from workbench.errors import ParameterError

ABOUT = "serve the notebooks as pages for a class"
_FIRST = "00-start-here.ipynb"


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
        table = workshop.rehearse(folder, arguments.people)
        print(table.to_frame().round(2).to_string(index=False))
        if arguments.save:
            table.save(arguments.save)
        return 0
    with slow_import_notice():
        needed = workshop.need(arguments.people, first)
    print(needed.to_text(), flush=True)
    token = arguments.token or secrets.token_urlsafe(12)
    shown = f"http://{arguments.address}:{arguments.port}/?token={token}"
    print(f"\nthe address for the class: {shown}\nCtrl-C ends it, and all kernels\n", flush=True)
    workshop.serve(
        folder,
        seats=needed.seats,
        token=token,
        address=arguments.address,
        port=arguments.port,
        warm={arguments.first: needed.warm} if needed.warm else {},
    )
    say("ended")
    return 0


def _folder(given: str | None) -> Path:
    """Return the folder of the notebooks; a wheel has none."""
    folder = Path(given or Path(__file__).parents[2] / "notebooks")
    if not folder.is_dir():
        raise ParameterError(
            f"notebooks must be a folder; {folder} is none. Name one: --notebooks FOLDER",
            key="notebooks",
        )
    return folder.resolve()
