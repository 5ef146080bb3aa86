"""What ``workbench tolerance`` prints for people."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.tolerance import RunPrediction, TracePredictions
    from workbench.tolerance.tolerance_curve import ToleranceCurve

_SHOWN = 20  # chosen: with the tolerances above them about a page of a terminal


def curve_report(result: ToleranceCurve) -> str:
    """Return an analysis as text for people, with the first of many critical values."""
    from workbench.units import format_quantity

    symbol = "λ_G" if result.variable == "G" else "λ_L"
    texts = (format_quantity(value, result.quantity, exact=True) for value in result.critical)
    lines = [
        f"{text:>19}  {symbol} {below:,} to {above:,}"
        for text, (below, above) in zip(texts, pairwise(result.slopes.tolist()), strict=True)
    ]
    more = [f"the first {_SHOWN} of them (--json: all)"] if len(lines) > _SHOWN else []
    return "\n".join([result.report(), "", *lines[:_SHOWN], *more])


def comparison_report(prediction: RunPrediction) -> str:
    """Return measured and predicted run times as text for people."""
    zones = prediction.zone_rrmse_percent.items()
    table = prediction.to_frame()
    shown = table[
        ["added (µs)", "zone", "repeats", "measured (s)", "predicted (s)", "error (%)"]
    ].to_string(index=False, float_format=lambda value: f"{value:.6g}")
    return "\n".join(
        [
            "",
            f"measured runs: {prediction.runs.provenance.caption()}",
            f"RRMSE {prediction.rrmse_percent:.2f} % of {len(table)} medians ("
            f"{', '.join(f'{zone} {error:.2f} %' for zone, error in zones)})",
            shown,
        ]
    )


def traces_report(found: TracePredictions) -> str:
    """Return the errors of predictions from several traces as text for people."""
    table = found.to_frame().to_string(index=False, float_format=lambda value: f"{value:.6g}")
    return f"measured runs: {found.runs.provenance.caption()}\n{table}"


def save_figure(result: Any, path: str) -> None:
    """Write the figure of a result as a page."""
    from workbench import plotting

    title = f"tolerance of {Path(path).stem}"
    Path(path).write_text(plotting.standalone_html(result.plot(), title), "utf-8")
