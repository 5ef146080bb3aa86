"""One call for how a program's time depends on a parameter: on latency, or on bandwidth.

Shen et al., LLAMP, section II.B: T is the greatest of lines, one for each path, whose slope is the
number of latencies on it, or of bytes that its messages have after their first. A sweep finds all
corners of T(L) exactly. Of the linear program's T(L), and of T(G), which a replay rounds, tangents
are found, and where two of them meet T is another line or their corner.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from workbench.arrays import FloatArray, IntArray
from workbench.checks import number
from workbench.errors import ParameterError, SimulationHalted
from workbench.models import LogGPS
from workbench.programs.find_program import ProgramLike
from workbench.provenance import Provenance
from workbench.simulate.picoseconds import PS_PER_S, PicosecondCosts
from workbench.tasks import Task, task_of
from workbench.tolerance.contention import compare_contention
from workbench.tolerance.curve import PERCENT, BandwidthSensitivity, LatencySensitivity
from workbench.tolerance.sweep import Sweep, SweepPoint

_BEYOND = 1.2  # chosen: a usual interval goes a fifth beyond the largest tolerance, to show it
_UNBOUNDED = 10.0  # how far in base latencies where there is none
_SHORTEST_S = 1e-9  # chosen: where L is 0 and nothing bounds it, the interval would be empty
_SHORTEST_GAPS = 0.1, 1e-12  # chosen: of the base gap, and s/B where that is 0
_TICK_S = 1 / PS_PER_S  # L is solved for in whole picoseconds, so nearer corners are one
_SOLVED_PS = 1e-3  # how near to a whole picosecond a solution must be to be meant by it
_ONE_SLOPE = 1e-3  # of two tangents: slopes are whole numbers, a solver's but for rounding
_MOST_STEPS = 200  # chosen: tolerances of eight shipped programs on two machines take 6 at most

_Corners = tuple[FloatArray, FloatArray, IntArray]
"""Corners of a curve, both ends among them, T there, and the slopes between."""


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
    _check_interval(interval, "s")
    graph, finish_ps = sweep.graph, sweep.finish_ps(base.L)
    point, path = sweep.point_and_path(base.L)
    ops = path.ops
    if lp:
        point, ops, tolerance, curve = _by_lp(sweep, base, point, percent, interval, task)
    else:
        tolerance = sweep.tolerance(percent, base_L=base.L)
        curve = _swept(sweep, *(interval or usual_interval(base.L, tolerance)))
    seconds = time.perf_counter() - began
    report = None
    if contention:
        report = compare_contention(graph, base, llamp_ps=round(point.T * PS_PER_S), task=task)
    corners, corner_T, slopes = curve
    return LatencySensitivity(
        source=graph.source,
        model=base,
        T=point.T,
        tolerance=tolerance,
        corners=corners,
        corner_T=corner_T,
        slopes=slopes,
        provenance=_provenance(sweep, base),
        ranks=graph.num_ranks,
        operations=graph.num_ops,
        messages=sweep.messages,
        lambda_L_left=point.lambda_L_left,
        lambda_L=point.lambda_L_right,
        lambda_G=point.lambda_G,
        lambda_o=point.lambda_o,
        rho_L=base.L * point.lambda_L_right / point.T if point.T else 0.0,
        critical_path=ops,
        slack_ps=finish_ps.max(initial=0) - finish_ps,
        method="lp" if lp else "sweep",
        seconds=seconds,
        critical_messages=len(path.messages),
        contention=report,
        warnings=(report.warning,) if report is not None and report.warning is not None else (),
    )


def analyse_bandwidth(
    program: ProgramLike | Sweep,
    model: LogGPS | None = None,
    *,
    percent: Sequence[float] = PERCENT,
    interval: tuple[float, float] | None = None,
    task: Task | None = None,
) -> BandwidthSensitivity:
    """Return a program's run time over the gap per byte G, and the least bandwidth it tolerates.

    Args:
        program: the program; collectives that are still whole get the usual algorithms; or a
            sweep, which is packed already.
        model: the parameters; its G is the base. None takes the sweep's.
        percent: by how much T may grow beyond its value at the base.
        interval: first and last G of the curve, s/B; None for the base and a fifth beyond the
            largest tolerance.
        task: once it is stopped, the analysis ends.

    Raises:
        ProgramError: the program cannot run to its end.
        ParameterError: a percentage is negative, the interval does not ascend, no model is given,
            or a time is beyond what 62 bits of picoseconds hold.
        SimulationHalted: the task was stopped.
    """
    for one in percent:
        number(one, "percent", 0)
    _check_interval(interval, "s/B")
    task = task_of(task)
    sweep, model = sweep_of(program, model, task)
    tangent = partial(_bytes_line, sweep, task)
    base_ps = model.G * PS_PER_S
    base = tangent(base_ps)
    T_ps = base.at(base_ps)
    tolerance = {p: _largest_gap(sweep, tangent, T_ps * (1 + p / 100)) / PS_PER_S for p in percent}
    least = max(_SHORTEST_GAPS[0] * model.G, _SHORTEST_GAPS[1])
    low, high = interval or usual_interval(model.G, tolerance, unbounded=0.0, least=least)
    # A replay's times are rounded, so less than a picosecond is no corner.
    corners, corner_T, slopes = _by_tangents(
        tangent, low * PS_PER_S, high * PS_PER_S, tick=0.0, rounding=lambda T: 1.0
    )
    return BandwidthSensitivity(
        source=sweep.graph.source,
        model=model,
        T=T_ps / PS_PER_S,
        tolerance=tolerance,
        corners=corners / PS_PER_S,
        corner_T=corner_T / PS_PER_S,
        slopes=slopes,
        provenance=_provenance(sweep, model),
        lambda_G=int(base.slope),
        rho_G=base.slope * base_ps / T_ps if T_ps else 0.0,
    )


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


def usual_interval(
    base: float,
    tolerance: Mapping[float, float],
    *,
    unbounded: float = _UNBOUNDED,
    least: float = _SHORTEST_S,
) -> tuple[float, float]:
    """Return the default interval of a curve for its base and its tolerances, s or s/B."""
    bounded = [largest for largest in tolerance.values() if math.isfinite(largest)]
    reach = _BEYOND * (max(bounded) - base) if bounded else unbounded * base
    return base, base + max(reach, least)


def _check_interval(interval: tuple[float, float] | None, unit: str) -> None:
    if interval is not None and not 0 <= interval[0] < interval[1] < math.inf:
        low, high = interval
        raise ParameterError(
            f"the interval must ascend from at least 0 {unit}; got {low} to {high} {unit}",
            key="interval",
        )


def _provenance(sweep: Sweep, model: LogGPS) -> Provenance:
    described = f"{sweep.graph.source}, LLAMP's semantics, no contention, {model}"
    return Provenance("simulated", described)


def _swept(sweep: Sweep, low: float, high: float) -> _Corners:
    """Return the corners of T(L) by sweeps."""
    found = sweep.critical_latencies(low, high)
    T, _, right = sweep.curve([low, high])
    return (
        np.concatenate([[found.lo_s], found.L, [found.hi_s]]),
        np.concatenate([T[:1], found.T, T[1:]]),
        np.concatenate([right[:1], found.lambda_right]),
    )


def _by_lp(
    sweep: Sweep,
    model: LogGPS,
    point: SweepPoint,
    percent: Sequence[float],
    interval: tuple[float, float] | None,
    task: Task,
) -> tuple[SweepPoint, IntArray, dict[float, float], _Corners]:
    """Return the base, its critical operations, tolerances and corners by the linear program.

    At a critical latency the slope, a reduced cost, may be any between those on its two sides.
    """
    from workbench.tolerance.lp import LatencyLP

    def on_clock(L: float) -> float:
        return round(L * PS_PER_S) / PS_PER_S

    def tangent(L: float) -> _Line:
        if task.stopping:
            raise SimulationHalted("the analysis was stopped before it finished")
        # The linear program counts whole picoseconds too.
        answer = problem.solve(L=on_clock(L))
        return _Line(answer.lambda_L, on_clock(L), answer.T)

    problem = LatencyLP(sweep.graph, model, match=sweep.match)
    base = problem.solve()
    tolerance = {
        p: math.floor(largest * PS_PER_S + _SOLVED_PS) / PS_PER_S
        if math.isfinite(largest)
        else largest
        for p, largest in problem.tolerance(percent).items()
    }
    slope = round(base.lambda_L)
    solved = replace(
        point,
        T=base.T,
        lambda_L_left=slope,
        lambda_L_right=slope,
        lambda_G=round(base.lambda_G),
        lambda_o=round(base.lambda_o),
    )
    low, high = interval or usual_interval(model.L, tolerance)
    # Rows may be short of the solver's 1e-7 µs, and T has a relative error of n * eps.
    corners, corner_T, slopes = _by_tangents(
        tangent,
        on_clock(low),
        on_clock(high),
        tick=_TICK_S,
        rounding=lambda T: 1e-12 * T + 1e-13,
    )
    corners[[0, -1]] = low, high
    return solved, base.tight, tolerance, (corners, corner_T, slopes)


class _Line(NamedTuple):
    """A line that T touches, by its slope and one of its points."""

    slope: float
    x: float
    T: float

    def at(self, x: float) -> float:
        return self.T + self.slope * (x - self.x)

    def meeting(self, other: _Line) -> float:
        """Return where it meets a line of another slope."""
        across = self.T - other.T + other.slope * other.x - self.slope * self.x
        return across / (other.slope - self.slope)


def _by_tangents(
    tangent: Callable[[float], _Line],
    low: float,
    high: float,
    *,
    tick: float,  # corners that are no further apart are one
    rounding: Callable[[float], float],  # of T: how far above two tangents it may be by that alone
) -> _Corners:
    """Return the corners of a curve.

    Two neighbouring tangents meet at a corner, or below T, where another tangent lies between them
    (Algorithm 2 of LLAMP, without its step and its ranging).
    """
    first, last = tangent(low), tangent(high)
    corners, gaps = [(low, first)], [(low, first, high, last)]
    while gaps:
        x1, left, x2, right = gaps.pop()
        if right.slope - left.slope < _ONE_SLOPE:
            continue
        meet = min(max(left.meeting(right), x1), x2)
        if min(meet - x1, x2 - meet) > tick:
            found, chord = tangent(meet), max(left.at(meet), right.at(meet))
            if found.at(meet) - chord > rounding(chord):
                gaps += [(meet, found, x2, right), (x1, left, meet, found)]
                continue
        before = corners[-1][0]
        if meet == low or (before > low and meet - before <= tick):
            corners[-1] = before, right
        elif meet < high:
            corners.append((meet, right))
    ends = [(x, line.at(x)) for x, line in [*corners, (high, last)]]
    slopes = np.array([round(line.slope) for _, line in corners], np.int64)
    at, T = np.array(ends, np.float64).T
    return at, T, slopes


def _bytes_line(sweep: Sweep, task: Task, G_ps: float) -> _Line:
    """Return the line of a critical path at a G in ps/B; its times are ps."""
    if task.stopping:
        raise SimulationHalted("the analysis was stopped before it finished")
    here = sweep.replace(sweep.model.replace(G=G_ps / PS_PER_S))
    path = here.critical_path()
    # What a replay takes for these bytes is rounded; the line is not.
    through = PicosecondCosts.of(here.model).G.of(path.bytes[path.bytes > 0] + 1)
    return _Line(int(path.bytes.sum()), 0, here.makespan_ps() - int(through.sum()))


def _largest_gap(sweep: Sweep, tangent: Callable[[float], _Line], bound_ps: float) -> float:
    """Return the largest G in ps/B with which T is within a bound, by Newton's steps."""
    most = int(sweep.graph.size[sweep.send_ops].max(initial=0)) - 1
    if most < 1:
        return math.inf
    # The largest message alone takes so long; T is convex, so each step stays above.
    G_ps = bound_ps / most
    for _ in range(_MOST_STEPS):
        line = tangent(G_ps)
        if line.at(G_ps) <= bound_ps:
            break
        lower = (bound_ps - line.T) / line.slope
        if lower >= G_ps:
            break
        G_ps = lower
    return G_ps
