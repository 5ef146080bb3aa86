"""The figures of the tolerance panel: T(L) with its zones, and the critical path at one L."""

from __future__ import annotations

import html
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import ipywidgets as widgets
from bokeh.models import ColumnDataSource, CustomJS, Title
from bokeh.plotting import figure

from workbench.html_table import Html, html_table
from workbench.panels.live_view import Downloads, WindowView
from workbench.panels.style import TEXT
from workbench.panels.tolerance.measured_control import COLUMNS
from workbench.panels.tolerance.state import Analysed
from workbench.plotting import palette
from workbench.plotting.replay.spacetime import (
    SpacetimeFigure,
    describe_spacetime,
    spacetime_figure,
)
from workbench.plotting.replay.style import time_text
from workbench.plotting.theme import NOTICE_GROUND, SMALL
from workbench.plotting.tolerance.columns import value_text
from workbench.plotting.tolerance.descriptions import describe_tolerance
from workbench.plotting.tolerance.run_prediction import describe_run_prediction
from workbench.plotting.tolerance.tolerance import ToleranceFigure, tolerance_figure
from workbench.provenance import Provenance
from workbench.sensitivity import LatencySensitivity
from workbench.sensitivity.result import RENDEZVOUS, latency_text, more_than_messages
from workbench.simulate.replay_result import ReplayResult

