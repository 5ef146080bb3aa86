from __future__ import annotations

import pytest
from bokeh.models import Div, Line, Scatter
from bokeh.plotting import figure

from workbench.errors import ParameterError
from workbench.fit import FitResult
from workbench.fit.baseline import Baseline, baseline
from workbench.plotting import describe_baseline, plot_baseline

MACHINE = "azure-hb96v3-hdr"


@pytest.fixture(scope="module")
def manual() -> dict[str, Baseline]:
    return {MACHINE: baseline(MACHINE), "llnl-dane-omnipath": baseline("llnl-dane-omnipath")}


def test_points_are_measured_and_lines_simulated(
    manual: dict[str, Baseline], fits: tuple[FitResult, FitResult]
) -> None:
    tuned = fits[0].simulated
    assert tuned is not None
    drawn = plot_baseline(manual, {MACHINE: tuned})
    panes = sorted(drawn.select({"type": figure}), key=lambda fig: int(fig.id[1:]))
    assert len(panes) == 4
    latency = panes[0]
    lines = [r.data_source.data for r in latency.renderers if isinstance(r.glyph, Line)]
    points = [r.data_source.data for r in latency.renderers if isinstance(r.glyph, Scatter)]
    assert [line["value"] for line in lines] == [
        manual[MACHINE].simulated.latency_us.tolist(),
        tuned.latency_us.tolist(),
    ]
    assert points[0]["value"] == manual[MACHINE].measured.latency_us.tolist()
    words = " ".join(div.text for div in drawn.select({"type": Div}))
    assert "measured (published)" in words
    assert "lines: simulated" in words


def test_the_reading_gives_the_factor_that_tuning_gains(
    manual: dict[str, Baseline], fits: tuple[FitResult, FitResult]
) -> None:
    tuned = fits[0].simulated
    assert tuned is not None
    one = {MACHINE: manual[MACHINE]}
    factor = manual[MACHINE].rmspe["joint"] / fits[0].rmspe["joint"]
    assert f"lower by a factor of {factor:.1f}" in describe_baseline(one, {MACHINE: tuned})
    assert "tuned" not in describe_baseline(manual)
    errors = sorted(base.rmspe["joint"] for base in manual.values())
    assert f"{errors[0]:.0f} to {errors[1]:.0f} %" in describe_baseline(manual)


def test_no_machine_is_refused() -> None:
    with pytest.raises(ParameterError, match="at least one baseline"):
        plot_baseline({})
