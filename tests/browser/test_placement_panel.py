"""The placement panel as people use it: a click on a placement, a wire, a network, files."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

from tests.browser.layout import cut
from tests.browser.panel import (
    Keep,
    Steady,
    Until,
    button,
    figures,
    opened,
    saved,
    status,
    stderr_outputs,
)
from tests.browser.servers import Server, Watch

PLACEMENT = "06-where-to-place-ranks.ipynb"
HEADLINE = re.compile(r"\d+ ranks on .*(the fastest placement|every placement)")
READING = re.compile("With the placement by")
METHODS = ("block", "round-robin", "random", "volume", "metis", "algorithm-3", "search")


def settled(page: Any, until: Until) -> None:
    """Wait until nothing is being searched for."""
    stop = button(page, "■ Stop")
    until(lambda: stop.is_disabled() and "Still searching" not in status(page, HEADLINE))


def row(page: Any, method: str) -> tuple[float, float]:
    """Where the numbers of a method stand on the page."""
    box = figures(page)[0].bounding_box()
    # Title above, ticks and label below.
    top, height = box["y"] + 26, box["height"] - 26 - 56
    return box["x"] + 0.6 * box["width"], top + height * (METHODS.index(method) + 0.5) / len(
        METHODS
    )


def at_rest(server: Server, page: Any, until: Until, steady: Steady, anew: bool = True) -> Watch:
    """Open the panel, and wait until its search has ended."""
    return opened(
        server,
        page,
        steady,
        PLACEMENT,
        HEADLINE,
        READING,
        quiet=partial(settled, page, until),
        anew=anew,
    )


def test_a_click_on_a_placement_shows_its_pairs_and_its_hosts(
    server: Server, page: Any, until: Until, steady: Steady, keep: Keep
) -> None:
    watch = at_rest(server, page, until, steady)
    keep("opened")
    _, pairs, ranks = figures(page)
    before = pairs.screenshot(), ranks.screenshot()
    page.mouse.click(*row(page, "random"))
    until(lambda: "by random" in status(page, READING))
    until(lambda: pairs.screenshot() != before[0])
    until(lambda: ranks.screenshot() != before[1])
    keep("random")
    page.get_by_label("Show the placement by", exact=True).select_option("volume")
    until(lambda: "by volume" in status(page, READING))
    page.mouse.click(*row(page, "random"))
    until(lambda: "by random" in status(page, READING))
    assert cut(page) == []
    assert stderr_outputs(page) == 0
    assert watch.errors == []
    assert watch.outside == []


def test_files_are_saved_by_the_browser(
    server: Server, page: Any, until: Until, steady: Steady
) -> None:
    watch = at_rest(server, page, until, steady, anew=False)
    page.locator(".workbench-panel").get_by_role("tab", name="Export").click()
    expected = [b"method,T_ns", b"\x89PNG", b"source,destination", b"\x89PNG"]
    expected += [b"rank,host", b"{", b"\x89PNG"]
    panel = page.locator(".workbench-panel")
    buttons = panel.get_by_role("button", name=re.compile("^(CSV|JSON|PNG .*)$")).all()
    assert len(buttons) == len(expected)
    for one, begins in zip(buttons, expected, strict=True):
        _, content = saved(page, one)
        assert content.lstrip()[: len(begins)] == begins, content[:40]
    assert watch.errors == []
    assert watch.outside == []


def test_a_search_can_be_stopped(
    server: Server, page: Any, until: Until, steady: Steady, keep: Keep
) -> None:
    watch = at_rest(server, page, until, steady, anew=False)
    page.get_by_label("search tries", exact=True).fill("9000000")
    page.keyboard.press("Enter")
    until(lambda: "Still searching" in status(page, HEADLINE))
    keep("searching")
    button(page, "■ Stop").click()
    until(lambda: "Stopped." in status(page, HEADLINE))
    assert watch.errors == []


def test_another_network_and_a_longer_wire(
    server: Server, page: Any, until: Until, steady: Steady, keep: Keep
) -> None:
    watch = at_rest(server, page, until, steady, anew=False)
    before = status(page, HEADLINE)
    page.get_by_label("Network", exact=True).select_option("fat tree")
    until(lambda: "fat tree, k=4" in status(page, HEADLINE))
    settled(page, until)
    near = status(page, HEADLINE)
    assert near != before
    page.get_by_label("wire (ns)", exact=True).fill("900")
    page.keyboard.press("Enter")
    until(lambda: status(page, HEADLINE) != near)
    page.get_by_label("k: ports of a switch", exact=True).fill("2")
    page.keyboard.press("Enter")
    message = page.get_by_role("alert").filter(has_text="a place for each of 8 ranks")
    message.wait_for()
    keep("too-small")
    page.get_by_label("k: ports of a switch", exact=True).fill("6")
    page.keyboard.press("Enter")
    until(lambda: "fat tree, k=6" in status(page, HEADLINE))
    until(lambda: message.count() == 0 or not message.is_visible())
    # Any family; its map has fewer cells than the one before.
    page.get_by_label("Network", exact=True).select_option("torus")
    until(lambda: "torus 3x3" in status(page, HEADLINE))
    page.get_by_label("dims: routers along each dimension", exact=True).fill("3xthree")
    page.keyboard.press("Enter")
    page.get_by_role("alert").filter(has_text="must be a whole number").wait_for()
    assert "torus 3x3" in status(page, HEADLINE), "the last picture stays"
    assert watch.errors == []
