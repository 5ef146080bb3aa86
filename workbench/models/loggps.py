"""LogGPS: the cost of a message in six numbers, for analyses of whole programs.

L, o, g and G are those of Alexandrov et al., LogGP: Incorporating Long Messages into the LogP
Model; S, above which a sender waits for its receiver, is from Ino et al., LogGPS: A Parallel
Computational Model for Synchronization Analysis; O, what a host does for each byte, is from
Hoefler et al., LogGOPSim: Simulating Large-Scale Applications in the LogGOPS Model.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

from workbench.errors import ParameterError
from workbench.html_table import html_table
from workbench.models.netgauge import last_usable, netgauge_rows, overheads_of, shifted
from workbench.models.parameter import INT32_MAX
from workbench.models.protocol import REGIMES, Protocol, ProtocolRegime
from workbench.named_options import named_fields
from workbench.parameters import Parameter
from workbench.result import StoredResult
from workbench.suggestions import did_you_mean
from workbench.units import format_quantity, parse_typed_quantity

if TYPE_CHECKING:
    import pandas as pd

LOGGPS: Mapping[str, Parameter] = MappingProxyType(
    {
        name: Parameter(name, unit, low, high, log=True, description=description)
        for name, unit, low, high, description in (
            ("L", "s", 1e-9, 1e-2, "latency: time the first byte is under way"),
            ("o", "s", 1e-9, 1e-3, "overhead: time each host spends on a message"),
            ("g", "s", 1e-9, 1e-3, "gap: least time between two messages of a node"),
            ("G", "s/B", 1e-12, 1e-7, "gap per byte: 1 / bandwidth"),
            ("O", "s/B", 1e-13, 1e-7, "overhead per byte: time each host spends on a byte"),
            ("S", "B", 1, INT32_MAX, "eager up to: largest message that waits for no receiver"),
        )
    }
)
"""The six parameters, with the bounds above 0 that sliders have; 0 is accepted too."""


@dataclass(frozen=True)
class LogGPS(StoredResult):
    """The six parameters of LogGPS, with O of LogGOPS.

    Attributes:
        L: latency in s.
        o: overhead of each host for a message, in s.
        g: least time between two messages of one node, in s.
        G: time for each byte of a message after the first, in s/B: 1 / bandwidth.
        O: overhead of each host for a byte, in s/B.
        S: largest eager message in bytes; above it a sender waits for its receiver.
        errors: standard errors by parameter, in its unit, where they are known.

    Each parameter may also be given as a text with its unit, as ``parse_loggps`` takes it:
    ``L="2.5us"``, ``G="0.04ns/B"`` or, as a rate, ``G="25GB/s"``, ``S="64KiB"``.

    Raises:
        ParameterError: a value is not finite or negative, S is not whole, or an error is of no
            parameter.
    """

    ONE_FILE: ClassVar[bool] = True

    L: float
    o: float
    g: float
    G: float
    O: float  # noqa: E741 - the field's letter
    S: int
    errors: Mapping[str, float] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        for name, about in LOGGPS.items():
            object.__setattr__(self, name, _checked(name, getattr(self, name), about.unit))
        if not float(self.S).is_integer() or self.S > INT32_MAX:
            raise ParameterError(
                f"S must be a whole number of bytes of at most {INT32_MAX}; got {self.S!r}", key="S"
            )
        object.__setattr__(self, "S", int(self.S))
        for name in self.errors:
            _check_known(name)
        errors = {
            name: _checked(f"the error of {name}", error, LOGGPS[name].unit)
            for name, error in self.errors.items()
        }
        object.__setattr__(self, "errors", errors)

    @classmethod
    def from_protocol(
        cls,
        model: Protocol,
        regime: ProtocolRegime = "eager",
        *,
        errors: Mapping[str, float] | None = None,
    ) -> LogGPS:
        """Return the LogGPS parameters of one regime of a protocol-aware model.

        LogGPS has one latency, one overhead and one rate for all sizes, so a regime has to be
        chosen: ``eager`` suits programs of small and middling messages, ``rendezvous`` those that
        move megabytes. L is the time under way, without the handshake, which LogGPS has in its
        rule for messages above S; o the host's time; G the wire's time for a byte, O the host's.
        Where the model has middle messages and they are eager ones, G and O of ``eager`` are
        theirs: bytes count in the larger messages.
        g is o: a host takes one message after the other, and the model's NIC knows no gap of its
        own. S is the eager threshold in every regime.

        Args:
            model: the model, usually fitted.
            regime: whose costs to take.
            errors: standard errors of the model's parameters, SI by key; those of rates are
                carried over to first order.

        Raises:
            ParameterError: there is no such regime, or the model has none.
        """
        if regime not in REGIMES:
            raise ParameterError(
                f"regime must be one of {', '.join(REGIMES)}; got {regime!r}"
                f"{did_you_mean(regime, REGIMES)}",
                key="regime",
            )
        if regime == "middle" and not model.get("middle.limit"):
            raise ParameterError(
                "the model has no middle messages: its middle.limit is 0; take eager",
                key="regime",
            )
        per_byte = regime
        if regime == "eager" and 0 < model.middle_limit < model.eager_max:
            per_byte = "middle"
        wire = "eager" if per_byte == "short" else per_byte
        latency = "eager" if regime == "rendezvous" else regime
        known = errors or {}
        rate = float(model.get(f"{wire}.bandwidth"))
        copy = float(model.get(f"{per_byte}.copy_bandwidth"))
        overhead = known.get(f"{regime}.overhead")
        carried = {
            "L": known.get(f"{latency}.latency"),
            "o": overhead,
            "g": overhead,
            "G": _of_inverse(rate, known.get(f"{wire}.bandwidth")),
            "O": _of_inverse(copy, known.get(f"{per_byte}.copy_bandwidth")),
            "S": known.get("eager.max_size"),
        }
        own = float(model.get(f"{regime}.overhead"))
        return cls(
            L=float(model.get(f"{latency}.latency")),
            o=own,
            g=own,
            G=1.0 / rate,
            O=1.0 / copy,
            S=int(model.get("eager.max_size")),
            errors={name: error for name, error in carried.items() if error is not None},
        )

    @classmethod
    def from_netgauge(cls, text: str, *, S: int = 65535, source: str = "text") -> LogGPS:
        """Return the parameters that Netgauge's loggp module printed, or that ``to_text`` wrote.

        Its lines hold ``L= s= o_s= o_r= g= G=``, times in microseconds, one line for each message
        size; the file that ``-o`` writes has them as columns. L, g and G are those of the last line
        where they are of use, which rest on all sizes up to it; o and O are the line through the
        mean of the sender's and the receiver's overhead over size.

        Args:
            text: what was printed.
            S: the eager threshold in bytes, which Netgauge does not measure; one in the text wins.
            source: the text's name, for errors.

        Raises:
            ParseError: no such line was found, one lacks a number, or none has a g and G of use.
        """
        rows, _ = netgauge_rows(text, source)
        last = last_usable(rows, source).values
        overheads = overheads_of(rows, source)
        overhead, per_byte = _line([*overheads], [*overheads.values()])
        return cls(
            L=last["L"],
            o=overhead,
            g=last["g"],
            G=last["G"],
            O=last.get("O", per_byte),
            S=int(last.get("S", S)),
        )

    def to_text(self) -> str:
        """Return one line as Netgauge prints it, in microseconds, with O and S at its end."""
        us = {name: shifted(repr(getattr(self, name)), 6) for name in "LogGO"}
        return (
            f"L={us['L']} s=1 o_s={us['o']} o_r={us['o']} g={us['g']} G={us['G']} "
            f"O={us['O']} S={self.S}\n"
        )

    @named_fields
    def replace(self, **changes: Any) -> Self:
        """Return a copy with these parameters changed; a changed one loses its error.

        Args:
            changes: numbers in s, s/B or B, or texts with a unit such as ``L="300ns"``.

        Raises:
            ParameterError: there is no such parameter, or its value is not accepted.
        """
        for name in changes:
            if name != "errors":
                _check_known(name)
        kept = {name: error for name, error in self.errors.items() if name not in changes}
        return dataclasses.replace(self, **{"errors": kept, **changes})

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold; ``from_dict`` reads them back."""
        return {**{name: getattr(self, name) for name in LOGGPS}, "errors": dict(self.errors)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> LogGPS:
        """Return the parameters that ``to_dict`` wrote.

        Args:
            values: what it returned.

        Raises:
            ParameterError: a parameter is missing or not accepted.
        """
        missing = [name for name in LOGGPS if name not in values]
        if missing:
            raise ParameterError(
                f"LogGPS needs L, o, g, G, O and S; {', '.join(missing)} missing", key=missing[0]
            )
        parameters = {name: values[name] for name in LOGGPS}
        return cls(**parameters, errors=values.get("errors", {}))

    def to_frame(self) -> pd.DataFrame:
        """Return one row a parameter: ``parameter``, ``value``, ``unit``, and ``error`` or nan."""
        import pandas as pd

        return pd.DataFrame(
            [
                {
                    "parameter": name,
                    "value": getattr(self, name),
                    "unit": about.unit,
                    "error": self.errors.get(name, math.nan),
                }
                for name, about in LOGGPS.items()
            ]
        )

    def text(self, name: str) -> str:
        """Return a parameter for people, e.g. ``1.20 µs`` or ``0.0412 ns/B ± 0.0003``.

        Args:
            name: one of L, o, g, G, O and S.
        """
        value, error = getattr(self, name), self.errors.get(name)
        if LOGGPS[name].unit == "s/B":
            shown = f"{value * 1e9:.4g} ns/B"
            return shown if error is None else f"{shown} ± {error * 1e9:.2g}"
        kind: Literal["bytes", "time"] = "bytes" if name == "S" else "time"
        shown = format_quantity(value, kind)
        if error is None:
            return shown
        return f"{shown} ± " + (f"{error:.0f} B" if name == "S" else format_quantity(error, "time"))

    def __repr__(self) -> str:
        return f"LogGPS({', '.join(f'{name} {self.text(name)}' for name in LOGGPS)})"

    def _repr_html_(self) -> str:
        rows = ((name, self.text(name), about.description) for name, about in LOGGPS.items())
        return html_table(rows, caption="LogGPS", align="lrl")


def parse_loggps(name: str, text: str) -> float:
    """Return the SI value of the LogGPS parameter L, o, g, G, O or S that a user typed.

    L, o and g are times; G and O times per byte (``0.04 ns/B`` or ``0.04 ns``), or the inverse rate
    (``25 GB/s``); S is a size, or ``all``.
    """
    _check_known(name)
    if name == "S":
        every = text.strip().lower() == "all"
        value = float(INT32_MAX if every else parse_typed_quantity(text, "bytes", name=name))
    elif name in "GO":
        value = _per_byte(name, text)
    else:
        value = float(parse_typed_quantity(text, "time", name=name))
    if not value >= 0:
        raise ParameterError(f"{name} must be at least 0; got {text!r}", key=name)
    # What the decimal digits say, without the last bit that scaling by a unit may leave.
    return int(value) if name == "S" else float(f"{value:.12g}")


def _per_byte(name: str, text: str) -> float:
    plain = text.strip()
    bare = plain.removesuffix("/B").removesuffix("/byte").strip()
    try:
        return float(parse_typed_quantity(bare, "time", name=name))
    except ParameterError:
        try:
            rate = float(parse_typed_quantity(plain, "bandwidth"))
        except ParameterError:
            rate = 0.0
    if rate > 0:
        return 1.0 / rate
    raise ParameterError(
        f"{name} must be a time for each byte such as 0.04ns/B, in ms/B, us/B, ns/B or "
        f"ps/B, or the rate that is its inverse, such as 25GB/s; got {text!r}",
        key=name,
    )


def _check_known(name: str) -> None:
    if name not in LOGGPS:
        raise ParameterError(
            f"LogGPS has {', '.join(LOGGPS)}; got {name!r}{did_you_mean(name, LOGGPS)}",
            key=name,
        )


def _checked(what: str, value: Any, unit: str) -> Any:
    if isinstance(value, str) and what in LOGGPS:
        return parse_loggps(what, value)
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if isinstance(value, bool) or not (number >= 0 and math.isfinite(number)):
        raise ParameterError(
            f"{what} must be a finite number of at least 0 {unit}; got {value!r}",
            key=what[-1],
        )
    return value if isinstance(value, int) and unit == "B" else number


def _of_inverse(value: float, error: float | None) -> float | None:
    """Return the standard error of 1 / value, to first order."""
    return None if error is None else error / value**2


def _line(x: list[float], y: list[float]) -> tuple[float, float]:
    """Return intercept and slope of the least-squares line, neither of them negative."""
    if len(set(x)) < 2:
        return max(y[-1], 0.0), 0.0
    slope, intercept = (float(value) for value in np.polyfit(x, y, 1))
    if slope < 0:
        return max(float(np.mean(y)), 0.0), 0.0
    return max(intercept, 0.0), slope
