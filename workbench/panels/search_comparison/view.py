"""The figures of a comparison of searches: the heatmap, the ranking, and one for each tab."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import ipywidgets as widgets

from workbench.html_table import html_table
from workbench.panels.live_view import Downloads, LiveView
from workbench.panels.search_comparison.state import (
    METHOD,
    PICKS,
    SearchComparisonState,
    method_rows,
)
from workbench.plotting.searches.heatmap import search_tiles
from workbench.plotting.searches.noise import (
    describe_other_noises,
    describe_search_noise,
    noise_figure,
)
from workbench.plotting.searches.pruning import (
    describe_search_pruning,
    pruning_figure,
    pruning_rows,
)
from workbench.plotting.searches.ranking import describe_search_ranking, ranking_figure
from workbench.plotting.searches.stopping import describe_search_stopping, stopping_figure
from workbench.plotting.searches.style import (
    MEASURES,
    interval_text,
    listed,
    picked,
    resampling_text,
    rows_of,
    values_of,
)
from workbench.plotting.searches.tables import by_collective, by_collective_html, describe_search
from workbench.plotting.theme import SMALL
from workbench.tune.search_comparison.files import SearchComparisonTables
from workbench.tune.search_comparison.plan import NO_PRUNING

if TYPE_CHECKING:
    import pandas as pd

TEXT = "font-size:13px;line-height:1.4"
_HEAD = ("", "heuristic", "resampling", "stopping", "", "time saved: whole grid", "runs", "")


class SearchComparisonView:
    """All figures and tables; ``clicked`` gets heuristic and resampling rule of a cell."""

    def __init__(self, tables: SearchComparisonTables, clicked: Callable[[str, str], None]) -> None:
        self._tables, self._clicked = tables, clicked
        wide = widgets.Layout(width="100%")
        self.tiles = search_tiles(file_name="heuristics")
        self.ranking = ranking_figure()
        # Half a page is too narrow for tools beside the numbers.
        self.tiles.figure.toolbar_location = None
        self.tile_view = LiveView(self.tiles.figure, layout=wide)
        self.ranking_view = LiveView(self.ranking.figure, layout=wide)
        self.tile_view.hear(self.tiles.source)
        self.tiles.source.selected.on_change("indices", self._selected)
        self.sizes = search_tiles(file_name="sizes")
        self.stopping = stopping_figure(values_of(tables.methods, "stopping"))
        self.noise = noise_figure(values_of(tables.methods, "resampling"))
        prunings = values_of(tables.prunings, "pruning") or [NO_PRUNING]
        self.pruning = pruning_figure(prunings)
        self.size_view, self.stopping_view, self.noise_view, self.pruning_view = (
            LiveView(one.figure, layout=widgets.Layout(width="100%"))
            for one in (self.sizes, self.stopping, self.noise, self.pruning)
        )
        # A figure in a tab that is not open has no size; its own tools save it.
        self.downloads = {
            "methods": Downloads(self.tiles.figure),
            "ranking": Downloads(self.ranking.figure),
        }
        self.headline, self.apart = widgets.HTML(), widgets.HTML()
        self.description = ""
        self.collectives, self.ranked = widgets.HTML(), widgets.HTML()
        self.ranked.layout = widgets.Layout(max_height="340px", overflow="auto", width="98%")
        self.size_text, self.stopping_text = widgets.HTML(), widgets.HTML()
        self.noise_text, self.pruning_text = widgets.HTML(), widgets.HTML()
        halves = widgets.HBox(
            [_half(self.tile_view), _half(self.ranking_view)],
            layout=widgets.Layout(width="100%", flex_flow="row wrap"),
        )
        self.widget = widgets.VBox([self.headline, halves, self.apart], layout=wide)

    @property
    def views(self) -> tuple[LiveView, ...]:
        """The live views, to be renewed before they are shown again."""
        upper = self.tile_view, self.ranking_view
        lower = self.stopping_view, self.noise_view, self.pruning_view
        return (*upper, self.size_view, *lower)

    def show(self, state: SearchComparisonState, known: str = "") -> None:
        """Draw heatmap, ranking and sentences; ``known`` is a note on the recording."""
        rows = method_rows(self._tables, state)
        same = picked(rows, resampling=state.resampling)
        # Both are sent together, so that the page draws them at once.
        with self.tile_view.one_patch(), self.ranking_view.one_patch():
            chosen = (state.heuristic, state.resampling)
            self.tiles.show_methods(rows, state.measure, chosen=chosen)
            title = f"With {resampling_text(state.resampling)}"
            self.ranking.show(same, state.measure, chosen=state.heuristic, title=title)
        about = describe_search(self._tables, **state.method)
        ranked = describe_search_ranking(same, state.measure)
        self.description = f"{about} With {resampling_text(state.resampling)}, {ranked}"
        head, stop, tail = html.escape(self.description).partition(". ")
        self.headline.value = f'<div role="status" style="{TEXT}"><b>{head}{stop}</b>{tail}</div>'
        self.apart.value = f'<div style="{SMALL}">{html.escape(known)}</div>' if known else ""

    def show_collectives(self, state: SearchComparisonState) -> None:
        """Write the paper's tables for the chosen method."""
        table = by_collective(self._tables, **state.method)
        self.collectives.value = by_collective_html(table) if len(table) else _none()

    def show_sizes(self, state: SearchComparisonState) -> None:
        """Draw the chosen method by collective and message size."""
        # Single spaces are stored for one pick only, which the sentence names.
        where = {name: value for name, value in state.method.items() if name != "pick"}
        rows = picked(self._tables.cells, **where)
        with self.size_view.one_patch():
            self.sizes.show_sizes(rows, state.measure)
        if not len(rows):
            self.size_text.value = _none()
            return
        picks = listed(f"“{PICKS.get(name, name)}”" for name in values_of(rows, "pick"))
        title = MEASURES[state.measure].title
        self.size_text.value = _said(
            f"{state.heuristic} with {resampling_text(state.resampling)}, “{state.stopping}”: "
            f"{title} for each collective and message size. For single sizes the comparison has "
            f"only {picks}, whatever is chosen above; a dash: no such search or no such value."
        )

    def show_stopping(self, state: SearchComparisonState) -> None:
        """Draw a comparison of the stopping rules."""
        where = {name: value for name, value in state.where.items() if name != "stopping"}
        rows, method = picked(self._tables.methods, **where), (state.heuristic, state.resampling)
        shown = {"measure": _found(state.measure), "time": state.time}
        with self.stopping_view.one_patch():
            self.stopping.show(rows, *method, **shown)
        self.stopping_text.value = _said(describe_search_stopping(rows, *method, **shown))

    def show_noise(self, state: SearchComparisonState) -> None:
        """Draw the measure of the chosen heuristic by noise."""
        where = {name: value for name, value in state.where.items() if name != "noise"}
        every = picked(self._tables.methods, **where)
        rows = picked(every, heuristic=state.heuristic)
        with self.noise_view.one_patch():
            self.noise.show(rows, state.measure)
        texts = (
            describe_other_noises(every, state.heuristic),
            describe_search_noise(rows, state.measure),
        )
        self.noise_text.value = _said(" ".join(text for text in texts if text))

    def show_pruning(self, state: SearchComparisonState) -> None:
        """Draw the time saved and the quality lost by each pruning rule."""
        own = ("heuristic", "pruning")
        where = {name: value for name, value in state.method.items() if name not in own}
        rows = pruning_rows(self._tables.prunings, **where)
        change = "gain_change" if state.measure == "gain" else "share_change"
        # Axes with nothing between them would look like a result.
        self.pruning_view.layout.display = "" if len(rows) else "none"
        with self.pruning_view.one_patch():
            self.pruning.show(rows, state.heuristic, change)
        self.pruning_text.value = _said(describe_search_pruning(rows, state.heuristic, change))

    def show_ranked(self, state: SearchComparisonState) -> None:
        """Write a table of all methods, the best first."""
        where = {name: value for name, value in state.where.items() if name != "stopping"}
        rows = picked(self._tables.methods, **where)
        chosen = {**{name: state.method[name] for name in METHOD}, "stopping": state.stopping}
        self.ranked.value = ranked_html(rows, state.measure, chosen)

    def _selected(self, _attr: str, _old: Any, new: list[int]) -> None:
        """Report a click on a cell; a click beside all cells changes nothing."""
        if not new:
            return
        data = self.tiles.source.data
        place = data["row_name"][new[0]], data["column_name"][new[0]]
        # The same place may be clicked again after a list has chosen another one.
        self.tiles.source.selected.indices = []
        self._clicked(*place)


