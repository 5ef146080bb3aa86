"""Measured times of tests and the noise models' priors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.cases import for_each
from tests.unit.uq.ring import measured
from workbench.errors import ParameterError
from workbench.uq import NOISE_MODELS, Replicas, noise_model


def test_statistics_are_of_times_and_of_logarithms() -> None:
    rows: list[list[float]] = [[1.0, 2.0, 4.0], [3.0]]
    s = Replicas.of(rows).statistics
    assert s.count.tolist() == [3, 1]
    np.testing.assert_allclose(s.mean, [7 / 3, 3])
    np.testing.assert_allclose(s.squares, [float(np.var(rows[0])) * 3, 0], atol=1e-15)
    np.testing.assert_allclose(s.log_mean, [np.log(2), np.log(3)])
    np.testing.assert_allclose(s.log_squares, [2 * np.log(2) ** 2, 0], atol=1e-15)


def test_labels_come_from_columns_where_these_differ() -> None:
    assert Replicas.of([[1], [2]], columns={"nodes": [4, 8]}).tests == ("4 nodes", "8 nodes")
    assert Replicas.of([[1], [2]], columns={"nodes": [4, 4]}).tests == ("test 0", "test 1")
    assert Replicas.of([[1], [2]]).tests == ("test 0", "test 1")


def test_some_tests_can_be_selected() -> None:
    some = Replicas.of([[1, 2], [3], [4, 5]], columns={"nodes": [2, 4, 8]}).select([2, 0])
    assert [row.tolist() for row in some.rows] == [[4, 5], [1, 2]]
    assert some.columns["nodes"].tolist() == [8, 2]
    assert some.to_frame()["replicas"].tolist() == [2, 2]


def test_replicas_are_read_back(tmp_path: Path) -> None:
    replicas = measured()
    again = Replicas.load(replicas.save(tmp_path / "replicas.json"))
    assert again.tests == replicas.tests
    np.testing.assert_array_equal(again.values, replicas.values)
    np.testing.assert_array_equal(again.columns["nodes"], replicas.columns["nodes"])
    assert "20 tests, 400 times" in repr(again)


@for_each(
    "rows, options, words",
    [
        ([[1.0], []], {}, "no replica in test 1, test 1"),
        ([[1.0], [2.0, -3.0]], {"tests": ["a", "b"]}, "got -3 in test 1, b"),
        ([[np.nan]], {}, "got nan in test 0"),
        ([], {}, "at least one test"),
        ([[1], [2]], {"tests": ["a"]}, "one label a test, 2; got 1"),
        ([[1], [2]], {"tests": ["a", "a"]}, "'a' is there twice"),
        ([[1], [2]], {"columns": {"nodes": [1, 2, 3]}}, r"columns\['nodes'\]"),
    ],
)
def test_bad_times_are_named(
    rows: list[list[float]], options: dict[str, object], words: str
) -> None:
    with pytest.raises(ParameterError, match=words):
        Replicas.of(rows, **options)  # type: ignore[arg-type]


@for_each("name", NOISE_MODELS)
def test_hyper_parameters_are_drawn_within_their_bounds(name: str) -> None:
    model = noise_model(name, measured())
    drawn = model.sample(2000, 1)
    for h, column in zip(model.hyper, drawn.T, strict=True):
        assert h.low <= column.min() < column.max() <= h.high
    fixed = model.fix(**{model.names[0]: 0.02})
    assert fixed.sample(3, 1)[:, 0].tolist() == [0.02] * 3


def test_the_prior_is_normal_in_the_logarithm() -> None:
    model = noise_model("relative", measured())
    logs = np.log(model.sample(20_000, 0)[:, 0])
    assert np.median(logs) == pytest.approx(np.log(0.05), abs=0.03)  # 0.001 is cut off at s = 1
    assert logs.std() == pytest.approx(1.0, abs=0.03)


def test_unknown_names_list_the_known_ones() -> None:
    with pytest.raises(ParameterError, match=r"constant, relative.*did you mean hierarchical"):
        noise_model("hierarchial", measured())
    with pytest.raises(ParameterError, match=r"a hyper-parameter of hierarchical: tau, s"):
        noise_model("hierarchical", measured()).fix(sigma=1.0)
    with pytest.raises(ParameterError, match="above 0"):
        noise_model("relative", measured()).fix(s=0.0)


def test_only_times_far_above_the_others_are_outliers() -> None:
    # Quartiles 2 and 4: beyond 4 + 3 * 2 = 10 a time is far out; one of few times is never judged.
    found = Replicas.of([[1.0, 2.0, 3.0, 4.0, 11.0], [1.0, 2.0, 3.0, 4.0, 10.0], [1.0, 99.0]])
    rows = found.without_outliers().rows
    assert [row.tolist() for row in rows] == [[1, 2, 3, 4], [1, 2, 3, 4, 10], [1, 99]]
