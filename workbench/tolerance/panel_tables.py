"""The tables of the tolerance panel: tolerances, measured run times, contention."""

from __future__ import annotations

import html
import math

from workbench.html_table import Html, html_table
from workbench.panels.style import TEXT
from workbench.plotting.replay.style import time_text
from workbench.plotting.theme import SMALL
from workbench.tolerance import LatencySensitivity
from workbench.tolerance.figure_columns import value_text
from workbench.tolerance.panel_measured import COLUMNS
from workbench.tolerance.panel_state import Analysed
from workbench.tolerance.result import RENDEZVOUS, latency_text, more_than_messages


def tolerance_table(shown: Analysed) -> str:
    """Return an HTML table with T, the slope, the share and the tolerances of each program."""
    if shown.bandwidths:
        return _bandwidth_table(shown)
    head = ["", "ranks", "T", Html("λ<sub>L</sub>"), "its messages", Html("ρ<sub>L</sub>")]
    head += [f"L within {p:g} %" for p in shown.state.percent]
    head.append("critical L")
    rows = (_row(name, result) for name, result in shown.results.items())
    base = time_text(shown.result.L * 1e9)
    # For one program the sentence has it.
    said = len(shown.results) > 1 and any(map(more_than_messages, shown.results.values()))
    more = f'<div style="{SMALL}">λ_L counts latencies: {RENDEZVOUS}.</div>' if said else ""
    caption = f"At L = {base}, and the largest L within each percentage; increase of L in brackets"
    return html_table(rows, head, caption, cell_style="white-space:nowrap") + more


def _bandwidth_table(shown: Analysed) -> str:
    """Return an HTML table with T, λ_G, ρ_G and the tolerances of each program."""
    head = ["", "ranks", "T", Html("λ<sub>G</sub>"), Html("ρ<sub>G</sub>")]
    head += [f"G within {p:g} %" for p in shown.state.percent]
    head.append("critical G")
    rows = (
        [
            name,
            f"{shown.results[name].ranks:,}",
            time_text(curve.T * 1e9),
            f"{curve.lambda_G:,} B",
            f"{100 * curve.rho_G:.1f} %",
            *(_gap_text(largest) for largest in curve.tolerance.values()),
            f"{len(curve.critical):,}",
        ]
        for name, curve in shown.bandwidths.items()
    )
    base = value_text("G", shown.result.model.G)
    caption = f"At G = {base}, and the largest G, with the least bandwidth, within each percentage"
    return html_table(rows, head, caption, cell_style="white-space:nowrap")


def _gap_text(largest: float) -> str:
    return value_text("G", largest) if math.isfinite(largest) else "any"


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


def _row(name: str, result: LatencySensitivity) -> list[str]:
    cells = [
        name,
        f"{result.ranks:,}",
        time_text(result.T * 1e9),
        f"{result.lambda_L:,}",
        "" if result.critical_messages is None else f"{result.critical_messages:,}",
        f"{100 * result.rho_L:.1f} %",
    ]
    for largest in result.tolerance.values():
        added = largest - result.L
        more = f" (+{time_text(added * 1e9)})" if added < float("inf") else ""
        cells.append(latency_text(largest) + more)
    cells.append(f"{len(result.critical_latencies):,}")
    return cells
