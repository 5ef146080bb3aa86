"""Gains of swaps against the cost before and after; bisection against its promises."""

from __future__ import annotations

import numpy as np
from hypothesis import given, strategies as st

from tests.cases import for_each
from workbench.placement.methods import _bisect, _cut, _metis, _to_size
from workbench.placement.swaps import swap_gains, swapped, symmetric

seeds = st.integers(0, 2**32 - 1)


def cost(terms: list[tuple[np.ndarray, np.ndarray]], mapping: np.ndarray) -> float:
    return sum(float((w * d[mapping[:, None], mapping[None, :]]).sum()) / 2 for w, d in terms)


@given(seeds)
def test_a_gain_is_what_the_swap_saves(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    terms = []
    for _ in range(int(rng.integers(1, 3))):
        weights = symmetric(rng.integers(0, 5, (n, n)) * (rng.random((n, n)) < 0.4))
        distance = rng.integers(0, 50, (n, n)).astype(float)
        terms.append((weights, distance + distance.T))
    mapping = rng.permutation(n)
    active, gains = swap_gains(terms, mapping)
    with_weights = sum(w.sum(axis=1) for w, _ in terms) > 0
    assert active.tolist() == np.flatnonzero(with_weights).tolist()
    for row, i in enumerate(active.tolist()):
        for j in range(n):
            saved = cost(terms, mapping) - cost(terms, swapped(mapping, i, j))
            assert gains[row, j] == (saved if i != j else gains[row, j])


@given(seeds)
def test_a_bisection_has_its_size_and_no_swap_that_helps(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 12))
    volume = symmetric(rng.integers(0, 9, (n, n)))
    size = int(rng.integers(1, n))
    first = _bisect(volume, size, rng)
    assert first.sum() == size
    cut = volume[first][:, ~first].sum()
    for a in np.flatnonzero(first):
        for b in np.flatnonzero(~first):
            changed = first.copy()
            changed[[a, b]] = False, True
            # Kernighan and Lin's first swap is the best one only of those they look at.
            assert volume[changed][:, ~changed].sum() >= cut - volume.max()


@given(seeds)
def test_a_part_of_metis_gets_its_size(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 12))
    volume = symmetric(rng.integers(0, 9, (n, n)) * (rng.random((n, n)) < 0.5))
    size = int(rng.integers(1, n))
    first = _metis(volume, size, seed=1)
    assert _to_size(volume, first, size).sum() == size
    assert (_to_size(volume, first, int(first.sum())) == first).all()


@for_each("by", ["ours", "metis"])
def test_two_cliques_are_distinguished(by: str) -> None:
    volume = np.zeros((10, 10), np.int64)
    one = [0, 3, 4, 8, 9]
    other = [1, 2, 5, 6, 7]
    for clique in (one, other):
        volume[np.ix_(clique, clique)] = 5
    volume[0, 1] = volume[1, 0] = 1
    np.fill_diagonal(volume, 0)
    first = _bisect(volume, 5, np.random.default_rng(0)) if by == "ours" else _metis(volume, 5, 0)
    assert sorted(np.flatnonzero(first).tolist()) in (one, other)


def test_slots_are_cut_at_the_highest_boundary_near_the_middle() -> None:
    levels = np.array([[0, 0, 0], [0, 0, 1], [0, 1, 2], [1, 2, 3], [1, 3, 4], [2, 4, 5]])
    assert _cut(levels) == 3
    assert _cut(levels[:3]) == 2
    assert _cut(levels[:2]) == 1
    assert _cut(levels[:1]) == 0
    assert _cut(np.array([[0, 0, 7], [0, 0, 7]])) == 0
