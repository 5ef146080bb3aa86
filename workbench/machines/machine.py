"""A machine: its fitted model, LogGPS, what else is known of it, and where each part is from.

    machine = machines.load("azure-hb96v3-hdr")      # shipped
    machine = machines.load("my-machine.json")       # what `workbench fit --save` wrote
    machine.loggps, machine.part("link_bandwidth")
    machine.with_parts(topology="fat-tree:16", ranks_per_node=64).save("my-machine.json")

Analyses ask a machine for what they need. A part that nobody gave is derived by the rule that its
note states, or assumed.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Literal, get_args

import numpy as np

from workbench import datasets
from workbench.checks import number, whole
from workbench.errors import DatasetError, ParameterError
from workbench.html_table import code, html_table
from workbench.measure import OSUCurve
from workbench.models import LogGPS, ModelParameter, NetworkModel, OverheadTable
from workbench.provenance import Provenance
from workbench.result import StoredResult
from workbench.suggestions import did_you_mean
from workbench.topology.metrics.links import D_SWITCH_S
from workbench.topology.spec import parse_topology
from workbench.units import Kind, format_quantity, parse_typed_quantity

if TYPE_CHECKING:
    import pandas as pd

Source = Literal["measured", "published", "assumed"]
SOURCES: tuple[Source, ...] = get_args(Source)
Library = Literal["open-mpi", "mpich", "fujitsu-mpi", "unknown"]
LIBRARIES: tuple[Library, ...] = get_args(Library)
PLACEMENTS = ("block", "round-robin", "random", "by-group")

LEVEL = 0.90
"""The share of refits whose values lie within an interval of a machine's parameter."""

_Z = 1.6448536269514722  # half the width of a normal 90 % interval in standard errors


@dataclass(frozen=True)
class PartKind:
    """What a part of a machine is: its quantity, a sentence, and the values of a choice."""

    quantity: Kind  # "choice" for texts
    about: str
    choices: tuple[str, ...] = ()


PARTS: Mapping[str, PartKind] = MappingProxyType(
    {
        "ranks_per_node": PartKind("count", "ranks on each node"),
        "link_bandwidth": PartKind("bandwidth", "rate of a link of the network"),
        "host_latency": PartKind("time", "latency between a host and its switch, card included"),
        "wire_latency": PartKind("time", "latency of a wire between two switches"),
        "switch_latency": PartKind("time", "latency of a switch"),
        "topology": PartKind("choice", "network, such as fat-tree:16"),
        "placement": PartKind("choice", "which hosts a job gets", PLACEMENTS),
        "library": PartKind("choice", "MPI library", LIBRARIES),
        "engines": PartKind("count", "messages that a node moves at full rate at once"),
        "core_bandwidth": PartKind("bandwidth", "memory traffic of a core"),
        "memory_bandwidth": PartKind("bandwidth", "memory traffic of a node"),
    }
)
"""The parts of a machine beside its model, by name; values are in SI."""


