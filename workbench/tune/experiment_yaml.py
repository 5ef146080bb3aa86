"""SHAMan's configuration of an experiment, read into this project's names.

    experiment: {default_first: true}
    bbo:
      heuristic: surrogate_model
      regression_model: sklearn.gaussian_process.GaussianProcessRegressor
      next_parameter_strategy: bbo.heuristics.surrogate_models.next_parameter_strategies.expected_improvement
      initial_sample_size: 10
    noise_reduction: {resampling_policy: dynamic_resampling, percentage: 0.1}
    pruning: {max_step_duration: default}
    components:
      dd:
        bs: {min: 1, max: 64, step: 2, step_type: multiplicative}
        count: [5, 10, 20]

Where SHAMan imports ``bbo.…``, ``sklearn.…`` and ``numpy.…``, the names are looked up in tables here:
nothing that a file says is ever imported or evaluated.
"""  # noqa: E501

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from workbench.errors import ParameterError, ParseError
from workbench.suggestions import did_you_mean
from workbench.tune.component.component import Component
from workbench.tune.component.component_yaml import AXIS_KEYS, parse_axis
from workbench.tune.shaman_names import (
    ESTIMATORS,
    HEURISTICS,
    MODELS,
    OPTIONS,
    PRUNING_ESTIMATORS,
    RESAMPLING,
    STARTS,
    STOPPING,
    STRATEGIES,
    UNITS_DIFFER,
    WORDS,
)
from workbench.tune.space.axes import AnyAxis
from workbench.tune.space.constraints import TunedValue
from workbench.tune.space.space import TuningSpace
from workbench.yaml_text import Keys, YamlDocument, load_yaml


@dataclass(frozen=True)
class MethodSettings:
    """A heuristic or rule, and the options that the file states, by their names here."""

    name: str
    options: Mapping[str, TunedValue | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "options", MappingProxyType(dict(self.options)))


@dataclass(frozen=True)
class ExperimentSettings:
    """The settings of an experiment in a configuration of SHAMan's.

    Attributes:
        axes: the values to try of each parameter, by component and parameter.
        default_first: whether the default configuration runs first.
        heuristic: what proposes configurations; None where the file names none.
        initial: number of configurations before the heuristic begins.
        start: how these are drawn: ``hybrid``, ``latin-hypercube`` or ``uniform``.
        budget: number of runs, repeats among them, after the initial ones and the default run;
            None where the file sets no ``max_iteration``.
        time_s: seconds after which no further run begins, None for no limit.
        reevaluate: whether a configuration that has run may be proposed again.
        max_retry: how often a heuristic is asked again for a new one, else.
        resampling: the rule by which a configuration runs again; None for never.
        aggregation: ``mean``, ``median`` or ``min`` of a configuration's runs; None where the
            file names none.
        stopping: the rule that ends the search before the budget does; None for none.
        pruning: the rule that ends a run; None for none.
        source: name of the file.
        notes: statements of the file that have no meaning here.
    """

    axes: Mapping[str, Mapping[str, AnyAxis | list[Any]]]
    default_first: bool = True
    heuristic: MethodSettings | None = None
    initial: int = 10
    start: str = "hybrid"
    budget: int | None = None
    time_s: float | None = None
    reevaluate: bool = True
    max_retry: int = 5
    resampling: MethodSettings | None = None
    aggregation: str | None = None
    stopping: MethodSettings | None = None
    pruning: MethodSettings | None = None
    source: str = ""
    notes: tuple[str, ...] = ()

    def space(self, component: Component) -> TuningSpace:
        """Return the configurations of a component that the file asks to try.

        Args:
            component: the component to tune.

        Raises:
            ParameterError: the file says nothing of it, or what it says does not fit it.
        """
        if component.name not in self.axes:
            raise ParameterError(
                f"{self.source or 'the configuration'} must give values to try of "
                f"{component.name}; "
                f"it names {', '.join(self.axes) or 'no component'}",
                key="components",
            )
        return component.space(self.axes[component.name])


_SECTIONS = ("experiment", "bbo", "noise_reduction", "pruning", "components")
_GENERAL = (
    "heuristic",
    "time_out",
    "max_iteration",
    "stop_criterion",
    "initial_sample_size",
    "initial_draw_method",
    "reevaluate",
    "max_retry",
    "resampling_policy",
    "fitness_aggregation",
    "estimator",
)
_MOST_RESAMPLES = 100  # where a file does not say how many
_SCHEDULES = ("resampling_schedule", "allow_resampling_schedule")
_WITHOUT_MEANING = ("async_optim", "perf_function", "max_step_cost")


