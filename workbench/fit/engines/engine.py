"""The interface of every search engine: ask and tell."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from workbench.arrays import FloatArray
from workbench.fit.losses import Loss
from workbench.fit.space import SearchSpace

Values = dict[str, float | int]
Points = Callable[[], FloatArray | None]
"""Simulates a trial once more where need be: its points, None where it was refused."""


@dataclass(frozen=True)
class FitProblem:
    """The search space of an engine, with the measurement and the loss.

    Attributes:
        space: the parameters and their bounds.
        seed: makes the search repeatable.
        first: values to try before the engine has its say, SI by key.
        measured: float64[n], the points a loss compares; nan where one was not measured.
        sizes: the message sizes of the curve in bytes, ascending.
        loss: what is minimised.
    """

    space: SearchSpace
    seed: int
    first: Sequence[Mapping[str, float | int]]
    measured: FloatArray
    sizes: Sequence[int]
    loss: Loss

    @property
    def first_values(self) -> list[Values]:
        """The first values, moved within the bounds."""
        return [
            {d.key: d.clip(point[d.key]) for d in self.space.dimensions} for point in self.first
        ]

    def rng(self, *numbers: int) -> np.random.Generator:
        """Return a generator that depends on the seed and these numbers alone.

        Args:
            numbers: what tells this use of randomness from every other.
        """
        return np.random.default_rng((self.seed, *numbers))


class Engine(Protocol):
    """Proposes values and records the results of their trials.

    What it proposes depends only on the problem and the trials it has recorded, so a fit that was
    stopped or killed continues exactly, once its trials have been recorded again.
    """

    def propose(self) -> Values:
        """Return the values of the next trial, the same ones until ``tell`` is called."""

    def tell(self, values: Values, loss: float, points: Points) -> None:
        """Record the result of a trial, proposed just now or by an earlier run of the fit.

        Args:
            values: what was tried.
            loss: what came of it, finite; ``EXCESSIVE_LOSS`` where it was refused.
            points: the simulated points, in the order of ``FitProblem.measured``. If it raises,
                the engine has learned nothing.
        """

    def indifferent_above(self) -> float:
        """Return the loss above which the engine needs no exact value; inf if there is none."""
