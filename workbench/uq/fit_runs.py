"""Runs of a fitted model: at measured points, within boxes of parameters as costs.

A time is a cost and so is the inverse of a bandwidth: costs add up, and polynomials of them are
accurate. A posterior begins in a box around the fit and goes on in boxes around itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from workbench import tasks
from workbench.arrays import FloatArray
from workbench.blas import one_thread
from workbench.errors import ParameterError, WorkbenchError
from workbench.fit.result import FitResult
from workbench.fit.trust.identify import Identifiability, identify
from workbench.measure import OSUCurve
from workbench.models import ModelParameter, NetworkModel
from workbench.parameters import Parameter
from workbench.simulate import BENCHMARKS, simulate_osu
from workbench.uq.designs import design
from workbench.uq.parameters import ParameterBox
from workbench.uq.posterior import Posterior
from workbench.uq.replicas import Replicas
from workbench.uq.surrogate import Surrogate, fit_surrogate

_POINTS = (160, 600)  # of a surrogate, least and most
_WIDER = 2.0  # than the values that fit within 5 %
_LEAST_SHARE = 0.02  # half the width of a box, of a parameter's value
_MARGIN = 0.3  # around a posterior, of its width
_EDGE, _PRESSED = 0.02, 0.005  # of a box at its end, and the share of draws that is too much there


def start(result: FitResult) -> tuple[list[ModelParameter], ParameterBox]:
    """Return the parameters that vary, and the box around the fit that a posterior begins with."""
    known = identify(result)
    dimensions = [result.space[key] for key in known.keys]
    if not dimensions:
        raise ParameterError(
            "a fit needs parameters that act other than in steps, or there is nothing to vary; "
            f"got {', '.join(result.space.keys)}: search another one",
            key="result",
        )
    return dimensions, _first_box(known, dimensions)


class FitRuns:
    """Runs of a fit's model, at parameters as costs: times, and the inverses of bandwidths."""

    def __init__(self, result: FitResult, dimensions: Sequence[ModelParameter]) -> None:
        self.result, self.dimensions = result, dimensions
        self._points: list[FloatArray] = []
        self._times: list[FloatArray] = []

    def times(self, costs: FloatArray) -> FloatArray:
        """Return float64[n, points] in seconds at costs [n, parameters], nan where refused."""
        with ThreadPoolExecutor(tasks.cores()) as pool:
            rows = list(pool.map(self._one, exchanged(self.dimensions, costs)))
        self._points.append(costs)
        self._times.append(np.array(rows))
        return self._times[-1]

    def surrogate(self, box: ParameterBox, seed: int) -> Surrogate:
        """Return a surrogate within a box, fitted to all runs in it, new ones among them."""
        d = len(box)
        wanted = 1.5 * (d + 1) * (d + 2) * (d + 3) / 6
        self.times(design(box, int(np.clip(wanted, *_POINTS)), seed=seed))
        points, times = np.concatenate(self._points), np.concatenate(self._times)
        inside = (np.abs(box.to_unit(points)) <= 1.0).all(axis=1)
        points, times = points[inside], times[inside]
        known = np.isfinite(times).all(axis=1)
        if np.count_nonzero(known) < 2 * (d + 1):
            raise ParameterError(
                "the model must accept most values near the fit; it refuses "
                f"{np.count_nonzero(~known)} of {len(times)}: fix the parameters that it refuses "
                "together",
                key="result",
            )
        with one_thread():
            return fit_surrogate(box, points[known], times[known], degrees=(1, 2, 3, 4))

    def _one(self, values: FloatArray) -> FloatArray:
        try:
            return simulated_times(self.result, with_values(self.result, self.dimensions, values))
        except WorkbenchError:
            return np.full(len(points_of(self.result)), np.nan)


def simulated_times(result: FitResult, model: NetworkModel) -> FloatArray:
    """Return a model's times at the points that a fit used, float64[points], seconds."""
    points = points_of(result)
    wanted = tuple(dict.fromkeys(benchmark for _, benchmark in points))
    curve = simulate_osu(model, result.measured.sizes, benchmarks=wanted)
    return _times_of(points, curve)


def _times_of(points: Sequence[tuple[int, str]], curve: OSUCurve) -> FloatArray:
    """Return latencies, and times of one message at the measured bandwidth, seconds."""
    at = {size: i for i, size in enumerate(curve.sizes.tolist())}
    return np.array(
        [
            curve.latency_s[at[size]]
            if benchmark == "latency"
            else size / curve.bandwidth_Bps[at[size]]
            for size, benchmark in points
        ]
    )


