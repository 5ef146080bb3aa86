"""A program measured under added latency, with its traces and what messages cost meanwhile."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from workbench.datapackage import (
    Column,
    PackagedResult,
    PackageFiles,
    read_resource,
    read_text,
    resource,
    table_resource,
)
from workbench.errors import ParameterError
from workbench.measure import MeasuredRuns, read_measured_runs
from workbench.measure.cluster.costs import MessageCost, Quartiles
from workbench.models import LogGPS
from workbench.programs import read_trace
from workbench.programs.program import Program
from workbench.provenance import Origin, Provenance
from workbench.result import Drawing
from workbench.units import format_quantity

if TYPE_CHECKING:
    import pandas as pd

_KINDS = ("half_trip", "send", "receive", "gap")
_QUARTILES = ("lower", "median", "upper")
_MEANINGS = {
    "half_trip": "half a round trip",
    "send": "the call that sends",
    "receive": "the call that receives what is there already",
    "gap": "a burst's time for each message after the first",
}
_NO_LIMIT = 2**31 - 1  # bytes, the most that a count of MPI holds: every message is eager
_US_PER_S = 1e6  # the columns of costs.csv and the names of traces are in µs


@dataclass(frozen=True)
class CostAtLatency:
    """What a message cost between two hosts while some latency was added.

    Attributes:
        added_s: latency that was added, one way, s.
        repeat: number of the repeat in which it was measured.
        cost: of a message of one size.
    """

    added_s: float
    repeat: int
    cost: MessageCost


@dataclass(frozen=True, eq=False, repr=False)
class ProgramRecording(PackagedResult):
    """A program's run times under added latency, and all that a prediction of them needs.

    Attributes:
        name: of the program.
        title: what it does.
        algorithms: of its collectives, by collective, as they were forced in the MPI.
        runs: its run times.
        costs: of messages between two hosts, measured before each run.
        traces: zip files of its traces, by the latency in s that was added as they were recorded.
        context: of the measurement: machine, MPI, settings.
    """

    name: str
    title: str
    algorithms: Mapping[str, str]
    runs: MeasuredRuns
    costs: tuple[CostAtLatency, ...]
    traces: Mapping[float, bytes] = field(default_factory=dict)
    context: Mapping[str, Any] = field(default_factory=dict)

    plot = Drawing("plot_program_recording", package="workbench.validation")

    @property
    def ranks(self) -> int:
        """Number of its ranks."""
        return int(self.runs.ranks[0])

    @property
    def origin(self) -> Origin:
        """Where the times come from: ``emulated`` or ``measured``."""
        return self.runs.provenance.origin

    def program(self, added_s: float = 0.0) -> Program:
        """Return the program as it was recorded at an added latency.

        Args:
            added_s: one of those in ``traces``, s.

        Raises:
            ParameterError: there is no trace from that latency.
        """
        if added_s not in self.traces:
            known = ", ".join(format_quantity(one, "time") for one in self.traces) or "none"
            raise ParameterError(
                f"added_s must be a latency at which a trace was recorded, {known}; got "
                f"{added_s:g} s",
                key="added_s",
            )
        program = read_trace({"trace.zip": self.traces[added_s]})
        return replace(program, source=f"{self.name}, {self.ranks} ranks")

    def model(self, added_s: float = 0.0) -> LogGPS:
        """Return the network as measured between two hosts while some latency was added.

        o is the mean of the calls that send and that receive a message of the smallest size, L half
        a round trip less both; G is the rise of half a round trip with size, where several sizes
        were measured. Medians of all repeats count.

        Args:
            added_s: the latency, s.

        Raises:
            ParameterError: no message was measured at that latency.
        """
        trips = self.half_trips(added_s)
        size = min(trips)
        own = [
            one.cost for one in self.costs if one.added_s == added_s and one.cost.size_bytes == size
        ]
        o = (_median(c.send for c in own) + _median(c.receive for c in own)) / 2
        G = float(np.polyfit(list(trips), list(trips.values()), 1)[0]) if len(trips) > 1 else 0.0
        G = max(G, 0.0)
        L = max(trips[size] - 2 * o - max(size - 1, 0) * G, 0.0)
        return LogGPS(L=L, o=o, g=0.0, G=G, O=0.0, S=_NO_LIMIT)

    def half_trips(self, added_s: float = 0.0) -> dict[int, float]:
        """Return half a round trip by size of the message in bytes, the median of all repeats, s.

        Args:
            added_s: the latency that was added, s.

        Raises:
            ParameterError: no message was measured at that latency.
        """
        here = [one.cost for one in self.costs if one.added_s == added_s]
        if not here:
            raise ParameterError(
                f"added_s must be a latency at which messages were measured; got {added_s:g} s",
                key="added_s",
            )
        return {
            size: _median(cost.half_trip for cost in here if cost.size_bytes == size)
            for size in sorted({cost.size_bytes for cost in here})
        }

    def to_frame(self) -> pd.DataFrame:
        """Return the run times by added latency, as ``MeasuredRuns.to_frame`` does."""
        return self.runs.to_frame()

    def __repr__(self) -> str:
        traces = f"{len(self.traces)} trace{'' if len(self.traces) == 1 else 's'}"
        return f"ProgramRecording({self.title}; {self.runs!r}; {traces})"

    def _package(self) -> tuple[Mapping[str, Any], PackageFiles]:
        about = self.runs.provenance
        descriptor = {
            "title": f"{self.title}, {self.ranks} ranks, under added latency",
            "program": self.name,
            "program_title": self.title,
            "origin": about.origin,
            "source": about.source,
            "algorithms": dict(self.algorithms),
            "measurement": dict(self.context),
            "traces": {_trace_name(added): added for added in self.traces},
        }
        costs = _costs_csv(self.costs).encode()
        runs = self.runs.to_csv().encode()
        files: PackageFiles = [
            (resource("runs.csv", runs), runs),
            (table_resource("costs", costs, _COLUMNS, "cost of messages between two hosts"), costs),
        ]
        for added, data in self.traces.items():
            files.append((resource(_trace_name(added), data), data))
        return descriptor, files

    @classmethod
    def _from_package(cls, folder: Path, descriptor: Mapping[str, Any]) -> Self:
        runs = read_measured_runs(
            ("runs.csv", read_text(folder, descriptor, "runs.csv")), origin=descriptor["origin"]
        )
        costs = csv.DictReader(io.StringIO(read_text(folder, descriptor, "costs.csv")))
        return cls(
            str(descriptor["program"]),
            str(descriptor["program_title"]),
            {str(key): str(value) for key, value in descriptor["algorithms"].items()},
            runs,
            tuple(map(_cost_of, costs)),
            {
                float(added): read_resource(folder, descriptor, str(name))
                for name, added in descriptor["traces"].items()
            },
            dict(descriptor["measurement"]),
        )


def provenance(
    title: str,
    origin: Origin,
    command: str,
    statistic: str = "time from MPI_Init to MPI_Finalize",
) -> Provenance:
    """Return where a recording's times come from."""
    details = {"statistic": statistic}
    return Provenance(origin, title, source=command, licence="BSD-3-Clause", details=details)


