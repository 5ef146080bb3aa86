"""Simulate networks of many routers: traffic, collectives and programs over them.

workbench fabric traffic dragonfly:9,8,4 --pattern adversarial --routing ugal-l
workbench fabric replay program.goal --topology torus:8,8,8
workbench fabric collective --config torus.ini --json
"""

from __future__ import annotations

import argparse

from workbench.cli import fabric_collective, fabric_replay, fabric_traffic
from workbench.shell.parser import add_actions

ABOUT = "simulate traffic, collectives and programs over networks of many routers"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the actions."""
    add_actions(
        parser,
        {"traffic": fabric_traffic, "replay": fabric_replay, "collective": fabric_collective},
    )
