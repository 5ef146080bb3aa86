"""Measured times of the tests that a simulator is calibrated to, several replicas of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from workbench.arrays import FloatArray
from workbench.errors import ParameterError
from workbench.result import StoredResult

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class Replicas(StoredResult):
    """Times of several tests, each measured once or more, as ``Replicas.of`` makes them.

    Attributes:
        tests: label of each test; no two are the same.
        columns: float64[tests] by name, what the tests differ in, such as nodes and bytes.
        values: float64[replicas], all times, test by test, seconds.
        starts: int64[tests + 1], where each test begins in ``values``.
    """

    tests: tuple[str, ...]
    columns: Mapping[str, NDArray[np.float64]]
    values: NDArray[np.float64]
    starts: NDArray[np.int64]

    def __post_init__(self) -> None:
        self._check()

    @classmethod
    def of(
        cls,
        times: Sequence[ArrayLike],
        tests: Sequence[str] | None = None,
        columns: Mapping[str, ArrayLike] | None = None,
    ) -> Self:
        """Return the replicas of tests whose times are listed one test at a time.

        Args:
            times: of each test, its replicas in seconds; their number may differ.
            tests: label of each test; made of the columns, or of its number, by default.
            columns: by name, what the tests differ in, one number a test: nodes, bytes.

        Raises:
            ParameterError: a test has no replica, a time is not above 0 and finite, labels repeat,
                or labels or columns are not as many as the tests.
        """
        rows = [np.atleast_1d(np.asarray(row, np.float64)).ravel() for row in times]
        given = {k: np.asarray(v, np.float64).ravel() for k, v in (columns or {}).items()}
        labels = _labels(len(rows), given) if tests is None else tuple(map(str, tests))
        values = np.concatenate([*rows, np.empty(0)])
        starts = np.cumsum([0, *map(len, rows)], dtype=np.int64)
        return cls(labels, given, values, starts)

    def _check(self) -> None:
        n = len(self.starts) - 1
        if n < 1:
            raise ParameterError("times must hold at least one test; got none", key="times")
        if len(self.tests) != n:
            raise ParameterError(
                f"tests must hold one label a test, {n}; got {len(self.tests)}", key="tests"
            )
        if len(set(self.tests)) < n:
            twice = next(t for t in self.tests if self.tests.count(t) > 1)
            raise ParameterError(
                f"labels of tests must differ; {twice!r} is there twice: put its replicas into "
                "one row",
                key="tests",
            )
        for name, column in self.columns.items():
            if len(column) != n or not np.isfinite(column).all():
                raise ParameterError(
                    f"columns[{name!r}] must hold one finite number a test, {n}; got "
                    f"{len(column)} numbers",
                    key="columns",
                )
        if self.starts[0] != 0 or self.starts[-1] != len(self.values):
            raise ParameterError("starts must go from 0 to the number of values", key="starts")
        for number, label in enumerate(self.tests):
            row = self.values[self.starts[number] : self.starts[number + 1]]
            bad = row[~((row > 0) & np.isfinite(row))]
            if len(row) == 0 or len(bad):
                got = f"{bad[0]:g}" if len(bad) else "no replica"
                raise ParameterError(
                    "each test must have at least one time, above 0 s and finite; got "
                    f"{got} in test {number}, {label}; remove the time or the test",
                    key="times",
                )

    @cached_property
    def statistics(self) -> Statistics:
        """Sufficient statistics of the times and of their logarithms."""
        return statistics(self.values, self.starts)

    @property
    def rows(self) -> list[FloatArray]:
        """Times of each test, seconds."""
        return np.split(self.values, self.starts[1:-1])

    def select(self, tests: Sequence[int]) -> Replicas:
        """Return some of the tests.

        Args:
            tests: their numbers, in the order that is wanted.
        """
        rows = self.rows
        return Replicas.of(
            [rows[i] for i in tests],
            [self.tests[i] for i in tests],
            {name: column[list(tests)] for name, column in self.columns.items()},
        )

    def without_outliers(self) -> Replicas:
        """Return the replicas without severe outliers: times that other jobs have slowed.

        Wilke et al. (section 6) discard them on a machine that they share. A time is one where it
        is three times the interquartile range above the upper quartile of its test (Tukey's far
        out values, 1977); times that are short stay, and so do tests of fewer than five times,
        whose quartiles say little.
        """
        return Replicas.of([without_slow(row) for row in self.rows], self.tests, self.columns)

    def to_frame(self) -> pd.DataFrame:
        """Return one row a test: label, columns, replicas, mean and spread of the times."""
        import pandas as pd

        s = self.statistics
        freedom = np.maximum(s.count - 1, 1)
        frame = pd.DataFrame({"test": self.tests, **self.columns})
        frame["replicas"] = s.count.astype(np.int64)
        frame["mean (s)"] = s.mean
        frame["standard deviation (s)"] = np.where(
            s.count > 1, np.sqrt(s.squares / freedom), np.nan
        )
        return frame

    def __len__(self) -> int:
        return len(self.tests)

    def __repr__(self) -> str:
        low, high = self.values.min(), self.values.max()
        return (
            f"Replicas({len(self)} tests, {len(self.values)} times from {low:.4g} to {high:.4g} s)"
        )


_FAR_OUT = 3.0  # interquartile ranges (Tukey, Exploratory Data Analysis, 1977)
_FEWEST_JUDGED = 5  # times of a test; quartiles of fewer are the times themselves


def without_slow(times: FloatArray) -> FloatArray:
    """Return a test's times without those far above the others, as ``without_outliers`` does."""
    if len(times) < _FEWEST_JUDGED:
        return times
    low, high = np.quantile(times, [0.25, 0.75])
    return np.asarray(times[times <= high + _FAR_OUT * (high - low)])


@dataclass(frozen=True, eq=False)
class Statistics:
    """What normal errors need of the data; each float64[tests]."""

    count: FloatArray  # replicas
    mean: FloatArray  # s
    squares: FloatArray  # sum of squared deviations from the mean, s^2
    log_mean: FloatArray  # of the logarithms of the times in s
    log_squares: FloatArray
    log_values: FloatArray  # float64[replicas]


def statistics(values: FloatArray, starts: NDArray[np.int64]) -> Statistics:
    """Return the statistics of times in s; those of logarithms are nan where a time is not > 0."""
    logs = np.full(len(values), np.nan)
    np.log(values, out=logs, where=values > 0)
    count = np.diff(starts).astype(np.float64)
    return Statistics(count, *_moments(values, starts), *_moments(logs, starts), logs)


def _moments(values: FloatArray, starts: NDArray[np.int64]) -> tuple[FloatArray, FloatArray]:
    """Return mean and summed squared deviations of each test."""
    count = np.diff(starts)
    mean = np.add.reduceat(values, starts[:-1]) / count
    squares = np.add.reduceat((values - np.repeat(mean, count)) ** 2, starts[:-1])
    return mean, squares


def _labels(n: int, columns: Mapping[str, FloatArray]) -> tuple[str, ...]:
    """Return a label for each test, of its columns where they tell the tests apart."""
    if all(len(column) == n for column in columns.values()):
        names = tuple(
            ", ".join(f"{column[i]:g} {name}" for name, column in columns.items()) for i in range(n)
        )
        if len(set(names)) == n and "" not in names:
            return names
    return tuple(f"test {i}" for i in range(n))
