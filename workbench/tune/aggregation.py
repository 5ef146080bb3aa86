"""What several runs of a configuration come to, pruned ones among them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from workbench.errors import ParameterError
from workbench.suggestions import did_you_mean
from workbench.tune.space.space import Configuration, Value

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
Key = tuple[Value | None, ...]

Aggregation = Literal["mean", "median", "min"]
AGGREGATIONS: tuple[str, ...] = get_args(Aggregation)

RunStatus = Literal["complete", "pruned", "failed"]
RUN_STATUSES: tuple[str, ...] = get_args(RunStatus)


@dataclass(frozen=True)
class Aggregated:
    """One row a configuration, in the order of their first runs.

    A loss is the value, negated where more is better: lower is always better.

    Attributes:
        configurations: what was run.
        keys: ``space.key`` of each.
        codes: float64[n, dimension], each in the unit cube.
        losses: float64[n], the aggregated loss; of a censored one a bound from below; nan where
            nothing is known of it.
        spread: float64[n], standard deviation of the complete runs (n - 1); nan below two.
        counts: int64[n], complete runs.
        censored: bool[n], whether the true aggregate may be larger, as runs were pruned.
        failed: bool[n], whether every run of it failed.
        initial: bool[n], whether its first run belongs to the initial points.
    """

    configurations: tuple[Configuration, ...]
    keys: tuple[Key, ...]
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
        """Which configurations have a loss that is no bound, bool[n]."""
        return ~self.censored & np.isfinite(self.losses)

    @property
    def ranked(self) -> FloatArray:
        """Losses with which a heuristic can rank everything that was run, float64[n].

        A bound counts as it is; what has no loss at all counts as the worst there is.
        """
        finite = np.isfinite(self.losses)
        if finite.all():
            return self.losses
        worst = self.losses[finite].max() if finite.any() else 0.0
        return np.where(finite, self.losses, worst)

    def best(self) -> int | None:
        """Return the row of the least known loss, the first of equals; None where none is known."""
        known = self.known
        if not known.any():
            return None
        return int(np.argmin(np.where(known, self.losses, np.inf)))


class Group:
    """The runs of one configuration, and their aggregate as long as it holds.

    Args:
        configuration: what was run.
        code: float64[dimension], its place in the unit cube.
        initial: whether its first run belongs to the initial points.

    Attributes:
        complete: losses of the complete runs.
        bounds: losses that the pruned runs have at least; nan where that is not known.
        runs: numbers of its runs in the history.
    """

    def __init__(self, configuration: Configuration, code: FloatArray, initial: bool) -> None:
        self.configuration = configuration
        self.code = code
        self.initial = initial
        self.complete: list[float] = []
        self.bounds: list[float] = []
        self.runs: list[int] = []
        self._found: dict[str, tuple[float, bool]] = {}

    def add(self, loss: float, status: RunStatus, number: int) -> None:
        """Add a run.

        Args:
            loss: its loss, of a pruned run a bound or nan.
            status: how it ended.
            number: its number in the history.
        """
        self.runs.append(number)
        if status == "complete":
            self.complete.append(loss)
        elif status == "pruned":
            self.bounds.append(loss)
        self._found.clear()

    def loss(self, how: str) -> tuple[float, bool]:
        """Return the aggregated loss, and whether it is only a bound from below.

        Args:
            how: ``mean``, ``median`` or ``min``.
        """
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
    """Return the aggregate of losses and bounds, and whether it is only a bound.

    It is one where larger losses of the pruned runs would change it. A pruned run without a bound
    says nothing of the loss: it was slow, which is not what is searched.
    """
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
    """Return the name of an aggregation if there is one of that name.

    Args:
        how: a name in ``AGGREGATIONS``.

    Raises:
        ParameterError: there is none.
    """
    if how not in AGGREGATIONS:
        raise ParameterError(
            f"aggregation must be one of {', '.join(AGGREGATIONS)}; got {how!r}"
            f"{did_you_mean(how, AGGREGATIONS)}",
            key="aggregation",
        )
    return how
