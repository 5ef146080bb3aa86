"""How far published times are from predictions by two nodes, and how often an interval holds.

A prediction's interval is for a system that nobody has measured, so its coverage is counted on
systems that are left out one after another.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from workbench.arrays import BoolArray, FloatArray
from workbench.predict.prediction_errors import PredictionErrors, Variant, shipped_evaluation

if TYPE_CHECKING:
    import pandas as pd

SystemKind = Literal[
    "one rank a node",
    "several ranks a node",
    "several ranks a node, one measured",
    "messages of another machine",
]
"""What decides how far predictions are off: above all, whose messages were measured.

With several ranks a node it is whether messages of several at once were: on Google's
c3-standard-176 the median |error| to 2 KiB is 22 % with them and 41 % without.
"""
_ONE_MEASURED: SystemKind = "several ranks a node, one measured"
_SEVERAL: tuple[SystemKind, ...] = ("several ranks a node", _ONE_MEASURED)

INTERVAL_SHARE = 0.9
"""Share of the times of a system that nobody measured which an interval is made to hold."""

INTERVAL_PERCENT = f"{100 * INTERVAL_SHARE:g} %"

# Both chosen on the shipped systems, each left out in turn, of weights 1, 2, 4, 8 and 16 and tails
# of 0.025, 0.035 and 0.05: these hold 90 % of the times with ends 4 to 6 apart for one rank a node.
_SAME_KIND = 4.0  # weight of a system of the same kind; equal weights need ends 6 to 9 apart
_TAIL = 0.035  # on each side; 0.05 holds 86 %


class PublishedSpread(NamedTuple):
    """How far published times of collectives were from predictions of one variant."""

    low: float  # of measured over predicted
    high: float
    held: float  # share of the times of the systems that are left out, each by the others
    sentence: str  # of what they are


def kind_of(ranks_per_node: int, own_messages: bool, crowd_measured: bool) -> SystemKind:
    """Return the kind of a prediction; own messages were measured on the same system."""
    if not own_messages:
        return "messages of another machine"
    if ranks_per_node == 1:
        return "one rank a node"
    return "several ranks a node" if crowd_measured else _ONE_MEASURED


def spread_coverage(errors: PredictionErrors, variant: Variant = "two nodes") -> pd.DataFrame:
    """Return for each system how many of its times lie in the interval that the others give.

    One row a system: its kind, the number of times, the ends of the interval as measured over
    predicted, and the share that it holds in percent.

    Args:
        errors: of ``evaluate_predictions``, of two systems or more.
        variant: what was known: ``two nodes``, ``algorithm``, ``surplus`` or ``surplus of two``.

    Raises:
        ParameterError: there is no such variant.
    """
    import pandas as pd

    tests = _tests(errors, variant)
    rows = []
    for system, (low, high) in _ends_of_others(errors, variant).items():
        mine = tests.system == system
        ratio = tests.ratio[mine]
        held = 100 * float(np.mean((ratio >= low) & (ratio <= high)))
        rows.append((system, str(tests.kind[mine][0]), len(ratio), low, high, held))
    columns = ["system", "kind", "tests", "low", "high", "held (%)"]
    return pd.DataFrame(rows, columns=columns)


def kept_aside(errors: PredictionErrors) -> pd.DataFrame:
    """Return how near predictions are on numbers of nodes from which nothing was learnt.

    One row a system and number of nodes, which is not the smallest of a collective: the median
    |error| in percent of what two nodes alone predict and of what a surplus of a round, learnt on
    the fewest nodes, makes of it, and how many times each variant's interval of the other systems
    holds. With the surplus of the two fewest they are of the tests on more nodes than these, and
    nan where there is none.

    Args:
        errors: of ``evaluate_predictions``.
    """
    import pandas as pd

    name = np.array([one.system for one in errors.cases])[errors.case]
    variants: tuple[Variant, ...] = ("two nodes", "surplus", "surplus of two")
    off = {one: 100 * np.abs(errors.errors_of(one)) for one in variants}
    held = {one: 100 * _held(errors, one, name) for one in variants}
    aside = np.isfinite(off["surplus"])
    rows = []
    for system in dict.fromkeys(name[aside].tolist()):
        for nodes in np.unique(errors.nodes[aside & (name == system)]).tolist():
            mine = aside & (name == system) & (errors.nodes == nodes)
            known = [mine & np.isfinite(off[one]) for one in variants]
            parts = list(zip(variants, known, strict=True))
            medians = [_or_nan(np.median, off[one][part]) for one, part in parts]
            shares = [_or_nan(np.mean, held[one][part]) for one, part in parts]
            rows.append((system, nodes, int(mine.sum()), *medians, *shares))
    columns = ["system", "nodes", "tests", *(f"{one} (%)" for one in variants)]
    return pd.DataFrame(rows, columns=[*columns, *(f"{one} held (%)" for one in variants)])


def _or_nan(average: Callable[[FloatArray], np.floating], values: FloatArray) -> float:
    return float(average(values)) if len(values) else float("nan")


def _held(errors: PredictionErrors, variant: Variant, name: np.ndarray) -> FloatArray:
    """Return whether each time lies in the interval of the other systems; nan where none is."""
    ends = _ends_of_others(errors, variant)
    low, high = np.array([ends.get(one, (np.nan, np.nan)) for one in name.tolist()]).T
    ratio = 1.0 / (1.0 + errors.errors_of(variant))
    known = np.isfinite(ratio) & np.isfinite(low)
    return np.where(known, ((ratio >= low) & (ratio <= high)).astype(np.float64), np.nan)


@lru_cache(maxsize=16)  # each kind and variant
def published_spread(kind: SystemKind, variant: Variant = "two nodes") -> PublishedSpread:
    """Return it for predictions of a kind, from all shipped systems."""
    errors = shipped_evaluation()
    tests = _tests(errors, variant, uncrowded=kind == _ONE_MEASURED)
    low, high = _ends(tests, np.ones(len(tests.ratio), np.bool_), kind)
    rows = spread_coverage(errors, variant)
    held, worst = _share(rows), int(rows["held (%)"].argmin())
    alike = _SEVERAL[0] if kind in _SEVERAL else kind
    of_alike = _share(rows[rows["kind"].isin(_alike(kind))])
    return PublishedSpread(
        low,
        high,
        held,
        f"published times are {low:.2g} to {high:.2g} times what {_PREDICTED[variant]} predict "
        f"({len(rows)} systems; those with {alike} count {_SAME_KIND:g} times). Made from the "
        f"other systems, such an interval, made to hold {INTERVAL_PERCENT}, "
        f"holds {100 * held:.0f} % of {rows['tests'].sum()} times, "
        f"{100 * of_alike:.0f} % of those with {alike}, and "
        f"{rows['held (%)'].iloc[worst]:.0f} % of {rows['system'].iloc[worst]}'s, the least",
    )


_PREDICTED: dict[Variant, str] = {
    "two nodes": "two nodes",
    "algorithm": "two nodes and the algorithms of the fewest nodes",
    "surplus": "two nodes and a surplus of the fewest nodes",
    "surplus of two": "two nodes and a surplus of the two fewest numbers of nodes",
}


def _alike(kind: str) -> tuple[str, ...]:
    """Return the kinds of systems that are like one; all with several ranks a node, for few are."""
    return _SEVERAL if kind in _SEVERAL else (kind,)


def _share(rows: pd.DataFrame) -> float:
    """Return the share of the times of some systems that the interval of the others holds."""
    return float(np.average(rows["held (%)"], weights=rows["tests"])) / 100


class _Tests(NamedTuple):
    """Tests that were predicted."""

    ratio: FloatArray  # measured over predicted
    system: np.ndarray  # names
    kind: np.ndarray  # names


def _tests(errors: PredictionErrors, variant: Variant, *, uncrowded: bool = False) -> _Tests:
    """Return the tests of a variant; uncrowded, those of systems with one measured rank a node too.

    So a system whose ranks were measured at once also shows how far off it is without that.
    """
    ratio = 1.0 / (1.0 + errors.errors_of(variant))
    without = uncrowded & (variant == "two nodes") & np.isfinite(errors.uncrowded)
    ratio = np.where(without, errors.measured / errors.uncrowded, ratio)
    known = np.isfinite(ratio)
    cases = [errors.cases[at] for at in errors.case[known].tolist()]
    measured = [one.crowd_measured for one in cases] & ~without[known]
    kinds = [
        kind_of(one.ranks_per_node, one.own_messages, bool(crowd))
        for one, crowd in zip(cases, measured, strict=True)
    ]
    return _Tests(ratio[known], np.array([one.system for one in cases]), np.array(kinds))


def _ends_of_others(errors: PredictionErrors, variant: Variant) -> dict[str, tuple[float, float]]:
    """Return for each system the ends of the interval that the others give; none for one alone."""
    found = {}
    tests, uncrowded = (_tests(errors, variant, uncrowded=one) for one in (False, True))
    for system in dict.fromkeys(tests.system.tolist()):
        mine = tests.system == system
        kind = str(tests.kind[mine][0])
        if not mine.all():
            found[system] = _ends(uncrowded if kind == _ONE_MEASURED else tests, ~mine, kind)
    return found


def _ends(tests: _Tests, used: BoolArray, kind: str) -> tuple[float, float]:
    """Return the ends of an interval: quantiles in which all systems of a kind weigh the same."""
    _, place, counts = np.unique(tests.system[used], return_inverse=True, return_counts=True)
    weight = np.where(np.isin(tests.kind[used], _alike(kind)), _SAME_KIND, 1.0) / counts[place]
    order = np.argsort(tests.ratio[used])
    share = np.cumsum(weight[order]) / weight.sum()
    ratio = tests.ratio[used][order]
    low, high = (ratio[int(np.searchsorted(share, tail))] for tail in (_TAIL, 1 - _TAIL))
    return float(low), float(high)
