"""The initial points of an experiment: the default configuration, and a spread over the space."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from workbench.checks import whole
from workbench.errors import ParameterError
from workbench.tune.rules_by_name import one_of
from workbench.tune.space.space import Choices, Grid, Range, TuningSpace, Value

InitialPoint = dict[str, Value | None]

_MOST_PAIRINGS = 50  # chosen: where one in twenty is allowed as a whole, all fail one time in 13
_MOST_DRAWS = 50  # chosen: where nine in ten are taken, all hit one of them 1 time in 200 (0.9**50)
_STARTS = 0x57A7  # "STA7": no other draws with the seed of a search follow the same stream


def uniform(space: TuningSpace, count: int, rng: np.random.Generator) -> tuple[InitialPoint, ...]:
    """Return configurations drawn evenly, distinct as far as a few draws allow."""
    return tuple(_others(space, count, rng, []))


def latin_hypercube(
    space: TuningSpace, count: int, rng: np.random.Generator
) -> tuple[InitialPoint, ...]:
    """Return configurations that share no value of a parameter (SHAMan, section 3.1).

    Each axis has ``count`` parts, each used once. Parts are paired anew where constraints forbid a
    point; points still forbidden are drawn evenly.
    """
    most = largest_latin_hypercube(space)
    if most is not None and count > most:
        raise ParameterError(
            f"a Latin hypercube must have at most as many points as the smallest axis has values, "
            f"{most}; got {count}; take hybrid",
            key="count",
        )
    best: list[InitialPoint] = []
    for _ in range(_MOST_PAIRINGS if count else 0):
        columns = {name: _stratified(axis, count, rng) for name, axis in space.axes.items()}
        drawn = [
            space.canonical({name: column[i] for name, column in columns.items()})
            for i in range(count)
        ]
        allowed = _different(space, [point for point in drawn if space.allows(point)])
        if len(allowed) > len(best):
            best = allowed
        if len(best) == count:
            break
    return tuple(_others(space, count, rng, best))


def hybrid(space: TuningSpace, count: int, rng: np.random.Generator) -> tuple[InitialPoint, ...]:
    """Return a Latin hypercube as large as the smallest axis allows, then even draws."""
    most = largest_latin_hypercube(space)
    spread = latin_hypercube(space, count if most is None else min(count, most), rng)
    return tuple(_others(space, count, rng, list(spread)))


STARTS: Mapping[str, Callable[[TuningSpace, int, np.random.Generator], tuple[InitialPoint, ...]]]
STARTS = MappingProxyType(
    {"hybrid": hybrid, "latin-hypercube": latin_hypercube, "uniform": uniform}
)
"""The functions that draw initial points, by name; ``hybrid``, the paper's, is first."""


def initial_points(
    space: TuningSpace,
    count: int = 10,
    how: str = "hybrid",
    *,
    default_first: bool = True,
    seed: int = 0,
) -> tuple[InitialPoint, ...]:
    """Return the initial points of an experiment.

    Args:
        space: what is searched.
        count: how many, the default among them.
        how: a name in ``STARTS``.
        default_first: whether the first is the default configuration, where the space has one; it
            need not be on the axes.
        seed: makes the points repeatable.

    Raises:
        ParameterError: there is no such start, the count is none, or the constraints leave
            nothing to try.
    """
    one_of(how, STARTS, "how")
    whole(count, "count", 0)
    rng = np.random.default_rng((seed, _STARTS))
    default = space.default if default_first and count else None
    if default is None:
        return STARTS[how](space, count, rng)
    rest = [p for p in STARTS[how](space, count - 1, rng) if space.key(p) != space.key(default)]
    return tuple(_others(space, count, rng, [default, *rest]))


def largest_latin_hypercube(space: TuningSpace) -> int | None:
    """Return the maximum size of a Latin hypercube; None if every axis is continuous."""
    return min((axis.size for axis in space.axes.values() if axis.size is not None), default=None)


def _stratified(
    axis: Grid | Range | Choices, count: int, rng: np.random.Generator
) -> Sequence[Value | None]:
    """Return one value from each of as many equal parts of an axis, in random order."""
    order = rng.permutation(count)
    if isinstance(axis, Range) and axis.size is None:
        return [axis.decode(np.array([(part + rng.random()) / count])) for part in order]
    if isinstance(axis, Range) and axis.log:
        return _whole_on_a_log_scale(axis, order, rng)
    size = axis.size or 0
    edges = [-(-part * size // count) for part in range(count + 1)]
    ranks = [int(rng.integers(edges[part], edges[part + 1])) for part in order]
    if isinstance(axis, Range):
        return [int(axis.low) + rank for rank in ranks]
    return [axis.values[rank] for rank in ranks]


def _whole_on_a_log_scale(
    axis: Range, order: NDArray[np.int64], rng: np.random.Generator
) -> Sequence[int]:
    """Return a distinct whole number from each part of a log scale, in the parts' ``order``."""
    count = len(order)
    drawn = [axis.decode(np.array([(part + rng.random()) / count])) for part in range(count)]
    found = [int(value) for value in drawn]
    # Near the lower bound a part can be narrower than a whole number: it has the next one.
    for part in range(1, count):
        found[part] = max(found[part], found[part - 1] + 1)
    for part in range(count):
        found[-1 - part] = min(found[-1 - part], int(axis.high) - part)
    return [found[part] for part in order]


def _others(
    space: TuningSpace, count: int, rng: np.random.Generator, points: list[InitialPoint]
) -> list[InitialPoint]:
    """Return points filled up to ``count``, with new ones as far as a few draws find them."""
    seen = {space.key(point) for point in points}
    while len(points) < count:
        drawn = space.sample(rng)
        for _ in range(_MOST_DRAWS):
            if space.key(drawn) not in seen:
                break
            drawn = space.sample(rng)
        seen.add(space.key(drawn))
        points.append(drawn)
    return points


def _different(space: TuningSpace, points: Sequence[InitialPoint]) -> list[InitialPoint]:
    return list({space.key(point): point for point in points}.values())
