"""How an experiment searches: the methods by name and option, and the numbers beside them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypedDict

from workbench.checks import above_zero, whole
from workbench.errors import ParameterError
from workbench.tune.aggregation import AGGREGATIONS
from workbench.tune.heuristics import DEFAULT_HEURISTIC
from workbench.tune.initial_points import STARTS
from workbench.tune.rules_by_name import one_of, plain

MOST_INITIAL = 10_000
"""Most initial runs: all are drawn before the first of them runs."""

MOST_RUNS = 5
"""Runs of one configuration after which it is not proposed again, by default.

Without a limit a search spent 25 of 40 runs on one of 64 configurations whose runs differ by 1 %;
with 5, 60 runs tried 24 or more at any noise up to 20 %, enough for importance. In 8 searches of
bcast/65536 recorded on 4 ranks with 60 runs each the best was 3.5 % above the optimum without a
limit, 4.9 % with 5 and 9.8 % with 3: fewer repeats leave more to luck.
"""

_NO_OPTIONS = ("name", "space", "seed", "most_runs", "max_retries")


@dataclass(frozen=True)
class Chosen:
    """A heuristic or rule by its name, with the options that differ from its defaults."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)  # by the names of ``options_of``

    def __post_init__(self) -> None:
        for option in self.options:
            if option in _NO_OPTIONS:
                raise ParameterError(
                    f"{option} is not an option of {self.name} but of the experiment; got "
                    f"{option}={self.options[option]!r}: set it there",
                    key=option,
                )
        object.__setattr__(self, "options", MappingProxyType(plain(self.options)))

    @classmethod
    def coerce(cls, value: Any, key: str) -> Chosen:
        """Return a name, a pair with options, a mapping or object with both, or None, as Chosen."""
        if value is None:
            return cls("none")
        if isinstance(value, str):
            return cls(value)
        if isinstance(value, Mapping) and isinstance(value.get("name"), str):
            rest = {name: option for name, option in value.items() if name != "name"}
            inner = rest.get("options")
            return cls(value["name"], inner if isinstance(inner, Mapping) else rest)
        if isinstance(value, Sequence) and len(value) == 2 and isinstance(value[1], Mapping):
            return cls(str(value[0]), value[1])
        name, options = getattr(value, "name", None), getattr(value, "options", None)
        if isinstance(name, str) and isinstance(options, Mapping):
            return cls(name, options)
        raise ParameterError(
            f"{key} must be a name, or a name and its options such as ('static', {{'runs': 3}}); "
            f"got {value!r}",
            key=key,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold; ``coerce`` reads them back."""
        return {"name": self.name, "options": dict(self.options)}

    def __str__(self) -> str:
        options = ", ".join(f"{name}={value}" for name, value in self.options.items())
        return f"{self.name}({options})" if options else self.name


ChosenLike = Chosen | str | tuple[str, Mapping[str, Any]] | Mapping[str, Any] | None
"""A heuristic or rule: a name, or a pair or a mapping of a name and options; None for none."""


class SearchOptions(TypedDict, total=False):
    """The fields of ``SearchSettings`` as arguments."""

    heuristic: ChosenLike
    initial: int
    start: str
    default_first: bool
    resampling: ChosenLike
    stopping: ChosenLike
    pruning: ChosenLike
    aggregation: str
    budget: int
    seed: int
    most_runs: int | None
    max_retries: int
    timeout_s: float | None


@dataclass(frozen=True)
class SearchSettings:
    """How an experiment searches.

    Attributes:
        heuristic: what proposes configurations.
        initial: initial runs, before the heuristic's, the default configuration's among them.
        start: how initial points are drawn: ``hybrid``, ``latin-hypercube`` or ``uniform``.
        default_first: whether the default configuration runs first.
        resampling: when a configuration runs again.
        stopping: what ends the search before the budget does.
        pruning: what ends a run.
        aggregation: aggregate of repeated runs of a configuration: ``median``, ``mean`` or ``min``.
        budget: runs in all, initial ones and repeats included.
        seed: seed of the search.
        most_runs: a configuration that ran so often is not proposed again, though a resampling rule
            may still repeat it; 1 proposes new ones only, None sets no limit.
        max_retries: how often a heuristic is then asked for another one, before one is drawn.
        timeout_s: time limit of a run, s, initial ones included; None is no limit.

    Raises:
        ParameterError: a value cannot be.
    """

    heuristic: Chosen = field(default_factory=lambda: Chosen(DEFAULT_HEURISTIC))
    initial: int = 10
    start: str = "hybrid"
    default_first: bool = True
    resampling: Chosen = field(default_factory=lambda: Chosen("none"))
    stopping: Chosen = field(default_factory=lambda: Chosen("none"))
    pruning: Chosen = field(default_factory=lambda: Chosen("none"))
    aggregation: str = "median"
    budget: int = 100
    seed: int = 0
    most_runs: int | None = MOST_RUNS
    max_retries: int = 5
    timeout_s: float | None = None

    def __post_init__(self) -> None:
        for name in ("initial", "budget", "seed", "max_retries", "most_runs", "timeout_s"):
            object.__setattr__(self, name, plain(getattr(self, name)))
        for name in ("heuristic", "resampling", "stopping", "pruning"):
            object.__setattr__(self, name, Chosen.coerce(getattr(self, name), name))
        whole(self.initial, "initial", 0, MOST_INITIAL)
        one_of(self.start, STARTS, "start")
        one_of(self.aggregation, AGGREGATIONS, "aggregation")
        whole(self.budget, "budget", 1)
        whole(self.seed, "seed", 0)
        whole(self.max_retries, "max_retries", 0)
        if self.most_runs is not None:
            whole(self.most_runs, "most_runs", 1)
        if self.timeout_s is not None:
            above_zero(self.timeout_s, "timeout_s")
        try:
            json.dumps(self.to_dict())
        except (TypeError, ValueError) as error:
            raise ParameterError(
                f"options must be numbers, texts and lists of these, which a store can hold; "
                f"{error}"
            ) from error

    def fixed(self) -> dict[str, Any]:
        """Return the settings that a resumed experiment must repeat, for JSON.

        Budget and stopping are not among them: they limit the search, and do not change its runs.
        """
        return {
            name: value
            for name, value in self.to_dict().items()
            if name not in ("budget", "stopping")
        }

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold; they are arguments of this class as well."""
        return {
            "heuristic": self.heuristic.to_dict(),
            "initial": self.initial,
            "start": self.start,
            "default_first": self.default_first,
            "resampling": self.resampling.to_dict(),
            "stopping": self.stopping.to_dict(),
            "pruning": self.pruning.to_dict(),
            "aggregation": self.aggregation,
            "budget": self.budget,
            "seed": self.seed,
            "most_runs": self.most_runs,
            "max_retries": self.max_retries,
            "timeout_s": self.timeout_s,
        }
