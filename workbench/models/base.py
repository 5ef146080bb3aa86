"""Base of all network models: their parts, parameters by key, changes and printing."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Self

from workbench.errors import ConfigurationError, ParameterError
from workbench.html_table import code, html_table
from workbench.models.ini_write import write_ini
from workbench.models.memory import LogPMemory, Memory, NullMemory, Processor, SnapprMemory
from workbench.models.mpi import MPIProtocol
from workbench.models.parameter import ModelParameter, coerce_fields, described_fields, parameter
from workbench.named_options import named_fields
from workbench.parameters import Value
from workbench.result import Result
from workbench.suggestions import did_you_mean, unknown_key

if TYPE_CHECKING:
    import pandas as pd

_PARTS = ("logp", "mpi", "memory", "processor")


@dataclasses.dataclass(frozen=True, kw_only=True)
class LogPOverlay:
    """The contention-free network that carries messages of negligible size; s and B/s.

    Raises:
        ParameterError: a value is not accepted.
    """

    bandwidth: float = parameter(
        "switch.logp.bandwidth",
        "12.5GB/s",
        kind="bandwidth",
        stand_in="switch.link.bandwidth",
        section="LogP overlay",
        description="Rate at which the bytes of a negligible message cross the network.",
    )
    out_in_latency: float = parameter(
        "switch.logp.out_in_latency",
        "2us",
        kind="time",
        section="LogP overlay",
        description="Time from leaving one node to entering the other.",
    )
    hop_latency: float = parameter(
        "switch.logp.hop_latency",
        "100ns",
        kind="time",
        section="LogP overlay",
        description="Time added for each switch hop; there is one between two nodes on a switch.",
    )

    def __post_init__(self) -> None:
        coerce_fields(self)


@dataclasses.dataclass(frozen=True)
class StoredModel:
    """A model as results are saved with it."""

    name: str
    variant: str
    ini: str

    def restore(self) -> NetworkModel:
        """Return the model that was stored."""
        # the reader chooses among the models, so it must be imported after them
        from workbench.models.ini import read_ini

        model = read_ini(self.ini).replace(variant=self.variant)
        if model.name != self.name:
            raise ParameterError(f"the .ini holds {model.name}, not {self.name}", key="model")
        return model


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
class NetworkModel(Result):
    """Base of all models of two nodes and what lies between them.

    Attributes:
        name: the model's name in ``MODELS``.
        variants: the variants it has, the usual one first.
        variant: whose semantics it has: ``sstmacro`` and ``repaired`` for the models of SST/macro,
            ``workbench`` for the workbench's own.

    Raises:
        ParameterError: a value is not accepted.
    """

    stored_as: ClassVar[type[StoredModel]] = StoredModel
    name: ClassVar[str] = ""
    variants: ClassVar[tuple[str, ...]] = ("workbench",)

    variant: str = "workbench"

    def __new__(cls, **values: Any) -> Self:
        """Refuse an unknown attribute before the dataclass does, and name the nearest known one."""
        _refuse_unknown(cls, values)
        return super().__new__(cls)

    def __post_init__(self) -> None:
        coerce_fields(self)
        if self.variant not in self.variants:
            raise ParameterError(
                f"variant of {type(self).__name__} must be one of {', '.join(self.variants)}; "
                f"got {self.variant!r}"
                f"{did_you_mean(self.variant, self.variants)}",
                key="variant",
            )

    @property
    def label(self) -> str:
        """The model's name, with the variant where that is not the usual one."""
        usual = self.variant == self.variants[0]
        return self.name if usual else f"{self.name}-{self.variant}"

    @named_fields
    def replace(self, **changes: Any) -> Self:
        """Return a copy with these attributes changed, e.g. ``mtu=512`` or ``mpi=...``.

        Args:
            changes: SI numbers, or texts with a unit such as ``injection_latency="300ns"``;
                ``with_values`` takes keys and also reaches into ``mpi``, ``memory`` and the rest.

        Raises:
            ParameterError: an attribute does not exist, or its value is not accepted.
        """
        _refuse_unknown(type(self), changes)
        return dataclasses.replace(self, **changes)

    def parameters(self) -> tuple[ModelParameter, ...]:
        """Return every parameter with its value, in the order a table shows them."""
        return tuple(
            dataclasses.replace(described, value=_attribute(self, described.path))
            for described in parameter_index(type(self), self._memory_type()).values()
        )

    def to_dict(self) -> dict[str, Any]:
        """Return name, variant and every parameter, SI by key, as values that JSON can hold."""
        values = {described.key: described.value for described in self.parameters()}
        return {"name": self.name, "variant": self.variant, "parameters": values}

    def to_frame(self) -> pd.DataFrame:
        """Return one row a parameter: ``parameter``, SI ``value``, ``unit`` and ``description``."""
        import pandas as pd

        return pd.DataFrame(
            [
                {"parameter": p.key, "value": p.value, "unit": p.unit, "description": p.description}
                for p in self.parameters()
            ]
        )

    def stored(self) -> StoredModel:
        """Return the model as it is saved with a result."""
        return StoredModel(self.name, self.variant, self.to_ini())

    def get(self, key: str) -> Value:
        """Return the SI value of a parameter by its SST/macro key.

        Raises:
            ParameterError: the model has no such parameter.
        """
        return _attribute(self, self._described(key).path)

    def with_values(self, values: Mapping[str, Value]) -> Self:
        """Return a copy with parameters changed by key: numbers are SI, texts carry a unit.

        Version 10 spellings, such as ``node.nic.injection.mtu``, change the same parameter.

        Raises:
            ParameterError: a key does not exist (the nearest one is named), or its value is not
                accepted.
        """
        own: dict[str, Any] = {}
        nested: dict[str, dict[str, Any]] = {}
        for key, value in values.items():
            described = self._described(key)
            part, _, attribute = described.path.rpartition(".")
            (nested.setdefault(part, {}) if part else own)[attribute] = described.coerce(value)
        for part, changes in nested.items():
            own[part] = dataclasses.replace(getattr(self, part), **changes)
        return dataclasses.replace(self, **own)

    def validate(self, largest_message: int | None = None) -> Self:
        """Return the model itself if a run of it can finish.

        Args:
            largest_message: size in bytes of the largest message of the run, where it is known;
                buffers then need to hold the largest packet that can occur, not a full mtu.

        Raises:
            ConfigurationError: values that are fine one by one would deadlock together or end
                the run early; it names the rule and the keys.
        """
        self._check_together(largest_message)
        return self

    def to_ini(self) -> str:
        """Return an .ini that ``read_ini`` reads as exactly this model."""
        raise NotImplementedError

    @classmethod
    def from_ini(
        cls, source: str | Path | bytes, overrides: Mapping[str, str] | None = None
    ) -> Self:
        """Return the model an .ini describes; see ``workbench.models.read_ini``.

        Raises:
            ParseError: the file cannot be read as a model.
            ParameterError: an override is wrong, or the file describes another model.
        """
        # the reader chooses among the models, so it must be imported after them
        from workbench.models.ini import read_ini

        model = read_ini(source, overrides)
        if not isinstance(model, cls):
            raise ParameterError(
                f"{cls.__name__}.from_ini needs a file with switch.name = {cls.name}; this one "
                f"has {model.name}; workbench.models.read_ini reads either",
                key="switch.name",
            )
        return model

    def _check_together(self, largest_message: int | None) -> None:
        raise NotImplementedError

    def _described(self, key: str) -> ModelParameter:
        classes: tuple[Any, Any] = (type(self), self._memory_type())
        index = _index(*classes)
        found = index.get(key) or _aliases(*classes).get(key)
        if found is not None:
            return found
        if key == "node.memory.name" and classes[1]:
            raise ParameterError(
                "node.memory.name is not a value: choose a memory model with "
                "replace(memory=SnapprMemory(...))",
                key=key,
            )
        memory = f" with {classes[1].name} memory" if classes[1] else ""
        what = f"a parameter of {type(self).__name__}{memory}"
        raise ParameterError(unknown_key(key, index, what=what), key=key)

    def _label(self, key: str) -> str:
        """Return a parameter's name with its key behind, for messages."""
        return self._described(key).label

    def _headline(self) -> str:
        raise NotImplementedError

    def _memory_type(self) -> type[Memory] | None:
        """Return the class of the memory model, None where a model has none of its own."""
        memory = vars(self).get("memory")
        return None if memory is None else type(memory)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._headline()}, {self.variant})"

    def _repr_html_(self) -> str:
        rows: list[tuple[str, ...]] = []
        section = ""
        for item in self.parameters():
            if item.section != section:
                section = item.section
                rows.append((section,))
            rows.append((code(item.key), item.text(item.value), item.description))
        caption = f"{type(self).__name__}, variant {self.variant}"
        return html_table(rows, ("key", "value", "meaning"), caption, align="lrl")


