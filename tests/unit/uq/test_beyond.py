"""Errors on more nodes than the calibrated ones, and the tori that are assumed for them."""

from __future__ import annotations

from dataclasses import replace
from math import prod

import numpy as np
import pytest
from numpy.testing import assert_allclose

from tests.unit.uq.worlds import CENTRE, world
from workbench.uq.collectives import CollectiveTest
from workbench.uq.collectives.assumed_torus import OnAssumedTorus, near_cube
from workbench.uq.collectives.beyond import beyond_scale
from workbench.uq.collectives.models import RoundModel

MODEL = RoundModel("bcast", "binomial")
MEASURED = world(5, known=True).measured


def with_more(relative: float) -> float:
    """Return the scale where a doubling of the nodes makes the model's error so much larger."""
    steps = [np.log2(test.nodes / 8) for test in MEASURED.tests]
    changed = [
        times * np.exp(relative * step * (-1.0) ** step)
        for times, step in zip(MEASURED.replicas, steps, strict=True)
    ]
    return beyond_scale(replace(MEASURED, replicas=tuple(changed)), MODEL, "gaussian-process")


def test_the_scale_is_of_what_discrepancy_and_parameters_do_not_hold() -> None:
    """A model that is right has little of the usual errors, and a larger error has more of them."""
    right, wrong, very = with_more(0.0), with_more(0.1), with_more(0.3)
    assert right < 0.5
    assert right < wrong < very
    assert very > 1.5


def test_the_errors_are_the_usual_ones_where_no_nodes_can_be_left_out() -> None:
    alone = MEASURED.on([8])
    assert_allclose(beyond_scale(alone, MODEL, "gaussian-process"), 1.0, rtol=0.2)  # a cut prior


@pytest.mark.parametrize("noise", ["relative", "hierarchical", "student-t"])
def test_noise_without_a_correlated_discrepancy_leaves_more_to_the_nodes(noise: str) -> None:
    assert beyond_scale(MEASURED, MODEL, noise) > 0.8 * with_more(0.0)


@pytest.mark.parametrize(
    "nodes, shape", [(1, (1, 1, 1)), (8, (2, 2, 2)), (32, (4, 4, 2)), (254, (8, 8, 4))]
)
def test_an_assumed_torus_is_near_to_a_cube(nodes: int, shape: tuple[int, ...]) -> None:
    assert near_cube(nodes) == shape


def test_an_assumed_torus_has_room_and_grows_on_one_side() -> None:
    for nodes in range(2, 400, 7):
        shape = near_cube(nodes)
        assert nodes <= prod(shape) <= 1.5 * nodes
        assert shape == tuple(sorted(shape, reverse=True))
    longer = OnAssumedTorus(MODEL, longer_from=64)
    assert [longer.shape(nodes) for nodes in (8, 64, 256)] == [(2, 2, 2), (4, 4, 4), (16, 4, 4)]


def test_tests_that_name_no_topology_are_on_the_assumed_torus() -> None:
    model = RoundModel("alltoall", "pairwise")
    free, placed = CollectiveTest(64, 4096), CollectiveTest(64, 4096, shape=(16, 2, 2))
    times = OnAssumedTorus(model).times(CENTRE[None], [free, placed])
    expected = model.times(CENTRE[None], [replace(free, shape=(4, 4, 4)), placed])
    assert_allclose(times, expected)
    assert times[0, 0] > model.times(CENTRE[None], [free])[0, 0]
