"""The panel of uncertainty as people use it: run the chains, choose, read verdict and intervals."""

from __future__ import annotations

from typing import Any

from tests.browser.layout import cut
from tests.browser.panel import Keep, Show, Until, button, status

NOTEBOOK = "10-how-sure.ipynb"


def test_chains_run_and_a_choice_is_drawn_at_once(
    show: Show, page: Any, until: Until, keep: Keep
) -> None:
    show(NOTEBOOK)
    panel = page.locator(".workbench-panel").first
    assert "no posterior yet" in status(page, "noise, nothing held out")
    draws = panel.get_by_label("Draws", exact=True)
    draws.fill("100")
    draws.press("Enter")
    button(page, "Prediction").click()
    # The chains of what is chosen run first.
    panel.get_by_label("Noise model", exact=True).select_option(label="relative")
    panel.get_by_label("Held out", exact=True).select_option(label="512 nodes")
    until(lambda: "no posterior yet" in status(page, "relative noise, 512 nodes held out"))
    button(page, "▶ Run the chains").click()
    until(lambda: "held-out medians" in status(page, "relative noise, 512 nodes held out"))
    page.get_by_title("Stop now; what is stored stays").click()
    panel.get_by_text("stored").first.wait_for()
    panel.locator(".bk-Figure").first.wait_for()
    keep("prediction")
    assert cut(page) == []
    assert "press ▶ Resume" in status(page, "relative noise, 512 nodes held out")
    button(page, "▶ Resume").click()
    until(lambda: draws.input_value() != "100")
