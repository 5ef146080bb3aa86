"""Where to place a program's ranks: LLAMP's Algorithm 3, a search that goes further, and baselines.

from workbench import programs, topology
from workbench.placement import compare_placements, place

network = topology.dragonfly(a=4, p=8, g=8)
found = place(program, model, network, method="search", seed=1)
compare_placements(program, model, network)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy import lazy_exports

if TYPE_CHECKING:
    from workbench.placement.launch_files import (
        HOST_NAMES as HOST_NAMES,
        host_names as host_names,
        job_hosts as job_hosts,
    )
    from workbench.placement.placement import Placement as Placement
    from workbench.placement.placing import (
        EVALUATIONS as EVALUATIONS,
        METHODS as METHODS,
        PlacementMethod as PlacementMethod,
        compare_placements as compare_placements,
        frame_of as frame_of,
        place as place,
        place_all as place_all,
        place_each as place_each,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)
