"""Simulation-based calibration of several noise models, beside one that is fitted wrongly.

found = check_noise_models(surrogate, replicas, datasets=200)
found.plot(), found.to_frame()
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.checks import whole
from workbench.errors import ParameterError
from workbench.result import Drawing, StoredResult
from workbench.tasks import Progress, Task, task_of
from workbench.uq.replicas import Replicas
from workbench.uq.simulation_based import CalibrationCheck, simulation_based_calibration

if TYPE_CHECKING:
    import pandas as pd

    from workbench.uq.surrogate import Surrogate

PAIRS = (
    ("constant", "constant"),
    ("relative", "relative"),
    ("hierarchical", "hierarchical"),
    ("student-t", "student-t"),
    ("relative", "constant"),
)
"""Noise models that make the data and that are fitted; in the last, equation (2) meets noise that
grows with the time."""


@dataclass(frozen=True, repr=False)
class NoiseChecks(StoredResult):
    """Checks of several noise models on the same tests.

    Attributes:
        checks: one for each pair of a model that makes the data and one that is fitted.
    """

    checks: tuple[CalibrationCheck, ...]

    plot = Drawing("plot_noise_checks")

    def of(self, noise: str, fitted: str | None = None) -> CalibrationCheck:
        """Return the check of a pair.

        Args:
            noise: name of the model that makes the data.
            fitted: name of the one that is fitted; the same by default.

        Raises:
            ParameterError: there is no such pair.
        """
        wanted = noise, noise if fitted is None else fitted
        for check in self.checks:
            if (check.noise, check.fitted) == wanted:
                return check
        known = ", ".join(f"{one.noise} fitted by {one.fitted}" for one in self.checks)
        raise ParameterError(f"no check is of {wanted[0]} fitted by {wanted[1]}; known: {known}")

    def to_frame(self) -> pd.DataFrame:
        """Return one row a pair: least and greatest coverage, in percent, the band, the verdict."""
        import pandas as pd

        rows = []
        for one in self.checks:
            low, high = one.band
            rows.append(
                {
                    "data": one.noise,
                    "fitted": one.fitted,
                    "data sets": one.datasets,
                    "least coverage (%)": 100 * one.coverage.min(),
                    "greatest coverage (%)": 100 * one.coverage.max(),
                    "chance explains (%)": f"{100 * low:.0f} to {100 * high:.0f}",
                    "calibrated": one.calibrated,
                }
            )
        return pd.DataFrame(rows)

    def __repr__(self) -> str:
        texts = (f"{one.noise} fitted by {one.fitted}: {one.verdict}" for one in self.checks)
        return f"NoiseChecks({'; '.join(texts)})"


def check_noise_models(
    surrogate: Surrogate,
    replicas_like: Replicas,
    pairs: Sequence[tuple[str, str]] = PAIRS,
    *,
    datasets: int = 200,
    level: float = 0.9,
    seed: int = 0,
    task: Task | None = None,
) -> NoiseChecks:
    """Check the intervals of several noise models by data sets whose truth is known.

    Args:
        surrogate: predicts the tests of ``replicas_like``.
        replicas_like: as for ``simulation_based_calibration``.
        pairs: names of the noise models that make the data and that are fitted.
        datasets: number of data sets of each pair.
        level: of the intervals.
        seed: makes the data sets repeatable.
        task: gets the number of data sets, of all pairs together; once it is stopped, the pairs
            that have data sets are returned.

    Raises:
        ParameterError: an argument is not accepted.
    """
    whole(datasets, "datasets", 1)
    if not pairs:
        raise ParameterError("pairs must not be empty; name two noise models", key="pairs")
    checks: list[CalibrationCheck] = []
    task = task_of(task)

    def tell(now: Progress) -> None:
        task.report(len(checks) * now.total + now.done, len(pairs) * now.total, now.message)

    for noise, fitted in pairs:
        if checks and task.stopping:
            break
        checks.append(
            simulation_based_calibration(
                surrogate,
                replicas_like,
                noise=noise,
                fitted=fitted,
                datasets=datasets,
                level=level,
                seed=seed,
                task=task.part(tell),
            )
        )
    return NoiseChecks(tuple(checks))
