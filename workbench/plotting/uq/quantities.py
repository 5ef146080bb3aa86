"""What a posterior inferred, in units that people read, with priors and the ends of axes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from workbench.arrays import FloatArray

if TYPE_CHECKING:
    from workbench.parameters import Parameter
    from workbench.uq.noise import HyperParameter
    from workbench.uq.posterior import Posterior

Density = Callable[[FloatArray], FloatArray]

_LOG_FROM = 5.0  # greatest to least draw, from which an axis is logarithmic
_MARGIN = 0.1  # of the draws' range, on both sides of an axis
_BEYOND = 0.03  # of an axis, beyond a bound, so that the prior's end shows
_SCALES = {
    "s": (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9), ("ps", 1e-12)),
    "s/B": (("ns/B", 1e-9),),
    "B": (("MiB", 2.0**20), ("KiB", 2.0**10), ("B", 1.0)),
    "B/s": (("TB/s", 1e12), ("GB/s", 1e9), ("MB/s", 1e6), ("kB/s", 1e3), ("B/s", 1.0)),
}


@dataclass(frozen=True, eq=False)
class Quantity:
    """A parameter or hyper-parameter, all in the unit that is shown."""

    name: str
    unit: str
    drawn: FloatArray  # [chains, draws]
    low: float
    high: float
    prior: Density  # per unit, within the bounds

    @property
    def label(self) -> str:
        """Name and unit, for an axis."""
        return f"{self.name} ({self.unit or 'ratio'})"

    @property
    def logarithmic(self) -> bool:
        """Whether the draws differ so much that only a logarithmic axis shows them."""
        return bool(self.low > 0 and self.drawn.max() > _LOG_FROM * self.drawn.min())

    @property
    def axis_type(self) -> str:
        """Type of an axis of this quantity, ``log`` or ``linear``."""
        return "log" if self.logarithmic else "linear"

    @property
    def ends(self) -> tuple[float, float]:
        """Ends of an axis: around the draws, and a little beyond the bounds at most."""
        least, most, low, high = (
            math.log10(x) if self.logarithmic else float(x)
            for x in (self.drawn.min(), self.drawn.max(), self.low, self.high)
        )
        margin = _MARGIN * (most - least) or 0.01 * (high - low)
        first, last = max(least - margin, low), min(most + margin, high)
        beyond = _BEYOND * (last - first)
        first, last = first - beyond, last + beyond
        return (10**first, 10**last) if self.logarithmic else (first, last)

    def grid(self, intervals: int) -> FloatArray:
        """Return float64[intervals + 1] from end to end of the axis, evenly on its scale."""
        space = np.geomspace if self.logarithmic else np.linspace
        return np.asarray(space(*self.ends, intervals + 1))

    def density(self, edges: FloatArray) -> FloatArray:
        """Return the draws' density in each bin, per unit or per decade."""
        scale = np.log10(edges) if self.logarithmic else edges
        counts = np.histogram(self.drawn, edges)[0]
        return np.asarray(counts / self.drawn.size / np.diff(scale))

    def prior_density(self, values: FloatArray) -> FloatArray:
        """Return the prior's density, per unit or per decade; 0 beyond the bounds."""
        inside = (values >= self.low) & (values <= self.high)
        found = self.prior(np.clip(values, self.low, self.high))
        return np.where(inside, found * (values * math.log(10) if self.logarithmic else 1.0), 0.0)


def quantities(posterior: Posterior) -> list[Quantity]:
    """Return the parameters and the inferred hyper-parameters, in the order of the summary."""
    posterior.pick(1)  # refuses a posterior without draws
    found = [
        _shown(p.key, p.unit, posterior.parameters[:, :, i], p.low, p.high, _parameter_prior(p))
        for i, p in enumerate(posterior.box.parameters)
    ]
    return found + [
        _shown(h.name, h.unit, posterior.hyper[:, :, i], h.low, h.high, _hyper_prior(h))
        for i, h in enumerate(posterior.noise.hyper)
        if h.fixed is None
    ]


def shown_scale(unit: str, middle: float) -> tuple[str, float]:
    """Return the unit in which a value has one to three digits, and its size in ``unit``."""
    scales = _SCALES.get(unit, ((unit, 1.0),))
    return next((pair for pair in scales if middle >= pair[1]), scales[-1])


def _shown(
    name: str, unit: str, drawn: FloatArray, low: float, high: float, prior: Density
) -> Quantity:
    """Return the quantity in the unit in which its median has one to three digits."""
    shown, scale = shown_scale(unit, float(np.median(np.abs(drawn))))
    return Quantity(
        name,
        shown,
        drawn / scale,
        low / scale,
        high / scale,
        lambda values: prior(values * scale) * scale,
    )


def _parameter_prior(parameter: Parameter) -> Density:
    low, high = parameter.low, parameter.high
    if parameter.log:
        return lambda values: 1 / (values * math.log(high / low))
    if parameter.mean is None or parameter.sd is None:
        return lambda values: np.full_like(values, 1 / (high - low))
    return _truncated_normal(parameter.mean, parameter.sd, low, high)


def _hyper_prior(hyper: HyperParameter) -> Density:
    ends = (math.log(hyper.low), math.log(hyper.high))
    of_logarithm = _truncated_normal(math.log(hyper.centre), hyper.spread, *ends)
    return lambda values: of_logarithm(np.log(values)) / values


def _truncated_normal(mean: float, sd: float, low: float, high: float) -> Density:
    from scipy.stats import truncnorm

    bounds = (low - mean) / sd, (high - mean) / sd
    return lambda values: np.asarray(truncnorm.pdf(values, *bounds, loc=mean, scale=sd))
