"""The files that the panel of blame saves."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from workbench.errors import ParameterError
from workbench.panels.variability.blame_state import RUN, RUNS, BlameState
from workbench.panels.variability.blame_tables import BlameTables
from workbench.variability import Blame, RunScene

if TYPE_CHECKING:
    import pandas as pd

EXPORTS = {
    ".csv": "the table of what is shown: steps of the run, all runs, or blame by every method",
    ".json": "settings, blame, truth where it is known, and the code that makes them",
}


def shown_frame(
    tables: BlameTables, state: BlameState, scene: RunScene | None, found: Blame | None
) -> pd.DataFrame:
    """Return the table of what is shown; ParameterError where blame is not computed yet."""
    import pandas as pd

    if state.view == RUNS:
        return tables.runs.to_frame()
    if state.view == RUN:
        row = tables.step_row(state.run)
        if tables.steps is None or row is None:
            raise ParameterError("the steps of this run are not known", key="path")
        time = tables.steps.time_s
        columns = {
            "step": np.array(tables.steps.numbers),
            "time (s)": time[row],
            "mean of all runs (s)": np.nanmean(time, axis=0),
        }
        if scene is not None and scene.without:
            columns[f"without {scene.without} (s)"] = scene.time_s
        return pd.DataFrame(columns)
    if found is None:
        raise ParameterError("blame is not computed yet; open its view", key="path")
    parts = [found.to_frame(method).assign(method=method) for method in found.methods]
    return pd.concat(parts, ignore_index=True)


def all_json(tables: BlameTables, state: BlameState, found: Blame | None, python: str) -> str:
    """Return settings, runs, blame, truth and code as a text in JSON."""
    content = {
        "data": tables.provenance.to_dict(),
        "shown": vars(state),
        "runs": tables.runs.to_frame().to_dict("records"),
        "blame": None if found is None else found.to_dict(),
        "truth": None if tables.causes is None else tables.causes.truth,
        "python": python,
    }
    return json.dumps(content, indent=1, default=str) + "\n"
