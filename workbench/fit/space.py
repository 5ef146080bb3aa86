"""Which parameters a fit may move, and how far: the paper's Table II on the keys that act.

Table II of Suetterlein et al. (HPC Network Simulation Tuning via Automatic Extraction of Hardware
Parameters) lists spellings that SST/macro's SNAPPR never reads (``switch.mtu``,
``switch.link.credits``, ``node.nic.injection.mtu``, ``node.nic.injection.credits``); the search
moves the parameters they stand for. Bounds and scales come from the model's own descriptions.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from workbench.errors import ParameterError
from workbench.html_table import code, html_table
from workbench.models import ModelParameter, NetworkModel, Value
from workbench.models.parameter import WITHOUT_RANGE

_UNKNOWN = ModelParameter(key="", kind="flag", section="NIC")
"""What is known of a parameter in a space that is read without its model."""

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


@dataclass(frozen=True, repr=False)
class SearchSpace:
    """The parameters a fit moves, their bounds, and values held fixed.

    A space is a value: every method that changes it returns another one.

    Attributes:
        dimensions: what is searched, in the order of the tables.
        fixed: values that replace the model's own, SI, by key; not searched.
        known: description of every parameter of the model, by key.
    """

    dimensions: tuple[ModelParameter, ...]
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
        return cls(tuple(known[key] for key in keys), {}, known)

    @property
    def keys(self) -> tuple[str, ...]:
        """Keys of the parameters that are searched."""
        return tuple(dimension.key for dimension in self.dimensions)

    def __len__(self) -> int:
        return len(self.dimensions)

    def __getitem__(self, key: str) -> ModelParameter:
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
        new = described.within(*(float(described.coerce(end)) for end in (low, high)))
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
        described = self._described(key)
        return self.with_bounds(key, described.low, described.high)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold; ``from_dict`` reads them back."""
        written = ("key", "kind", "low", "high", "log")
        return {
            "dimensions": [{name: getattr(d, name) for name in written} for d in self.dimensions],
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
        known = {} if model is None else {one.key: one for one in model.parameters()}
        dimensions = tuple(
            dataclasses.replace(known.get(one["key"], _UNKNOWN), **one)
            for one in values["dimensions"]
        )
        return cls(dimensions, dict(values["fixed"]), known)

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
        if searchable and described.kind in WITHOUT_RANGE:
            raise ParameterError(
                f"{key} is a {described.kind} and cannot be searched; fit once with each value of "
                "it and compare",
                key=key,
            )
        return described
