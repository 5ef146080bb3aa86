"""When an experiment ends: budget, time, improvement, movement, and their combinations.

A window counts proposals: a configuration with the resamples that follow it at once is one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np

from workbench.arrays import FloatArray
from workbench.checks import above_zero, number, whole
from workbench.errors import ParameterError
from workbench.tune.history import History, Visit
from workbench.tune.rules_by_name import Makers, make_by_name, one_of
from workbench.tune.space.axes import Choices
from workbench.tune.space.space import TuningSpace

_ESTIMATORS: Mapping[str, Callable[[FloatArray], float]] = MappingProxyType(
    {
        "min": lambda losses: float(losses.min()),
        "mean": lambda losses: float(losses.mean()),
        "median": lambda losses: float(np.median(losses)),
    }
)
_WORDS = {"min": "best", "mean": "average", "median": "median"}


class Stopping(Protocol):
    """The rule that decides whether an experiment ends; `make_stopping` makes one by name."""

    def reason(self, history: History) -> str | None:
        """Return why the experiment ends now; None if it continues.

        Args:
            history: the runs so far.
        """


@dataclass(frozen=True)
class Budget:
    """Ends after a number of runs, resamples included."""

    runs: int = 100
    count_initial: bool = False  # SHAMan's does not

    def __post_init__(self) -> None:
        whole(self.runs, "runs", 1)

    def reason(self, history: History) -> str | None:
        """Return the reason once the budget is spent, else None."""
        left_out = 0 if self.count_initial else int(history.initial.sum())
        if len(history) - left_out < self.runs:
            return None
        suffix = "" if self.count_initial else " after the initial points"
        return f"the budget of {self.runs} runs{suffix} is spent"


@dataclass(frozen=True)
class TimeLimit:
    """Ends once the runs took a time together, without time in a queue."""

    seconds: float  # without time in a queue

    def __post_init__(self) -> None:
        above_zero(self.seconds, "seconds")

    def reason(self, history: History) -> str | None:
        """Return the reason once the time is up, else None."""
        spent = math.fsum(run.seconds for run in history)
        if spent < self.seconds:
            return None
        return f"the runs took {spent:.6g} s; the limit is {self.seconds:.6g} s"


@dataclass(frozen=True)
class Improvement:
    """Ends when the last proposals improved too little (SHAMan, section 3.2).

    That is, (e(f[:-w]) - e(f[-w:])) / |e(f[:-w])| < threshold, with e the estimator, w the window
    and f the losses in order; a pruned run counts with its bound, a failed one not at all.
    """

    estimator: str = "min"  # ``min``, ``mean`` or ``median``
    threshold: float = 0.01  # least improvement, as a share
    window: int = 15  # proposals

    def __post_init__(self) -> None:
        one_of(self.estimator, _ESTIMATORS, "estimator")
        number(self.threshold, "threshold")
        whole(self.window, "window", 1)

    def reason(self, history: History) -> str | None:
        """Return the reason once the improvement is too small, else None."""
        visits = history.visits
        if len(visits) - sum(visit.initial for visit in visits) <= self.window:
            return None
        estimate = _ESTIMATORS[self.estimator]
        losses = np.array([visit.loss for visit in visits])
        before, last = (
            part[np.isfinite(part)] for part in (losses[: -self.window], losses[-self.window :])
        )
        gain = -math.inf
        if not len(before) and len(last):
            gain = math.inf
        elif len(before) and len(last):
            was, now = estimate(before), estimate(last)
            gain = _share(was - now, was)
        if gain >= self.threshold:
            return None
        return (
            f"the {_WORDS[self.estimator]} of the last {self.window} proposals improved by "
            f"{gain:.3g}, less than {self.threshold:g}"
        )


@dataclass(frozen=True)
class CountMovement:
    """Ends when the last proposals are few configurations over and over (SHAMan, section 3.2)."""

    most: int = 2  # different configurations that are too few
    window: int = 10  # proposals after the initial points

    def __post_init__(self) -> None:
        whole(self.most, "most", 1)
        whole(self.window, "window", 1)

    def reason(self, history: History) -> str | None:
        """Return the reason once the search hardly moves, else None."""
        window = _window(history, self.window)
        if window is None:
            return None
        count = len({visit.key for visit in window})
        if count > self.most:
            return None
        return (
            f"the last {self.window} proposals were {count} different configurations, "
            f"{self.most} or fewer"
        )


@dataclass(frozen=True)
class DistanceMovement:
    """Ends when the last proposals lie close together (SHAMan, section 3.2).

    The distance of two is the root mean square over the parameters, each 0 (equal) to 1 (a whole
    axis, or another choice). SHAMan adds raw distances and divides by the number of points.
    """

    distance: float = 0.1  # mean distance that is too small, 0 to 1
    window: int = 10  # proposals after the initial points

    def __post_init__(self) -> None:
        number(self.distance, "distance", 0.0, 1.0)
        whole(self.window, "window", 1)

    def reason(self, history: History) -> str | None:
        """Return the reason once the search hardly moves, else None."""
        window = _window(history, self.window)
        if window is None:
            return None
        found = mean_distance(history.space, window)
        if found > self.distance:
            return None
        return (
            f"the last {self.window} proposals lie {found:.3g} apart on average, "
            f"{self.distance:g} or less"
        )


@dataclass(frozen=True)
class AnyOf:
    """Ends when any of several rules ends."""

    rules: tuple[Stopping, ...]  # the first that ends gives the reason

    def reason(self, history: History) -> str | None:
        """Return the first reason; None if there is none."""
        return next((why for rule in self.rules if (why := rule.reason(history))), None)


@dataclass(frozen=True)
class AllOf:
    """Ends when all of several rules end."""

    rules: tuple[Stopping, ...]

    def __post_init__(self) -> None:
        if not self.rules:
            raise ParameterError("AllOf must have at least one rule; got none", key="rules")

    def reason(self, history: History) -> str | None:
        """Return all reasons joined; None if one is missing."""
        reasons = [rule.reason(history) for rule in self.rules]
        return None if None in reasons else "; ".join(why for why in reasons if why)


def any_of(rules: Sequence[Mapping[str, Any]]) -> AnyOf:
    """Return the rule that ends when any of these does, each ``{"name": ..., option: value}``."""
    return AnyOf(_made_of(rules))


def all_of(rules: Sequence[Mapping[str, Any]]) -> AllOf:
    """Return the rule that ends when all of these do, each ``{"name": ..., option: value}``."""
    return AllOf(_made_of(rules))


STOPPINGS: Makers[Stopping] = Makers(
    "stopping",
    Stopping.reason,
    {
        "budget": Budget,
        "time": TimeLimit,
        "improvement": Improvement,
        "count-movement": CountMovement,
        "distance-movement": DistanceMovement,
        "any": any_of,
        "all": all_of,
    },
)
"""The constructors of the rules, by name; ``register`` adds your own."""


def make_stopping(name: str, **options: Any) -> Stopping:
    """Return a stopping rule.

    Args:
        name: a name in ``STOPPINGS``.
        options: values by name, as ``options_of`` returns them.

    Raises:
        ParameterError: there is no such rule or option, or a value cannot be.
    """
    return make_by_name("stopping", STOPPINGS, name, options)


def mean_distance(space: TuningSpace, visits: Sequence[Visit]) -> float:
    """Return the mean distance between different configurations, 0 to 1."""
    unique = {visit.key: visit.configuration for visit in visits}
    if len(unique) < 2:
        return 0.0
    codes = np.array([space.encode(each) for each in unique.values()]) * _scales(space)
    squares = np.square(codes[:, None, :] - codes[None, :, :]).sum(axis=2)
    pairs = np.triu_indices(len(codes), 1)
    return float(np.sqrt(squares[pairs] / len(space)).mean())


def _scales(space: TuningSpace) -> FloatArray:
    # Two choices differ in two columns of their code by 1 each.
    return np.concatenate(
        [
            np.full(axis.width, math.sqrt(0.5) if isinstance(axis, Choices) else 1.0)
            for axis in space.axes.values()
        ]
    )


def _window(history: History, count: int) -> Sequence[Visit] | None:
    """Return the last proposals after the initial points, None while there are fewer."""
    visits = [visit for visit in history.visits[-count:] if not visit.initial]
    return visits if len(visits) == count else None


def _share(gain: float, of: float) -> float:
    if of == 0.0:
        return math.copysign(math.inf, gain) if gain else 0.0
    return gain / abs(of)


def _made_of(rules: object) -> tuple[Stopping, ...]:
    if isinstance(rules, str) or not isinstance(rules, Sequence):
        raise ParameterError(
            f"rules must be a list of rules, such as [{{'name': 'time', 'seconds': 60}}]; got "
            f"{rules!r}",
            key="rules",
        )
    return tuple(_from_dict(rule) for rule in rules)


def _from_dict(rule: Mapping[str, Any]) -> Stopping:
    if not isinstance(rule, Mapping) or "name" not in rule:
        raise ParameterError(
            f"a rule must be a mapping with its name; got {rule!r}", key="stopping"
        )
    return make_stopping(rule["name"], **{k: v for k, v in rule.items() if k != "name"})
