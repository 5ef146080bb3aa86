"""How well the data determine each fitted parameter.

    found = identify(fit(load("azure-hb96v3-hdr"), "protocol"))

Two questions, asked in two ways. Near the fit, the slopes of the residuals say how sharply the
data hold each parameter and which ones they hold only together. Further out, a scan says how far
each parameter can go before the loss has grown by 5 %, with the others held and with the others
refitted. For 46 points a root mean square that is 5 % larger is a chi-square larger by 4.7, so
the refitted interval is about a 95 % one where the points err independently.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from workbench.arrays import FloatArray
from workbench.fit.result import FitResult
from workbench.fit.trust.interval_scan import Interval, Scan, scan_dimension, scan_threshold
from workbench.fit.trust.residuals import Probe
from workbench.fit.trust.thresholds import open_thresholds
from workbench.html_table import code, html_table
from workbench.models import ModelParameter
from workbench.result import Drawing, StoredResult
from workbench.tasks import Task, task_of

if TYPE_CHECKING:
    import pandas as pd


TOLERANCE = 0.05
"""How much the loss may grow, as a share, before a value counts as worse than the fitted one."""

NOISE_FLOOR = 0.001
"""The least relative error a point is taken to have: the benchmarks print two decimals."""

Identified = Literal["known", "bounded", "unknown"]

KNOWN_FACTOR = 2.0
"""A parameter counts as known if both ends of its interval are within this factor of each other.

