from __future__ import annotations

import numpy as np
import pytest
from bokeh.models import Div
from bokeh.models.glyphs import Step
from bokeh.plotting import figure

from workbench.errors import ParameterError
from workbench.fit.engine_comparison import EngineComparison, EngineRun
from workbench.plotting import describe_engines, plot_engines


def run(engine: str, losses: list[float], step: float, seed: int = 0) -> EngineRun:
    return EngineRun(engine, seed, np.array(losses), step * np.arange(1, len(losses) + 1))


def comparison(*runs: EngineRun) -> EngineComparison:
    return EngineComparison("a-machine", "logp", "rmsre", "both", runs)


SLOW = run("tpe", [np.inf, 4.0, 4.0, 2.0, 2.0, 1.0, 1.0], 0.1)
FAST = run("least-squares", [4.0, 1.0, 0.5, 0.5], 0.05)
STUCK = run("cma-es", [4.0, 3.0, 3.0], 0.05)


def test_the_reading_counts_trials_and_seconds_to_the_reference() -> None:
    text = describe_engines(comparison(SLOW, FAST, STUCK))
    assert text.startswith("tpe ends at 1 after 7 trials and 0.7 s")
    assert "least-squares gets there after 2 trials and 0.1 s, 7 times sooner" in text
    assert "cma-es does not get there, it ends at 3" in text


def test_seeds_that_do_not_arrive_are_counted() -> None:
    late = run("least-squares", [4.0, 2.0], 0.05, seed=1)
    other = run("tpe", [4.0, 1.0], 0.1, seed=1)
    assert "least-squares gets there from 1 of 2 seeds" in describe_engines(
        comparison(SLOW, other, FAST, late)
    )


def test_a_step_is_drawn_from_its_improvements_and_its_end() -> None:
    drawn = plot_engines(comparison(SLOW, FAST))
    trials, seconds = sorted(drawn.select({"type": figure}), key=lambda fig: int(fig.id[1:]))
    (slow, _), (by_time, _) = (
        [r.data_source.data for r in fig.renderers if isinstance(r.glyph, Step)]
        for fig in (trials, seconds)
    )
    assert slow["trial"] == [2, 4, 6, 7]
    assert slow["loss"] == [4.0, 2.0, 1.0, 1.0]
    assert by_time["seconds"] == pytest.approx([0.2, 0.4, 0.6, 0.7], rel=1e-12)
    assert (trials.xaxis[0].axis_label, seconds.xaxis[0].axis_label) == ("trial", "time (s)")
    assert trials.yaxis[0].axis_label == "best loss (rmsre)"
    words = " ".join(div.text for div in drawn.select({"type": Div}))
    assert "simulated: logp fitted to latency and bandwidth of a-machine, 1 seed" in words


def test_a_comparison_without_a_valid_configuration_is_refused() -> None:
    with pytest.raises(ParameterError, match="run more trials"):
        plot_engines(comparison(run("tpe", [np.inf, np.inf], 0.1)))