def points_of(result: FitResult) -> list[tuple[int, str]]:
    """Return size in bytes and benchmark of each measured point of the fit's target."""
    wanted = BENCHMARKS if result.target == "both" else (result.target,)
    curve = result.measured
    columns = {"latency": curve.latency_s, "bandwidth": curve.bandwidth_Bps}
    return [
        (size, benchmark)
        for benchmark in wanted
        for size, value in zip(curve.sizes.tolist(), columns[benchmark], strict=True)
        if np.isfinite(value)
    ]


def replicas_of(result: FitResult) -> Replicas:
    """Return the measured points as tests of one replica."""
    points = points_of(result)
    return Replicas.of(
        _times_of(points, result.measured).tolist(),
        [f"{benchmark} at {size} B" for size, benchmark in points],
        {
            "size_bytes": [size for size, _ in points],
            "benchmark": [1 + BENCHMARKS.index(benchmark) for _, benchmark in points],
        },
    )


def exchanged(dimensions: Sequence[ModelParameter], values: FloatArray) -> FloatArray:
    """Return parameters as costs, or costs as parameters: a bandwidth is inverted, [..., n]."""
    rates = np.array([one.kind == "bandwidth" for one in dimensions])
    return np.where(rates, 1.0 / np.where(rates, values, 1.0), values)


def _bounds(dimensions: Sequence[ModelParameter]) -> FloatArray:
    """Return the least and the greatest cost, float64[2, parameters]."""
    ends = np.array([[one.low for one in dimensions], [one.high for one in dimensions]])
    return np.sort(exchanged(dimensions, ends), axis=0)


def _box(dimensions: Sequence[ModelParameter], low: FloatArray, high: FloatArray) -> ParameterBox:
    """Return the box between costs, within the bounds of the search."""
    least, most = _bounds(dimensions)
    found = []
    for one, a, b in zip(
        dimensions, np.clip(low, least, most), np.clip(high, least, most), strict=True
    ):
        rate = one.kind == "bandwidth"
        log = one.log and one.kind not in ("time", "bandwidth")
        name, unit = (f"1 / {one.key}", "s/B") if rate else (one.key, one.unit)
        found.append(Parameter(name, unit, float(a), float(b), log))
    return ParameterBox(found)


def _first_box(known: Identifiability, dimensions: Sequence[ModelParameter]) -> ParameterBox:
    """Return a box twice as wide as the values that fit within 5 %, around the fitted ones."""
    keys = [one.key for one in dimensions]
    ends = np.array([[known.refitted[key].low, known.refitted[key].high] for key in keys]).T
    costs = np.sort(exchanged(dimensions, ends), axis=0)
    values = np.array([float(known.values[key]) for key in keys])
    centre = exchanged(dimensions, values)
    least = _LEAST_SHARE * np.abs(centre)
    below = np.maximum(_WIDER * (centre - costs[0]), least)
    above = np.maximum(_WIDER * (costs[1] - centre), least)
    return _box(dimensions, centre - below, centre + above)


def pressed_ends(posterior: Posterior, dimensions: Sequence[ModelParameter]) -> NDArray[np.bool_]:
    """Return bool[2, parameters], where the posterior ends at a box that could be wider."""
    units = posterior.box.to_unit(posterior.parameters.reshape(-1, len(dimensions)))
    edge = 1.0 - 2.0 * _EDGE
    share = np.stack([(units < -edge).mean(axis=0), (units > edge).mean(axis=0)])
    ends = np.stack([posterior.box.low, posterior.box.high])
    return np.asarray((share > _PRESSED) & ~np.isclose(ends, _bounds(dimensions), rtol=1e-6))


def next_box(
    box: ParameterBox,
    posterior: Posterior,
    dimensions: Sequence[ModelParameter],
    pressed: NDArray[np.bool_],  # [2, parameters]
) -> ParameterBox:
    """Return the box around a posterior, wider where it ended at the last one."""
    units = box.to_unit(posterior.parameters.reshape(-1, len(box)))
    low, high = np.quantile(units, (0.001, 0.999), axis=0)
    width = high - low
    low = low - np.where(pressed[0], 1.0, _MARGIN) * width
    high = high + np.where(pressed[1], 1.0, _MARGIN) * width
    return _box(dimensions, box.from_unit(low), box.from_unit(high))


def with_values(
    result: FitResult, dimensions: Sequence[ModelParameter], values: Iterable[float]
) -> NetworkModel:
    """Return the fitted model with other values, SI; whole numbers are rounded."""
    return result.model.with_values(
        {one.key: one.clip(float(value)) for one, value in zip(dimensions, values, strict=True)}
    )
