"""What intervals hold on synthetic collectives with known truth, and how wide they are.

Settings were chosen on the seeds below 16; these are others. Measured on seeds 200 to 215, with
2000 draws, true medians in 90 % intervals of the median of five replicas, and the median of their
upper over lower ends: known algorithm 103 of 112 held and 1.30, a torus that the largest run
congests 55 of 56 and 1.29 (eight seeds), the same torus untold 108 of 112 and 1.30, unknown
algorithm 112 of 112 and 1.52. ``python -m tests.unit.uq.test_worlds unknown 200 216`` measures one
kind of world again: known, congested, hidden or unknown.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

import numpy as np
import pytest

from tests.unit.uq.worlds import REPLICAS, FloatArray, World, world
from workbench.uq.collectives import (
    AlgorithmMixture,
    CollectiveCalibration,
    calibrate_collective,
    calibrate_unknown,
)

# Of known algorithms all sixteen count, for four worlds scatter: seeds 100 to 103 are 1.41 apart.
SEEDS, FEW = range(200, 216), range(200, 204)


def held_and_apart(
    made: World, found: CollectiveCalibration | AlgorithmMixture
) -> tuple[float, float]:
    """Return the share of true medians in 90 % intervals, and upper over lower end."""
    predicted = found.predict(made.kept, replicas=REPLICAS)
    low, high = predicted.low[-1], predicted.high[-1]
    inside = (low <= made.truth) & (made.truth <= high)
    return float(inside.mean()), float(np.median(high / low))


def measure(kind: str, seeds: Iterable[int]) -> tuple[FloatArray, FloatArray, float]:
    """Return shares and ends of each seed's world: known, congested, hidden or unknown.

    Last is the share of worlds whose surrogates are near.
    """
    calibrate = calibrate_unknown if kind == "unknown" else calibrate_collective
    rows = []
    for seed in seeds:
        made = world(
            seed, known=kind != "unknown", congested=kind == "congested", hidden=kind == "hidden"
        )
        found = calibrate(made.measured, draws=2000, seed=1)
        held, apart = held_and_apart(made, found)
        rows.append((held, apart, all(one.surrogate_is_near for one in found.calibrations)))
        print(f"{kind} world {seed}: {held:.0%} held, {apart:.2f} apart; {found.warnings}")
    every, ends, near = np.transpose(rows)
    print(f"{kind}: {every.mean():.1%} held, {np.median(ends):.2f} apart, {near.mean():.0%} near")
    return every, ends, float(near.mean())


@pytest.mark.deep
@pytest.mark.parametrize("kind, seeds", [("known", SEEDS), ("congested", SEEDS[:8])])
def test_a_known_algorithm_is_held(kind: str, seeds: range) -> None:
    held, apart, near = measure(kind, seeds)
    assert held.mean() >= 0.85
    assert np.median(apart) <= 1.4
    assert near == 1.0


@pytest.mark.deep
def test_congestion_that_small_runs_hardly_show_is_held() -> None:
    """Its torus is not told; of those worlds without it a few intervals are wide for nothing."""
    held, *_ = measure("hidden", SEEDS)
    assert held.mean() >= 0.85


@pytest.mark.deep
def test_an_unknown_algorithm_is_held() -> None:
    held, apart, _ = measure("unknown", FEW)
    assert held.mean() >= 0.8
    assert np.median(apart) <= 2.5


@pytest.mark.usefixtures("short_chains")
def test_an_error_beyond_the_calibrated_nodes_is_said() -> None:
    """And which tori are assumed for links where no topology is known."""
    for congested in (False, True):
        made = world(101, known=True, congested=congested)
        found = calibrate_collective(made.measured, chains=2, draws=100, burn_in=100)
        assert found.describe_beyond(made.measured.tests) == ""
        text = found.describe_beyond(made.kept)
        assert "256 nodes are not among the calibrated 8, 16, 32, 64" in text
        assert ("as on tori of 8x8x4 and 16x4x4" in text) != congested


if __name__ == "__main__":
    measure(sys.argv[1], range(int(sys.argv[2]), int(sys.argv[3])))
