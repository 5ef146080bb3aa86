"""The comparison of topologies as people use it: traffic, a slider, a mistake, files."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.browser.layout import cut
from tests.browser.panel import Keep, Show, Steady, Until, figures, picture, saved, status
from tests.browser.showing import settle

COMPARE = "07-compare-topologies.ipynb"
HEADLINE = re.compile("carr(y|ies)")
# The four that it opens with have a thousand hosts each, which tests/unit and tests/notebooks draw.
SMALL = '["fat-tree:4", "dragonfly:a=4,p=2,h=2", "torus:4x4", "slim-fly:5"], simulate=False'


def at_rest(show: Show, page: Any, arguments: str = SMALL) -> None:
    """Show the panel, and wait until its topologies are compared."""
    show(COMPARE, HEADLINE, arguments=arguments, quiet=lambda: settle(page))


def test_traffic_and_load_colour_the_links(show: Show, page: Any, until: Until, keep: Keep) -> None:
    at_rest(show, page)
    keep("opened")
    assert cut(page) == []
    assert "uniform load" in status(page, HEADLINE)
    dragonfly = figures(page)[1]
    before = picture(dragonfly)
    page.get_by_label("Traffic", exact=True).select_option(
        label="adversarial: each group to the next"
    )
    until(lambda: "adversarial load" in status(page, HEADLINE))
    until(lambda: picture(dragonfly) != before)
    settle(page)
    keep("adversarial")
    before = picture(dragonfly)
    page.locator(".workbench-panel .noUi-handle").first.focus()
    for _ in range(10):
        page.keyboard.press("ArrowLeft")
    page.get_by_text("sends 20 % of").wait_for()
    until(lambda: picture(dragonfly) != before)
    page.get_by_label("Colour by", exact=True).select_option(label="class")
    page.get_by_text("inter-group").first.wait_for()
    keep("classes")


def test_files_are_saved_by_the_browser(show: Show, page: Any) -> None:
    at_rest(show, page)
    panel = page.locator(".workbench-panel")
    panel.get_by_role("tab", name="Export").click()
    expected = [b",fat tree 4", b"<!DOCTYPE html>", b"<?xml", b"\x89PNG", b"\x89PNG"]
    buttons = panel.get_by_role("button", name=re.compile("^(CSV|HTML|GRAPHML|PNG .*)$")).all()
    assert len(buttons) == len(expected)
    for one, begins in zip(buttons, expected, strict=True):
        _, content = saved(page, one)
        assert begins in content.lstrip()[:200], content[:60]


def test_another_size_a_mistake_and_a_match(
    show: Show, page: Any, until: Until, keep: Keep
) -> None:
    at_rest(show, page)
    field = page.locator(".workbench-panel input[type=text]:not([placeholder*=path])").first
    field.fill("15")
    page.keyboard.press("Enter")
    page.get_by_role("alert").filter(has_text="take 14 or 16").wait_for()
    keep("mistake")
    field.fill("8")
    page.keyboard.press("Enter")
    page.get_by_text("128 hosts, 80 routers, 256 links").wait_for()
    page.get_by_label("Match on", exact=True).select_option(label="hosts")
    until(lambda: page.get_by_text(re.compile("^1[0-9]{2} hosts, ")).count() == 4)
    keep("matched")
    assert cut(page) == []


@pytest.mark.deep
def test_simulations_fill_in(
    show: Show, page: Any, until: Until, steady: Steady, keep: Keep
) -> None:
    show(COMPARE, HEADLINE)
    page.get_by_label("Match on", exact=True).select_option(label="hosts")
    amount = page.get_by_label("number of hosts", exact=True)
    amount.fill("64")
    page.keyboard.press("Enter")
    page.get_by_text("Simulated,").first.wait_for()
    keep("simulated")
    page.get_by_label("Routing", exact=True).select_option(label="UGAL-L: adaptive, by own queues")
    page.get_by_text("minimal routing, not UGAL-L").wait_for()
    page.get_by_label("Model", exact=True).select_option(label="packets: SNAPPR, with credits")
    page.get_by_text("minimal routing, not UGAL-L").wait_for(state="detached")
    stops = page.get_by_title("Stop the simulations and keep the results so far")
    # Playwright's own click would wait for a button that is disabled because they have just ended.
    stops.evaluate("e => e.click()")
    until(stops.is_disabled)
