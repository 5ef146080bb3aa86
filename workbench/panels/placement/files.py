"""Exports of the placement panel: the comparison, the pairs of ranks, and the placements."""

from __future__ import annotations

import json
from collections.abc import Callable

from workbench.panels.placement.state import Placed, python_lines
from workbench.placement import PlacementMethod


def comparison_csv(placed: Placed, method: PlacementMethod, names: str) -> str:
    """Return a CSV by method: run time, gain over block and cost of the search."""
    return str(placed.frame.to_csv(index=False))


def pairs_csv(placed: Placed, method: PlacementMethod, names: str) -> str:
    """Return a CSV of the pairs of ranks on the critical path: λ_L and λ_G."""
    return str(placed.pairs_of(method).to_frame().to_csv(index=False))


def placement_csv(placed: Placed, method: PlacementMethod, names: str) -> str:
    """Return a CSV by rank: host, router and group."""
    return str(placed.placements[method].to_frame().to_csv(index=False))


def placement_json(placed: Placed, method: PlacementMethod, names: str) -> str:
    """Return the host of each rank, with program, network and parameters, as JSON."""
    base, placement = placed.state.base, placed.placements[method]
    content = {
        **placement.to_dict(),
        "program": placed.graph.summary(),
        "algorithms": dict(base.algorithms),
        "model": base.model.to_dict(),
        "machine": base.machine or None,
        **placed.state.network.latencies,
        "ranks_per_host": placed.state.network.ranks_per_host,
        "provenance": placement.provenance.to_dict(),
        "python": python_lines(placed.state, placed.program, method),
    }
    return json.dumps(content, indent=1, allow_nan=False) + "\n"


def placement_rankfile(placed: Placed, method: PlacementMethod, names: str) -> str:
    """Return a placement as Open MPI's rankfile; ``names`` holds the hosts' names."""
    return placed.placements[method].to_rankfile(names=names)


def placement_hostfile(placed: Placed, method: PlacementMethod, names: str) -> str:
    """Return the host of each rank, one a line, for MPICH and Slurm."""
    return placed.placements[method].to_hostfile(names=names)


PlacementFiles = dict[str, tuple[Callable[[Placed, PlacementMethod, str], str], str]]

FILES: dict[str, PlacementFiles] = {
    "comparison": {
        ".csv": (comparison_csv, "every method: run time, gain over block, cost of the search"),
    },
    "pairs": {
        ".csv": (pairs_csv, "each pair of ranks on the critical path: λ_L, and λ_G in bytes"),
    },
    "placement": {
        ".csv": (placement_csv, "the host, router and group of each rank"),
        ".json": (placement_json, "the host of each rank, with program, network and parameters"),
        ".rankfile": (placement_rankfile, "for Open MPI: mpirun --rankfile FILE"),
        ".hostfile": (
            placement_hostfile,
            "for MPICH, mpiexec -f FILE, and Slurm, SLURM_HOSTFILE=FILE srun -m arbitrary",
        ),
    },
}
"""By subject and suffix: the function that returns the text, and a description of the file."""
