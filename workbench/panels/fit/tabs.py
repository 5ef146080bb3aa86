"""The tabs below the curves: convergence, result, identifiability, Python, export."""

from __future__ import annotations

import html
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ipywidgets as widgets
import numpy as np
from bokeh.models import Div, LayoutDOM

from workbench import jobs
from workbench.errors import ParameterError
from workbench.fit import FitResult
from workbench.fit.trust.identify import identify
from workbench.models import NetworkModel
from workbench.models.ini_write import ini_about
from workbench.panels.controls import ErrorLine
from workbench.panels.export_tab import about_picture
from workbench.panels.fit.exports import Shown, csv_text, html_text, ini_text, json_text
from workbench.panels.fit.fitting import FitRun
from workbench.panels.live import Downloads, LiveView
from workbench.panels.study.later import LaterFigure
from workbench.panels.style import wrapping_row
from workbench.plotting.fit.convergence import (
    convergence_columns,
    convergence_figure,
    convergence_range,
)
from workbench.plotting.fit.identifiability import plot_identifiability
from workbench.plotting.grid import stacked
from workbench.plotting.reading import read_convergence

_IDENTIFIABILITY_TAB, _PYTHON_TAB = 2, 3
_WHICH = (("the fit", "fitted"), ("the sliders", "sliders"))
_NO_FIT_YET = "What the data tell of each parameter stands here after a fit."
_FILES: dict[str, tuple[Callable[[Shown], str], str, str]] = {
    ".ini": (ini_text, "text/plain", "the model's values"),
    ".csv": (csv_text, "text/csv", "measured and simulated values, one row a message size"),
    ".json": (json_text, "application/json", "values, curves, the fit and where they come from"),
    ".html": (html_text, "text/html", "a page with the figures, readable offline"),
}


