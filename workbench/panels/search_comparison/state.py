"""The state of the panel on a comparison of searches, and the Python code for its figures."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from workbench.errors import DatasetError, ParameterError, ParseError
from workbench.plotting.searches.style import MEASURES, picked, usual_noise, values_of
from workbench.tune.recorded.recorded_space import Recording
from workbench.tune.search_comparison.files import SearchComparisonTables
from workbench.tune.search_comparison.plan import HELD_OUT, NO_PRUNING
from workbench.tune.search_comparison.run import load_recording

if TYPE_CHECKING:
    import pandas as pd

METHOD = ("heuristic", "resampling")
TIMES = ("saved_grid", "saved")
PICKS = {"expected": "the best by a model of the noise", "best": "the best by its runs"}
"""The configuration chosen at the end of a search: entries of the list."""

_PAPER_STOPPING = "best improvement 15"
_SLICE = ("recording", "noise", "stopping", "pick", "pruning")


@dataclass(frozen=True)
class SearchComparisonState:
    """The state of the controls: slice of the comparison, chosen method and measure."""

    recording: str
    noise: str  # added to each run
    stopping: str  # label of the rule
    pick: str = "expected"  # expected or best: configuration kept in the end
    heuristic: str = ""  # of the chosen method
    resampling: str = ""  # of the chosen method
    pruning: str = NO_PRUNING  # label of the rule
    measure: str = "share"  # column in the figures
    time: str = "saved_grid"  # saved_grid or saved: reference of the time of a search

    @property
    def where(self) -> dict[str, str]:
        """The values that all rows of the heatmap share."""
        return {name: getattr(self, name) for name in _SLICE}

    @property
    def method(self) -> dict[str, str]:
        """The values that identify the row of the chosen method."""
        return self.where | self._own

    @property
    def _own(self) -> dict[str, str]:
        return {name: getattr(self, name) for name in METHOD}

    def python(self, source: str) -> str:
        """Return Python code for rows and figures; ``source`` gives the tables."""
        where, method = (_dict(values) for values in (self.where, self._own))
        imports = (
            ("workbench.plotting", "plot_search_methods"),
            ("workbench.plotting.searches.style", "picked"),
            ("workbench.plotting.searches.tables", "by_collective"),
            ("workbench.tune", "shipped_search_comparison"),
        )
        lines = [f"from {module} import {name}" for module, name in imports]
        return (
            "from bokeh.io import show\n\n"
            + "\n".join(lines)
            + f"\n\ntables = {source}\n"
            + f"where = {where}\n"
            + "rows = picked(tables.methods, **where)\n"
            + f'show(plot_search_methods(rows, "{self.measure}"))\n'
            + f"method = {method}\n"
            + "table = by_collective(tables, **where, **method)\n"
        )


def first_state(tables: SearchComparisonTables, recording: str = "") -> SearchComparisonState:
    """Return the opening state: the paper's stopping rule and the best method."""
    # Without a recording: the first simulated one, for its optimum is known exactly.
    names = values_of(tables.methods, "recording")
    if not names:
        raise ParameterError("a comparison must hold searches; this one has none", key="tables")
    own = ("measured", HELD_OUT)
    simulated = [name for name in names if usual_noise(tables.methods, name) not in own]
    name = recording or (simulated or names)[0]
    stoppings = values_of(tables.methods, "stopping")
    stopping = _PAPER_STOPPING if _PAPER_STOPPING in stoppings else stoppings[0]
    noise = usual_noise(tables.methods, name)
    prunings = values_of(picked(tables.methods, recording=name, noise=noise), "pruning")
    begun = SearchComparisonState(name, noise, stopping, pruning=prunings[0])
    rows = MEASURES["share"].best_first(picked(tables.methods, **begun.where))
    if not len(rows):
        raise ParameterError(f"{name} has no search that ends by {stopping!r}", key="stopping")
    return replace(begun, **{one: str(rows.iloc[0][one]) for one in METHOD})


def method_rows(tables: SearchComparisonTables, state: SearchComparisonState) -> pd.DataFrame:
    """Return the rows of all heuristics and resampling rules in the chosen slice."""
    return picked(tables.methods, **state.where)


def recordings_of(tables: SearchComparisonTables) -> dict[str, Recording]:
    """Return the searched recordings by name, without those missing on this machine."""
    searched, found = values_of(tables.methods, "recording"), {}
    for folder in dict.fromkeys(name for plan in tables.plans for name in plan.recordings):
        try:
            recording = load_recording(folder)
        except (DatasetError, ParseError, OSError):
            # The tables are read without it; only the information from the repeats is missing.
            continue
        if recording.name in searched:
            found[recording.name] = recording
    return found


def _dict(values: Mapping[str, str]) -> str:
    lines = "".join(f"    {json.dumps(key)}: {json.dumps(one)},\n" for key, one in values.items())
    return f"{{\n{lines}}}"
