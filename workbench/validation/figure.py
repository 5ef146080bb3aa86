"""How far predicted run times are from what ran: recorded programs, and all of them in one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from bokeh.models import LayoutDOM

from workbench.plotting import palette
from workbench.plotting.grid import heading, sentence, stacked
from workbench.plotting.marks import Marks, rule
from workbench.plotting.rows import row_figure
from workbench.tolerance.figure import plot_run_prediction
from workbench.validation.prediction import predict_recording
from workbench.validation.report import RUN_TIME_PERCENT

if TYPE_CHECKING:
    from workbench.validation import ProgramRecording, ValidationReport


def plot_program_recording(recording: ProgramRecording, *, height: int = 300) -> LayoutDOM:
    """Return a recorded program's run times under added latency beside the predicted ones.

    Args:
        recording: of ``workbench.validation``.
        height: of the upper figure, pixels.
    """
    return plot_run_prediction(predict_recording(recording), height=height)


def plot_validation_report(report: ValidationReport) -> LayoutDOM:
    """Return a bar for each program: the root mean square error of its predicted run times.

    Args:
        report: of ``workbench.validation.validation_report``.
    """
    names = [
        f"{name}, {ranks} ranks"
        for name, ranks in zip(report.program, report.ranks.tolist(), strict=True)
    ]
    near = report.rrmse_percent <= RUN_TIME_PERCENT
    table = {
        "name": names,
        "error": report.rrmse_percent,
        "traced": report.traced_rrmse_percent,
        "hidden": report.hidden_percent,
        "transition": report.transition_percent,
        "proportional": report.proportional_percent,
        "fill": np.where(near, palette.BLUE, palette.VERMILLION),
    }
    tips = [
        ("program", "@name"),
        ("error", "@error{0.00} %"),
        ("answers as traced", "@traced{0.00} %"),
        ("hidden zone", "@hidden{0.00} %"),
        ("transition", "@transition{0.00} %"),
        ("proportional zone", "@proportional{0.00} %"),
    ]
    fig = row_figure(
        names,
        title="Predicted beside measured run times",
        x_label="root mean square error over the mean run time (%)",
        file_name="validation",
        row_px=28,
    )
    Marks(fig, table).bars("error", "fill", edge=palette.BLACK, tips=tips)
    rule(fig, x=RUN_TIME_PERCENT, dash="dashed")
    origins = ", ".join(dict.fromkeys(report.origin))
    reading = (
        f"{near.sum()} of {len(names)} programs are predicted within {RUN_TIME_PERCENT:g} %, the "
        f"dashed line, as those of Shen et al., LLAMP, section III.C. Run times are {origins}; "
        "predictions use a trace and message times of the network with nothing added."
    )
    if report.by_arrival.any():
        replayed = [
            f"{names[at]} (as traced {report.traced_rrmse_percent[at]:.1f} %)"
            for at in np.flatnonzero(report.by_arrival)
        ]
        reading += (
            " Arrivals decide whom a receive from any source answers, at each latency anew, for "
            f"{' and '.join(replayed)}."
        )
    return stacked(heading("Validation under added latency"), fig, sentence(reading))
