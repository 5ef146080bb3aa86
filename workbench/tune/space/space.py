"""All configurations of an experiment: an axis for each parameter, and the rules between them.

    space = TuningSpace(
        {
            "algorithm": Choices((0, 1, 2, 3, 4, 5, 6)),
            "segment_bytes": Grid.steps(1024, 65536, 4, "multiplicative"),
        },
        conditions={"segment_bytes": "algorithm in [4, 5]"},
    )
    space.size      # 15: five without a segment, and two with five segments each

A configuration has a value for every parameter; a parameter that does not apply has None.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.errors import ParameterError
from workbench.html_table import code, html_table
from workbench.suggestions import did_you_mean
from workbench.tune.space.axes import (
    MOST_VALUES,
    AnyAxis,
    Choices,
    Grid,
    Range,
    axis_from_dict,
    axis_of,
)
from workbench.tune.space.constraints import Configuration, Expression, Value, parents_first
from workbench.tune.space.walk import count, ruled_values, walk

__all__ = [
    "AnyAxis",
    "Choices",
    "Configuration",
    "Expression",
    "Grid",
    "Range",
    "TuningSpace",
    "Value",
    "axis_of",
]

_MOST_COUNTED = 200_000  # values tried; takes 1.3 s with a rule of two parameters
_MOST_DRAWS = 2_000  # takes 0.07 s; where one in 500 is allowed, all fail one time in 55


@dataclass(frozen=True, repr=False)
class TuningSpace:
    """The configurations that an experiment may try.

    Attributes:
        axes: the axis of each parameter, by name. Parameters that others depend on are moved
            before these; else the order stays.
        constraints: rules such as ``a * b <= 64``. One that names a parameter which is not
            passed holds.
        conditions: a rule for each parameter that only applies where it is true, by name, such as
            ``algorithm in [4, 5]``. It is false where it names a parameter that is not passed.
        defaults: a value for each parameter as it is without tuning, by name; need not lie on
            the axes.

    Raises:
        ParameterError: there is no axis, a rule names a parameter that has none, or conditions
            go round in a circle.
    """

    axes: Mapping[str, AnyAxis]
    constraints: tuple[Expression, ...] = ()
    conditions: Mapping[str, Expression] = field(default_factory=dict)
    defaults: Configuration = field(default_factory=dict)

    def __init__(
        self,
        axes: Mapping[str, AnyAxis],
        constraints: Sequence[Expression | str] = (),
        conditions: Mapping[str, Expression | str] | None = None,
        defaults: Configuration | None = None,
    ) -> None:
        rules = {name: _rule(rule) for name, rule in (conditions or {}).items()}
        limits = tuple(_rule(rule) for rule in constraints)
        if not axes:
            raise ParameterError("a space must have at least one parameter; got none", key="axes")
        for name, axis in axes.items():
            if not isinstance(name, str) or not name:
                raise ParameterError(f"a parameter must have a name; got {name!r}", key="axes")
            if not isinstance(axis, Grid | Range | Choices):
                raise ParameterError(
                    f"{name} must have a Grid, a Range or Choices; got {axis!r}", key=name
                )
        _refuse_unknown(axes, limits, rules, defaults or {})
        for name in rules:
            if axes[name].contains(None):
                raise ParameterError(
                    f"{name} applies only where {rules[name].text}, so it is not passed elsewhere; "
                    "it must not have None among its values as well",
                    key=name,
                )
        order = parents_first(axes, rules)
        for attribute, value in (
            ("axes", MappingProxyType({name: axes[name] for name in order})),
            ("constraints", limits),
            (
                "conditions",
                MappingProxyType({name: rules[name] for name in order if name in rules}),
            ),
            ("defaults", MappingProxyType(dict(defaults or {}))),
        ):
            object.__setattr__(self, attribute, value)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the parameters, in the order of the axes."""
        return tuple(self.axes)

    def __len__(self) -> int:
        return len(self.axes)

    @property
    def dimension(self) -> int:
        """Number of columns of ``encode``: one a number, one a choice of a categorical."""
        return sum(axis.width for axis in self.axes.values())

    @property
    def finite(self) -> bool:
        """Whether every axis has a countable number of values."""
        return all(axis.size is not None for axis in self.axes.values())

    @cached_property
    def size(self) -> int | None:
        """Number of configurations; None where they are continuous or too many to count."""
        return count(self.axes, self.constraints, self.conditions, most=_MOST_COUNTED)

    @property
    def default(self) -> dict[str, Value | None] | None:
        """The configuration without tuning, None where a parameter has no default.

        It need not lie on the grid: it is what a run is compared with.
        """
        if any(name not in self.defaults for name in self.names):
            return None
        return self.canonical(self.defaults)

    def active(self, name: str, configuration: Configuration) -> bool:
        """Return whether a parameter applies, by its condition.

        Args:
            name: name of the parameter.
            configuration: values of the parameters it depends on, at least.
        """
        rule = self.conditions.get(name)
        return rule is None or rule.holds(configuration)

    def canonical(self, configuration: Configuration) -> dict[str, Value | None]:
        """Return a configuration in the order of the axes, None where a parameter does not apply.

        Args:
            configuration: a value for each parameter that applies; values need not be on the axes.

        Raises:
            ParameterError: a parameter is unknown, or one that applies has no value.
        """
        for name in configuration:
            if name not in self.axes:
                raise ParameterError(
                    f"{name} is not a parameter of this space{did_you_mean(name, self.names)}; "
                    f"known: {', '.join(self.names)}",
                    key=str(name),
                )
        found: dict[str, Value | None] = {}
        for name, axis in self.axes.items():
            if not self.active(name, found):
                found[name] = None
            elif name in configuration:
                found[name] = axis.coerce(configuration[name])
            else:
                raise ParameterError(
                    f"a configuration must have a value of {name}; got only "
                    f"{', '.join(configuration) or 'none'}",
                    key=name,
                )
        return found

    def key(self, configuration: Configuration) -> tuple[Value | None, ...]:
        """Return the canonical values in the order of the axes: equal means the same run.

        Args:
            configuration: a value for each parameter that applies.

        Raises:
            ParameterError: a parameter is unknown, or one that applies has no value.
        """
        return tuple(self.canonical(configuration).values())

    def contains(self, configuration: Configuration) -> bool:
        """Return whether every value is on its axis and every constraint holds.

        Args:
            configuration: a value for each parameter; those that do not apply may be missing.
        """
        try:
            found = self.canonical(configuration)
        except ParameterError:
            return False
        return all(
            axis.contains(found[name]) if self.active(name, found) else True
            for name, axis in self.axes.items()
        ) and self.allows(found)

    def allows(self, configuration: Configuration) -> bool:
        """Return whether every constraint holds.

        Args:
            configuration: a value for each parameter.
        """
        return all(
            rule.holds(configuration) for rule in self.constraints if rule.applies(configuration)
        )

    def encode(self, configuration: Configuration) -> NDArray[np.float64]:
        """Return the place of a configuration in the unit cube, float64[dimension].

        Numbers are coded by rank or position, choices by one column each; a parameter that does
        not apply has 0.5, or 0 in all its columns.

        Args:
            configuration: a value for each parameter that applies; values beside the axes count
                as the nearest.

        Raises:
            ParameterError: a parameter is unknown, or one that applies has no value.
        """
        found = self.canonical(configuration)
        codes = (axis.encode(found[name]) for name, axis in self.axes.items())
        return np.fromiter(itertools.chain.from_iterable(codes), np.float64, self.dimension)

    def decode(self, code: NDArray[np.float64]) -> dict[str, Value | None]:
        """Return the configuration nearest to a place in the unit cube, axis by axis.

        It is on every axis; whether the constraints hold is asked with ``allows``.

        Args:
            code: float64[dimension]; numbers beyond 0 and 1 count as the nearer of them.
        """
        values: dict[str, Value | None] = {}
        at = 0
        for name, axis in self.axes.items():
            values[name] = axis.decode(code[at : at + axis.width])
            at += axis.width
        return self.canonical(values)

    def neighbours(self, configuration: Configuration) -> tuple[dict[str, Value | None], ...]:
        """Return the configurations one step of one parameter away, those that are allowed.

        A parameter that comes to apply by the step begins with its default where that is on its
        axis, else with its first value.

        Args:
            configuration: where to start.

        Raises:
            ParameterError: a parameter is unknown, or one that applies has no value.
        """
        here = self.canonical(configuration)
        start = {name: self._begin(name) for name in self.names}
        passed = {name: value for name, value in here.items() if self.active(name, here)}
        found: dict[tuple[Value | None, ...], dict[str, Value | None]] = {}
        for name, axis in self.axes.items():
            if name not in passed:
                continue
            for value in axis.neighbours(passed[name]):
                moved = self.canonical({**start, **passed, name: value})
                if self.contains(moved):
                    found.setdefault(tuple(moved.values()), moved)
        return tuple(found.values())

    def sample(self, rng: np.random.Generator | int | None = None) -> dict[str, Value | None]:
        """Return an allowed configuration, each axis drawn evenly over its values.

        Args:
            rng: source of randomness, or its seed.

        Raises:
            ParameterError: no configuration is allowed, or so few that none was met.
        """
        generator = np.random.default_rng(rng)
        for _ in range(_MOST_DRAWS):
            drawn = self.canonical({n: axis.sample(generator) for n, axis in self.axes.items()})
            if self.allows(drawn):
                return drawn
        allowed = ruled_values(self.axes, self.constraints, self.conditions, most=_MOST_COUNTED)
        if allowed:
            chosen = allowed[int(generator.integers(len(allowed)))]
            return self.canonical(drawn | chosen)
        raise ParameterError(
            f"the constraints must leave something to try; none of {_MOST_DRAWS} drawn "
            f"configurations meets {'; '.join(rule.text for rule in self.constraints)}",
            key="constraints",
        )

    def all(self) -> Iterator[dict[str, Value | None]]:
        """Yield every allowed configuration once, the last parameter changing fastest.

        Raises:
            ParameterError: an axis is continuous, or has more than ``MOST_VALUES`` values.
        """
        for name, axis in self.axes.items():
            if axis.size is None or axis.size > MOST_VALUES:
                raise ParameterError(
                    f"every parameter must have at most {MOST_VALUES} values to try all; {name} "
                    f"has {axis}; give it a Grid",
                    key=name,
                )
        return walk(self.axes, self.constraints, self.conditions)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold; ``from_dict`` reads them back."""
        return {
            "axes": {name: axis.to_dict() for name, axis in self.axes.items()},
            "constraints": [rule.text for rule in self.constraints],
            "conditions": {name: rule.text for name, rule in self.conditions.items()},
            "defaults": dict(self.defaults),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> TuningSpace:
        """Return the space that ``to_dict`` wrote.

        Args:
            values: what ``to_dict`` returned.

        Raises:
            ParameterError: it is no such thing.
        """
        try:
            axes = {name: axis_from_dict(axis) for name, axis in values["axes"].items()}
            rest = values["constraints"], values["conditions"], values["defaults"]
        except (KeyError, TypeError, AttributeError) as error:
            raise ParameterError(
                f"a space must be as to_dict writes it; {type(error).__name__}: {error}"
            ) from error
        return cls(axes, *rest)

    def __repr__(self) -> str:
        axes = "; ".join(f"{name}: {axis}" for name, axis in self.axes.items())
        count = "" if self.size is None else f", {self.size} configurations"
        return f"TuningSpace({axes}{count})"

    def _repr_html_(self) -> str:
        rows = (
            (code(name), str(axis), str(axis.size or "continuous"), self._rule_text(name))
            for name, axis in self.axes.items()
        )
        return html_table(rows, ("parameter", "values", "count", "applies where"), align="llrl")

    def _rule_text(self, name: str) -> str:
        return self.conditions[name].text if name in self.conditions else "always"

    def _begin(self, name: str) -> Value | None:
        default = self.defaults.get(name)
        axis = self.axes[name]
        return axis.coerce(default) if axis.contains(default) else axis.first()


def _rule(rule: Expression | str) -> Expression:
    return rule if isinstance(rule, Expression) else Expression(rule)


def _refuse_unknown(
    axes: Mapping[str, AnyAxis],
    constraints: Sequence[Expression],
    conditions: Mapping[str, Expression],
    defaults: Configuration,
) -> None:
    known = ", ".join(axes)
    for rule in (*constraints, *conditions.values()):
        for name in rule.names:
            if name not in axes:
                raise ParameterError(
                    f"the rule {rule.text} must name parameters of the space; {name} is not one"
                    f"{did_you_mean(name, axes)}; known: {known}",
                    key=name,
                )
    for what, names in (("a condition", conditions), ("a default", defaults)):
        for name in names:
            if name not in axes:
                raise ParameterError(
                    f"{what} must belong to a parameter of the space; {name} is not one"
                    f"{did_you_mean(name, axes)}; known: {known}",
                    key=str(name),
                )
