"""The tabs below the curves: convergence, result, identifiability, trials, Python, export."""

from __future__ import annotations

import html
from collections.abc import Callable

import ipywidgets as widgets
import numpy as np
from bokeh.models import Div, LayoutDOM

from workbench import tasks
from workbench.fit import FitResult
from workbench.fit.trust.identify import identify
from workbench.models import NetworkModel
from workbench.models.ini_write import ini_about
from workbench.panels import inputs
from workbench.panels.background_figure import BackgroundFigure
from workbench.panels.error_line import ErrorLine
from workbench.panels.export_tab import ExportTab
from workbench.panels.fit.files import FILES, ShownMachine
from workbench.panels.fit.fit_run import FitRun
from workbench.panels.fit.stored_trials import stored_search
from workbench.panels.live_view import Downloads, LiveView
from workbench.panels.style import wrapping_row
from workbench.plotting.descriptions import describe_convergence
from workbench.plotting.fit.convergence import (
    convergence_columns,
    convergence_figure,
    convergence_range,
)
from workbench.plotting.fit.identifiability import plot_identifiability
from workbench.plotting.fit.residuals import plot_residuals
from workbench.plotting.grid import stacked

_IDENTIFIABILITY_TAB, _TRIALS_TAB, _PYTHON_TAB = 2, 3, 4  # places among the tabs
_WHICH = (("the fit", "fitted"), ("the sliders", "sliders"))
_NO_RESULT_YET = "The fitted values and their residuals appear here after a fit."
_NO_FIT_YET = "After a fit this tab shows how well the data determine each parameter."
_NO_SEARCH_YET = (
    "Searches whose trials are stored in the file of Study appear here: their best trials, and the "
    "importance of the parameters."
)

Stored = tuple[str, str, int]
"""File, name and number of trials of a stored search."""


