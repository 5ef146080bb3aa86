"""How long collectives take on the emulated cluster, all ranks beginning at one instant."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from workbench.checks import whole, whole_each
from workbench.errors import ParameterError
from workbench.measure.cluster.cluster import Cluster
from workbench.measure.cluster.costs import Quartiles
from workbench.measure.cluster.errors import ClusterError
from workbench.mpi import Recipe
from workbench.suggestions import did_you_mean

COLLECTIVES = ("allgather", "allreduce", "alltoall", "bcast", "gather", "reduce")
"""What can be measured."""

_FOLDER = Path(__file__).resolve().parent
_PROGRAM = Recipe(
    "the program that measures collectives",
    "collective_times",
    "cluster",
    ("-std=gnu11", "-O2"),
    (_FOLDER / "collective_times.c",),
    "MPI 2.2, Linux and glibc",
    headers=(_FOLDER / "pace.h",),
)
_LEAD_US = 10_000.0  # until ranks begin, beside some latencies that it takes to tell them when
_LEAD_LATENCIES = 8  # a broadcast to 64 hosts takes 6; two to spare


def measure_collective(
    cluster: Cluster,
    collective: str,
    sizes: Sequence[int],
    *,
    repeats: int = 20,
    timeout: float = 300.0,
) -> dict[int, Quartiles]:
    """Return how long the slowest rank takes for a collective, by size, in s.

    Args:
        cluster: with the MPI's settings that choose an algorithm.
        collective: one of ``COLLECTIVES``.
        sizes: bytes of the vector, or of one rank's part for gather, allgather and alltoall;
            multiples of 4.
        repeats: calls at each size.
        timeout: seconds after which it is ended.

    Raises:
        ParameterError: an argument is not accepted.
        ClusterError: the program failed, or ranks never began together.
    """
    if collective not in COLLECTIVES:
        raise ParameterError(
            f"collective must be one of {', '.join(COLLECTIVES)}; got {collective!r}"
            f"{did_you_mean(collective, COLLECTIVES)}",
            key="collective",
        )
    checked = whole_each(sizes, "sizes", 4)
    if any(size % 4 for size in checked):
        raise ParameterError("sizes must be multiples of 4 B, a float each", key="sizes")
    whole(repeats, "repeats", 4, 100_000)
    path = _PROGRAM.place(cluster.launcher.compiler())
    _PROGRAM.make(cluster.launcher.compiler(), path)
    lead_us = _LEAD_US + 1e6 * _LEAD_LATENCIES * cluster.latency_s
    words = [str(path), collective, f"{lead_us:.0f}", str(repeats), *map(str, checked)]
    run = cluster.run(words, timeout=timeout)
    rows = [line.split() for line in run.output.splitlines()]
    found = {
        int(row[0]): Quartiles(*(float(word) / 1e6 for word in row[2:]))
        for row in rows
        if len(row) == 5 and row[0].isdecimal()
    }
    if set(found) != set(checked):
        raise ClusterError(
            "the program that measures collectives must print a line for each size, from calls "
            f"that all ranks began together; it printed {run.output[-300:]!r}"
        )
    return found
