"""SpectralFly against the table of its invariants, in all cases of p and q."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.linalg import eigsh

from tests.cases import for_each
from tests.reference import graphs
from workbench.errors import ParameterError
from workbench.topology.spectralfly import four_squares, is_square, spectralfly
from workbench.topology.topology import Topology


def eigenvalues(made: Topology) -> tuple[float, float]:
    """Return the second largest and the smallest eigenvalue."""
    ends = np.concatenate((made.links, made.links[:, ::-1])).T
    n = made.num_routers
    adjacency = coo_array((np.ones(ends.shape[1]), (ends[0], ends[1])), shape=(n, n)).tocsr()
    start = np.random.default_rng(1).random(n)
    upper = eigsh(adjacency, k=2, which="LA", v0=start, return_eigenvectors=False)
    lower = eigsh(adjacency, k=1, which="SA", v0=start, return_eigenvectors=False)
    return float(upper.min()), float(lower.min())


@for_each(
    "p, q, routers, degree, diameter, mean",
    [
        (11, 7, 168, 12, 3, 2.3892),  # 11 is a square mod 7; p = 3 mod 4
        (23, 11, 660, 24, 3, 2.3475),
        (13, 17, 2448, 14, 4, 3.2252),  # p = 1 mod 4
        (53, 17, 2448, 54, 3, 2.3208),
        (3, 5, 120, 4, 6, 3.7143),  # 3 is no square mod 5: bipartite
        (5, 13, 2184, 6, 7, 4.8346),
    ],
)
def test_routers_links_and_distances_of_the_table(
    p: int, q: int, routers: int, degree: int, diameter: int, mean: float
) -> None:
    made = spectralfly(p, q)
    assert made.num_routers == routers
    assert set(made.degree.tolist()) == {degree}
    assert graphs.is_one_to_one(routers, made.links.tolist())
    hops = made.router_hops
    assert hops.max() == diameter
    assert round(hops.sum(dtype=np.int64) / (routers * (routers - 1)), 4) == mean
    # A Cayley graph looks the same from every router.
    for far in range(diameter + 1):
        assert len(set((hops == far).sum(axis=1).tolist())) == 1


def test_the_longest_routes_of_the_table() -> None:
    made = spectralfly(3, 17)
    n = made.num_routers
    assert (n, made.num_links, made.diameter) == (4896, 9792, 11)
    assert round(made.router_hops.sum(dtype=np.int64) / (n * (n - 1)), 4) == 7.1359


@for_each(
    "p, q, second, bound",
    [
        (11, 7, 6.0, 252.0),
        (23, 11, 8.196, 2607.6),
        (13, 17, None, None),
        (3, 5, None, None),
        (5, 13, None, None),
        (7, 11, None, None),
    ],
)
def test_they_are_ramanujan_graphs(
    p: int, q: int, second: float | None, bound: float | None
) -> None:
    made = spectralfly(p, q)
    upper, lower = eigenvalues(made)
    assert upper <= 2 * p**0.5 + 1e-9
    if is_square(p, q):
        assert lower >= -2 * p**0.5 - 1e-9
    else:
        # Bipartite: the smallest eigenvalue is that of the two sides, one against the other.
        assert lower == pytest.approx(-(p + 1), abs=1e-9)
    if second is not None:
        assert round(upper, 3) == second
        assert round(made.num_routers * (p + 1 - upper) / 4, 1) == bound


def test_the_girth_of_the_table() -> None:
    made = spectralfly(3, 5)
    assert graphs.girth(120, made.links.tolist()) == 6


@for_each("p", [3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 53, 83, 97, 251])
def test_a_prime_is_a_sum_of_four_squares_in_as_many_ways_as_links(p: int) -> None:
    """Jacobi's 8(p + 1) ways, one for each 8; each has its conjugate, or is its own up to sign."""
    ways = four_squares(p)
    assert len(set(ways)) == len(ways) == p + 1
    assert all(sum(part * part for part in way) == p for way in ways)
    for a, b, c, d in ways:
        conjugate = (a, -b, -c, -d)
        assert conjugate in ways or (a == 0 and tuple(-part for part in conjugate) in ways)


def test_neighbours_differ_by_the_same_matrices_everywhere() -> None:
    """Each router's neighbours, divided by its own matrix, are the same p + 1 up to a factor."""
    p, q = 5, 7
    made = spectralfly(p, q)
    seen = set()
    joined = graphs.neighbours(made.num_routers, made.links.tolist())
    for router in range(0, made.num_routers, 29):
        a, b, c, d = made.coordinates[router].tolist()
        inverse = np.array([[d, -b], [-c, a]])
        quotients = set()
        for other in joined[router]:
            matrix = inverse @ made.coordinates[other].reshape(2, 2) % q
            lead = next(int(value) for value in matrix.ravel() if value)
            quotients.add(tuple((matrix.ravel() * pow(lead, -1, q) % q).tolist()))
        assert len(quotients) == p + 1
        seen.add(frozenset(quotients))
    assert len(seen) == 1


def test_routers_are_the_matrices_of_their_group() -> None:
    for p, q in ((11, 7), (3, 5)):
        made = spectralfly(p, q)
        squares = {value * value % q for value in range(1, q)}
        expected = [
            list(m)
            for m in product(range(q), repeat=4)
            if next(filter(None, m), 0) == 1
            and (m[0] or m[1])
            and (m[0] * m[3] - m[1] * m[2]) % q in (squares if p == 11 else set(range(1, q)))
        ]
        assert sorted(made.coordinates.tolist()) == sorted(expected)


@for_each(
    "p, q, said",
    [
        (4, 7, "take 3 or 5"),
        (2, 7, "take 3"),
        (9, 7, "take 7 or 11"),
        (11, 8, "take 7 or 11"),
        (7, 7, "take q=11"),
        (53, 13, "take q=17"),
        (251, 31, "take q=37"),
        (3, 1000, "take 251"),
        (251, 241, "at most 4194304"),
        (0, 7, "at least 1"),
    ],
)
def test_spectralflies_that_cannot_be_built(p: int, q: int, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        spectralfly(p, q)
