"""Sensitivity to pairs of ranks: derivatives by finite differences, and who is on the path."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tests.cases import examples, for_each
from tests.kernels.loggops_programs import random_graph, random_model
from workbench.errors import ParameterError, ProgramError
from workbench.models import LogGPS
from workbench.programs import generate, read_goal
from workbench.tolerance.pairs import PairSensitivity, pair_sensitivity
from workbench.tolerance.sweep import Sweep

MODEL = LogGPS(L=2e-6, o=5e-7, g=0, G=1e-9, O=0, S=65535)
PS = 1e-12

FAN = """num_ranks 3
rank 0 {
b: recv 11b from 2 tag 2
a: send 101b to 2 tag 1
}
rank 1 {
a: send 51b to 2 tag 1
}
rank 2 {
a: recv 101b from 0 tag 1
b: recv 51b from 1 tag 1
b requires a
c: send 11b to 0 tag 2
c requires b
}
"""


def test_the_longest_of_two_ways_is_on_the_path() -> None:
    found = pair_sensitivity(read_goal(FAN), MODEL)
    assert found.lambda_L.tolist() == [[0, 0, 1], [0, 0, 0], [1, 0, 0]]
    assert found.lambda_G.tolist() == [[0, 0, 100], [0, 0, 0], [10, 0, 0]]
    assert found.unique
    # o + L + 100 G + o, the second receive's o, then o + L + 10 G + o.
    assert found.T == pytest.approx(5 * 5e-7 + 2 * 2e-6 + 110e-9, rel=1e-12)


def test_a_slow_pair_takes_the_path_over() -> None:
    L = np.full((3, 3), 2e-6)
    L[1, 2] = 9e-6
    found = pair_sensitivity(read_goal(FAN), MODEL, L=L)
    assert found.lambda_L.tolist() == [[0, 0, 0], [0, 0, 1], [1, 0, 0]]
    G = np.full((3, 3), 1e-9)
    G[1, 2] = 1e-6
    slow = pair_sensitivity(read_goal(FAN), MODEL, G=G)
    assert slow.lambda_G.tolist() == [[0, 0, 0], [0, 0, 50], [10, 0, 0]]


def test_two_equal_ways_are_not_unique() -> None:
    even = FAN.replace("51b", "101b")
    found = pair_sensitivity(
        read_goal(
            even.replace("b requires a\n", "").replace("c requires b", "c requires b\nc requires a")
        ),
        MODEL,
    )
    assert not found.unique
    assert found.lambda_L.sum() >= 1
    assert "one of several" in repr(found)


@given(st.integers(0, 2**32 - 1))
@examples(5)
def test_where_it_is_unique_it_is_the_derivative(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph, model = random_graph(rng, ranks=3), random_model(rng)
    base = np.round(rng.uniform(0, 40, (3, 3))) * 1e-9 + 1e-8
    try:
        found = pair_sensitivity(graph, model, L=base)
    except ProgramError:
        return
    for i in range(3):
        for j in range(3):
            change = np.zeros((3, 3))
            change[i, j] = PS
            up, down = (
                round(pair_sensitivity(graph, model, L=base + s * change).T / PS) for s in (1, -1)
            )
            here = round(found.T / PS)
            assert here - down <= found.lambda_L[i, j] <= up - here
            if found.unique:
                assert here - down == up - here


def test_the_matrices_add_up_to_the_sweeps_slopes() -> None:
    program = generate.cg(16, iterations=2, jitter=0.1, rng=3)
    found = pair_sensitivity(program, MODEL)
    point = Sweep(program, MODEL).at()
    assert found.lambda_L.sum() == point.lambda_L_right
    assert found.lambda_G.sum() == point.lambda_G
    assert found.T == point.T


def test_both_directions_together_and_as_a_table() -> None:
    found = pair_sensitivity(read_goal(FAN), MODEL)
    in_L, in_G = found.symmetric()
    assert in_L.tolist() == [[0, 0, 2], [0, 0, 0], [2, 0, 0]]
    assert in_G[0, 2] == in_G[2, 0] == 110
    frame = found.to_frame()
    assert list(frame.columns) == ["source", "destination", "lambda_L", "lambda_G_bytes"]
    assert frame.values.tolist() == [[0, 2, 1, 100], [2, 0, 1, 10]]
    assert repr(found) == (
        "PairSensitivity(3 ranks, T 6.61 µs, 2 latencies and 110 bytes of 2 pairs on the critical "
        "path)"
    )


def test_it_is_drawn() -> None:
    found = pair_sensitivity(read_goal(FAN), MODEL)
    assert isinstance(found, PairSensitivity)
    assert found.plot("lambda_G").title.text


@for_each(
    "arguments, said",
    [
        ({"L": np.zeros((2, 2))}, "shape \\(3, 3\\); got shape \\(2, 2\\)"),
        ({"L": -1.0}, "L must be finite numbers of at least 0"),
        ({"G": np.full((3, 3), np.nan)}, "G must be finite numbers"),
        ({"L": 1e30}, "L must be at most"),
        ({"G": 1e30}, "must take less than"),
    ],
)
def test_costs_must_fit(arguments: dict[str, object], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        pair_sensitivity(read_goal(FAN), MODEL, **arguments)  # type: ignore[arg-type]