def ranked_html(rows: pd.DataFrame, measure: str, chosen: Mapping[str, str]) -> str:
    """Return methods as HTML, the best first; ``chosen`` holds columns of the bold row."""
    known = MEASURES[measure]
    ranked = rows_of(known.best_first(rows))
    if not ranked:
        return _none()
    lines, bold_rows = [], []
    for place, one in enumerate(ranked, 1):
        near = known.overlaps(one, ranked[0])
        if all(one[name] == value for name, value in chosen.items()):
            bold_rows.append(place - 1)
        cells = (
            *(str(place), one["heuristic"], one["resampling"], one["stopping"]),
            *(interval_text(one, measure), interval_text(one, "saved_grid"), f"{one['runs']:.1f}"),
            "tied with the first" if near and place > 1 else "",
        )
        lines.append(cells)
    head = [*_HEAD]
    head[4] = known.title
    return html_table(lines, head, align="rlllrrrl", bold_rows=bold_rows)


def _half(view: LiveView) -> Any:
    layout = widgets.Layout(flex="1 1 49%", min_width="440px", overflow="hidden")
    return widgets.VBox([view], layout=layout)


def _found(measure: str) -> str:
    """Return the measure of the vertical axis over time: share in place of a time."""
    return "share" if measure in ("saved", "saved_grid") else measure


def _said(text: str) -> str:
    return f'<div style="{TEXT}">{html.escape(text)}</div>'


def _none() -> str:
    return _said("The comparison has no such search.")
