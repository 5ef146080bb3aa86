"""The tabs below the figures of the tolerance panel: contention, runs, Python, export, notes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ipywidgets as widgets

from workbench.errors import ParameterError
from workbench.panels import inputs
from workbench.panels.error_line import ErrorLine
from workbench.panels.export_tab import ExportTab
from workbench.tolerance.panel_files import FILES, notes_html
from workbench.tolerance.panel_state import Analysed, python_lines
from workbench.tolerance.panel_tables import contention_html, measured_html
from workbench.tolerance.panel_view import ToleranceView

_CONTENTION, _MEASURED, _PYTHON, _EXPORT, _NOTES = _TITLES = (
    "Contention",
    "Measured",
    "Python",
    "Export",
    "Notes",
)


class ToleranceTabs:
    """The tabs below the figures, of which only the open one is drawn."""

    def __init__(self, shown: Callable[[], Analysed | None]) -> None:
        self._shown = shown
        self.export: ExportTab | None = None  # None until both figures exist
        self.contention, self.measured = widgets.HTML(), widgets.HTML()
        self.python = inputs.Textarea(rows=8, layout=widgets.Layout(width="98%", height="auto"))
        self.notes = widgets.HTML(layout=widgets.Layout(max_height="260px", overflow="auto"))
        self._export_place = widgets.VBox()
        self.widget: Any = inputs.Tab(
            [self.contention, self.measured, self.python, self._export_place, self.notes],
            titles=_TITLES,
            selected_index=0,
            layout=widgets.Layout(width="99%"),
        )
        self.widget.observe(lambda _: self.draw(), "selected_index")

    @property
    def errors(self) -> list[ErrorLine]:
        """The error line of the export tab, once there is one."""
        return [] if self.export is None else [self.export.error]

    def draw(self) -> None:
        """Draw the open tab only: hidden tabs would delay the slider's figure."""
        shown = self._shown()
        if shown is None:
            return
        opened = self.widget.titles[self.widget.selected_index or 0]
        if opened == _CONTENTION:
            self.contention.value = contention_html(shown)
        elif opened == _MEASURED:
            self.measured.value = measured_html(shown)
        elif opened == _PYTHON:
            self.python.value = python_lines(shown)
        elif opened == _NOTES:
            self.notes.value = notes_html(shown)

    def offer_files(self, view: ToleranceView) -> None:
        """Create the export tab once both figures exist."""
        if self.export is not None or view.diagram_downloads is None:
            return
        self.export = ExportTab(
            {suffix: about for suffix, (_, about) in FILES.items()},
            self.file,
            {
                "curves": (view.downloads, lambda: f"{self._stem()}-tolerance"),
                "diagram": (view.diagram_downloads, lambda: f"{self._stem()}-spacetime"),
            },
        )
        self._export_place.children = [self.export.widget]

    def file(self, suffix: str) -> tuple[str, str]:
        """Return a file's name without its suffix, and its text, for a suffix of ``FILES``."""
        return self._stem(), FILES[suffix][0](must_be(self._shown()))

    def _stem(self) -> str:
        return must_be(self._shown()).state.own_case.source.name


def must_be(shown: Analysed | None) -> Analysed:
    """Return the analysis, or raise a ParameterError where it is None."""
    if shown is None:
        raise ParameterError("nothing has been analysed yet", key="path")
    return shown
