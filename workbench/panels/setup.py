"""The setup of a notebook before its first panel: load BokehJS into the page, offline."""

from __future__ import annotations


def setup() -> None:
    """Load BokehJS into the page from this installation; no request leaves the machine.

    Call it in a cell of its own, before the cell of the first panel: the page runs what this cell
    puts out before it draws what the next one shows. On a page of Voilà, where nobody can type into
    cells, exercises have a form from then on.
    """
    from workbench.panels.session import page
    from workbench.plotting.embedding import load_bokeh

    load_bokeh()
    if page.is_of_voila():
        from workbench.panels.answer_form import offer_answer_forms

        offer_answer_forms()
