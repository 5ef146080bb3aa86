"""Time one MPI collective over a range of message sizes with mpi4py, where no compiler is.

    mpirun -n 4 python3 collective.py OPERATION LOWEST HIGHEST FACTOR WARMUP LEAST MOST BUDGET_MS

Arguments, order of the calls, statistics and table are those of ``collective.c``, which says what
they mean. Each time has the way from Python to the library in it; ``Comm.Allreduce`` and its like
hand over buffers as they are. It is a program by itself: any Python from 3.8 on that has mpi4py
runs it, and nothing of the workbench is imported.
"""

from __future__ import annotations

import gc
import platform
import sys
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

TITLES = {"allreduce": "Allreduce", "bcast": "Broadcast", "gather": "Gather", "reduce": "Reduce"}
"""What can be measured, and how the table calls it."""

_USAGE = f"usage: collective {'|'.join(TITLES)} LOWEST HIGHEST FACTOR WARMUP LEAST MOST BUDGET_MS\n"
LARGEST = 2**28  # bytes, as in collective.c; chosen: the root of a gather has one from each rank
MOST_CALLS = 1_000_000  # as in collective.c; chosen: a second of the shortest calls, of 1 µs
_PERIOD = 7  # no power of 2 is a multiple of it: a segment at another's place has other values
_FLOAT_BYTES = 4  # of MPI_FLOAT


@dataclass(frozen=True)
class Request:
    """The arguments of the program."""

    operation: str  # a key of TITLES
    lowest: int  # bytes of the first size
    highest: int  # bytes that no size exceeds
    factor: int  # ratio of each size to the one before
    warmup: int  # untimed calls before the timed ones
    least: int  # timed calls, at least
    most: int  # timed calls, at most
    budget_ms: int  # time budget of the timed calls, at the pace of the warm-up

    @property
    def sizes(self) -> list[int]:
        """Bytes of each size, ascending."""
        found, size = [], self.lowest
        while size <= self.highest:
            found.append(size)
            size *= self.factor
        return found

    def calls(self, pace_s: float) -> int:
        """Return the number of timed calls; ``pace_s`` is one warm-up call's time, 0 if unknown."""
        fitting = 1e-3 * self.budget_ms / pace_s if pace_s > 0.0 else self.most
        return int(min(max(fitting, self.least), self.most))


def requested(arguments: Sequence[str]) -> Request | None:
    """Return the parsed arguments, without the program's name; None if they are invalid."""
    if len(arguments) != 8 or arguments[0] not in TITLES:
        return None
    try:
        request = Request(arguments[0], *map(int, arguments[1:]))
    except ValueError:
        return None
    sizes_good = request.lowest >= 4 and request.highest <= LARGEST and request.factor >= 2
    calls_good = (
        0 <= request.warmup <= MOST_CALLS and 1 <= request.least <= request.most <= MOST_CALLS
    )
    return request if sizes_good and calls_good else None


def contribution(rank: int, count: int) -> array[float]:
    """Return the input of a rank, float32[count]."""
    return _repeated(rank + 1, count)