_WARNING = (
    f"font-size:13px;line-height:1.35;border-left:4px solid {palette.ORANGE};"
    f"background:{NOTICE_GROUND};padding:3px 8px;margin:2px 0"
)
_CURVE_PX, _DIAGRAM_PX = 250, 420
_HALF_PX, _LETTER_PX = 440, 6
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
        self.view = WindowView(self.curve.layout, layout=widgets.Layout(width="100%"))
        self.view.on_window(self.asked, self._asked)
        self.downloads = Downloads(self.curve.layout)
        self.diagram: SpacetimeFigure | None = None
        self.diagram_downloads: Downloads | None = None
        self._diagram_view: WindowView | None = None
        self._diagram_place = widgets.VBox(layout=widgets.Layout(width="100%"))
        self.description, self.diagram_description = widgets.HTML(), widgets.HTML()
        self.warning, self.table = widgets.HTML(), widgets.HTML()
        half = widgets.Layout(flex="1 1 440px", width="auto", min_width="0", overflow="hidden")
        left = widgets.VBox([self.view], layout=half)
        right = widgets.VBox([self._diagram_place, self.diagram_description], layout=half)
        self.widget = widgets.VBox(
            [
                self.description,
                self.warning,
                widgets.HBox([left, right], layout=widgets.Layout(flex_flow="row wrap")),
                self.table,
            ],
            layout=widgets.Layout(width="100%", overflow="hidden"),
        )
        self._drawn: Analysed | None = None

    @property
    def views(self) -> tuple[WindowView, ...]:
        """The live views, to be renewed before they are shown again."""
        return (self.view,) if self._diagram_view is None else (self.view, self._diagram_view)

    def show(self, shown: Analysed) -> None:
        """Draw another analysis."""
        with self.view.one_patch():
            runs = None if shown.prediction is None else {shown.name: shown.prediction.runs}
            self.curve.show(shown.curves, runs)
            self._make_room(list(shown.results))
            whose = f"{len(shown.results)} programs" if len(shown.results) > 1 else shown.name
            self._origin.text = _origin(whose)
            if shown.prediction is not None:
                self._origin.text += f"\n{shown.prediction.runs.provenance.caption()}"
        text = describe_tolerance(without_warnings(shown))
        if shown.prediction is not None:
            text += f" {describe_run_prediction(shown.prediction)}"
        self._say(text, shown)
        self.say_contention(shown)

    def say_contention(self, shown: Analysed) -> None:
        """Update the table and the warnings about contention."""
        self.table.value = tolerance_table(shown)
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

    def show_diagram(self, result: ReplayResult, variable: str, at: float) -> None:
        """Draw the replay at a latency in s or a gap in s/B, with its critical path."""
        text = f"{variable} = {value_text(variable, at)}"
        if self.diagram is None or self._diagram_view is None:
            self.diagram = spacetime_figure(result, height=_DIAGRAM_PX)
            self._diagram_origin = own_caption(self.diagram.figure)
            self.diagram.figure.legend[0].update(ncols=3, label_height=14, spacing=8)
            self.diagram_downloads = Downloads(self.diagram.figure)
            self._diagram_view = WindowView(
                self.diagram.figure, layout=widgets.Layout(width="100%")
            )
            self._diagram_view.on_window(self.diagram.asked, self._window_asked)
            self._diagram_place.children = [self._diagram_view]
        with self._diagram_view.one_patch():
            self.diagram.show(result)
            self._diagram_origin.text = _origin(f"{result.graph.source} at {text}")
        self.diagram_description.value = (
            f'<div role="status" style="{TEXT}"><b>At {text}:</b> '
            f"{html.escape(describe_spacetime(result))}</div>"
        )

    def _make_room(self, names: list[str]) -> None:
        """Break the legend into rows where it is wider than half a page."""
        measured = self.curve.measured.legend
        if measured.visible:
            names = [*names, measured.label.value]
        entries = len(names) + 1
        wide = _LEGEND_PX[0] + _LETTER_PX * max(map(len, names))
        columns = min(entries, max(1, _HALF_PX // wide))
        self.curve.time.legend[0].ncols = columns
        rows = -(-entries // columns)
        self.curve.time.height = _CURVE_PX + _LEGEND_PX[1] * (rows - 1)

    def _look(self) -> None:
        """Remove the toolbars from the figure and shorten its caption to one line."""
        curve = self.curve
        curve.time.toolbar_inner = False
        for fig in (curve.slope, curve.share, curve.strips):
            fig.toolbar_location = None
        legend = curve.time.legend[0]
        legend.update(glyph_height=14, label_height=14, spacing=_LEGEND_PX[1] - 14)
        self._origin = own_caption(curve.share)

    def _say(self, text: str, shown: Analysed) -> None:
        left_out = "".join(
            f'<div style="{SMALL}">{html.escape(line)}</div>' for line in shown.left_out
        )
        seconds = sum(result.seconds for result in shown.results.values())
        operations = sum(result.operations for result in shown.results.values())
        self.description.value = (
            f'<div role="status" style="{TEXT}">{html.escape(text)} <span style="{SMALL}">'
            f"{operations:,} operations, analysed in {time_text(seconds * 1e9)}.</span>"
            f"{left_out}</div>"
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
    """Return a short caption that replaces the figure's own, too long for half a page."""
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


def tolerance_table(shown: Analysed) -> str:
    """Return an HTML table with T, the slope, the share and the tolerances of each program."""
    if shown.bandwidths:
        return _bandwidth_table(shown)
    head = ["", "ranks", "T", Html("λ<sub>L</sub>"), "its messages", Html("ρ<sub>L</sub>")]
    head += [f"L within {p:g} %" for p in shown.state.percent]
    head.append("critical L")
    rows = (_row(name, result) for name, result in shown.results.items())
    base = time_text(shown.result.L * 1e9)
    # For one program the sentence has it.
    said = len(shown.results) > 1 and any(map(more_than_messages, shown.results.values()))
    more = f'<div style="{SMALL}">λ_L counts latencies: {RENDEZVOUS}.</div>' if said else ""
    caption = f"At L = {base}, and the largest L within each percentage; increase of L in brackets"
    return html_table(rows, head, caption, cell_style="white-space:nowrap") + more


def _bandwidth_table(shown: Analysed) -> str:
    """Return an HTML table with T, λ_G, ρ_G and the tolerances of each program."""
    head = ["", "ranks", "T", Html("λ<sub>G</sub>"), Html("ρ<sub>G</sub>")]
    head += [f"G within {p:g} %" for p in shown.state.percent]
    head.append("critical G")
    rows = (
        [
            name,
            f"{shown.results[name].ranks:,}",
            time_text(curve.T * 1e9),
            f"{curve.lambda_G:,} B",
            f"{100 * curve.rho_G:.1f} %",
            *(_gap_text(largest) for largest in curve.tolerance.values()),
            f"{len(curve.critical):,}",
        ]
        for name, curve in shown.bandwidths.items()
    )
    base = value_text("G", shown.result.model.G)
    caption = f"At G = {base}, and the largest G, with the least bandwidth, within each percentage"
    return html_table(rows, head, caption, cell_style="white-space:nowrap")


def _gap_text(largest: float) -> str:
    return value_text("G", largest) if math.isfinite(largest) else "any"


def measured_html(shown: Analysed) -> str:
    """Return measured and predicted run times by added latency, as an HTML table."""
    if shown.prediction is None:
        reason = shown.measured_error or f"None are given. Upload {COLUMNS}."
        return f'<div style="{TEXT}">{html.escape(reason)}</div>'
    frame = shown.prediction.to_frame()
    rows = (
        [cell if isinstance(cell, str) else "" if cell != cell else f"{cell:.5g}" for cell in row]
        for row in frame.itertuples(index=False)
    )
    caption = f"RRMSE {shown.prediction.rrmse_percent:.2f} %; " + ", ".join(
        f"{zone} {error:.2f} %" for zone, error in shown.prediction.zone_rrmse_percent.items()
    )
    return html_table(rows, list(frame.columns), caption, cell_style="white-space:nowrap")


def contention_html(shown: Analysed) -> str:
    """Return the time that contention adds to the program in the controls, by resource."""
    report = shown.result.contention
    if report is None:
        if shown.compared:
            return "With contention the program does not run to its end."
        return "The program is being replayed with contention …"
    percent = report.optimistic_percent
    word = "below" if percent >= 0 else "above"
    text = (
        f"Without contention, as here, {report.source} takes {time_text(report.llamp_ps / 1e3)}: "
        f"{abs(percent):.1f} % {word} LogGOPSim's {time_text(report.loggopsim_ps / 1e3)}, where "
        "messages and computations wait for CPUs and network interfaces that are busy."
    )
    return f'<div style="{TEXT}">{html.escape(text)}</div>{report._repr_html_()}'


def _origin(whose: str) -> str:
    return Provenance("simulated", f"{whose}, LLAMP's semantics, no contention").caption()


def _row(name: str, result: LatencySensitivity) -> list[str]:
    cells = [
        name,
        f"{result.ranks:,}",
        time_text(result.T * 1e9),
        f"{result.lambda_L:,}",
        "" if result.critical_messages is None else f"{result.critical_messages:,}",
        f"{100 * result.rho_L:.1f} %",
    ]
    for largest in result.tolerance.values():
        added = largest - result.L
        more = f" (+{time_text(added * 1e9)})" if added < float("inf") else ""
        cells.append(latency_text(largest) + more)
    cells.append(f"{len(result.critical_latencies):,}")
    return cells
