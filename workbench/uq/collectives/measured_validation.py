"""The study of Wilke et al. on measured replicas of a real machine.

    study = validate_measured("gather", "default-binomial")
    study.sobol(), study.posterior, study.compare(), study.predict(4096, (16, 16, 16))

Their study has replicas of Hopper, which were never published. This one has those of a shipped
table: the model is fitted and its surrogate checked as theirs, its parameters are inferred from all
tests, and the largest number of nodes is predicted from the others and compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from workbench.checks import whole
from workbench.result import Drawing, StoredResult
from workbench.uq.collectives.calibration import (
    DRAWS,
    CollectiveCalibration,
    calibrate_collective,
    collective_problem,
)
from workbench.uq.collectives.measured import nodes_of
from workbench.uq.collectives.models import CollectiveTest
from workbench.uq.collectives.shipped import load_measured
from workbench.uq.coverage import held_share
from workbench.uq.posterior import Posterior
from workbench.uq.prediction import Prediction
from workbench.uq.problem import CalibrationProblem
from workbench.uq.sobol import SobolIndices, sobol_indices

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class MeasuredValidation(StoredResult):
    """A model of a collective beside measured replicas of it.

    Attributes:
        problem: measured replicas of all tests, the nominal times (of a fit by least squares), the
            surrogate and its error at points that it was not fitted to.
        calibration: to all tests.
        fewer: calibration to all but the largest number of nodes.
        seed: of the designs and of the draws.
    """

    problem: CalibrationProblem
    calibration: CollectiveCalibration
    fewer: CollectiveCalibration
    seed: int

    plot = Drawing("plot_measured_validation")

    @property
    def tests(self) -> tuple[CollectiveTest, ...]:
        """All tests."""
        return self.calibration.tests

    @property
    def posterior(self) -> Posterior:
        """What the replicas of all tests allow."""
        return self.calibration.posterior

    def sobol(self) -> SobolIndices:
        """Return the sensitivity of each test's time to each parameter, where these are searched.

        The ranges are those of the first fit: a factor of 4 either way for most parameters.
        """
        return sobol_indices(self.problem.surrogate)

    def predict(
        self,
        nodes: int,
        shape: tuple[int, ...] | None = None,
        block_bytes: Sequence[int] | None = None,
    ) -> Prediction:
        """Return intervals of 50 and 90 % for other nodes, from the calibration to all tests.

        Args:
            nodes: number of nodes.
            shape: of their torus; None assumes one.
            block_bytes: None takes those of the largest number of nodes measured.

        Raises:
            ParameterError: the torus has too few nodes, or a size is not accepted.
        """
        most = nodes_of(self.tests)[-1]
        sizes = block_bytes or [one.block_bytes for one in self.tests if one.nodes == most]
        tests = [CollectiveTest(nodes, size, shape=shape) for size in sizes]
        return self.calibration.predict(tests, seed=self.seed)

    def compare(self) -> Prediction:
        """Return intervals for medians on the largest number of nodes, from the other ones."""
        most = nodes_of(self.tests)[-1]
        tests = [one for one in self.tests if one.nodes == most]
        counts = [len(row) for row in self.problem.replicas.rows]
        return self.fewer.predict(tests, seed=self.seed, replicas=int(np.median(counts)))

    def held(self) -> dict[float, float]:
        """Return by level the share of medians of the largest number that ``compare`` holds."""
        return held_share(self.compare(), self.problem.replicas)

    def to_frame(self) -> pd.DataFrame:
        """Return one row a test: measured and nominal time, their difference, surrogate's error."""
        return self.problem.to_frame()

    def __repr__(self) -> str:
        nodes = ", ".join(map(str, nodes_of(self.tests)))
        held = ", ".join(f"{share:.0%} at {level:.0%}" for level, share in self.held().items())
        return (
            f"MeasuredValidation({self.problem.title}, {nodes} nodes, {self.calibration.model}; "
            f"the surrogate is up to {100 * float(self.problem.surrogate_error.max()):.2g} % off; "
            f"medians of the largest number within intervals from the others: {held})"
        )


@lru_cache(maxsize=8)
def validate_measured(
    collective: str,
    algorithm: str | None = None,
    *,
    name: str = "fugaku",
    draws: int = DRAWS,
    seed: int = 0,
) -> MeasuredValidation:
    """Return the study of a collective in a shipped table of measured replicas.

    Args:
        collective: such as ``gather``.
        algorithm: its label in the table; None takes the first one of the collective.
        name: of a table that ``shipped_collectives`` lists.
        draws: kept of each chain.
        seed: of the designs and of the draws.

    Raises:
        DatasetError: there is no such table, or it is not the one whose checksum is recorded.
        ParameterError: the table has no such collective or algorithm.
    """
    seed = whole(seed, "seed", 0)
    measured = load_measured(name, collective, algorithm)
    calibration = calibrate_collective(measured, draws=draws, seed=seed)
    nodes = nodes_of(measured.tests)
    model = calibration.model
    return MeasuredValidation(
        collective_problem(measured, model=model, seed=seed),
        calibration,
        calibrate_collective(measured.on(nodes[:-1]), draws=draws, seed=seed),
        seed,
    )
