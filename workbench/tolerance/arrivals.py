"""A program's time over the latency where arrivals decide whom its receives from any source answer.

At each latency the answers may be others (`workbench.simulate.by_arrival`), so that T is no longer
the greatest of lines: a rank that is answered earlier can make the program shorter, or longer. T is
exact at the latencies that are asked for, and a straight line between them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from workbench.arrays import FloatArray
from workbench.models import LogGPS
from workbench.programs import Program
from workbench.simulate import by_arrival, replay
from workbench.tolerance.analysis import analyse
from workbench.tolerance.curve import PERCENT, LatencySensitivity


def analyse_by_arrival(
    program: Program,
    model: LogGPS,
    latencies_s: Sequence[float],
    *,
    percent: Sequence[float] = PERCENT,
    algorithms: Mapping[str, str] | None = None,
) -> LatencySensitivity:
    """Return how a program's time depends on the latency if arrivals decide whom it answers.

    Slopes, and with them tolerances, are those of the straight lines between the latencies; a
    tolerance beyond the last is on the last line. Critical latencies are not looked for. The path
    at the base latency is exact.

    Args:
        program: with receives from any source, in which it is plain whom they answer.
        model: the parameters; its L is the base latency.
        latencies_s: where T is computed, from the base latency on, s; at least two, ascending.
        percent: how much longer than at the base latency the program may take, %.
        algorithms: of its collectives, by operation.

    Raises:
        ProgramError: the program cannot run to its end.
        ParameterError: a percentage is negative, or the latencies do not ascend.
    """
    L = np.asarray(latencies_s, np.float64)
    ends = float(L[0]), float(L[-1])
    there = by_arrival(program, model, algorithms).graph(algorithms)
    base = analyse(there, model, percent=percent, interval=ends, contention=False)
    networks = [model.replace(L=one) for one in L.tolist()]
    T = np.array(
        [
            replay(
                by_arrival(program, one, algorithms).graph(algorithms), one, semantics="llamp"
            ).makespan_s
            for one in networks
        ]
    )
    slopes = np.diff(T) / np.diff(L)
    return replace(
        base,
        corners=L,
        corner_T=T,
        slopes=np.rint(slopes).astype(np.int64),
        tolerance={p: _largest(L, T, slopes, base.T * (1 + p / 100)) for p in percent},
        method="arrivals",
        warnings=(
            "whom a receive from any source answers is decided by arrivals, at each latency anew",
        ),
    )


def _largest(L: FloatArray, T: FloatArray, slopes: FloatArray, bound_s: float) -> float:
    """Return the latency in s at which T first exceeds a bound, inf where it never does."""
    above = np.flatnonzero(T > bound_s)
    last = int(above[0]) - 1 if len(above) else len(slopes) - 1
    if slopes[last] <= 0:
        return math.inf
    return float(L[last] + (bound_s - T[last]) / slopes[last])
