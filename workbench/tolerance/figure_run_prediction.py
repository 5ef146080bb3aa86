"""Measured run times of a program beside predictions, of one trace or of several."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from bokeh.models import LayoutDOM

from workbench.plotting.descriptions import plain_percent
from workbench.plotting.grid import sentence, stacked
from workbench.plotting.replay.style import time_text
from workbench.tolerance.figure import plot_tolerance, tolerance_figure

if TYPE_CHECKING:
    from workbench.tolerance.run_prediction import RunPrediction, TracePredictions


def plot_run_prediction(result: RunPrediction, *, height: int = 300) -> LayoutDOM:
    """Return T(L) with the measured run times, and λ_L with the slopes between them.

    Args:
        result: of ``workbench.tolerance.predict_runs``.
        height: of the upper figure, pixels.
    """
    drawn = plot_tolerance({result.name: result.analysis}, measured=result.runs, height=height)
    return stacked(drawn, sentence(describe_run_prediction(result)))


def plot_trace_predictions(result: TracePredictions, *, height: int = 300) -> LayoutDOM:
    """Return T(L) from each trace of a program, and the measured run times (LLAMP, Fig. 12).

    Args:
        result: of ``workbench.tolerance.predict_from_traces``.
        height: of the upper figure, pixels.
    """
    drawn = tolerance_figure(result.analyses, measured=result.runs, relative=False, height=height)
    program = result.predictions[0].name
    drawn.time.title.text = f"Run time over latency: {program}, {len(result.traced_s)} traces"
    return drawn.layout


def describe_run_prediction(result: RunPrediction) -> str:
    """Return sentences on how far measured run times are from the predicted ones, and where.

    Args:
        result: of ``workbench.tolerance.predict_runs``.
    """
    zones = ", ".join(
        f"{plain_percent(error)} in the {zone} zone"
        for zone, error in result.zone_rrmse_percent.items()
    )
    begins, ends = (time_text(1e9 * edge) for edge in result.zone_edges_s)
    worst = int(np.argmax(np.abs(result.error_percent)))
    where = time_text(1e9 * float(result.added_s[worst]))
    text = (
        f"Predicted and {result.runs.provenance.origin} run times differ by "
        f"{plain_percent(result.rrmse_percent)} (root mean square error over the mean of "
        f"{len(result.added_s)} medians): {zones}. With "
        f"{time_text(1e9 * float(result.added_s[0]))} added the prediction is off by "
        f"{result.error_percent[0]:+.2f} %, and most with {where} added, by "
        f"{result.error_percent[worst]:+.2f} %. The predicted λ_L begins to rise at {begins} of "
        f"added latency, and has risen at {ends}."
    )
    left_out = len(np.unique(result.runs.added_s)) - len(result.added_s)
    points = "1 point lies" if left_out == 1 else f"{left_out} points lie"
    return text + (f" {points} outside the axis." if left_out else "")
