"""From which size on one algorithm of a collective beats another, with an interval."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from workbench.arrays import FloatArray
from workbench.checks import whole_each
from workbench.errors import ParameterError
from workbench.models import LogGPS
from workbench.named_options import named_options
from workbench.programs.collectives import find_algorithm, schedule
from workbench.simulate import replay
from workbench.tasks import task_of
from workbench.uq.carried_on import CarriedOn
from workbench.uq.carry.draws import MACHINES, MachineOptions, each_draw, machines_of, written
from workbench.uq.pushed import PosteriorOrigin, PushedCrossover, PushedCurves

SIZES = tuple(4**k for k in range(2, 13))
"""Default sizes in bytes: 16 B to 16 MiB."""

Times = Callable[[int], tuple[float, float]]  # s of both algorithms at a size
Crossing = tuple[FloatArray, float, bool]  # times [2, sizes], crossing in B or nan, whether several


@named_options(MachineOptions, MACHINES)
def crossover(
    posterior: CarriedOn,
    collective: str,
    first: str,
    second: str,
    *,
    nodes: int,
    sizes: Sequence[int] = SIZES,
    reduce_ns_per_byte: float = 0.0,
    **options: Unpack[MachineOptions],
) -> PushedCrossover:
    """Return the size from which on one algorithm beats another, on machines a posterior allows.

    Both are replayed (``workbench.simulate.replay``) at each size with each draw. Between the two
    neighbouring sizes where the order changes, once at most, the crossover is sought to the byte,
    by replays.

    Args:
        posterior: of a fit of ``protocol``, or a ``LogGPSPosterior``.
        collective: such as ``allreduce``.
        first: an algorithm of it, such as ``ring``.
        second: another one.
        nodes: number of ranks, one a node.
        sizes: bytes as ``workbench.programs.collectives.schedule`` takes them, ascending.
        reduce_ns_per_byte: time to combine a byte with another, in ns.
        options: as for ``makespan``.

    Raises:
        ParameterError: an algorithm is not known, the sizes do not ascend, the fit is of another
            model, or an option is not accepted.
        JobError: it was stopped before the first draw.
    """
    places = checked_sizes(sizes)
    names = tuple(find_algorithm(collective, name).label for name in (first, second))
    fitted, machines = machines_of(posterior, options)
    task = task_of(options.get("task"))
    graphs = {
        (name, size): schedule(
            collective, name, nodes, size=size, reduce_ns_per_byte=reduce_ns_per_byte
        ).graph()
        for name in names
        for size in places
    }

    def of_machine(machine: LogGPS) -> Crossing:
        def both(size: int) -> tuple[float, float]:
            found = []
            for name in names:
                graph = graphs.get((name, size))
                if graph is None:  # within a bracket
                    graph = schedule(
                        collective, name, nodes, size=size, reduce_ns_per_byte=reduce_ns_per_byte
                    ).graph()
                quiet = task.part()
                found.append(replay(graph, machine, task=quiet).makespan_s)
            return found[0], found[1]

        return crossing_of(both, places)

    plain, found = each_draw(of_machine, fitted, machines, task)
    chosen = "" if tuple(places) == SIZES else f", sizes={places}"
    reducing = f", reduce_ns_per_byte={reduce_ns_per_byte!r}" if reduce_ns_per_byte else ""
    origin = posterior.origin(
        f"{names[0]} and {names[1]}, {collective} among {nodes} nodes",
        f"{collective} among {nodes} ranks, LogGOPSim's semantics",
        written(
            "posterior.crossover",
            f"{collective!r}, {first!r}, {second!r}, nodes={nodes}{chosen}{reducing}",
            options,
        ),
    )
    return gathered((names[0], names[1]), places, plain, found, origin)


def crossing_of(both: Times, sizes: Sequence[int]) -> Crossing:
    """Return the times of two algorithms at each size, and where their order changes for good."""
    times = np.array([both(size) for size in sizes]).T
    difference = times[0] - times[1]
    apart = np.flatnonzero(difference)
    signs = np.sign(difference[apart])
    changes = np.flatnonzero(signs[1:] != signs[:-1])
    if not len(changes):
        return times, np.nan, False
    last = int(changes[-1])
    below, above = (int(apart[at]) for at in (last, last + 1))
    size = _least_after(
        lambda size: float(np.subtract(*both(size))),
        (sizes[below], float(difference[below])),
        (sizes[above], float(difference[above])),
    )
    return times, float(size), len(changes) > 1


def gathered(
    names: tuple[str, str],
    sizes: Sequence[int],
    plain: Crossing,
    found: Sequence[Crossing],
    origin: PosteriorOrigin,
) -> PushedCrossover:
    """Return the result of what was found for the fitted model and for the draws."""
    curves = PushedCurves(
        names,
        ("s", "s"),
        "size",
        "B",
        np.array(sizes, np.float64),
        np.stack([times for times, _, _ in found]),
        plain[0],
        origin,
    )
    return PushedCrossover(
        curves,
        np.array([crossing for _, crossing, _ in found]),
        plain[1],
        float(np.mean([several for _, _, several in found])),
    )


def checked_sizes(sizes: ArrayLike | Sequence[int]) -> list[int]:
    """Return ascending sizes in bytes, two or more."""
    found = list(whole_each(sizes, "sizes", 1))  # type: ignore[arg-type]
    if len(found) < 2 or any(a >= b for a, b in pairwise(found)):
        raise ParameterError(f"sizes must be two or more that ascend; got {found}", key="sizes")
    return found


def _least_after(
    difference: Callable[[int], float], below: tuple[int, float], above: tuple[int, float]
) -> int:
    """Return the least size with the sign of the difference above, between two sizes.

    Times are linear in the size but for roundings and thresholds: one secant is nearly always
    within a byte or so, and steps from there find a bracket of one byte.
    """
    (low, at_low), (high, at_high) = below, above
    if high - low > 1:
        guess = low + round((high - low) * at_low / (at_low - at_high))
        step, at = 1, min(max(guess, low + 1), high - 1)
        towards = 0
        while low < at < high:
            is_above = difference(at) * at_high > 0
            if is_above:
                high = at
            else:
                low = at
            if towards and is_above == (towards > 0):
                break  # the crossover is between the last two
            towards = -1 if is_above else 1
            at, step = at + towards * step, 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        if difference(middle) * at_high > 0:
            high = middle
        else:
            low = middle
    return high
