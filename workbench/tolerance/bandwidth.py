"""How a program's time depends on the network's bandwidth: T over G, λ_G and its tolerance.

Shen et al., LLAMP, section II.B.1: T is the greatest of lines over G, one for each path, whose
slope is the number of bytes that the path's messages have after their first. A sweep at one G finds
the path and so its whole line; where two lines meet T is another line or their corner.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from workbench.arrays import FloatArray, IntArray
from workbench.checks import number
from workbench.errors import ParameterError, SimulationHalted
from workbench.facts import Fact
from workbench.models import LogGPS
from workbench.programs.find_program import ProgramLike
from workbench.provenance import Provenance
from workbench.result import Drawing
from workbench.simulate.picoseconds import PS_PER_S, PicosecondCosts
from workbench.tasks import Task, task_of
from workbench.tolerance.analysis import BEYOND, PERCENT, sweep_of
from workbench.tolerance.sweep import Sweep
from workbench.tolerance.tolerance_curve import ToleranceCurve
from workbench.units import format_quantity

if TYPE_CHECKING:
    import pandas as pd


_MOST_STEPS = 200  # chosen: tolerances of eight shipped programs on two machines take 6 at most


@dataclass(frozen=True, eq=False)
class BandwidthSensitivity(ToleranceCurve):
    """A program's time T over the gap per byte G, the inverse of bandwidth, without contention.

    T(G) is convex, piecewise linear and never falls, to a picosecond for each message of a path,
    which is what a replay rounds to.

    Attributes:
        source: name of the program.
        model: the parameters; ``G`` is the base.
        T: run time at the base, s.
        lambda_G: dT/dG there, bytes on the critical path after each message's first.
        rho_G: share of the critical path that is G λ_G.
        tolerance: by percent, the largest G in s/B at which T is at most that much above its value
            at the base; inf where no message has a second byte.
        corners: float64[k + 2], s/B: both ends of the interval, and where the slope changes.
        corner_T: float64[k + 2], s: T there.
        slopes: int64[k + 1], bytes: λ_G between neighbouring corners.
        provenance: what was simulated.
    """

    source: str
    model: LogGPS
    T: float
    lambda_G: int
    rho_G: float
    tolerance: Mapping[float, float]
    corners: FloatArray
    corner_T: FloatArray
    slopes: IntArray
    provenance: Provenance

    plot = Drawing("plot_tolerance", package="workbench.tolerance")

    @property
    def variable(self) -> str:
        """``G``."""
        return "G"

    @property
    def base(self) -> float:
        """The base gap per byte, s/B."""
        return self.model.G

    @property
    def rho(self) -> float:
        """``rho_G``."""
        return self.rho_G

    @property
    def least_bandwidth_Bps(self) -> dict[float, float]:
        """By percent, the least bandwidth in B/s that is tolerated: the inverse of the largest G.

        It is 0 where no message has a second byte, and inf where only a G of 0 is within it.
        """
        return {p: 1 / G if G else math.inf for p, G in self.tolerance.items()}

    def tolerances(self) -> pd.DataFrame:
        """Return one row a percentage.

        Returns:
            ``percent``, ``largest_G_ns_per_byte``, ``least_bandwidth_GBps``, ``times_the_base``, G
            in units of the model's, and ``bandwidth_loss_percent``, by how much the bandwidth may
            fall.
        """
        import pandas as pd

        largest = np.array(list(self.tolerance.values()), float)
        times = largest / self.model.G if self.model.G else np.full(len(largest), np.inf)
        return pd.DataFrame(
            {
                "percent": list(self.tolerance),
                "largest_G_ns_per_byte": largest * 1e9,
                "least_bandwidth_GBps": [1e-9 * b for b in self.least_bandwidth_Bps.values()],
                "times_the_base": times,
                "bandwidth_loss_percent": 100 * (1 - 1 / times),
            }
        )

    def facts(self) -> tuple[Fact, ...]:
        """Return times, slopes, tolerances and critical gaps per byte, and what they are of."""
        base = format_quantity(self.base, "gap")
        low, high = (format_quantity(end, "gap", exact=True) for end in self.interval)
        least = self.least_bandwidth_Bps
        return (
            Fact("", "program", f"{self.source} at G {base}"),
            Fact("", "model", repr(self.model)),
            Fact("makespan_ns", "T", self.T, "time", about="run time"),
            Fact("lambda_G", "λ_G", self.lambda_G, about="bytes on the critical path"),
            Fact("rho_G", "ρ_G", self.rho_G, "share", about="bytes' share of T"),
            *(
                Fact(
                    "tolerance_ns_per_byte",
                    f"G within {p:g} %",
                    G,
                    "gap",
                    "any gap" * math.isinf(G),
                    at=f"{p:g}",
                )
                for p, G in self.tolerance.items()
            ),
            *(Fact("least_bandwidth_GBps", "", least[p], "bandwidth", at=f"{p:g}") for p in least),
            Fact(
                "critical_gaps_ns_per_byte",
                "critical gaps per byte",
                self.critical,
                "gap",
                about=f"between {low} and {high}",
            ),
            Fact("slopes", "", self.slopes),
        )

    def _rounding(self) -> float:
        return 1e-9 * self.interval[1]  # of decimal numbers; a corner is known to more digits


class _Line(NamedTuple):
    """A path: its time is ``constant_ps + slope * G``, G in ps/B."""

    slope: int
    constant_ps: int

    def at(self, G_ps: float) -> float:
        return self.constant_ps + self.slope * G_ps


def analyse_bandwidth(
    program: ProgramLike | Sweep,
    model: LogGPS | None = None,
    *,
    percent: Sequence[float] = PERCENT,
    interval: tuple[float, float] | None = None,
    task: Task | None = None,
) -> BandwidthSensitivity:
    """Return how a program's time depends on G, and the least bandwidth that it tolerates.

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
    task = task_of(task)
    sweep, model = sweep_of(program, model, task)
    paths = _Paths(sweep, task)
    base_ps = model.G * PS_PER_S
    base = paths.tangent(base_ps)
    T_ps = base.at(base_ps)
    tolerance = {p: paths.largest(T_ps * (1 + p / 100)) / PS_PER_S for p in percent}
    low, high = interval or _usual_interval(model.G, tolerance)
    if not 0 <= low < high < math.inf:
        raise ParameterError(
            f"the interval must ascend from at least 0 s/B; got {low} to {high} s/B", key="interval"
        )
    corners, slopes = paths.envelope(low * PS_PER_S, high * PS_PER_S)
    graph = paths.sweep.graph
    return BandwidthSensitivity(
        source=graph.source,
        model=model,
        T=T_ps / PS_PER_S,
        lambda_G=base.slope,
        rho_G=base.slope * base_ps / T_ps if T_ps else 0.0,
        tolerance=tolerance,
        corners=corners[:, 0] / PS_PER_S,
        corner_T=corners[:, 1] / PS_PER_S,
        slopes=slopes,
        provenance=Provenance(
            "simulated", f"{graph.source}, LLAMP's semantics, no contention, {model}"
        ),
    )