That is ± 41 %: enough to know that a time is some hundred nanoseconds, but not that it is 140 ns.
"""

DETERMINED = 0.3
"""Standard error, as a share of the value, up to which a value is reported with ±; chosen: with a
larger one two standard errors reach below half of the value, and a factor says it better."""

STRONG = 0.95
"""Two parameters with at least this correlation count as determined only together."""

PRIOR_SD = 1.0 / np.sqrt(12.0)
"""Standard deviation of a value that is anywhere between its bounds, as a share of their range."""


@dataclass(frozen=True, eq=False)
class Identifiability(StoredResult):
    """The parameters of a fit that the data determine, and how well.

    Thresholds act in steps and have no slope: they appear in ``thresholds``, ``held``,
    ``refitted`` and ``verdicts``, not in ``keys``.

    Attributes:
        result: the fit.
        keys: the parameters with a slope, in the order of the arrays.
        relative_error: float64[n], one standard error as a share of the value (for a log scale:
            of its logarithm), from the slopes, the residuals' variance and the bounds; inf for a
            value of zero.
        correlation: float64[n, n], of the estimates; -1 where the data determine only the sum.
        informed: float64[n], 0 to 1, how much narrower the data make a parameter than its bounds
            do; 0 where they do not determine it.
        undetermined: directions in which every parameter could move across the bounds without
            leaving the noise, each as the share of its keys, largest first.
        at_bound: ``lower`` or ``upper`` by key.
        pairs: (key, key, correlation) of those at ``STRONG`` or beyond, strongest first.
        sums: keys of times that act only through their sum, one tuple a sum.
        flat: keys that can go from bound to bound, the others held, within ``TOLERANCE``.
        thresholds: by key the least and greatest value, in bytes, that give the very same curve.
        held, refitted: by key the values, SI, around the fitted one within which the loss stays
            within ``TOLERANCE``, the others held or refitted; empty where nothing was scanned.
        verdicts: by key what the data determine, as text.
        lower_loss: the least loss met on the way, where that is more than 0.1 % below the fit's:
            the search had not ended; nan otherwise.
        simulations: number of configurations simulated.
    """

    result: FitResult
    keys: tuple[str, ...]
    relative_error: FloatArray
    correlation: FloatArray = field(metadata={"axes": 2})
    informed: FloatArray
    undetermined: tuple[dict[str, float], ...]
    at_bound: dict[str, str]
    pairs: tuple[tuple[str, str, float], ...]
    sums: tuple[tuple[str, ...], ...]
    flat: tuple[str, ...]
    thresholds: dict[str, tuple[int, int]]
    held: Mapping[str, Interval]
    refitted: Mapping[str, Interval]
    verdicts: dict[str, str]
    lower_loss: float
    simulations: int

    plot = Drawing("plot_identifiability")

    @property
    def values(self) -> dict[str, float | int]:
        """The fitted values, SI by key, thresholds included."""
        return self.result.values

    @property
    def known(self) -> tuple[str, ...]:
        """Keys of parameters that the data determine: both ends within ``KNOWN_FACTOR``."""
        return self._in_state("known")

    @property
    def bounded(self) -> tuple[str, ...]:
        """Keys with one end, or two that are further apart than ``KNOWN_FACTOR``."""
        return self._in_state("bounded")

    @property
    def unknown(self) -> tuple[str, ...]:
        """Keys with neither end."""
        return self._in_state("unknown")

    def _in_state(self, state: Identified) -> tuple[str, ...]:
        return tuple(key for key in self.values if self.state(key) == state)

    def state(self, key: str) -> Identified:
        """Return whether a parameter is ``known``, ``bounded`` or ``unknown``.

        Args:
            key: of a fitted parameter.
        """
        interval = self.refitted.get(key)
        if interval is None:  # nothing was scanned: the slopes alone say how far it may go
            if key not in self.keys:
                return "unknown"
            dimension, (low, high) = self.result.space[key], self.interval(key)
            interval = Interval(low, high, low <= dimension.low, high >= dimension.high)
        if interval.everywhere or key in self.flat:
            return "unknown"
        one_sided = interval.at_low or interval.at_high
        return "bounded" if one_sided or interval.high > KNOWN_FACTOR * interval.low else "known"

    def interval(self, key: str, z: float = 1.96) -> tuple[float, float]:
        """Return the values within ``z`` standard errors, SI, cut at the bounds.

        Args:
            key: one of ``keys``.
            z: 1.96 for 95 % where the points err independently and the slopes hold that far.
        """
        dimension = self.result.space[key]
        value = float(self.values[key])
        error = float(self.relative_error[self.keys.index(key)])
        if dimension.log:
            low, high = value * np.exp(-z * error), value * np.exp(z * error)
        else:
            spread = z * error * value if np.isfinite(error) else dimension.high - dimension.low
            low, high = value - spread, value + spread
        return max(float(low), dimension.low), min(float(high), dimension.high)

    def intervals(self, z: float = 1.96) -> dict[str, tuple[float, float]]:
        """Return ``interval`` of every parameter that has a slope, SI by key.

        Args:
            z: as for ``interval``.
        """
        return {key: self.interval(key, z) for key in self.keys}

    def standard_error(self, key: str) -> float:
        """Return one standard error of a value, SI; nan where the data do not determine it.

        Args:
            key: of a fitted parameter.
        """
        if key not in self.keys or key in self.flat:
            return math.nan
        error = float(self.relative_error[self.keys.index(key)])
        return error * float(self.values[key]) if error < DETERMINED else math.nan

    def error_text(self, key: str) -> str:
        """Return how far a value may lie from the truth by the slopes, such as ``41 ns (3.3 %)``.

        Args:
            key: of a fitted parameter; of a threshold the values of the same curve are returned.
        """
        dimension = self.result.space[key]
        if key in self.thresholds:
            return _from_to(dimension, *self.thresholds[key])
        error = self.standard_error(key)
        if not math.isnan(error):
            share = 100.0 * error / float(self.values[key])
            return f"{dimension.text(error)} ({share:.2g} %)"
        if key in self.flat or key not in self.keys:
            return "not determined"
        return _factor_text(float(self.relative_error[self.keys.index(key)])) or "not determined"

    def correlated(self, least: float) -> tuple[tuple[str, str, float], ...]:
        """Return (key, key, correlation) of pairs at ``least`` or beyond, strongest first.

        Args:
            least: absolute value of the correlation, such as 0.9.
        """
        return _pairs(self.keys, self.correlation, least)

    def counted(self) -> str:
        """Return the numbers of known, bounded and unknown parameters as a sentence."""
        return (
            f"{len(self.known)} known within a factor of {KNOWN_FACTOR:g}, "
            f"{len(self.bounded)} bounded, {len(self.unknown)} unknown"
        )

    def to_frame(self) -> pd.DataFrame:
        """Return one row a parameter: value, errors, intervals in SI, and the verdict."""
        import pandas as pd

        return pd.DataFrame([self._row(d) for d in self.result.space.dimensions])

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the fit itself as values that JSON can hold; inf is a text."""
        frame = self.to_frame()
        rows = [{k: _plain(v) for k, v in row.items()} for row in frame.to_dict("records")]
        return {
            "machine": self.result.measured.name,
            "model": self.result.model.name,
            "tolerance": TOLERANCE,
            "parameters": rows,
            "keys": list(self.keys),
            "correlation": self.correlation.tolist(),
            "pairs": [list(pair) for pair in self.pairs],
            "sums": [list(keys) for keys in self.sums],
            "undetermined": [dict(direction) for direction in self.undetermined],
            "lower_loss": _plain(self.lower_loss),
            "simulations": self.simulations,
        }

    def __repr__(self) -> str:
        parts = [f"of {len(self.values)} parameters {self.counted()}"]
        if self.unknown:
            parts.append(f"unknown {', '.join(self.unknown)}")
        if self.at_bound:
            parts.append(f"at bound {', '.join(self.at_bound)}")
        parts += [f"only the sum of {' and '.join(keys)}" for keys in self.sums]
        if self.pairs:
            n = len(self.pairs)
            parts.append(f"{n} {'pair' if n == 1 else 'pairs'} determined only together")
        if not np.isnan(self.lower_loss):
            parts.append(f"the fit had not converged: loss {self.lower_loss:.4g} is near")
        return f"Identifiability({self.result.measured.name}, {'; '.join(parts)})"

    def _repr_html_(self) -> str:
        rows = (
            (code(d.key), d.text(self.values[d.key]), self.state(d.key), self.verdicts[d.key])
            for d in self.result.space.dimensions
        )
        head = ("parameter", "fitted", "it is", "what the data determine")
        return html_table(rows, head, repr(self), align="lrll")

    def _row(self, dimension: ModelParameter) -> dict[str, Any]:
        key = dimension.key
        at = self.keys.index(key) if key in self.keys else None
        held, refitted = self.held.get(key), self.refitted.get(key)
        return {
            "parameter": key,
            "value": self.values[key],
            "unit": dimension.unit,
            "relative_error": np.nan if at is None else self.relative_error[at],
            "informed": np.nan if at is None else self.informed[at],
            "held_low": np.nan if held is None else held.low,
            "held_high": np.nan if held is None else held.high,
            "refitted_low": np.nan if refitted is None else refitted.low,
            "refitted_high": np.nan if refitted is None else refitted.high,
            "at_bound": self.at_bound.get(key, ""),
            "flat": key in self.flat,
            "state": self.state(key),
            "verdict": self.verdicts[key],
        }


