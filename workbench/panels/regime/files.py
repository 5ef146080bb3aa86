"""Exports of the regime panel, and a table of the models' parameters."""

from __future__ import annotations

import html
import json
from collections.abc import Callable
from typing import Any

from workbench.fit import SearchSpace
from workbench.fit.bolted import Bolted
from workbench.html_table import Html, bold, code, html_table
from workbench.panels.regime.state import Half, Pair, bolted_lines
from workbench.panels.style import side_by_side


def csv_text(pair: Pair, bolted: Bolted) -> str:
    """Return a CSV by message size: percent errors, half, measured and simulated values."""
    errors = {name: f"{name}_error_percent" for name in ("latency", "bandwidth")}
    frame = bolted.percent_error().rename(columns=errors)
    for name, curve in (("measured", bolted.measured), ("simulated", bolted.simulated)):
        if curve is not None:
            frame[f"{name}_latency_us"] = curve.latency_us
            frame[f"{name}_bandwidth_MBps"] = curve.bandwidth_MBps
    return str(frame.to_csv())


def json_text(pair: Pair, bolted: Bolted) -> str:
    """Return both models, the threshold and the errors as JSON."""
    content = {
        "measured": pair.measured.name,
        "provenance": pair.measured.provenance.to_dict(),
        "threshold_bytes": bolted.threshold,
        "low": _model(pair.low),
        "high": _model(pair.high),
        "rmspe_percent": {
            name: {error: value if value == value else None for error, value in rmspe.items()}
            for name, rmspe in (
                ("low", bolted.rmspe_low),
                ("high", bolted.rmspe_high),
                ("whole", bolted.rmspe),
            )
        },
        "sstmacro": bolted.sstmacro_reason or "can run this pair",
        "python": bolted_lines(bolted, pair.measured.name),
    }
    return json.dumps(content, indent=1, allow_nan=False) + "\n"


def ini_text(pair: Pair, bolted: Bolted) -> str:
    """Return the pair as the .ini of the one model that SST/macro would run."""
    return bolted.as_sstmacro().to_ini()


FILES: dict[str, tuple[Callable[[Pair, Bolted], str], str]] = {
    ".csv": (csv_text, "the curves and errors, one row a message size"),
    ".json": (json_text, "both models, the threshold and the errors"),
    ".ini": (ini_text, "the pair as the one model that SST/macro would run"),
}
"""By suffix: the function that returns the text, and a description of the file."""


def parameter_tables(pair: Pair) -> str:
    """Return the searched parameters of the three models as HTML tables."""
    named = (("small messages", pair.low), ("large messages", pair.high), ("all", pair.single))
    return side_by_side(_table(name, half) for name, half in named)


def _table(name: str, half: Half) -> str:
    model = half.curve.model
    searched = SearchSpace.for_model(model).keys
    rows = ((code(p.key), p.text(p.value)) for p in model.parameters() if p.key in searched)
    title = bold(f"{name}: {type(model).__name__}")
    return html_table(rows, caption=Html(f"{title}<br>{html.escape(half.origin)}"))


def _model(half: Half) -> dict[str, Any]:
    model = half.curve.model
    return {
        "model": model.name,
        "variant": model.variant,
        "origin": half.origin,
        "parameters": {p.key: p.value for p in model.parameters()},
    }
