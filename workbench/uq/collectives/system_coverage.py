"""What intervals hold of what was measured, on every real system that ships.

found = cover_systems(["lassen", "fugaku"])    # each calibrated on fewer nodes, then predicted
shipped_coverage().to_frame()                  # all systems, as `make findings` computed them
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workbench.datasets import data_folder
from workbench.errors import ParameterError
from workbench.html_table import html_table
from workbench.result import Drawing, StoredResult
from workbench.tasks import JobError, Task, task_of
from workbench.uq.collectives.calibration import (
    DRAWS,
    NOISE,
    CollectiveCalibration,
    calibrate_collective,
)
from workbench.uq.collectives.measured import MeasuredCollective, split_tests
from workbench.uq.collectives.models import CollectiveTest
from workbench.uq.collectives.shipped import (
    load_measured,
    machine_of,
    shipped_algorithms,
    shipped_collectives,
)
from workbench.uq.collectives.unknown_algorithm import AlgorithmMixture, calibrate_unknown
from workbench.uq.prediction import Prediction

if TYPE_CHECKING:
    import pandas as pd

LEVELS = (0.5, 0.9)  # 90 % as Wilke et al. (Fig. 4); the middle half shows the shape
FILE = "collectives.json"


@dataclass(frozen=True)
class CoverageCase:
    """A collective of a system, calibrated to some of its tests."""

    table: str  # name of the shipped table
    system: str  # as its title has it
    collective: str
    label: str  # of the algorithm; empty is the library's default
    model: str  # what predicted; of several the most probable with its probability
    held_out: str  # what was predicted, in words
    calibrated: int  # number of tests that it was calibrated to
    converged: bool  # all chains of it

    @property
    def larger(self) -> bool:
        """Whether the tests kept aside have more nodes than the others."""
        return self.held_out.endswith("nodes")

    @property
    def name(self) -> str:
        """Collective and system in a few words."""
        return f"{self.system}: {self.collective}"


@dataclass(frozen=True, eq=False, repr=False)
class SystemCoverage(StoredResult):
    """Measured medians that were kept aside, beside what was predicted for them.

    Attributes:
        cases: the calibrations.
        case: int64[tests], the case of each test.
        nodes: int64[tests].
        block_bytes: int64[tests].
        measured: float64[tests], median of the replicas, s.
        predicted: float64[tests], median, s.
        low: float64[levels, tests], lower ends of the intervals, s.
        high: float64[levels, tests], upper ends, s.
        levels: of the intervals.
        noise: name of the noise model.
        draws: of each chain.
        seed: what made it repeatable.
    """

    cases: tuple[CoverageCase, ...]
    case: NDArray[np.int64]
    nodes: NDArray[np.int64]
    block_bytes: NDArray[np.int64]
    measured: NDArray[np.float64]
    predicted: NDArray[np.float64]
    low: NDArray[np.float64] = field(metadata={"axes": 2})
    high: NDArray[np.float64] = field(metadata={"axes": 2})
    levels: tuple[float, ...]
    noise: str
    draws: int
    seed: int

    plot = Drawing("plot_system_coverage")

    def _check(self) -> None:
        self._check_lengths(
            dict.fromkeys(
                ("case", "nodes", "block_bytes", "measured", "predicted"), len(self.measured)
            )
        )
        for name in ("low", "high"):
            if getattr(self, name).shape != (len(self.levels), len(self.measured)):
                raise ParameterError(f"{name} must be float64[levels, tests]", key=name)

    @property
    def within(self) -> NDArray[np.bool_]:
        """Whether each interval holds the measured median, bool[levels, tests]."""
        return (self.low <= self.measured) & (self.measured <= self.high)

    @property
    def error(self) -> NDArray[np.float64]:
        """Predicted over measured median, less 1, float64[tests]."""
        return self.predicted / self.measured - 1.0

    def shares(self, level: int = -1) -> NDArray[np.float64]:
        """Return for each case the share of its medians that intervals hold, float64[cases].

        Args:
            level: number of the level.
        """
        inside = self.within[level]
        return np.array([inside[self.case == at].mean() for at in range(len(self.cases))])

    def to_frame(self) -> pd.DataFrame:
        """Return one row a case: what held out, how far off, what intervals hold, how wide.

        ``median error`` is of |predicted / measured - 1|, ``within`` the share of the medians that
        an interval holds, ``width`` the median of upper over lower end.
        """
        import pandas as pd

        rows = []
        for at, case in enumerate(self.cases):
            mine = self.case == at
            row: dict[str, object] = {
                "system": case.system,
                "collective": case.collective,
                "algorithm": case.label or "by default",
                "model": case.model,
                "held out": case.held_out,
                "tests": int(mine.sum()),
                "median error (%)": 100 * float(np.median(np.abs(self.error[mine]))),
            }
            for number, level in enumerate(self.levels):
                row[f"within {100 * level:g} % (%)"] = 100 * self.within[number, mine].mean()
            row[f"width {100 * self.levels[-1]:g} %"] = float(
                np.median(self.high[-1, mine] / self.low[-1, mine])
            )
            row["converged"] = case.converged
            rows.append(row)
        return pd.DataFrame(rows)

    def _repr_html_(self) -> str:
        frame = self.to_frame()
        rows = (
            [f"{value:.1f}" if isinstance(value, float) else _word(value) for value in row]
            for row in frame.itertuples(index=False)
        )
        return html_table(rows, [str(name) for name in frame.columns], repr(self), align="lllllr")

    def __repr__(self) -> str:
        parts = (
            f"{100 * level:g} % intervals hold {self.within[row].mean():.0%}"
            for row, level in enumerate(self.levels)
        )
        systems = len({case.table for case in self.cases})
        return (
            f"SystemCoverage({systems} systems, {len(self.cases)} collectives, "
            f"{len(self.measured)} medians kept aside, {self.noise} noise: {', '.join(parts)}; "
            f"median error {np.median(np.abs(self.error)):.0%})"
        )


def cover_systems(
    tables: Sequence[str] | None = None,
    *,
    noise: str = NOISE,
    draws: int = DRAWS,
    seed: int = 0,
    task: Task | None = None,
) -> SystemCoverage:
    """Calibrate every shipped collective on fewer nodes, and predict its largest number of nodes.

    Where a table has one number of nodes, every other size is predicted from the others. Where the
    algorithm is the library's choice, all models predict, each as often as it is probable.

    Args:
        tables: names of shipped tables, such as lassen,fugaku; None takes all.
        noise: as for ``calibrate_collective``.
        draws: as for ``calibrate_collective``.
        seed: as for ``calibrate_collective``.
        task: gets the number of collectives, and the next one's name; once it is stopped, those
            that are finished are returned.

    Raises:
        DatasetError: there is no such table.
        ParameterError: an argument is not accepted.
        JobError: it was stopped before the first collective was finished.
    """
    task, catalogue = task_of(task), shipped_collectives()
    wanted = [catalogue[name] for name in (catalogue.names if tables is None else tables)]
    jobs = [(table, one) for table in wanted for one in shipped_algorithms(table.name)]
    cases: list[CoverageCase] = []
    columns: list[tuple[list[CollectiveTest], NDArray[np.float64], Prediction]] = []
    for done, (table, collective) in enumerate(jobs):
        task.report(done, len(jobs), f"{collective} on {table.name}")
        measured = load_measured(table.name, collective)
        fewer, kept, words = split_tests(measured)
        found = _calibrated(fewer, noise, draws, seed, task.part())
        if task.stopping:
            break
        predicted = found.predict(kept.tests, levels=LEVELS, replicas=kept.usual_count)
        columns.append((list(kept.tests), kept.medians, predicted))
        cases.append(
            CoverageCase(
                table.name,
                machine_of(table),
                collective,
                measured.label,
                _model_of(found),
                words,
                len(fewer.tests),
                all(one.posterior.converged for one in found.calibrations),
            )
        )
    if not columns:
        raise JobError("the check was stopped before its first collective; run it again")
    tests = [test for each, _, _ in columns for test in each]
    return SystemCoverage(
        tuple(cases),
        np.repeat(np.arange(len(cases)), [len(each) for each, _, _ in columns]),
        np.array([test.nodes for test in tests], np.int64),
        np.array([test.block_bytes for test in tests], np.int64),
        np.concatenate([medians for _, medians, _ in columns]),
        np.concatenate([one.median for _, _, one in columns]),
        np.concatenate([one.low for _, _, one in columns], axis=1),
        np.concatenate([one.high for _, _, one in columns], axis=1),
        LEVELS,
        noise,
        draws,
        seed,
    )


@lru_cache(maxsize=1)
def shipped_coverage() -> SystemCoverage:
    """Return the coverage on all shipped systems, as ``make findings`` computed it."""
    return SystemCoverage.load(data_folder() / "coverage" / FILE)


def _word(value: object) -> str:
    return ("no", "yes")[value] if isinstance(value, bool) else str(value)


def _calibrated(
    fewer: MeasuredCollective, noise: str, draws: int, seed: int, task: Task
) -> CollectiveCalibration | AlgorithmMixture:
    if fewer.algorithms:
        return calibrate_collective(fewer, noise=noise, draws=draws, seed=seed, task=task)
    return calibrate_unknown(fewer, noise=noise, draws=draws, seed=seed, task=task)


def _model_of(found: CollectiveCalibration | AlgorithmMixture) -> str:
    if isinstance(found, CollectiveCalibration):
        return found.model
    return f"{found.models[0]} ({found.probabilities[0]:.0%})"
