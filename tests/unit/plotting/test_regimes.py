from __future__ import annotations

import numpy as np
import pytest

from workbench.errors import ParameterError
from workbench.fit import FitResult
from workbench.fit.regimes import bolt, errors_by_threshold
from workbench.plotting import (
    describe_bolted,
    describe_threshold,
    plot_bolted,
    plot_threshold,
    threshold_figure,
)

Fits = tuple[FitResult, FitResult]


def test_each_pair_shows_its_halves_and_its_whole(fits: Fits) -> None:
    low, high = fits
    pairs = {"LogP + SNAPPR": bolt(low, high), "LogP alone": bolt(low, low)}
    fig = plot_bolted({"azure": pairs}, error="latency")
    data = fig.renderers[0].data_source.data
    assert data["place"] == [("azure", "LogP + SNAPPR"), ("azure", "LogP alone")]
    for at, bolted in enumerate(pairs.values()):
        assert data["low"][at] == bolted.rmspe_low["latency"]
        assert data["high"][at] == bolted.rmspe_high["latency"]
        assert data["whole"][at] == bolted.rmspe["latency"]
    assert fig.title.text.startswith("RMSPE of simulated latency")
    assert fig.xaxis[0].axis_label == "RMSPE (%)"


def test_the_reading_names_the_best_pair_with_its_error(fits: Fits) -> None:
    low, high = fits
    pairs = {"pair": bolt(low, high), "alone": bolt(low, low)}
    best = min(pairs, key=lambda name: pairs[name].rmspe["joint"])
    text = describe_bolted({"azure": pairs})
    assert f"{best} on 1 (azure {pairs[best].rmspe['joint']:.0f} %)" in text
    harder = sum(b.rmspe_low["joint"] > b.rmspe_high["joint"] for b in pairs.values())
    assert f"harder one in {harder} of 2 cases" in text


def test_nothing_and_an_unknown_error_are_refused(fits: Fits) -> None:
    with pytest.raises(ParameterError, match="at least one pair"):
        plot_bolted({})
    with pytest.raises(ParameterError, match="joint, latency, bandwidth; got 'total'"):
        plot_bolted({"azure": {"pair": bolt(*fits)}}, error="total")


def test_the_threshold_figure_holds_every_size_and_marks_the_one_in_use(fits: Fits) -> None:
    errors = errors_by_threshold(*fits)
    fig = plot_threshold(errors, threshold=512, machine="azure")
    data = fig.renderers[0].data_source.data
    assert data["size"] == errors.index[1:].tolist()
    np.testing.assert_array_equal(data["whole"], errors["joint"].iloc[1:])
    assert fig.title.text == "Error against threshold, simulated for azure"
    drawn = threshold_figure(errors, threshold=512)
    assert drawn.marker.data == {"size": [512]}
    drawn.mark(None)
    assert drawn.marker.data == {"size": []}


def test_the_threshold_reading_gives_the_least_error_and_both_ends(fits: Fits) -> None:
    errors = errors_by_threshold(*fits)
    text = describe_threshold(errors, threshold=600)
    joint = errors["joint"]
    assert f"Least error of the whole {joint.min():.0f} %" in text
    assert f"the high model alone has {joint.loc[0]:.0f} %" in text
    # 600 B hands over where 512 B does.
    assert f"it is {joint.loc[512]:.0f} %" in text
