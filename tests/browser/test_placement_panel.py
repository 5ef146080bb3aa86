"""The placement panel as people use it: a click on a placement, a wire, a network, files."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.browser.layout import cut
from tests.browser.panel import Keep, Show, Until, button, figures, picture, saved, status
from tests.browser.showing import settle

PLACEMENT = "06-where-to-place-ranks.ipynb"
HEADLINE = re.compile(r"\d+ ranks on .*(the fastest placement|every placement)")
READING = re.compile("With the placement by")
METHODS = ("block", "round-robin", "random", "volume", "metis", "algorithm-3", "search")


def row(page: Any, method: str) -> tuple[float, float]:
    """Return where the numbers of a method stand on the page."""
    figure = figures(page)[0]
    figure.scroll_into_view_if_needed()
    box = figure.bounding_box()
    # Title above, ticks and label below.
    top, height = box["y"] + 26, box["height"] - 26 - 56
    return box["x"] + 0.6 * box["width"], top + height * (METHODS.index(method) + 0.5) / len(
        METHODS
    )


def at_rest(show: Show, page: Any) -> None:
    """Show the panel, and wait until its search has ended."""
    show(PLACEMENT, HEADLINE, READING, quiet=lambda: settle(page))


def test_a_click_on_a_placement_shows_its_pairs_and_its_hosts(
    show: Show, page: Any, until: Until, keep: Keep
) -> None:
    at_rest(show, page)
    keep("opened")
    _, pairs, ranks = figures(page)
    before = picture(pairs), picture(ranks)
    page.mouse.click(*row(page, "random"))
    until(lambda: "by random" in status(page, READING))
    until(lambda: picture(pairs) != before[0])
    ranks.scroll_into_view_if_needed()  # out of sight it is not drawn
    until(lambda: picture(ranks) != before[1])
    keep("random")
    page.get_by_label("Show the placement by", exact=True).select_option("volume")
    until(lambda: "by volume" in status(page, READING))
    page.mouse.click(*row(page, "random"))
    until(lambda: "by random" in status(page, READING))
    assert cut(page) == []


def test_files_are_saved_by_the_browser(show: Show, page: Any) -> None:
    at_rest(show, page)
    page.locator(".workbench-panel").get_by_role("tab", name="Export").click()
    expected = [b"method,T_ns", b"\x89PNG", b"source,destination", b"\x89PNG"]
    expected += [b"rank,host", b"{", b"\x89PNG"]
    panel = page.locator(".workbench-panel")
    buttons = panel.get_by_role("button", name=re.compile("^(CSV|JSON|PNG .*)$")).all()
    assert len(buttons) == len(expected)
    for one, begins in zip(buttons, expected, strict=True):
        _, content = saved(page, one)
        assert content.lstrip()[: len(begins)] == begins, content[:40]


def test_a_mistake_stands_beside_its_control(
    show: Show, page: Any, until: Until, keep: Keep
) -> None:
    at_rest(show, page)
    before = status(page, HEADLINE)
    page.get_by_label("wire (ns)", exact=True).fill("900")
    page.keyboard.press("Enter")
    until(lambda: status(page, HEADLINE) != before)
    page.get_by_label("Network", exact=True).select_option("torus")
    until(lambda: "torus " in status(page, HEADLINE))
    until(lambda: "Still searching" not in status(page, HEADLINE))
    drawn = status(page, HEADLINE)
    page.get_by_label("dims: routers along each dimension", exact=True).fill("3xthree")
    page.keyboard.press("Enter")
    page.get_by_role("alert").filter(has_text="must be a whole number").wait_for()
    keep("mistake")
    assert status(page, HEADLINE) == drawn, "the last picture stays"


@pytest.mark.deep
def test_a_search_can_be_stopped(show: Show, page: Any, until: Until, keep: Keep) -> None:
    at_rest(show, page)
    page.get_by_label("search tries", exact=True).fill("9000000")
    page.keyboard.press("Enter")
    until(lambda: "Still searching" in status(page, HEADLINE))
    keep("searching")
    button(page, "■ Stop").click()
    until(lambda: "Stopped." in status(page, HEADLINE))
