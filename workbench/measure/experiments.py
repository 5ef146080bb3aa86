"""Which tables are runs of one experiment, and which are different experiments.

Runs are joined where nothing in the text tells them apart and their results are as near as runs of
one experiment are; otherwise the reader names the tables and asks.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from workbench.errors import ParameterError, ParseError
from workbench.measure.benchmark_table import BenchmarkTable
from workbench.suggestions import did_you_mean

ALIKE = 2.0
"""Largest ratio between runs of one experiment, at half of their sizes. Of the shipped machines
with a spread Dane has 1.9 between its least and greatest run; only the one named noisy has more."""

APART = 5.0
"""Largest ratio at any size. Dane has 4.2: a single slow run of small messages."""

_ACROSS_FILES = ("version", "hosts", "partition")
"""Labels that tell two tables of one benchmark apart, but not its latency from its bandwidth."""

_OF_ONE_LOG = ("label", "environment", "binding")
"""Labels that tell two tables of one log apart also where only one of them has it."""

TableChoice = int | str | Sequence[int]
"""Which tables: a number as the listing counts, several numbers, words of a label, or ``all``."""


class SeveralExperimentsError(ParseError):
    """A text holds several experiments of which one must be chosen.

    Attributes:
        differ: how many they are, and what tells them apart.
        choices: what each is, in the order of their numbers, which begin with 1.
    """

    def __init__(self, differ: str, choices: tuple[str, ...], source: str) -> None:
        listing = "; ".join(f"{at}: {text}" for at, text in enumerate(choices, start=1))
        super().__init__(
            f"{differ}; choose one with table=1 to {len(choices)}, or join them with table='all': "
            f"{listing}",
            source=source,
        )
        self.differ = differ
        self.choices = choices


@dataclass
class LikeRuns:
    """Tables of one experiment: runs of one or several benchmarks under equal conditions."""

    tables: list[BenchmarkTable]

    @property
    def told(self) -> dict[str, str]:
        """What the text says of it, by name."""
        told: dict[str, str] = {}
        for table in self.tables:
            for name, value in table.experiment.items():
                told.setdefault(name, value)
        return told

    def ratio(self) -> float:
        """Largest ratio between two runs of a benchmark at a size."""
        return max((ratios[1] for ratios in map(_ratios, self._runs())), default=1.0)

    def plausible(self) -> bool:
        """Return whether its runs are as near to one another as runs of one experiment are."""
        return all(half <= ALIKE and most <= APART for half, most in map(_ratios, self._runs()))

    def _runs(self) -> Iterator[list[BenchmarkTable]]:
        for test in dict.fromkeys(table.test for table in self.tables):
            yield [table for table in self.tables if table.test == test]


def experiments_of(tables: Iterable[BenchmarkTable]) -> list[LikeRuns]:
    """Return the experiments of tables, in their order."""
    found: list[LikeRuns] = []
    for table in tables:
        if len(table.sizes) == 0:
            continue
        mine = next((one for one in found if _fits(table, one)), None)
        if mine is None:
            found.append(LikeRuns([table]))
        else:
            mine.tables.append(table)
    return found


def beside(
    tables: Iterable[BenchmarkTable], used: Sequence[BenchmarkTable]
) -> list[BenchmarkTable]:
    """Return the tables that nothing tells from those of an experiment, nor their buffers."""
    experiment, buffers = LikeRuns(list(used)), {table.buffers for table in used}
    return [one for one in tables if one.buffers in buffers and _fits(one, experiment)]


def chosen(tables: Sequence[BenchmarkTable], table: TableChoice | None) -> list[BenchmarkTable]:
    """Return the tables of the experiment that is asked for, or of the only one."""
    if table == "all" or not tables:
        return list(tables)
    found = experiments_of(tables)
    ratio = LikeRuns(list(tables)).ratio()
    reason = f"with results up to {ratio:.3g}-fold apart"
    if len(found) == 1 and not found[0].plausible():
        # Nothing tells the runs apart, and they are too far apart to be runs of one experiment.
        found = _one_by_one(found[0])
    else:
        reason = f"{_differences(found)}, {reason}"
    choices = tuple(map(_describe, found))
    if table is None:
        if len(found) < 2:
            return list(tables)
        several = len({one.source for one in tables}) > 1
        raise SeveralExperimentsError(
            f"{len(found)} experiments in {'these files' if several else 'one text'} {reason}",
            choices,
            ", ".join(dict.fromkeys(one.source for one in tables)),
        )
    wanted = _numbers(table, choices)
    return [one for at in wanted for one in found[at - 1].tables]


def _numbers(table: TableChoice, choices: Sequence[str]) -> list[int]:
    """Return the numbers of the experiments that are asked for."""
    if isinstance(table, str) and not table.isdigit():
        near = [at for at, text in enumerate(choices, 1) if table.casefold() in text.casefold()]
        if len(near) == 1:
            return near
        raise ParameterError(
            f"table must be words of one of {'; '.join(choices)}; got {table!r}, which "
            f"{'none has' if not near else 'several have'}{did_you_mean(table, choices)}",
            key="table",
        )
    numbers = [int(one) for one in ([table] if isinstance(table, int | str) else table)]
    if not numbers or not all(1 <= one <= len(choices) for one in numbers):
        raise ParameterError(
            f"table must be 1 to {len(choices)}; got {table}: "
            + "; ".join(f"{at}: {text}" for at, text in enumerate(choices, 1)),
            key="table",
        )
    return numbers


def _fits(table: BenchmarkTable, experiment: LikeRuns) -> bool:
    """Return whether nothing tells a table from those of an experiment."""
    return not any(_conflict(table, other) for other in experiment.tables)


def _conflict(one: BenchmarkTable, other: BenchmarkTable) -> bool:
    same_test = one.test == other.test
    first, second = one.experiment, other.experiment
    if not same_test:
        # Latency and bandwidth of one machine may come with other words around them.
        for name in (*_ACROSS_FILES, "window", "pairs", "buffers"):
            first.pop(name, None)
            second.pop(name, None)
        if one.benchmark == other.benchmark:
            return True  # two programs measure the same quantity
    elif one.source == other.source and any(
        one.labels.get(name) != other.labels.get(name) for name in _OF_ONE_LOG
    ):
        return True
    return any(first[name].casefold() != second[name].casefold() for name in first.keys() & second)


def _one_by_one(experiment: LikeRuns) -> list[LikeRuns]:
    """Return each run by itself, the runs of several benchmarks paired in their order."""
    runs: dict[str, list[BenchmarkTable]] = {}
    for table in experiment.tables:
        runs.setdefault(table.test, []).append(table)
    most = max(map(len, runs.values()))
    return [LikeRuns([mine[at] for mine in runs.values() if at < len(mine)]) for at in range(most)]


def _ratios(runs: Sequence[BenchmarkTable]) -> tuple[float, float]:
    """Return the ratio of the greatest to the least run: at half of the sizes, and the most."""
    values: dict[int, list[float]] = {}
    for table in runs:
        for size, value in zip(table.sizes.tolist(), table.result.tolist(), strict=True):
            if value > 0:
                values.setdefault(size, []).append(value)
    ratios = [max(row) / min(row) for row in values.values() if len(row) > 1]
    return (float(np.median(ratios)), max(ratios)) if ratios else (1.0, 1.0)


def _differences(found: Sequence[LikeRuns]) -> str:
    names: dict[str, None] = {}
    for one, other in pairwise(found):
        first, second = one.told, other.told
        for name in first | second:
            if first.get(name) != second.get(name):
                names[name.replace("_", " ")] = None
    return f"told apart by {', '.join(names)}" if names else "of different benchmarks"


def _describe(experiment: LikeRuns) -> str:
    """Return what tells an experiment from others, in a few words."""
    first = experiment.tables[0]
    told = experiment.told
    version = told.pop("version", "")
    buffers = told.pop("buffers", "host")
    label = told.pop("label", "")
    words = [label] if label else []
    words += [f"buffers {buffers}"] if buffers != "host" else []
    words += [f"{name.replace('_', ' ')} {value}" for name, value in told.items()]
    tests = " and ".join(dict.fromkeys(table.test for table in experiment.tables if table.test))
    names = f"{tests} {version}".strip()
    return f"{', '.join([*words, names] if names else words)} ({first.source}:{first.line})"
