"""A program's time over a parameter of the network: over its latency L, or its gap per byte G.

Shen et al., LLAMP, section II: without contention T is the greatest of lines, one for each path
through the program. So T is convex, piecewise linear and never falls, and its slope is a number of
latencies, or of bytes, on the critical path. What the parameter is called and how its values are
written is in `PARAMETERS`; all else is said once, for all of them.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from workbench.arrays import FloatArray, IntArray
from workbench.errors import ParameterError
from workbench.facts import Fact, facts_json
from workbench.models import LogGPS
from workbench.provenance import Provenance
from workbench.result import Drawing, StoredResult
from workbench.simulate.picoseconds import PS_PER_S, shown_ns
from workbench.tolerance.contention import ContentionReport
from workbench.units import format_quantity

if TYPE_CHECKING:
    import pandas as pd

PERCENT = (1.0, 2.0, 5.0)
"""The tolerances of Shen et al., LLAMP, Fig. 1."""

Method = Literal["sweep", "lp", "arrivals"]
"""How an analysis over the latency was made."""

METHODS: Mapping[Method, str] = {
    "sweep": "sweep, exact",
    "lp": "linear program",
    "arrivals": "replays by arrival, straight lines between them",
}
"""The methods in words."""

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


@dataclass(frozen=True, kw_only=True)
class CurveParameter:
    """What a curve is over: a quantity, and its words in figures, tables and sentences."""

    symbol: str
    letter: Literal["L", "G"]  # the model's parameter that holds the base, and of λ and ρ
    quantity: Literal["time", "gap"]
    unit: str
    column: str  # its unit in the names of a table's columns
    kind: str  # what a program bears any of, where its tolerance is infinite
    network: str  # what no value of slows such a program down
    share_of: str  # whose share of the critical path ρ is
    axis: str
    slope: str
    share: str
    title: str
    critical: str  # one value at which the slope changes
    criticals: str
    whole_ps: bool = True  # whether its values are whole picoseconds
    several: str = "programs"  # what several curves are of

    @property
    def a_value(self) -> str:
        """The symbol with its article: ``an L``."""
        return f"{'a' if self.symbol == 'G' else 'an'} {self.symbol}"


_L = CurveParameter(
    symbol="L",
    letter="L",
    quantity="time",
    unit="s",
    column="ns",
    kind="latency",
    network="latency",
    share_of="Latency's",
    axis="latency L",
    slope="λ_L (latencies)",
    share="ρ_L (%)",
    title="Run time over latency",
    critical="critical latency",
    criticals="critical latencies",
)
_L_WIRE = replace(
    _L, symbol="l_wire", axis="latency of a wire", slope="λ_wire (wires)", several="topologies"
)
_G = CurveParameter(
    symbol="G",
    letter="G",
    quantity="gap",
    unit="s/B",
    column="ns_per_byte",
    kind="gap",
    network="bandwidth",
    share_of="Bytes'",
    axis="gap per byte G, and bandwidth, its inverse",
    slope="λ_G (bytes)",
    share="ρ_G (%)",
    title="Run time over gap per byte",
    critical="critical gap",
    criticals="critical gaps",
    whole_ps=False,
)
PARAMETERS = {parameter.symbol: parameter for parameter in (_L, _L_WIRE, _G)}
"""What curves are over, by ``variable``."""

OVER = {one.network: one for one in (_L, _G)}
"""What T of one network can be drawn over, by the word for it: ``latency`` or ``bandwidth``."""


@dataclass(frozen=True, eq=False)
class ToleranceCurve(StoredResult):
    """A program's time T over a parameter, without contention: what all analyses hold.

    Attributes:
        source: name of the program.
        model: the parameters; that of the curve has its base value.
        T: run time at the base, s.
        tolerance: by percent, the largest value, s or s/B, at which T is at most that much above
            its value at the base; inf where the program never gets so slow.
        corners: float64[k + 2], s or s/B: both ends of the analysed interval, and the critical
            values between them, at which the slope changes.
        corner_T: float64[k + 2], s: T there.
        slopes: int64[k + 1], latencies or bytes: the slope of T between neighbouring corners.
        provenance: what was simulated.
    """

    source: str
    model: LogGPS
    T: float
    tolerance: Mapping[float, float]
    corners: FloatArray
    corner_T: FloatArray
    slopes: IntArray
    provenance: Provenance

    plot = Drawing("plot_tolerance", package="workbench.tolerance")

    @property
    @abstractmethod
    def variable(self) -> str:
        """The parameter's symbol: ``L``, ``l_wire`` or ``G``."""

    @property
    def parameter(self) -> CurveParameter:
        """The parameter's quantity and words."""
        return PARAMETERS[self.variable]

    @property
    def base(self) -> float:
        """The model's value of the parameter, s or s/B."""
        return float(getattr(self.model, self.parameter.letter))

    @property
    def rho(self) -> float:
        """The parameter's share of T at the base, between 0 and 1."""
        return float(getattr(self, f"rho_{self.parameter.letter}"))

    @property
    def interval(self) -> tuple[float, float]:
        """First and last value of the curve, s or s/B."""
        return float(self.corners[0]), float(self.corners[-1])

    @property
    def critical(self) -> FloatArray:
        """Values within the interval at which the slope changes, float64[k], s or s/B."""
        return self.corners[1:-1]

    def T_of(self, at: ArrayLike) -> FloatArray:
        """Return T in s at values within the interval.

        Args:
            at: s or s/B, of any shape.

        Raises:
            ParameterError: a value lies outside the interval.
        """
        return np.interp(self._within(at), self.corners, self.corner_T)

    def lambda_of(self, at: ArrayLike) -> IntArray:
        """Return the slope at values as ``T_of`` takes them; at a critical one, that above it."""
        piece = np.searchsorted(self.corners, self._within(at), side="right") - 1
        slopes: IntArray = self.slopes[np.minimum(piece, len(self.slopes) - 1)]
        return slopes

    def rho_of(self, at: ArrayLike) -> FloatArray:
        """Return the parameter's share of T at values as ``T_of`` takes them; 0 where T is 0."""
        values = self._within(at)
        return _share(values * self.lambda_of(values), self.T_of(values))

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be known before the numbers are used, a sentence each."""
        what = self.parameter.network
        without = [f"{p:g} %" for p, most in self.tolerance.items() if math.isinf(most)]
        return (f"no {what} makes the program slower by {', '.join(without)}",) if without else ()

    def summary(self) -> dict[str, Any]:
        """Return the command's JSON values: times in ns, tolerances as the largest value."""
        return facts_json(self.facts())

    def to_dict(self) -> dict[str, Any]:
        """Return ``summary``, the program, the model and the curve as values that JSON can hold."""
        return {
            "program": self.source,
            "model": self.model.to_dict(),
            **self.summary(),
            "curve": self.to_frame().to_dict("list"),
            "provenance": self.provenance.to_dict(),
        }

    def to_frame(self) -> pd.DataFrame:
        """Return one row a piece of the curve, between neighbouring critical values.

        Returns:
            ``from_ns``, ``to_ns``, ``lambda_L``, ``T_from_ns``, ``T_to_ns``, ``rho_from``,
            ``rho_to``; over the gap per byte ``from_ns_per_byte``, ``to_ns_per_byte`` and
            ``lambda_G`` instead of the first three.
        """
        import pandas as pd

        low, high = self.corners[:-1], self.corners[1:]
        T_low, T_high = self.corner_T[:-1], self.corner_T[1:]
        return pd.DataFrame(
            {
                f"from_{self.parameter.column}": low * 1e9,
                f"to_{self.parameter.column}": high * 1e9,
                f"lambda_{self.parameter.letter}": self.slopes,
                "T_from_ns": T_low * 1e9,
                "T_to_ns": T_high * 1e9,
                "rho_from": _share(low * self.slopes, T_low),
                "rho_to": _share(high * self.slopes, T_high),
            }
        )

    @abstractmethod
    def tolerances(self) -> pd.DataFrame:
        """Return one row a percentage."""

    def _check(self) -> None:
        corners = len(self.corners)
        if corners < 2 or len(self.corner_T) != corners or len(self.slopes) != corners - 1:
            raise ParameterError("a curve needs as many times as corners, and a slope between two")
        if not (np.diff(self.corners) >= 0).all() or not np.isfinite(self.corner_T).all():
            raise ParameterError("a curve's corners must ascend, and its times be finite")

    def _within(self, at: ArrayLike) -> FloatArray:
        values = np.asarray(at, float)
        low, high = self.interval
        # Half a tick of the clock: 20 µs may be written as 2e-5 or as 20e3 * 1e-9.
        rounding = 0.5 / PS_PER_S if self.parameter.whole_ps else 1e-9 * high
        outside = np.maximum(low - values, values - high) > rounding
        if outside.any() or np.isnan(values).any():
            unit = self.parameter.unit
            raise ParameterError(
                f"{self.variable} must lie within the analysed interval, {low:g} to {high:g} "
                f"{unit}; got {values.min():g} to {values.max():g} {unit}: analyse with a wider "
                "interval",
                key=self.variable,
            )
        clipped: FloatArray = np.clip(values, low, high)
        return clipped


