"""Which parameters a fit may move, and how far: the paper's Table II on the keys that act.

Table II of Suetterlein et al. (HPC Network Simulation Tuning via Automatic Extraction of Hardware
Parameters) lists spellings that SST/macro's SNAPPR never reads (``switch.mtu``,
``switch.link.credits``, ``node.nic.injection.mtu``, ``node.nic.injection.credits``); the search
moves the parameters they stand for. Bounds and scales come from the model's own descriptions.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from workbench.errors import ParameterError
from workbench.html_table import code, html_table
from workbench.models import ModelParameter, NetworkModel, Value
from workbench.units import UNITS, Kind, format_quantity, parse_quantity

_WHOLE = ("bytes", "count")
_NOT_SEARCHABLE = ("flag", "choice")

_USUAL: Mapping[str, tuple[str, float]] = MappingProxyType(
    {"time": ("ns", 1e-9), "bandwidth": ("GB/s", 1e9), "frequency": ("GHz", 1e9)}
)

_MIDDLE = (
    "middle.limit",
    "middle.latency",
    "middle.overhead",
    "middle.copy_bandwidth",
    "middle.bandwidth",
)
_OVERLAY = ("switch.logp.bandwidth", "switch.logp.out_in_latency", "switch.logp.hop_latency")

# node.nic.bandwidth is not in Table II, but it acts: SNAPPR charges the last packet of a message
# max(0, 1/link - 1/nic) a byte, which is the only size-dependent cost of a one-packet message.
SEARCHED: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "snappr": (
            "node.nic.mtu",
            "node.nic.bandwidth",
            "node.nic.credits",
            "node.nic.injection.bandwidth",
            "node.nic.injection.latency",
            "node.nic.ejection.latency",
            "switch.credits",
            "switch.link.bandwidth",
        ),
        "logp": (
            "node.nic.injection.bandwidth",
            "node.nic.injection.latency",
            "switch.bandwidth",
            "switch.out_in_latency",
            "switch.hop_latency",
        ),
        "pisces": (
            "node.nic.injection.mtu",
            "node.nic.injection.credits",
            "node.nic.injection.bandwidth",
            "node.nic.injection.latency",
            "node.nic.ejection.latency",
            "switch.xbar.bandwidth",
            "switch.link.bandwidth",
            "switch.link.credits",
        ),
        "protocol": (
            "short.max_size",
            "eager.max_size",
            "short.latency",
            "short.overhead",
            "short.copy_bandwidth",
            "eager.latency",
            "eager.overhead",
            "eager.copy_bandwidth",
            "eager.bandwidth",
            "rendezvous.handshake",
            "rendezvous.overhead",
            "rendezvous.copy_bandwidth",
            "rendezvous.bandwidth",
        ),
    }
)
"""The keys a fit searches by default, by model; a LogP overlay in use adds its three, a regime of
middle messages its five."""


@dataclass(frozen=True)
class Dimension:
    """One parameter that a fit may move.

    Attributes:
        key: SST/macro's dotted key.
        kind: what it measures, as in ``ModelParameter.kind``.
        low, high: bounds in SI units, inclusive.
        log: whether the search is even in the logarithm.
    """

    key: str
    kind: Kind
    low: float
    high: float
    log: bool

    @property
    def whole(self) -> bool:
        """Whether its values are whole numbers."""
        return self.kind in _WHOLE

    @property
    def unit(self) -> str:
        """SI unit of the bounds; empty for counts."""
        return UNITS[self.kind]

    def text(self, value: float) -> str:
        """Return a value for people, such as ``500 ns``.

        Args:
            value: in SI units.
        """
        return format_quantity(value, self.kind)

    def clip(self, value: float) -> float | int:
        """Return the value nearest to ``value`` that lies within the bounds.

        Args:
            value: in SI units.
        """
        inside = min(max(float(value), self.low), self.high)
        if not self.whole:
            return inside
        return int(min(max(round(inside), math.ceil(self.low)), math.floor(self.high)))

    def snap(self, value: float, digits: int = 4) -> float | int:
        """Return ``value`` to some significant digits of its usual unit, within the bounds.

        No benchmark tells ``119.9ns`` from ``119.8748256905826ns``, and an .ini is read by people.

        Args:
            value: in SI units.
            digits: how many.
        """
        if self.high - self.low < 0.01 * self.high:
            return self.clip(value)
        unit, scale = _USUAL.get(self.kind, ("", 1.0))
        text = f"{value / scale:.{digits}g}"
        return self.clip(float(parse_quantity(text + unit, self.kind)) if unit else float(text))

    def position(self, value: float) -> float:
        """Return where ``value`` lies between the bounds, 0 to 1, on the search's own scale.

        Args:
            value: in SI units.
        """
        if self.high <= self.low:
            return 0.5
        if self.log:
            low, high = math.log(self.low), math.log(self.high)
            return (math.log(max(float(value), self.low)) - low) / (high - low)
        return (float(value) - self.low) / (self.high - self.low)

    def at(self, position: float) -> float | int:
        """Return the value at a position, the inverse of ``position`` for values within bounds.

        Args:
            position: 0 to 1; beyond that the bound is returned.
        """
        if self.log:
            low, high = math.log(self.low), math.log(self.high)
            return self.clip(math.exp(low + float(position) * (high - low)))
        return self.clip(self.low + float(position) * (self.high - self.low))

    def at_bound(self, value: float) -> str:
        """Return ``lower`` or ``upper`` within 1 % of the range of a bound, else an empty text.

        Args:
            value: in SI units.
        """
        position = self.position(value)
        if position <= 0.01:
            return "lower"
        return "upper" if position >= 0.99 else ""


@dataclass(frozen=True, repr=False)
class SearchSpace:
    """The parameters a fit moves, their bounds, and values held fixed.

    A space is a value: every method that changes it returns another one.

    Attributes:
        dimensions: what is searched, in the order of the tables.
        fixed: values that replace the model's own, SI, by key; not searched.
        known: description of every parameter of the model, by key.
    """

    dimensions: tuple[Dimension, ...]
    fixed: Mapping[str, Value] = dataclasses.field(default_factory=dict)
    known: Mapping[str, ModelParameter] = dataclasses.field(default_factory=dict, compare=False)

    @classmethod
    def for_model(cls, model: NetworkModel) -> SearchSpace:
        """Return the space of Table II for this model; everything else stays as the model has it.

        Args:
            model: the model whose parameters are searched. Where its ``negligible_size`` sends
                messages over the LogP overlay, the overlay's parameters are searched too, and
                where its ``middle_limit`` is not 0 those of middle messages.
        """
        known = {parameter.key: parameter for parameter in model.parameters()}
        keys = SEARCHED[model.name]
        negligible = known.get("node.nic.negligible_size")
        if negligible is not None and model.name != "logp" and float(negligible.value) > 0:
            keys += _OVERLAY
        if "middle.limit" in known and float(known["middle.limit"].value) > 0:
            keys += _MIDDLE
        return cls(tuple(_dimension(known[key]) for key in keys), {}, known)

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys of the parameters that are searched."""
        return tuple(dimension.key for dimension in self.dimensions)

    def __len__(self) -> int:
        return len(self.dimensions)

    def __getitem__(self, key: str) -> Dimension:
        for dimension in self.dimensions:
            if dimension.key == key:
                return dimension
        raise ParameterError(
            f"{key} is not searched; searched are {', '.join(self.keys)}; free it first", key=key
        )

    def with_bounds(self, key: str, low: float | str, high: float | str) -> SearchSpace:
        """Return a space in which ``key`` is searched between ``low`` and ``high``.

        Args:
            key: dotted key; one that was not searched is from now on.
            low: lower bound, SI or a text with a unit such as ``"100ns"``.
            high: upper bound, likewise.

        Raises:
            ParameterError: there is no such key, its kind cannot be searched, or the bounds are
                out of order, not accepted by the model, or not positive on a log scale.
        """
        described = self._described(key)
        least, most = _number(described, low), _number(described, high)
        if not least < most:
            raise ParameterError(
                f"the lower bound of {key} must be below the upper; got "
                f"{format_quantity(least, described.kind)} and "
                f"{format_quantity(most, described.kind)}; to hold it at one value use fix()",
                key=key,
            )
        if described.log and least <= 0:
            raise ParameterError(
                f"the bounds of {key} must be positive, it is searched on a log scale; got {low}",
                key=key,
            )
        new = Dimension(key, described.kind, float(least), float(most), described.log)
        kept = tuple(new if d.key == key else d for d in self.dimensions)
        dimensions = kept if key in self.keys else (*kept, new)
        fixed = {k: v for k, v in self.fixed.items() if k != key}
        return dataclasses.replace(self, dimensions=dimensions, fixed=fixed)

    def fix(self, key: str, value: Value | None = None) -> SearchSpace:
        """Return a space in which ``key`` is held at ``value``.

        Args:
            key: dotted key.
            value: SI or a text with a unit; None holds it at the value it has in the model.

        Raises:
            ParameterError: there is no such key, the model does not accept the value, or nothing
                would be left to search.
        """
        described = self._described(key, searchable=False)
        dimensions = tuple(d for d in self.dimensions if d.key != key)
        if not dimensions:
            raise ParameterError(
                f"at least one parameter must be searched; {key} is the last one, keep it free",
                key=key,
            )
        fixed = {k: v for k, v in self.fixed.items() if k != key}
        if value is not None:
            fixed[key] = described.coerce(value)
        return dataclasses.replace(self, dimensions=dimensions, fixed=fixed)

    def free(self, key: str) -> SearchSpace:
        """Return a space in which ``key`` is searched, between its own bounds where it was not.

        Args:
            key: dotted key.

        Raises:
            ParameterError: there is no such key or its kind cannot be searched.
        """
        if key in self.keys:
            return self
        dimension = _dimension(self._described(key))
        return self.with_bounds(key, dimension.low, dimension.high)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold; ``from_dict`` reads them back."""
        return {
            "dimensions": [dataclasses.asdict(dimension) for dimension in self.dimensions],
            "fixed": dict(self.fixed),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], model: NetworkModel | None = None) -> SearchSpace:
        """Return the space that ``to_dict`` wrote.

        Args:
            values: what ``to_dict`` returned.
            model: a model of the kind it was written for, which describes the parameters; without
                it ``known`` is empty, and bounds cannot be changed.
        """
        return cls(
            tuple(Dimension(**dimension) for dimension in values["dimensions"]),
            dict(values["fixed"]),
            {} if model is None else {one.key: one for one in model.parameters()},
        )

    def described_by(self, model: NetworkModel) -> SearchSpace:
        """Return the space with ``known`` from a model; one that was read back lacks it.

        Args:
            model: a model of the kind that the space is of.
        """
        return self if self.known else SearchSpace.from_dict(self.to_dict(), model)

    def __repr__(self) -> str:
        bounds = ", ".join(f"{d.key} {d.text(d.low)} to {d.text(d.high)}" for d in self.dimensions)
        fixed = ", ".join(f"{key} = {value}" for key, value in self.fixed.items())
        return f"SearchSpace({bounds}{f'; fixed: {fixed}' if fixed else ''})"

    def _repr_html_(self) -> str:
        rows = (
            (code(d.key), d.text(d.low), d.text(d.high), "log" if d.log else "linear")
            for d in self.dimensions
        )
        return html_table(rows, ("searched", "from", "to", "scale"), align="lrrl")

    def _described(self, key: str, *, searchable: bool = True) -> ModelParameter:
        if key not in self.known:
            from workbench.suggestions import unknown_key

            raise ParameterError(unknown_key(key, self.known), key=key)
        described = self.known[key]
        if searchable and described.kind in _NOT_SEARCHABLE:
            raise ParameterError(
                f"{key} is a {described.kind} and cannot be searched; fit once with each value of "
                "it and compare",
                key=key,
            )
        return described


def _dimension(described: ModelParameter) -> Dimension:
    return Dimension(
        described.key, described.kind, float(described.low), float(described.high), described.log
    )


def _number(described: ModelParameter, value: float | str) -> float:
    return float(described.coerce(value))
