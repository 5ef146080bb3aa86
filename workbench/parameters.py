"""A parameter: a number with its unit, the range it lies in, its scale there and its prior.

A model's fields, a fit's search space, the priors of a calibration and the scales of sliders are
this one type; ``within`` gives it another range.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Self, get_args

from workbench.checks import above_zero, number
from workbench.errors import ParameterError
from workbench.suggestions import did_you_mean

Value = float | int | bool | str
Prior = Literal["uniform", "log-uniform", "normal"]


class Span:
    """The numbers from ``low`` to ``high``, both inclusive, on a linear or a logarithmic scale."""

    low: float
    high: float
    log: bool

    @property
    def whole(self) -> bool:
        """Whether its values are whole numbers."""
        return False

    def clip(self, value: float) -> float | int:
        """Return the value nearest to ``value`` that lies within the bounds."""
        inside = min(max(float(value), self.low), self.high)
        if not self.whole:
            return inside
        return int(min(max(round(inside), math.ceil(self.low)), math.floor(self.high)))

    def position(self, value: float) -> float:
        """Return where ``value`` lies between the bounds, 0 to 1 on their scale.

        Beyond the bounds it goes on, but below that of a logarithmic scale all have 0.
        """
        low, high, at = float(self.low), float(self.high), float(value)
        if self.log:
            low, high, at = math.log(low), math.log(high), math.log(max(at, low))
        return (at - low) / (high - low)

    def at(self, position: float) -> float | int:
        """Return the value at a position, 0 to 1, the inverse of ``position``; beyond, a bound."""
        if self.log:
            low, high = math.log(self.low), math.log(self.high)
            return self.clip(math.exp(low + float(position) * (high - low)))
        return self.clip(self.low + float(position) * (self.high - self.low))


@dataclass(frozen=True)
class Parameter(Span):
    """A number known to lie between two bounds, and its prior distribution there.

    The prior is uniform, log-uniform where ``log`` holds, or normal where ``mean`` and ``sd`` are
    given: it is then truncated to the bounds.

    Attributes:
        key: what it is called, such as ``injection latency``.
        unit: of its values, such as ``s``; empty for a pure number.
        low: the lower bound.
        high: the upper bound.
        log: whether its scale is logarithmic, for searches, priors and sliders.
        mean: of a normal prior before it is truncated.
        sd: standard deviation of a normal prior before it is truncated.
        value: the value where nothing says another, nan if there is none.
        description: a sentence for people.

    Raises:
        ParameterError: the bounds are not ascending, or do not suit the scale or the prior.
    """

    key: str
    unit: str
    low: float
    high: float
    log: bool = False
    mean: float | None = None
    sd: float | None = None
    value: Value = field(default=math.nan, compare=False)
    description: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.key, str) or not self.key:
            raise ParameterError(f"a parameter's name must be a text; got {self.key!r}", key="name")
        if not isinstance(self.unit, str):
            raise ParameterError(
                f"unit of {self.key} must be a text, empty for a pure number; got {self.unit!r}",
                key="unit",
            )
        low = number(self.low, f"low of {self.key}", unit=self.unit)
        high = number(self.high, f"high of {self.key}", unit=self.unit)
        if not (low < high and math.isfinite(high - low)):
            raise ParameterError(
                f"low of {self.key} must be below high; got low={self.text(low)}, "
                f"high={self.text(high)}; exchange them, or fix a parameter that is known",
                key="low",
            )
        if self.log and low <= 0:
            raise ParameterError(
                f"low of {self.key} must be above 0 on a logarithmic scale; got {self.text(low)}; "
                "raise low or choose a linear scale",
                key="low",
            )
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        if self.mean is None and self.sd is None:
            return
        if self.mean is None or self.sd is None or self.log:
            raise ParameterError(
                f"mean and sd of {self.key} must both be given for a normal prior, and on a linear "
                f"scale; got mean={self.mean}, sd={self.sd}, {self.prior}",
                key="mean" if self.mean is None else "sd",
            )
        object.__setattr__(self, "mean", number(self.mean, "mean", unit=self.unit))
        object.__setattr__(self, "sd", above_zero(self.sd, "sd", unit=self.unit))

    @property
    def prior(self) -> Prior:
        """The prior between the bounds, as JSON and the shell name it."""
        if self.mean is not None:
            return "normal"
        return "log-uniform" if self.log else "uniform"

    @property
    def heading(self) -> str:
        """Its name and unit, for a column or an axis: ``latency (s)``."""
        return f"{self.key} ({self.unit})" if self.unit else self.key

    def text(self, value: float) -> str:
        """Return a value with its unit, for people."""
        return f"{value:g} {self.unit}" if self.unit else f"{value:g}"

    def within(self, low: float, high: float) -> Self:
        """Return the parameter between other bounds, all else unchanged.

        Args:
            low: the lower bound.
            high: the upper bound.

        Raises:
            ParameterError: the bounds are not ascending, or do not suit the scale.
        """
        return dataclasses.replace(self, low=low, high=high)

    def to_dict(self) -> dict[str, Any]:
        """Return name, unit, bounds and prior for JSON; ``from_dict`` reads them back."""
        found: dict[str, Any] = {
            "name": self.key,
            "unit": self.unit,
            "low": self.low,
            "high": self.high,
            "prior": self.prior,
        }
        return found | ({} if self.mean is None else {"mean": self.mean, "sd": self.sd})

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Return the parameter that ``to_dict`` described.

        Args:
            values: name, unit, low and high; prior, mean and sd where it is not uniform.

        Raises:
            ParameterError: a field is missing, unknown or not valid.
        """
        given = dict(values)
        name, prior = given.pop("name", None), given.pop("prior", "uniform")
        try:
            found = cls(name, log=prior == "log-uniform", **given)
        except TypeError as error:
            raise ParameterError(
                "a parameter must have name, unit, low and high, and may have prior, mean and sd; "
                f"got {', '.join(map(str, values)) or 'nothing'}",
            ) from error
        if found.prior != prior:
            known = get_args(Prior)
            raise ParameterError(
                f"prior of {name} must be {', '.join(known)}, the last with mean and sd and no "
                f"other with them; got {prior!r}, mean={found.mean}, sd={found.sd}"
                f"{'' if prior in known else did_you_mean(prior, known)}",
                key="prior",
            )
        return found