class FitTabs:
    """The tabs below the curves; ``busy`` is called when a background job starts."""

    def __init__(
        self,
        downloads: Downloads,
        shown: Callable[[], ShownMachine],
        busy: Callable[[], None],
        stored: Callable[[], Stored | None],  # the search of the tab Trials
    ) -> None:
        self._result: FitResult | None = None
        self._shown, self._stored = shown, stored
        self._drawn = 0
        self._python = ("", "")
        self.convergence = convergence_figure([], height=190)
        self._picture = widgets.VBox()
        self._reading = widgets.HTML("No trial has been run yet.")
        self.table = widgets.HTML(_NO_RESULT_YET)
        self._residuals = widgets.VBox()
        self.use = inputs.Button(
            description="Use fitted values",
            tooltip="Set the sliders to the fitted values",
            disabled=True,
            layout=widgets.Layout(width="140px"),
        )
        self.keep = inputs.Button(
            description="Use this machine",
            tooltip="Keep it in the folder machines: every panel then offers it",
            layout=widgets.Layout(width="140px"),
        )
        self.identifiability = BackgroundFigure(busy, _NO_FIT_YET)
        self.trials = BackgroundFigure(busy, _NO_SEARCH_YET, keep_last=False)
        wide = widgets.Layout(width="98%", height="auto")
        self.curve_python = inputs.Textarea(rows=7, layout=wide)
        self.fit_python = inputs.Textarea(rows=7, layout=wide)
        # A user wants the fitted values, so a finished fit is chosen by itself.
        self.which = inputs.ToggleButtons(
            options=_WHICH,
            value="sliders",
            disabled=True,
            tooltips=("The values that the last fit found", "The values of the sliders"),
            style={"button_width": "120px"},
        )
        self.which.observe(lambda _: self._say_what(), "value")
        self.export = ExportTab(
            {suffix: about for suffix, (_, about) in FILES.items()},
            self.file,
            {"": (downloads, self._picture_stem)},
            lambda _: f"Points: {shown().measured.provenance.caption()}. Lines: simulated.",
        )
        self.widget = inputs.Tab(
            [
                widgets.VBox([self._picture, self._reading]),
                widgets.VBox([self.table, self._residuals]),
                self.identifiability.widget,
                self.trials.widget,
                widgets.VBox(
                    [
                        widgets.HTML("The curve that is shown:"),
                        self.curve_python,
                        widgets.HTML("The fit that Start runs:"),
                        self.fit_python,
                    ]
                ),
                widgets.VBox(
                    [
                        wrapping_row(widgets.HTML("Files hold the values of"), self.which),
                        self.export.widget,
                    ]
                ),
            ],
            titles=("Convergence", "Result", "Identifiability", "Trials", "Python", "Export"),
            layout=widgets.Layout(width="100%"),
        )
        self.widget.observe(lambda _: self.opened(), "selected_index")
        self._kind = self._ini_about = ""

    @property
    def errors(self) -> list[ErrorLine]:
        """The error lines of the tabs."""
        return [self.export.error, self.identifiability.error, self.trials.error]

    def views(self) -> list[LiveView]:
        """Return the live views in the tabs."""
        return [
            *self._picture.children,
            *self._residuals.children,
            *self.identifiability.views,
            *self.trials.views,
        ]

    def begin(self, loss: str) -> None:
        """Clear the convergence for a new fit; ``loss`` labels the axis."""
        self._drawn = 0
        self.convergence.source.data = convergence_columns([])
        self.convergence.figure.yaxis.axis_label = f"loss ({loss})"
        self.widget.selected_index = 0

    def clear(self) -> None:
        """Remove the last fit."""
        self._drawn = 0
        self.convergence.source.data = convergence_columns([])
        self._reading.value = "No trial has been run yet."
        self.table.value = _NO_RESULT_YET
        self._residuals.children = ()
        self.use.disabled = True
        self._result = None
        self._offer_fit(False)
        self.identifiability.clear(_NO_FIT_YET)

    def refresh(self) -> bool:
        """Show the finished figures, and return whether any is pending."""
        pending = self.identifiability.refresh()
        return self.trials.refresh() or pending

    def draw_convergence(self, run: FitRun) -> None:
        """Add the trials since the last call."""
        losses = list(run.losses)
        if len(losses) > self._drawn:
            before = np.asarray(losses[: self._drawn])
            best = float(before[np.isfinite(before)].min(initial=np.inf))
            new = convergence_columns(losses[self._drawn :], first=self._drawn, best=best)
            self.convergence.source.stream(new)
            self._drawn = len(losses)
            if not self._picture.children:
                # A logarithmic axis has no range before there is a trial, so it waits for one.
                view = LiveView(self.convergence.figure, layout=widgets.Layout(width="100%"))
                self._picture.children = [view]
            low, high = convergence_range(losses)
            self.convergence.figure.y_range.update(start=low, end=high)
        self._reading.value = html.escape(
            describe_convergence(losses, loss=run.request.loss, total=run.request.trials)
        )

    def show_result(self, result: FitResult) -> None:
        """Show the table of a fit and its residuals."""
        self.table.value = result._repr_html_()
        if result.simulated is not None:
            residuals = plot_residuals(result.measured, result.simulated)
            self._residuals.children = [LiveView(residuals, layout=widgets.Layout(width="100%"))]
        self.use.disabled = not result.success
        self._result = result if result.success else None
        self._offer_fit(result.success)
        self.opened()

    def show_python(self, curve: str, fit: str) -> None:
        """Show the Python code of the curve and of the fit."""
        self._python = (curve, fit)
        # While a slider moves, hidden tabs are not redrawn; they are when they are opened.
        if self.widget.selected_index == _PYTHON_TAB:
            self.curve_python.value, self.fit_python.value = self._python

    def file(self, suffix: str) -> tuple[str, str]:
        """Return a file's name without its suffix, and its text, for a suffix of ``FILES``."""
        shown = self._shown()
        return shown.stem, FILES[suffix][0](shown)

    def say_files_of(self, model: NetworkModel) -> None:
        """Describe the files of a model, and the programs that read its .ini."""
        if model.name != self._kind:
            self._kind, self._ini_about = model.name, ini_about(model)
            self._say_what()

    def _offer_fit(self, there: bool) -> None:
        self.which.disabled = not there
        self.which.value = "fitted" if there else "sliders"

    def _say_what(self) -> None:
        whose = "the last fit" if self.which.value == "fitted" else "the sliders"
        # A picture shows the page: after a fit it has both curves, whatever the files hold.
        self.export.describe(whose, {".ini": self._ini_about})

    def _picture_stem(self) -> str:
        shown = self._shown()
        return f"{shown.measured.name}-{shown.model.name}"

    def opened(self) -> None:
        """Update the open tab; the others are updated when they are opened."""
        self.show_python(*self._python)
        result = self._result
        if result is not None and self.widget.selected_index == _IDENTIFIABILITY_TAB:
            self.identifiability.want(id(result), lambda task: _identified(result, task))
        if self.widget.selected_index == _TRIALS_TAB:
            stored = self._stored()
            if stored is None:
                self.trials.clear(_NO_SEARCH_YET)
            else:
                self.trials.want(stored, lambda _: stored_search(*stored[:2]))


def _identified(result: FitResult, task: tasks.Task) -> LayoutDOM:
    """Return figures and a table of how well the data determine each fitted parameter."""
    found = identify(result, task=task)
    return stacked(plot_identifiability(found), Div(text=found._repr_html_()))
