"""Every configuration that rules allow, listed or counted without trying what cannot be allowed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from workbench.tune.space.axes import AnyAxis, Range
from workbench.tune.space.constraints import Configuration, Expression, TunedValue


def walk(
    axes: Mapping[str, AnyAxis],  # finite; a parameter comes after those its condition names
    constraints: Sequence[Expression],  # rules about other parameters are skipped
    conditions: Mapping[str, Expression],  # where a parameter applies; else its value is None
    *,
    most: float = math.inf,  # values tried before TooManyError
) -> Iterator[dict[str, TunedValue | None]]:
    """Yield every allowed configuration once, the last parameter changing fastest.

    A constraint is tested as soon as its last parameter has a value, so that no branch is walked in
    vain.
    """
    names = tuple(axes)
    due: list[list[Expression]] = [[] for _ in names]
    for rule in constraints:
        if all(name in axes for name in rule.names):
            due[max((names.index(name) for name in rule.names), default=0)].append(rule)
    values: dict[str, TunedValue | None] = {}
    steps = 0

    def descend(at: int) -> Iterator[dict[str, TunedValue | None]]:
        nonlocal steps
        if at == len(names):
            yield dict(values)
            return
        name = names[at]
        for value in _values(axes[name]) if _applies(name, conditions, values) else (None,):
            values[name] = value
            steps += 1
            if steps > most:
                raise TooManyError
            if all(rule.holds(values) for rule in due[at] if rule.applies(values)):
                yield from descend(at + 1)
        del values[name]

    return descend(0)


def count(
    axes: Mapping[str, AnyAxis],
    constraints: Sequence[Expression],
    conditions: Mapping[str, Expression],
    *,
    most: float,  # values tried before it is too many
) -> int | None:
    """Return the number of allowed configurations; None if continuous or too many."""
    # Only parameters in rules are walked through; the others multiply.
    sizes = {name: axis.size for name, axis in axes.items()}
    known = {name: size for name, size in sizes.items() if size is not None}
    if len(known) < len(sizes):
        return None
    names = _ruled(constraints, conditions)
    free = [name for name in axes if name not in names]
    always = math.prod(known[name] for name in free if name not in conditions)
    sometimes = [name for name in free if name in conditions]
    found = 0
    try:
        for values in walk(_among(names, axes), constraints, conditions, most=most):
            applying = (name for name in sometimes if _applies(name, conditions, values))
            found += math.prod(known[name] for name in applying)
    except TooManyError:
        return None
    return found * always


def ruled_values(
    axes: Mapping[str, AnyAxis],
    constraints: Sequence[Expression],
    conditions: Mapping[str, Expression],
    *,
    most: float,  # values tried before it is too many
) -> list[dict[str, TunedValue | None]]:
    """Return the allowed values of the parameters in rules; empty if they cannot be listed."""
    ruled = _among(_ruled(constraints, conditions), axes)
    if any(axis.size is None for axis in ruled.values()):
        return []
    try:
        return list(walk(ruled, constraints, conditions, most=most))
    except TooManyError:
        return []


def _ruled(constraints: Sequence[Expression], conditions: Mapping[str, Expression]) -> set[str]:
    return {name for rule in (*constraints, *conditions.values()) for name in rule.names}


def _among(names: set[str], axes: Mapping[str, AnyAxis]) -> dict[str, AnyAxis]:
    return {name: axis for name, axis in axes.items() if name in names}


class TooManyError(Exception):
    """A walk had to try more values than allowed."""


def _applies(name: str, conditions: Mapping[str, Expression], values: Configuration) -> bool:
    return name not in conditions or conditions[name].holds(values)


def _values(axis: AnyAxis) -> Sequence[TunedValue | None]:
    if isinstance(axis, Range):
        return range(int(axis.low), int(axis.high) + 1)
    return axis.values