def identify(
    result: FitResult,
    *,
    scan: bool = True,
    task: Task | None = None,
) -> Identifiability:
    """Return how well the data determine each parameter of a fit.

    The standard errors take the bounds as what was known before: a value anywhere between them.
    That changes nothing for a parameter the data hold, and gives one they do not hold an error as
    wide as its bounds instead of none at all. The variance is that of the residuals, model error
    included, so the errors are those of a model that is wrong by as much as it shows.

    Args:
        result: a fit that succeeded.
        scan: also move each parameter away from the fit until the loss has grown by
            ``TOLERANCE``; a few dozen simulations a parameter.
        task: gets the progress after each parameter; once it is stopped, parameters not yet
            scanned are left so.

    Raises:
        ParameterError: the fit did not succeed, or this release cannot simulate its model.
    """
    task = task_of(task)
    probe = Probe(result)
    slopes = probe.jacobian()
    variance, covariance = _covariance(slopes, probe.best.residuals)
    sd = np.sqrt(np.diag(covariance))
    keys = tuple(d.key for d in probe.dimensions)
    correlation = covariance / np.outer(sd, sd)
    limit = max((1.0 + TOLERANCE) * probe.best.loss, probe.loss_of_share(NOISE_FLOOR))
    scanning = Scan(probe, slopes, limit)
    held: dict[str, Interval] = {}
    refitted: dict[str, Interval] = {}
    total = len(result.space)
    for done, dimension in enumerate(result.space.dimensions if scan else ()):
        if task.stopping:
            break
        key = dimension.key
        if key in keys:
            held[key], refitted[key] = scan_dimension(scanning, keys.index(key), variance)
        else:
            held[key], refitted[key] = scan_threshold(scanning, result, key)
        task.report(done + 1, total, "parameters examined")
        task.breathe()
    pairs = _pairs(keys, correlation, STRONG)
    sums = _sums(scanning, keys)
    thresholds = open_thresholds(result)
    flat = tuple(
        d.key
        for d in result.space.dimensions
        if (held[d.key].everywhere if d.key in held else _is_flat(d.key, keys, slopes, variance))
    )
    lower = scanning.least if scanning.least < 0.999 * probe.best.loss else np.nan
    return Identifiability(
        result=result,
        keys=keys,
        relative_error=np.array(
            [
                _relative(d, float(s), float(probe.values[d.key]))
                for d, s in zip(probe.dimensions, sd, strict=True)
            ]
        ),
        correlation=correlation,
        informed=np.clip(1.0 - sd / PRIOR_SD, 0.0, 1.0),
        undetermined=_undetermined(keys, slopes, variance),
        at_bound=result.at_bound,
        pairs=pairs,
        sums=sums,
        flat=flat,
        thresholds=thresholds,
        held=held,
        refitted=refitted,
        verdicts=verdicts(
            result,
            dict(zip(keys, sd.tolist(), strict=True)),
            pairs,
            sums,
            flat,
            refitted,
            thresholds,
        ),
        lower_loss=float(lower),
        simulations=probe.simulations,
    )


