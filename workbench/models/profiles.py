"""Machines as fitted models, from which later analyses start.

    from workbench.models.profiles import profile
    profile("azure-hb96v3-hdr").loggps

A profile is the best fit of a machine with what is known about its parameters; the shipped ones
are JSON files in ``datasets/profiles/``. ``workbench.fit.profile`` makes them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from workbench.datasets import data_folder
from workbench.errors import DatasetError, ParameterError
from workbench.html_table import code, html_table
from workbench.models.base import NetworkModel
from workbench.models.ini import read_ini
from workbench.models.loggps import LogGPS
from workbench.models.protocol import Protocol
from workbench.provenance import Provenance
from workbench.result import StoredResult
from workbench.suggestions import did_you_mean

if TYPE_CHECKING:
    import pandas as pd

LEVEL = 0.90
"""The share of refits whose values lie within an interval of a profile."""

_Z = 1.6448536269514722  # half the width of a normal 90 % interval in standard errors
_TARGETS = ("joint", "latency", "bandwidth")


def profile(machine: str) -> Profile:
    """Return the shipped profile of a machine.

    Args:
        machine: one of the names that ``profiles`` gives.

    Raises:
        DatasetError: there is no such profile.
        ParseError: its file is damaged.
    """
    path = _folder() / f"{machine}.json"
    if machine not in profiles():
        known = ", ".join(profiles()) or "none is shipped"
        raise DatasetError(
            f"no profile is named {machine!r}{did_you_mean(machine, profiles())}; known: {known}"
        )
    return Profile.load(path)


def profiles() -> tuple[str, ...]:
    """Return the names of the machines that have a shipped profile."""
    return tuple(sorted(path.stem for path in _folder().glob("*.json")))


@dataclass(frozen=True, eq=False)
class Profile(StoredResult):
    """A machine's fitted model, and LogGPS parameters derived from it.

    Attributes:
        machine: name of the machine.
        model: the fitted model.
        rmspe: its errors ``joint``, ``latency`` and ``bandwidth`` in percent; nan where a
            benchmark was not measured.
        provenance: what it was fitted to, and how.
        intervals: lower and upper end of the 90 % interval of each parameter, SI by key, where
            they are known.

    Raises:
        ParameterError: an interval is of no parameter, or its ends are out of order.
    """

    ONE_FILE: ClassVar[bool] = True

    machine: str
    model: Protocol
    rmspe: Mapping[str, float]
    provenance: Provenance
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        ordered = {}
        for key, (low, high) in self.intervals.items():
            self.model.get(key)
            if not (math.isfinite(low) and math.isfinite(high) and low <= high):
                raise ParameterError(
                    f"the interval of {key} must be two ascending numbers; got {low} to {high}",
                    key=key,
                )
            ordered[key] = (float(low), float(high))
        object.__setattr__(self, "intervals", ordered)
        object.__setattr__(self, "rmspe", {name: float(self.rmspe[name]) for name in _TARGETS})

    @property
    def loggps(self) -> LogGPS:
        """LogGPS parameters of the eager regime; ``LogGPS.from_protocol`` gives the others."""
        return LogGPS.from_protocol(self.model, errors=self.errors)

    @property
    def errors(self) -> dict[str, float]:
        """Standard errors, SI by key: what a normal distribution has for each 90 % interval."""
        return {key: (high - low) / (2 * _Z) for key, (low, high) in self.intervals.items()}

    def to_frame(self) -> pd.DataFrame:
        """Return the model's parameters with the ends of their intervals, ``low`` and ``high``."""
        frame = self.model.to_frame()
        ends = [self.intervals.get(key, (math.nan, math.nan)) for key in frame["parameter"]]
        return frame.assign(low=[low for low, _ in ends], high=[high for _, high in ends])

    def to_dict(self) -> dict[str, Any]:
        """Return values that JSON can hold; ``from_dict`` reads them back."""
        return {
            "machine": self.machine,
            "model": {"name": self.model.name, "ini": self.model.to_ini()},
            "rmspe": {k: None if math.isnan(v) else v for k, v in self.rmspe.items()},
            "intervals": {key: list(ends) for key, ends in self.intervals.items()},
            "loggps": self.loggps.to_dict(),
            "provenance": self.provenance.to_dict(),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Profile:
        """Return the profile that ``to_dict`` wrote.

        Args:
            values: what it returned.

        Raises:
            ParameterError: a value is not accepted, or the LogGPS parameters are not those of the
                model.
            KeyError: something is missing.
        """
        found = cls(
            machine=str(values["machine"]),
            model=_model(values["model"]),
            rmspe={k: math.nan if v is None else float(v) for k, v in values["rmspe"].items()},
            provenance=Provenance.from_dict(values["provenance"]),
            intervals={key: (ends[0], ends[1]) for key, ends in values["intervals"].items()},
        )
        if LogGPS.from_dict(values["loggps"]) != found.loggps:
            raise ParameterError("its LogGPS parameters are not those of its model", key="loggps")
        return found

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Profile):
            return NotImplemented
        return self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]  # compared by value, which holds mappings

    def __repr__(self) -> str:
        return f"Profile({self.machine}, RMSPE {self.rmspe['joint']:.1f} %, {self.loggps})"

    def _repr_html_(self) -> str:
        rows = ((code(p.key), p.text(), self._interval(p.key)) for p in self.model.parameters())
        head = ("parameter", "value", f"{LEVEL:.0%} interval")
        caption = f"{self.provenance.caption()}: RMSPE {self.rmspe['joint']:.1f} %"
        return html_table(rows, head, caption) + self.loggps._repr_html_()

    def _interval(self, key: str) -> str:
        if key not in self.intervals:
            return ""
        low, high = (self.model.with_values({key: end}) for end in self._ends(key))
        texts = [
            next(p.text() for p in model.parameters() if p.key == key) for model in (low, high)
        ]
        return " to ".join(texts)

    def _ends(self, key: str) -> tuple[float, float]:
        low, high = self.intervals[key]
        integer = isinstance(self.model.get(key), int)
        return (round(low), round(high)) if integer else (low, high)


def _folder() -> Path:
    return data_folder() / "profiles"


def _model(values: Mapping[str, Any]) -> Protocol:
    model: NetworkModel = read_ini(values["ini"])
    if not isinstance(model, Protocol) or model.name != values["name"]:
        raise ParameterError(
            f"its model must be {Protocol.name}; the .ini holds {model.name}", key="model"
        )
    return model
