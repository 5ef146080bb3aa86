"""The tabs below the comparison: the most loaded links, Python, and export."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ipywidgets as widgets

from workbench.panels import inputs
from workbench.panels.compare.files import FILES
from workbench.panels.compare.metrics import hottest_html
from workbench.panels.compare.state import StaticComparison
from workbench.panels.export_tab import ExportTab
from workbench.panels.live_view import Downloads
from workbench.panels.style import named, wrapping_row

_TITLES = ("Hottest links", "Python", "Export")


class CompareTabs:
    """The tabs below the curves: most loaded links, Python and files."""

    def __init__(
        self,
        maps: Downloads,
        curves: Downloads,
        make: Callable[[str, str | None], tuple[str, str]],  # (suffix, topology) -> (stem, text)
        origin: Callable[[str], str],  # of topologies or curves
    ) -> None:
        self.hottest = widgets.HTML()
        self.python: Any = inputs.Textarea(
            rows=28, layout=widgets.Layout(width="98%", height="auto")
        )
        self.whose: Any = inputs.Dropdown(options=[], **named("Topology for GraphML", "360px"))
        self.exports = ExportTab(
            {suffix: text for suffix, (_, text) in FILES.items()},
            lambda suffix: make(suffix, self.whose.value),
            {
                "topologies": (maps, lambda: "topologies"),
                "curves": (curves, lambda: "curves"),
            },
            origin,
        )
        files = widgets.VBox([wrapping_row(self.whose), self.exports.widget])
        self.widget = inputs.Tab(
            [self.hottest, self.python, files],
            titles=_TITLES,
            selected_index=0,
            layout=widgets.Layout(width="99%"),
        )

    def show(self, compared: StaticComparison, python: str) -> None:
        """Show the links and the code of another comparison."""
        self.hottest.value = hottest_html(compared)
        self.python.value = python
        names = list(compared.shown)
        if names != list(self.whose.options):
            held = self.whose.value
            self.whose.options = names
            self.whose.value = held if held in names else next(iter(names), None)
