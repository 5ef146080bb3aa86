"""The figures of the tolerance panel: T(L) with its zones, and the critical path at one L."""

from __future__ import annotations

import html
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import ipywidgets as widgets
from bokeh.models import ColumnDataSource, CustomJS, Title
from bokeh.plotting import figure

from workbench.panels.live_view import Downloads, LiveView
from workbench.panels.style import TEXT
from workbench.plotting import palette
from workbench.plotting.replay.spacetime import (
    SpacetimeFigure,
    describe_spacetime,
    spacetime_figure,
)
from workbench.plotting.replay.style import time_text
from workbench.plotting.theme import NOTICE_GROUND, SMALL
from workbench.provenance import Provenance
from workbench.simulate.replay_result import ReplayResult
from workbench.tolerance.figure import (
    ToleranceFigure,
    describe_run_prediction,
    describe_tolerance,
    tolerance_figure,
)
from workbench.tolerance.figure_columns import value_text
from workbench.tolerance.panel_state import Analysed

_WARNING = (
    f"font-size:13px;line-height:1.35;border-left:4px solid {palette.ORANGE};"
    f"background:{NOTICE_GROUND};padding:3px 8px;margin:2px 0"
)
# Chosen: all four figures in a screen of 900, below the sentence and a warning.
_CURVE_PX, _SLOPE_PX, _SHARE_PX, _DIAGRAM_PX = 184, 92, 136, 218
_WIDE_PX, _LETTER_PX = 560, 6  # of a figure without axes; of a legend's letter
_LEGEND_PX = 34, 22  # width of an entry without its letters, height of a row
_ASK = """
const {x_range} = figure
const L = cb_obj.x
const inside = Number.isFinite(L) && L >= x_range.start && L <= x_range.end
if (inside && (held || follow.data.on[0])) {
  window.workbenchPointed ??= new Map()
  const waiting = window.workbenchPointed
  const due = waiting.has(asked.id)
  waiting.set(asked.id, {L: [L], held: [held || (waiting.get(asked.id)?.held[0] ?? false)]})
  if (!due) {
    setTimeout(() => {
      const row = waiting.get(asked.id)
      waiting.delete(asked.id)
      if (asked.data.L?.[0] !== row.L[0] || asked.data.held?.[0] !== row.held[0]) {
        asked.data = row
      }
    }, 80)
  }
}
"""


