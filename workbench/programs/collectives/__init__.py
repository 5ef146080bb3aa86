"""Collectives as schedules of messages, each algorithm a choice made at run time.

    schedule("allreduce", "ring", 16, size=4096).graph()
    schedule("bcast", "pipeline:8192", 64, size=2**20, root=3)
    list(ALGORITHMS["allreduce"])

One file for each family holds its algorithms in rounds of messages; `rounds` says what those are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy import lazy_exports

if TYPE_CHECKING:
    from workbench.programs.collectives.registry import (
        ALGORITHMS as ALGORITHMS,
        DEFAULTS as DEFAULTS,
        find_algorithm as find_algorithm,
    )
    from workbench.programs.collectives.rounds import (
        Algorithm as Algorithm,
        CollectiveCase as CollectiveCase,
    )
    from workbench.programs.collectives.schedule import Schedule as Schedule, schedule as schedule
else:
    __getattr__, __dir__ = lazy_exports(__name__)
