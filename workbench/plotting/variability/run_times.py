"""Run times over months, relative to the best, and how much each group of them varies."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from bokeh.models import LayoutDOM
from bokeh.plotting import figure

from workbench.plotting import palette
from workbench.plotting.axes import legend_above, new_figure
from workbench.plotting.grid import heading, sentence, stacked
from workbench.plotting.marks import Marks, hover, rule
from workbench.plotting.rows import row_figure

if TYPE_CHECKING:
    from workbench.variability import RunTimes, RunTimeSummary

_PROGRAM = ("system", "application", "nodes")
_RELATIVE = "run time relative to the best"


def plot_run_times(times: RunTimes, *, by: Iterable[str] = _PROGRAM) -> LayoutDOM:
    """Return each run's time relative to the best over its date, and a row for each group.

    The first is figure 1 of Bhatele et al. (2020) on these runs, where their dates are known. In
    the second a thin line is from the fastest to the slowest run, a thick one holds the middle half
    of the runs, a dot is the median with its interval.

    Args:
        times: of ``workbench.variability.load_run_times`` or ``read_run_times``.
        by: what groups of the second figure are made by: some of ``system``, ``application``,
            ``nodes`` and ``month``.

    Raises:
        ParameterError: one of ``by`` is unknown.
    """
    summary = times.summary(by)
    parts: list[LayoutDOM] = [_dates(times)] if np.isfinite(times.date).any() else []
    return stacked(
        heading("How much run times vary", times.provenance.caption()),
        *parts,
        _rows(times, summary),
        sentence(describe_run_times(times)),
    )


def _dates(times: RunTimes) -> figure:
    fig = new_figure(
        title="Each run on its day",
        y_label=_RELATIVE,
        height=300,
        x_type="datetime",
        y_type="linear",
        file_name="run-times",
    )
    relative = times.relative
    groups = times.groups(_PROGRAM)
    for at, (label, rows) in enumerate(groups.items()):
        dated = rows[np.isfinite(times.date[rows])]
        table = {
            "date": 1000 * times.date[dated],
            "relative": relative[dated],
            "time_s": times.time_s[dated],
        }
        Marks(fig, table, x="date").points(
            "relative",
            palette.CATEGORIES[at % len(palette.CATEGORIES)],
            marker=palette.MARKERS[at % len(palette.MARKERS)],
            size=7,
            alpha=0.5,
            legend=label,
            tips=[("", label), ("relative", "@relative{0.000}"), ("time", "@time_s{0.0} s")],
        )
    rule(fig, y=1)
    legend_above(fig)
    return fig


def _rows(times: RunTimes, summary: RunTimeSummary) -> figure:
    relative, groups = times.relative, times.groups(summary.by)
    quartiles = np.array(
        [np.percentile(relative[rows], (0, 25, 75, 100)) for rows in groups.values()]
    ).T
    labels = [f"{label} ({count})" for label, count in zip(groups, summary.runs, strict=True)]
    fig = row_figure(
        labels,
        title="Range, middle half, and median with its 95 % interval, of each group (runs)",
        x_label=_RELATIVE,
        file_name="run-time-groups",
        row_px=26,  # a bar of 13 px around a point of 8
    )
    table = {
        "group": labels,
        "least": quartiles[0],
        "low": quartiles[1],
        "high": quartiles[2],
        "most": quartiles[3],
        "median": summary.median,
        "median_low": summary.median_low,
        "median_high": summary.median_high,
        "spread": 100 * summary.spread,
        "worst": summary.worst,
    }
    marks = Marks(fig, table)
    marks.spans("least", "most", palette.FAINT)
    bars = marks.bars("high", palette.WAITING, start="low", thick=0.5, edge=palette.CAPTION)
    marks.spans("median_low", "median_high", palette.BLUE, width=3)
    dots = marks.points("median", palette.BLUE, size=8)
    tips = [
        ("", "@group"),
        ("median", "@median{0.000} (@median_low{0.000} to @median_high{0.000})"),
        ("middle half over median", "@spread{0.0} %"),
        ("slowest over fastest", "@worst{0.00}"),
    ]
    hover(fig, [bars, dots], tips)
    return fig


def describe_run_times(times: RunTimes) -> str:
    """Return a sentence on the program that varies most.

    Args:
        times: of ``workbench.variability.load_run_times`` or ``read_run_times``.
    """
    summary = times.summary(_PROGRAM)
    most, least = int(np.argmax(summary.worst)), int(np.argmin(summary.spread))
    return (
        f"{summary.group[most]} varies most: its slowest of {summary.runs[most]} runs takes "
        f"{summary.worst[most]:.2f} times as long as its fastest, its median run "
        f"{summary.median[most]:.2f} times (95 %: {summary.median_low[most]:.2f} to "
        f"{summary.median_high[most]:.2f}). The middle half of {summary.group[least]} lies within "
        f"{100 * summary.spread[least]:.2g} % of its median."
    )
