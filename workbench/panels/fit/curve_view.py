"""Curves, error heatmap and their sentences, shared by all panels of curves."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from typing import Any

import ipywidgets as widgets
import numpy as np
from bokeh.layouts import column

from workbench.html_table import html_table
from workbench.measure import OSUCurve
from workbench.measure.curve import byte_label
from workbench.panels import inputs
from workbench.panels.live_view import Downloads, LiveView
from workbench.panels.style import TEXT, mark_stale
from workbench.plotting.descriptions import (
    describe_beside,
    describe_errors,
    describe_size,
    plain_number,
)
from workbench.plotting.fit.curves import curve_figures, measured_columns, simulated_columns
from workbench.plotting.fit.error_heatmap import error_figure
from workbench.plotting.theme import SMALL

_SLIDERS = "the sliders' model"
_FIT = "the fit"


class CurveView:
    """A machine's curves with the simulated and the fitted one; ``errors`` adds the heatmap.

    The controls ``beside`` follow those below the figures.
    """

    def __init__(
        self,
        measured: OSUCurve,
        *,
        size: int = 8192,
        height: int = 250,
        errors: bool = True,
        beside: Sequence[Any] = (),
    ) -> None:
        self.measured = measured
        self.simulated: OSUCurve | None = None
        self.fitted: OSUCurve | None = None
        self.pinned: OSUCurve | None = None
        self.left_out: tuple[int, ...] = ()
        self._errors_of = self._choosing = ""
        self.figures = curve_figures(measured, height=height)
        self.errors = error_figure(measured, None, height=100) if errors else None
        shown = [self.figures.layout, *([self.errors.figure] if self.errors else [])]
        layout = column(shown, sizing_mode="stretch_width")
        self.downloads = Downloads(layout)
        self.view = LiveView(layout, layout=widgets.Layout(width="100%"))
        self.description = widgets.HTML(layout=widgets.Layout(margin="0 0 0 4px"))
        self.caption = widgets.HTML(layout=widgets.Layout(margin="0 0 0 4px"))
        self.size = inputs.Dropdown(
            options=_size_options(measured),
            value=_nearest(measured, size),
            description="size",
            style={"description_width": "initial"},
            layout=widgets.Layout(width="120px", margin="0 10px 0 0"),
            tooltip="Message size of the first sentence",
        )
        self.as_table = inputs.Checkbox(
            description="show as table", indent=False, layout=widgets.Layout(width="120px")
        )
        self.table = widgets.HTML(
            layout=widgets.Layout(display="none", max_height="390px", overflow="auto")
        )
        self.size.observe(lambda _: self._say(), "value")
        self.as_table.observe(lambda _: self._switch(), "value")
        bar = widgets.HBox(
            [self.size, self.as_table, *beside],
            layout=widgets.Layout(
                flex_flow="row wrap", align_items="center", width="100%", margin="0 0 0 4px"
            ),
        )
        self.widget = widgets.VBox(
            [self.view, self.table, self.description, bar, self.caption],
            layout=widgets.Layout(width="100%", overflow="hidden"),
        )
        self._caption()

    @property
    def controls(self) -> dict[str, Any]:
        """The controls below the figures, by name."""
        return {"size": self.size, "as_table": self.as_table}

    def on_points(self, handler: Callable[[list[int]], None]) -> None:
        """Let the user choose measured points; ``handler`` gets their sizes in bytes."""
        selected = self.figures.measured.selected

        def chosen(_attribute: str, _old: Any, rows: list[int]) -> None:
            if rows:
                selected.indices = []
                handler([int(self.measured.sizes[row]) for row in rows])

        self._choosing = " Click a point to leave its size out of the fit."
        self._caption()
        self.figures.choose_points()
        self.view.hear(self.figures.measured)
        selected.on_change("indices", chosen)

    def leave_out(self, sizes: tuple[int, ...]) -> None:
        """Draw the points of these sizes hollow: the fit leaves them out."""
        if sizes != self.left_out:
            self.left_out = sizes
            self.figures.measured.data = measured_columns(self.measured, sizes)
            self._say()

    def pin(self, curve: OSUCurve | None) -> None:
        """Draw another machine's measured points beside those shown; None removes them."""
        self.pinned = curve
        with self.view.one_patch():
            self.figures.pin(curve)
        self._say()

    def mark_stale(self, stale: bool, measured: OSUCurve) -> None:
        """Dim curves of earlier values; those of another machine are removed."""
        if stale and self.measured is not measured:
            self._show_machine(measured, None)
        mark_stale(self.widget, stale)

    def draw(self, measured: OSUCurve, simulated: OSUCurve) -> None:
        """Draw the curve of the sliders' model, at the machine's sizes."""
        # In one write: of two writes in a row to one source the page may keep the first.
        if self.measured is not measured:
            self._show_machine(measured, simulated)
            return
        self.simulated = simulated
        with self.view.one_patch():
            self.figures.simulated.data = simulated_columns(simulated)
            self.figures.name_in_legend("simulated", True)
            self.figures.fit_ranges()
            self._draw_errors(simulated, _SLIDERS)
        self._say()

    def draw_fit(self, fitted: OSUCurve) -> None:
        """Draw the best curve of a fit so far, dashed, at the machine's sizes."""
        self.fitted = fitted
        with self.view.one_patch():
            self.figures.fitted.data = simulated_columns(fitted)
            self.figures.name_in_legend("fitted", True)
            self.figures.fit_ranges()
            self._draw_errors(fitted, _FIT)
        self._say()

    def forget_fit(self) -> None:
        """Remove the fitted curve; the title of the errors follows with the next curve."""
        if self.fitted is not None:
            self.fitted = None
            with self.view.one_patch():
                self._clear_fit()
                self.figures.fit_ranges()

    def _show_machine(self, measured: OSUCurve, simulated: OSUCurve | None) -> None:
        """Draw another machine; None where its model cannot be simulated."""
        # Each source is written once: after two writes in a row BokehJS may keep the first.
        size = self.size.value
        self.measured, self.simulated, self.fitted = measured, simulated, None
        self.left_out = ()
        with self.view.one_patch():
            self.figures.measured.data = measured_columns(measured)
            self.figures.name_machine(measured)
            self.figures.simulated.data = simulated_columns(simulated)
            self.figures.name_in_legend("simulated", simulated is not None)
            self._clear_fit()
            self.figures.fit_ranges()
            self._draw_errors(simulated, _SLIDERS)
        self.size.options = _size_options(measured)
        self.size.value = _nearest(measured, size)
        self._caption()
        self._say()

    def _clear_fit(self) -> None:
        if self.figures.fitted.data["size"]:
            self.figures.fitted.data = simulated_columns(None)
            self.figures.name_in_legend("fitted", False)

    def _draw_errors(self, curve: OSUCurve | None, whose: str) -> None:
        if self.errors is not None:
            self.errors.show(self.measured, curve)
        if whose != self._errors_of:
            self._errors_of = whose
            if self.errors is not None:
                self.errors.figure.title.text = f"Percent error of {whose} by message size"

    def _say(self) -> None:
        of_fit = self._errors_of == _FIT
        curve = self.fitted if of_fit else self.simulated
        if curve is None:
            self.description.value = ""
            return
        sentences = (
            describe_size(
                curve, self.measured, self.size.value, "fitted" if of_fit else "simulated"
            ),
            self._describe_errors(curve),
            *([describe_beside(self.measured, self.pinned)] if self.pinned else []),
            *curve.notes,
        )
        text = "<br>".join(html.escape(sentence) for sentence in sentences)
        self.description.value = f'<div role="status" style="{TEXT}">{text}</div>'
        if self.as_table.value:
            self.table.value = curve_table(self.measured, curve, self.pinned)

    def _describe_errors(self, curve: OSUCurve) -> str:
        """Return the errors of the points in the fit, and which points are not."""
        if not self.left_out:
            return describe_errors(self.measured, curve)
        kept = ~np.isin(self.measured.sizes, self.left_out)
        errors = describe_errors(self.measured.select(kept, ""), curve.select(kept, ""))
        sizes = ", ".join(map(byte_label, self.left_out))
        return f"{errors} Left out of this and of the fit: {sizes} (hollow points)."

    def _switch(self) -> None:
        self.view.layout.display = "none" if self.as_table.value else ""
        self.table.layout.display = "" if self.as_table.value else "none"
        self._say()

    def _caption(self) -> None:
        points = html.escape(self.measured.provenance.caption())
        spread = (
            " Bars: middle half of the runs, thin lines: all runs."
            if self.measured.latency_spread is not None
            else ""
        )
        self.caption.value = (
            f'<div style="{SMALL}">Points: {points}.{spread} Lines: simulated here.'
            f"{self._choosing}</div>"
        )


