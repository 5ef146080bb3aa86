"""Jellyfish: regular, connected, seeded, and as random as the table's one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tests.cases import for_each
from tests.reference import graphs
from workbench.errors import ParameterError
from workbench.topology.jellyfish import jellyfish


@st.composite
def sizes(draw: st.DrawFn) -> tuple[int, int]:
    """Return routers and links of each that there is a connected network of."""
    n = draw(st.integers(2, 40))
    r = draw(st.integers(min(2, n - 1), n - 1))
    return (n, r) if n * r % 2 == 0 else (n + 1, r)


@given(sizes(), st.integers(0, 2**20))
def test_every_router_has_its_links_and_a_route_to_all(sizes: tuple[int, int], seed: int) -> None:
    n, r = sizes
    made = jellyfish(n, r, seed=seed, hosts=1)
    assert set(made.degree.tolist()) == {r}
    assert made.num_links == n * r // 2
    assert graphs.is_one_to_one(n, made.links.tolist())
    assert -1 not in graphs.distances(n, made.links.tolist(), 0)


def test_the_network_of_the_table() -> None:
    """722 routers of 29 links: its figures are those of one draw, any other's are near."""
    made = jellyfish(722, 29, seed=1)
    hops = made.router_hops
    assert made.diameter == 3
    assert hops.sum(dtype=np.int64) / (722 * 721) == pytest.approx(2.2561, abs=2e-3)
    second = graphs.second_eigenvalue(722, made.links.tolist())
    # Random regular graphs are nearly Ramanujan (Friedman 2008): 2√(r - 1) + little.
    assert second <= 2 * 28**0.5 + 0.3
    # The best cut that the table knows of has 3875 links; no cut into halves has fewer than this.
    assert 3300 <= 722 * (29 - second) / 4 <= 3875


def test_the_same_seed_gives_the_same_network_and_another_one_another() -> None:
    assert jellyfish(60, 7, seed=3) == jellyfish(60, 7, seed=3)
    one, other = jellyfish(60, 7, seed=3), jellyfish(60, 7, seed=4)
    assert not np.array_equal(one.links, other.links)
    assert one.parameters["seed"] == 3


@for_each("n, r", [(6, 2), (8, 3), (7, 4), (9, 6)])
def test_every_link_is_drawn_equally_often(n: int, r: int) -> None:
    counts = np.zeros((n, n), int)
    draws = 400
    for seed in range(draws):
        links = jellyfish(n, r, seed=seed).links
        counts[links[:, 0], links[:, 1]] += 1
    found = counts[np.triu_indices(n, 1)]
    mean = draws * r / (n - 1)
    # Binomial; 5 standard deviations over at most 36 pairs fail one time in 50,000.
    assert np.abs(found - mean).max() <= 5 * (mean * (1 - r / (n - 1))) ** 0.5


@for_each(
    "arguments, said",
    [
        ({"n": 7, "r": 3}, "take n=6 or n=8"),
        ({"n": 5, "r": 5}, "take 4"),
        ({"n": 6, "r": 1}, "take 2"),
        ({"n": 3, "r": 1}, "take 2"),
        ({"n": 1, "r": 1}, "at least 2"),
        ({"n": 8, "r": 0}, "at least 1"),
        ({"n": 8, "r": 3, "seed": -1}, "seed"),
        ({"n": 10**6, "r": 20}, "at most 4194304"),
    ],
)
def test_jellyfish_that_cannot_be_built(arguments: dict[str, int], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        jellyfish(**arguments)
