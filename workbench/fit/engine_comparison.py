"""How soon each engine finds a good fit, in trials and in seconds."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workbench.arrays import FloatArray
from workbench.errors import ParameterError
from workbench.fit.engines import ENGINES, PAPER_ENGINE
from workbench.fit.losses import DEFAULT_LOSS, Loss, find_loss
from workbench.fit.measured import as_curve
from workbench.fit.space import SearchSpace
from workbench.fit.study import DEFAULT_TRIALS, FitStudy
from workbench.html_table import html_table
from workbench.models import NetworkModel
from workbench.result import Drawing, StoredResult
from workbench.suggestions import did_you_mean
from workbench.tasks import Task

if TYPE_CHECKING:
    import pandas as pd

    from workbench.fit.measured import Measured


@dataclass(frozen=True, eq=False)
class EngineRun:
    """One fit of a comparison.

    Attributes:
        engine: name of the search engine.
        seed: of the search.
        best_loss: float64[trials], the least loss up to each trial; inf before the first loss.
        seconds: float64[trials], wall time from the start of the fit to the end of each trial.
    """

    engine: str
    seed: int
    best_loss: FloatArray
    seconds: FloatArray

    def reaches(self, loss: float) -> tuple[int, float] | None:
        """Return the number of trials and the seconds until a loss was reached, None if it was not.

        Args:
            loss: largest loss that counts as reached.
        """
        there = np.flatnonzero(self.best_loss <= loss)
        return (int(there[0]) + 1, float(self.seconds[there[0]])) if there.size else None


@dataclass(frozen=True)
class EngineComparison(StoredResult):
    """The same fit by several engines and from several seeds.

    Attributes:
        curve: name of what was measured.
        model: label of what was fitted.
        loss: name of what was minimised.
        target: benchmarks it was summed over.
        runs: the fits, engine by engine.
    """

    curve: str
    model: str
    loss: str
    target: str
    runs: tuple[EngineRun, ...]

    plot = Drawing("plot_engines")

    def to_frame(self) -> pd.DataFrame:
        """Return one row a trial: engine, seed, trial (from 1), seconds, best_loss."""
        import pandas as pd

        parts = [
            pd.DataFrame(
                {
                    "engine": run.engine,
                    "seed": run.seed,
                    "trial": np.arange(1, len(run.best_loss) + 1),
                    "seconds": run.seconds,
                    "best_loss": run.best_loss,
                }
            )
            for run in self.runs
        ]
        return pd.concat(parts, ignore_index=True)

    def table(self, reference: str = PAPER_ENGINE) -> pd.DataFrame:
        """Return the time of each fit to the reference engine's final loss from the same seed.

        Args:
            reference: an engine of the comparison.

        Returns:
            One row a fit: engine, seed, trials, seconds, best_loss (the final one), goal (the
            reference's final loss), goal_trials and goal_seconds (when it was first reached, nan
            where it was not), fewer_trials and sooner (the trials and seconds of the reference's
            whole run divided by these). The reference's own row says how long it stood still.

        Raises:
            ParameterError: the reference is not in the comparison.
        """
        import pandas as pd

        references = {run.seed: run for run in self.runs if run.engine == reference}
        if not references:
            raise ParameterError(
                f"the reference must be one of the engines compared, {', '.join(self._engines)}; "
                f"got {reference!r}"
                f"{did_you_mean(reference, self._engines)}",
                key="reference",
            )
        return pd.DataFrame([_row(run, references[run.seed]) for run in self.runs])

    @property
    def _engines(self) -> list[str]:
        return list(dict.fromkeys(run.engine for run in self.runs))

    def _repr_html_(self) -> str:
        rows = (
            (
                *(run.engine, str(run.seed), str(len(run.best_loss))),
                *(f"{run.seconds[-1]:.3g}", f"{run.best_loss[-1]:.6g}"),
            )
            for run in self.runs
        )
        return html_table(rows, ("engine", "seed", "trials", "seconds", "best loss"), repr(self))

    def __repr__(self) -> str:
        trials = max(len(run.best_loss) for run in self.runs)
        finals = ", ".join(f"{engine} {self._median_loss(engine):.4g}" for engine in self._engines)
        return (
            f"EngineComparison({self.model} to {self.curve}, {trials} trials, "
            f"{self.loss} of {self.target}: {finals})"
        )

    def _median_loss(self, engine: str) -> float:
        return float(np.median([run.best_loss[-1] for run in self.runs if run.engine == engine]))


def compare_engines(
    curve: Measured,
    model: str | NetworkModel = "protocol",
    *,
    trials: int = DEFAULT_TRIALS,
    seeds: Sequence[int] = (0,),
    engines: Iterable[str] = tuple(ENGINES),
    loss: str | Loss = DEFAULT_LOSS,
    target: str = "both",
    space: SearchSpace | None = None,
) -> EngineComparison:
    """Fit a curve once for each engine and seed, one after the other, and time every trial.

    Args:
        curve: what was measured, as for ``fit``.
        model: name of a model, or one whose other parameters are to be kept.
        trials: of each fit.
        seeds: of the fits of each engine.
        engines: names in ``ENGINES``.
        loss: name in ``LOSSES``, or a loss.
        target: ``latency``, ``bandwidth`` or ``both``.
        space: what to search.

    Raises:
        ParameterError: an argument is not accepted, or the target was not measured.
    """
    runs = []
    measured = as_curve(curve)
    for engine in engines:
        for seed in seeds:
            study = FitStudy(
                measured, model, loss=loss, target=target, seed=seed, engine=engine, space=space
            )
            runs.append(_timed(study, trials))
    return EngineComparison(
        curve=measured.name,
        model=study.base.label,
        loss=find_loss(loss).name,
        target=target,
        runs=tuple(runs),
    )


def _timed(study: FitStudy, trials: int) -> EngineRun:
    ends: list[float] = []
    began = time.perf_counter()
    result = study.run(trials, task=Task(lambda _: ends.append(time.perf_counter() - began)))
    return EngineRun(study.engine, study.seed, result.convergence, np.array(ends))


def _row(run: EngineRun, reference: EngineRun) -> dict[str, object]:
    goal = float(reference.best_loss[-1])
    reached = run.reaches(goal) or (math.nan, math.nan)
    return {
        "engine": run.engine,
        "seed": run.seed,
        "trials": len(run.best_loss),
        "seconds": float(run.seconds[-1]),
        "best_loss": float(run.best_loss[-1]),
        "goal": goal,
        "goal_trials": reached[0],
        "goal_seconds": reached[1],
        "fewer_trials": len(reference.best_loss) / reached[0],
        "sooner": float(reference.seconds[-1]) / reached[1],
    }
