"""The aggregate of several runs of a configuration, pruned ones among them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import BoolArray, FloatArray
from workbench.errors import ParameterError
from workbench.suggestions import did_you_mean
from workbench.tune.space.constraints import Configuration, TunedValue

ConfigurationKey = tuple[TunedValue | None, ...]

Aggregation = Literal["mean", "median", "min"]
AGGREGATIONS: tuple[str, ...] = get_args(Aggregation)

RunStatus = Literal["complete", "pruned", "failed"]
RUN_STATUSES: tuple[str, ...] = get_args(RunStatus)


@dataclass(frozen=True)
class Aggregated:
    """Losses by configuration, in the order of their first runs.

    A loss is the value, negated where more is better: lower is always better.

    Attributes:
        configurations: those that were run.
        keys: ``space.key`` of each.
        codes: float64[n, dimension], each in the unit cube.
        losses: float64[n], aggregated losses; a lower bound where censored, nan where unknown.
        spread: float64[n], standard deviation of the complete runs (n - 1); nan below two.
        counts: int64[n], complete runs.
        censored: bool[n], whether the true loss may be larger, as runs were pruned.
        failed: bool[n], whether every run failed.
        initial: bool[n], whether the first run belongs to the initial points.
    """

    configurations: tuple[Configuration, ...]
    keys: tuple[ConfigurationKey, ...]
    codes: FloatArray
    losses: FloatArray
    spread: FloatArray
    counts: NDArray[np.int64]
    censored: BoolArray
    failed: BoolArray
    initial: BoolArray

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def known(self) -> BoolArray:
        """Which configurations have a known loss, not only a bound, bool[n]."""
        return ~self.censored & np.isfinite(self.losses)

    @property
    def ranked(self) -> FloatArray:
        """Losses by which a heuristic can rank all configurations that were run, float64[n].

        A bound counts as it is; a configuration without any loss counts as the worst of all.
        """
        finite = np.isfinite(self.losses)
        if finite.all():
            return self.losses
        worst = self.losses[finite].max() if finite.any() else 0.0
        return np.where(finite, self.losses, worst)

    def best(self) -> int | None:
        """Return the row of the least known loss, the first of equals; None if none is known."""
        known = self.known
        if not known.any():
            return None
        return int(np.argmin(np.where(known, self.losses, np.inf)))


class Group:
    """The runs of one configuration, and their aggregate, cached until a run is added."""

    def __init__(self, configuration: Configuration, code: FloatArray, initial: bool) -> None:
        self.configuration = configuration
        self.code = code  # (dimension,), in the unit cube
        self.initial = initial  # whether its first run is an initial point
        self.complete: list[float] = []  # losses of the complete runs
        self.bounds: list[float] = []  # lower bounds of the pruned runs' losses; nan where unknown
        self.runs: list[int] = []  # indices of its runs in the history
        self._found: dict[str, tuple[float, bool]] = {}

    def add(self, loss: float, status: RunStatus, number: int) -> None:
        """Add run ``number`` of the history; the loss of a pruned run is a lower bound or nan."""
        self.runs.append(number)
        if status == "complete":
            self.complete.append(loss)
        elif status == "pruned":
            self.bounds.append(loss)
        self._found.clear()

    def loss(self, how: str) -> tuple[float, bool]:
        """Return the aggregated loss, and whether it is only a lower bound."""
        if how not in self._found:
            self._found[how] = _aggregate(self.complete, self.bounds, how)
        return self._found[how]

    @property
    def failed(self) -> bool:
        """Whether every run of it failed."""
        return not self.complete and not self.bounds

    @property
    def spread(self) -> float:
        """Standard deviation of the complete runs (n - 1), nan below two."""
        return float(np.std(self.complete, ddof=1)) if len(self.complete) > 1 else math.nan


def _aggregate(complete: Sequence[float], bounds: Sequence[float], how: str) -> tuple[float, bool]:
    """Return the aggregate, and whether it is a bound: larger pruned losses would change it."""
    # A pruned run without a bound was slow, which is another quantity than the loss.
    known = [bound for bound in bounds if math.isfinite(bound)]
    values = [*complete, *known]
    if not values:
        return math.nan, bool(bounds)
    found = _ESTIMATORS[how](values)
    largest = max(max(values), 0.0) * 2.0 + 1.0
    moved = _ESTIMATORS[how]([*complete, *(largest for _ in known)])
    return found, moved != found


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _median(values: Sequence[float]) -> float:
    ordered = sorted(values)
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return (ordered[middle - 1] + ordered[middle]) / 2.0


def _least(values: Sequence[float]) -> float:
    return min(values)


_ESTIMATORS: Mapping[str, Callable[[Sequence[float]], float]] = {
    "mean": _mean,
    "median": _median,
    "min": _least,
}


def find_aggregation(how: str) -> str:
    """Return ``how`` if ``AGGREGATIONS`` has it."""
    if how not in AGGREGATIONS:
        raise ParameterError(
            f"aggregation must be one of {', '.join(AGGREGATIONS)}; got {how!r}"
            f"{did_you_mean(how, AGGREGATIONS)}",
            key="aggregation",
        )
    return how
