"""Exports of the replay panel: the replay as a table and as JSON, and the program as GOAL."""

from __future__ import annotations

import html
import json
from collections.abc import Callable

from workbench.panels.replay.state import ShownReplay, python_lines

MOST_ROWS = 1_000_000
"""Largest number of operations with a row each in the table; of more, one row per rank."""


def csv_text(shown: ShownReplay) -> str:
    """Return a CSV of operations with times and causes of waiting; of ranks above `MOST_ROWS`."""
    result = shown.result
    frame = result.to_frame() if result.graph.num_ops <= MOST_ROWS else result.breakdown()
    return str(frame.to_csv(index=False))


def json_text(shown: ShownReplay) -> str:
    """Return the parameters, and the end and time breakdown of each rank, as JSON."""
    result, state = shown.result, shown.state
    content = {
        "program": result.graph.summary(),
        "algorithms": dict(state.algorithms),
        "semantics": result.semantics,
        "parameters": state.model.to_dict(),
        "machine": state.machine or None,
        "makespan_ns": result.makespan_ns,
        "finish_ns": result.finish_ns,
        "events": result.events,
        "breakdown": result.breakdown().to_dict("records"),
        "notes": [*result.graph.notes, *result.notes],
        "provenance": result.provenance.to_dict(),
        "python": python_lines(state, shown.program),
    }
    return json.dumps(content, indent=1, allow_nan=False) + "\n"


def goal_text(shown: ShownReplay) -> str:
    """Return the program as GOAL, its collectives as messages of the chosen algorithms."""
    return str(shown.result.graph.to_goal())


FILES: dict[str, tuple[Callable[[ShownReplay], str], str]] = {
    ".csv": (csv_text, "every operation: its kind, its times, the cause of its waiting"),
    ".json": (json_text, "parameters, the end of each rank, and the breakdown of its time"),
    ".goal": (goal_text, "the program as GOAL, its collectives expanded by the chosen algorithms"),
}
"""By suffix: the function that returns the text, and a description of the file."""


def notes_html(shown: ShownReplay) -> str:
    """Return the provenance of program and replay, and their notes, as HTML."""
    result = shown.result
    summary = [
        f"{name.replace('_', ' ')}: {value}"
        for name, value in result.graph.summary().items()
        if name != "source"
    ]
    lines = [result.provenance.caption(), "; ".join(summary)]
    lines += dict.fromkeys([*shown.program.notes, *result.graph.notes, *result.notes])
    return "".join(f"<div>{html.escape(line)}</div>" for line in lines)
