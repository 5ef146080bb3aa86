"""Where no topology is known: models of rounds on tori that are plausible.

Without any, links could not be shared, and a calibration to few nodes would say nothing of the
congestion of many. On a torus the cost of shared links is inferred with the other parameters: runs
that show no congestion leave little of it, and others let it grow with the nodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import prod

from workbench.arrays import FloatArray
from workbench.parameters import Parameter
from workbench.uq.collectives.models import CollectiveTest, RoundModel


@dataclass(frozen=True)
class OnAssumedTorus:
    """Rounds on an assumed torus, for tests that name neither a shape nor a topology.

    It is near to a cube, or from ``longer_from`` nodes on the torus of that number, with one side
    as much longer as there are more nodes: links are then shared as much as may be expected.
    """

    rounds: RoundModel
    longer_from: int | None = None

    @property
    def name(self) -> str:
        """How the model is asked for."""
        return self.rounds.name

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters of the rounds."""
        return self.rounds.parameters

    def times(self, values: FloatArray, tests: Sequence[CollectiveTest]) -> FloatArray:
        """Return the times in s, float64[n, tests], for float64[n, parameters]."""
        return self.rounds.times(values, [self.placed(test) for test in tests])

    def placed(self, test: CollectiveTest) -> CollectiveTest:
        """Return the test on the assumed torus; one whose topology is known as it is."""
        return replace(test, shape=self.shape(test.nodes)) if is_unplaced(test) else test

    def shape(self, nodes: int) -> tuple[int, ...]:
        """Return the assumed torus of so many nodes."""
        if self.longer_from is None or nodes <= self.longer_from:
            return near_cube(nodes)
        _, *others = near_cube(self.longer_from)
        return -(-nodes // (others[0] * others[1])), *others


def is_unplaced(test: CollectiveTest) -> bool:
    """Return whether a test names neither a torus' shape nor a topology."""
    return test.shape is None and not test.topology


@lru_cache(maxsize=256)
def near_cube(nodes: int) -> tuple[int, int, int]:
    """Return three sides of a torus of at least so many nodes, longest first.

    That of the least sum of sides times cube of the nodes: few nodes to spare, then near a cube.
    """
    shapes = (
        (-(-nodes // (b * c)), b, c)
        for c in range(1, round(nodes ** (1 / 3)) + 1)
        for b in range(c, round((nodes / c) ** 0.5) + 1)
    )
    a, b, c = sorted(min(shapes, key=lambda one: (sum(one) * prod(one) ** 3, one)), reverse=True)
    return a, b, c
