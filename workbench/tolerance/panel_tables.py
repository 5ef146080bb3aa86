"""The tables of the tolerance panel: tolerances, measured run times, contention."""

from __future__ import annotations

import html
import math

from workbench.facts import Fact, facts_table
from workbench.html_table import html_table
from workbench.panels.style import TEXT
from workbench.plotting.replay.style import time_text
from workbench.plotting.theme import SMALL
from workbench.tolerance.curve import RENDEZVOUS, more_than_messages
from workbench.tolerance.figure_columns import value_text
from workbench.tolerance.panel_measured import COLUMNS
from workbench.tolerance.panel_state import Analysed


def tolerance_table(shown: Analysed) -> str:
    """Return an HTML table with T, the slope, the share and the tolerances of each program."""
    rows = {
        name: (Fact("ranks", "ranks", shown.results[name].ranks), *curve.facts()[1:])
        for name, curve in shown.curves.items()
    }
    variable = shown.curve.variable
    base = f"At {variable} = {value_text(variable, shown.curve.base)}"
    table = facts_table(rows, f"{base}, and the largest {variable} within each percentage")
    # For one program the sentence has it.
    several = len(rows) > 1 and variable == "L"
    if not (several and any(map(more_than_messages, shown.results.values()))):
        return table
    return f'{table}<div style="{SMALL}">λ_L counts latencies: {RENDEZVOUS}.</div>'


def measured_html(shown: Analysed) -> str:
    """Return measured and predicted run times by added latency, as an HTML table."""
    if shown.prediction is None:
        reason = shown.measured_error or f"None are given. Upload {COLUMNS}."
        if shown.bandwidths:
            reason = "Run times are measured under added latency: choose Latency to see them."
        return f'<div style="{TEXT}">{html.escape(reason)}</div>'
    found = shown.prediction
    spread = found.points.spread
    head = ["added", "zone", "runs", "median", "quartiles", "minimum", "predicted", "error"]
    head += ["λ_L measured", "λ_L predicted"]
    rows = (
        [
            time_text(1e9 * added),
            zone,
            str(runs),
            _precise(median),
            f"{_precise(low)} to {_precise(high)}",
            _precise(least),
            _precise(predicted),
            f"{error:+.2f} %",
            *("" if math.isnan(slope) else f"{slope:.1f}" for slope in slopes),
        ]
        for added, zone, runs, median, low, high, least, predicted, error, *slopes in zip(
            found.added_s.tolist(),
            found.zones,
            spread.count.tolist(),
            spread.median.tolist(),
            spread.p25.tolist(),
            spread.p75.tolist(),
            spread.minimum.tolist(),
            found.predicted_s.tolist(),
            found.error_percent.tolist(),
            [math.nan, *found.measured_slope.tolist()],
            [math.nan, *found.predicted_slope.tolist()],
            strict=True,
        )
    )
    caption = f"RRMSE {found.rrmse_percent:.2f} %; " + ", ".join(
        f"{zone} {error:.2f} %" for zone, error in found.zone_rrmse_percent.items()
    )
    caption += "; λ_L between a point and the one before"
    return html_table(rows, head, caption, cell_style="white-space:nowrap")


def _precise(seconds: float) -> str:
    """Return a time with five digits: ``1.2023 ms``."""
    unit, scale = next(
        ((unit, scale) for unit, scale in (("s", 1.0), ("ms", 1e-3)) if seconds >= scale),
        ("µs", 1e-6),
    )
    return f"{seconds / scale:.5g} {unit}"


def contention_html(shown: Analysed) -> str:
    """Return the time that contention adds to the program in the controls, by resource."""
    report = shown.result.contention
    if report is None:
        if shown.compared:
            return "With contention the program does not run to its end."
        return "The program is being replayed with contention …"
    percent = report.optimistic_percent
    word = "below" if percent >= 0 else "above"
    text = (
        f"Without contention, as here, {report.source} takes {time_text(report.llamp_ps / 1e3)}: "
        f"{abs(percent):.1f} % {word} LogGOPSim's {time_text(report.loggopsim_ps / 1e3)}, where "
        "messages and computations wait for CPUs and network interfaces that are busy."
    )
    return f'<div style="{TEXT}">{html.escape(text)}</div>{report._repr_html_()}'
