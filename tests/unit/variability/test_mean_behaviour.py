"""The mean course of steps over runs."""

from __future__ import annotations

import numpy as np
import pytest
from bokeh.models import ColumnDataSource, LayoutDOM

from workbench import plotting
from workbench.errors import ParameterError
from workbench.provenance import Provenance
from workbench.variability import StepTable, mean_behaviour

LABEL = Provenance("synthetic", "made up")


def table(time_s: np.ndarray, counters: dict[str, np.ndarray]) -> StepTable:
    values = np.stack([np.broadcast_to(one, time_s.shape) for one in counters.values()], axis=2)
    names = tuple(str(at) for at in range(len(time_s)))
    return StepTable(
        names, np.arange(len(time_s)) * 1.0, time_s, tuple(counters), values, LABEL, ("a note",)
    )


def test_means_bands_and_agreement_are_those_of_the_runs() -> None:
    shape = np.array([1.0, 3.0, 2.0, 5.0])
    time_s = np.stack([shape, 2 * shape, shape[::-1]])
    time_s[1, 3] = np.nan
    found = mean_behaviour(table(time_s, {"up": shape, "down": -shape, "flat": np.ones(4)}))
    assert found.mean_s == pytest.approx([8 / 3, 11 / 3, 3.0, 3.0])
    assert found.low_s == pytest.approx(np.nanpercentile(time_s, 10, axis=0))
    # Run 0 is beside (3.5, 4, 3.5, 1); run 1, without its last step, beside (3, 2.5, 2.5).
    assert found.agreement[0] == pytest.approx(np.corrcoef([1, 3, 2, 4], [2.5, 4, 2.5, 1])[0, 1])
    assert found.agreement[1] == pytest.approx(np.corrcoef([1, 3, 2], [3, 1.5, 1.5])[0, 1])
    assert found.counter_mean[0] == pytest.approx(shape)
    ranks = np.corrcoef([1, 3, 2, 4], [1, 4, 2.5, 2.5])[0, 1]
    assert found.counter_agreement[:2] == pytest.approx([ranks, -ranks])
    assert np.isnan(found.counter_agreement[2])
    assert found.notes == ("a note",)


def test_runs_of_one_shape_agree_and_runs_of_chance_do_not() -> None:
    rng = np.random.default_rng(1)
    shape = rng.uniform(1, 2, 30)
    alike = shape * rng.uniform(1, 3, (40, 1))
    assert mean_behaviour(table(alike, {"n": alike})).agreement == pytest.approx(np.ones(40))
    chance = rng.uniform(1, 2, (40, 30))
    assert abs(np.median(mean_behaviour(table(chance, {"n": chance})).agreement)) < 0.15


def test_a_figure_for_each_program_with_its_counters() -> None:
    shape = np.array([[1.0, 3.0, 2.0], [2.0, 4.0, 3.0]])
    one = mean_behaviour(table(shape, {"RT_RB_STL": 10 * shape, "PT_PKT_TOT": np.zeros((2, 3))}))
    drawn = plotting.plot_mean_steps({"a": one, "b": one}, counters=["RT_RB_STL", "PT_PKT_TOT"])
    assert isinstance(drawn, LayoutDOM)
    values = [
        np.asarray(source.data["value"])
        for source in drawn.select({"type": ColumnDataSource})
        if "value" in source.data
    ]
    assert len(values) == 6
    assert sum(np.allclose(one, [0.6, 1.4, 1.0]) for one in values) == 4
    assert "1.00 in the median of 2 runs" in plotting.describe_mean_steps(one)
    with pytest.raises(ParameterError, match="counters must be some of RT_RB_STL"):
        one.plot(counters=["RT_RB_STALL"])


def test_too_few_runs_or_steps_are_refused() -> None:
    with pytest.raises(ParameterError, match="at least 2 runs and 3 steps; got 1 and 4"):
        mean_behaviour(table(np.ones((1, 4)), {"n": np.ones(4)}))
