"""How far a simulated curve lies from a measured one: the losses a fit may minimise.

``LOSSES`` holds the six of Table I in Suetterlein et al., HPC Network Simulation Tuning via
Automatic Extraction of Hardware Parameters, with y the observation and x the prediction; the sums
run over every message size of every benchmark of the target. Absolute losses are in the units OSU
prints, microseconds and MB/s of 10^6 bytes, mixed as they are there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from workbench.arrays import FloatArray
from workbench.checks import above_zero
from workbench.errors import ParameterError
from workbench.measure import OSUCurve
from workbench.suggestions import did_you_mean

LossTarget = Literal["both", "latency", "bandwidth"]
TARGETS: tuple[str, ...] = get_args(LossTarget)

HUBER_DELTA = 1.0
"""Error at which the Huber loss turns from a square into a line: 1 us or 1 MB/s.

Table I gives no value; 1 is the usual one, and makes the loss close to MAE for bandwidths.
"""

EXCESSIVE_LOSS = 1e30
"""The loss of a configuration that cannot be simulated: above any that can, and finite."""


@dataclass(frozen=True)
class Loss:
    """One way to weigh the differences between prediction and observation.

    Attributes:
        name: its name in ``LOSSES``.
        title: its name in full.
        formula: what is computed, in one line.
        relative: whether each difference is divided by its observation.
        measure: the function itself, of x and y as float64[n].
        rises_with: name of a loss that this one is a rising function of; both put any two
            predictions in the same order, so a search by ranks finds the same.
        risen: that function.
    """

    name: str
    title: str
    formula: str
    relative: bool
    measure: Callable[[FloatArray, FloatArray], float]
    rises_with: str = ""
    risen: Callable[[float], float] | None = None

    def __call__(self, simulated: ArrayLike, measured: ArrayLike) -> float:
        """Return the loss; both arrays are of one length and one unit a point.

        Args:
            simulated: float64[n], x, the prediction.
            measured: float64[n], y, the observation; a point that is nan is left out.

        Returns:
            The loss, ``inf`` where a prediction is not finite.

        Raises:
            ParameterError: the lengths differ, no point was measured, or an observation that a
                relative loss divides by is not positive.
        """
        x, y = _pairs(simulated, measured)
        if self.relative and (y <= 0).any():
            raise ParameterError(
                f"{self.name} divides by the measured values, which must be positive; got "
                f"{y[y <= 0][0]:g}; leave that point out or use an absolute loss",
                key="loss",
            )
        if not np.isfinite(x).all():
            return math.inf
        # A prediction far enough off may overflow when squared; that is as bad as it sounds.
        with np.errstate(over="ignore"):
            return self.measure(x, y)


def huber(delta: float = HUBER_DELTA) -> Loss:
    """Return the Huber loss that turns from a square into a line at an error of ``delta``.

    Args:
        delta: the error in microseconds or MB/s.

    Raises:
        ParameterError: ``delta`` is not a positive number.
    """
    delta = above_zero(delta, "delta")

    def measure(x: FloatArray, y: FloatArray) -> float:
        a = np.abs(x - y)
        return float(np.mean(np.where(a <= delta, 0.5 * a * a, a * delta - 0.5 * delta * delta)))

    formula = f"1/n Σ ½a² where a = |x-y| ≤ {delta:g}, else {delta:g}·a - ½·{delta:g}²"
    name = "huber" if delta == HUBER_DELTA else f"huber({delta:g})"
    return Loss(name, f"Huber, delta {delta:g}", formula, False, measure)


def summed(loss: str | Loss) -> Loss:
    """Return the sum of a loss over single points, each size of each benchmark by itself.

    Section III-A of Suetterlein et al. prints the objective as a sum over sizes of the loss of one
    size; section III-B averages over all points within the loss, which is what ``LOSSES`` do. The
    two differ for losses with a root: summed, RMSRE becomes the sum of relative errors and RMSE
    that of absolute ones. MAE, MSE and Huber are the same up to the factor n.

    Args:
        loss: a loss or its name in ``LOSSES``.

    Raises:
        ParameterError: there is no such loss.
    """
    single = find_loss(loss)

    def measure(x: FloatArray, y: FloatArray) -> float:
        return math.fsum(single.measure(x[i : i + 1], y[i : i + 1]) for i in range(len(x)))

    return Loss(
        f"summed({single.name})",
        f"{single.title} of each point, summed",
        f"Σ of {single.formula} at n = 1",
        single.relative,
        measure,
    )


def _mae(x: FloatArray, y: FloatArray) -> float:
    return float(np.mean(np.abs(y - x)))


def _mse(x: FloatArray, y: FloatArray) -> float:
    return float(np.mean(np.square(y - x)))


def _rmsre(x: FloatArray, y: FloatArray) -> float:
    return math.sqrt(float(np.mean(np.square((x - y) / y))))


def _rising(
    name: str, title: str, formula: str, base: Loss, function: Callable[[float], float]
) -> Loss:
    """Return the loss that is this rising function of another."""

    def measure(x: FloatArray, y: FloatArray) -> float:
        return function(base.measure(x, y))

    return Loss(name, title, formula, base.relative, measure, base.name, function)


DEFAULT_LOSS = "rmsre"
_RMSRE = Loss(DEFAULT_LOSS, "Root mean square relative error", "√(1/n Σ ((x-y)/y)²)", True, _rmsre)

_MSE = Loss("mse", "Mean square error", "1/n Σ (y-x)²", False, _mse)

LOSSES: Mapping[str, Loss] = MappingProxyType(
    {
        loss.name: loss
        for loss in (
            _RMSRE,
            _rising(
                "rmspe",
                "Root mean square percent error",
                "100·√(1/n Σ ((x-y)/y)²)",
                _RMSRE,
                lambda value: 100.0 * value,
            ),
            Loss("mae", "Mean absolute error", "1/n Σ |y-x|", False, _mae),
            _MSE,
            _rising("rmse", "Root mean square error", "√(1/n Σ (y-x)²)", _MSE, math.sqrt),
            huber(),
        )
    }
)
"""The losses by name: ``rmsre`` first, which the paper finds the most balanced one."""


def rmspe(simulated: ArrayLike, measured: ArrayLike) -> float:
    """Return the root mean square percent error, in percent.

    Args:
        simulated: float64[n], the prediction.
        measured: float64[n], the observation; a point that is nan is left out.
    """
    return LOSSES["rmspe"](simulated, measured)


def find_loss(loss: str | Loss) -> Loss:
    """Return the loss of a name, in either case; or the loss itself.

    Besides the names in ``LOSSES`` there are such as ``huber(5)`` and ``summed(rmsre)``.
    """
    if isinstance(loss, Loss):
        return loss
    name = str(loss).lower()
    found = LOSSES.get(name) or _named_huber(name) or _named_summed(name)
    if found is None:
        raise ParameterError(
            f"loss must be one of {', '.join(LOSSES)}; got {loss!r}{did_you_mean(loss, LOSSES)}",
            key="loss",
        )
    return found


def _named_huber(name: str) -> Loss | None:
    """Return the loss of a name such as ``huber(5)``; None for any other name."""
    if not (name.startswith("huber(") and name.endswith(")")):
        return None
    try:
        return huber(float(name[6:-1]))
    except ValueError:
        return None


def _named_summed(name: str) -> Loss | None:
    """Return the loss of a name such as ``summed(rmsre)``; None for any other name."""
    if not (name.startswith("summed(") and name.endswith(")")):
        return None
    single = LOSSES.get(name[7:-1])
    return None if single is None else summed(single)


def find_target(target: str) -> LossTarget:
    """Return the target: ``latency``, ``bandwidth`` or ``both``; refuse anything else."""
    known: dict[str, LossTarget] = {"both": "both", "latency": "latency", "bandwidth": "bandwidth"}
    if not isinstance(target, str) or target not in known:
        raise ParameterError(
            f"target must be one of {', '.join(TARGETS)}; got {target!r}"
            f"{did_you_mean(target, TARGETS)}",
            key="target",
        )
    return known[target]


def target_points(curve: OSUCurve, target: LossTarget = "both") -> FloatArray:
    """Return the values of a target: latencies in us, then bandwidths in MB/s."""
    parts = {
        "latency": (curve.latency_us,),
        "bandwidth": (curve.bandwidth_MBps,),
        "both": (curve.latency_us, curve.bandwidth_MBps),
    }[target]
    return np.concatenate(parts)


def rmspe_by_target(simulated: OSUCurve, measured: OSUCurve) -> dict[str, float]:
    """Return the percent errors ``joint``, ``latency`` and ``bandwidth``.

    Args:
        simulated: the prediction, at the sizes of ``measured``.
        measured: the observation.

    Returns:
        Percent by name; nan for a benchmark that was not measured.
    """
    errors = {}
    for name, target in _REPORTED:
        observed = target_points(measured, target)
        some = bool(np.isfinite(observed).any())
        errors[name] = rmspe(target_points(simulated, target), observed) if some else math.nan
    return errors


_REPORTED: tuple[tuple[str, LossTarget], ...] = (
    ("joint", "both"),
    ("latency", "latency"),
    ("bandwidth", "bandwidth"),
)


def _pairs(simulated: Any, measured: Any) -> tuple[FloatArray, FloatArray]:
    """Return x and y as float64[n] at the points that were measured."""
    x = np.asarray(simulated, dtype=np.float64)
    y = np.asarray(measured, dtype=np.float64)
    if x.shape != y.shape or x.ndim != 1:
        raise ParameterError(
            "simulated and measured must be one-dimensional and of one length; got the shapes "
            f"{x.shape} and {y.shape}; simulate at the sizes that were measured",
            key="simulated",
        )
    known = np.isfinite(y)
    if not known.any():
        raise ParameterError(
            "at least one point must be measured; got none; choose another target",
            key="measured",
        )
    return x[known], y[known]
