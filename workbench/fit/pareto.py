"""Latency against bandwidth: the fits of which no other is better in both.

    front = pareto("azure-hb96v3-hdr", "snappr", trials=400)
    front.plot(), front.to_frame(), front.model(0)

Suetterlein et al., HPC Network Simulation Tuning via Automatic Extraction of Hardware Parameters,
choose TPE for one because it can minimise several objectives at once (section II), and find that
latency and bandwidth compete (section IV-D); their fits minimise one number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from workbench.checks import whole
from workbench.errors import ParameterError, WorkbenchError
from workbench.fit.defaults import model_to_fit
from workbench.fit.initial_guess import starting_points
from workbench.fit.losses import EXCESSIVE_LOSS, rmspe_by_target
from workbench.fit.measured import as_curve
from workbench.fit.space import SearchSpace
from workbench.html_table import html_table
from workbench.measure import OSUCurve
from workbench.models import NetworkModel
from workbench.provenance import Provenance
from workbench.result import Drawing, StoredResult
from workbench.simulate import simulate_osu
from workbench.storage.optuna_log import quiet_optuna
from workbench.tasks import Task, task_of

if TYPE_CHECKING:
    import pandas as pd

    from workbench.fit.measured import Measured

DEFAULT_TRIALS = 400
"""Chosen: 100 to 800 cover the same 0.91 of the errors below 100 % (protocol, azure-hb96v3-hdr)."""

_OBJECTIVES = ("latency", "bandwidth")


@dataclass(frozen=True, eq=False, repr=False)
class ParetoFront(StoredResult):
    """The trials of a search for low errors in latency and in bandwidth at once.

    Attributes:
        base: the model, whose other parameters were kept.
        measured: what was measured.
        space: what was searched.
        tried: float64[trials, parameters], the values of each trial, SI, in the space's order.
        errors: float64[trials, 2], RMSPE of latency and of bandwidth in percent; nan where a
            configuration was refused.
        seed: what made the search repeatable.
    """

    base: NetworkModel
    measured: OSUCurve
    space: SearchSpace
    tried: NDArray[np.float64] = field(metadata={"axes": 2})
    errors: NDArray[np.float64] = field(metadata={"axes": 2})
    seed: int

    plot = Drawing("plot_pareto")

    @property
    def front(self) -> NDArray[np.int64]:
        """Trials of which no other is better in both, int64[n], by rising error of latency."""
        order = np.lexsort((self.errors[:, 1], self.errors[:, 0]))
        order = order[np.isfinite(self.errors[order]).all(axis=1)]
        bandwidth = self.errors[order, 1]
        before = np.concatenate([[np.inf], np.minimum.accumulate(bandwidth)[:-1]])
        return np.asarray(order[bandwidth < before[: len(order)]], np.int64)

    @property
    def trials(self) -> int:
        """Number of configurations tried."""
        return len(self.errors)

    @property
    def provenance(self) -> Provenance:
        """What the front was obtained from."""
        source = self.measured.provenance
        return Provenance(
            origin="simulated",
            title=f"{type(self.base).__name__} fitted to {source.title}",
            source=source.source,
            details={
                "statistic": f"RMSPE of latency and of bandwidth, {self.trials} trials, seed "
                f"{self.seed}, variant {self.base.variant}"
            },
        )

    def model(self, point: int) -> NetworkModel:
        """Return the model of a point of the front.

        Args:
            point: from 0, the least error of latency; -1 is the least error of bandwidth.

        Raises:
            ParameterError: the front has no such point.
        """
        front = self.front
        if not -len(front) <= point < len(front):
            raise ParameterError(
                f"point must be one of the {len(front)} of the front; got {point}", key="point"
            )
        row = self.tried[front[point]]
        values = {d.key: d.clip(x) for d, x in zip(self.space.dimensions, row, strict=True)}
        return self.base.with_values(values)

    def to_frame(self) -> pd.DataFrame:
        """Return one row a point of the front: trial, latency and bandwidth error, SI values."""
        import pandas as pd

        front = self.front
        frame = pd.DataFrame({"trial": front})
        frame[list(_OBJECTIVES)] = self.errors[front]
        frame[list(self.space.keys)] = self.tried[front]
        return frame

    def __len__(self) -> int:
        return len(self.front)

    def __repr__(self) -> str:
        front = self.errors[self.front]
        if not len(front):
            return f"ParetoFront({type(self.base).__name__}, nothing could be simulated)"
        ends = f"latency {front[0, 0]:.1f} % with bandwidth {front[0, 1]:.1f} %"
        other = f"bandwidth {front[-1, 1]:.1f} % with latency {front[-1, 0]:.1f} %"
        return (
            f"ParetoFront({type(self.base).__name__}, {self.measured.name}, {len(front)} of "
            f"{self.trials} trials, from {ends} to {other})"
        )

    def _repr_html_(self) -> str:
        rows = (
            (str(trial), *(f"{error:.1f}" for error in self.errors[trial])) for trial in self.front
        )
        head = ("trial", "latency (RMSPE, %)", "bandwidth (RMSPE, %)")
        return html_table(rows, head, repr(self))


def pareto(
    curve: Measured,
    model: str | NetworkModel = "snappr",
    *,
    trials: int = DEFAULT_TRIALS,
    seed: int = 0,
    space: SearchSpace | None = None,
    task: Task | None = None,
) -> ParetoFront:
    """Search for configurations with low errors in latency and in bandwidth at once.

    By Optuna's multivariate TPE with two objectives, from the values that the curve suggests. The
    same arguments give the same front.

    Args:
        curve: what was measured, as for ``fit``; both benchmarks.
        model: name of a model, or one whose other parameters are to be kept.
        trials: configurations to try.
        seed: makes the search repeatable.
        space: what to search; ``SearchSpace.for_model`` where it is None.
        task: gets the progress after each trial; once it is stopped, the front so far is returned.

    Raises:
        ParameterError: an argument is not accepted, or a benchmark was not measured.
    """
    import optuna
    from optuna.distributions import FloatDistribution

    measured = as_curve(curve)
    base = model_to_fit(model, curve=measured)
    for name, points in (("latency", measured.latency_s), ("bandwidth", measured.bandwidth_Bps)):
        if not np.isfinite(points).any():
            raise ParameterError(
                f"a front needs latency and bandwidth; {measured.name} has no {name}; fit to the "
                "other with fit(..., target=...)",
                key="curve",
            )
    total, seed, task = whole(trials, "trials", 1), whole(seed, "seed", 0), task_of(task)
    space = SearchSpace.for_model(base) if space is None else space
    base = base.with_values(space.fixed)
    distributions: dict[str, Any] = {
        d.key: FloatDistribution(float(d.clip(d.low)), float(d.clip(d.high)), log=d.log)
        for d in space.dimensions
    }
    sampler = optuna.samplers.TPESampler(seed=seed, multivariate=True)
    with quiet_optuna():
        study = optuna.create_study(directions=["minimize", "minimize"], sampler=sampler)
        for point in starting_points(base, measured, space):
            study.enqueue_trial({key: float(space[key].clip(x)) for key, x in point.items()})
        tried: list[list[float]] = []
        errors: list[tuple[float, float]] = []
        while len(errors) < total and not task.stopping:
            trial = study.ask(distributions)
            values = {key: space[key].clip(space[key].snap(x)) for key, x in trial.params.items()}
            found = _errors(base.with_values, values, measured)
            study.tell(trial, [EXCESSIVE_LOSS if np.isnan(e) else e for e in found])
            tried.append([float(values[key]) for key in space.keys])
            errors.append(found)
            task.report(len(errors), total)
    return ParetoFront(
        base,
        measured,
        space,
        np.array(tried, np.float64).reshape(-1, len(space)),
        np.array(errors, np.float64).reshape(-1, 2),
        seed,
    )


def _errors(
    build: Callable[[dict[str, float | int]], NetworkModel],
    values: dict[str, float | int],
    measured: OSUCurve,
) -> tuple[float, float]:
    """Return RMSPE of latency and of bandwidth in percent, nan where the values are refused."""
    try:
        errors = rmspe_by_target(simulate_osu(build(values), measured.sizes), measured)
    except WorkbenchError:
        return np.nan, np.nan
    return errors["latency"], errors["bandwidth"]
