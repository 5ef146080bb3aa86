"""The setup of a notebook before its first panel: BokehJS for the page, from this installation."""

from __future__ import annotations

import os
import tempfile

from workbench import warming

WORKSHOP = "WORKBENCH_WORKSHOP"
"""The environment variable that names the folder of a server for a class: each page's kernel gets
a folder in it, and pages load BokehJS by themselves."""

COMPILING = (
    "Kernels are still being compiled behind this notebook (once, a few minutes). Meanwhile a "
    "panel that needs one waits some seconds for it. This line goes when all are there."
)
_LOOK_S = 1.0  # chosen: compiling takes minutes, a second longer is not noticed


def setup() -> None:
    """Load BokehJS into the page from this installation; no request leaves the machine.

    A cell's figures are live from then on, and the notebook's file holds a picture of each. On a
    page of Voilà, where nobody can type into cells, exercises have a form from then on. While
    `make lab` compiles kernels, a line says so.
    """
    from bokeh.io.state import curstate

    from workbench.panels.bokeh_script import send_bokeh
    from workbench.panels.last_picture import show_figures_live
    from workbench.panels.session import page

    if not curstate().notebook:
        curstate().output_notebook()
        show_figures_live()
    workshop = os.environ.get(WORKSHOP)
    if not workshop:
        send_bokeh()
    else:
        os.chdir(tempfile.mkdtemp(dir=workshop))
    if page.is_of_voila():
        from workbench.panels.answer_form import offer_answer_forms

        offer_answer_forms()
    if warming.going_on():
        _say_until_compiled()


def _say_until_compiled() -> None:
    """Show a line that goes when the kernels are compiled."""
    import ipywidgets as widgets
    from IPython.display import display

    from workbench.panels.ticker import Ticker

    line = widgets.HTML(f'<div role="status">{COMPILING}</div>')

    def look() -> bool:
        compiling = warming.going_on()
        if not compiling:
            line.close()
        return compiling

    display(line)  # type: ignore[no-untyped-call]
    Ticker(look, _LOOK_S).start()
