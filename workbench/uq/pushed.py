"""What models drawn from a posterior give: numbers, comparisons, curves and crossovers.

All of one result are of the same draws, so that what is unsure of two alternatives in the same way
cancels where they are compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from workbench.arrays import FloatArray
from workbench.checks import number
from workbench.errors import ParameterError
from workbench.provenance import Provenance
from workbench.result import Drawing, StoredResult
from workbench.suggestions import did_you_mean
from workbench.units import Kind, format_quantity

if TYPE_CHECKING:
    import pandas as pd


LEVELS = (0.5, 0.9)
"""Of the intervals, unless others are asked for."""

_KINDS: Mapping[str, Kind] = MappingProxyType({"s": "time", "B/s": "bandwidth"})
_BINARY = ((30, "Gi"), (20, "Mi"), (10, "Ki"))  # powers of 2 and their prefixes


@dataclass(frozen=True)
class PosteriorOrigin:
    """The question that a posterior was carried on to, and whether its draws may be trusted.

    Attributes:
        title: of the question.
        verdict: a sentence on the chains, and what else to know of the intervals.
        trusted: whether the chains have converged and there is no warning.
        provenance: of the numbers.
        python: the line that gives the result, with ``posterior`` as the posterior's name, or
            ``calibration``, ``first`` and ``second`` as those of calibrations.
    """

    title: str
    verdict: str
    trusted: bool
    provenance: Provenance
    python: str


@dataclass(frozen=True, eq=False, repr=False)
class PushedForward(StoredResult):
    """Values of some quantities for models drawn from a posterior.

    Attributes:
        names: of the quantities.
        values: float64[draws, quantities], in ``unit``, or in the units of the function that gave
            them.
        unit: ``s`` or ``B``; empty where it is not known, or for a pure number.
        fitted: float64[quantities], the values for the fitted model itself; None if not known.
        origin: the question, and the posterior's verdict; None if not known.
    """

    names: tuple[str, ...]
    values: NDArray[np.float64] = field(metadata={"axes": 2})
    unit: str = ""
    fitted: NDArray[np.float64] | None = None
    origin: PosteriorOrigin | None = None

    plot = Drawing("plot_pushed_forward")

    def of(self, name: str) -> FloatArray:
        """Return the values of one quantity, float64[draws].

        Args:
            name: of the quantity.

        Raises:
            ParameterError: there is no such quantity.
        """
        return np.asarray(self.values[:, place_of(name, self.names, "quantity")])

    def probability_below(self, name: str, other: str | float) -> float:
        """Return the probability that a quantity is below another one or below a number.

        Draws in which the two are equal count half.

        Args:
            name: of the quantity.
            other: name of another quantity of the same draws, or a number.

        Raises:
            ParameterError: there is no such quantity.
        """
        left = self.of(name)
        right = self.of(other) if isinstance(other, str) else float(other)
        return float(np.mean((left < right) + 0.5 * (left == right)))

    def to_frame(self, levels: Sequence[float] = LEVELS) -> pd.DataFrame:
        """Return one row a quantity and level.

        Args:
            levels: of the central intervals, between 0 and 1.

        Returns:
            ``quantity``, ``level``, ``fitted`` where it is known, ``median``, ``low`` and
            ``high``; a unit that is known ends the names of the last four: ``median (s)``.
        """
        import pandas as pd

        rows = [
            (name, level, *middle_and_ends(column, level))
            for name, column in zip(self.names, self.values.T, strict=True)
            for level in checked_levels(levels)
        ]
        unit = f" ({self.unit})" if self.unit else ""
        heads = [f"{name}{unit}" for name in ("median", "low", "high")]
        frame = pd.DataFrame(rows, columns=["quantity", "level", *heads])
        if self.fitted is not None:
            by_name = dict(zip(self.names, self.fitted.tolist(), strict=True))
            frame.insert(2, f"fitted{unit}", [by_name[name] for name in frame["quantity"]])
        return frame

    def __repr__(self) -> str:
        parts = [f"{len(self.values)} draws", *self._found(), *said_of(self.origin)]
        return f"{type(self).__name__}({'; '.join(parts)})"

    def _found(self) -> list[str]:
        ends = (
            f"{name} {value_text(middle, self.unit)} ({value_text(low, self.unit)} to "
            f"{value_text(high, self.unit)})"
            for name, column in zip(self.names, self.values.T, strict=True)
            for middle, low, high in [middle_and_ends(column, LEVELS[-1])]
        )
        return [f"{', '.join(ends)}, {100 * LEVELS[-1]:g} % intervals"]

    def _check(self) -> None:
        if self.values.shape[1] != len(self.names):
            raise ParameterError("values must have a column for each quantity", key="values")
        self._check_lengths({"fitted": len(self.names)})


class PushedComparison(PushedForward):
    """Times of alternatives for the same models, drawn from a posterior."""

    plot = Drawing("plot_comparison")

    @property
    def probabilities(self) -> dict[str, float]:
        """Probability by name that an alternative is the fastest; those that tie share a draw."""
        first = self._fastest
        shares = (first / first.sum(axis=1, keepdims=True)).mean(axis=0)
        return dict(zip(self.names, shares.tolist(), strict=True))

    @property
    def tied(self) -> float:
        """Share of the draws in which no alternative alone is the fastest."""
        return float(np.mean(self._fastest.sum(axis=1) > 1))

    @property
    def verdict(self) -> str:
        """One sentence: which alternative is the fastest, and with what probability."""
        always = [
            name for name, wins in zip(self.names, self._fastest.T, strict=True) if wins.all()
        ]
        if len(always) > 1:
            return f"{' and '.join(always)} tie as the fastest in every draw"
        name, probability = max(self.probabilities.items(), key=lambda each: each[1])
        ties = f"; {100 * self.tied:.0f} % of the draws are ties" if self.tied else ""
        word = "faster" if len(self.names) == 2 else "the fastest"
        return f"{name} is {word} with probability {probability:.2f}{ties}"

    @property
    def _fastest(self) -> NDArray[np.bool_]:
        return np.asarray(self.values == self.values.min(axis=1, keepdims=True))

    def _found(self) -> list[str]:
        return [self.verdict, *super()._found()]


@dataclass(frozen=True, eq=False, repr=False)
class PushedCurves(StoredResult):
    """Curves for models drawn from a posterior, at the same places.

    Attributes:
        names: of the curves.
        units: of each curve's values: ``s``, or empty for a pure number.
        x_name: what the places are.
        x_unit: ``s`` or ``B``.
        x: float64[points], in ``x_unit``.
        values: float64[draws, curves, points], in the curve's unit.
        fitted: float64[curves, points], for the fitted model itself.
        origin: the question, and the posterior's verdict.
    """

    names: tuple[str, ...]
    units: tuple[str, ...]
    x_name: str
    x_unit: str
    x: NDArray[np.float64]
    values: NDArray[np.float64] = field(metadata={"axes": 3})
    fitted: NDArray[np.float64] = field(metadata={"axes": 2})
    origin: PosteriorOrigin

    plot = Drawing("plot_pushed_curves")

    def of(self, name: str) -> FloatArray:
        """Return one curve of each draw, float64[draws, points].

        Args:
            name: of the curve.

        Raises:
            ParameterError: there is no such curve.
        """
        return np.asarray(self.values[:, place_of(name, self.names, "curve")])

    def to_frame(self, levels: Sequence[float] = LEVELS) -> pd.DataFrame:
        """Return one row a curve, place and level.

        Args:
            levels: of the central intervals, between 0 and 1.

        Returns:
            ``curve``, ``unit``, the place with its unit, ``level``, ``fitted``, ``median``,
            ``low`` and ``high``.
        """
        import pandas as pd

        rows = []
        for at, (name, unit) in enumerate(zip(self.names, self.units, strict=True)):
            for level in checked_levels(levels):
                ends = middle_and_ends(self.values[:, at], level)
                columns = zip(self.x, self.fitted[at], *ends, strict=True)
                rows += [(name, unit, x, level, *found) for x, *found in columns]
        place = f"{self.x_name} ({self.x_unit})"
        head = ["curve", "unit", place, "level", "fitted", "median", "low", "high"]
        return pd.DataFrame(rows, columns=head)

    def __repr__(self) -> str:
        parts = [
            f"{', '.join(self.names)} at {len(self.x)} places, {self.x_name} from "
            f"{value_text(self.x[0], self.x_unit)} to {value_text(self.x[-1], self.x_unit)}",
            f"{len(self.values)} draws",
            *said_of(self.origin),
        ]
        return f"PushedCurves({'; '.join(parts)})"

    def _check(self) -> None:
        if self.values.shape[1:] != (len(self.names), len(self.x)):
            raise ParameterError("values must be float64[draws, curves, points]", key="values")
        if self.fitted.shape != self.values.shape[1:] or len(self.units) != len(self.names):
            raise ParameterError("fitted and units must be those of the curves", key="fitted")


@dataclass(frozen=True, eq=False, repr=False)
class PushedCrossover(StoredResult):
    """The size at which one of two algorithms becomes the faster, for models of a posterior.

    Attributes:
        times: of both algorithms at each size.
        crossing: float64[draws], B: the least size from which on the algorithm that is the faster
            of large messages is so; nan where one is the faster of all sizes, or they tie.
        fitted: the same for the fitted model itself, B.
        several: share of the draws in which the order changes more than once; the last counts.
    """

    times: PushedCurves
    crossing: NDArray[np.float64]
    fitted: float
    several: float

    plot = Drawing("plot_crossover")

    @property
    def crosses(self) -> float:
        """Share of the draws in which there is a crossover among the sizes."""
        return float(np.isfinite(self.crossing).mean())

    @property
    def above(self) -> str:
        """The algorithm that is the faster of the largest size in most draws."""
        return self.times.names[int(self.probability_faster()[-1] < 0.5)]

    def probability_faster(self, sizes: ArrayLike | None = None) -> FloatArray:
        """Return the probability that the first algorithm is the faster, float64[sizes].

        Draws in which both take the same time count half. Between the sizes that were simulated
        times are taken as linear in the size.

        Args:
            sizes: float64[sizes], B; None takes those that were simulated.
        """
        first, second = (self.times_at(name, sizes) for name in self.times.names)
        return np.asarray(((first < second) + 0.5 * (first == second)).mean(axis=0))

    def times_at(self, name: str, sizes: ArrayLike | None = None) -> FloatArray:
        """Return the times of one algorithm, float64[draws, sizes], s.

        Args:
            name: of the algorithm.
            sizes: float64[sizes], B, between which times are linear; None takes the simulated.

        Raises:
            ParameterError: there is no such algorithm.
        """
        known = self.times.of(name)
        if sizes is None:
            return known
        places = np.asarray(sizes, np.float64)
        return np.stack([np.interp(places, self.times.x, row) for row in known])

    @property
    def verdict(self) -> str:
        """One sentence: from which size on which algorithm is the faster, with an interval."""
        ends = (value_text(self.times.x[at], "B") for at in (0, -1))
        among = " to ".join(ends)
        first, second = self.times.values[:, 0], self.times.values[:, 1]
        if (first == second).all():
            return f"tied: both take the same time at every size from {among}"
        other = next(name for name in self.times.names if name != self.above)
        if not self.crosses:
            return f"{self.above} beats {other} in every draw, or ties, from {among}"
        middle, low, high = middle_and_ends(self.crossing[np.isfinite(self.crossing)], LEVELS[-1])
        text = (
            f"{self.above} beats {other} from {value_text(middle, 'B')} on "
            f"({value_text(low, 'B')} to {value_text(high, 'B')}, {100 * LEVELS[-1]:g} % interval)"
        )
        if self.crosses < 1.0:
            text += f"; {100 * (1 - self.crosses):.0f} % of the draws have no crossover in {among}"
        if self.several:
            text += f"; in {100 * self.several:.0f} % the order changes more than once"
        return text

    def to_frame(self, levels: Sequence[float] = LEVELS) -> pd.DataFrame:
        """Return one row a level: the crossover's size in B of those draws that have one.

        Args:
            levels: of the central intervals, between 0 and 1.

        Returns:
            ``level``, ``fitted (B)``, ``median (B)``, ``low (B)``, ``high (B)``, and ``crosses``,
            the share of draws with a crossover. ``times.to_frame()`` has the times of both.
        """
        import pandas as pd

        found = self.crossing[np.isfinite(self.crossing)]
        rows = [
            (
                level,
                self.fitted,
                *(middle_and_ends(found, level) if len(found) else (np.nan,) * 3),
                self.crosses,
            )
            for level in checked_levels(levels)
        ]
        heads = [f"{name} (B)" for name in ("fitted", "median", "low", "high")]
        return pd.DataFrame(rows, columns=["level", *heads, "crosses"])

    def __repr__(self) -> str:
        parts = [f"{len(self.crossing)} draws", self.verdict, *said_of(self.times.origin)]
        return f"PushedCrossover({'; '.join(parts)})"

    def _check(self) -> None:
        self._check_lengths({"crossing": len(self.times.values)})


def place_of(name: str, names: Sequence[str], what: str) -> int:
    """Return the place of a name, or raise ParameterError with the known ones."""
    if name not in names:
        raise ParameterError(
            f"the {what} must be one of {', '.join(names)}; got {name!r}"
            f"{did_you_mean(str(name), names)}",
            key="name",
        )
    return list(names).index(name)


def checked_levels(levels: ArrayLike) -> tuple[float, ...]:
    """Return levels of central intervals, each between 0 and 1."""
    found = tuple(number(level, "levels", 0.001, 0.999) for level in np.atleast_1d(levels))
    if not found:
        raise ParameterError("levels must not be empty", key="levels")
    return found


def middle_and_ends(values: FloatArray, level: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return median, low and high end of the central interval over the first axis."""
    shares = [0.5, 0.5 * (1.0 - level), 0.5 * (1.0 + level)]
    # Between a number and infinity there is nothing to interpolate.
    method = "linear" if np.isfinite(values).all() else "inverted_cdf"
    middle, low, high = np.quantile(values, shares, axis=0, method=method)  # type: ignore[call-overload]
    return middle, low, high


def value_text(value: float | FloatArray, unit: str) -> str:
    """Return a value with its unit: ``1.3 µs``, ``64 KiB``, ``any`` where it has no bound."""
    value = float(value)
    if np.isposinf(value):
        return "any"
    if unit in _KINDS:
        return format_quantity(value, _KINDS[unit])
    if unit == "B":
        power, prefix = next((each for each in _BINARY if value >= 2 ** each[0]), (0, ""))
        return f"{value / 2**power:.3g} {prefix}B"
    return f"{value:.4g}{f' {unit}' if unit else ''}"


def said_of(origin: PosteriorOrigin | None) -> list[str]:
    """Return the posterior's verdict for the end of a line."""
    return [] if origin is None else [origin.verdict]
