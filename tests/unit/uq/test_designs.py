from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.cases import for_each
from tests.unit.uq.simulators import NETWORK, unit_box
from workbench.errors import ParameterError
from workbench.uq import Parameter, ParameterBox, design


def test_a_longer_sobol_sequence_begins_with_the_shorter_one() -> None:
    long = design(NETWORK, 300, seed=4)
    assert np.array_equal(design(NETWORK, 105, seed=4), long[:105])
    assert np.array_equal(design(NETWORK, 195, seed=4, skip=105), long[105:])
    assert not np.array_equal(design(NETWORK, 300, seed=5), long)


@for_each("method", ["sobol", "latin-hypercube"])
def test_each_parameter_has_a_point_in_each_part_of_its_scale(method: Any) -> None:
    box = ParameterBox(
        [
            Parameter("latency", "s", 1e-8, 1e-4, log=True),
            Parameter("bandwidth", "B/s", 1e9, 9e9),
        ]
    )
    x = box.to_unit(design(box, 64, method, seed=1))
    for column in x.T:
        assert np.unique(np.floor((column + 1) * 32)).tolist() == list(range(64))


def test_a_grid_has_the_bounds_and_varies_the_last_parameter_fastest() -> None:
    points = design(NETWORK, 6, "grid")
    assert points.shape == (1296, 4)
    assert points[0].tolist() == NETWORK.low.tolist()
    assert points[-1].tolist() == NETWORK.high.tolist()
    assert np.unique(points[:6, 3]).tolist() == pytest.approx(np.linspace(5e-8, 3e-7, 6))
    assert design(unit_box("a", "b", "c"), 6, "grid").shape == (216, 3)


@for_each(
    "arguments, key, text",
    [
        ((7, "sobl"), "method", "did you mean sobol"),
        ((1, "grid"), "points", "at least 2"),
        ((32, "grid"), "points", "32 points along each of 4 parameters are 1.05e.06; ask for"),
        ((10**6, "sobol", 0, 1), "points", "1000001 were asked for; ask for fewer"),
        ((8, "grid", 0, 8), "skip", "skip must be 0 for a grid"),
        ((0,), "points", "at least 1"),
        ((8, "sobol", -1), "seed", "at least 0"),
    ],
)
def test_a_design_that_cannot_be_is_refused(
    arguments: tuple[Any, ...], key: str, text: str
) -> None:
    with pytest.raises(ParameterError, match=text) as refused:
        design(NETWORK, *arguments)
    assert refused.value.key == key