@dataclass(frozen=True, eq=False)
class LatencySensitivity(ToleranceCurve):
    """A program's time T over the latency L, without contention (Shen et al., LLAMP, section II).

    Between two neighbouring critical latencies one path through the program decides, and
    λ_L = dT/dL is the number of latencies on it. That is not the number of messages on it: an eager
    message takes one latency, and one above S bytes four (`RENDEZVOUS`).

    Beside the attributes of every `ToleranceCurve`, whose base is ``model.L``, it has:

    Attributes:
        ranks: how many the program has.
        operations: how many it has.
        messages: how many it sends.
        lambda_L_left: dT/dL just below the base latency, latencies on the critical path.
        lambda_L: dT/dL just above it; the same except at a critical latency.
        lambda_G: dT/dG at the base, bytes on the critical path after each message's first.
        lambda_o: dT/do at the base, overheads on the critical path.
        rho_L: latency's share of the critical path, L λ_L / T, between 0 and 1. The paper's
            equation prints the inverse, T / (L λ_L); its figures show this one.
        critical_path: int64[m], operations that decide T at the base latency, first to last.
        slack_ps: int64[ranks], how much later each rank could end without moving T, ps.
        method: ``sweep``, exact on a clock of picoseconds; ``lp``, the linear program; or
            ``arrivals``, a replay at each of ``corners`` with whom receives from any source answer
            decided by arrivals there.
        seconds: wall time of the analysis, without the replay with contention.
        critical_messages: messages on the critical path just above the base latency, where λ_L is
            `lambda_L`; None for a result saved before they were counted.
        contention: the same program with CPUs and NICs occupied, where it was compared.
        warnings: what is to be known before the numbers are used, a sentence each.
        variable: what stands for L in all of this: ``L`` itself, or ``l_wire``, the latency of
            each wire that messages pass (section IV.2).
    """

    ranks: int
    operations: int
    messages: int
    lambda_L_left: int
    lambda_L: int
    lambda_G: int
    lambda_o: int
    rho_L: float
    critical_path: IntArray
    slack_ps: IntArray
    method: Method
    seconds: float
    critical_messages: int | None = None
    contention: ContentionReport | None = None
    warnings: tuple[str, ...] = ()
    variable: Literal["L", "l_wire"] = "L"

    @property
    def slack_s(self) -> FloatArray:
        """How much later each rank could end without moving T, s, float64[ranks]."""
        return self.slack_ps / PS_PER_S

    @property
    def L(self) -> float:
        """The base latency, s."""
        return self.model.L

    @property
    def critical(self) -> FloatArray:
        """As of every curve; none where ``method`` is ``arrivals``, as corners are chosen there."""
        return super().critical[:0] if self.method == "arrivals" else super().critical

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
            Fact("", "by", METHODS[self.method]),
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