def result(operation: str, rank: int, ranks: int, count: int) -> array[float] | None:
    """Return the result that a rank must have, float32, of ``count`` per rank; None without one."""
    if rank != 0 and operation in ("gather", "reduce"):
        return None
    if operation == "bcast":
        return contribution(0, count)
    if operation == "gather":
        gathered = array("f")
        for of in range(ranks):
            gathered += contribution(of, count)
        return gathered
    return _repeated(ranks * (ranks + 1) // 2, count)


def heading(operation: str, ranks: int, version: str) -> str:
    """Return the lines above the rows; ``version`` is that of mpi4py."""
    names = "".join(f"{name + ' Latency(us)':>18}" for name in ("Avg", "Min", "P50", "P99", "Max"))
    return (
        f"# Interconnect Workbench MPI {TITLES[operation]} Latency Test, {ranks} ranks, "
        f"from mpi4py {version} on Python {platform.python_version()}\n"
        "# of each call the longest time over the ranks; Avg is over the ranks too\n"
        f"{'# Size':<12}{names}{'Iterations':>14}{'Seconds':>14}\n"
    )


def row(size: int, times_s: Sequence[float], ranks: int, seconds: float) -> str:
    """Return one row in µs: mean, least, median, p99, greatest; ``seconds`` includes warm-up."""
    calls = len(times_s) // ranks
    longest = sorted(max(times_s[at::calls]) for at in range(calls))
    median = 0.5 * (longest[(calls - 1) // 2] + longest[calls // 2])
    p99 = longest[(99 * calls + 99) // 100 - 1]
    latencies_s = (sum(times_s) / len(times_s), longest[0], median, p99, longest[-1])
    columns = "".join(f"{1e6 * each:18.3f}" for each in latencies_s)
    return f"{size:<12d}{columns}{calls:14d}{seconds:14.6f}\n"


def main(arguments: Sequence[str]) -> int:
    """Measure the requested sizes and return the exit status."""
    # By name, as mpi4py is optional: what checks types or styles need not have it.
    import_module("mpi4py").rc.threads = False  # as MPI_Init has it: no locks for other threads
    mpi = import_module("mpi4py.MPI")
    world = mpi.COMM_WORLD
    request = requested(arguments)
    if request is None:
        if world.rank == 0:
            sys.stderr.write(_USAGE)
        return 2
    try:
        if world.rank == 0:
            version = import_module("mpi4py").__version__
            _print_line(heading(request.operation, world.size, version))
        gc.disable()
        for size in request.sizes:
            _measure(mpi, request, size)
    except Exception as error:
        # A rank that ended by itself would leave the others waiting for it for ever.
        sys.stderr.write(f"collective: rank {world.rank}: {type(error).__name__}: {error}\n")
        sys.stderr.flush()
        world.Abort(3)
    return 0


def _measure(mpi: Any, request: Request, size: int) -> None:
    """Measure one size, and print its row at rank 0."""
    world, clock = mpi.COMM_WORLD, mpi.Wtime
    began = clock()
    count = size // _FLOAT_BYTES
    root, gathers = world.rank == 0, request.operation == "gather"
    mine = contribution(world.rank, count)
    into = array("f", [-1.0]) * (count * world.size if root and gathers else count)
    if root and request.operation == "bcast":
        into = contribution(0, count)
    call = _call(mpi, request.operation, mine, into)
    call()
    wanted = result(request.operation, world.rank, world.size, count)
    good = wanted is None or into.tobytes() == wanted.tobytes()
    for of, fine in enumerate(_collected(mpi, array("d", [good]))):
        if not fine:
            raise ArithmeticError(f"rank {of} has a wrong result at {size} bytes")

    barrier = world.Barrier
    start = clock()
    for _ in range(request.warmup):
        barrier()
        call()
    pace_s = (clock() - start) / request.warmup if request.warmup else 0.0
    calls = _shared(mpi, request.calls(pace_s))

    times_s = array("d", [0.0]) * calls
    for at in range(calls):
        barrier()
        before = clock()
        call()
        times_s[at] = clock() - before
    everything = _collected(mpi, times_s)
    if root:
        _print_line(row(size, everything, world.size, clock() - began))


def _call(mpi: Any, operation: str, mine: array[float], into: array[float]) -> Callable[[], object]:
    """Return the collective bound to its buffers, so that a call costs only mpi4py's own time."""
    world = mpi.COMM_WORLD
    given, taken = [mine, mpi.FLOAT], [into, mpi.FLOAT]
    if operation == "allreduce":
        return partial(world.Allreduce, given, taken, mpi.SUM)
    if operation == "bcast":
        return partial(world.Bcast, taken, 0)
    if operation == "gather":
        return partial(world.Gather, given, taken if world.rank == 0 else None, 0)
    return partial(world.Reduce, given, taken if world.rank == 0 else None, mpi.SUM, 0)


def _collected(mpi: Any, mine: array[float]) -> array[float]:
    """Return all ranks' numbers at rank 0, none elsewhere, sent without the tuned collectives."""
    world = mpi.COMM_WORLD
    if world.rank != 0:
        world.Send([mine, mpi.DOUBLE], 0, 1)
        return array("d")
    everything = array("d", mine)
    theirs = array("d", mine)
    for of in range(1, world.size):
        world.Recv([theirs, mpi.DOUBLE], of, 1)
        everything += theirs
    return everything


def _shared(mpi: Any, value: int) -> int:
    """Return rank 0's number at all ranks."""
    world, told = mpi.COMM_WORLD, array("i", [value])
    if world.rank == 0:
        for of in range(1, world.size):
            world.Send([told, mpi.INT], of, 2)
    else:
        world.Recv([told, mpi.INT], 0, 2)
    return told[0]


def _repeated(factor: int, count: int) -> array[float]:
    """Return the multiples 1 to 7 of a factor, repeated in turn, float32[count]."""
    period = array("f", [factor * (at + 1) for at in range(_PERIOD)])
    whole, rest = divmod(count, _PERIOD)
    return period * whole + period[:rest]


def _print_line(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
