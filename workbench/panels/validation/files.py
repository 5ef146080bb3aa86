"""Files of the validation panel: the runs as a table, the predictions as JSON, the figure."""

from __future__ import annotations

import json
from collections.abc import Callable

import numpy as np

from workbench.jsonfile import plain
from workbench.measure import MeasuredRuns
from workbench.panels.validation.state import ShownValidation, python_lines
from workbench.plotting.embedding import standalone_html
from workbench.tolerance.figure import plot_tolerance


def runs_text(shown: ShownValidation) -> str:
    """Return every run that is shown, as ``workbench tolerance --measured`` reads it.

    Where the program was also measured here the column ``program`` tells the two apart.
    """
    parts = {name: shown.predictions[name].runs for name in shown.measured}
    return _joined(parts).to_csv()


def _joined(parts: dict[str, MeasuredRuns]) -> MeasuredRuns:
    """Return the runs of several curves as one table, in which they are named after the curves."""
    every = list(parts.values())
    if len(every) == 1:
        return every[0]

    def column(name: str) -> np.ndarray:
        return np.concatenate([getattr(one, name) for one in every])

    return MeasuredRuns.of(
        column("added_s"),
        column("time_s"),
        provenance=every[0].provenance,
        program=[name for name, one in parts.items() for _ in range(len(one))],
        ranks=column("ranks"),
        repeat=column("repeat"),
        load_average=column("load_average"),
        flagged=column("flagged"),
    )


def json_text(shown: ShownValidation) -> str:
    """Return errors, zones and points of each curve, and the code, as JSON."""
    content = {
        "recording": shown.state.recording,
        "program": shown.recording.name,
        "ranks": shown.recording.ranks,
        "added_latency": shown.state.latency,
        "predictions": {name: one.summary() for name, one in shown.predictions.items()},
        "python": python_lines(shown),
    }
    return json.dumps(plain(content), indent=1, allow_nan=False) + "\n"


def html_text(shown: ShownValidation) -> str:
    """Return a page with the figure, readable offline."""
    drawn = plot_tolerance(shown.analyses, measured=shown.measured, relative=False)
    return standalone_html(drawn, f"{shown.recording.title}, {shown.recording.ranks} ranks")


FILES: dict[str, tuple[Callable[[ShownValidation], str], str]] = {
    ".csv": (runs_text, "every run: added latency and time, as the figure has them"),
    ".json": (json_text, "errors by zone and by point, and the code"),
    ".html": (html_text, "a page with the figure, readable offline"),
}
"""By suffix: the function that returns the text, and a description of the file."""
