"""The study of Wilke et al. on a synthetic Hopper: surrogate, sensitivity, calibration, prediction.

    study = validate_collective("gather")
    study.holdout.maximum, study.sobol(), study.posterior(), study.predict(65_536, SCALED_HOPPER)

The replicas are synthetic, for Hopper's were never published: a finer model with known parameters
makes the times, and each replica has an error of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workbench.checks import whole
from workbench.result import Drawing, StoredResult
from workbench.uq.collectives.gemini import (
    BOX,
    HOPPER,
    KIB,
    NOMINAL,
    GeminiCollective,
    TorusPlaces,
    paper_tests,
)
from workbench.uq.collectives.models import CollectiveTest
from workbench.uq.designs import design
from workbench.uq.posterior import Posterior, calibrate
from workbench.uq.prediction import Prediction, predict
from workbench.uq.replicas import Replicas
from workbench.uq.shipped_designs import shipped_design
from workbench.uq.sobol import SobolIndices, sobol_indices
from workbench.uq.surrogate import HoldoutError, Surrogate, fit_surrogate

if TYPE_CHECKING:
    import pandas as pd

TRUTH = (1.8708e9, 2.45e9, 100e-9, 0.6e-6, 7e9, 0.5e-6, 8e9)
"""The synthetic machine's parameters: the nominal ones, with the bandwidth that Table 4 implies."""

SPREAD = 0.0485
"""Of a replica's logarithm: with 28 tests of 20 replicas it gives Table 4's relative intervals."""

TRUTH_SHARPNESS = 8.0
POINTS, HOLDOUT_POINTS, REPLICAS = 256, 100, 20

_PointsAndTimes = tuple[NDArray[np.float64], NDArray[np.float64]]


@dataclass(frozen=True, eq=False, repr=False)
class CollectiveValidation(StoredResult):
    """A simulated collective beside synthetic replicas of it.

    Attributes:
        machine: the simulator, whose tests these are.
        replicas: synthetic times of the tests.
        nominal: float64[tests], simulated with Table 3's values, s.
        surrogate: of third order, in the seven parameters.
        holdout: its errors at 100 points that it was not fitted to.
        seed: of the replicas and of the draws.
    """

    machine: GeminiCollective
    replicas: Replicas
    nominal: NDArray[np.float64]
    surrogate: Surrogate
    holdout: HoldoutError
    seed: int

    plot = Drawing("plot_collective_validation")

    def sobol(self) -> SobolIndices:
        """Return the sensitivity of each test's time to each parameter within ``BOX``."""
        return sobol_indices(self.surrogate)

    def posterior(self) -> Posterior:
        """Return the parameters that the replicas allow, under noise relative to the time."""
        return calibrate(self.surrogate, self.replicas, noise="relative", seed=self.seed)

    def predict(self, nodes: int, places: TorusPlaces = HOPPER) -> Prediction:
        """Return intervals of 90 % for the four buffer sizes on other nodes, of 100 draws."""
        tests = tuple(CollectiveTest(nodes, kib * KIB) for kib in (8, 16, 24, 32))
        machine = GeminiCollective(self.machine.collective, tests, places)
        labels = [test.label for test in tests]
        return predict(self.posterior(), machine, labels, levels=(0.9,), seed=self.seed)

    def observed(self) -> NDArray[np.bool_]:
        """Return whether each nominal time is within the range of its replicas, bool[tests]."""
        rows = zip(self.replicas.rows, self.nominal, strict=True)
        return np.array([row.min() <= time <= row.max() for row, time in rows])

    def to_frame(self) -> pd.DataFrame:
        """Return one row a test: nominal time, the replicas' range, the surrogate's errors."""
        import pandas as pd

        return pd.DataFrame(
            {
                "collective": self.machine.collective,
                "test": [test.label for test in self.machine.tests],
                "nominal (ms)": 1e3 * self.nominal,
                "least replica (ms)": [1e3 * row.min() for row in self.replicas.rows],
                "greatest replica (ms)": [1e3 * row.max() for row in self.replicas.rows],
                "largest surrogate error (%)": 100 * self.holdout.maximum,
                "rms surrogate error (%)": 100 * self.holdout.rms,
            }
        )

    def __repr__(self) -> str:
        worst = 100 * float(self.holdout.maximum.max())
        return (
            f"CollectiveValidation({self.machine.collective}, {len(self.nominal)} tests, synthetic "
            f"replicas; surrogate within {worst:.2g} % at {HOLDOUT_POINTS} points; "
            f"{np.count_nonzero(self.observed())} nominal times within the replicas' range)"
        )


@lru_cache(maxsize=8)
def validate_collective(
    collective: str, places: TorusPlaces = HOPPER, seed: int = 0
) -> CollectiveValidation:
    """Return the study of ``allgather``, ``gather`` or ``scatter`` on a torus.

    Args:
        collective: its tests are those of Wilke et al., section 6.
        places: of the nodes.
        seed: of the synthetic replicas and of the draws.

    Raises:
        ParameterError: the collective is not one of the three, or the torus has too few nodes.
    """
    seed = whole(seed, "seed", 0)
    tests = paper_tests(collective)
    machine = GeminiCollective(collective, tests, places)
    runs, judges = _runs(machine)
    surrogate = fit_surrogate(BOX, *runs, degrees=(1, 2, 3))
    return CollectiveValidation(
        machine,
        synthetic_replicas(collective, places, seed),
        machine([NOMINAL])[0],
        surrogate,
        surrogate.holdout_error(*judges),
        seed,
    )


def _runs(machine: GeminiCollective) -> tuple[_PointsAndTimes, _PointsAndTimes]:
    """Return points and times of the design and of its hold-out; those of Hopper ship."""
    if machine.places == HOPPER:
        shipped = shipped_design(f"{machine.collective}-sobol")
        if shipped.holdout is not None:
            return (shipped.points, shipped.times), (shipped.holdout.points, shipped.holdout.times)
    points, others = design(BOX, POINTS), design(BOX, HOLDOUT_POINTS, skip=POINTS)
    return (points, machine(points)), (others, machine(others))


def synthetic_replicas(collective: str, places: TorusPlaces = HOPPER, seed: int = 0) -> Replicas:
    """Return 20 synthetic replicas of each test: a finer model at ``TRUTH``, with errors.

    In the finer model a link slows its messages before it is full.
    """
    tests = paper_tests(collective)
    times = GeminiCollective(collective, tests, places, sharpness=TRUTH_SHARPNESS)([TRUTH])[0]
    errors = np.random.default_rng(seed).standard_normal((len(tests), REPLICAS))
    return Replicas.of(
        list(times[:, None] * np.exp(SPREAD * errors)),
        [test.label for test in tests],
        {"nodes": [t.nodes for t in tests], "bytes": [t.block_bytes for t in tests]},
    )
