"""The figures of the placement panel: methods compared, pairs of ranks, map of the ranks."""

from __future__ import annotations

import html
from collections.abc import Callable
from typing import Any

import ipywidgets as widgets
import numpy as np
from bokeh.layouts import row

from workbench.facts import Fact, facts_table
from workbench.html_table import bold
from workbench.panels import inputs
from workbench.panels.live_view import Downloads, LiveView
from workbench.panels.placement.state import BEST, Placed
from workbench.panels.style import TEXT, named, wrapping_row
from workbench.placement import METHODS, PlacementMethod
from workbench.plotting.placement.map import PlacementMap, placement_map
from workbench.plotting.placement.times import (
    PlacementTimes,
    gain_text,
    placement_times,
    run_time_text,
)
from workbench.plotting.theme import SMALL
from workbench.tolerance.figure_network import PairsFigure, describe_pairs, pairs_figure
from workbench.tolerance.pairs import PairSensitivity

_PX = 400  # chosen: pairs of ranks about square beside the times, in a page of 1000
_VALUES = (("λ_L: latencies", "lambda_L"), ("λ_G: bytes", "lambda_G"))


class PlacementView:
    """The figures of the placements; ``chosen`` is called for another method or value."""

    def __init__(self, placed: Placed, chosen: Callable[[], None]) -> None:
        self.method: Any = inputs.Dropdown(
            options=[("the fastest", BEST), *((one, one) for one in METHODS)],
            value=BEST,
            **named("Show the placement by", "300px"),
        )
        self.value: Any = inputs.Dropdown(
            options=_VALUES, value="lambda_L", **named("pairs by", "200px")
        )
        method = placed.best
        pairs = placed.pairs_of(method)
        self.times: PlacementTimes = placement_times(placed.frame, METHODS, chosen=method)
        self.pairs: PairsFigure = pairs_figure(pairs, height=_PX)
        self.pairs.figure.toolbar_location = None
        self.map: PlacementMap = placement_map(placed.placements[method], weights_of(pairs))
        self.times.figure.height = _PX
        both = row(self.times.figure, self.pairs.figure, sizing_mode="stretch_width")
        self.view = LiveView(both, layout=widgets.Layout(width="100%"))
        self.view.hear(self.times.source)
        self.map_view = LiveView(self.map.figure, layout=widgets.Layout(width="100%"))
        self.downloads = Downloads(both)
        self.map_downloads = Downloads(self.map.figure)
        self.headline, self.description = widgets.HTML(), widgets.HTML()
        self.widget = widgets.VBox(
            [
                self.headline,
                self.view,
                wrapping_row(self.method, self.value),
                self.map_view,
                self.description,
            ],
            layout=widgets.Layout(width="100%", overflow="hidden"),
        )
        self.times.source.selected.on_change("indices", self._tapped)
        for control in (self.method, self.value):
            control.observe(lambda _: chosen(), "value")

    @property
    def views(self) -> tuple[LiveView, ...]:
        """The live views, to be renewed before they are shown again."""
        return self.view, self.map_view

    @property
    def controls(self) -> dict[str, Any]:
        """The lists, by the name of the setting."""
        return {"placement": self.method, "value": self.value}

    def show(self, placed: Placed, *, running: bool) -> None:
        """Draw other placements; ``running`` while more are expected."""
        method = placed.chosen(self.method.value)
        pairs, placement = placed.pairs_of(method), placed.placements[method]
        with self.view.one_patch():
            self.times.show(placed.frame, chosen=method)
            self.times.source.selected.indices = []
            self.pairs.show(pairs, value=self.value.value, name=f"placed by {method}")
        with self.map_view.one_patch():
            self.map.show(placement, weights_of(pairs))
        self.headline.value = _headline(placed, running)
        sentence = html.escape(describe_pairs(pairs, value=self.value.value))
        others = "" if pairs.unique else " Other critical paths are as long and hold other pairs."
        self.description.value = (
            f'<div role="status" style="{TEXT}">With the placement by {method}: {sentence}'
            f"{others}</div>"
        )

    def _tapped(self, _attr: str, _old: Any, new: list[int]) -> None:
        if new:
            self.method.value = METHODS[new[0]]


def weights_of(pairs: PairSensitivity) -> Any:
    """Return the number of critical latencies from or to each rank, (ranks,) int64."""
    return pairs.lambda_L.sum(axis=0) + pairs.lambda_L.sum(axis=1)


def table_html(placed: Placed) -> str:
    """Return the comparison of the placements as an HTML table."""
    rows: dict[str, tuple[Fact, ...]] = {}
    path = "on the critical path"
    for method in sorted(placed.placements, key=METHODS.index):
        one, pairs = placed.placements[method], placed.pairs_of(method)
        rows[bold(method) if method == placed.best else method] = (
            *one.facts()[1:],
            Fact("lambda_L", "λ_L", int(np.sum(pairs.lambda_L)), about=f"latencies {path}"),
            Fact("lambda_G", "λ_G", int(np.sum(pairs.lambda_G)), about=f"bytes {path}"),
        )
    provenance = placed.placements[placed.best].provenance.caption()
    return f'{facts_table(rows, exact=True)}<div style="{SMALL}">{html.escape(provenance)}</div>'


def describe_placed(placed: Placed) -> str:
    """Return a sentence with the best placement and its gain."""
    found = placed.placements
    best = found[placed.best]
    slowest: PlacementMethod = max(found, key=lambda method: found[method].T)
    where = f"{len(best.hosts)} ranks on {best.topology.name}"
    if found[slowest].T == best.T:
        return f"{where}: every placement tried takes {run_time_text(best.T * 1e9)}."
    text = f"{where}: the fastest placement is by {placed.best}, {run_time_text(best.T * 1e9)}"
    if placed.best != "block":
        text += f" ({gain_text(100 * best.gain)} than block)"
    more = 100 * (found[slowest].T / best.T - 1)
    return f"{text}; by {slowest} the program takes {more:.3g} % longer than that."


def _headline(placed: Placed, running: bool) -> str:
    so_far = " Still searching." if running else " Stopped." if placed.stopped else ""
    text = html.escape(describe_placed(placed))
    head, colon, tail = text.partition(": ")
    return f'<div role="status" style="{TEXT}"><b>{head}</b>{colon}{tail}{so_far}</div>'