_COLUMNS: dict[str, Column] = {
    "added_us": ("number", "us", "latency that was added, one way"),
    "repeat": ("integer", "", "number of the repeat"),
    "size_bytes": ("integer", "B", "size of the message"),
} | {
    f"{kind}_{quartile}_us": ("number", "us", f"{_MEANINGS[kind]}, {quartile} quartile")
    for kind in _KINDS
    for quartile in _QUARTILES
}


def _costs_csv(costs: Iterable[CostAtLatency]) -> str:
    table = io.StringIO()
    rows = csv.writer(table, lineterminator="\n")
    rows.writerow(_COLUMNS)
    for one in costs:
        times = (
            getattr(getattr(one.cost, kind), quartile) * _US_PER_S
            for kind in _KINDS
            for quartile in _QUARTILES
        )
        added = f"{one.added_s * _US_PER_S:.15g}"
        rows.writerow((added, one.repeat, one.cost.size_bytes, *(f"{us:.3f}" for us in times)))
    return table.getvalue()


def _cost_of(row: Mapping[str, str]) -> CostAtLatency:
    quartiles = (
        Quartiles(*(float(row[f"{kind}_{quartile}_us"]) / _US_PER_S for quartile in _QUARTILES))
        for kind in _KINDS
    )
    cost = MessageCost(int(row["size_bytes"]), *quartiles)
    return CostAtLatency(float(row["added_us"]) / _US_PER_S, int(row["repeat"]), cost)


def _trace_name(added_s: float) -> str:
    return f"trace-{added_s * _US_PER_S:.0f}us.zip"


def _median(quartiles: Iterable[Quartiles]) -> float:
    return float(np.median([one.median for one in quartiles]))
