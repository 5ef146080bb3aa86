"""Whether a fitted model knows more than the points it was fitted to.

    hold_out(load("azure-hb96v3-hdr"), "protocol").ratio
    cross_target(load("azure-hb96v3-hdr"), "protocol", fitted="latency")

``hold_out`` fits on every second size and predicts the others; ``cross_target`` fits to one
benchmark and predicts the other.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
from numpy.typing import NDArray

from workbench.arrays import BoolArray, FloatArray
from workbench.errors import ParameterError
from workbench.fit.losses import DEFAULT_LOSS, Loss, LossTarget, find_target, rmspe_by_target
from workbench.fit.measured import as_curve
from workbench.fit.result import FitResult
from workbench.fit.space import SearchSpace
from workbench.fit.study import DEFAULT_TRIALS, FitStudy
from workbench.fit.trust.thresholds import open_thresholds, settle_thresholds
from workbench.measure import OSUCurve
from workbench.measure.curve import byte_label
from workbench.models import NetworkModel
from workbench.provenance import Provenance
from workbench.result import Drawing, StoredResult
from workbench.simulate import simulate_osu
from workbench.tasks import Task, task_of

if TYPE_CHECKING:
    import pandas as pd

    from workbench.fit.measured import Measured


ENGINE = "least-squares"


@dataclass(frozen=True, eq=False)
class HoldOut(StoredResult):
    """A model fitted at some sizes of a curve and evaluated at the others.

    Attributes:
        result: the fit at the fitted sizes.
        model: the analysed model: the fitted one, its thresholds settled on request.
        measured: the whole curve.
        simulated: the model's curve at all its sizes, in one run.
        fitted: bool[n], the sizes that were fitted.
        open: bool[n], held-out sizes between two fitted ones of different regimes: which regime
            they belong to is not in the fitted sizes, whatever the model.
    """

    result: FitResult
    model: NetworkModel
    measured: OSUCurve
    simulated: OSUCurve
    fitted: BoolArray
    open: BoolArray

    plot = Drawing("plot_fit", lambda one: one.result)

    @property
    def fitted_rmspe(self) -> dict[str, float]:
        """Percent errors ``joint``, ``latency`` and ``bandwidth`` at the fitted sizes."""
        return _rmspe(self.simulated, self.measured, self.fitted)

    @property
    def held_out_rmspe(self) -> dict[str, float]:
        """The same at the sizes that were held out."""
        return _rmspe(self.simulated, self.measured, ~self.fitted)

    @property
    def determined_rmspe(self) -> dict[str, float]:
        """The same at those held-out sizes that are not ``open``."""
        return _rmspe(self.simulated, self.measured, ~self.fitted & ~self.open)

    @property
    def interpolated_rmspe(self) -> dict[str, float]:
        """The same for straight lines, on log axes, through the fitted points and no model.

        What the fitted sizes tell without knowing anything of networks; sizes beyond the fitted
        ones are on the last line continued.
        """
        return _rmspe(_interpolated(self.measured, self.fitted), self.measured, ~self.fitted)

    @property
    def ratio(self) -> float:
        """The error at the held-out sizes over that at the fitted ones, of the fit's target.

        inf where the fitted ones are met exactly and the others are not, nan where all are.
        """
        name = _NAMES[self.result.target]
        return _over(self.held_out_rmspe[name], self.fitted_rmspe[name])

    @property
    def determined_ratio(self) -> float:
        """The same without the ``open`` sizes."""
        name = _NAMES[self.result.target]
        return _over(self.determined_rmspe[name], self.fitted_rmspe[name])

    def to_frame(self) -> pd.DataFrame:
        """Return one row a size: whether fitted or open, and the percent errors."""
        import pandas as pd

        latency, bandwidth = self.measured.percent_error(self.simulated)
        return pd.DataFrame(
            {
                "size_bytes": self.measured.sizes,
                "fitted": self.fitted,
                "open": self.open,
                "latency_error_percent": latency,
                "bandwidth_error_percent": bandwidth,
            }
        )

    def __repr__(self) -> str:
        name = _NAMES[self.result.target]
        text = (
            f"HoldOut({self.measured.name}, {type(self.model).__name__}, {name} RMSPE "
            f"{self.fitted_rmspe[name]:.1f} % at {np.count_nonzero(self.fitted)} fitted sizes, "
            f"{self.held_out_rmspe[name]:.1f} % at {np.count_nonzero(~self.fitted)} others, "
            f"{self.ratio:.2f} times"
        )
        if not self.open.any():
            return f"{text})"
        sizes = ", ".join(byte_label(int(size)) for size in self.measured.sizes[self.open])
        return f"{text}; {self.determined_ratio:.2f} times without {sizes}, whose regime is open)"

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(repr(self))}</p>"


@dataclass(frozen=True, eq=False)
class CrossTarget(StoredResult):
    """A model fitted to one benchmark and evaluated in the other.

    Attributes:
        result: the fit; the other benchmark had no part in it.
        fitted: the benchmark it was fitted to.
        predicted: the other one.
    """

    result: FitResult
    fitted: LossTarget
    predicted: LossTarget

    plot = Drawing("plot_fit", lambda one: one.result)

    def to_frame(self) -> pd.DataFrame:
        """Return one row a benchmark: ``benchmark``, ``part`` (how it was used), ``rmspe``, %."""
        import pandas as pd

        rows = ((self.fitted, "fitted"), (self.predicted, "predicted"))
        return pd.DataFrame(
            [{"benchmark": name, "part": part, "rmspe": self.rmspe[name]} for name, part in rows]
        )

    @property
    def rmspe(self) -> dict[str, float]:
        """Percent errors ``joint``, ``latency`` and ``bandwidth``; nan where the fit failed."""
        return self.result.rmspe

    @property
    def fitted_rmspe(self) -> float:
        """Percent error in the benchmark that was fitted."""
        return self.rmspe[self.fitted]

    @property
    def predicted_rmspe(self) -> float:
        """Percent error in the other benchmark."""
        return self.rmspe[self.predicted]

    def __repr__(self) -> str:
        return (
            f"CrossTarget({self.result.measured.name}, {type(self.result.model).__name__} fitted "
            f"to {self.fitted} alone, RMSPE {self.fitted_rmspe:.1f} %; "
            f"{self.predicted} {self.predicted_rmspe:.1f} %)"
        )


def hold_out(
    curve: Measured,
    model: str | NetworkModel = "protocol",
    *,
    every: int = 2,
    phase: int = 0,
    settle: bool = True,
    loss: str | Loss = DEFAULT_LOSS,
    target: str = "both",
    engine: str = ENGINE,
    trials: int = DEFAULT_TRIALS,
    seed: int = 0,
    space: SearchSpace | None = None,
    task: Task | None = None,
) -> HoldOut:
    """Fit at every ``every``-th size, and return the error of the model at the others.

    Args:
        curve: what was measured.
        model: name of a model, or one whose other parameters are to be kept.
        every: 2 for every second size.
        phase: index of the first size that is fitted; 0 fits both ends of the usual 23 sizes.
        settle: whether thresholds that the fitted sizes leave open go to their greatest value
            (``settle_thresholds``), which uses nothing that was held out.
        loss: as for ``fit``.
        target: as for ``fit``.
        engine: as for ``fit``.
        trials: as for ``fit``.
        seed: as for ``fit``.
        space: as for ``fit``; fix thresholds here that are known from the library's settings.
        task: as for ``fit``.

    Raises:
        ParameterError: an argument is not accepted, or nothing could be simulated.
    """
    curve = as_curve(curve)
    if every < 2 or not 0 <= phase < every or len(curve) <= phase:
        raise ParameterError(
            f"every must be at least 2, and phase from 0 to below every and {len(curve)}; got "
            f"every={every}, phase={phase}",
            key="every",
        )
    fitted = np.arange(len(curve)) % every == phase
    part = curve.select(fitted, f"{phase + 1} of every {every}")
    with FitStudy(
        part, model, loss=loss, target=target, engine=engine, seed=seed, space=space
    ) as study:
        result = study.run(trials, task=task)
    if not result.success:
        raise ParameterError(
            f"the fit must have succeeded to be analysed; {result.message}; change the model or "
            "the space",
            key="model",
        )
    chosen = settle_thresholds(result) if settle else result.model
    return HoldOut(
        result=result,
        model=chosen,
        measured=curve,
        simulated=simulate_osu(chosen, curve.sizes),
        fitted=fitted,
        open=~fitted & _between(curve, result),
    )


def cross_target(
    curve: Measured,
    model: str | NetworkModel = "protocol",
    *,
    fitted: str = "latency",
    loss: str | Loss = DEFAULT_LOSS,
    engine: str = ENGINE,
    trials: int = DEFAULT_TRIALS,
    seed: int = 0,
    space: SearchSpace | None = None,
    task: Task | None = None,
) -> CrossTarget:
    """Fit to one benchmark alone, and return the error of the model in the other.

    Args:
        curve: what was measured, in both benchmarks.
        model: name of a model, or one whose other parameters are to be kept.
        fitted: ``latency`` or ``bandwidth``.
        loss: as for ``fit``.
        engine: as for ``fit``.
        trials: as for ``fit``.
        seed: as for ``fit``.
        space: as for ``fit``.
        task: as for ``fit``.

    Raises:
        ParameterError: an argument is not accepted, or a benchmark was not measured.
    """
    target = find_target(fitted)
    if target == "both":
        raise ParameterError(
            "fitted must be one benchmark, latency or bandwidth; got both", key="fitted"
        )
    other: LossTarget = "bandwidth" if target == "latency" else "latency"
    with FitStudy(
        curve, model, loss=loss, target=target, engine=engine, seed=seed, space=space
    ) as study:
        result = study.run(trials, task=task)
    return CrossTarget(result, target, other)


def generalisation_table(
    curves: Iterable[Measured],
    models: Sequence[str | NetworkModel] = ("snappr", "protocol"),
    *,
    loss: str | Loss = DEFAULT_LOSS,
    engine: str = ENGINE,
    trials: int = DEFAULT_TRIALS,
    seed: int = 0,
    task: Task | None = None,
) -> pd.DataFrame:
    """Return each model's errors on each machine at points that it was not fitted to.

    Args:
        curves: what was measured on the machines.
        models: names of models, or models.
        loss: as for ``fit``.
        engine: as for ``fit``.
        trials: as for ``fit``.
        seed: as for ``fit``.
        task: gets each row once it is there; once it is stopped, the table ends with the row in
            flight.

    Returns:
        Four rows a machine and model, with the ``check`` (every second size from the first or the
        second one on, latency alone, bandwidth alone), the percent error at what was ``fitted``,
        that at what was ``predicted``, its ``ratio``, and, where sizes were held out, the error
        and the ratio without sizes whose regime is open, ``determined`` and ``determined_ratio``,
        and the error of straight lines through the fitted points, ``interpolated``.
    """
    import pandas as pd

    task = task_of(task)
    each = task.part()
    settings = _FitSettings(loss=loss, engine=engine, trials=trials, seed=seed, task=each)
    wanted = list(product(map(as_curve, curves), models, _CHECKS))
    rows: list[dict[str, Any]] = []
    for curve, model, check in wanted:
        if task.stopping:
            break
        row = {
            "machine": curve.name,
            "model": model if isinstance(model, str) else model.name,
            "check": check,
            **_row(check, curve, model, settings),
        }
        rows.append(row)
        task.report(len(rows), len(wanted), f"{curve.name}, {check}", row)
    return pd.DataFrame(rows)


_CHECKS = ("sizes from the first", "sizes from the second", "latency alone", "bandwidth alone")
_NAMES = {"both": "joint", "latency": "latency", "bandwidth": "bandwidth"}


class _FitSettings(TypedDict):
    loss: str | Loss
    engine: str
    trials: int
    seed: int
    task: Task


def _row(
    check: str, curve: OSUCurve, model: str | NetworkModel, settings: _FitSettings
) -> dict[str, float]:
    if check.startswith("sizes"):
        held = hold_out(curve, model, phase=_CHECKS.index(check), **settings)
        return {
            "fitted": held.fitted_rmspe["joint"],
            "predicted": held.held_out_rmspe["joint"],
            "ratio": held.ratio,
            "determined": held.determined_rmspe["joint"],
            "determined_ratio": held.determined_ratio,
            "interpolated": held.interpolated_rmspe["joint"],
        }
    crossed = cross_target(curve, model, fitted=check.split()[0], **settings)
    fitted, predicted = crossed.fitted_rmspe, crossed.predicted_rmspe
    return {"fitted": fitted, "predicted": predicted, "ratio": _over(predicted, fitted)}


def _between(curve: OSUCurve, result: FitResult) -> BoolArray:
    """Return a mask of the sizes between the last fitted one of a regime and the next's first."""
    inside = np.zeros(len(curve), bool)
    for low, high in open_thresholds(result).values():
        inside |= (curve.sizes > low) & (curve.sizes <= high)
    return inside


