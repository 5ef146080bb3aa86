from __future__ import annotations

import numpy as np
import pytest

from tests.cases import for_each
from workbench.tune.heuristics.forest import Forest


def sample(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    codes = rng.random((n, 4))
    return codes, np.where(codes[:, 0] > 0.5, 3.0, 0.0) + codes[:, 1]


def walked(forest: Forest, tree: int, code: np.ndarray) -> int:
    """Return the leaf of one tree, step by step."""
    at = tree
    while forest._below[at] >= 0:
        at = int(forest._below[at]) + int(code[forest._column[at]] > forest._cut[at])
    return at


def test_every_leaf_holds_what_a_walk_down_its_tree_leads_there() -> None:
    codes, values = sample(40)
    rng = np.random.default_rng(7)
    rows = rng.integers(40, size=(5, 40))  # the forest's own first draw
    forest = Forest(codes, values, np.random.default_rng(7), trees=5)
    for tree in range(5):
        leaves: dict[int, list[float]] = {}
        for row in rows[tree]:
            leaves.setdefault(walked(forest, tree, codes[row]), []).append(values[row])
        for leaf, inside in leaves.items():
            assert forest._mean[leaf] == pytest.approx(np.mean(inside), abs=1e-12)
            assert forest._variance[leaf] == pytest.approx(np.var(inside), abs=1e-12)


def test_predictions_follow_the_law_of_total_variance() -> None:
    codes, values = sample(40)
    forest = Forest(codes, values, np.random.default_rng(7), trees=9)
    there = sample(6, 1)[0]
    mean, std = forest.predict(there)
    for row, code in enumerate(there):
        leaves = [walked(forest, tree, code) for tree in range(9)]
        means, variances = forest._mean[leaves], forest._variance[leaves]
        assert mean[row] == pytest.approx(means.mean())
        assert std[row] == pytest.approx(np.sqrt(means.var() + variances.mean()), abs=1e-6)


def test_it_learns_steps_and_slopes() -> None:
    codes, values = sample(150)
    there, truth = sample(300, 1)
    mean, _ = Forest(codes, values, np.random.default_rng(0)).predict(there)
    assert np.corrcoef(mean, truth)[0, 1] > 0.95


def test_predictions_stay_within_the_values() -> None:
    codes, values = sample(30)
    mean, std = Forest(codes, values, np.random.default_rng(0)).predict(sample(200, 1)[0])
    assert values.min() <= mean.min() and mean.max() <= values.max()
    assert (std > 0.0).all() and np.isfinite(std).all()


@for_each("n", [1, 2, 3])
def test_few_or_equal_values_are_enough(n: int) -> None:
    codes = np.full((n, 2), 0.5)
    mean, std = Forest(codes, np.arange(float(n)), np.random.default_rng(0)).predict(codes)
    assert np.isfinite(mean).all() and np.isfinite(std).all()
    mean, std = Forest(codes, np.ones(n), np.random.default_rng(0)).predict(codes)
    assert mean == pytest.approx(np.ones(n)) and std.max() < 1e-5


def test_many_places_are_predicted_as_few_are() -> None:
    codes, values = sample(30)
    forest = Forest(codes, values, np.random.default_rng(0), trees=4)
    there = sample(9_001, 1)[0]
    mean, _ = forest.predict(there)
    assert mean[[0, 4_000, 9_000]] == pytest.approx(forest.predict(there[[0, 4_000, 9_000]])[0])


def test_the_same_seed_grows_the_same_forest() -> None:
    codes, values = sample(30)
    one, two = (Forest(codes, values, np.random.default_rng(4)).predict(codes) for _ in range(2))
    assert np.array_equal(one, two)
