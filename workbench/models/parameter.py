"""One parameter of a model: its SST/macro key, kind, bounds and meaning.

``parameter`` declares a dataclass field together with this description; controls, search spaces,
the ``.ini`` reader and writer and the tables all take it from there.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal

from workbench.errors import ParameterError
from workbench.parameters import Parameter, Value
from workbench.suggestions import did_you_mean, unknown_key
from workbench.units import (
    UNITS,
    Kind,
    format_quantity,
    parse_integer,
    parse_quantity,
    parse_typed_quantity,
    write_quantity,
)

Section = Literal[
    "NIC",
    "Switch",
    "LogP overlay",
    "MPI protocol",
    "Memory and processor",
    "Thresholds",
    "Short",
    "Eager",
    "Rendezvous",
    "Middle",
]

INT32_MAX: Final = 2**31 - 1  # SST/macro's int, as which it reads qos_levels
UINT32_MAX: Final = 2**32 - 1  # SST/macro's uint32_t, as which it reads credits (snappr_switch.cc)
WITHOUT_RANGE: Final = ("flag", "choice")
_WHOLE: Final = ("bytes", "count")
_USUAL: Final[Mapping[str, tuple[str, float]]] = {
    "time": ("ns", 1e-9),
    "bandwidth": ("GB/s", 1e9),
    "frequency": ("GHz", 1e9),
}
_ACRONYMS: Final = {"mtu": "MTU", "nic": "NIC", "rdma": "RDMA"}
# SST/macro counts 1e-16 s in 64 bits; the longest time it can hold is 1844.67 s
LONGEST_TIME_S: Final = 1844.0


@dataclasses.dataclass(frozen=True, kw_only=True)
class ModelParameter(Parameter):
    """A parameter of a network model, with the value it has there.

    Its bounds are where a slider or a search starts, SI, and no limits of validity; a flag and a
    choice have none. Its key is SST/macro's dotted one, such as ``node.nic.injection.latency``;
    messages have it in brackets behind the name.

    Attributes:
        kind: what it measures; decides the unit.
        path: attribute of the model that holds it, such as ``mpi.max_eager_msg_size``.
        minimum: smallest value the model accepts, SI.
        maximum: largest value the model accepts, SI.
        exclusive: whether ``minimum`` itself is refused.
        choices: the values a ``choice`` may take.
        section: heading it stands under in tables and panels.
        required: whether SST/macro stops when an .ini leaves it out.
        absent: the value SST/macro takes when an .ini leaves it out.
        before: keys that win over ``key`` when an .ini has them.
        fallback: keys SST/macro asks next when ``key`` is absent.
        stand_in: a key read when no other is there, though SST/macro 11 stops then; mostly the
            spelling of version 10.
        plain: whether SST/macro reads it as a whole number without a unit.
        threshold: whether it acts only by which message sizes lie at or below it.
        unless: a flag's key; while the flag is false the parameter has no effect.
    """

    unit: str = dataclasses.field(init=False)
    low: float = 0.0
    high: float = 0.0
    kind: Kind
    path: str = ""
    minimum: float = 0.0
    maximum: float = math.inf
    exclusive: bool = False
    choices: tuple[str, ...] = ()
    section: Section
    required: bool = True
    absent: Value | None = None
    before: tuple[str, ...] = ()
    fallback: tuple[str, ...] = ()
    stand_in: str = ""
    plain: bool = False
    threshold: bool = False
    unless: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "unit", UNITS[self.kind])
        if self.kind not in WITHOUT_RANGE:
            super().__post_init__()

    @property
    def whole(self) -> bool:
        """Whether its values are whole numbers."""
        return self.kind in _WHOLE

    @property
    def name(self) -> str:
        """Its short name, as a slider has it: the attribute in words."""
        leaf = (self.path or self.key).rpartition(".")[2]
        words = [_ACRONYMS.get(word, word) for word in leaf.removeprefix("lib_").split("_")]
        # The section says the rest; memory and processor share one.
        return " ".join(["memory"] * self.key.startswith("node.memory.") + words)

    @property
    def attribute(self) -> str:
        """The path with underscores, such as ``mpi_max_eager_msg_size``; unique in a model."""
        return (self.path or self.key).replace(".", "_")

    @property
    def label(self) -> str:
        """The name with the key behind it, as messages have it: ``MTU (node.nic.mtu)``."""
        return f"{self.name} ({self.key})"

    def text(self, value: Value) -> str:
        """Return an SI value for people, e.g. ``500 ns``."""
        return format_quantity(value, self.kind)

    def snap(self, value: float, digits: int = 4) -> float | int:
        """Return an SI value to some significant digits of its usual unit, within the bounds.

        No benchmark tells ``119.9ns`` from ``119.8748256905826ns``, and an .ini is read by people.
        """
        if self.high - self.low < 0.01 * self.high:
            return self.clip(value)
        unit, scale = _USUAL.get(self.kind, ("", 1.0))
        text = f"{value / scale:.{digits}g}"
        return self.clip(float(parse_quantity(text + unit, self.kind)) if unit else float(text))

    def at_bound(self, value: float) -> str:
        """Return ``lower`` or ``upper`` within 1 % of the range of a bound, else an empty text."""
        position = self.position(value)
        if position <= 0.01:
            return "lower"
        return "upper" if position >= 0.99 else ""

    def spelt(self) -> str:
        """Return the value as an .ini spells it, exactly."""
        return str(self.value) if self.plain else write_quantity(self.value, self.kind)

    def read(self, text: str) -> Value:
        """Return the value ``text`` has in an .ini.

        Raises:
            ParameterError: the text is no such quantity, or the value is not accepted.
        """
        try:
            if self.plain:
                value: Value = parse_integer(text, key=self.label)
            else:
                value = parse_quantity(text, self.kind, key=self.label)
        except ParameterError as error:
            raise ParameterError(str(error), key=self.key) from None
        return self._checked(value)

    def coerce(self, value: Any) -> Value:
        """Return ``value`` as this kind's Python type; a text is read as a person types it.

        Raises:
            ParameterError: it is of another type, not finite, not whole, or out of range.
        """
        if isinstance(value, str) and self.kind != "choice":
            try:
                value = parse_typed_quantity(value, self.kind, name=self.label)
            except ParameterError as error:
                raise ParameterError(str(error), key=self.key) from None
        return self._checked(value)

    def unusual(self, value: Value) -> str:
        """Return a remark on an accepted value outside the usual range, empty if it is inside.

        Args:
            value: in SI units.

        Returns:
            A sentence, empty where nothing is odd; zero is a choice and not a slip.
        """
        if self.kind in WITHOUT_RANGE or not value:
            return ""
        if self.low * (1 - 1e-9) <= float(value) <= self.high * (1 + 1e-9):
            return ""
        return (
            f"{self.text(value)} lies outside the slider, {self.text(self.low)} to "
            f"{self.text(self.high)}; check its unit"
        )

    def _checked(self, value: Any) -> Value:
        if self.kind == "choice":
            return self._choice(value)
        if self.kind == "flag":
            if isinstance(value, bool) or (hasattr(value, "dtype") and value.dtype.kind == "b"):
                return bool(value)
            raise ParameterError(f"{self.label} must be True or False; got {value!r}", key=self.key)
        number = self._number(value)
        below = number <= self.minimum if self.exclusive else number < self.minimum
        if below or number > self.maximum:
            raise ParameterError(self._out_of_range(number), key=self.key)
        return number

    def _number(self, value: Any) -> float | int:
        if isinstance(value, bool):
            raise ParameterError(f"{self.label} must be a number; got {value!r}", key=self.key)
        try:
            number = float(value)
        except (TypeError, ValueError, OverflowError):
            raise ParameterError(
                f"{self.label} must be a number in {self.unit or 'plain units'}; got {value!r}",
                key=self.key,
            ) from None
        if not math.isfinite(number):
            raise ParameterError(f"{self.label} must be finite; got {value!r}", key=self.key)
        if not self.whole:
            return number
        if not number.is_integer():
            raise ParameterError(
                f"{self.label} must be a whole number{' of bytes' * (self.kind == 'bytes')}; "
                f"got {value!r}",
                key=self.key,
            )
        return int(value)

    def _choice(self, value: Any) -> str:
        if value in self.choices:
            return str(value)
        raise ParameterError(
            f"{self.label} must be one of {', '.join(self.choices)}; got {value!r}"
            f"{did_you_mean(value, self.choices)}",
            key=self.key,
        )

    def _out_of_range(self, number: float) -> str:
        relation = "more than" if self.exclusive else "at least"
        rule = f"{relation} {self._limit(self.minimum)}"
        if math.isfinite(self.maximum):
            rule += f" and at most {self._limit(self.maximum)}"
        return f"{self.label} must be {rule}; got {self._limit(number)}"

    def _limit(self, number: float) -> str:
        # all its digits: a limit that is rounded might seem to allow what it refuses
        unit = f" {self.unit}" if self.unit else ""
        if number and self.kind in ("time", "bandwidth", "frequency"):
            shown = format_quantity(number, self.kind)
            exact = parse_typed_quantity(shown, self.kind) == number
            return shown if exact else f"{number:.15g}{unit}"
        return f"{number:.17g}{unit}"


def parameter(key: str, default: Value, *, kind: Kind, **about: Any) -> Any:
    """Return a field with a ``ModelParameter``: default in SI or text, usual bounds of ``kind``."""
    if kind == "time":
        about.setdefault("maximum", LONGEST_TIME_S)
        about.setdefault("low", 1e-9)
        about.setdefault("high", 1e-3)
        about.setdefault("log", True)
    elif kind == "bandwidth":
        about.setdefault("exclusive", True)
        about.setdefault("low", 1e9)
        about.setdefault("high", 50e9)
        about.setdefault("log", True)
    elif kind == "bytes":
        about.setdefault("maximum", UINT32_MAX)
    if "absent" in about:
        about["required"] = False
    described = ModelParameter(key=key, kind=kind, value=default, **about)
    # a default is written as in an .ini: "500ns" and the Python literal 500e-9 differ by a bit
    default = described.coerce(default)
    return dataclasses.field(default=default, metadata={"parameter": described})


@functools.cache
def described_fields(cls: type) -> tuple[tuple[str, ModelParameter], ...]:
    """Return (attribute, description) of the fields of ``cls`` declared with ``parameter``."""
    fields = dataclasses.fields(cls)
    return tuple(
        (field.name, dataclasses.replace(field.metadata["parameter"], path=field.name))
        for field in fields
        if "parameter" in field.metadata
    )


def key_named(name: str, parameters: Iterable[ModelParameter]) -> str:
    """Return the dotted key for a key, an attribute path or that path with underscores."""
    names = {name: p.key for p in parameters for name in (p.attribute, p.path, p.key)}
    if name not in names:
        raise ParameterError(unknown_key(name, names), key=name)
    return names[name]


def coerce_fields(instance: Any) -> None:
    """Turn each described field of a frozen dataclass into its own type, or raise."""
    cls: Any = type(instance)
    for name, described in described_fields(cls):
        value = getattr(instance, name)
        coerced = described.coerce(value)
        if coerced is not value:
            object.__setattr__(instance, name, coerced)
