"""The plan of a comparison of searches: methods, noises, seeds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from workbench.checks import whole
from workbench.errors import ParameterError
from workbench.suggestions import did_you_mean
from workbench.tune.heuristics import HEURISTICS
from workbench.tune.runners.replay import NOISES
from workbench.tune.settings import Chosen

HELD_OUT = "held-out"
"""The noise of searches that are judged by other repeats than those they drew from."""

_WITH_SPREAD = ("normal", "heavy-tails")

HEURISTICS_COMPARED = tuple(name for name in HEURISTICS if name != "exhaustive")

RESAMPLINGS_COMPARED: Mapping[str, Chosen] = {
    "none": Chosen("none"),
    "static 3": Chosen("static", {"runs": 3}),
    "standard error": Chosen("standard-error"),
    "nonparametric": Chosen("nonparametric"),
    "improved": Chosen("improved"),
}
"""The resampling rules that are compared, by label; their options are the rules' own defaults."""

STOPPINGS_COMPARED: Mapping[str, Chosen] = {
    "budget": Chosen("none"),
    "best improvement 15": Chosen("improvement", {"estimator": "min", "window": 15}),
    "best improvement 5": Chosen("improvement", {"estimator": "min", "window": 5}),
    "count 2 of 5": Chosen("count-movement", {"most": 2, "window": 5}),
    "distance": Chosen("distance-movement", {"distance": 0.1, "window": 5}),
}
"""The stopping rules that are compared, by label; SHAMan's study used a window of 15."""

NO_PRUNING = "none"
"""The label of searches whose runs are not ended."""

PRUNINGS_COMPARED: Mapping[str, Chosen] = {
    NO_PRUNING: Chosen("none"),
    "default run": Chosen("default"),
    "default run x1.5": Chosen("default", {"factor": 1.5}),
    "median": Chosen("estimator"),
    "quantile 0.25": Chosen("estimator", {"estimator": 0.25}),
}
"""The pruning rules that are compared, by label; the estimate is over all runs that ended."""


@dataclass(frozen=True)
class AddedNoise:
    """The noise added to a recorded run.

    Attributes:
        name: ``measured``, ``none``, ``normal`` or ``heavy-tails``; with ``held-out`` half of the
            repeats is drawn from and the others judge.
        scale: relative spread, for ``normal`` and ``heavy-tails``.

    Raises:
        ParameterError: an unknown name, or a scale that the noise lacks or does not take.
    """

    name: str = "measured"
    scale: float = 0.0

    def __post_init__(self) -> None:
        if self.name not in (*NOISES, HELD_OUT):
            known = (*NOISES, HELD_OUT)
            raise ParameterError(
                f"noise must be one of {', '.join(known)}; got {self.name!r}"
                f"{did_you_mean(self.name, known)}",
                key="noise",
            )
        if not 0.0 <= self.scale < 10.0:
            raise ParameterError(f"scale must be from 0 to 10; got {self.scale}", key="scale")
        if (self.scale > 0) != (self.name in _WITH_SPREAD):
            needs = "needs a scale above 0" if self.name in _WITH_SPREAD else "has no scale"
            raise ParameterError(
                f"noise {self.name} {needs}; got {self.scale}, as in normal:0.05 and none",
                key="scale",
            )

    def __str__(self) -> str:
        spread = f" {100 * self.scale:g} %" if self.scale else ""
        return f"{self.name}{spread}"


@dataclass(frozen=True)
class SearchComparisonPlan:
    """The searches to compare: every heuristic with every rule, on every space, with every seed.

    Attributes:
        recordings: shipped names, or folders.
        spaces: spaces, such as bcast/65536; empty for all.
        heuristics: heuristics, such as surrogate-gp. Names in ``HEURISTICS``.
        resamplings: resampling rules, such as none,improved. Labels in ``RESAMPLINGS_COMPARED``.
        stoppings: stopping rules, such as budget. Labels in ``STOPPINGS_COMPARED``.
        prunings: pruning rules, such as none,median. Labels in ``PRUNINGS_COMPARED``.
        noises: noises added to each run.
        seeds: seeds of each method and space, from 0 on.
        initial: initial points of each search, the default first.
        budget: runs of each search at most.
        reruns: further runs of the configuration found, whose median is its value; 0 takes the
            median of all that was recorded. That is without noise where noise was added; SHAMan's
            study has further runs.

    Raises:
        ParameterError: an unknown heuristic or rule, or a number that is too small.
    """

    recordings: tuple[str, ...]
    spaces: tuple[str, ...] = ()
    heuristics: tuple[str, ...] = HEURISTICS_COMPARED
    resamplings: tuple[str, ...] = tuple(RESAMPLINGS_COMPARED)
    stoppings: tuple[str, ...] = tuple(STOPPINGS_COMPARED)
    prunings: tuple[str, ...] = (NO_PRUNING,)
    noises: tuple[AddedNoise, ...] = (AddedNoise(),)
    seeds: int = 20
    initial: int = 10
    budget: int = 60
    reruns: int = 0

    def __post_init__(self) -> None:
        for key, given, known in (
            ("heuristics", self.heuristics, HEURISTICS),
            ("resamplings", self.resamplings, RESAMPLINGS_COMPARED),
            ("stoppings", self.stoppings, STOPPINGS_COMPARED),
            ("prunings", self.prunings, PRUNINGS_COMPARED),
        ):
            for name in given:
                if name not in known:
                    raise ParameterError(
                        f"{key} must be of {', '.join(known)}; got {name!r}"
                        f"{did_you_mean(name, known)}",
                        key=key,
                    )
        for key, least in (("seeds", 1), ("initial", 2), ("budget", self.initial), ("reruns", 0)):
            object.__setattr__(self, key, whole(getattr(self, key), key, least))
