"""What a message costs on the emulated cluster, measured there by a program of ours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from workbench.checks import whole, whole_each
from workbench.measure.cluster.cluster import Cluster
from workbench.measure.cluster.errors import ClusterError
from workbench.mpi import Launcher, Recipe

_FOLDER = Path(__file__).resolve().parent
_PROGRAM = Recipe(
    "the program that measures messages",
    "parameters",
    "cluster",
    ("-std=gnu11", "-O2"),
    (_FOLDER / "parameters.c",),
    "MPI 2, Linux and glibc",
    headers=(_FOLDER / "pace.h",),
)
_PAUSE_US = 200  # a rank sleeps half of it, and watches the clock for 100 µs (pace.h)
PACE = _FOLDER / "pace.h"
"""A header for programs that sleep where they would compute."""


@dataclass(frozen=True)
class Quartiles:
    """Lower quartile, median and upper quartile of repeats, s."""

    lower: float
    median: float
    upper: float


@dataclass(frozen=True)
class MessageCost:
    """The cost of messages of one size between two hosts.

    Attributes:
        size_bytes: of the message.
        half_trip: half a round trip.
        send: the call that sends it.
        receive: the call that receives it when it is there already.
        gap: a burst's time for each message after the first.
    """

    size_bytes: int
    half_trip: Quartiles
    send: Quartiles
    receive: Quartiles
    gap: Quartiles


def build_cost_program(launcher: Launcher) -> Path:
    """Return the path of the measuring program, compiled where it is not yet."""
    path = _PROGRAM.place(launcher.compiler())
    _PROGRAM.make(launcher.compiler(), path)
    return path


def measure_costs(
    cluster: Cluster, sizes: Sequence[int], *, repeats: int = 100, timeout: float = 120.0
) -> tuple[MessageCost, ...]:
    """Return what messages cost between two hosts, at the latency that is set.

    Ranks pause for 200 µs before each round trip, as those of a program that computes would: they
    have slept, and caches are cold. All pairs of hosts do the same at the same time, for they share
    the processors of one machine when a program runs, too.

    Args:
        cluster: with at least two hosts; of an odd number the last one rests.
        sizes: of messages, bytes.
        repeats: of each measurement.
        timeout: seconds after which it is ended.

    Raises:
        ParameterError: a size or the number of repeats is out of range.
        ClusterError: the program failed, or printed something else than a table.
    """
    checked = whole_each(sizes, "sizes", 0)
    whole(repeats, "repeats", 4)
    program = build_cost_program(cluster.launcher)
    words = [str(program), str(_PAUSE_US), str(repeats), *map(str, checked)]
    run = cluster.run(words, ranks=cluster.hosts // 2 * 2, timeout=timeout)
    rows = [line.split() for line in run.output.splitlines()]
    found = tuple(_cost(row) for row in rows if len(row) == 13 and row[0].isdecimal())
    if [cost.size_bytes for cost in found] != list(checked):
        raise ClusterError(
            f"the program that measures messages must print a line for each size; it printed "
            f"{run.output[-300:]!r}"
        )
    return found


def _cost(row: Sequence[str]) -> MessageCost:
    times = [float(word) / 1e6 for word in row[1:]]  # printed in µs
    quartiles = [Quartiles(*times[at : at + 3]) for at in range(0, len(times), 3)]
    return MessageCost(int(row[0]), *quartiles)