def _covariance(slopes: FloatArray, residuals: FloatArray) -> tuple[float, FloatArray]:
    """Return the residuals' variance and the covariance of the positions.

    The parameters that count are the directions that the data determine better than the bounds
    do (MacKay, Bayesian Interpolation, 1992, eq. 4.9), iterated, as the variance decides it.
    """
    squares = float(residuals @ residuals)
    eigenvalues = np.linalg.svd(slopes, compute_uv=False) ** 2
    variance = max(squares / len(residuals), NOISE_FLOOR**2)
    for _ in range(10):
        informed_dimensions = float(np.sum(eigenvalues / (eigenvalues + variance / PRIOR_SD**2)))
        freedom = max(len(residuals) - informed_dimensions, 1.0)
        variance = max(squares / freedom, NOISE_FLOOR**2)
    precision = slopes.T @ slopes / variance + np.eye(slopes.shape[1]) / PRIOR_SD**2
    return variance, np.linalg.inv(precision)


def _relative(dimension: ModelParameter, sd: float, value: float) -> float:
    """Return a standard error in positions as a share of the value."""
    if dimension.log:
        return sd * float(np.log(dimension.high / dimension.low))
    return sd * (dimension.high - dimension.low) / value if value > 0 else float("inf")


def _undetermined(
    keys: tuple[str, ...], slopes: FloatArray, variance: float
) -> tuple[dict[str, float], ...]:
    """Return the directions along which moving by the bounds' spread stays within the noise."""
    _, singular, directions = np.linalg.svd(slopes, full_matrices=True)
    strength = np.zeros(len(keys))
    strength[: len(singular)] = singular * PRIOR_SD / np.sqrt(variance)
    found = []
    for direction in directions[strength < 1.0]:
        order = np.argsort(-np.abs(direction))
        # Entries below a tenth belong to parameters that hardly take part.
        found.append({keys[i]: float(direction[i]) for i in order if abs(direction[i]) >= 0.1})
    return tuple(found)


def _pairs(
    keys: tuple[str, ...], correlation: FloatArray, least: float
) -> tuple[tuple[str, str, float], ...]:
    found = [
        (keys[i], keys[j], float(correlation[i, j]))
        for i in range(len(keys))
        for j in range(i + 1, len(keys))
        if abs(correlation[i, j]) >= least
    ]
    return tuple(sorted(found, key=lambda pair: -abs(pair[2])))


