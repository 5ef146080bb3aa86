"""The linear program as the paper prints it, and its paths: for programs that a reader can follow.

Equation 6 of Shen et al., LLAMP, is the text of ``LatencyLP(*running_example())``, figure 15 that
of the same with a rendezvous, and equation 2 the maximum over its paths.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workbench.errors import ParameterError
from workbench.suggestions import did_you_mean
from workbench.tolerance.lp_result import US_PER_S
from workbench.tolerance.lp_variables import BYTES_PER_KB

if TYPE_CHECKING:
    from workbench.tolerance.lp import LatencyLP

_MOST_PATHS = 200  # chosen: a few screens to read; LLAMP's running example has 3


@dataclass(frozen=True)
class PathLine:
    """A path through a program: t is at least ``latencies`` times ℓ and ``constant_us``.

    Attributes:
        latencies: number of latencies on the path.
        constant_us: everything else on it, µs.
        constraints: the numbers of its constraints in ``LatencyLP.to_text``, first to last.
    """

    latencies: int
    constant_us: float
    constraints: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class _Constraint:
    """``head >= tail + terms + constant``; columns as numbers of y, 0 for t, -1 for none."""

    head: int
    tail: int
    terms: dict[str, float]  # by variable; g in bytes
    constant_us: float


def text_of(lp: LatencyLP, T: float | None, variables: Sequence[str] | None, most_rows: int) -> str:
    """Return the text; ``LatencyLP.to_text`` has the arguments."""
    charged = lp.message_variables
    latencies = charged.latency_names
    known = (*latencies, *charged.gap_names, "o")
    shown = latencies if variables is None else tuple(variables)
    for name in shown:
        if name not in known:
            raise ParameterError(
                f"the linear program has no variable {name!r}{did_you_mean(name, known)}",
                key="variables",
            )
    if T is not None and len(latencies) > 1:
        raise ParameterError(
            "there must be one latency to maximise; this linear program has several", key="T"
        )
    rows = constraints(lp, shown)
    width = len(f"({min(len(rows), most_rows)}) ")
    lines = [
        f"{f'({number})':<{width}}{_text(row, shown)}"
        for number, row in enumerate(rows[:most_rows], 1)
    ]
    if len(rows) > most_rows:
        lines.append(f"... and {len(rows) - most_rows:,} more constraints")
    _, bounds = _values(lp)
    if T is None:
        objective = "min t"
        lines += [f"{' ' * width}{_letter(name)} ≥ {bounds[name]:.9g}" for name in shown]
    else:
        objective = f"max {_letter(latencies[0])}"
        lines.append(f"{' ' * width}t ≤ {T * US_PER_S:.9g}")
    unit = "times in µs" + (", gaps in µs/B" if set(shown) & set(charged.gap_names) else "")
    return "\n".join([f"{objective}        [{unit}]", "s.t.", *lines])


def paths_of(lp: LatencyLP) -> list[PathLine]:
    """Return every path through the rows of a small program, or refuse a larger one."""
    if len(lp.message_variables.latency_names) > 1:
        raise ParameterError(
            "paths are lines over one latency; this linear program has several", key="lp"
        )
    name = lp.message_variables.latency_names[0]
    to: dict[int, list[PathLine]] = {-1: [PathLine(0, 0.0, ())]}
    for number, row in enumerate(constraints(lp, (name,)), 1):
        found = to.setdefault(row.head, [])
        found += [
            PathLine(
                path.latencies + round(row.terms.get(name, 0.0)),
                path.constant_us + row.constant_us,
                (*path.constraints, number),
            )
            for path in to[row.tail]
        ]
        if len(found) > _MOST_PATHS:
            raise ParameterError(
                f"paths are listed for programs with at most {_MOST_PATHS} of them; this one has "
                "more: take fewer ranks or iterations, or analyse it",
                key="lp",
            )
    return to.get(0, [])


def constraints(lp: LatencyLP, shown: Sequence[str]) -> list[_Constraint]:
    """Return the rows so that each y is bounded before it is used; others than shown are values."""
    system, bounds = _values(lp)
    matrix = lp.matrix
    names = list(bounds)
    number = _numbers(lp)
    found = []
    for row, (first, last) in enumerate(pairwise(matrix.start.tolist())):
        head, tail = int(lp.rows.head[row]), int(lp.rows.tail[row])
        terms: dict[str, float] = {}
        constant = float(system[row])
        for column, value in zip(
            matrix.index[first:last].tolist(), matrix.value[first:last].tolist(), strict=True
        ):
            if column < matrix.first_latency:
                continue
            name = names[column - matrix.first_latency]
            gap = matrix.first_gap <= column < matrix.o
            factor = -value * BYTES_PER_KB if gap else -value
            if name in shown:
                terms[name] = factor
            else:
                constant += factor * bounds[name]
        found.append(
            _Constraint(int(number[head]), int(number[tail]) if tail >= 0 else -1, terms, constant)
        )
    return sorted(found, key=lambda one: one.head or len(number))


def _values(lp: LatencyLP) -> tuple[NDArray[np.float64], dict[str, float]]:
    """Return the rows' constants in µs, and the variables' values in µs and µs/B by name."""
    _, system = lp.problem()
    charged = lp.message_variables
    names = (*charged.latency_names, *charged.gap_names, "o")
    bounds = {
        name: float(system.variables[column].lowBound or 0.0)
        for column, name in enumerate(names, lp.matrix.first_latency)
    }
    for name in charged.gap_names:
        bounds[name] /= BYTES_PER_KB
    return system.lower, bounds


def _numbers(lp: LatencyLP) -> NDArray[np.int64]:
    """Return a number for each column: 0 for t, the others from 1 in an order of dependence."""
    rows = lp.rows
    after: dict[int, list[int]] = {}
    waits = np.zeros(rows.num_columns, np.int64)
    for head, tail in zip(rows.head.tolist(), rows.tail.tolist(), strict=True):
        if tail >= 0:
            after.setdefault(tail, []).append(head)
            waits[head] += 1
    number = np.zeros(rows.num_columns, np.int64)
    ready = [column for column in range(1, rows.num_columns) if not waits[column]]
    for place, column in enumerate(ready, 1):
        number[column] = place
        for head in after.get(column, ()):
            waits[head] -= 1
            if head and not waits[head]:
                ready.append(head)
    return number


def _text(row: _Constraint, names: Sequence[str]) -> str:
    parts = [f"y{row.tail}"] if row.tail > 0 else []
    parts += [
        f"{'' if row.terms[name] == 1 else f'{row.terms[name]:.9g} '}{_letter(name)}"
        for name in names
        if name in row.terms
    ]
    if row.constant_us or not parts:
        parts.append(f"{row.constant_us:.9g}")
    return f"{f'y{row.head}' if row.head else 't'} ≥ {' + '.join(parts)}"


def _letter(name: str) -> str:
    return f"ℓ{name[1:]}" if name.startswith("l") else name
