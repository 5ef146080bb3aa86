"""The tabs below a study's heatmap: parameters, figures of all fits, own fit, Python, export."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import ipywidgets as widgets
from bokeh.models import LayoutDOM

from workbench import tasks
from workbench.measure import OSUCurve
from workbench.panels import inputs
from workbench.panels.background_figure import BackgroundFigure
from workbench.panels.export_tab import ExportTab
from workbench.panels.study.fit_view import fit_json
from workbench.panels.study.state import ShownFit, StudyState, table_lines
from workbench.plotting.fit.error_heatmap import BENCHMARKS
from workbench.plotting.grid import stacked
from workbench.plotting.study.cells import fitted
from workbench.plotting.study.convergence import plot_study_convergence
from workbench.plotting.study.errors import plot_study_curves, plot_study_errors
from workbench.study import Cell, StudyResult


class StudyTabs:
    """The tabs below the heatmap and the fit, of which only the open one is updated."""

    def __init__(
        self, parameters: Any, own: Any, export: ExportTab, busy: Callable[[], None]
    ) -> None:
        self._curves: dict[Cell, OSUCurve] = {}
        self._shown: tuple[StudyState, ShownFit] | None = None
        self.figures = {title: BackgroundFigure(busy) for title in _FIGURES}
        self.python = inputs.Textarea(rows=11, layout=widgets.Layout(width="98%", height="auto"))
        pages = {
            "Parameters": parameters,
            **{title: figure.widget for title, figure in self.figures.items()},
            "Run your own": own,
            "Python": self.python,
            "Export": export.widget,
        }
        self.widget = inputs.Tab(
            list(pages.values()), titles=tuple(pages), layout=widgets.Layout(width="100%")
        )
        self.widget.observe(lambda _: self._draw(), "selected_index")

    def show(self, state: StudyState, fit: ShownFit) -> None:
        """Update the open tab."""
        self._shown = (state, fit)
        self._draw()

    def stop(self) -> None:
        """Stop the drawing of figures."""
        for figure in self.figures.values():
            figure.stop()

    def refresh(self) -> bool:
        """Show the finished figures, and return whether any is pending."""
        drawing = [figure.refresh() for figure in self.figures.values()]
        return any(drawing)

    def _draw(self) -> None:
        if self._shown is None:
            return
        state, fit = self._shown
        title = self.widget.titles[self.widget.selected_index or 0]
        if title == "Python":
            self.python.value = f"{table_lines(state)}\n\n# the fit that is shown\n{fit.python}"
        elif title in _FIGURES:
            draw, along = _FIGURES[title]
            where = {axis: value for axis, value in state.where.items() if axis not in along}
            curves = self._curves
            self.figures[title].want(
                tuple(where.items()), lambda task: draw(state.result, where, curves, task)
            )


def study_file(state: StudyState, fit: ShownFit, suffix: str) -> tuple[str, str]:
    """Return the name without suffix and the text of a file of `STUDY_FILES`."""
    if suffix == ".csv":
        return state.result.plan.name, str(state.result.to_frame().to_csv(index=False))
    text = fit_json(fit) if suffix == ".json" else fit.cell.model().to_ini()
    return fit.cell.cell.name, text


STUDY_FILES = {
    ".csv": "the errors of all fits of the study, one row a fit",
    ".json": "the fit that is shown: values, curves and where they come from",
    ".ini": "the fitted model as an .ini",
}
"""Descriptions of the files, by suffix."""


Where = Mapping[str, Any]
_ALONG = ("loss", "machine", "target")


def _convergence(
    result: StudyResult, where: Where, curves: dict[Cell, OSUCurve], task: tasks.Task
) -> LayoutDOM:
    return plot_study_convergence(result, **where)


def _errors(
    result: StudyResult, where: Where, curves: dict[Cell, OSUCurve], task: tasks.Task
) -> LayoutDOM:
    _simulate(result, where, curves, task)
    return _both(plot_study_errors, result, where, curves)


def _curves(
    result: StudyResult, where: Where, curves: dict[Cell, OSUCurve], task: tasks.Task
) -> LayoutDOM:
    _simulate(result, where, curves, task)
    return _both(plot_study_curves, result, where, curves)


def _both(
    plot: Callable[..., LayoutDOM], result: StudyResult, where: Where, curves: dict[Cell, OSUCurve]
) -> LayoutDOM:
    """Return the figures of both benchmarks from curves that are already simulated."""
    return stacked(
        *(plot(result, name, simulate=lambda fit: curves[fit.cell], **where) for name in BENCHMARKS)
    )


def _simulate(
    result: StudyResult, where: Where, curves: dict[Cell, OSUCurve], task: tasks.Task
) -> None:
    """Add the missing curves of the drawn fits; a stop keeps those already added."""
    fits = fitted(result, _ALONG, where)
    for done, fit in enumerate(fits):
        task.report(done, len(fits), "fits simulated")
        if fit.cell not in curves:
            curves[fit.cell] = fit.simulated(task=task)
            task.breathe()
    task.report(len(fits), len(fits), "fits simulated")


_FIGURES: dict[str, tuple[Callable[..., LayoutDOM], tuple[str, ...]]] = {
    "Convergence": (_convergence, ("loss", "machine")),
    "Errors by size": (_errors, _ALONG),
    "Curves": (_curves, _ALONG),
}
"""The function that draws a tab's figure, and the axes of the study it uses."""