@dataclass(frozen=True)
class KnownPart:
    """The value of a part of a machine, and where it is from.

    Attributes:
        value: in SI, or a text.
        source: ``measured``, ``published`` or ``assumed``.
        note: how it was found, or the rule by which it was derived.
    """

    value: float | int | str
    source: Source
    note: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class Machine(StoredResult):
    """A machine, as far as analyses depend on it.

    Attributes:
        name: of the machine.
        model: the fitted model of two nodes.
        loggps: LogGPS parameters; of a Protocol those of its eager regime.
        rmspe: errors of the model ``joint``, ``latency`` and ``bandwidth`` in percent; nan where a
            benchmark was not measured.
        provenance: what the model was fitted to, and how.
        intervals: lower and upper end of the 90 % interval of each parameter of the model, SI by
            key, where they are known.
        measured: messages between two nodes; None of a shipped machine, whose curve is the dataset
            of its name, and of one that is a model alone.
        within: messages between two ranks of a node; None where they were not measured.
        overheads: of a host by message size, where they were measured.
        given: the parts that somebody gave, by their names in ``PARTS``.

    Raises:
        ParameterError: an interval is of no parameter, or a part is not accepted.
    """

    ONE_FILE: ClassVar[bool] = True

    name: str
    model: NetworkModel
    loggps: LogGPS
    rmspe: Mapping[str, float]
    provenance: Provenance
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    measured: OSUCurve | None = None
    within: OSUCurve | None = None
    overheads: OverheadTable | None = None
    given: Mapping[str, KnownPart] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for key, (low, high) in self.intervals.items():
            self.model.get(key)
            if not (math.isfinite(low) and math.isfinite(high) and low <= high):
                raise ParameterError(
                    f"the interval of {key} must be two ascending numbers; got {low} to {high}",
                    key=key,
                )
        checked = {
            name: dataclasses.replace(part, value=_checked(name, part.value))
            for name, part in self.given.items()
        }
        object.__setattr__(self, "given", checked)

    @property
    def curve(self) -> OSUCurve:
        """Messages between two nodes, as measured.

        Raises:
            DatasetError: they are not known.
        """
        if self.measured is not None:
            return self.measured
        # A model alone, such as an .ini, may have the name of a dataset by chance.
        if self.name in datasets.list() and "measured" in self.provenance.details:
            return datasets.load(self.name)
        raise DatasetError(
            f"the machine {self.name} must have measured messages; it is a model alone: fit it to "
            "OSU output (workbench fit --osu FILE --save FILE.json)"
        )

    @property
    def errors(self) -> dict[str, float]:
        """Standard errors of the model's parameters, SI by key, of their 90 % intervals."""
        return standard_errors(self.intervals)

    def part(self, name: str) -> KnownPart:
        """Return a part as given, else derived or assumed.

        Args:
            name: one of ``PARTS``.

        Raises:
            ParameterError: there is no such part, or nothing is known of it and nothing usual can
                be assumed.
        """
        _check_known(name)
        if name in self.given:
            return self.given[name]
        found = self._derived(name)
        if found is None:
            raise ParameterError(
                f"the machine {self.name} must have {name} ({PARTS[name].about}); add it with "
                f"workbench machine set FILE.json {name}=VALUE",
                key=name,
            )
        return found

    def number(self, name: str) -> float:
        """Return the value of a part that is a quantity, in SI.

        Args:
            name: one of ``PARTS``.

        Raises:
            ParameterError: as for ``part``.
        """
        return float(self.part(name).value)

    def with_parts(
        self, source: Source = "published", note: str = "as given", **parts: float | int | str
    ) -> Machine:
        """Return the machine with these parts.

        Args:
            source: where they are from: ``measured``, ``published`` or ``assumed``.
            note: more about that.
            parts: values in SI or texts with a unit, by their names in ``PARTS``.

        Raises:
            ParameterError: there is no such part, or a value is not accepted.
        """
        if source not in SOURCES:
            raise ParameterError(
                f"source must be one of {', '.join(SOURCES)}; got {source!r}", key="source"
            )
        added = {
            name: KnownPart(_checked(name, value), source, note) for name, value in parts.items()
        }
        return dataclasses.replace(self, given={**self.given, **added})

    def to_frame(self) -> pd.DataFrame:
        """Return one row a part: ``part``, ``value``, ``source`` and ``note``."""
        import pandas as pd

        return pd.DataFrame(self._rows(), columns=["part", "value", "source", "note"])

    def __repr__(self) -> str:
        error = self.rmspe.get("joint", math.nan)
        fitted = "" if math.isnan(error) else f", RMSPE {error:.1f} %"
        return f"Machine({self.name}, {self.model.name}{fitted}, {self.loggps})"

    def _repr_html_(self) -> str:
        head = ("parameter", "value", f"{LEVEL:.0%} interval")
        known = self.model.parameters()
        rows = ((code(p.key), p.text(p.value), self._interval(p)) for p in known)
        parts = html_table(self._rows(), ("part", "value", "source", "note"), repr(self))
        return parts + html_table(rows, head, self.provenance.caption())

    def _rows(self) -> list[tuple[str, str, str, str]]:
        error = self.rmspe.get("joint", math.nan)
        fitted = "not fitted" if math.isnan(error) else f"RMSPE {error:.1f} %"
        caption = self.provenance.details.get("measured", "")  # of the curve that was fitted
        source, _, title = caption.partition(": ") if caption else ("assumed", "", "")
        rows = [
            ("model", self.model.name, source, f"{fitted}; {title or self.provenance.title}"),
            ("LogGPS", repr(self.loggps)[7:-1], source, "between two nodes"),
        ]
        if self.within is not None:
            rows.append(("within a node", repr(self.within)[9:-1], "measured", ""))
        for name in PARTS:
            part = self.given.get(name) or self._derived(name)
            if part is not None:
                rows.append((name, part_text(name, part.value), part.source, part.note))
        return rows

    def _derived(self, name: str) -> KnownPart | None:
        """Return a part by its rule or usual value; None where there is neither."""
        if name == "link_bandwidth":
            return self._link_bandwidth()
        if name == "switch_latency":
            note = "LLAMP (paper 001, section IV-2), at most a third of L"
            return KnownPart(min(D_SWITCH_S, self.loggps.L / 3), "assumed", note)
        if name == "host_latency":
            hosts = max(self.loggps.L - self.number("switch_latency"), 0.0)
            return KnownPart(hosts / 2, "assumed", "half of what L leaves beside one switch")
        return _ASSUMED.get(name)

    def _link_bandwidth(self) -> KnownPart:
        try:
            curve: OSUCurve | None = self.curve
        except DatasetError:
            curve = None
        if curve is not None and np.isfinite(curve.bandwidth_Bps).any():
            origin = curve.provenance.origin
            source: Source = "assumed"
            if origin in ("measured", "published"):
                source = "measured" if origin == "measured" else "published"
            note = f"largest {origin} bandwidth of two nodes; a link may be faster"
            return KnownPart(float(np.nanmax(curve.bandwidth_Bps)), source, note)
        if self.loggps.G > 0:
            return KnownPart(1 / self.loggps.G, "assumed", "1 / G of LogGPS")
        raise ParameterError(
            f"the machine {self.name} must have a link_bandwidth: neither was a bandwidth measured "
            "nor is G above 0; add it with workbench machine set FILE.json link_bandwidth=25GB/s",
            key="link_bandwidth",
        )

    def _interval(self, about: ModelParameter) -> str:
        ends = self.intervals.get(about.key, ())
        return " to ".join(about.text(round(end) if about.whole else end) for end in ends)


