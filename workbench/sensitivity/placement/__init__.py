"""Where to place a program's ranks: LLAMP's Algorithm 3, a search that goes further, and baselines.

from workbench import programs, topology
from workbench.sensitivity.placement import compare_placements, place

network = topology.dragonfly(a=4, p=8, g=8)
found = place(program, model, network, method="search", seed=1)
compare_placements(program, model, network)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy import lazy_exports

if TYPE_CHECKING:
    from workbench.sensitivity.placement.launch_files import HOST_NAMES, host_names, job_hosts
    from workbench.sensitivity.placement.placement import Placement
    from workbench.sensitivity.placement.placing import (
        EVALUATIONS,
        METHODS,
        PlacementMethod,
        compare_placements,
        frame_of,
        place,
        place_all,
        place_each,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)

__all__ = [
    "EVALUATIONS",
    "HOST_NAMES",
    "METHODS",
    "Placement",
    "PlacementMethod",
    "compare_placements",
    "frame_of",
    "host_names",
    "job_hosts",
    "place",
    "place_all",
    "place_each",
]
