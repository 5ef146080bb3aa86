"""How well the next steps are forecast from more or fewer steps, and from more or fewer counters.

grid = forecast_grid(steps, m=(10, 20), k=(20, 40))     # MILC's in the paper
grid.to_frame()
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import FloatArray
from workbench.errors import ParameterError
from workbench.provenance import Provenance
from workbench.result import Drawing, StoredResult
from workbench.tasks import Task, task_of
from workbench.variability.folds import FOLDS
from workbench.variability.forecasting.forecast import MODELS, Forecast, forecast
from workbench.variability.forecasting.windows import windows_of
from workbench.variability.tables.steps import FEATURES, StepTable

if TYPE_CHECKING:
    import pandas as pd


_MOST_WINDOWS = 3000  # a fourth of emulated-link's 2480 moves MAPEs of 10 % by 0.3 points


@dataclass(frozen=True, eq=False, repr=False)
class ForecastGrid(StoredResult):
    """Errors of forecasts over the steps seen, the steps forecast and the counters seen.

    Attributes:
        m: numbers of steps that are seen.
        k: numbers of steps that are forecast.
        features: sets of features, such as ``app+placement``.
        models: names of the models.
        mape: float64[m, k, features, models], %.
        mape_interval: float64[m, k, features, models, 2], %, of 95 % of bootstrap draws of runs.
        skill: float64[m, k, features, models, 2], share of the MAPE of ``mean-trajectory`` and
            ``persistence`` that a model saves.
        skill_interval: float64[m, k, features, models, 2, 2], of both skills the ends.
        windows: int64[m * k], number of windows of each m and k.
        runs: number of runs.
        own_times: whether models see the job's own step times too.
        folds: number of parts of the runs.
        seed: of folds, models and intervals.
        provenance: of the steps.
        notes: what a reader must know, each a sentence.
    """

    m: tuple[int, ...]
    k: tuple[int, ...]
    features: tuple[str, ...]
    models: tuple[str, ...]
    mape: NDArray[np.float64] = field(metadata={"axes": 4})
    mape_interval: NDArray[np.float64] = field(metadata={"axes": 5})
    skill: NDArray[np.float64] = field(metadata={"axes": 5})
    skill_interval: NDArray[np.float64] = field(metadata={"axes": 6})
    windows: NDArray[np.int64]
    runs: int
    own_times: bool
    folds: int
    seed: int
    provenance: Provenance
    notes: tuple[str, ...]

    plot = Drawing("plot_forecast_grid")

    @property
    def best(self) -> str:
        """The model with the least MAPE, on average over the grid."""
        return self.models[int(self.mape.mean(axis=(0, 1, 2)).argmin())]

    @property
    def least(self) -> NDArray[np.int64]:
        """The model with the least MAPE in each place, int64[m, k, features]."""
        return np.asarray(self.mape.argmin(axis=3), np.int64)

    @property
    def target_met(self) -> NDArray[np.bool_]:
        """Where the best model halves the mean trajectory's error and beats persistence.

        bool[m, k, features]: the skill on persistence is above 0 in the whole interval.
        """
        best = self.least[..., None, None]
        skill = np.take_along_axis(self.skill, best, axis=3)[..., 0, :]
        low = np.take_along_axis(self.skill_interval[..., 0], best, axis=3)[..., 0, :]
        return np.asarray((skill[..., 0] >= 0.5) & (low[..., 1] > 0))

    def to_frame(self) -> pd.DataFrame:
        """Return a row a place of the grid and model, with intervals."""
        import pandas as pd

        rows = []
        for place in np.ndindex(self.mape.shape):
            at, to, seen, model = place
            rows.append(
                {
                    "m": self.m[at],
                    "k": self.k[to],
                    "features": self.features[seen],
                    "model": self.models[model],
                    "MAPE (%)": self.mape[place],
                    "MAPE from": self.mape_interval[place][0],
                    "MAPE to": self.mape_interval[place][1],
                    "skill on mean trajectory": self.skill[place][0],
                    "skill on persistence": self.skill[place][1],
                    "skill on persistence from": self.skill_interval[place][1, 0],
                    "skill on persistence to": self.skill_interval[place][1, 1],
                }
            )
        return pd.DataFrame(rows)

    def __repr__(self) -> str:
        met = self.target_met
        return (
            f"ForecastGrid(m={self.m}, k={self.k}, features {', '.join(self.features)}; "
            f"{self.runs} runs; MAPE of the best model {self.mape.min(axis=3).min():.1f} to "
            f"{self.mape.min(axis=3).max():.1f} %; it halves the mean trajectory's and beats "
            f"persistence in {int(met.sum())} of {met.size} places)"
        )


def forecast_grid(
    steps: StepTable,
    *,
    m: Sequence[int] = (10, 20),
    k: Sequence[int] = (20, 40),
    features: Iterable[Iterable[str]] | None = None,
    models: Iterable[str] = MODELS,
    own_times: bool = True,
    folds: int = FOLDS,
    seed: int = 0,
    task: Task | None = None,
) -> ForecastGrid:
    """Return the errors of forecasts for several m, k and sets of features.

    Where there are more than 3000 windows only some are used, at the same distance in each run.

    Args:
        steps: of runs of one program with one input.
        m: numbers of steps that are seen; the paper has 3 and 8 for AMG, 10 and 20 for MILC.
        k: numbers of steps that are forecast; the paper has 5 and 10 for AMG, 20 and 40 for MILC.
        features: sets of ``app``, ``placement``, ``io`` and ``sys``; None adds them one after the
            other, as in the paper, as far as the table has them.
        models: as for ``forecast``.
        own_times: as for ``forecast``.
        folds: as for ``forecast``.
        seed: as for ``forecast``.
        task: gets the progress after each place of the grid; once it is stopped, the work ends.

    Raises:
        ParameterError: an argument is not accepted; see ``forecast``.
        SimulationHalted: the task was stopped.
    """
    seen, ahead = tuple(dict.fromkeys(m)), tuple(dict.fromkeys(k))
    sets = feature_sets(steps) if features is None else [tuple(one) for one in features]
    if not (seen and ahead and sets):
        raise ParameterError("m, k and features must each have a value", key="m")
    total = len(seen) * len(ahead) * len(sets)
    task = task_of(task)
    quiet = task.part()
    found: list[Forecast] = []
    for one in seen:
        for other in ahead:
            every = max(1, -(-len(windows_of(steps, one, other)) // _MOST_WINDOWS))
            for wanted in sets:
                found.append(
                    forecast(
                        steps,
                        m=one,
                        k=other,
                        features=wanted,
                        models=models,
                        own_times=own_times,
                        folds=folds,
                        seed=seed,
                        every=every,
                        importance_of="",
                        task=quiet,
                    )
                )
                task.report(len(found), total, f"m = {one}, k = {other}, {'+'.join(wanted)}")
    shape = (len(seen), len(ahead), len(sets))

    def grid(values: list[FloatArray]) -> FloatArray:
        return np.array(values).reshape(*shape, *values[0].shape)

    return ForecastGrid(
        m=tuple(int(one) for one in seen),
        k=tuple(int(one) for one in ahead),
        features=tuple("+".join(one) or "none" for one in sets),
        models=found[0].models,
        mape=grid([one.mape for one in found]),
        mape_interval=grid([one.mape_interval for one in found]),
        skill=grid([one.skill for one in found]),
        skill_interval=grid([one.skill_interval for one in found]),
        windows=np.array([len(one.run) for one in found[:: len(sets)]], np.int64),
        runs=len(steps),
        own_times=own_times,
        folds=found[0].folds,
        seed=seed,
        provenance=steps.provenance,
        notes=tuple(dict.fromkeys(note for one in found for note in one.notes)),
    )


def feature_sets(steps: StepTable) -> list[tuple[str, ...]]:
    """Return the sets of features that add one after the other those that a table has."""
    there = [name for name in FEATURES if name in steps.features]
    return [tuple(there[: at + 1]) for at in range(len(there))] or [()]