def read_experiment(source: str | Path | bytes) -> ExperimentSettings:
    """Return the settings of an experiment from a configuration of SHAMan's.

    Args:
        source: a path, or the text itself where it has more than one line or is bytes.

    Raises:
        ParseError: it is no such configuration; the message names file, line, key and rule.
        OSError: the file cannot be read.
    """
    document = load_yaml(source, "a configuration of an experiment")
    return _Reader(document).settings()


class _Reader:
    """Takes a configuration apart, section by section."""

    def __init__(self, document: YamlDocument) -> None:
        self.document = document
        self.notes: list[str] = []
        self.given: dict[str, Any] = {}
        self.paths: dict[str, Keys] = {}
        self.used: set[str] = set(_GENERAL)

    def settings(self) -> ExperimentSettings:
        document = self.document
        if "api" in document.values:
            self.notes.append("api is not used; there is no server")
        document.known((), document.values, (*_SECTIONS, "api"), "a configuration")
        experiment = self._section("experiment")
        document.known(("experiment",), experiment, ("default_first",), "experiment")
        default_first = self.document.truth(
            ("experiment", "default_first"), experiment.get("default_first", True)
        )
        for section in ("bbo", "noise_reduction"):
            for key, value in self._section(section).items():
                self.given[key] = value
                self.paths[key] = (section, key)
        self._refuse_unknown()
        initial = self._whole_number("initial_sample_size", 10, least=0)
        settings = ExperimentSettings(
            axes=self._axes(),
            default_first=default_first,
            heuristic=self._heuristic(),
            initial=initial,
            start=self._word("initial_draw_method", STARTS, "hybrid_lhs_uniform_sampling"),
            budget=self._whole_number("max_iteration", 0, least=1) or None,
            time_s=self._seconds("time_out"),
            reevaluate=self._boolean("reevaluate", True),
            max_retry=self._whole_number("max_retry", 5, least=0),
            resampling=self._resampling(),
            aggregation=self._aggregation(),
            stopping=self._method("stop_criterion", STOPPING),
            pruning=self._pruning(default_first),
            source=document.source,
        )
        self.notes += [
            f"{key} is not used by the methods that are chosen"
            for key in self.given
            if key not in {*self.used, *_WITHOUT_MEANING, *UNITS_DIFFER}
        ]
        self.notes += [
            f"{key} has no meaning here" for key in self.given if key in _WITHOUT_MEANING
        ]
        self.notes += [
            f"{key} is left to its default; {reason}"
            for key, reason in UNITS_DIFFER.items()
            if key in self.given
        ]
        return replace(settings, notes=tuple(self.notes))

    def _section(self, name: str) -> dict[str, Any]:
        return self.document.mapping((name,), self.document.values.get(name))

    def _refuse_unknown(self) -> None:
        known = {*_GENERAL, *_WITHOUT_MEANING, *UNITS_DIFFER, "regression_model"}
        for options in OPTIONS.values():
            known |= options.keys()
        for key in self.given:
            section = str(self.paths[key][0])
            self.document.known((section,), (key,), sorted(known), section)

    def _heuristic(self) -> MethodSettings | None:
        if self.given.get("heuristic") is None:
            self.notes.append("the file names no heuristic")
            return None
        name = self._word("heuristic", HEURISTICS)
        if name == "surrogate-gp" and "regression_model" in self.given:
            name = self._word("regression_model", MODELS)
            self.used.add("regression_model")
        strategy = self.given.get("next_parameter_strategy")
        if strategy in (f"{STRATEGIES}l_bfgs_b_minimizer", f"{STRATEGIES}cma_optimizer"):
            self.notes.append(
                "next_parameter_strategy minimises the model's mean, which never explores; "
                "expected improvement is used instead"
            )
            self.given["next_parameter_strategy"] = f"{STRATEGIES}expected_improvement"
        options = self._options(name)
        if name == "annealing":
            # Without this key SHAMan never restarts.
            options.setdefault("restart", "none")
        return MethodSettings(name, options)

    def _method(self, key: str, names: Mapping[str, str]) -> MethodSettings | None:
        if not self.given.get(key):
            return None
        name = self._word(key, names)
        return MethodSettings(name, self._options(name))

    def _resampling(self) -> MethodSettings | None:
        method = self._method("resampling_policy", RESAMPLING)
        schedules = [key for key in _SCHEDULES if self.given.get(key)]
        if method is None or method.name == "static":
            return method
        most: dict[str, TunedValue | None] = {"most": _MOST_RESAMPLES}
        if not schedules:
            return MethodSettings(method.name, {**most, **method.options})
        # One rule here where SHAMan has two, each with or without schedules.
        options = {"schedule": "constant", "promising": None} | most | self._options("improved")
        return MethodSettings("improved", options | {"median": method.name == "nonparametric"})

    def _options(self, name: str) -> dict[str, TunedValue | None]:
        found: dict[str, TunedValue | None] = {}
        for key, ours in OPTIONS[name].items():
            self.used.add(key)
            value = self.given.get(key)
            # False is SHAMan's own word for no restart and no schedule.
            if value is None or (key in WORDS and value is False):
                continue
            plain = self._word(key, WORDS[key]) if key in WORDS else self._plain(key)
            if ours:
                found[ours] = plain
        return found

    def _aggregation(self) -> str | None:
        chosen = self.given.get("fitness_aggregation")
        if not chosen:
            return None
        self._word("fitness_aggregation", {"simple_fitness_aggregation": "simple"})
        if self.given.get("estimator") is None:
            raise self._error(
                "fitness_aggregation", "needs an estimator; add estimator: numpy.median"
            )
        return self._word("estimator", ESTIMATORS)

    def _pruning(self, default_first: bool) -> MethodSettings | None:
        section = self._section("pruning")
        path: Keys = ("pruning", "max_step_duration")
        self.document.known(("pruning",), section, ("max_step_duration",), "pruning")
        value = section.get("max_step_duration")
        if value is None:
            return None
        if value == "default":
            if not default_first:
                raise self.document.error(
                    path, "default needs the default run; set default_first: true"
                )
            return MethodSettings("default")
        if isinstance(value, str) and value in PRUNING_ESTIMATORS:
            return MethodSettings("estimator", {"estimator": PRUNING_ESTIMATORS[value]})
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < math.inf:
            return MethodSettings("fixed", {"seconds": float(value)})
        raise self.document.error(
            path,
            f"must be seconds above 0, default, or one of {', '.join(PRUNING_ESTIMATORS)}; "
            f"got {value!r}"
            f"{did_you_mean(value, PRUNING_ESTIMATORS)}",
        )

    def _axes(self) -> dict[str, dict[str, AnyAxis | list[Any]]]:
        found: dict[str, dict[str, AnyAxis | list[Any]]] = {}
        for name, parameters in self._section("components").items():
            axes: dict[str, AnyAxis | list[Any]] = {}
            for parameter, value in self.document.mapping(("components", name), parameters).items():
                path: Keys = ("components", name, parameter)
                if isinstance(value, list):
                    given: Mapping[str, Any] = {"values": value}
                else:
                    given = self.document.mapping(path, value)
                    self.document.known(path, given, AXIS_KEYS, "a parameter's values")
                axis = parse_axis(self.document, path, given)
                if axis is None:
                    raise self.document.error(
                        path, "must give its values; add min, max and step, or a list"
                    )
                axes[parameter] = axis
            found[name] = axes
        return found

    def _word(self, key: str, names: Mapping[str, str], default: str = "") -> str:
        value = self.given.get(key, default)
        if not isinstance(value, str) or value not in names:
            raise self._error(
                key, f"must be one of {', '.join(names)}; got {value!r}{did_you_mean(value, names)}"
            )
        return names[value]

    def _plain(self, key: str) -> TunedValue:
        value = self.given[key]
        for kind in (int, float):
            value = _converted(value, kind)
        if isinstance(value, str) or not isinstance(value, bool | int | float):
            raise self._error(key, f"must be a number, true or false; got {value!r}")
        if not math.isfinite(value):
            raise self._error(key, f"must be a finite number; got {value!r}")
        return value

    def _boolean(self, key: str, default: bool) -> bool:
        return self.document.truth(self._path(key), self.given.get(key, default))

    def _whole_number(self, key: str, default: int, *, least: int) -> int:
        if self.given.get(key) is None:
            return default
        value = self._plain(key)
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise self._error(key, f"must be a whole number from {least}; got {value!r}")
        return value

    def _seconds(self, key: str) -> float | None:
        if self.given.get(key) is None:
            return None
        value = self._plain(key)
        if isinstance(value, bool | str) or value <= 0:
            raise self._error(key, f"must be seconds above 0; got {value!r}")
        return float(value)

    def _path(self, key: str) -> Keys:
        return self.paths.get(key, (key,))

    def _error(self, key: str, message: str) -> ParseError:
        return self.document.error(self._path(key), message)


def _converted(value: Any, kind: Callable[[str], int | float]) -> Any:
    """Return the number that a text is; SHAMan reads numbers in quotes as numbers, too."""
    if not isinstance(value, str) or len(value) > 40:
        return value
    try:
        return kind(value)
    except ValueError:
        return value
