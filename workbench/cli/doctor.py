"""List the parts of this installation, and report its problems.

The exit status is 0 only without problems.
"""

from __future__ import annotations

import argparse

from workbench.cli.output import FAILED, add_json, print_json, slow_import_notice

ABOUT = "list the parts of this installation and report its problems"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments."""
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print the checks and return the exit status."""
    from workbench.diagnosis import diagnose

    with slow_import_notice():
        diagnosis = diagnose()
    if arguments.json:
        print_json(diagnosis.to_dict())
    else:
        print(diagnosis.to_text())
    return 0 if diagnosis.ok else FAILED
