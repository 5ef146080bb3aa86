"""The setup of a notebook before its first panel: load BokehJS into the page, offline."""

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
_LOOK_S = 1.0


def setup() -> None:
    """Load BokehJS into the page from this installation; no request leaves the machine.

    Call it in a cell of its own, before the cell of the first panel: the page runs what this cell
    puts out before it draws what the next one shows. On a page of Voilà, where nobody can type into
    cells, exercises have a form from then on. While `make lab` compiles kernels, a line says so.
    """
    from workbench.panels.session import page
    from workbench.plotting.embedding import load_bokeh

    workshop = os.environ.get(WORKSHOP)
    load_bokeh(in_page=bool(workshop))
    if workshop:
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