@dataclasses.dataclass(frozen=True, kw_only=True, repr=False)
class SSTMacroModel(NetworkModel):
    """Base of ``SNAPPR``, ``LogP`` and ``PISCES``: two nodes on one switch, with their MPI.

    Attributes:
        mpi: protocol thresholds and host delays.
        memory: what a copy inside a node costs.
        processor: the core that runs the copy.
        variant: ``sstmacro`` computes what SST/macro v11.1 prints, defects included;
            ``repaired`` charges the serialisation of a message's last packet (SNAPPR) and gives
            1 and 2 byte packets their time (PISCES, cut-through).

    Raises:
        ParameterError: a value is not accepted.
    """

    variants: ClassVar[tuple[str, ...]] = ("sstmacro", "repaired")

    mpi: MPIProtocol = dataclasses.field(default_factory=MPIProtocol)
    memory: Memory = dataclasses.field(default_factory=LogPMemory)
    processor: Processor = dataclasses.field(default_factory=Processor)
    variant: str = "sstmacro"

    def __post_init__(self) -> None:
        super().__post_init__()
        for part, accepted in _PART_TYPES.items():
            if not isinstance(getattr(self, part, _ABSENT), (*accepted, _Absent)):
                names = ", ".join(cls.__name__ for cls in accepted)
                raise ParameterError(
                    f"{part} must be one of {names}; got {getattr(self, part)!r}", key=part
                )

    def to_ini(self, *, v10: bool = True) -> str:
        """Return an .ini that SST/macro and ``read_ini`` read as exactly this model.

        Args:
            v10: also write the spellings of version 10, which version 11 ignores.
        """
        return write_ini(self, v10=v10)