def curve_table(measured: OSUCurve, simulated: OSUCurve, pinned: OSUCurve | None = None) -> str:
    """Return both curves and the errors between them as an HTML table, and another machine's."""
    off = measured.percent_error(simulated)
    columns: list[tuple[str, list[str]]] = []
    for name, unit, attribute, errors in (
        ("latency", "µs", "latency_us", off[0]),
        ("bandwidth", "MB/s", "bandwidth_MBps", off[1]),
    ):
        for word, curve in (("measured", measured), ("simulated", simulated)):
            values = getattr(curve, attribute).tolist()
            columns.append((f"{name} {word} ({unit})", [plain_number(v) for v in values]))
        columns.append((f"{name} error (%)", [f"{v:+.1f}".replace("-", "−") for v in errors]))
        if pinned is not None:
            beside = dict(zip(pinned.sizes, getattr(pinned, attribute).tolist(), strict=True))
            texts = [plain_number(beside.get(size, np.nan)) for size in measured.sizes]
            columns.append((f"{name} of {pinned.name} ({unit})", texts))
    rows = (
        (byte_label(size), *(values[row] for _, values in columns))
        for row, size in enumerate(measured.sizes.tolist())
    )
    return html_table(rows, ("size", *(name for name, _ in columns)), align="r")


def _size_options(curve: OSUCurve) -> list[tuple[str, int]]:
    return [(byte_label(size), size) for size in curve.sizes.tolist()]


def _nearest(curve: OSUCurve, size: int) -> int:
    return int(curve.sizes[np.argmin(np.abs(curve.sizes - size))])
