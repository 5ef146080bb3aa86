"""Collectives as schedules of messages, each algorithm a choice made at run time.

    schedule("allreduce", "ring", 16, size=4096).graph()
    schedule("bcast", "pipeline:8192", 64, size=2**20, root=3)
    list(ALGORITHMS["allreduce"])

One file for each family holds its algorithms in rounds of messages; `rounds` says what those are.
"""

from __future__ import annotations

from workbench.programs.collectives.registry import ALGORITHMS, DEFAULTS, find_algorithm
from workbench.programs.collectives.rounds import Algorithm, CollectiveCase
from workbench.programs.collectives.schedule import Schedule, schedule

__all__ = [
    "ALGORITHMS",
    "DEFAULTS",
    "Algorithm",
    "CollectiveCase",
    "Schedule",
    "find_algorithm",
    "schedule",
]
