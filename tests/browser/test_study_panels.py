"""The panels of studies as people use them: a click, a pin, a slider, a fit, all offline."""

from __future__ import annotations

import re
from typing import Any

from tests.browser.layout import cut
from tests.browser.panel import Keep, Show, Until, button, picture, saved

STUDY, REGIMES = "02-which-loss.ipynb", "03-message-regimes.ipynb"
SPLIT = re.compile("LogP up to .*, SNAPPR above it")


def click_place(page: Any, across: float, down: float) -> None:
    """Click into the heatmap, at shares of its width and height."""
    box = page.locator(".workbench-panel .bk-Figure").first.bounding_box()
    page.mouse.click(box["x"] + across * box["width"], box["y"] + down * box["height"])


def test_a_click_shows_the_fit_behind_it_and_a_pin_keeps_it(
    show: Show, page: Any, keep: Keep
) -> None:
    show(STUDY, "snappr on azure-hb96v3-hdr, rmsre over both")
    keep("opened")
    button(page, "Pin as A").click()
    page.get_by_text("A: snappr on azure-hb96v3-hdr, rmsre over both").wait_for()
    click_place(page, 0.8, 0.45)
    # The heatmap's columns are the machines of the study, in its order.
    other = re.compile(r"B: snappr on (?!azure-hb96v3-hdr,)(\S+), \w+ over both")
    told = page.get_by_text(other)
    told.wait_for()
    found = other.search(told.inner_text())
    assert found is not None
    machine = found[1]
    keep("pinned")
    page.get_by_label("Loss", exact=True).first.select_option("rmsre")
    page.get_by_text(f"B: snappr on {machine}, rmsre over both").wait_for()
    button(page, "Unpin").click()
    page.get_by_text(re.compile(f"^snappr on {machine}, ")).wait_for()
    assert cut(page) == []


def test_a_fit_of_ones_own_is_run_and_shown(show: Show, page: Any, keep: Keep) -> None:
    show(STUDY, "snappr on ")
    page.get_by_role("tab", name="Run your own").click()
    page.get_by_label("Model", exact=True).last.select_option("LogP")
    page.get_by_label("Trials").fill("40")
    page.keyboard.press("Tab")
    button(page, "▶ Start").click()
    page.get_by_text(re.compile(r"logp on \S+, rmsre over both, your own run")).wait_for()
    page.get_by_text("done: 40 of 40 trials").wait_for()
    keep("own")


def test_the_threshold_moves_with_the_arrow_keys(
    show: Show, page: Any, until: Until, keep: Keep
) -> None:
    show(REGIMES, SPLIT)
    figure = page.locator(".workbench-panel .bk-Figure").first
    before, sentence = picture(figure), page.get_by_text(SPLIT).inner_text()
    page.locator(".workbench-panel .noUi-handle").first.focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    until(lambda: page.get_by_text(SPLIT).first.inner_text() != sentence)
    until(lambda: picture(figure) != before)
    keep("moved")
    assert cut(page) == []
    button(page, "▶ Refit both halves here").click()
    page.get_by_text(re.compile(r"\d+ of 600 trials, both halves")).wait_for()
    button(page, "■ Stop").click()
    page.get_by_text("stopped").first.wait_for()


def test_files_are_saved_by_the_browser(show: Show, page: Any) -> None:
    show(REGIMES, SPLIT)
    page.get_by_role("tab", name="Export").click()
    for name, begins in (
        ("INI", b"#"),
        ("CSV", b"size_bytes,"),
        ("JSON", b"{"),
        ("PNG", b"\x89PNG"),
        ("SVG", b"<svg "),
    ):
        _, content = saved(page, button(page, name))
        assert content.lstrip()[: len(begins)] == begins, content[:40]
