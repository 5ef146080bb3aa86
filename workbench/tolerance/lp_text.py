"""The linear program as the paper prints it, and its paths: for programs that a reader can follow.

Equation 6 of Shen et al., LLAMP, is the text of ``LatencyLP(*running_example())``, figure 15 that
of the same with a rendezvous, and equation 2 the maximum over its paths.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import TYPE_CHECKING

import numpy as np

from workbench.arrays import IntArray
from workbench.errors import ParameterError
from workbench.suggestions import did_you_mean
from workbench.tolerance.lp_rows import BYTES_PER_KB, US_PER_S

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
    terms: list[float]  # by variable that is shown; g in bytes
    constant_us: float


def paths_of(lp: LatencyLP) -> list[PathLine]:
    """Return every path through the rows of a small program, or refuse a larger one."""
    names = tuple(lp.message_variables.latency_s)
    if len(names) > 1:
        raise ParameterError(
            "paths are lines over one latency; this linear program has several", key="lp"
        )
    to: dict[int, list[PathLine]] = {-1: [PathLine(0, 0.0, ())]}
    for number, row in enumerate(_constraints(lp, names), 1):
        found = to.setdefault(row.head, [])
        found += [
            PathLine(
                path.latencies + round(row.terms[0]),
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


def text_of(lp: LatencyLP, T: float | None, variables: Sequence[str] | None, most_rows: int) -> str:
    """Return the text; ``LatencyLP.to_text`` has the arguments."""
    charged = lp.message_variables
    latencies = tuple(charged.latency_s)
    shown = latencies if variables is None else tuple(variables)
    for name in shown:
        if name not in charged.names:
            raise ParameterError(
                f"the linear program has no variable {name!r}{did_you_mean(name, charged.names)}",
                key="variables",
            )
    if T is not None and len(latencies) > 1:
        raise ParameterError(
            "there must be one latency to maximise; this linear program has several", key="T"
        )
    rows = _constraints(lp, shown, most_rows)
    width = len(f"({len(rows)}) ")
    lines = [f"{f'({number})':<{width}}{_text(row, shown)}" for number, row in enumerate(rows, 1)]
    if lp.num_rows > most_rows:
        lines.append(f"... and {lp.num_rows - most_rows:,} more constraints")
    if T is None:
        objective = "min t"
        system = lp.system()
        bounds = dict(zip(system.names, system.least[-len(system.names) :], strict=True))
        lines += [
            f"{' ' * width}{_letter(name)} ≥ {bounds[name] / _unit(lp, name):.9g}" for name in shown
        ]
    else:
        objective = f"max {_letter(latencies[0])}"
        lines.append(f"{' ' * width}t ≤ {T * US_PER_S:.9g}")
    unit = "times in µs" + (", gaps in µs/B" if set(shown) & set(charged.gap_s) else "")
    return "\n".join([f"{objective}        [{unit}]", "s.t.", *lines])


def _constraints(lp: LatencyLP, shown: Sequence[str], most: int | None = None) -> list[_Constraint]:
    """Return the rows so that each y is bounded before it is used; others than shown are values."""
    system, rows, number = lp.system(), lp.rows, _numbers(lp)
    head, tail = number[rows.head], np.where(rows.tail < 0, -1, number[rows.tail])
    order = np.argsort(np.where(head == 0, len(number), head), kind="stable")[:most]
    charges = -system.matrix[order][:, rows.num_columns :]
    places = [system.names.index(name) for name in shown]
    values = system.least[rows.num_columns :].copy()
    values[places] = 0.0
    constant_us = system.lower[order] + charges @ values
    terms = charges[:, places].toarray() * [_unit(lp, name) for name in shown]
    columns = (head[order], tail[order], terms, constant_us)
    return [_Constraint(*row) for row in zip(*map(np.ndarray.tolist, columns), strict=True)]


def _numbers(lp: LatencyLP) -> IntArray:
    """Return a number for each column: 0 for t, the others from 1 in an order of dependence."""
    rows = lp.rows
    graph = TopologicalSorter[int](dict.fromkeys(range(1, rows.num_columns), ()))
    for head, tail in zip(rows.head.tolist(), rows.tail.tolist(), strict=True):
        if head > 0 and tail >= 0:
            graph.add(head, tail)
    number = np.zeros(rows.num_columns, np.int64)
    number[list(graph.static_order())] = np.arange(1, rows.num_columns)
    return number


def _text(row: _Constraint, names: Sequence[str]) -> str:
    parts = [f"y{row.tail}"] if row.tail > 0 else []
    parts += [
        f"{'' if term == 1 else f'{term:.9g} '}{_letter(name)}"
        for name, term in zip(names, row.terms, strict=True)
        if term
    ]
    if row.constant_us or not parts:
        parts.append(f"{row.constant_us:.9g}")
    return f"{f'y{row.head}' if row.head else 't'} ≥ {' + '.join(parts)}"


def _unit(lp: LatencyLP, name: str) -> int:
    """Return the factor from a coefficient to what is shown: 1000 for g, from kB to bytes."""
    return BYTES_PER_KB if name in lp.message_variables.gap_s else 1


def _letter(name: str) -> str:
    return f"ℓ{name[1:]}" if name.startswith("l") else name
