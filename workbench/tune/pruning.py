"""How long a run may take before it is stopped (SHAMan, section 3.4).

Initial points are never stopped. A stopped run is stored as pruned: its time is a bound from
below, and is treated as one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from workbench.checks import above_zero, whole
from workbench.errors import ParameterError
from workbench.tune.history import History
from workbench.tune.rules_by_name import Makers, make_by_name


class Pruning(Protocol):
    """The rule that limits the time of a run; `make_pruning` makes one by name."""

    def limit_s(self, history: History, *, initial: bool = False) -> float | None:
        """Return the time limit in s of the run that begins now; None for no limit.

        Args:
            history: the runs so far.
            initial: whether the run is an initial point.
        """


@dataclass(frozen=True)
class NoPruning:
    """No run is stopped."""

    def limit_s(self, history: History, *, initial: bool = False) -> float | None:
        """Return None."""
        return None


@dataclass(frozen=True)
class FixedLimit:
    """Every run after the initial points is stopped after the same time."""

    seconds: float

    def __post_init__(self) -> None:
        above_zero(self.seconds, "seconds")

    def limit_s(self, history: History, *, initial: bool = False) -> float | None:
        """Return ``seconds``; None for an initial point."""
        return None if initial else self.seconds


@dataclass(frozen=True)
class DefaultRun:
    """A run is stopped at ``factor`` times the time of the default configuration."""

    factor: float = 1.0  # times the median of the complete default runs

    def __post_init__(self) -> None:
        above_zero(self.factor, "factor")

    def limit_s(self, history: History, *, initial: bool = False) -> float | None:
        """Return the limit in s; None for an initial point or without a complete default run."""
        default = history.space.default
        if default is None:
            raise ParameterError(
                "pruning by the default run needs a default of every parameter; "
                "give the space defaults, or prune by an estimator",
                key="pruning",
            )
        if initial:
            return None
        times = [r.seconds for r in history.runs_of(default) if r.status == "complete"]
        return self.factor * float(np.median(times)) if times else None


@dataclass(frozen=True)
class Estimator:
    """A run is stopped at ``factor`` times an estimate of the finished runs' times."""

    estimator: str | float = "median"  # ``median``, ``mean``, or a quantile from 0 to 1
    factor: float = 1.0
    least: int = 1  # finished runs before there is a limit

    def __post_init__(self) -> None:
        word = isinstance(self.estimator, str) and self.estimator in ("median", "mean")
        number = isinstance(self.estimator, int | float) and 0.0 <= self.estimator <= 1.0
        if not word and (not number or isinstance(self.estimator, bool)):
            raise ParameterError(
                f"estimator must be median, mean or a quantile from 0 to 1; got {self.estimator!r}",
                key="estimator",
            )
        above_zero(self.factor, "factor")
        whole(self.least, "least", 1)

    def limit_s(self, history: History, *, initial: bool = False) -> float | None:
        """Return the limit in s; None for an initial point or before ``least`` finished runs."""
        # Pruned runs count: without them the median would sink with every run it stops.
        times = [run.seconds for run in history if run.status != "failed"]
        if initial or len(times) < self.least:
            return None
        if self.estimator == "mean":
            return self.factor * float(np.mean(times))
        share = 0.5 if isinstance(self.estimator, str) else self.estimator
        return self.factor * float(np.quantile(times, share))


PRUNINGS: Makers[Pruning] = Makers(
    "pruning",
    Pruning.limit_s,
    {"none": NoPruning, "fixed": FixedLimit, "default": DefaultRun, "estimator": Estimator},
)
"""The constructors of the rules, by name; ``register`` adds your own."""


def make_pruning(name: str, **options: Any) -> Pruning:
    """Return a pruning rule.

    Args:
        name: a name in ``PRUNINGS``.
        options: values by name, as ``options_of`` returns them.

    Raises:
        ParameterError: there is no such rule or option, or a value cannot be.
    """
    return make_by_name("pruning", PRUNINGS, name, options)
