"""Calibration tests: what the posterior predicts for them, beside what was measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from bokeh.models import LayoutDOM
from numpy.typing import NDArray

from workbench.plotting import palette
from workbench.plotting.descriptions import plain_percent
from workbench.plotting.grid import Series, heading, key, sentence, stacked
from workbench.plotting.marks import Marks, rule
from workbench.plotting.rows import row_figure, signed_percent
from workbench.plotting.uq.posterior import verdict_word
from workbench.plotting.uq.prediction import MEASURED, draw_intervals, draw_replicas
from workbench.units import format_quantity

if TYPE_CHECKING:
    from workbench.uq.posterior import Posterior
    from workbench.uq.prediction import Prediction

_SURROGATE = Series("surrogate, median over the draws", palette.FITTED, "solid", 3.0)


def plot_posterior_fit(posterior: Posterior, *, draws: int = 1000) -> LayoutDOM:
    """Return the 50 and 90 % intervals of each calibration test with its measured replicas.

    All are relative to the test's measured median. The intervals are of one more replica, with the
    model's own error as it was seen in that test; the surrogate's time is without it.

    Args:
        posterior: of ``workbench.uq.calibrate``.
        draws: of the posterior, from which the intervals are made.

    Raises:
        ParameterError: the posterior has no draws.
    """
    from workbench.uq.prediction import predict_calibrated

    replicas = posterior.replicas
    prediction = predict_calibrated(posterior, draws=draws)
    medians = np.array([np.median(row) for row in replicas.rows])
    fig = row_figure(
        replicas.tests,
        title="Intervals of one more replica, and what was measured",
        x_label="off the measured median (%)",
        file_name="posterior fit",
    )
    shown = draw_intervals(fig, prediction, medians)
    draw_replicas(fig, replicas.tests, replicas, medians)
    times = np.median(posterior.times.reshape(-1, len(replicas)), axis=0)
    table = {
        "off": 100 * (times / medians - 1),
        "test": replicas.tests,
        "time": [format_quantity(time, "time") for time in times.tolist()],
    }
    tips = [("", "@test"), ("surrogate", "@time (@off{+0.0} %)")]
    Marks(fig, table).ticks("off", **_SURROGATE.stroke, tips=tips)
    rule(fig, x=0, colour=palette.FAINT)
    signed_percent(fig)
    return stacked(
        heading(
            f"Calibration tests under the posterior, {posterior.noise.name} noise: "
            f"{verdict_word(posterior)}",
            f"{len(replicas)} tests, {len(replicas.values)} measured replicas",
        ),
        key([*shown, _SURROGATE, MEASURED]),
        fig,
        sentence(_reading(posterior, prediction, times / medians - 1)),
    )


def _reading(
    posterior: Posterior,
    prediction: Prediction,
    off: NDArray[np.float64],  # [tests], of the surrogate
) -> str:
    rows = posterior.replicas.rows
    parts = []
    for level, low, high in zip(prediction.levels, prediction.low, prediction.high, strict=True):
        inside = [
            np.count_nonzero((row >= low[at]) & (row <= high[at])) for at, row in enumerate(rows)
        ]
        share = 100 * sum(inside) / len(posterior.replicas.values)
        parts.append(f"{100 * level:g} % intervals hold {share:.0f} %")
    worst = int(np.argmax(np.abs(off)))
    return (
        f"{' and '.join(parts)} of the measured replicas. The surrogate is off the measured median "
        f"by {plain_percent(100 * float(np.abs(off).mean()))} on average, most in "
        f"{prediction.tests[worst]} ({100 * off[worst]:+.1f} %).".replace("(-", "(−")
    )
