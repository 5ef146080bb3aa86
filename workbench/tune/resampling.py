"""When to run the last configuration again instead of asking for another one.

A resample is a run like any other: it counts in the budget. Initial points are never repeated, as
they are to try as many configurations as there are (SHAMan, section 3.3); nor is a run that failed
or was pruned, of which another run would add no information.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np

from workbench.arrays import FloatArray
from workbench.checks import above_zero, whole
from workbench.tune.history import History
from workbench.tune.rules_by_name import Makers, make_by_name, one_of

SCHEDULES: Mapping[str, Callable[[int], float]] = MappingProxyType(
    {
        "constant": lambda k: 1.0,
        "exponential-99": lambda k: max(0.99**k, 0.8),
        "exponential-9": lambda k: max(0.9**k, 0.1),
    }
)
"""Factors that shrink with the number of runs of other configurations, by name."""

_OF_A_MEDIAN = 1.253  # sqrt(pi / 2): the median's standard error over the mean's, normal noise


class Resampling(Protocol):
    """The rule that decides whether the last configuration runs again; see `make_resampling`."""

    def should_repeat(self, history: History) -> bool:
        """Return whether to run the last configuration once more.

        Args:
            history: the runs so far, the last one included.
        """


@dataclass(frozen=True)
class NoResampling:
    """Every configuration is run once each time it is proposed."""

    def should_repeat(self, history: History) -> bool:
        """Return False."""
        return False


@dataclass(frozen=True)
class StaticResampling:
    """Every configuration is run a fixed number of times (SHAMan, section 3.3)."""

    runs: int = 3  # in total, earlier visits included

    def __post_init__(self) -> None:
        whole(self.runs, "runs", 1)

    def should_repeat(self, history: History) -> bool:
        """Return whether the last configuration has fewer than ``runs`` complete runs."""
        losses = _last_losses(history)
        return losses is not None and len(losses) < self.runs


@dataclass(frozen=True)
class DynamicResampling:
    """A configuration is run until the confidence interval of its value is narrow enough.

    Di Pietro et al. 2004; SHAMan, section 3.3: with n runs of the last configuration and k others,
    it is run again while n < 2, or 2 z c std / sqrt(n) > share s(k) |centre|; std divides by n, c
    is 1 for the mean and 1.253 for the median. With a threshold, as the paper words it, it is run
    again while the standard error, c std / sqrt(n) with std that divides by n - 1, is not below it.
    """

    share: float = 0.1  # largest width of the interval, as a share of the centre
    most: int = 10  # runs of one configuration
    median: bool = False  # whether the centre is the median, not the mean
    z: float = 1.96  # half width in standard errors; SHAMan's code: 1.96, 1 for the median
    schedule: str = "constant"  # s(k), a name in SCHEDULES
    promising: str | None = None  # s2(k), a name in SCHEDULES; None: refine all
    promising_start: float = 1.0  # refine medians <= this s2(k) times that of the first k runs
    threshold: float | None = None  # of the standard error, in the value's unit, instead of share

    def __post_init__(self) -> None:
        above_zero(self.share, "share")
        whole(self.most, "most", 2)
        above_zero(self.z, "z")
        one_of(self.schedule, SCHEDULES, "schedule")
        if self.promising is not None:
            one_of(self.promising, SCHEDULES, "promising")
        above_zero(self.promising_start, "promising_start")
        if self.threshold is not None:
            above_zero(self.threshold, "threshold")

    def should_repeat(self, history: History) -> bool:
        """Return whether the last configuration's interval is still too wide."""
        losses = _last_losses(history)
        if losses is None:
            return False
        n = len(losses)
        if n < 2:
            return True
        k = len(history) - n
        if n >= self.most or not self._is_promising(history, losses, k):
            return False
        factor = _OF_A_MEDIAN if self.median else 1.0
        if self.threshold is not None:
            return bool(factor * float(losses.std(ddof=1)) / n**0.5 >= self.threshold)
        centre = float(np.median(losses) if self.median else losses.mean())
        width = 2.0 * self.z * factor * float(losses.std()) / n**0.5
        return bool(width > self.share * SCHEDULES[self.schedule](k) * abs(centre))

    def _is_promising(self, history: History, losses: FloatArray, k: int) -> bool:
        others = history.losses[:k]
        others = others[np.isfinite(others)]
        if self.promising is None or not len(others):
            return True
        middle = float(np.median(others))
        # middle + (f - 1) |middle| is f middle where it is positive.
        factor = self.promising_start * SCHEDULES[self.promising](k)
        return float(np.median(losses)) <= middle + (factor - 1.0) * abs(middle)


def standard_error(
    share: float = 0.1, most: int = 10, threshold: float | None = None
) -> DynamicResampling:
    """Return standard-error dynamic resampling (Di Pietro et al. 2004), relative or absolute."""
    return DynamicResampling(share, most, threshold=threshold)


def nonparametric(share: float = 0.1, most: int = 10, z: float = 1.96) -> DynamicResampling:
    """Return dynamic resampling by the median; SHAMan's code computes it with z = 1."""
    return DynamicResampling(share, most, median=True, z=z)


def improved(
    share: float = 0.1,
    most: int = 10,
    schedule: str = "exponential-99",
    promising: str | None = "exponential-99",
    promising_start: float = 1.0,
    median: bool = True,
    z: float = 1.96,
) -> DynamicResampling:
    """Return the improved noise reduction algorithm (SHAMan, section 3.3): both schedules."""
    return DynamicResampling(share, most, median, z, schedule, promising, promising_start)


RESAMPLINGS: Makers[Resampling] = Makers(
    "resampling",
    Resampling.should_repeat,
    {
        "none": NoResampling,
        "static": StaticResampling,
        "standard-error": standard_error,
        "nonparametric": nonparametric,
        "improved": improved,
    },
)
"""The constructors of the rules, by name; ``register`` adds your own."""


def make_resampling(name: str, **options: Any) -> Resampling:
    """Return a resampling rule.

    Args:
        name: a name in ``RESAMPLINGS``.
        options: values by name, as ``options_of`` returns them.

    Raises:
        ParameterError: there is no such rule or option, or a value cannot be.
    """
    return make_by_name("resampling", RESAMPLINGS, name, options)


def _last_losses(history: History) -> FloatArray | None:
    """Return the losses of the last configuration's complete runs; None if never repeated."""
    last = history.last
    if last is None or last.initial or last.status != "complete":
        return None
    runs = history.runs_of(last.configuration)
    return np.array([history.loss(run) for run in runs if run.status == "complete"])
