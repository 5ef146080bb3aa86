from __future__ import annotations

import numpy as np
import pytest
from bokeh.models import Div

from workbench.fit import FitResult
from workbench.fit.trust.identify import Identifiability, identify
from workbench.plotting import describe_identifiability, palette, plot_correlation, plot_intervals


@pytest.fixture(scope="module")
def found(fits: tuple[FitResult, FitResult]) -> Identifiability:
    return identify(fits[0])


def test_intervals_stand_between_the_bounds_around_the_value(found: Identifiability) -> None:
    data = plot_intervals(found).renderers[-2].data_source.data
    space = found.result.space
    assert data["key"] == list(space.keys)
    for at, key in enumerate(space.keys):
        assert data["at"][at] == space[key].position(float(found.values[key]))
        assert 0 <= data["held0"][at] <= data["at"][at] <= data["held1"][at] <= 1
        fills = {"known": palette.FITTED, "bounded": palette.FAINT, "unknown": "white"}
        assert data["fill"][at] == fills[found.state(key)]
        assert data["words"][at].replace("\n", " ").endswith(found.verdicts[key])


def test_the_matrix_is_the_correlation_of_the_estimates(found: Identifiability) -> None:
    data = plot_correlation(found).renderers[0].data_source.data
    np.testing.assert_array_equal(data["value"], found.correlation.ravel())
    assert data["row"][1] == data["other"][0] == found.keys[0]


def test_the_reading_says_that_only_the_sum_of_logps_latencies_shows(
    found: Identifiability,
) -> None:
    text = describe_identifiability(found)
    assert (
        f"Of {len(found.values)} parameters {len(found.known)} known within a factor of 2" in text
    )
    assert f"{len(found.bounded)} bounded, {len(found.unknown)} unknown" in text
    assert "only the sum is determined of switch.out_in_latency and switch.hop_latency" in text


def test_the_figure_says_what_was_simulated_and_what_published(found: Identifiability) -> None:
    words = " ".join(div.text for div in found.plot().select({"type": Div}))
    assert "LogP simulated, fitted to published values (rmsre over both)" in words
