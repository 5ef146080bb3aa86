"""What leaves the tolerance panel: the curves as a table, all results as JSON, Python code."""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from workbench.jsonfile import plain
from workbench.panels.loggps_choice import python_of
from workbench.panels.program_sources import GIVEN
from workbench.tolerance.curve import PERCENT
from workbench.tolerance.panel_programs import ProgramVariant
from workbench.tolerance.panel_state import Analysed

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


def python_lines(shown: Analysed) -> str:
    """Return Python code that computes the result, as ``result`` or ``results`` by name."""
    state = shown.state
    module, model = python_of(state.model, state.machine)
    function = "analyse_bandwidth" if shown.bandwidths else "analyse"
    options = "" if state.percent == PERCENT else f", percent={state.percent!r}"
    several = len(shown.results) > 1
    asked = state.interval is not None and not shown.bandwidths
    if several or asked or shown.prediction is not None:
        options += f", interval={shown.curve.interval!r}"
    calls = {
        name: f"{function}({_graph(one)}, model{options})" for name, one in shown.variants.items()
    }
    rows = "".join(f"    {name!r}: {call},\n" for name, call in calls.items())
    lines = [
        f"from workbench import {module}, programs",
        f"from workbench.tolerance import {function}",
        f"model = {model}",
        f"results = {{\n{rows}}}" if several else f"result = {calls[shown.name]}",
    ]
    if shown.prediction is not None and state.measured is not None:
        ((program, ranks),) = shown.prediction.runs.programs
        whole = state.measured.runs
        chosen = "" if len(whole.programs) == 1 else f".only({program!r}, {ranks})"
        result = f"results[{shown.name!r}]" if several else "result"
        lines += [
            "from workbench.measure import read_measured_runs",
            "from workbench.tolerance import RunPrediction",
            f"runs = read_measured_runs({state.measured.name!r}){chosen}",
            f"prediction = RunPrediction({result}, runs)",
        ]
    return "\n".join(lines)


def _graph(one: ProgramVariant) -> str:
    """Return the Python expression of a program's execution graph."""
    # A graph that was passed, uploaded or generated has its algorithms already.
    if not one.algorithms:
        return one.source.expression
    chosen = ", ".join(f'"{op}": "{name}"' for op, name in sorted(one.algorithms.items()))
    whole = "program" if one.source.expression == GIVEN else one.source.expression
    return f"{whole}.graph({{{chosen}}})"


def _stacked(frames: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    import pandas as pd

    for name, frame in frames.items():
        frame.insert(0, "program", name)
    return pd.concat(list(frames.values()), ignore_index=True)


def _one(shown: Analysed, name: str) -> dict[str, Any]:
    result, variant = shown.results[name], shown.variants[name]
    report = result.contention
    return {
        "program": variant.source.expression,
        "algorithms": dict(variant.algorithms),
        "ranks": result.ranks,
        "operations": result.operations,
        **result.summary(),
        "slopes": result.slopes.tolist(),
        "T_loggopsim_ns": None if report is None else report.loggopsim_ps / 1000,
        "warnings": list(result.warnings),
    }
