"""How far fitted parameters move when the node pairs behind the curve are drawn again.

    intervals(fit(load("azure-hb96v3-hdr"), "protocol"), draws=50)

The datasets hold no single node pairs but, at each size, the least, the quartiles and the greatest
of ``count`` of them. A pair is therefore drawn as a level between 0 and 1 and read off the straight
lines between these five. With ``dependence="shared"`` a pair keeps its level at all sizes of both
benchmarks: one that is slow is slow throughout, so its bandwidth is as low as its latency is high.
With ``"independent"`` every point has a level of its own, which evens out over the sizes. The truth
is not in the data and lies between; the shared one gives the wider intervals.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from workbench.arrays import FloatArray
from workbench.checks import whole
from workbench.errors import ParameterError
from workbench.fit.losses import target_points
from workbench.fit.result import FitResult
from workbench.fit.study import FitStudy
from workbench.fit.trust.interval_scan import Scan
from workbench.fit.trust.residuals import Probe
from workbench.html_table import code, html_table
from workbench.measure import OSUCurve, Spread
from workbench.models import NetworkModel
from workbench.result import StoredResult
from workbench.suggestions import did_you_mean
from workbench.tasks import Task, task_of

if TYPE_CHECKING:
    import pandas as pd

Statistic = Literal["median", "pair"]
Dependence = Literal["shared", "independent"]

PERCENTILES = (5.0, 50.0, 95.0)  # the middle 90 %: of 50 draws two or three lie beyond each end
ENGINE = "least-squares"
TRIALS = 200
"""Simulations a refit may take: it begins at the fitted values, so one descent is enough."""

_LEVELS = np.array([0.0, 0.25, 0.5, 0.75, 1.0])  # of the five numbers of a ``Spread``


@dataclass(frozen=True, eq=False)
class Intervals(StoredResult):
    """The result of refits to drawn curves.

    Attributes:
        result: the fit they began with.
        values: float64[draws], SI, by key.
        rmspe: float64[draws], percent error of each refit to its own curve, of the fit's target.
        of: ``median`` where each curve was the median of as many drawn pairs as were measured,
            ``pair`` where it was a single pair.
        dependence: ``shared`` or ``independent``.
        seed: what made the draws repeatable.
        requested: number of draws requested; more than ``draws`` if it was stopped.
    """

    result: FitResult
    values: dict[str, FloatArray]
    rmspe: FloatArray
    of: Statistic
    dependence: Dependence
    seed: int
    requested: int

    @property
    def draws(self) -> int:
        """Number of refits."""
        return len(self.rmspe)

    def percentiles(self, key: str) -> tuple[float, float, float]:
        """Return the 5th, 50th and 95th percentile of a parameter, SI.

        Args:
            key: of a fitted parameter.
        """
        low, middle, high = np.percentile(self.values[key], PERCENTILES)
        return float(low), float(middle), float(high)

    def to_frame(self) -> pd.DataFrame:
        """Return one row a parameter: fitted value, unit, and the percentiles in SI."""
        import pandas as pd

        rows = []
        for dimension in self.result.space.dimensions:
            low, middle, high = self.percentiles(dimension.key)
            rows.append(
                {
                    "parameter": dimension.key,
                    "value": self.result.values[dimension.key],
                    "unit": dimension.unit,
                    "p5": low,
                    "p50": middle,
                    "p95": high,
                }
            )
        return pd.DataFrame(rows)

    def to_dict(self) -> dict[str, Any]:
        """Return the settings of the draws and the percentiles as values that JSON can hold."""
        return {
            "machine": self.result.measured.name,
            "model": self.result.model.name,
            "of": self.of,
            "dependence": self.dependence,
            "seed": self.seed,
            "draws": self.draws,
            "percentiles": list(PERCENTILES),
            "rmspe": np.percentile(self.rmspe, PERCENTILES).tolist(),
            "parameters": {key: list(self.percentiles(key)) for key in self.values},
        }

    def __repr__(self) -> str:
        low, middle, high = np.percentile(self.rmspe, PERCENTILES)
        drawn = (
            f"{self.draws}" if self.draws == self.requested else f"{self.draws} of {self.requested}"
        )
        return (
            f"Intervals({self.result.measured.name}, {drawn} draws of the {self.of}, levels "
            f"{self.dependence}, RMSPE {middle:.1f} % ({low:.1f} to {high:.1f}))"
        )

    def _repr_html_(self) -> str:
        rows = []
        for dimension in self.result.space.dimensions:
            numbers = (self.result.values[dimension.key], *self.percentiles(dimension.key))
            rows.append((code(dimension.key), *map(dimension.text, numbers)))
        return html_table(rows, ("parameter", "fitted", "5 %", "50 %", "95 %"), repr(self))


def intervals(
    result: FitResult,
    draws: int = 50,
    seed: int = 0,
    *,
    of: str = "median",
    dependence: str = "shared",
    trials: int = TRIALS,
    engine: str = ENGINE,
    task: Task | None = None,
) -> Intervals:
    """Return the spread of the fitted parameters over curves drawn from the measured spread.

    Each refit begins where the slopes at the fit say the best values have moved to, so that shifts
    smaller than what a search resolves are seen too, and thresholds and curvature are left to it.

    Args:
        result: a fit that succeeded, to a curve with the spread of what it was fitted to.
        draws: number of curves to draw and refit.
        seed: makes the draws and the refits repeatable.
        of: ``median`` for how sure the fit to the median is; ``pair`` for how much one pair of
            nodes differs from another.
        dependence: ``shared`` or ``independent``, see above.
        trials: simulations a refit.
        engine: what refits; one that searches far and wide needs more trials.
        task: once it is stopped, the draws so far are returned; the first is always made.

    Raises:
        ParameterError: the fit did not succeed, an argument is not accepted, or the curve has no
            spread.
    """
    _check(result, draws, of, dependence)
    statistic: Statistic = "pair" if of == "pair" else "median"
    depends: Dependence = "independent" if dependence == "independent" else "shared"
    values: dict[str, list[float]] = {key: [] for key in result.values}
    errors: list[float] = []
    name = {"both": "joint", "latency": "latency", "bandwidth": "bandwidth"}[result.target]

    def so_far() -> Intervals:
        arrays = {key: np.array(drawn) for key, drawn in values.items()}
        return Intervals(result, arrays, np.array(errors), statistic, depends, seed, draws)

    latest: list[Intervals] = []
    task = task_of(task)
    task.partial_from(lambda: latest[0] if latest else None)
    # Refit to the curve itself first: what the search could still gain must not count as spread.
    centre = _refit(result.measured, result, result.model, engine, trials, seed)
    response = _Response(centre)
    for number in range(draws):
        curve = draw_curve(
            result.measured,
            np.random.default_rng((seed, number)),
            of=statistic,
            dependence=depends,
            target=result.target,
        )
        refitted = _refit(curve, result, response.to(curve), engine, trials, seed)
        for key, value in refitted.values.items():
            values[key].append(float(value))
        errors.append(refitted.rmspe[name])
        latest[:] = [so_far()]
        task.report(number + 1, draws, f"{number + 1} of {draws} draws", latest[0])
        if task.stopping:
            break
        task.breathe()
    return so_far()


def draw_curve(
    curve: OSUCurve,  # with the spread of every benchmark of the target
    rng: np.random.Generator | int | None = None,
    *,
    of: Statistic = "median",  # of as many drawn pairs as were measured, or of one
    dependence: Dependence = "shared",
    target: str = "both",  # the other benchmark stays as it is
) -> OSUCurve:
    """Return a curve drawn from the spread, as other pairs of nodes might have given it."""
    generator = np.random.default_rng(rng)
    spreads = _spreads(curve, target)
    most = max(int(spread.count.max()) for spread in spreads.values())
    # One level a pair of nodes; in bandwidth the slow end is the low one.
    pairs = generator.uniform(size=most if of == "median" else 1)
    drawn = {"latency_s": curve.latency_s, "bandwidth_Bps": curve.bandwidth_Bps}
    for field, spread in spreads.items():
        values = np.array(drawn[field])
        for i in np.flatnonzero(spread.count > 0):
            n = int(spread.count[i]) if of == "median" else 1
            levels = pairs[:n] if dependence == "shared" else generator.uniform(size=n)
            if field == "bandwidth_Bps":
                levels = 1.0 - levels
            values[i] = np.median(np.interp(levels, _LEVELS, _quantiles(spread, int(i))))
        drawn[field] = values
    what = f"{'median of drawn pairs' if of == 'median' else 'one drawn pair'}, {dependence} levels"
    provenance = replace(
        curve.provenance,
        origin="synthetic",
        details={**curve.provenance.details, "drawn": what},
    )
    return replace(
        curve,
        name=f"{curve.name}[drawn]",
        latency_s=drawn["latency_s"],
        bandwidth_Bps=drawn["bandwidth_Bps"],
        provenance=provenance,
    )


class _Response:
    """The shift of a fit's best values with the curve, by the slopes at the fit."""

    def __init__(self, result: FitResult) -> None:
        self._result = result
        self._probe = Probe(result)
        self._scan = Scan(self._probe, self._probe.jacobian(), np.inf)
        self._measured = target_points(result.measured, result.target)

    def to(self, curve: OSUCurve) -> NetworkModel:
        """Return the model moved to another curve; the fitted one where that is refused."""
        known = np.isfinite(self._measured)
        change = np.log(target_points(curve, self._result.target)[known] / self._measured[known])
        start = self._probe.start
        moved = self._scan.follow(start, np.ones(len(start), bool), -change)
        if self._probe.at(moved) is None:
            return self._result.model
        return self._result.model.with_values(self._probe.moved(moved))