@dataclass(frozen=True, eq=False)
class BandwidthSensitivity(ToleranceCurve):
    """A program's time T over the gap per byte G, the inverse of bandwidth, without contention.

    T(G) is convex and piecewise linear to a picosecond for each message of a path, which is what a
    replay rounds to.

    Beside the attributes of every `ToleranceCurve`, whose base is ``model.G``, it has:

    Attributes:
        lambda_G: dT/dG at the base, bytes on the critical path after each message's first.
        rho_G: share of the critical path that is G λ_G.
    """

    lambda_G: int
    rho_G: float

    @property
    def variable(self) -> str:
        """``G``."""
        return "G"

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
        name, least = "tolerance_ns_per_byte", self.least_bandwidth_Bps
        return (
            Fact("", "program", f"{self.source} at G {base}"),
            Fact("", "model", repr(self.model)),
            Fact("makespan_ns", "T", self.T, "time", about="run time"),
            Fact("lambda_G", "λ_G", self.lambda_G, about="bytes on the critical path"),
            Fact("rho_G", "ρ_G", self.rho_G, "share", about="bytes' share of T"),
            *(
                Fact(name, f"G within {p:g} %", G, "gap", "any gap" * math.isinf(G), at=f"{p:g}")
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


def more_than_messages(result: LatencySensitivity) -> bool:
    """Return whether λ_L exceeds the messages on the critical path; if so, add ``RENDEZVOUS``."""
    return result.critical_messages is not None and result.critical_messages < result.lambda_L


def _share(part: FloatArray, whole: FloatArray) -> FloatArray:
    """Return the quotient of two arrays, 0 where the second is 0."""
    return np.where(whole > 0, part / np.maximum(whole, 1e-300), 0.0)


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
