"""The replay panel as people use it: a slider, an algorithm, a pin, a zoom, a file, all offline."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.browser.layout import cut
from tests.browser.panel import (
    Keep,
    Show,
    Steady,
    Until,
    button,
    picture,
    saved,
    slider,
    status,
    wait_until_still,
)
from tests.goal_programs import CROSSED

REPLAY = "04-replay-a-program.ipynb"
HEADLINE = re.compile(r"until the last of \d+ ranks ends")


def diagram(page: Any) -> Any:
    return page.locator(".workbench-panel .bk-Figure").first


# First and last time on the diagram, and the end of all, ns.
WINDOW = """() => {
  const here = window.Bokeh.index.roots.filter(view => view.el.isConnected)
  const {x_range} = here.find(({model}) => model.title?.text.startsWith('Space')).model
  return [x_range.start, x_range.end, x_range.reset_end]
}"""


def zoom(page: Any) -> tuple[float, float]:
    """Zoom into the diagram with the wheel, and return where the pointer is."""
    box = diagram(page).bounding_box()
    middle = box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"]
    page.mouse.move(*middle)
    # Without Ctrl the wheel goes on scrolling the page.
    page.keyboard.down("Control")
    page.mouse.wheel(0, -800)
    page.keyboard.up("Control")
    return middle


def test_a_key_press_redraws_the_diagram(show: Show, page: Any, until: Until, keep: Keep) -> None:
    show(REPLAY, HEADLINE)
    keep("opened")
    before, sentence = picture(diagram(page)), status(page, HEADLINE)
    slider(page, "L  latency").focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    until(lambda: status(page, HEADLINE) != sentence)
    until(lambda: picture(diagram(page)) != before)
    keep("moved")
    assert cut(page) == []


def test_files_are_saved_by_the_browser(show: Show, page: Any) -> None:
    show(REPLAY, HEADLINE)
    page.get_by_role("tab", name="Export").click()
    for name, begins in (
        ("CSV", b"op,rank"),
        ("JSON", b"{"),
        ("GOAL", b"num_ranks 8"),
        ("PNG diagram", b"\x89PNG"),
        ("PNG breakdown", b"\x89PNG"),
    ):
        _, content = saved(page, button(page, name))
        assert content.lstrip()[: len(begins)] == begins, content[:40]


def test_a_zoom_is_drawn_in_detail_and_a_reset_goes_back(
    show: Show, page: Any, until: Until, steady: Steady, keep: Keep
) -> None:
    show(REPLAY, HEADLINE)
    before = picture(diagram(page))
    middle = zoom(page)
    until(lambda: picture(diagram(page)) != before)
    wait_until_still(page, steady)
    keep("zoomed")
    page.mouse.dblclick(*middle)

    def shows_all() -> bool:
        start, end, whole = page.evaluate(WINDOW)
        return bool((start, end) == (0, whole))

    until(shows_all)


@pytest.mark.deep
def test_the_diagram_shows_all_after_fast_moves_of_a_slider_and_a_zoom_stays(
    show: Show, page: Any, until: Until, steady: Steady, keep: Keep
) -> None:
    """What the page tells of the replay before is no zoom, however fast the next one comes."""
    show(REPLAY, HEADLINE)

    def settled() -> tuple[float, float, float]:
        """Wait until the page shows what Python has, and has had the time to tell of it."""
        page.wait_for_timeout(200)
        return tuple(steady(lambda: page.evaluate(WINDOW), 0.6))  # type: ignore[return-value]

    def is_whole() -> bool:
        start, end, whole = settled()
        ends = {"s": 1e9, "ms": 1e6, "µs": 1e3, "ns": 1}
        number, unit = status(page, HEADLINE).split()[:2]
        told = pytest.approx(float(number) * ends[unit], rel=6e-3)
        return (start, end) == (0, whole) and whole == told

    def shows_all() -> None:
        # A busy machine still replays what the last moves asked for; a frozen range stays wrong.
        until(is_whole)

    handle = slider(page, "L  latency")
    handle.focus()
    for key in ("ArrowRight", "ArrowLeft"):
        for _ in range(30):
            page.keyboard.press(key, delay=10)
        shows_all()
    box = handle.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    for step in range(30):
        page.mouse.move(x + 2 * step, y)
        page.wait_for_timeout(20)
    page.mouse.up()
    shows_all()
    keep("dragged")

    middle = zoom(page)
    start, end, whole = settled()
    assert 0 < start < end < whole
    handle.focus()
    page.keyboard.press("ArrowRight")
    until(lambda: page.evaluate(WINDOW)[2] > whole)
    assert settled()[:2] == (start, end)
    page.mouse.dblclick(*middle)
    shows_all()


@pytest.mark.deep
def test_two_settings_stand_side_by_side(
    show: Show, page: Any, until: Until, steady: Steady, keep: Keep
) -> None:
    show(REPLAY, HEADLINE)
    button(page, "Pin as A").click()
    until(button(page, "Unpin").is_enabled)
    page.get_by_label("Machine", exact=True).select_option("alps-gh200-slingshot11")
    page.get_by_text(re.compile(r"B takes [\d.]+ × A's time")).wait_for()
    until(lambda: page.locator(".workbench-panel .bk-Figure").count() >= 3)
    wait_until_still(page, steady)
    keep("pinned")
    button(page, "Unpin").click()
    until(lambda: page.get_by_text(re.compile("A's time")).count() == 0)


def test_a_deadlock_is_reported_and_the_last_figures_stay(
    show: Show, page: Any, keep: Keep
) -> None:
    show(REPLAY, HEADLINE)
    before = status(page, HEADLINE)
    # More than a message to a Jupyter server may have.
    content = CROSSED.encode() + b"//" + b"-" * (11 << 20)
    files = {"name": "crossed.goal", "mimeType": "text/plain", "buffer": content}
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Upload GOAL or trace").click()
    chooser.value.set_files([files])
    message = page.get_by_role("alert").filter(has_text="send 100000 B to 1")
    message.wait_for()
    keep("deadlock")
    assert status(page, HEADLINE) == before
    row = page.locator(".widget-hbox", has=page.get_by_text("S  eager up to", exact=True)).last
    row.locator("input[type=text]").fill("all")
    page.keyboard.press("Enter")
    page.get_by_text(re.compile("until the last of 2 ranks ends")).wait_for()
    message.wait_for(state="hidden")


LATE = """num_ranks 2
rank 0 {
a: calc 1000000
b: send 8b to 1
b requires a
}
rank 1 {
recv 8b from 0
}
"""


@pytest.mark.deep
def test_grey_says_who_is_waited_for_and_why(show: Show, page: Any) -> None:
    show(REPLAY, HEADLINE)
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Upload GOAL or trace").click()
    late = {"name": "late.goal", "mimeType": "text/plain", "buffer": LATE.encode()}
    chooser.value.set_files([late])
    page.get_by_text("rank 0 before send 1").wait_for()
    canvas = diagram(page).locator(".bk-CartesianFrame, canvas").first.bounding_box()
    page.mouse.move(canvas["x"] + canvas["width"] / 2, canvas["y"] + canvas["height"] * 0.62)
    page.get_by_text("for rank 0: 1 ms until it sends").wait_for()
    page.get_by_text("mostly caused by rank 0 before send 1").wait_for()