_ASSUMED: Mapping[str, KnownPart] = MappingProxyType(
    {
        "ranks_per_node": KnownPart(1, "assumed", "one rank a node"),
        "wire_latency": KnownPart(25e-9, "assumed", "5 m of cable, 5 ns a metre"),
        "placement": KnownPart("block", "assumed", "ranks fill hosts in their order"),
        "library": KnownPart("unknown", "assumed", "the fastest algorithm is taken"),
    }
)


def standard_errors(intervals: Mapping[str, tuple[float, float]]) -> dict[str, float]:
    """Return the standard errors of normal distributions with these 90 % intervals."""
    return {key: (high - low) / (2 * _Z) for key, (low, high) in intervals.items()}


def part_text(name: str, value: float | int | str) -> str:
    """Return the value of a part for people, with its unit."""
    if isinstance(value, str):
        return value
    return (
        f"{value:g}"
        if PARTS[name].quantity == "count"
        else format_quantity(value, PARTS[name].quantity)
    )


def _check_known(name: str) -> None:
    if name not in PARTS:
        raise ParameterError(
            f"a machine has the parts {', '.join(PARTS)}; got {name!r}{did_you_mean(name, PARTS)}",
            key=name,
        )


def _checked(name: str, value: float | int | str) -> float | int | str:
    """Return the SI value of a part that was given as a number or as a text with its unit."""
    _check_known(name)
    kind = PARTS[name]
    if kind.quantity == "choice":
        if kind.choices and value not in kind.choices:
            raise ParameterError(
                f"{name} must be one of {', '.join(kind.choices)}; got {value!r}"
                f"{did_you_mean(str(value), kind.choices)}",
                key=name,
            )
        if name == "topology":
            parse_topology(str(value))
        return str(value)
    if isinstance(value, str):
        read = parse_typed_quantity(value, kind.quantity, name=name)
        # What the decimal digits say, without the last bit that scaling by a unit may leave.
        value = float(f"{read:.12g}") if isinstance(read, float) else read
    if kind.quantity == "count":
        return whole(value, name, 1, 2**31 - 1)
    least = 0.0 if kind.quantity == "time" else 1.0  # a rate below 1 B/s is a mistyped unit
    return number(value, name, least, unit="s" if kind.quantity == "time" else "B/s")
