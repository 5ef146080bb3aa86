"""The panel of a comparison of searches: heuristics and rules, and the certainty of their ranking.

What a list holds is an attribute:

    panel = SearchComparisonPanel()             # the comparison that ships with the workbench
    panel.recording = "open-mpi-4-ranks"; panel.stopping = "budget"
    panel.heuristic = "genetic"; panel.measure = "distance"
    panel.rows, panel.table                     # what is shown, as tables
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from workbench.panels import inputs
from workbench.panels.error_line import ErrorLine
from workbench.panels.export_tab import ExportTab, write_file
from workbench.panels.live_view import LiveView
from workbench.panels.mute import Mute
from workbench.panels.panel import Panel
from workbench.panels.search_comparison.state import (
    METHOD,
    PICKS,
    TIMES,
    SearchComparisonState,
    first_state,
    method_rows,
    recordings_of,
)
from workbench.panels.search_comparison.view import SearchComparisonView
from workbench.panels.session.stateful import drawn_once
from workbench.panels.style import choose, named, wrapping_row
from workbench.plotting.searches.style import MEASURES, picked, values_of
from workbench.plotting.searches.tables import by_collective, describe_recording, method_columns
from workbench.tune.recorded.recorded_space import Recording
from workbench.tune.search_comparison.files import SearchComparisonTables, shipped_search_comparison

if TYPE_CHECKING:
    import pandas as pd

_SETTINGS = tuple(each.name for each in fields(SearchComparisonState))
_NAMES = {
    "recording": ("Recording", "330px"),
    "noise": ("Noise", "200px"),
    "stopping": ("Stopping", "240px"),
    "pick": ("Keep", "320px"),
    "heuristic": ("Heuristic", "220px"),
    "resampling": ("Resampling", "220px"),
    "pruning": ("Pruning", "200px"),
    "measure": ("Show", "420px"),
    "time": ("Time against", "330px"),
}
_FILES = {
    ".csv": "all methods of this recording, noise, pruning, stopping rule and pick, one row each"
}
_GIVEN = "tables"
"""The variable, in the lines of Python, of a comparison that was passed to the panel."""


class SearchComparisonPanel(Panel[SearchComparisonTables]):
    """A comparison of searches: heuristics and resampling, stopping and pruning rules.

    Args:
        tables: the comparison; None takes the one that ships with the workbench.
        recording: name of what was searched, to open with.

    Raises:
        DatasetError: no comparison ships with this installation.
        ParameterError: the comparison is empty, or has no such recording.
    """

    SETTINGS = _SETTINGS

    def __init__(self, tables: SearchComparisonTables | None = None, recording: str = "") -> None:
        super().__init__()
        self._mute = Mute()
        self._source = "shipped_search_comparison()" if tables is None else _GIVEN
        self._tables = shipped_search_comparison() if tables is None else tables
        self._state = first_state(self._tables, recording)
        recordings = recordings_of(self._tables)
        self._told = {name: self._tell(one) for name, one in recordings.items()}
        origins = {name: one.provenance.origin for name, one in recordings.items()}
        self._controls = self._make_controls(origins)
        self._view = SearchComparisonView(self._tables, self._clicked)
        self._error = ErrorLine()
        self._python: Any = inputs.Textarea(
            rows=21, layout=widgets.Layout(width="98%", height="auto")
        )
        self._export = ExportTab(
            _FILES,
            self._file,
            {
                text: (downloads, functools.partial(self._picture, text))
                for text, downloads in self._view.downloads.items()
            },
            lambda _: f"Searches of recorded runs, {self._controls['recording'].label}.",
        )
        self._pages = self._make_pages()
        self._tabs = inputs.Tab(
            [page for page, _ in self._pages.values()],
            titles=tuple(self._pages),
            selected_index=0,
            layout=widgets.Layout(width="99%"),
        )
        c = self._controls
        self.widget = self._boxed(
            [
                wrapping_row(*(c[name] for name in ("recording", "noise", "stopping", "pick"))),
                wrapping_row(*(c[name] for name in (*METHOD, "pruning", "measure"))),
                self._error,
                self._view.widget,
                self._tabs,
            ]
        )
        for control in c.values():
            control.observe(lambda _: self._error.guard(self._take), "value")
        self._tabs.observe(lambda _: self._show_tab(), "selected_index")
        self._take()

    @property
    def state(self) -> SearchComparisonState:
        """The state of the controls."""
        return self._state

    @property
    def tables(self) -> SearchComparisonTables:
        """The comparison."""
        return self._tables

    @property
    def rows(self) -> pd.DataFrame:
        """The methods of this recording, noise, pruning, stopping rule and pick, best first."""
        rows = MEASURES[self._state.measure].best_first(method_rows(self._tables, self._state))
        return method_columns(rows)

    @property
    def table(self) -> pd.DataFrame:
        """The chosen method by collective and in all: the paper's two tables."""
        return by_collective(self._tables, **self._state.method)

    @property
    def description(self) -> str:
        """The sentences that describe the chosen method and the ranking."""
        return self._view.description

    @property
    def controls(self) -> Mapping[str, Any]:
        """The controls of the settings, by name."""
        return self._controls

    @property
    def python(self) -> str:
        """Python code that computes the rows, the heatmap and the table."""
        return self._state.python(self._source)

    def save(self, path: str | Path) -> Path:
        """Write ``rows`` as ``.csv``.

        Args:
            path: file to write.

        Raises:
            ParameterError: the suffix is another.
        """
        return write_file(path, _FILES, self._file)

    def __repr__(self) -> str:
        return f"SearchComparisonPanel({self._tables!r}, {self._state.recording})"

    def _saved_names(self) -> tuple[str, ...]:
        # Each list offers what occurs with the lists before it.
        first = ("recording", "noise", "pruning")
        return (*first, *(name for name in self.SETTINGS if name not in first))

    def _live_views(self) -> tuple[LiveView, ...]:
        return self._view.views

    def _outcome(self) -> SearchComparisonTables:
        return self._tables

    def _errors(self) -> list[ErrorLine]:
        return [self._error, self._export.error]

    @property
    def _stem(self) -> str:
        return f"searches-{self._state.recording}"

    def _picture(self, part: str) -> str:
        return f"{self._stem}-{part}"

    def _file(self, suffix: str) -> tuple[str, str]:
        return self._stem, str(self.rows.to_csv(index=False))

    def _tell(self, recording: Recording) -> str:
        """Return facts about a recording that are not in the tables."""
        searched = picked(self._tables.methods, recording=recording.name)["spaces"].max()
        left = len(recording) - int(searched)
        few = (
            f" {left} of its {len(recording)} spaces were not searched; a comparison leaves out "
            "spaces of few configurations."
        )
        return describe_recording(recording) + (few if left > 0 else "")

    def _make_controls(self, origins: Mapping[str, str]) -> dict[str, Any]:
        table, state = self._tables.methods, self._state
        options: dict[str, list[Any]] = {name: values_of(table, name) for name in _SETTINGS[:7]}
        options["recording"] = [
            (f"{origins[name]}: {name}" if name in origins else name, name)
            for name in options["recording"]
        ]
        options["pick"] = [(PICKS.get(name, name), name) for name in options["pick"]]
        options["measure"] = [(one.title, name) for name, one in MEASURES.items()]
        options["time"] = [
            (MEASURES[name].title.removeprefix("time saved against "), name) for name in TIMES
        ]
        return {
            name: inputs.Dropdown(options=known, value=getattr(state, name), **named(*_NAMES[name]))
            for name, known in options.items()
        }

    def _make_pages(self) -> dict[str, tuple[Any, Callable[[SearchComparisonState], None]]]:
        view = self._view

        def box(*parts: Any) -> Any:
            return widgets.VBox(list(parts), layout=widgets.Layout(width="100%"))

        return {
            "By collective": (view.collectives, view.show_collectives),
            "By size": (box(view.size_view, view.size_text), view.show_sizes),
            "Stopping": (
                box(self._controls["time"], view.stopping_view, view.stopping_text),
                view.show_stopping,
            ),
            "Noise": (box(view.noise_view, view.noise_text), view.show_noise),
            "Pruning": (box(view.pruning_view, view.pruning_text), view.show_pruning),
            "All methods": (view.ranked, view.show_ranked),
            "Python": (self._python, self._show_python),
            "Export": (self._export.widget, _nothing),
        }

    def _take(self) -> None:
        """Draw for the present controls; each list offers values that fit the lists before it."""
        if self._mute.on:
            return
        self._error.say("")
        with self._mute:
            self._offer("noise", "recording")
            self._offer("pruning", "recording", "noise")
            for name in ("stopping", *METHOD):
                self._offer(name, "recording", "noise", "pruning")
        held = {name: control.value for name, control in self._controls.items()}
        self._state = SearchComparisonState(**held)
        self._draw()

    @drawn_once
    def _draw(self) -> None:
        self._view.show(self._state, self._told.get(self._state.recording, ""))
        self._show_tab()

    def _offer(self, name: str, *before: str) -> None:
        """Offer the values of a list that occur with those of other lists; keep its choice."""
        where = {one: self._controls[one].value for one in before}
        known = values_of(picked(self._tables.methods, **where), name)
        control = self._controls[name]
        if list(control.options) != known:
            value = control.value
            control.options = known
            control.value = value if value in known else known[0]

    def _show_tab(self) -> None:
        title = list(self._pages)[self._tabs.selected_index or 0]
        self._pages[title][1](self._state)

    def _show_python(self, state: SearchComparisonState) -> None:
        self._python.value = self.python

    def _clicked(self, heuristic: str, resampling: str) -> None:
        self._error.guard(lambda: self._look_at(heuristic, resampling))

    def _look_at(self, heuristic: str, resampling: str) -> None:
        with self._mute:
            choose(self._controls["heuristic"], "heuristic", heuristic)
            choose(self._controls["resampling"], "resampling", resampling)
        self._take()


def _nothing(state: SearchComparisonState) -> None:
    """Do nothing: files are made when their button is pressed."""
