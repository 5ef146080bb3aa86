"""The figure of runs over their dates."""

from __future__ import annotations

import numpy as np

from tests.cases import for_each
from workbench import plotting
from workbench.variability import Runs

DAY_S = 86400


@for_each("span_s, step_s", [(0.7 * DAY_S, 3600), (5 * DAY_S, DAY_S), (130 * DAY_S, DAY_S)])
def test_ticks_stand_at_midnights_or_at_full_hours(span_s: float, step_s: float) -> None:
    start = 1.7e9 + np.array([0.0, span_s])
    figure = plotting.plot_run_dates(Runs(("a", "b"), start, start + 9.0, np.array([9.0, 9.0])))
    ticker = figure.xaxis[0].ticker
    # BokehJS takes multiples of min_interval, counted from the epoch, by the mantissas.
    assert ticker.min_interval == step_s
    assert all(one == int(one) for one in (ticker.base, *ticker.mantissas))
