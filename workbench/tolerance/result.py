"""How a program's time depends on the network's latency: one analysis, to read, draw and keep."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from workbench.arrays import FloatArray, IntArray
from workbench.facts import Fact
from workbench.models import LogGPS
from workbench.provenance import Provenance
from workbench.result import Drawing
from workbench.simulate.picoseconds import PS_PER_S, shown_ns
from workbench.tolerance.contention import ContentionReport
from workbench.tolerance.tolerance_curve import ToleranceCurve
from workbench.units import format_quantity

if TYPE_CHECKING:
    import pandas as pd

AnalysisMethod = Literal["sweep", "lp"]

RENDEZVOUS = (
    "a message larger than S is a rendezvous and takes four latencies, one each for header, "
    "request, data and acknowledgement, or three where the receiver came last"
)
"""Why λ_L exceeds the messages on a critical path (Shen et al., LLAMP, appendix B).

Uncertain: the appendix has no formula in its text. The numbers are those of the code that its
authors published with the paper (github.com/spcl/llamp, ``lp_converter.py``, commit b6e9e61): the
send ends 4 L + 3 o + the time of the bytes after it began, or 3 L + 3 o after the receive was
posted, whichever is later, and the receive one o before. Its later state (commit 0bdce2e) charges
one latency, as LogGOPSim does.
"""


@dataclass(frozen=True, eq=False)
class LatencySensitivity(ToleranceCurve):
    """A program's time T over the latency L, without contention (Shen et al., LLAMP, section II).

    T(L) is convex, piecewise linear and never falls. Between two neighbouring critical latencies
    one path through the program decides, and λ_L = dT/dL is the number of latencies on it. That is
    not the number of messages on it: an eager message takes one latency, and one above S bytes four
    (`RENDEZVOUS`).

    Attributes:
        source: name of the program.
        ranks: how many it has.
        operations: how many it has.
        messages: how many it sends.
        model: the parameters; ``L`` is the base latency.
        T: run time at the base latency, s.
        lambda_L_left: dT/dL just below the base latency, latencies on the critical path.
        lambda_L: dT/dL just above it; the same except at a critical latency.
        lambda_G: dT/dG at the base, bytes on the critical path after each message's first.
        lambda_o: dT/do at the base, overheads on the critical path.
        rho_L: latency's share of the critical path, L λ_L / T, between 0 and 1. The paper's
            equation prints the inverse, T / (L λ_L); its figures show this one.
        tolerance: by percent, the largest L in s at which T is at most that much above its value
            at the base latency; inf where the program never gets so slow.
        corners: float64[k + 2], s: both ends of the analysed interval, and the critical
            latencies between them.
        corner_T: float64[k + 2], s: T there.
        slopes: int64[k + 1]: λ_L between neighbouring corners.
        critical_path: int64[m], operations that decide T at the base latency, first to last.
        slack_ps: int64[ranks], how much later each rank could end without moving T, ps.
        method: ``sweep``, exact on a clock of picoseconds, or ``lp``, the linear program.
        seconds: wall time of the analysis, without the replay with contention.
        provenance: what was simulated.
        critical_messages: messages on the critical path just above the base latency, where λ_L is
            `lambda_L`; None for a result saved before they were counted.
        contention: the same program with CPUs and NICs occupied, where it was compared.
        warnings: what is to be known before the numbers are used, a sentence each.
        variable: what stands for L in all of this: ``L`` itself, or ``l_wire``, the latency of
            each wire that messages pass (section IV.2).
    """

    source: str
    ranks: int
    operations: int
    messages: int
    model: LogGPS
    T: float
    lambda_L_left: int
    lambda_L: int
    lambda_G: int
    lambda_o: int
    rho_L: float
    tolerance: Mapping[float, float]
    corners: FloatArray
    corner_T: FloatArray
    slopes: IntArray
    critical_path: IntArray
    slack_ps: IntArray
    method: AnalysisMethod
    seconds: float
    provenance: Provenance
    critical_messages: int | None = None
    contention: ContentionReport | None = None
    warnings: tuple[str, ...] = field(default=())
    variable: Literal["L", "l_wire"] = "L"

    plot = Drawing("plot_tolerance", package="workbench.tolerance")

    @property
    def slack_s(self) -> FloatArray:
        """How much later each rank could end without moving T, s, float64[ranks]."""
        return self.slack_ps / PS_PER_S

    @property
    def L(self) -> float:
        """The base latency, s."""
        return self.model.L

    @property
    def base(self) -> float:
        """The base latency, s."""
        return self.model.L

    @property
    def rho(self) -> float:
        """``rho_L``."""
        return self.rho_L

    @property
    def critical_latencies(self) -> FloatArray:
        """Latencies within the interval at which λ_L changes, float64[k], s."""
        return self.critical

    def tolerances(self) -> pd.DataFrame:
        """Return one row a percentage.

        Returns:
            ``percent``, ``largest_L_ns``, ``added_ns`` beyond the base latency, ``T_ns`` that is
            reached at most.
        """
        import pandas as pd

        largest = np.array(list(self.tolerance.values()), float) * 1e9
        percent = np.array(list(self.tolerance), float)
        return pd.DataFrame(
            {
                "percent": percent,
                "largest_L_ns": largest,
                "added_ns": largest - self.L * 1e9,
                "T_ns": self.T * 1e9 * (1 + percent / 100),
            }
        )

    def facts(self) -> tuple[Fact, ...]:
        """Return times, slopes, tolerances and critical latencies, and what they are of."""
        low, high = (format_quantity(end, "time", exact=True) for end in self.interval)
        variable, left, path = self.variable, self.lambda_L_left, "on the critical path"
        program = f"{self.source}, {self.ranks} ranks, {self.operations:,} operations"
        base = f"at {variable} {format_quantity(self.L, 'time')}"
        below = "" if left == self.lambda_L else f"above, {left:,} below"
        return (
            Fact("", "program", f"{program} {base}"),
            Fact("", "model", repr(self.model)),
            _time("makespan_ns", "T", self.T, about="run time"),
            Fact("lambda_L", "λ_L", self.lambda_L, words=below, about=f"latencies {path}"),
            Fact("lambda_G", "λ_G", self.lambda_G, about=f"bytes {path}"),
            Fact("rho_L", "ρ_L", self.rho_L, "share", about="latency's share of T"),
            *(
                _time("tolerance_ns", f"{variable} within {p:g} %", L, self._added(L), at=f"{p:g}")
                for p, L in self.tolerance.items()
            ),
            Fact(
                "critical_latencies_ns",
                "critical latencies",
                self.critical,
                about=f"between {low} and {high}",
                plain=[_ns(L) for L in self.critical.tolist()],
            ),
            Fact("critical_messages", "messages", self.critical_messages, about=path),
            Fact("", "λ_o", self.lambda_o, about=f"overheads {path}"),
            Fact("", "by", "linear program" if self.method == "lp" else "sweep, exact"),
        )

    def _added(self, L: float) -> str:
        return f"(+{format_quantity(L - self.L, 'time')})" if math.isfinite(L) else "any latency"

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be known before the numbers are used, a sentence each."""
        rendezvous = (RENDEZVOUS,) if more_than_messages(self) else ()
        return (*self.warnings, *rendezvous, *super().notes)

    def to_dict(self) -> dict[str, Any]:
        """Return ``summary``, the program, the model and the curve as values that JSON can hold."""
        own = {"ranks": self.ranks, "method": self.method, "warnings": list(self.warnings)}
        return super().to_dict() | own

    def _rounding(self) -> float:
        # Half a tick of the clock: 20 µs may be written as 2e-5 or as 20e3 * 1e-9.
        return 0.5 / PS_PER_S


def more_than_messages(result: LatencySensitivity) -> bool:
    """Return whether λ_L exceeds the messages on the critical path; if so, add ``RENDEZVOUS``."""
    return result.critical_messages is not None and result.critical_messages < result.lambda_L


def _time(key: str, name: str, seconds: float, words: str = "", **more: str) -> Fact:
    return Fact(key, name, seconds, "time", words, plain=_ns(seconds), **more)


def _ns(seconds: float) -> int | float:
    """Return ns, whole where it is within a picosecond's rounding of a whole number."""
    if not math.isfinite(seconds):
        return math.inf
    picoseconds = seconds * PS_PER_S
    nearest = round(picoseconds)
    # A double holds 2^53 ps exactly; a number this near to a whole one is rounded to it.
    if abs(picoseconds - nearest) <= 1e-9 * max(abs(picoseconds), 1.0):
        return shown_ns(nearest)
    return seconds * 1e9
