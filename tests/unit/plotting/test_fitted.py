from __future__ import annotations

import numpy as np
import pytest
from bokeh.models import Div
from bokeh.plotting import figure

from workbench import datasets
from workbench.fit import FitResult, FitStudy


@pytest.fixture(scope="module")
def result() -> FitResult:
    return FitStudy(datasets.load("azure-hb96v3-hdr"), "snappr").run(3)


def test_a_fit_is_curves_errors_and_convergence(result: FitResult) -> None:
    drawn = result.plot()
    titles = [fig.title.text for fig in drawn.select({"type": figure})]
    assert len(titles) == 6
    assert {title.split(",")[0].split()[0] for title in titles} == {
        "Latency",
        "Bandwidth",
        "Percent",
        "Residuals",
        "Convergence",
    }
    words = " ".join(div.text for div in drawn.select({"type": Div}))
    assert "RMSPE" in words
    assert "3 trials" in words
    assert "published" in words


def test_a_fit_that_found_nothing_says_so(result: FitResult) -> None:
    from dataclasses import replace

    nothing = dict.fromkeys(result.rmspe, np.nan)
    failed = replace(
        result,
        simulated=None,
        success=False,
        rmspe=nothing,
        losses=np.full(3, np.inf),
        message="no configuration could be simulated",
    )
    words = " ".join(div.text for div in failed.plot().select({"type": Div}))
    assert "no configuration could be simulated" in words
    assert "none could be simulated" in words