class ToleranceView:
    """T(L) with its zones, and the replay at one L; ``pointed`` gets (L in ns, clicked)."""

    def __init__(self, shown: Analysed, pointed: Callable[[float, bool], None]) -> None:
        self._pointed = pointed
        self.curve: ToleranceFigure = tolerance_figure(shown.curves, height=_CURVE_PX)
        self.asked = ColumnDataSource(data={"L": [], "held": []})
        self._follow = ColumnDataSource(data={"on": [True]})
        self._answered: tuple[float, bool] | None = None
        self._let_the_page_point()
        self._look()
        self.view = LiveView(self.curve.layout, layout=widgets.Layout(width="100%"))
        self.view.on_window(self.asked, self._asked)
        self.downloads = Downloads(self.curve.layout)
        self.diagram: SpacetimeFigure | None = None
        self._diagram_view: LiveView | None = None
        self._diagram_place = widgets.VBox(layout=widgets.Layout(width="100%"))
        self.description, self.diagram_description = widgets.HTML(), widgets.HTML()
        self.warning = widgets.HTML()
        self.widget = widgets.VBox(
            [
                self.description,
                self.warning,
                self.view,
                self._diagram_place,
                self.diagram_description,
            ],
            layout=widgets.Layout(width="100%", overflow="hidden"),
        )

    @property
    def views(self) -> tuple[LiveView, ...]:
        """The live views, to be renewed before they are shown again."""
        return (self.view,) if self._diagram_view is None else (self.view, self._diagram_view)

    def show(self, shown: Analysed, at: float) -> None:
        """Draw another analysis, with the vertical line at a latency in s, or a gap in s/B."""
        with self.view.one_patch():
            runs = None if shown.prediction is None else {shown.name: shown.prediction.runs}
            self.curve.show(shown.curves, runs)
            self._make_room(list(shown.results))
            whose = f"{len(shown.results)} programs" if len(shown.results) > 1 else shown.name
            self._origin.text = _origin(whose)
            self.curve.mark(at)

    def say(self, shown: Analysed) -> None:
        """Write the sentence and the warnings about an analysis."""
        self._say(describe_tolerance(without_warnings(shown)), shown)
        self.warn(shown)

    def warn(self, shown: Analysed) -> None:
        """Write the warnings about an analysis, of contention too."""
        lines = [
            f"Warning, {name}: {warning}."
            for name, result in shown.results.items()
            for warning in result.warnings
        ]
        self.warning.value = "".join(
            f'<div role="note" style="{_WARNING}">⚠ {html.escape(line)}</div>' for line in lines
        )

    def mark(self, at: float) -> None:
        """Draw the vertical line at a latency in s, or a gap in s/B."""
        with self.view.one_patch():
            self.curve.mark(at)

    def follow(self, on: bool) -> None:
        """Let the page report the pointer's place as it moves, or only clicks."""
        if self._follow.data["on"] != [on]:
            self._follow.data = {"on": [on]}

    def show_diagram(self, result: ReplayResult, variable: str, at: float) -> Downloads:
        """Draw the replay at a latency (s) or a gap (s/B), and return its downloads."""
        text = f"{variable} = {value_text(variable, at)}"
        if self.diagram is None or self._diagram_view is None:
            self.diagram = spacetime_figure(result, height=_DIAGRAM_PX)
            self._diagram_origin = own_caption(self.diagram.figure)
            self.diagram.figure.legend[0].update(label_height=14, spacing=4)
            self._diagram_downloads = Downloads(self.diagram.figure)
            self._diagram_view = LiveView(self.diagram.figure, layout=widgets.Layout(width="100%"))
            self._diagram_view.on_window(self.diagram.asked, self._window_asked)
            self._diagram_place.children = [self._diagram_view]
        with self._diagram_view.one_patch():
            self.diagram.show(result)
            self._diagram_origin.text = _origin(f"{result.graph.source} at {text}")
        self.diagram_description.value = (
            f'<div role="status" style="{TEXT}"><b>At {text}:</b> '
            f"{html.escape(describe_spacetime(result))}</div>"
        )
        return self._diagram_downloads

    def _make_room(self, names: list[str]) -> None:
        """Break the legend into rows where it is wider than the figure."""
        measured = self.curve.measured.legend
        if measured.visible:
            names = [*names, measured.label.value]
        entries = len(names) + 1
        wide = _LEGEND_PX[0] + _LETTER_PX * max(map(len, names))
        columns = min(entries, max(1, _WIDE_PX // wide))
        self.curve.time.legend[0].ncols = columns
        rows = -(-entries // columns)
        self.curve.time.height = _CURVE_PX + _LEGEND_PX[1] * (rows - 1)

    def _look(self) -> None:
        """Remove the toolbars from the figure and shorten its caption to one line."""
        curve = self.curve
        curve.time.toolbar_inner = False
        curve.slope.update(height=_SLOPE_PX)
        curve.share.update(height=_SHARE_PX)
        curve.slope.yaxis.axis_label_text_font_size = "10px"
        curve.slope.xaxis.visible = False  # the share's axis is its, too
        for fig in (curve.slope, curve.share, curve.strips):
            fig.toolbar_location = None
        legend = curve.time.legend[0]
        legend.update(glyph_height=14, label_height=14, spacing=_LEGEND_PX[1] - 14)
        self._origin = own_caption(curve.share)

    def _say(self, text: str, shown: Analysed) -> None:
        measured = ""
        if shown.prediction is not None:
            said = html.escape(describe_run_prediction(shown.prediction))
            origin = html.escape(shown.prediction.runs.provenance.caption())
            measured = f'<div>{said} <span style="{SMALL}">{origin}.</span></div>'
        left_out = "".join(
            f'<div style="{SMALL}">{html.escape(line)}</div>' for line in shown.left_out
        )
        seconds = sum(result.seconds for result in shown.results.values())
        operations = sum(result.operations for result in shown.results.values())
        self.description.value = (
            f'<div role="status" style="{TEXT}">{html.escape(text)} <span style="{SMALL}">'
            f"{operations:,} operations, analysed in {time_text(seconds * 1e9)}.</span>"
            f"{measured}{left_out}</div>"
        )

    def _let_the_page_point(self) -> None:
        for fig in (self.curve.time, self.curve.slope, self.curve.share):
            # Only models that the document refers to reach the browser.
            fig.tags = [*fig.tags, self.asked, self._follow]
            for event, held in (("mousemove", "false"), ("tap", "true")):
                args = {"figure": fig, "asked": self.asked, "follow": self._follow}
                fig.js_on_event(event, CustomJS(args=args, code=f"const held = {held}\n{_ASK}"))

    def _asked(self) -> None:
        data = self.asked.data
        if not len(data.get("L", ())):
            return
        row = float(data["L"][0]), bool(data["held"][0])
        # The page's message may arrive twice.
        if row != self._answered:
            self._answered = row
            self._pointed(*row)

    def _window_asked(self) -> None:
        if self.diagram is not None and self._diagram_view is not None:
            with self._diagram_view.one_patch():
                self.diagram.look_as_asked()


def own_caption(fig: figure) -> Title:
    """Return a short caption that replaces the figure's own, too long beside the settings."""
    for item in fig.below:
        if isinstance(item, Title):
            item.visible = False
    title = Title(text_font_size="11px", text_font_style="normal", text_color=palette.CAPTION)
    fig.add_layout(title, "below")
    return title


def without_warnings(shown: Analysed) -> Any:
    """Return the curves without warnings, which are shown below the sentence."""
    if shown.bandwidths:
        return shown.bandwidths
    return {name: replace(result, warnings=()) for name, result in shown.results.items()}


def _origin(whose: str) -> str:
    return Provenance("simulated", f"{whose}, LLAMP's semantics, no contention").caption()
