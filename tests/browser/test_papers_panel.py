"""The index of the papers as people look at it: filters, a press on a row, its figure in place."""

from __future__ import annotations

from typing import Any

from tests.browser.layout import cut
from tests.browser.panel import Keep, Steady, Until, button, status
from tests.browser.servers import Server

NOTEBOOK = "14-the-papers.ipynb"


def test_a_row_opens_its_figure_in_place(
    lab: Server, page: Any, until: Until, steady: Steady, keep: Keep
) -> None:
    watch = lab.open(page, NOTEBOOK)
    panel = page.locator(".workbench-panel").first
    panel.get_by_text("000-fig-1: ").wait_for()
    panel.locator(".bk-Figure").first.wait_for()
    panel.get_by_label("Kind", exact=True).select_option(label="table")
    until(lambda: button(page, "000-fig-8").count() == 0)
    panel.get_by_label("Kind", exact=True).select_option(label="all")
    button(page, "000-fig-10").click()
    panel.get_by_text("000-fig-10: ").wait_for()
    until(lambda: panel.locator(".bk-Figure").count() == 1)
    panel.evaluate("e => e.scrollIntoView()")
    steady(page.screenshot)
    keep("figure")
    panel.get_by_label("Row", exact=True).select_option(label="002-claim-gains-94-percent")
    panel.get_by_text("confirmed if").wait_for()
    assert "94 %" in status(page, "002-claim")
    keep("claim")
    assert cut(page) == []
    assert watch.errors == []
    assert watch.outside == []
