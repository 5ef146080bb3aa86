"""The heatmap of a study's errors, half a page wide; a click chooses a fit."""

from __future__ import annotations

import html
from collections.abc import Callable
from typing import Any

import ipywidgets as widgets

from workbench.panels.live_view import Downloads, LiveView
from workbench.panels.mute import Mute
from workbench.panels.study.state import COLUMNS, StudyState, axis_values
from workbench.panels.style import TEXT
from workbench.plotting.grid import folded
from workbench.plotting.study.heatmap import describe_study, study_heatmap

_NAME_CHARACTERS = 52
"""Characters of names that fit side by side below the heatmap."""


class HeatmapView:
    """The heatmap of a study with the chosen fit framed; ``clicked`` gets both axes' values."""

    def __init__(self, state: StudyState, clicked: Callable[[dict[str, Any]], None]) -> None:
        self._state, self._clicked, self._mute = state, clicked, Mute()
        self.heatmap = study_heatmap(state.result, **heatmap_options(state))
        # Half a page is too narrow for tools that would lie over the numbers.
        self.heatmap.figure.toolbar_location = None
        self.view = LiveView(self.heatmap.figure, layout=widgets.Layout(width="100%"))
        self.view.hear(self.heatmap.source)
        self.heatmap.source.selected.on_change("indices", self._selected)
        self.downloads = Downloads(self.heatmap.figure)
        self.description = widgets.HTML(layout=widgets.Layout(margin="0 0 0 4px"))
        self.widget = widgets.VBox([self.view, self.description])
        self._fold_names()
        self._say()

    def show(self, state: StudyState, *, marked: bool) -> None:
        """Draw the state; frame the chosen fit if ``marked``, that is if it is in the study."""
        before, self._state = self._state, state
        drawn = [(s.result, s.rows, s.value, s.fixed) for s in (before, state)]
        with self.view.one_patch():
            if drawn[0] != drawn[1]:
                self.heatmap.show(state.result, **heatmap_options(state))
                self._fold_names()
                self._say()
            self._mark(marked)

    def _mark(self, marked: bool) -> None:
        data = self.heatmap.source.data
        wanted = tuple(str(self._state.where[axis]) for axis in (self._state.rows, COLUMNS))
        places = list(zip(data["row_name"], data["column_name"], strict=True))
        at = [places.index(wanted)] if marked and wanted in places else []
        with self._mute:
            self.heatmap.source.selected.indices = at

    def _selected(self, _attr: str, _old: Any, new: list[int]) -> None:
        """Report a click on a cell; a click beside all cells changes nothing."""
        if self._mute.on or not new:
            return
        data, state = self.heatmap.source.data, self._state
        texts = {state.rows: data["row_name"][new[0]], COLUMNS: data["column_name"][new[0]]}
        # What stands on the axes is text; a seed is a number.
        self._clicked(
            {
                axis: next(v for v in axis_values(state.result, axis) if str(v) == text)
                for axis, text in texts.items()
            }
        )

    def _fold_names(self) -> None:
        fig = self.heatmap.figure
        # A column that only fills up the number of places has no name.
        names = [name for name in dict.fromkeys(self.heatmap.source.data["column_name"]) if name]
        width = max(_NAME_CHARACTERS // len(names), 8)
        fig.xaxis.major_label_overrides = {at: folded(n, width) for at, n in enumerate(names)}
        fig.title.text = fig.title.text.replace(": ", "\n", 1)

    def _say(self) -> None:
        text = html.escape(describe_study(self._state.result, **heatmap_options(self._state)))
        self.description.value = f'<div role="status" style="{TEXT}">{text}</div>'


def heatmap_options(state: StudyState) -> dict[str, Any]:
    """Return the arguments of `study_heatmap` and `describe_study` for a state."""
    where = state.fixed
    target = where.pop("target", None)
    return {
        "error": state.value,
        "target": target,
        "rows": state.rows,
        "columns": COLUMNS,
        **where,
    }