class FitTabs:
    """The tabs below the curves; ``busy`` is called when a background job starts."""

    def __init__(
        self, downloads: Downloads, shown: Callable[[], Shown], busy: Callable[[], None]
    ) -> None:
        self._downloads = downloads
        self._result: FitResult | None = None
        self._shown = shown
        self._drawn = 0
        self._python = ("", "")
        self.convergence = convergence_figure([], height=190)
        self._picture = widgets.VBox()
        self._reading = widgets.HTML("No trial has been run yet.")
        self.table = widgets.HTML("The fitted values stand here after a fit.")
        self.use = widgets.Button(
            description="Use fitted values",
            tooltip="Set the sliders to what the fit found",
            disabled=True,
            layout=widgets.Layout(width="140px"),
        )
        self.identifiability = LaterFigure(busy, _NO_FIT_YET)
        wide = widgets.Layout(width="98%", height="auto")
        self.curve_python = widgets.Textarea(rows=7, layout=wide)
        self.fit_python = widgets.Textarea(rows=7, layout=wide)
        self._saved = widgets.HTML()
        self.error = ErrorLine()
        # What was fitted is what a user comes for, so a fit that ends is chosen by itself.
        self.which = widgets.ToggleButtons(
            options=_WHICH,
            value="sliders",
            disabled=True,
            tooltips=("The values that the last fit found", "The values of the sliders"),
            style={"button_width": "120px"},
        )
        self.which.observe(lambda _: self._say_what(), "value")
        self._about = widgets.HTML()
        self.buttons = {suffix: self._button(suffix) for suffix in _FILES}
        self.pictures = [self._picture_button(kind) for kind in ("PNG", "SVG")]
        self.widget = widgets.Tab(
            [
                widgets.VBox([self._picture, self._reading]),
                widgets.VBox([self.table]),
                self.identifiability.widget,
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
                        widgets.HBox([*self.buttons.values(), *self.pictures]),
                        self.error,
                        self._saved,
                        self._about,
                    ]
                ),
            ],
            titles=("Convergence", "Result", "Identifiability", "Python", "Export"),
            layout=widgets.Layout(width="100%"),
        )
        self.widget.observe(lambda _: self._opened(), "selected_index")
        self._kind = self._ini_about = ""

    def views(self) -> list[LiveView]:
        """Return the live views in the tabs."""
        return [*self._picture.children, *self.identifiability.views]

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
        self.table.value = "The fitted values stand here after a fit."
        self.use.disabled = True
        self._result = None
        self._offer_fit(False)
        self.identifiability.clear(_NO_FIT_YET)

    def refresh(self) -> bool:
        """Show the finished figures, and return whether any is pending."""
        return self.identifiability.refresh()

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
            read_convergence(losses, loss=run.request.loss, total=run.request.trials)
        )

    def show_result(self, result: FitResult) -> None:
        """Show the table of a fit."""
        self.table.value = result._repr_html_()
        self.use.disabled = not result.success
        self._result = result if result.success else None
        self._offer_fit(result.success)
        self._opened()

    def show_python(self, curve: str, fit: str) -> None:
        """Show the Python code of the curve and of the fit."""
        self._python = (curve, fit)
        # A slider redraws in a hurry; text that nobody sees can wait until its tab is opened.
        if self.widget.selected_index == _PYTHON_TAB:
            self.curve_python.value, self.fit_python.value = self._python

    def save(self, path: Path) -> Path:
        """Write the displayed results to a file, by its suffix."""
        if path.suffix not in _FILES:
            raise ParameterError(
                f"the file's suffix must be one of {', '.join(_FILES)}; got {path.name!r}",
                key="path",
            )
        path.write_text(_FILES[path.suffix][0](self._shown()), encoding="utf-8")
        return path

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
        lines = "".join(
            f"<li><b>{suffix[1:].upper()}</b>: {about}"
            + (f"; {html.escape(self._ini_about)}" if suffix == ".ini" else "")
            + "</li>"
            for suffix, (_, _, about) in _FILES.items()
        )
        pictures = "".join(
            f"<li><b>{kind}</b>: curves and errors, {about_picture(kind)}</li>"
            for kind in ("PNG", "SVG")
        )
        # A picture is of the page: it has both curves after a fit, whatever files hold.
        self._about.value = (
            f"<p>Values of {whose}:</p><ul>{lines}</ul>"
            f"<p>The figures as drawn above:</p><ul>{pictures}</ul>"
        )

    def _opened(self) -> None:
        """Update the open tab; the others are updated when they are opened."""
        self.show_python(*self._python)
        result = self._result
        if result is not None and self.widget.selected_index == _IDENTIFIABILITY_TAB:
            self.identifiability.want(id(result), lambda ctx: _identified(result, ctx))

    def _picture_button(self, kind: str) -> Any:
        button = widgets.Button(
            description=kind, tooltip=f"Save curves and errors, {about_picture(kind)}"
        )

        def offer() -> None:
            self.error.say("")
            shown = self._shown()
            name = f"{shown.measured.name}-{shown.model.name}.{kind.lower()}"
            origin = f"Points: {shown.measured.provenance.caption()}. Lines: simulated."
            self._downloads.offer_picture(name, origin)
            self._saved.value = f"{html.escape(name)} was handed to the browser."

        button.on_click(lambda _: self.error.guard(offer))
        return button

    def _button(self, suffix: str) -> Any:
        make, mime, about = _FILES[suffix]
        button = widgets.Button(description=suffix[1:].upper(), tooltip=f"Save {about}")

        def offer() -> None:
            self.error.say("")
            shown = self._shown()
            name = f"{shown.stem}{suffix}"
            self._downloads.offer(name, make(shown), mime)
            self._saved.value = f"{html.escape(name)} was handed to the browser."

        button.on_click(lambda _: self.error.guard(offer))
        return button


def _identified(result: FitResult, ctx: jobs.JobContext) -> LayoutDOM:
    """Return figures and a table of how well the data determine each fitted parameter."""

    def report(done: int, total: int) -> None:
        ctx.progress(done, total, "parameters examined")
        ctx.breathe()

    found = identify(result, stop=ctx.stop_event, on_parameter=report)
    return stacked(plot_identifiability(found), Div(text=found._repr_html_()))
