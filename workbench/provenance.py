"""Where a number came from: the line under every figure and the head of every export."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from workbench.errors import ParameterError
from workbench.suggestions import did_you_mean

Origin = Literal["measured", "published", "emulated", "synthetic", "simulated"]
ORIGINS: tuple[str, ...] = get_args(Origin)


@dataclass(frozen=True)
class Provenance:
    """The origin of a result's numbers, and their licence.

    Attributes:
        origin: ``measured`` by the user, ``published`` by others, ``emulated`` on hardware that
            stands in for other hardware, ``synthetic`` (made up to a stated rule) or ``simulated``.
        title: of the measurement or simulation, such as ``Azure HB96rs_v3, HDR InfiniBand``.
        source: where the numbers can be found again: a DOI, an address, a file name.
        licence: SPDX name of the licence of the numbers; empty if there is none to state.
        details: further facts, as text; ``statistic`` is part of the caption.

    Raises:
        ParameterError: ``origin`` is not one of the known ones.
    """

    origin: Origin
    title: str
    source: str = ""
    licence: str = ""
    details: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.origin not in ORIGINS:
            raise ParameterError(
                f"origin must be one of {', '.join(ORIGINS)}; got {self.origin!r}"
                f"{did_you_mean(self.origin, ORIGINS)}",
                key="origin",
            )

    def caption(self) -> str:
        """Return one line: ``published: title; statistic (licence, source)``."""
        statistic = self.details.get("statistic", "")
        head = f"{self.origin}: {self.title}" + (f"; {statistic}" if statistic else "")
        tail = ", ".join(part for part in (self.licence, self.source) if part)
        return f"{head} ({tail})" if tail else head

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold; ``from_dict`` reads them back."""
        return {
            "origin": self.origin,
            "title": self.title,
            "source": self.source,
            "licence": self.licence,
            "details": dict(self.details),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Provenance:
        """Return the provenance that ``to_dict`` wrote.

        Args:
            values: its entries.

        Raises:
            ParameterError: ``origin`` or ``title`` is missing, or ``origin`` is not a known one.
        """
        for key in ("origin", "title"):
            if key not in values:
                raise ParameterError(
                    f"a provenance must name its {key}; got only {', '.join(values) or 'nothing'}",
                    key=key,
                )
        return cls(
            origin=values["origin"],
            title=str(values["title"]),
            source=str(values.get("source", "")),
            licence=str(values.get("licence", "")),
            details={str(k): str(v) for k, v in dict(values.get("details", {})).items()},
        )
