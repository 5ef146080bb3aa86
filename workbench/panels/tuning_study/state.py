"""What the panel on a study of searches shows, as a value, and the same in Python."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from workbench.errors import DatasetError, ParameterError, ParseError
from workbench.plotting.tuning_study_look import MEASURES, picked, usual_noise, values_of
from workbench.tune.recorded.recorded import Recording
from workbench.tune.study.files import StudyTables
from workbench.tune.study.plan import HELD_OUT, PLAIN
from workbench.tune.study.run import load_recording

if TYPE_CHECKING:
    import pandas as pd

METHOD = ("heuristic", "resampling")
TIMES = ("saved_grid", "saved")
PICKS = {"expected": "what a model expects best", "best": "what ran best"}
"""What is kept in the end of a search, as a list says it."""

_PAPER_STOPPING = "best improvement 15"
_SLICE = ("recording", "noise", "stopping", "pick", "pruning")


@dataclass(frozen=True)
class SearchStudyState:
    """What the controls hold.

    Attributes:
        recording: name of what was searched.
        noise: what was added to each run.
        stopping: label of the rule that ends a search.
        pick: which configuration is kept in the end, ``expected`` or ``best``.
        heuristic: of the method that is looked at.
        resampling: its rule.
        pruning: label of the rule that ends its runs.
        measure: column that the figures show.
        time: what the time of a search is compared with, ``saved_grid`` or ``saved``.
    """

    recording: str
    noise: str
    stopping: str
    pick: str = "expected"
    heuristic: str = ""
    resampling: str = ""
    pruning: str = PLAIN
    measure: str = "share"
    time: str = "saved_grid"

    @property
    def where(self) -> dict[str, str]:
        """What the rows of the heatmap share."""
        return {name: getattr(self, name) for name in _SLICE}

    @property
    def method(self) -> dict[str, str]:
        """What tells the row that is looked at."""
        return self.where | self._own

    @property
    def _own(self) -> dict[str, str]:
        return {name: getattr(self, name) for name in METHOD}

    def python(self, source: str) -> str:
        """Return the lines of Python that give the rows and the figures.

        Args:
            source: Python expression of the study's tables.
        """
        where, method = (_dict(values) for values in (self.where, self._own))
        imports = (
            ("workbench.plotting.tuning_study_heatmap", "plot_search_methods"),
            ("workbench.plotting.tuning_study_look", "picked"),
            ("workbench.plotting.tuning_study_tables", "by_collective"),
            ("workbench.tune.study.files", "load_study"),
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


def first_state(tables: StudyTables, recording: str = "") -> SearchStudyState:
    """Return what the panel opens with: the paper's stopping rule, and the first of the ranking.

    Args:
        tables: of the study.
        recording: of what; empty takes the first that was simulated, for there the optimum is
            known exactly.

    Raises:
        ParameterError: the study is empty, or has no such recording.
    """
    names = values_of(tables.methods, "recording")
    if not names:
        raise ParameterError("a study must hold searches; this one has none", key="tables")
    own = ("measured", HELD_OUT)
    simulated = [name for name in names if usual_noise(tables.methods, name) not in own]
    name = recording or (simulated or names)[0]
    stoppings = values_of(tables.methods, "stopping")
    stopping = _PAPER_STOPPING if _PAPER_STOPPING in stoppings else stoppings[0]
    noise = usual_noise(tables.methods, name)
    prunings = values_of(picked(tables.methods, recording=name, noise=noise), "pruning")
    begun = SearchStudyState(name, noise, stopping, pruning=prunings[0])
    rows = MEASURES["share"].best_first(picked(tables.methods, **begun.where))
    if not len(rows):
        raise ParameterError(f"{name} has no search that ends by {stopping!r}", key="stopping")
    return replace(begun, **{one: str(rows.iloc[0][one]) for one in METHOD})


def method_rows(tables: StudyTables, state: SearchStudyState) -> pd.DataFrame:
    """Return the rows of all heuristics and resampling rules in the slice that is shown.

    Args:
        tables: of the study.
        state: what the controls hold.
    """
    return picked(tables.methods, **state.where)


def recordings_of(tables: StudyTables) -> dict[str, Recording]:
    """Return what was searched, by name; what is not on this machine is left out.

    Args:
        tables: of the study.
    """
    searched, found = values_of(tables.methods, "recording"), {}
    for folder in dict.fromkeys(name for plan in tables.plans for name in plan.recordings):
        try:
            recording = load_recording(folder)
        except (DatasetError, ParseError, OSError):
            # The tables are read without it; only what the repeats tell is not known.
            continue
        if recording.name in searched:
            found[recording.name] = recording
    return found


def _dict(values: Mapping[str, str]) -> str:
    lines = "".join(f"    {json.dumps(key)}: {json.dumps(one)},\n" for key, one in values.items())
    return f"{{\n{lines}}}"
