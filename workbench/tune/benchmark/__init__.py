"""An own benchmark of MPI collectives that prints tables as the OSU benchmarks do.

``collective.c`` says what it measures and how. It is compiled once for each MPI and kept. Where
that cannot be, ``collective.py`` is the same with mpi4py; ``forms`` finds which of them runs here.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from workbench.checks import whole, whole_each
from workbench.errors import ParameterError
from workbench.suggestions import did_you_mean
from workbench.tune.benchmark.collective import LARGEST, MOST_CALLS
from workbench.tune.target import osu_rows

COLLECTIVES = ("allreduce", "bcast", "gather", "reduce")
"""What can be measured."""

STATISTICS = ("Avg", "Min", "P50", "P99", "Max")
"""The columns of latencies in µs, in the table's order."""


@dataclass(frozen=True)
class Loop:
    """How often a collective is called at each size."""

    warmup: int = 20  # untimed calls before the timed ones
    least: int = 10  # timed calls, at least
    most: int = 500  # timed calls, at most
    budget_ms: int = 40  # time budget of the timed calls, at the pace of the warm-up

    def __post_init__(self) -> None:
        for key, low in (("warmup", 0), ("least", 1), ("most", self.least), ("budget_ms", 1)):
            object.__setattr__(self, key, whole(getattr(self, key), key, low, MOST_CALLS))


@dataclass(frozen=True)
class BenchmarkRow:
    """The benchmark's result for one message size."""

    size: int  # bytes of the vector; of one rank's part for a gather
    latencies_us: tuple[float, ...]  # as in STATISTICS; all but Avg are of each call's slowest rank
    calls: int  # timed calls
    seconds: float  # all calls of this size, the warm-up included


def benchmark_arguments(
    collective: str, sizes: Sequence[int], loop: Loop | None = None
) -> tuple[str, ...]:
    """Return the arguments of every form of the benchmark; ``loop`` None is the default one."""
    if collective not in COLLECTIVES:
        raise ParameterError(
            f"collective must be one of {', '.join(COLLECTIVES)}; got {collective!r}"
            f"{did_you_mean(collective, COLLECTIVES)}",
            key="collective",
        )
    sizes = whole_each(sizes, "sizes")
    factor = sizes[1] // sizes[0] if len(sizes) > 1 and sizes[0] > 0 else 2
    steady = all(b == a * factor for a, b in itertools.pairwise(sizes))
    if not sizes or not 4 <= sizes[0] <= sizes[-1] <= LARGEST or not steady or factor < 2:
        raise ParameterError(
            f"sizes must be 4 to {LARGEST} B, each the one before times a constant factor; got "
            f"{', '.join(map(str, sizes)) or 'none'}",
            key="sizes",
        )
    if any(size % 4 for size in sizes):
        raise ParameterError("sizes must be multiples of 4 B, a float each", key="sizes")
    chosen = loop or Loop()
    numbers = (sizes[0], sizes[-1], factor, chosen.warmup, chosen.least, chosen.most)
    return (collective, *map(str, numbers), str(chosen.budget_ms))


def parse_benchmark(text: str) -> list[BenchmarkRow]:
    """Return the complete rows of the table that the benchmark printed, by size."""
    names = (*STATISTICS, "Iterations", "Seconds")
    columns = [{row.size: row.value for row in osu_rows(text, name)} for name in names]
    sizes = [size for size in columns[0] if all(size in column for column in columns)]
    return [
        BenchmarkRow(
            size,
            tuple(column[size] for column in columns[: len(STATISTICS)]),
            int(columns[-2][size]),
            columns[-1][size],
        )
        for size in sizes
    ]
