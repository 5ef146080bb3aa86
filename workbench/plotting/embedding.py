"""Figures in a notebook's cell and in an HTML file: BokehJS from this installation, offline."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bokeh.embed import file_html
from bokeh.io import curdoc, output_notebook, show
from bokeh.io.state import curstate
from bokeh.models import LayoutDOM, TabPanel, Tabs
from bokeh.resources import INLINE, Component, Resources
from bokeh.settings import settings

# What figures and their captions need: of 3.9 MB the 1.7 without formulas, WebGL and data tables.
_COMPONENTS: list[Component] = ["bokeh", "bokeh-widgets"]


def load_bokeh() -> None:
    """Load BokehJS into the page from this installation; no request leaves the machine.

    It is then in the notebook's file, twice; `workbench.panels.setup` loads it without that.
    """
    resources = Resources(mode="inline", components=_COMPONENTS)
    output_notebook(resources=resources, hide_banner=True)


def bokeh_scripts() -> list[Path]:
    """Return the files of BokehJS that a page loads, in their order."""
    return [Path(settings.bokehjs_path(), "js", f"{name}.min.js") for name in _COMPONENTS]


def show_by_themselves() -> None:
    """Let a notebook display a figure that a cell ends with; no effect outside of notebooks."""
    # Not imported: where nothing has loaded IPython, this is no notebook.
    ipython = sys.modules.get("IPython")
    shell: Any = ipython.get_ipython() if ipython is not None else None
    if getattr(shell, "kernel", None) is not None:
        shell.display_formatter.ipython_display_formatter.for_type(LayoutDOM, _show)


def _show(figure: LayoutDOM) -> None:
    if not curstate().notebook:
        load_bokeh()
    show(figure)
    # Bokeh keeps what is shown as a root of one document, which the next figure looks through:
    # after the figures of five notebooks the same one took 1.0 s to show, and 0.15 s at first.
    curdoc().remove_root(figure)


def standalone_html(figures: LayoutDOM | Sequence[LayoutDOM], title: str) -> str:
    """Return an HTML page of about 1.3 MB that draws the figures without any request.

    Args:
        figures: a figure or layout, or several that stand below one another. They must belong to
            no live document.
        title: title of the page.
    """
    return str(file_html(figures, resources=INLINE, title=title))


def slides_html(figures: Mapping[str, LayoutDOM], title: str) -> str:
    """Return an HTML page with a tab for each figure, which draws them without any request.

    Args:
        figures: figures or layouts, which must belong to no live document, by titles of tabs.
        title: title of the page.
    """
    tabs = [TabPanel(child=figure, title=name) for name, figure in figures.items()]
    larger = ":host { font-size: 1.2em; }"
    return standalone_html(
        Tabs(tabs=tabs, sizing_mode="stretch_width", stylesheets=[larger]), title
    )