def _refit(
    curve: OSUCurve, result: FitResult, model: NetworkModel, engine: str, trials: int, seed: int
) -> FitResult:
    with FitStudy(
        curve,
        model,
        loss=result.loss,
        target=result.target,
        seed=seed,
        engine=engine,
        space=result.space,
    ) as study:
        return study.run(trials)


def _check(result: FitResult, draws: int, of: str, dependence: str) -> None:
    if not result.success:
        raise ParameterError(
            f"a fit must have succeeded to be refitted; got {result!r}", key="result"
        )
    whole(draws, "draws", 1)
    for key, value, known in (
        ("of", of, get_args(Statistic)),
        ("dependence", dependence, get_args(Dependence)),
    ):
        if value not in known:
            raise ParameterError(
                f"{key} must be one of {', '.join(known)}; got {value!r}"
                f"{did_you_mean(value, known)}",
                key=key,
            )
    _spreads(result.measured, result.target)


def _spreads(curve: OSUCurve, target: str) -> dict[str, Spread]:
    """Return the spreads that the target needs, by the curve's field."""
    found = {}
    for what, field, spread in (
        ("latency", "latency_s", curve.latency_spread),
        ("bandwidth", "bandwidth_Bps", curve.bandwidth_spread),
    ):
        if target not in ("both", what):
            continue
        if spread is None or not spread.count.any():
            raise ParameterError(
                f"intervals need the spread of the measured {what} over several runs; "
                f"{curve.name} is a single run; identify() reports what one curve determines",
                key="result",
            )
        found[field] = spread
    return found


def _quantiles(spread: Spread, i: int) -> FloatArray:
    return np.array(
        [
            spread.minimum[i],
            spread.p25[i],
            spread.median[i],
            spread.p75[i],
            spread.maximum[i],
        ]
    )
