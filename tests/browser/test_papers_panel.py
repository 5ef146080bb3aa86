"""The index of the papers as people look at it: filters, a press on a row, its figure in place."""

from __future__ import annotations

from typing import Any

from tests.browser.layout import cut
from tests.browser.panel import Keep, Show, Until, button, status


def test_a_row_opens_its_figure_in_place(show: Show, page: Any, until: Until, keep: Keep) -> None:
    show("14-the-papers.ipynb", "000-fig-1: ")
    panel = page.locator(".workbench-panel").first
    panel.get_by_label("Kind", exact=True).select_option(label="table")
    until(lambda: button(page, "000-fig-8").count() == 0)
    panel.get_by_label("Kind", exact=True).select_option(label="all")
    button(page, "000-fig-10").click()
    panel.get_by_text("000-fig-10: ").wait_for()
    until(lambda: panel.locator(".bk-Figure").count() == 1)
    keep("figure")
    panel.get_by_label("Row", exact=True).select_option(label="002-claim-gains-94-percent")
    panel.get_by_text("confirmed if").wait_for()
    assert "94 %" in status(page, "002-claim")
    keep("claim")
    assert cut(page) == []
