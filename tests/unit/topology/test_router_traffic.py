from __future__ import annotations

import numpy as np
import pytest

from tests.cases import for_each
from workbench.topology import parse_topology, traffic
from workbench.topology.router_traffic import MatrixTraffic, SumTraffic

RNG = np.random.default_rng(3)


@for_each("pattern", ["uniform", "permutation", "hotspot", "tornado"])
def test_a_pattern_is_its_matrix(pattern: str) -> None:
    given = traffic(parse_topology("fat-tree:4"), pattern)
    matrix = given.between_routers()
    found = SumTraffic.of(given)
    receivers, senders = RNG.permutation(20)[:13], RNG.permutation(20)[:9]
    expected = matrix[np.ix_(senders, receivers)].T
    for one in (found, MatrixTraffic(matrix)):
        assert one.to(receivers, senders) == pytest.approx(expected, rel=1e-15)
        assert one.sent == pytest.approx(matrix.sum(axis=1))
        assert one.received == pytest.approx(matrix.sum(axis=0))


def test_products_are_summed_and_nothing_stays_at_a_router() -> None:
    pairs = [(RNG.random(6), RNG.random(6)) for _ in range(2)]
    expected = sum(np.outer(out, into) for out, into in pairs)
    np.fill_diagonal(expected, 0)
    found = SumTraffic.of_products(*pairs)
    every = np.arange(6)
    assert found.to(every, every).T == pytest.approx(expected)
    assert found.sent == pytest.approx(expected.sum(axis=1))
    assert found.received == pytest.approx(expected.sum(axis=0))
