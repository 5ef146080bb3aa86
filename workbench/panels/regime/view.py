"""The figures of the regime panel: curves of the pair, errors of its parts, error by threshold."""

from __future__ import annotations

import html

import ipywidgets as widgets
from bokeh.layouts import row
from bokeh.models import ColumnDataSource

from workbench.fit.bolted import Bolted
from workbench.measure.curve import byte_label
from workbench.panels.live_view import Downloads, LiveView
from workbench.panels.regime.state import Pair, describe_pair
from workbench.panels.style import TEXT
from workbench.plotting import palette
from workbench.plotting.fit.bolted_errors import Part, parts_figure
from workbench.plotting.fit.curves import curve_figures, measured_columns, simulated_columns
from workbench.plotting.fit.regimes import describe_threshold, threshold_figure
from workbench.plotting.theme import SMALL

_LEGEND = ("measured", "bolted pair", "one model, all sizes")


class RegimeView:
    """The figures of a pair: curves, errors of its parts, error by threshold."""

    def __init__(self, pair: Pair, threshold: int, *, height: int = 235) -> None:
        self._pair = pair
        self.curves = curve_figures(pair.measured, height=height)
        self._marker = ColumnDataSource(data={"size": []})
        for fig in (self.curves.latency, self.curves.bandwidth):
            fig.vspan(
                x="size",
                source=self._marker,
                line_color=palette.FAINT,
                line_width=2,
                line_dash="dashed",
            )
            items = [item for item in fig.legend[0].items if item.name != "pinned"]
            for item, name in zip(items, _LEGEND, strict=True):
                item.update(label={"value": name}, visible=True)
        bolted = pair.bolted(threshold)
        self.parts = parts_figure(_parts(pair, bolted), height=height)
        self.thresholds = threshold_figure(pair.table, height=height + 25)
        self._curves_view = LiveView(self.curves.layout, layout=widgets.Layout(width="100%"))
        self._errors_view = LiveView(
            row(self.parts.figure, self.thresholds.figure, sizing_mode="stretch_width"),
            layout=widgets.Layout(width="100%"),
        )
        self.downloads = Downloads(self.curves.layout)
        self.origins = ""
        self.description, self.below = widgets.HTML(), widgets.HTML()
        self.widget = widgets.VBox(
            [self._curves_view, self.description, self._errors_view, self.below],
            layout=widgets.Layout(width="100%", overflow="hidden"),
        )
        self.show_pair(pair, bolted)

    @property
    def views(self) -> tuple[LiveView, ...]:
        """The live views, to be renewed before they are shown again."""
        return self._curves_view, self._errors_view

    def show_pair(self, pair: Pair, bolted: Bolted) -> None:
        """Draw other models or another machine."""
        with self._errors_view.one_patch(), self._curves_view.one_patch():  # the curves first
            self._pair = pair
            self.curves.measured.data = measured_columns(pair.measured)
            self.curves.fitted.data = simulated_columns(pair.single.curve.simulated)
            self.curves.name_machine(pair.measured)
            self.thresholds.show(pair.table)
            self._draw(bolted)
        self._say(bolted)

    def show(self, bolted: Bolted) -> None:
        """Draw another threshold."""
        with self._errors_view.one_patch(), self._curves_view.one_patch():  # the curves first
            self._draw(bolted)
        self._say(bolted)

    def _draw(self, bolted: Bolted) -> None:
        self.curves.simulated.data = simulated_columns(bolted.simulated)
        self._marker.data = {"size": [bolted.threshold]}
        self.curves.fit_ranges()
        self.parts.show(_parts(self._pair, bolted))
        self.thresholds.mark(bolted.threshold)

    def _say(self, bolted: Bolted) -> None:
        pair = self._pair
        sstmacro = bolted.sstmacro_reason or "SST/macro can run this pair: see Export, INI"
        self.origins = (
            f"Small: {pair.low.origin}. Large: {pair.high.origin}. One model: "
            f"{pair.single.origin}. Lines: simulated here at all sizes. "
            f"Points: {pair.measured.provenance.caption()}."
        )
        self.description.value = (
            f'<div role="status" style="{TEXT}">{html.escape(describe_pair(bolted, pair))}<br>'
            f"{html.escape(sstmacro)}.</div>"
            f'<div style="{SMALL}">{html.escape(self.origins)}</div>'
        )
        below = html.escape(describe_threshold(pair.table, threshold=bolted.threshold))
        self.below.value = f'<div role="status" style="{TEXT}">{below}</div>'


def _parts(pair: Pair, bolted: Bolted) -> list[Part]:
    at = byte_label(bolted.threshold)
    low, high, single = (
        type(half.curve.model).__name__ for half in (pair.low, pair.high, pair.single)
    )
    return [
        (f"{low} ≤ {at}", bolted.rmspe_low),
        (f"{high} > {at}", bolted.rmspe_high),
        ("whole", bolted.rmspe),
        (f"one {single}", pair.single_rmspe),
    ]
