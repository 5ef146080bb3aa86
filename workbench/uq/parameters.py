"""Uncertain parameters of a simulator: their scaled coordinates and draws from their priors."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_ndtr, ndtri_exp

from workbench.arrays import FloatArray
from workbench.checks import whole
from workbench.errors import ParameterError
from workbench.parameters import Parameter


@dataclass(frozen=True, init=False)
class ParameterBox:
    """Independent uncertain parameters, and the scale from -1 to 1 that surrogates use.

    A coordinate is linear in the parameter's value, or in the logarithm of the value where the
    prior is log-uniform; -1 is the lower bound and 1 the upper one.

    Attributes:
        parameters: in the order of the columns of every array of values; names are unique.

    Raises:
        ParameterError: there is no parameter, or two have one name.
    """

    parameters: tuple[Parameter, ...]

    def __init__(self, parameters: Iterable[Parameter]) -> None:
        found = tuple(parameters)
        if not found or not all(isinstance(each, Parameter) for each in found):
            raise ParameterError(
                "parameters must be one Parameter or more; got "
                f"{', '.join(type(each).__name__ for each in found) or 'none'}",
                key="parameters",
            )
        names = [each.key for each in found]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ParameterError(
                f"names of parameters must be unique; got {', '.join(twice)} more than once",
                key="parameters",
            )
        object.__setattr__(self, "parameters", found)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the parameters, in order."""
        return tuple(each.key for each in self.parameters)

    @property
    def units(self) -> tuple[str, ...]:
        """Units of the parameters, in order."""
        return tuple(each.unit for each in self.parameters)

    @property
    def low(self) -> FloatArray:
        """Lower bounds, float64[parameters]."""
        return np.array([each.low for each in self.parameters])

    @property
    def high(self) -> FloatArray:
        """Upper bounds, float64[parameters]."""
        return np.array([each.high for each in self.parameters])

    def to_unit(self, values: ArrayLike) -> FloatArray:
        """Return the coordinates of values: from -1 at the lower bounds to 1 at the upper ones.

        Args:
            values: (..., parameters); values outside the bounds have coordinates beyond 1.

        Raises:
            ParameterError: the last axis has another length, or a parameter that is scaled in its
                logarithm is not above 0.
        """
        found = self.columns(values, "values").copy()
        low, high, log = self._scale
        if not (found[..., log] > 0).all():
            names = [name for name, scaled in zip(self.names, log, strict=True) if scaled]
            raise ParameterError(
                f"values of {', '.join(names)} must be above 0: they are scaled in their logarithm",
                key="values",
            )
        found[..., log] = np.log(found[..., log])
        return np.asarray(((found - low) - (high - found)) / (high - low))

    def from_unit(self, coordinates: ArrayLike) -> FloatArray:
        """Return the values at coordinates: from the lower bounds at -1 to the upper ones at 1.

        Args:
            coordinates: (..., parameters).

        Raises:
            ParameterError: the last axis has another length.
        """
        x = self.columns(coordinates, "coordinates")
        low, high, log = self._scale
        found = 0.5 * ((1 - x) * low + (1 + x) * high)
        found[..., log] = np.exp(found[..., log])
        # Rounding of the logarithm must not leave the bounds.
        return np.where(np.abs(x) <= 1, np.clip(found, self.low, self.high), found)

    def log_prior_unit(self, coordinates: ArrayLike) -> FloatArray:
        """Return the logarithm of the prior's density, normalised over the coordinates.

        A uniform and a log-uniform parameter contribute -log 2 each.

        Args:
            coordinates: (..., parameters); the density is 0 beyond -1 and 1.

        Returns:
            float64[...], -inf outside.

        Raises:
            ParameterError: the last axis has another length.
        """
        x = self.columns(coordinates, "coordinates")
        found = np.zeros(x.shape[:-1])
        for i, each in enumerate(self.parameters):
            if each.mean is None or each.sd is None:
                found -= math.log(2)
                continue
            middle, half = 0.5 * (each.low + each.high), 0.5 * (each.high - each.low)
            off = (middle - each.mean) / each.sd + half / each.sd * x[..., i]
            peak = math.log(half / each.sd) - 0.5 * math.log(2 * math.pi)
            found += peak - 0.5 * off**2 - _log_mass(*_ends(each))
        return np.where((np.abs(x) <= 1).all(axis=-1), found, -np.inf)

    def sample(self, n: int, seed: np.random.Generator | int | None = 0) -> FloatArray:
        """Return values drawn from the prior, float64[n, parameters].

        Args:
            n: how many.
            seed: makes the draws repeatable; None for others each time, or a generator.

        Raises:
            ParameterError: ``n`` is not a whole number of at least 0, or the seed is negative.
        """
        rng = generator(seed)
        uniform = rng.random((whole(n, "n", 0), len(self)))
        found = self.from_unit(2 * uniform - 1)
        for i, each in enumerate(self.parameters):
            if each.mean is None or each.sd is None:
                continue
            a, b = _ends(each)
            # In the upper tail digits are lost; the lower tail is its mirror image.
            sign, first = (-1.0, -b) if a > 0 else (1.0, a)
            # 1 - u is above 0, u need not be.
            below = np.log1p(-uniform[:, i]) + _log_mass(a, b)
            score = sign * ndtri_exp(np.logaddexp(log_ndtr(first), below))
            found[:, i] = np.clip(each.mean + each.sd * score, each.low, each.high)
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold; ``from_dict`` reads them back."""
        return {"parameters": [each.to_dict() for each in self.parameters]}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> ParameterBox:
        """Return the box that ``to_dict`` described.

        Args:
            values: ``parameters``, a list of the parameters' own fields.

        Raises:
            ParameterError: they are missing or not valid.
        """
        if not isinstance(values.get("parameters"), list):
            raise ParameterError("a box must have a list of parameters", key="parameters")
        return cls(Parameter.from_dict(each) for each in values["parameters"])

    def __len__(self) -> int:
        return len(self.parameters)

    def __iter__(self) -> Iterator[Parameter]:
        return iter(self.parameters)

    @cached_property
    def _scale(self) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
        """Bounds of what is linear in the coordinates, and where that is the logarithm."""
        log = np.array([each.log for each in self.parameters])
        low, high = self.low, self.high
        low[log], high[log] = np.log(low[log]), np.log(high[log])
        return low, high, log

    def columns(self, values: ArrayLike, name: str) -> FloatArray:
        """Return an array whose last axis is that of the parameters.

        Args:
            values: (..., parameters).
            name: of the argument, for the error.

        Raises:
            ParameterError: the last axis has another length.
        """
        found = np.asarray(values, np.float64)
        if not found.ndim or found.shape[-1] != len(self):
            raise ParameterError(
                f"{name} must have {len(self)} columns, {', '.join(self.names)}; got an array of "
                f"shape {found.shape}",
                key=name,
            )
        return found


def generator(seed: np.random.Generator | int | None) -> np.random.Generator:
    """Return numpy's generator for a seed of at least 0, for None a new one each time."""
    if isinstance(seed, np.random.Generator):
        return seed
    return np.random.default_rng(None if seed is None else whole(seed, "seed", 0))


def _ends(parameter: Parameter) -> tuple[float, float]:
    """Return the bounds of a normal parameter in standard deviations from its mean."""
    mean, sd = parameter.mean or 0.0, parameter.sd or 1.0
    return (parameter.low - mean) / sd, (parameter.high - mean) / sd


def _log_mass(a: float, b: float) -> float:
    """Return the logarithm of the standard normal's probability between two bounds."""
    if a > 0:
        a, b = -b, -a
    upper = float(log_ndtr(b))
    return upper + math.log1p(-math.exp(float(log_ndtr(a)) - upper))
