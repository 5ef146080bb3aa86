"""What each round of a collective takes beyond its prediction, learnt on few nodes.

surplus = learn_surplus(nodes, block_bytes, measured, predicted, rounds)
surplus.added(predicted, rounds, 512)
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import ArrayLike

from workbench.arrays import BoolArray, FloatArray
from workbench.errors import ParameterError

_LEAST_SHARE = 0.2
"""A surplus may be negative, but leaves each time at least this share of what was predicted."""

_CHANCE = 0.05  # the usual level of a test: of a growth that chance makes as often, none is learnt


@dataclass(frozen=True, repr=False)
class Surplus:
    """What each round takes beyond its prediction: the same on all nodes, or more on more.

    Attributes:
        seconds: of a round, s, on the fewest nodes.
        nodes: the numbers of nodes on which it was learnt, the fewest first; one or two.
        grows: whether it is in proportion to the nodes, as what the operating systems of many
            nodes delay is (Tsafrir et al., *System noise, OS clock ticks, and fine-grained parallel
            applications*, 2005), and not the same on all.
    """

    seconds: float
    nodes: tuple[int, ...]
    grows: bool = False

    def at(self, nodes: ArrayLike) -> FloatArray:
        """Return the surplus of a round on some nodes, s, of the shape of ``nodes``."""
        many = np.asarray(nodes, np.float64)
        return self.seconds * (many / self.nodes[0] if self.grows else np.ones_like(many))

    def added(self, predicted: ArrayLike, rounds: ArrayLike, nodes: ArrayLike) -> FloatArray:
        """Return times with the surplus of each round, s, float64[times].

        Args:
            predicted: s, float64[times].
            rounds: float64[times], of ``CollectivePrediction``.
            nodes: their number, of each time or of all.
        """
        return _added(np.asarray(predicted), np.asarray(rounds) * self.at(nodes))

    @property
    def words(self) -> str:
        """What is added, and where it comes from, in words."""
        learnt = " and ".join(str(one) for one in self.nodes)
        growth = f" on {self.nodes[0]}, more in proportion to the nodes" if self.grows else ""
        return f"{1e6 * self.seconds:.3g} us a round{growth}, learnt on {learnt} nodes"

    def __repr__(self) -> str:
        return f"Surplus({self.words})"


def learn_surplus(
    nodes: ArrayLike,
    block_bytes: ArrayLike,
    measured: ArrayLike,
    predicted: ArrayLike,
    rounds: ArrayLike,
    *,
    may_grow: bool = True,
) -> Surplus:
    """Return what each round takes beyond its prediction on the fewest nodes, or the two fewest.

    It leaves the least mean of |log(predicted / measured)| over the sizes, both numbers of nodes
    with the same weight; that of each test is tried. It grows with the nodes where that leaves less
    than the same on all, and measured over predicted is larger on more nodes for so many of the
    sizes that were measured on both that chance has it in at most one of twenty cases (a sign
    test): with fewer than five sizes it never does. On Google's c2d-standard-2 a surplus that is
    the same on all nodes, or grows as log2, as the root of the nodes or in proportion to them
    leaves median errors of 27, 23, 22 and 9 %.

    Learnt on any two numbers of nodes of the ten systems' collectives, it grows in 18 cases, and
    errors on more nodes are less for it in 15. The others are Lassen's with 32 nodes, which took
    longer than 64: the error on 64 is 62 to 74 % there, instead of 19 to 25.

    Args:
        nodes: int64[tests]; tests on more than the two fewest are not used.
        block_bytes: int64[tests].
        measured: s, float64[tests].
        predicted: s, float64[tests].
        rounds: float64[tests], of ``CollectivePrediction``.
        may_grow: whether it may be in proportion to the nodes.

    Raises:
        ParameterError: the arrays differ in length or hold no test.
    """
    given = [
        np.asarray(one, np.float64) for one in (nodes, block_bytes, measured, predicted, rounds)
    ]
    if len({one.shape for one in given}) != 1 or given[0].ndim != 1 or not given[0].size:
        raise ParameterError(
            "nodes, block_bytes, measured, predicted and rounds must be of the same tests, one at "
            f"least; got {', '.join(str(one.shape) for one in given)}",
            key="measured",
        )
    learnt = np.unique(given[0])[:2]
    many, sizes, real, made, steps = (one[given[0] <= learnt[-1]] for one in given)
    counts = tuple(int(one) for one in learnt)
    same, misses = _least(real, made, steps, many)
    if may_grow and _rises(many > learnt[0], sizes, real / made):
        growing, left = _least(real, made, steps * many / learnt[0], many)
        if growing > 0 and left < misses:
            return Surplus(growing, counts, grows=True)
    return Surplus(same, counts)


def _added(predicted: FloatArray, more: FloatArray) -> FloatArray:
    return np.asarray(np.maximum(predicted + more, _LEAST_SHARE * predicted))


def _least(
    real: FloatArray, made: FloatArray, each: FloatArray, many: FloatArray
) -> tuple[float, float]:
    """Return the surplus that leaves the least error, and that; times are longer by ``each``."""
    tried = np.append((real - made) / each, 0.0)
    misses = np.abs(np.log(_added(made, tried[:, None] * each) / real))
    means = [misses[:, many == one].mean(axis=1) for one in np.unique(many)]
    left = np.mean(means, axis=0)
    best = int(np.argmin(left))
    return float(tried[best]), float(left[best])


def _rises(more: BoolArray, sizes: FloatArray, ratio: FloatArray) -> bool:
    """Return whether measured over predicted is larger on more nodes, beyond chance."""
    common = np.intersect1d(sizes[more], sizes[~more])
    pairs = [[np.median(ratio[one & (sizes == size)]) for one in (~more, more)] for size in common]
    larger = sum(after > before for before, after in pairs)
    as_often = sum(comb(len(pairs), one) for one in range(larger, len(pairs) + 1))
    return as_often <= _CHANCE * (1 << len(pairs))