@dataclass(eq=False)
class _Paths:
    """The lines over G of a program's paths, found by sweeps."""

    sweep: Sweep
    task: Task

    def tangent(self, G_ps: float) -> _Line:
        """Return the line of a critical path at a G."""
        if self.task.stopping:
            raise SimulationHalted("the analysis was stopped before it finished")
        model = self.sweep.model.replace(G=G_ps / PS_PER_S)
        here = self.sweep.replace(model)
        path = here.critical_path()
        # What a replay takes for these bytes is rounded; the line is not.
        carried = path.bytes > 0
        through = PicosecondCosts.of(model).G.of(path.bytes[carried] + 1)
        return _Line(int(path.bytes.sum()), here.makespan_ps() - int(through.sum()))

    def largest(self, bound_ps: float) -> float:
        """Return the largest G in ps/B with which T is within a bound, by Newton's steps."""
        graph = self.sweep.graph
        most = int(graph.size[self.sweep.send_ops].max(initial=0)) - 1
        if most < 1:
            return math.inf
        # The largest message alone takes so long; T is convex, so each step stays above.
        G_ps = bound_ps / most
        for _ in range(_MOST_STEPS):
            line = self.tangent(G_ps)
            if line.at(G_ps) <= bound_ps:
                break
            lower = (bound_ps - line.constant_ps) / line.slope
            if lower >= G_ps:
                break
            G_ps = lower
        return G_ps

    def envelope(self, low: float, high: float) -> tuple[FloatArray, IntArray]:
        """Return corners as float64[k + 2, 2], G in ps/B and T in ps, and the slopes between."""
        first, last = self.tangent(low), self.tangent(high)
        lines, open_gaps = {first, last}, [(low, high, first, last)]
        while open_gaps:
            left, right, below, above = open_gaps.pop()
            if below.slope == above.slope:
                continue
            meet = _meeting(below, above)
            if not left < meet < right:
                continue
            found = self.tangent(meet)
            # A replay's times are rounded, so less than a picosecond is no corner.
            if found.at(meet) - below.at(meet) <= 1:
                continue
            lines.add(found)
            open_gaps += [(left, meet, below, found), (meet, right, found, above)]
        return _upper(sorted(lines), low, high)


def _upper(lines: Sequence[_Line], low: float, high: float) -> tuple[FloatArray, IntArray]:
    """Return the corners and slopes of the greatest of lines, which ascend by slope."""
    ends = {line.slope: line for line in lines}  # of one slope the last is the greatest
    ordered = list(ends.values())
    crossings = {
        _meeting(one, other) for at, one in enumerate(ordered) for other in ordered[at + 1 :]
    }
    at = [low, *sorted(x for x in crossings if low < x < high), high]
    best = [max(ordered, key=lambda line: line.at((a + b) / 2)) for a, b in pairwise(at)]
    kept = [0, *(i for i in range(1, len(best)) if best[i] != best[i - 1])]
    corners = [(at[i], best[i].at(at[i])) for i in kept] + [(high, best[-1].at(high))]
    return np.array(corners, np.float64), np.array([best[i].slope for i in kept], np.int64)


def _meeting(one: _Line, other: _Line) -> float:
    """Return the G in ps/B at which two lines of different slopes meet."""
    return (one.constant_ps - other.constant_ps) / (other.slope - one.slope)


def _usual_interval(G: float, tolerance: Mapping[float, float]) -> tuple[float, float]:
    bounded = [largest for largest in tolerance.values() if math.isfinite(largest)]
    reach = BEYOND * (max(bounded) - G) if bounded else 0.0
    return G, G + max(reach, 0.1 * G, 1e-12)
