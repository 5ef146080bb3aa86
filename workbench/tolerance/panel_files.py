"""Exports of the tolerance panel: the pieces of the curves as a table, all results as JSON."""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from workbench.jsonfile import plain
from workbench.tolerance.panel_state import Analysed, python_lines

if TYPE_CHECKING:
    import pandas as pd


def csv_text(shown: Analysed) -> str:
    """Return a CSV with a row for each linear piece of each curve."""
    frames = {name: curve.to_frame() for name, curve in shown.curves.items()}
    return str(_stacked(frames).to_csv(index=False))


def tolerances_frame(shown: Analysed) -> pd.DataFrame:
    """Return the tolerances of latency, or of bandwidth, by program and percentage."""
    return _stacked({name: curve.tolerances() for name, curve in shown.curves.items()})


def json_text(shown: Analysed) -> str:
    """Return parameters, tolerances, critical latencies and times with contention as JSON."""
    state = shown.state
    content = {
        "parameters": state.model.to_dict(),
        "machine": state.machine or None,
        "percent": list(state.percent),
        "interval_ns": [end * 1e9 for end in shown.result.interval],
        "programs": {name: _one(shown, name) for name in shown.results},
        "bandwidth": {name: one.summary() for name, one in shown.bandwidths.items()},
        "measured": None if shown.prediction is None else shown.prediction.summary(),
        "left_out": list(shown.left_out),
        "provenance": shown.result.provenance.to_dict(),
        "python": python_lines(shown),
    }
    return json.dumps(plain(content), indent=1, allow_nan=False) + "\n"


FILES: dict[str, tuple[Callable[[Analysed], str], str]] = {
    ".csv": (
        csv_text,
        "the curves: T, slope and share at both ends of each straight piece",
    ),
    ".json": (
        json_text,
        "parameters, tolerances (the largest L; null for any), critical latencies",
    ),
}
"""By suffix: the function that returns the text, and a description of the file."""


def notes_html(shown: Analysed) -> str:
    """Return the provenance of the results and the notes on the programs as HTML."""
    lines = [result.provenance.caption() for result in shown.results.values()]
    lines += shown.left_out
    lines += shown.program.notes
    for graph in shown.graphs.values():
        lines += graph.notes
    return "".join(f"<div>{html.escape(line)}</div>" for line in dict.fromkeys(lines))


def _stacked(frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    import pandas as pd

    for name, frame in frames.items():
        frame.insert(0, "program", name)
    return pd.concat(list(frames.values()), ignore_index=True)


def _one(shown: Analysed, name: str) -> dict[str, Any]:
    result, case = shown.results[name], shown.cases[name]
    report = result.contention
    return {
        "program": case.source.expression,
        "algorithms": dict(case.algorithms),
        "ranks": result.ranks,
        "operations": result.operations,
        **result.summary(),
        "slopes": result.slopes.tolist(),
        "T_loggopsim_ns": None if report is None else report.loggopsim_ps / 1000,
        "warnings": list(result.warnings),
    }
