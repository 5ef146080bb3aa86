"""An own benchmark of MPI collectives that prints tables as the OSU benchmarks do.

``collective.c`` says what it measures and how. It is compiled once for each MPI and kept. Where
that cannot be, ``collective.py`` is the same with mpi4py; ``forms`` finds which of them runs here.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from workbench.counts import integer
from workbench.errors import ParameterError
from workbench.suggestions import did_you_mean
from workbench.tune.target.osu_rows import osu_rows

COLLECTIVES = ("allreduce", "bcast", "gather", "reduce")
"""What can be measured."""

STATISTICS = ("Avg", "Min", "P50", "P99", "Max")
"""The columns of latencies in µs, in the table's order."""

_LARGEST = 2**28


@dataclass(frozen=True)
class Loop:
    """How often a collective is called at each size.

    Attributes:
        warmup: calls before any is timed.
        least: calls that are timed at the least.
        most: calls that are timed at the most.
        budget_ms: time in ms that the timed calls should take, by the pace of the warm-up.

    Raises:
        ParameterError: a number is out of range.
    """

    warmup: int = 20
    least: int = 10
    most: int = 500
    budget_ms: int = 40

    def __post_init__(self) -> None:
        for key, low in (("warmup", 0), ("least", 1), ("most", self.least), ("budget_ms", 1)):
            value = getattr(self, key)
            number = integer(value)
            if number is None or not low <= number <= 1_000_000:
                raise ParameterError(
                    f"{key} must be a whole number from {low} to 1000000; got {value!r}", key=key
                )
            object.__setattr__(self, key, number)


@dataclass(frozen=True)
class BenchmarkRow:
    """What the benchmark says of one message size.

    Attributes:
        size: bytes of the vector; of one rank's part for a gather.
        latencies_us: in the order of ``STATISTICS``: the mean over ranks and calls, and of each
            call's longest time over the ranks the least, median, 99th percentile and greatest.
        calls: number of timed calls.
        seconds: time of all calls at this size, warm-up among them, in s.
    """

    size: int
    latencies_us: tuple[float, ...]
    calls: int
    seconds: float


def benchmark_arguments(
    collective: str, sizes: Sequence[int], loop: Loop | None = None
) -> tuple[str, ...]:
    """Return the arguments of the benchmark, which are those of each of its forms.

    Args:
        collective: one of ``COLLECTIVES``.
        sizes: bytes, each the same number of times the one before; multiples of 4.
        loop: how often the collective is called; None for the defaults.

    Raises:
        ParameterError: there is no such collective, or the sizes cannot be measured in one run.
    """
    if collective not in COLLECTIVES:
        raise ParameterError(
            f"collective must be one of {', '.join(COLLECTIVES)}; got {collective!r}"
            f"{did_you_mean(collective, COLLECTIVES)}",
            key="collective",
        )
    if any(integer(size) is None for size in sizes):
        raise ParameterError(
            f"sizes must be whole numbers of bytes; got {', '.join(map(repr, sizes))}", key="sizes"
        )
    factor = sizes[1] // sizes[0] if len(sizes) > 1 and sizes[0] > 0 else 2
    steady = all(b == a * factor for a, b in itertools.pairwise(sizes))
    if not sizes or not 4 <= sizes[0] <= sizes[-1] <= _LARGEST or not steady or factor < 2:
        raise ParameterError(
            f"sizes must go from 4 to {_LARGEST} B, each the same number of times the one before; "
            f"got {', '.join(map(str, sizes)) or 'none'}",
            key="sizes",
        )
    if any(size % 4 for size in sizes):
        raise ParameterError("sizes must be multiples of 4 B, a float each", key="sizes")
    chosen = loop or Loop()
    numbers = (sizes[0], sizes[-1], factor, chosen.warmup, chosen.least, chosen.most)
    return (collective, *map(str, numbers), str(chosen.budget_ms))


def read_benchmark(text: str) -> list[BenchmarkRow]:
    """Return the rows of the benchmark's table, by size; those that are not whole are left out.

    Args:
        text: what it printed.
    """
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