def _interpolated(curve: OSUCurve, keep: BoolArray) -> OSUCurve:
    """Return the curve as straight lines on log axes through the points that are kept."""
    return OSUCurve(
        name="lines",
        sizes=curve.sizes,
        latency_s=_lines(curve.sizes, curve.latency_s, keep),
        bandwidth_Bps=_lines(curve.sizes, curve.bandwidth_Bps, keep),
        provenance=Provenance("synthetic", f"lines through points of {curve.name}"),
    )


def _lines(sizes: NDArray[np.int64], values: FloatArray, keep: BoolArray) -> FloatArray:
    x = np.log(sizes)
    known = keep & np.isfinite(values)
    xs, ys = x[known], np.log(values[known])
    if len(xs) < 2:
        return np.full(len(sizes), np.nan)
    slopes = np.diff(ys) / np.diff(xs)
    at = np.clip(np.searchsorted(xs, x) - 1, 0, len(slopes) - 1)
    lines: FloatArray = np.exp(ys[at] + slopes[at] * (x - xs[at]))
    return lines


def _rmspe(simulated: OSUCurve, measured: OSUCurve, keep: BoolArray) -> dict[str, float]:
    if not keep.any():
        return dict.fromkeys(_NAMES.values(), math.nan)
    return rmspe_by_target(simulated.select(keep, "part"), measured.select(keep, "part"))


def _over(error: float, fitted: float) -> float:
    if fitted > 0.0:
        return error / fitted
    return math.inf if error > 0.0 else math.nan
