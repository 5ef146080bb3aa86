"""What the tolerance panel analyses, what that finds, and how zones and axis are typed."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from workbench.errors import ParameterError
from workbench.models import LogGPS
from workbench.models.loggps import parse_loggps
from workbench.panels.program_sources import AnyProgram
from workbench.programs import ExecutionGraph
from workbench.tolerance import BandwidthSensitivity, LatencySensitivity, RunPrediction
from workbench.tolerance.curve import CurveParameter, ToleranceCurve
from workbench.tolerance.panel_measured import MeasuredFile
from workbench.tolerance.panel_programs import ProgramVariant

LatencyInterval = tuple[float, float]
"""Both ends of the axis: of L in s."""

_MOST_PERCENTS = 8  # chosen: the third and further zones of the figure have one colour


@dataclass(frozen=True)
class ToleranceState:
    """The programs, parameters, zones and axis that define an analysis."""

    variants: tuple[ProgramVariant, ...]
    own: int  # index among them of the chosen program
    model: LogGPS
    machine: str  # that gave the model; OWN for other values
    percent: tuple[float, ...]  # by which T may grow
    interval: LatencyInterval | None  # of L, s; None: as the tolerances need
    measured: MeasuredFile | None
    over: CurveParameter

    @property
    def own_variant(self) -> ProgramVariant:
        """The chosen program."""
        return self.variants[self.own]


@dataclass(frozen=True, eq=False)
class Analysed:
    """The results of an analysis, by the name of each curve in the figure."""

    state: ToleranceState
    name: str  # of the chosen program
    program: AnyProgram  # with its collectives not yet expanded into messages
    graphs: Mapping[str, ExecutionGraph]
    results: Mapping[str, LatencySensitivity]
    variants: Mapping[str, ProgramVariant]
    left_out: tuple[str, ...] = ()  # why programs of the family are missing, a sentence each
    compared: bool = False  # whether the replays with contention are done
    prediction: RunPrediction | None = None  # measured run times beside the program's
    measured_error: str = ""  # why measured run times are not drawn
    bandwidths: Mapping[str, BandwidthSensitivity] = field(default_factory=dict)  # if over G

    @property
    def result(self) -> LatencySensitivity:
        """The result of the chosen program."""
        return self.results[self.name]

    @property
    def curves(self) -> Mapping[str, ToleranceCurve]:
        """The results in the figure, over L or over G."""
        return self.bandwidths or self.results

    @property
    def curve(self) -> ToleranceCurve:
        """The chosen program's result in the figure."""
        return self.curves[self.name]

    @property
    def graph(self) -> ExecutionGraph:
        """The chosen program's graph."""
        return self.graphs[self.name]


def parse_percents(text: str) -> tuple[float, ...]:
    """Return the percentages of a text such as ``1, 2, 5``, ascending."""
    try:
        found = tuple(sorted({float(word) for word in text.replace(",", " ").split()}))
    except ValueError:
        found = ()
    if not 0 < len(found) <= _MOST_PERCENTS or not all(0 <= p < 1e6 for p in found):
        raise ParameterError(
            f"tolerances must be 1 to {_MOST_PERCENTS} percentages such as 1, 2, 5; got {text!r}",
            key="percent",
        )
    return found


def percents_text(percent: Sequence[float]) -> str:
    """Return percentages as the user types them."""
    return ", ".join(f"{p:g}" for p in percent)


def parse_interval(text: str) -> LatencyInterval | None:
    """Return an interval of L in s from a text such as ``0 to 20 us``; None if empty."""
    if not text.strip():
        return None
    parts = text.split("to")
    try:
        low, high = (_latency(part) for part in parts)
    except ValueError as error:
        raise ParameterError(
            f"the axis of L must be empty, or two latencies such as 0 to 20us; got {text!r}",
            key="interval",
        ) from error
    return check_interval((low, high))


def _latency(text: str) -> float:
    """Return a latency in s from a text; a number without a unit is in µs."""
    with contextlib.suppress(ValueError):
        text = f"{float(text)!r}us"
    return parse_loggps("L", text)


def check_interval(interval: LatencyInterval) -> LatencyInterval:
    """Return an interval of L in s after checking that it ascends."""
    low, high = interval
    if not (0 <= low < high < 1 and round(high * 1e12) > round(low * 1e12)):
        raise ParameterError(
            f"the axis of L must ascend, from at least 0 to less than 1 s; got {low:g} to "
            f"{high:g} s",
            key="interval",
        )
    return interval


def interval_text(interval: LatencyInterval | None) -> str:
    """Return an interval in s as the user types it, in µs."""
    return "" if interval is None else " to ".join(f"{end * 1e6:.9g}" for end in interval) + "us"
