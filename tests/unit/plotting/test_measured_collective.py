"""Measured collectives beside predictions: what is drawn, what the sentence says, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from bokeh.models import ColumnDataSource, Div

from tests.unit.predict.test_prediction_errors import BY_HAND
from workbench.errors import ParameterError
from workbench.plotting import plot_measured_collective


def test_points_are_measured_and_lines_predicted_for_each_number_of_nodes() -> None:
    drawn = plot_measured_collective(BY_HAND, "a", "gather", label="default-x")
    sources = list(drawn.select({"type": ColumnDataSource, "name": "measured collective"}))
    by_measured = sorted(sources, key=lambda one: one.data["measured"][0])
    assert [one.data["measured"].tolist() for one in by_measured] == [[1e6], [2e6]]
    assert np.concatenate([one.data["predicted"] for one in by_measured]) == pytest.approx(
        [1.1e6, 3e6]
    )
    assert np.concatenate([one.data["error"] for one in by_measured]) == pytest.approx([10, 50])
    said = " ".join(one.text for one in drawn.select({"type": Div}))
    assert "30 % off in the median of 2 tests, and at most 50 %, for 8 B on 16 nodes" in said
    assert "of the same system" in said


def test_what_was_learnt_has_the_tests_on_more_nodes_only() -> None:
    drawn = plot_measured_collective(BY_HAND, "b", "gather", variant="algorithm")
    [source] = drawn.select({"type": ColumnDataSource, "name": "measured collective"})
    assert source.data["predicted"] == pytest.approx([0.9e6])


def test_what_was_not_predicted_is_refused_with_what_was() -> None:
    with pytest.raises(ParameterError, match="collective must be one of gather; got 'gathr'"):
        plot_measured_collective(BY_HAND, "a", "gathr")
    with pytest.raises(ParameterError, match="label must be one of 'default-x', 'default-y' for"):
        plot_measured_collective(BY_HAND, "a", "gather", label="default-z")
    with pytest.raises(ParameterError, match="by which gather was predicted; got 'algorithm'"):
        plot_measured_collective(BY_HAND, "a", "gather", label="default-x", variant="algorithm")
