"""The panel of uncertainty as people use it: run the chains, choose, read verdict and intervals."""

from __future__ import annotations

from typing import Any

from tests.browser.layout import cut
from tests.browser.panel import Keep, Steady, Until, button, status
from tests.browser.servers import Server

NOTEBOOK = "10-how-sure.ipynb"


def test_chains_run_and_a_choice_is_drawn_at_once(
    voila: Server, page: Any, until: Until, steady: Steady, keep: Keep
) -> None:
    watch = voila.open(page, NOTEBOOK)
    panel = page.locator(".workbench-panel").first
    assert "no posterior yet" in status(page, "noise, nothing held out")
    draws = panel.get_by_label("Draws", exact=True)
    draws.fill("200")
    draws.press("Enter")
    button(page, "Prediction").click()
    button(page, "▶ Run the chains").click()
    # Those of the opening choice run first, then those that are chosen meanwhile.
    panel.get_by_label("Noise model", exact=True).select_option(label="relative")
    panel.get_by_label("Held out", exact=True).select_option(label="512 nodes")
    until(lambda: "held-out medians" in status(page, "relative noise, 512 nodes held out"))
    page.get_by_title("Stop now; what is stored stays").click()
    panel.get_by_text("posteriors stored").wait_for()
    panel.get_by_label("Held out", exact=True).select_option(label="nothing")
    panel.get_by_label("Noise model", exact=True).select_option(label="gaussian-process")
    until(lambda: "no posterior yet" not in status(page, "gaussian-process noise, nothing held"))
    panel.get_by_label("Noise model", exact=True).select_option(label="relative")
    panel.get_by_label("Held out", exact=True).select_option(label="512 nodes")
    panel.locator(".bk-Figure").first.wait_for()
    assert "press ▶ Resume" in status(page, "relative noise, 512 nodes held out")
    button(page, "▶ Resume").click()
    until(lambda: draws.input_value() == "1000")
    panel.get_by_text("1 posterior stored").wait_for()
    panel.evaluate("e => e.scrollIntoView()")
    steady(page.screenshot)
    keep("prediction")
    assert cut(page) == []
    assert watch.errors == []
