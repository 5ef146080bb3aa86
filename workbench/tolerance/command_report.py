"""What ``workbench tolerance`` prints: an analysis as text, and notes on it."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench.tolerance import (
        BandwidthSensitivity,
        LatencySensitivity,
        RunPrediction,
        TracePredictions,
    )

_SHOWN = 20  # chosen: with the tolerances above them about a page of a terminal


def latency_notes(result: LatencySensitivity) -> list[str]:
    """Return what is to be known before the numbers are used, a sentence each."""
    from workbench.tolerance.result import RENDEZVOUS, more_than_messages

    notes = list(result.warnings)
    if more_than_messages(result):
        notes.append(RENDEZVOUS)
    return [*notes, *_unbounded(result.tolerance, "latency")]


def bandwidth_notes(result: BandwidthSensitivity) -> list[str]:
    """Return what is to be known before the numbers are used, a sentence each."""
    return _unbounded(result.tolerance, "bandwidth")


def latency_report(result: LatencySensitivity) -> str:
    """Return an analysis as text for people, with the first of many critical latencies."""
    from workbench.tolerance.result import latencies_text

    values = result.summary()
    facts = {
        "makespan": f"{_number(values['makespan_ns'])} ns",
        "lambda_L": latencies_text(result),
        "lambda_G": f"{values['lambda_G']:,} (bytes on the critical path)",
        "rho_L": f"{100 * values['rho_L']:.2f} % (latency's share of the makespan)",
        **{
            f"L within {percent} %": f"{_number(largest)} ns" if math.isfinite(largest) else "any"
            for percent, largest in values["tolerance_ns"].items()
        },
    }
    low, high = (_number(1e9 * end) for end in result.interval)
    return "\n".join(
        [
            f"{result.source}, {result.ranks} ranks, {result.operations:,} operations",
            str(result.model),
            "",
            *_rows(facts),
            "",
            f"critical latencies between {low} and {high} ns: {len(result.critical):,}",
            *_critical(
                values["critical_latencies_ns"],
                lambda ns: f"{_number(ns)} ns",
                "lambda_L",
                result.slopes.tolist(),
            ),
        ]
    )


def bandwidth_report(result: BandwidthSensitivity) -> str:
    """Return an analysis over the gap per byte as text for people."""
    values = result.summary()
    facts = {
        "makespan": f"{_number(values['makespan_ns'])} ns",
        "lambda_G": f"{values['lambda_G']:,} (bytes on the critical path)",
        "rho_G": f"{100 * values['rho_G']:.2f} % (bytes' share of the makespan)",
        **{
            f"G within {percent} %": _gap(largest)
            for percent, largest in values["tolerance_ns_per_byte"].items()
        },
    }
    low, high = (_gap(1e9 * end) for end in result.interval)
    return "\n".join(
        [
            result.source,
            str(result.model),
            "",
            *_rows(facts),
            "",
            f"critical gaps per byte between {low} and {high}: {len(result.critical):,}",
            *_critical(
                values["critical_gaps_ns_per_byte"], _gap, "lambda_G", result.slopes.tolist()
            ),
        ]
    )


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


def _unbounded(tolerance: Any, what: str) -> list[str]:
    unbounded = [f"{p:g} %" for p, largest in tolerance.items() if math.isinf(largest)]
    return [f"no {what} makes the program slower by {', '.join(unbounded)}"] if unbounded else []


def _critical(
    values: list[float], text: Callable[[float], str], symbol: str, slopes: list[int]
) -> list[str]:
    """Return the first critical values, each with the slopes on its two sides."""
    lines = [
        f"{text(value):>19}  {symbol} {slopes[at]:,} to {slopes[at + 1]:,}"
        for at, value in enumerate(values[:_SHOWN])
    ]
    more = [f"the first {_SHOWN} of them (--json: all)"] if len(values) > _SHOWN else []
    return [*lines, *more]


def _rows(values: dict[str, str]) -> list[str]:
    width = max(map(len, values))
    return [f"{name:<{width}}  {value}" for name, value in values.items()]


def _gap(ns: float) -> str:
    """Return a gap per byte and its bandwidth: ``0.05 ns/B (20 GB/s)``."""
    if not math.isfinite(ns):
        return "any"
    return f"{ns:.6g} ns/B" + (f" ({1 / ns:.4g} GB/s)" if ns else "")


def _number(value: float) -> str:
    return f"{value:,.3f}".rstrip("0").rstrip(".")
