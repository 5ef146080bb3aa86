"""An own benchmark of MPI collectives, in C, that prints tables as the OSU benchmarks do.

``collective.c`` says what it measures and how. It is compiled once for each MPI and kept.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.errors import ParameterError
from workbench.programs.recording import RecordingError
from workbench.tune.osu_rows import osu_rows

COLLECTIVES = ("allreduce", "bcast", "gather", "reduce")
"""What can be measured."""

STATISTICS = ("Avg", "Min", "P50", "P99", "Max")
"""The columns of latencies in µs, in the table's order."""

_SOURCE = Path(__file__).resolve().parent / "collective.c"
_OPTIONS = ("-std=c99", "-O2")
_COMPILE_S = 120
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
            if not low <= value <= 1_000_000:
                raise ParameterError(
                    f"{key} must be a whole number from {low} to 1000000; got {value}", key=key
                )


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


def build_benchmark(mpicc: str | Path, folder: str | Path | None = None) -> Path:
    """Return the path of the benchmark for an MPI, and compile it where it is not there.

    Args:
        mpicc: the compiler of the MPI.
        folder: where to keep it; None takes the user's cache, which ``XDG_CACHE_HOME`` moves.

    Raises:
        RecordingError: the compiler fails; its words are in it.
    """
    digest = hashlib.sha256(" ".join(_OPTIONS).encode())
    digest.update(_compiled([str(mpicc), "-show"]).encode())
    digest.update(str(Path(mpicc).resolve()).encode())
    digest.update(_SOURCE.read_bytes())
    place = (_cache() if folder is None else Path(folder)) / digest.hexdigest()[:16]
    program = (place / "collective").resolve()
    if program.exists():
        return program
    place.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place) as scratch:
        built = Path(scratch) / "collective"
        _compiled([str(mpicc), *_OPTIONS, "-o", str(built), str(_SOURCE)])
        # Another process may build the same: whoever is last replaces like with like.
        built.replace(program)
    return program


def benchmark_words(
    program: str | Path,
    collective: str,
    sizes: Sequence[int],
    loop: Loop | None = None,
) -> tuple[str, ...]:
    """Return the words that run the benchmark, without those that start an MPI program.

    Args:
        program: what ``build_benchmark`` returned.
        collective: one of ``COLLECTIVES``.
        sizes: bytes, each the same number of times the one before; multiples of 4.
        loop: how often the collective is called; None for the defaults.

    Raises:
        ParameterError: there is no such collective, or the sizes cannot be measured in one run.
    """
    if collective not in COLLECTIVES:
        raise ParameterError(
            f"collective must be one of {', '.join(COLLECTIVES)}; got {collective!r}",
            key="collective",
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
    return (str(program), collective, *map(str, numbers), str(chosen.budget_ms))


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


def _cache() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "interconnect-workbench" / "benchmark"


def _compiled(words: list[str]) -> str:
    try:
        done = subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_COMPILE_S,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RecordingError(
            f"the MPI's compiler must run; {error}; name another MPI with mpirun="
        ) from error
    if done.returncode != 0:
        raise RecordingError(
            f"the benchmark must compile with {words[0]}; it ended with status {done.returncode}: "
            f"{done.stderr.strip()[-500:]}; it needs MPI 2 and C99"
        )
    return done.stdout
