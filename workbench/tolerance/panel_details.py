"""The details below the tolerance panel's figures: tables, Python code, exports, notes."""

from __future__ import annotations

import html
import math
from collections.abc import Callable
from typing import Any

import ipywidgets as widgets

from workbench.errors import ParameterError
from workbench.facts import Fact, facts_table
from workbench.html_table import html_table
from workbench.panels import inputs
from workbench.panels.error_line import ErrorLine
from workbench.panels.export_tab import ExportTab
from workbench.panels.live_view import Downloads
from workbench.panels.style import TEXT
from workbench.plotting.replay.style import time_text
from workbench.plotting.theme import SMALL
from workbench.tolerance.curve import RENDEZVOUS, more_than_messages
from workbench.tolerance.figure_columns import value_text
from workbench.tolerance.panel_files import FILES, notes_html, python_lines
from workbench.tolerance.panel_measured import COLUMNS
from workbench.tolerance.panel_state import Analysed

_TOLERANCES, _CONTENTION, _MEASURED, _PYTHON, _EXPORT, _NOTES = _TITLES = (
    "Tolerances",
    "Contention",
    "Measured",
    "Python",
    "Export",
    "Notes",
)


class ToleranceDetails:
    """The tabs below the figures, of which only the open one is drawn."""

    def __init__(self, shown: Callable[[], Analysed | None]) -> None:
        self._shown = shown
        self._export: ExportTab | None = None  # None until both figures exist
        self._tables = {
            title: (widgets.HTML(), make)
            for title, make in (
                (_TOLERANCES, tolerance_table),
                (_CONTENTION, contention_html),
                (_MEASURED, measured_html),
                (_NOTES, notes_html),
            )
        }
        self._python = inputs.Textarea(rows=8, layout=widgets.Layout(width="98%", height="auto"))
        self._tables[_NOTES][0].layout = widgets.Layout(max_height="260px", overflow="auto")
        self._tables[_PYTHON] = self._python, python_lines
        self._export_place = widgets.VBox()
        parts = {title: table for title, (table, _) in self._tables.items()}
        parts[_EXPORT] = self._export_place
        self.widget: Any = inputs.Tab(
            [parts[title] for title in _TITLES],
            titles=_TITLES,
            selected_index=0,
            layout=widgets.Layout(width="99%"),
        )
        self.widget.observe(lambda _: self.draw(), "selected_index")

    @property
    def errors(self) -> list[ErrorLine]:
        """The error line of the exports, once there are some."""
        return [] if self._export is None else [self._export.error]

    def draw(self) -> None:
        """Draw the open tab only: hidden tabs would delay the slider's figure."""
        shown = self._shown()
        opened = self.widget.titles[self.widget.selected_index or 0]
        if shown is not None and opened in self._tables:
            table, make = self._tables[opened]
            table.value = make(shown)

    def offer_files(self, curves: Downloads, diagram: Downloads) -> None:
        """Create the exports, once both figures exist."""
        if self._export is None:
            self._export = ExportTab(
                {suffix: about for suffix, (_, about) in FILES.items()},
                self.file,
                {
                    "curves": (curves, lambda: f"{self._stem()}-tolerance"),
                    "diagram": (diagram, lambda: f"{self._stem()}-spacetime"),
                },
            )
            self._export_place.children = [self._export.widget]

    def file(self, suffix: str) -> tuple[str, str]:
        """Return a file's name without its suffix, and its text, for a suffix of ``FILES``."""
        return self._stem(), FILES[suffix][0](must_be(self._shown()))

    def _stem(self) -> str:
        return must_be(self._shown()).state.own_variant.source.name


def must_be(shown: Analysed | None) -> Analysed:
    """Return the analysis, or raise a ParameterError where it is None."""
    if shown is None:
        raise ParameterError("nothing has been analysed yet", key="path")
    return shown


def tolerance_table(shown: Analysed) -> str:
    """Return an HTML table with T, the slope, the share and the tolerances of each program."""
    rows = {
        name: (Fact("ranks", "ranks", shown.results[name].ranks), *curve.facts()[1:])
        for name, curve in shown.curves.items()
    }
    variable = shown.curve.variable
    base = f"At {variable} = {value_text(variable, shown.curve.base)}"
    table = facts_table(rows, f"{base}, and the largest {variable} within each percentage")
    # For one program the sentence has it.
    several = len(rows) > 1 and variable == "L"
    if not (several and any(map(more_than_messages, shown.results.values()))):
        return table
    return f'{table}<div style="{SMALL}">λ_L counts latencies: {RENDEZVOUS}.</div>'


def measured_html(shown: Analysed) -> str:
    """Return measured and predicted run times by added latency, as an HTML table."""
    if shown.prediction is None:
        reason = shown.measured_error or f"None are given. Upload {COLUMNS}."
        if shown.bandwidths:
            reason = "Run times are measured under added latency: choose Latency to see them."
        return f'<div style="{TEXT}">{html.escape(reason)}</div>'
    found = shown.prediction
    spread = found.points.spread
    head = ["added", "zone", "runs", "median", "quartiles", "minimum", "predicted", "error"]
    head += ["λ_L measured", "λ_L predicted"]
    rows = (
        [
            time_text(1e9 * added),
            zone,
            str(runs),
            _precise(median),
            f"{_precise(low)} to {_precise(high)}",
            _precise(least),
            _precise(predicted),
            f"{error:+.2f} %",
            *("" if math.isnan(slope) else f"{slope:.1f}" for slope in slopes),
        ]
        for added, zone, runs, median, low, high, least, predicted, error, *slopes in zip(
            found.added_s.tolist(),
            found.zones,
            spread.count.tolist(),
            spread.median.tolist(),
            spread.p25.tolist(),
            spread.p75.tolist(),
            spread.minimum.tolist(),
            found.predicted_s.tolist(),
            found.error_percent.tolist(),
            [math.nan, *found.measured_slope.tolist()],
            [math.nan, *found.predicted_slope.tolist()],
            strict=True,
        )
    )
    caption = f"RRMSE {found.rrmse_percent:.2f} %; " + ", ".join(
        f"{zone} {error:.2f} %" for zone, error in found.zone_rrmse_percent.items()
    )
    caption += "; λ_L between a point and the one before"
    return html_table(rows, head, caption, cell_style="white-space:nowrap")


def _precise(seconds: float) -> str:
    """Return a time with five digits: ``1.2023 ms``."""
    unit, scale = next(
        ((unit, scale) for unit, scale in (("s", 1.0), ("ms", 1e-3)) if seconds >= scale),
        ("µs", 1e-6),
    )
    return f"{seconds / scale:.5g} {unit}"


def contention_html(shown: Analysed) -> str:
    """Return the time that contention adds to the chosen program, by resource."""
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
