from __future__ import annotations

import json
import math
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from scipy.stats import kstest, truncnorm

from tests.cases import for_each
from workbench.errors import ParameterError
from workbench.uq import Parameter, ParameterBox

LATENCY = Parameter("latency", "s", 1e-7, 1e-5, log=True)
BANDWIDTH = Parameter("bandwidth", "B/s", 1e9, 9e9)
OVERHEAD = Parameter("overhead", "s", 0.0, 4e-6, mean=1e-6, sd=1e-6)
BOX = ParameterBox([LATENCY, BANDWIDTH, OVERHEAD])

bounds = st.tuples(
    st.floats(min_value=1e-9, max_value=1e9), st.floats(min_value=1.01, max_value=1e6)
).map(lambda pair: (pair[0], pair[0] * pair[1]))


def test_a_box_lists_its_parameters_in_order() -> None:
    assert BOX.names == ("latency", "bandwidth", "overhead")
    assert BOX.units == ("s", "B/s", "s")
    assert BOX.low.tolist() == [1e-7, 1e9, 0.0]
    assert BOX.high.tolist() == [1e-5, 9e9, 4e-6]
    assert len(BOX) == 3
    assert list(BOX) == [LATENCY, BANDWIDTH, OVERHEAD]


def test_the_middle_of_a_logarithmic_parameter_is_the_geometric_mean() -> None:
    assert BOX.from_unit([0, 0, 0]) == pytest.approx([1e-6, 5e9, 2e-6], rel=1e-15)
    assert BOX.to_unit([[1e-6, 3e9, 1e-6]])[0] == pytest.approx([0, -0.5, -0.5], abs=1e-15)


@given(bounds, st.floats(min_value=-1, max_value=1), st.booleans())
def test_coordinates_and_values_are_inverses(
    ends: tuple[float, float], x: float, log: bool
) -> None:
    box = ParameterBox([Parameter("a", "", *ends, log)])
    value = box.from_unit([x])
    assert ends[0] <= value[0] <= ends[1]
    # a logarithm up to 36 in eps over a logarithmic width of at least 0.01
    assert box.to_unit(value)[0] == pytest.approx(x, abs=1e-12)
    assert box.from_unit([[-1], [1]])[:, 0].tolist() == pytest.approx(ends, rel=1e-14)


def test_values_outside_have_coordinates_beyond_one_and_no_density() -> None:
    x = BOX.to_unit([1e-6, 1.3e10, 1e-6])
    assert x[1] == pytest.approx(2.0)
    assert BOX.from_unit(x) == pytest.approx([1e-6, 1.3e10, 1e-6])
    assert BOX.log_prior_unit(x) == -math.inf
    assert BOX.log_prior_unit([np.nan, 0, 0]) == -math.inf


def test_the_prior_is_normalised_over_the_coordinates() -> None:
    flat = ParameterBox([LATENCY, BANDWIDTH])
    assert flat.log_prior_unit(np.zeros((2, 5, 2))) == pytest.approx(
        np.full((2, 5), -2 * math.log(2))
    )
    assert flat.log_prior_unit([1.0, -1.0]) == pytest.approx(-2 * math.log(2))


@for_each("mean, sd", [(1e-6, 1e-6), (-3e-5, 1e-6), (3e-5, 1e-6), (2e-6, 1.0)])
def test_a_normal_prior_is_truncated_to_the_bounds(mean: float, sd: float) -> None:
    box = ParameterBox([Parameter("a", "s", 0.0, 4e-6, mean=mean, sd=sd)])
    x = np.linspace(-1, 1, 9)[:, None]
    oracle = truncnorm((0 - mean) / sd, (4e-6 - mean) / sd, mean, sd)
    wanted = oracle.logpdf(box.from_unit(x)[:, 0]) + math.log(2e-6)
    # scipy's own distribution has ten digits 30 standard deviations away
    assert box.log_prior_unit(x) == pytest.approx(wanted, rel=1e-9, abs=1e-9)
    drawn = box.sample(4000, seed=1)[:, 0]
    assert 0 <= drawn.min() < drawn.max() <= 4e-6
    assert kstest(drawn, oracle.cdf).pvalue > 1e-3


def test_samples_follow_the_prior_and_the_seed() -> None:
    drawn = BOX.sample(4000, seed=2)
    x = BOX.to_unit(drawn)
    for column in (0, 1):
        assert kstest(x[:, column], "uniform", (-1, 2)).pvalue > 1e-3
    assert np.array_equal(drawn, BOX.sample(4000, 2))
    assert not np.array_equal(drawn, BOX.sample(4000, 3))
    assert np.array_equal(drawn, BOX.sample(4000, np.random.default_rng(2)))
    assert BOX.sample(0).shape == (0, 3)


def test_a_box_is_the_same_after_json() -> None:
    assert ParameterBox.from_dict(json.loads(json.dumps(BOX.to_dict()))) == BOX


@for_each(
    "arguments, key, text",
    [
        ({"low": 2.0}, "low", "low of a must be below high; got low=2, high=1"),
        ({"high": math.inf}, "high of a", "must be finite"),
        ({"prior": "log-uniform"}, "low", "must be above 0 on a logarithmic scale; got 0"),
        ({"prior": "normal", "sd": 1.0}, "mean", "mean and sd of a must both be given"),
        ({"prior": "normal", "mean": 1.0, "sd": 0.0}, "sd", "sd must be above 0"),
        ({"mean": 1.0}, "sd", "mean and sd of a must both be given"),
        ({"mean": 1.0, "sd": 1.0}, "prior", "and no other with them; got 'uniform', mean=1"),
        ({"prior": "normal"}, "prior", "the last with mean and sd"),
        ({"prior": "log-uniform", "low": 0.5, "mean": 1.0, "sd": 1.0}, "sd", "on a linear scale"),
        ({"prior": "uniforn"}, "prior", "did you mean uniform"),
        ({"name": ""}, "name", "name must be a text"),
        ({"unit": None}, "unit", "unit of a must be a text"),
    ],
)
def test_a_parameter_that_cannot_be_is_refused(
    arguments: dict[str, Any], key: str, text: str
) -> None:
    given: dict[str, Any] = {"name": "a", "unit": "", "low": 0.0, "high": 1.0} | arguments
    with pytest.raises(ParameterError, match=text) as refused:
        Parameter.from_dict(given)
    assert refused.value.key == key


def test_a_box_that_cannot_be_is_refused() -> None:
    with pytest.raises(ParameterError, match="unique; got latency more than once"):
        ParameterBox([LATENCY, LATENCY])
    with pytest.raises(ParameterError, match="one Parameter or more; got none"):
        ParameterBox([])
    with pytest.raises(ParameterError, match="3 columns, latency, bandwidth, overhead; got"):
        BOX.to_unit([1.0, 2.0])
    with pytest.raises(ParameterError, match="values of latency must be above 0"):
        BOX.to_unit([0.0, 1e9, 0.0])
    with pytest.raises(ParameterError, match="list of parameters"):
        ParameterBox.from_dict({})
    with pytest.raises(ParameterError, match="must have name, unit, low and high"):
        ParameterBox.from_dict({"parameters": [{"name": "a"}]})