def _sums(scan: Scan, keys: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Return the groups of times with equal slopes (within 1 %, the differences' error)."""
    found: list[list[int]] = []
    for i, dimension in enumerate(scan.probe.dimensions):
        column = scan.natural_slopes[:, i]
        if dimension.kind != "time" or not dimension.log or not column.any():
            continue
        for group in found:
            first = scan.natural_slopes[:, group[0]]
            if np.linalg.norm(column - first) <= 0.01 * np.linalg.norm(first):
                group.append(i)
                break
        else:
            found.append([i])
    return tuple(tuple(keys[i] for i in group) for group in found if len(group) > 1)


def _is_flat(key: str, keys: tuple[str, ...], slopes: FloatArray, variance: float) -> bool:
    """Return whether half the range, by the slopes, stays within the tolerance; without a scan."""
    if key not in keys:
        return False
    column = slopes[:, keys.index(key)]
    return bool(0.25 * column @ column < _growth() * len(column) * variance)


def _growth() -> float:
    """Return the relative growth of the sum of squares when its root grows by the tolerance."""
    return (1.0 + TOLERANCE) ** 2 - 1.0


def _plain(value: Any) -> Any:
    if isinstance(value, float | np.floating):
        return float(value) if np.isfinite(value) else str(float(value))
    return value.item() if isinstance(value, np.generic) else value


_UNSEEN = "the data do not determine it"


def verdicts(
    result: FitResult,
    errors: Mapping[str, float],  # standard errors in positions, by key
    pairs: Sequence[tuple[str, str, float]],  # strongly correlated, strongest first
    sums: Sequence[tuple[str, ...]],  # times that act only through their sum
    flat: Sequence[str],  # parameters that may have any value
    refitted: Mapping[str, Interval],  # by key, with the others refitted
    thresholds: Mapping[str, tuple[int, int]],  # values of the same curve, by key
) -> dict[str, str]:
    """Return a short text for each parameter, by key."""
    texts = {}
    for dimension in result.space.dimensions:
        key, interval = dimension.key, refitted.get(dimension.key)
        if key in flat:
            text = _UNSEEN
        elif key in thresholds:
            text = _threshold(dimension, thresholds[key], interval)
        else:
            text = _partner(key, pairs, sums) or _alone(
                dimension, errors[key], float(result.values[key]), interval
            )
        where = result.at_bound.get(key)
        texts[key] = f"at its {where} bound; {text}" if where else text
    return texts


def _threshold(
    dimension: ModelParameter, equivalent: tuple[int, int], refitted: Interval | None
) -> str:
    text = f"any value {_from_to(dimension, *equivalent)} gives the same"
    if refitted is None or (refitted.low >= equivalent[0] and refitted.high <= equivalent[1]):
        return text
    return f"{text}; {_from_to(dimension, refitted.low, refitted.high)} does nearly as well"


def _from_to(dimension: ModelParameter, low: float, high: float) -> str:
    """Return a range of sizes as text; an end one byte short of a round size is "below" it."""
    if dimension.clip(dimension.high) <= high:
        return f"from {dimension.text(low)} on"
    return f"from {dimension.text(low)} to below {dimension.text(high + 1)}"


def _alone(dimension: ModelParameter, sd: float, value: float, refitted: Interval | None) -> str:
    if refitted is not None and refitted.everywhere:
        return "any value, if the others are refitted"
    if refitted is not None and refitted.at_low:
        return f"no more than {dimension.text(refitted.high)}"
    if refitted is not None and refitted.at_high:
        return f"no less than {dimension.text(refitted.low)}"
    if not dimension.log:
        return f"± {dimension.text(sd * (dimension.high - dimension.low))}"
    error = sd * math.log(dimension.high / dimension.low)
    if error < DETERMINED:
        return f"± {100.0 * error:.2g} %"
    return _factor_text(error) or _UNSEEN


def _factor_text(error: float) -> str:
    """Return a standard error of a logarithm as a factor, empty where it is beyond 100."""
    return f"within a factor of {math.exp(error):.2g}" if error < math.log(100.0) else ""


def _partner(
    key: str, pairs: Sequence[tuple[str, str, float]], sums: Sequence[tuple[str, ...]]
) -> str:
    """Return the text on parameters that the data determine only together with this one, or ""."""
    for keys in sums:
        if key in keys:
            return f"only its sum with {' and '.join(k for k in keys if k != key)}"
    for a, b, rho in pairs:
        if key in (a, b):
            return f"only together with {b if key == a else a} (correlation {rho:+.2f})"
    return ""
