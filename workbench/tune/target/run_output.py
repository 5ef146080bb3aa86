"""The output that a target reads, and its message where the number is missing."""

from __future__ import annotations

import math
from typing import Any, Protocol

from workbench.errors import WorkbenchError


class TargetError(WorkbenchError):
    """A run gave no number: its output is not what the target reads."""


class Output(Protocol):
    """The part of a run that a target reads."""

    @property
    def seconds(self) -> float:
        """Time the program ran in s, without the queue."""

    @property
    def stdout(self) -> str:
        """What it printed."""

    @property
    def stderr(self) -> str:
        """What it printed as errors and notes."""


class Target(Protocol):
    """A number to make small or large.

    Attributes:
        minimise: whether less is better.
        unit: unit of the number, empty where it is not known.
        label: a few words for axes and tables.
    """

    @property
    def minimise(self) -> bool:
        """Whether less is better."""

    @property
    def unit(self) -> str:
        """Unit of the number, empty where it is not known."""

    @property
    def label(self) -> str:
        """A few words for axes and tables."""

    def read(self, output: Output) -> float:
        """Return the number of a run, a finite one.

        Args:
            output: what the run took and printed.

        Raises:
            TargetError: there is none in it.
        """

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold; ``target_from_dict`` reads them back."""


def finite(value: float, what: str) -> float:
    """Return a number if it is finite; ``what`` names it in the error."""
    if not math.isfinite(value):
        raise TargetError(f"{what} must be a finite number; got {value}")
    return float(value)


def ending(output: Output) -> str:
    """Return the end of a run's output, as a phrase for messages."""
    text = (output.stdout.strip() or output.stderr.strip())[-200:]
    return f"an output that ends with {text!r}" if text else "no output"