def _refuse_unknown(model: type[NetworkModel], values: Mapping[str, Any]) -> None:
    known = {field.name for field in dataclasses.fields(model)}
    for name in values:
        if name not in known:
            what = f"an attribute of {model.__name__}"
            raise ParameterError(unknown_key(name, known, what=what), key=name)


class _Absent:
    """Stands for a part this model does not have."""


_ABSENT = _Absent()
_PART_TYPES: dict[str, tuple[type, ...]] = {
    "logp": (LogPOverlay,),
    "mpi": (MPIProtocol,),
    "memory": (LogPMemory, SnapprMemory, NullMemory),
    "processor": (Processor,),
}


def parameter_index(
    model: type[NetworkModel], memory: type[Memory] | None
) -> Mapping[str, ModelParameter]:
    """Return the parameters of a model with this memory by key, sections kept together."""
    classes: tuple[Any, Any] = (model, memory)
    return _index(*classes)


@functools.cache
def _index(model: Any, memory: Any) -> Mapping[str, ModelParameter]:
    found = [described for _, described in described_fields(model)]
    names = {field.name for field in dataclasses.fields(model)}
    parts: dict[str, type] = {
        "logp": LogPOverlay,
        "mpi": MPIProtocol,
        "memory": memory,
        "processor": Processor,
    }
    for part in _PARTS:
        if part in names:
            found += [
                dataclasses.replace(described, path=f"{part}.{name}")
                for name, described in described_fields(parts[part])
            ]
    return MappingProxyType({described.key: described for described in found})


@functools.cache
def _aliases(model: Any, memory: Any) -> Mapping[str, ModelParameter]:
    index = _index(model, memory)
    return {
        described.stand_in: described
        for described in index.values()
        if described.stand_in and described.stand_in not in index
    }


def _attribute(model: NetworkModel, path: str) -> Value:
    part, _, name = path.rpartition(".")
    value: Value = getattr(getattr(model, part) if part else model, name)
    return value


def refuse(message: str, *, rule: str, keys: tuple[str, ...]) -> NoReturn:
    """Raise ``ConfigurationError`` with this message, the rule and its keys."""
    raise ConfigurationError(message, rule=rule, keys=keys)


def largest_packet(mtu: int, largest_message: int | None, negligible_size: int) -> int:
    """Return the largest packet of a run in bytes, 64 B control included; 0: none is ever cut."""
    if largest_message is None:
        return mtu
    largest = max(64, largest_message)
    return 0 if largest <= negligible_size else min(mtu, largest)
