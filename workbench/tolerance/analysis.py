"""One call for how a program's time depends on latency: by sweeps, or by the linear program."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.errors import ParameterError, SimulationHalted
from workbench.models import LogGPS
from workbench.programs.find_program import ProgramLike
from workbench.programs.graph import SEND
from workbench.provenance import Provenance
from workbench.simulate.picoseconds import PS_PER_S
from workbench.tasks import Task, task_of
from workbench.tolerance.contention import compare_contention
from workbench.tolerance.result import LatencySensitivity
from workbench.tolerance.sweep import Sweep

PERCENT = (1.0, 2.0, 5.0)
"""The tolerances of Shen et al., LLAMP, Fig. 1."""

BEYOND = 1.2  # chosen: a usual interval goes a fifth beyond the largest tolerance, to show it
_UNBOUNDED = 10.0  # how far in base latencies where there is none
_SHORTEST_S = 1e-9  # chosen: where L is 0 and nothing bounds it, the interval would be empty
_TICK_S = 1 / PS_PER_S  # L is solved for in whole picoseconds, so nearer corners are one
_SOLVED_PS = 1e-3  # how near to a whole picosecond a solution must be to be meant by it


def analyse(
    program: ProgramLike | Sweep,
    model: LogGPS | None = None,
    *,
    percent: Sequence[float] = PERCENT,
    interval: tuple[float, float] | None = None,
    lp: bool = False,
    contention: bool = True,
    task: Task | None = None,
) -> LatencySensitivity:
    """Return how a program's time depends on the network's latency, and its tolerance of latency.

    The times are those without contention, ``replay(..., semantics="llamp")``. Where the same
    program with CPUs and NICs occupied takes more than 5 % longer or shorter, a warning of the
    result says by how much and why.

    Args:
        program: a graph; or a program with whole collectives, which get their usual algorithms; or
            a sweep, which is packed already.
        model: the parameters; its L is the base latency. None takes the sweep's.
        percent: how much longer than at the base latency the program may take, %.
        interval: first and last latency of the curve, s; None for the base latency and a fifth
            beyond the largest bounded tolerance.
        lp: solve the linear program with HiGHS instead of sweeping: the same numbers, slower. Its
            tolerances are ``LatencyLP.certify``'s: proved on its rows, without HiGHS.
        contention: also replay the program with LogGOPSim's semantics and compare.
        task: once it is stopped, the analysis ends.

    Raises:
        ProgramError: the program cannot run to its end.
        ParameterError: a percentage is negative, the interval does not ascend, no model is given,
            or a time is beyond what 64 bits of picoseconds hold.
        SimulationHalted: the task was stopped.
    """
    began = time.perf_counter()
    task = task_of(task)
    sweep, base = sweep_of(program, model, task)
    _check_interval(interval)
    if lp:
        facts = _by_lp(sweep, base, percent, interval, task)
    else:
        facts = _by_sweep(sweep, base.L, percent, interval)
    seconds = time.perf_counter() - began
    graph = sweep.graph
    report = None
    if contention:
        report = compare_contention(graph, base, llamp_ps=round(facts.T * PS_PER_S), task=task)
    return LatencySensitivity(
        source=graph.source,
        ranks=graph.num_ranks,
        operations=graph.num_ops,
        messages=int((graph.kind == SEND).sum()),
        model=base,
        **vars(facts),
        method="lp" if lp else "sweep",
        seconds=seconds,
        provenance=Provenance(
            "simulated", f"{graph.source}, LLAMP's semantics, no contention, {base}"
        ),
        contention=report,
        warnings=(report.warning,) if report is not None and report.warning is not None else (),
    )


@dataclass(frozen=True, eq=False)
class _Facts:
    """What both ways find, under the names of `LatencySensitivity`."""

    T: float
    lambda_L_left: int
    lambda_L: int
    lambda_G: int
    lambda_o: int
    rho_L: float
    tolerance: dict[float, float]
    corners: NDArray[np.float64]
    corner_T: NDArray[np.float64]
    slopes: NDArray[np.int64]
    critical_path: NDArray[np.int64]
    slack_ps: NDArray[np.int64]
    critical_messages: int


def sweep_of(
    program: ProgramLike | Sweep, model: LogGPS | None, task: Task
) -> tuple[Sweep, LogGPS]:
    """Return the program packed, and the model; a sweep is packed anew only where it must be."""
    if isinstance(program, Sweep):
        base = program.model if model is None else model
        had = program.model
        # L is what a sweep varies, and g and O are not in it.
        same = had.replace(L=base.L, g=base.g, O=base.O).to_dict() | {"errors": {}}
        return (program if same == base.to_dict() | {"errors": {}} else program.replace(base)), base
    if model is None:
        raise ParameterError("a program needs a model; only a sweep has one already", key="model")
    return Sweep(program, model, task=task), model


def _by_sweep(
    sweep: Sweep, L: float, percent: Sequence[float], interval: tuple[float, float] | None
) -> _Facts:
    tolerance = sweep.tolerance(percent, base_L=L)
    low, high = interval or usual_interval(L, tolerance)
    found = sweep.critical_latencies(low, high)
    T, left, right = sweep.curve([L, low, high])
    path = sweep.critical_path(L)
    finish_ps = sweep.finish_ps(L)
    return _Facts(
        T=float(T[0]),
        lambda_L_left=int(left[0]),
        lambda_L=int(right[0]),
        lambda_G=int(path.bytes.sum()),
        lambda_o=path.overheads,
        rho_L=L * int(right[0]) / float(T[0]) if T[0] else 0.0,
        tolerance=tolerance,
        corners=np.concatenate([[found.lo_s], found.L, [found.hi_s]]),
        corner_T=np.concatenate([T[1:2], found.T, T[2:]]),
        slopes=np.concatenate([right[1:2], found.lambda_right]),
        critical_path=path.ops,
        slack_ps=finish_ps.max(initial=0) - finish_ps,
        critical_messages=len(path.messages),
    )


def _by_lp(
    sweep: Sweep,
    model: LogGPS,
    percent: Sequence[float],
    interval: tuple[float, float] | None,
    task: Task,
) -> _Facts:
    """Return the same facts from the linear program; ranks' slack and messages are the sweep's.

    At a critical latency the slope, a reduced cost, may be any between those on its two sides.
    """
    from workbench.tolerance.lp import LatencyLP

    problem = LatencyLP(sweep.graph, model, match=sweep.match)
    base = problem.solve()
    tolerance = {
        p: math.floor(largest * PS_PER_S + _SOLVED_PS) / PS_PER_S
        if math.isfinite(largest)
        else largest
        for p, largest in problem.tolerance(percent).items()
    }
    low, high = interval or usual_interval(model.L, tolerance)
    corners, corner_T, slopes = _curve_by_lp(problem, low, high, task)
    slope = round(base.lambda_L)
    finish_ps = sweep.finish_ps(model.L)
    return _Facts(
        T=base.T,
        lambda_L_left=slope,
        lambda_L=slope,
        lambda_G=round(base.lambda_G),
        lambda_o=round(base.lambda_o),
        rho_L=model.L * slope / base.T if base.T else 0.0,
        tolerance=tolerance,
        corners=corners,
        corner_T=corner_T,
        slopes=slopes,
        critical_path=base.tight,
        slack_ps=finish_ps.max(initial=0) - finish_ps,
        critical_messages=len(sweep.critical_path(model.L).messages),
    )


def _curve_by_lp(
    problem: Any, low: float, high: float, task: Task
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """Return the curve's corners, s, T at them, s, and the slopes between, from tangents of T.

    Two neighbouring tangents meet at a corner, or below T, where another solve gives a tangent
    between them (Algorithm 2 of LLAMP, without its step and its ranging).
    """

    def tangent(L: float) -> tuple[float, float, float]:
        if task.stopping:
            raise SimulationHalted("the analysis was stopped before it finished")
        # The linear program counts whole picoseconds too.
        on_clock = round(L * PS_PER_S) / PS_PER_S
        answer = problem.solve(L=on_clock)
        return on_clock, answer.T, answer.lambda_L

    def corners_between(
        left: tuple[float, float, float], right: tuple[float, float, float]
    ) -> list[tuple[float, float, float]]:
        (L1, T1, s1), (L2, T2, s2) = left, right
        # Solvers' slopes are whole but for rounding, also where they count hundreds of latencies.
        if s2 - s1 < 1e-6 * max(s2, 1.0):
            return []
        meet = min(max((T1 - T2 + s2 * L2 - s1 * L1) / (s2 - s1), L1), L2)
        T_meet = T1 + s1 * (meet - L1)
        if meet - L1 < _TICK_S or L2 - meet < _TICK_S:
            return [(meet, T_meet, s2)]
        middle = tangent(meet)
        T_chord = max(T1 + s1 * (middle[0] - L1), T2 - s2 * (L2 - middle[0]))
        # Rows may be short of the solver's 1e-7 µs, and T has a relative error of n * eps.
        if middle[1] - T_chord <= 1e-12 * T_chord + 1e-13:
            return [(meet, T_meet, s2)]
        return corners_between(left, middle) + corners_between(middle, right)

    first, last = tangent(low), tangent(high)
    inner = [found for found in corners_between(first, last) if low < found[0] < high]
    merged: list[tuple[float, float, float]] = []
    for found in inner:
        if merged and found[0] - merged[-1][0] < _TICK_S:
            merged[-1] = (merged[-1][0], merged[-1][1], found[2])
        else:
            merged.append(found)
    return (
        np.array([low, *(L for L, _, _ in merged), high]),
        np.array([first[1], *(T for _, T, _ in merged), last[1]]),
        np.array([round(first[2]), *(round(slope) for _, _, slope in merged)], np.int64),
    )


def usual_interval(L: float, tolerance: dict[float, float]) -> tuple[float, float]:
    """Return the default interval of a curve, s, for a base latency and its tolerances, s."""
    bounded = [largest for largest in tolerance.values() if math.isfinite(largest)]
    reach = BEYOND * (max(bounded) - L) if bounded else _UNBOUNDED * L
    return L, L + max(reach, _SHORTEST_S)


def _check_interval(interval: tuple[float, float] | None) -> None:
    if interval is None:
        return
    low, high = interval
    if not (0 <= low < high < math.inf):
        raise ParameterError(
            f"the interval must ascend from at least 0 s; got {low} to {high} s", key="interval"
        )
