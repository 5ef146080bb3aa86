"""The tolerance panel as people use it: a pointer on the curve, an algorithm, a family, a file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.browser.layout import cut
from tests.browser.panel import Keep, Show, Steady, Until, button, saved, status, wait_until_still
from tests.browser.showing import settle

TOLERANCE = "05-latency-tolerance.ipynb"
AT = re.compile(r"^At L = .*(ends? last|ranks end)")
ANALYSED = re.compile(r"operations, analysed in")


def boxes(page: Any) -> list[dict[str, float]]:
    """The boxes of all figures, those to the left first, from the top down."""
    found = page.locator(".workbench-panel .bk-Figure")
    all_boxes = [found.nth(i).bounding_box() for i in range(found.count())]
    return sorted((b for b in all_boxes if b), key=lambda box: (round(box["x"], -1), box["y"]))


def point(page: Any, share: float) -> None:
    box = boxes(page)[0]
    page.mouse.move(box["x"] + 0.5 * box["width"], box["y"] + 0.5 * box["height"])
    page.mouse.move(box["x"] + share * box["width"], box["y"] + 0.6 * box["height"])


def test_the_critical_path_follows_the_pointer_until_a_click(
    show: Show, page: Any, until: Until, steady: Steady, keep: Keep
) -> None:
    show(TOLERANCE, AT)
    keep("opened")
    before = status(page, AT)
    point(page, 0.8)
    until(lambda: status(page, AT) != before)
    pointed, box = steady(lambda: status(page, AT)), boxes(page)[0]
    keep("pointed")
    page.mouse.click(box["x"] + 0.4 * box["width"], box["y"] + 0.6 * box["height"])
    follow = page.get_by_label("Follow the pointer; click to hold")
    until(lambda: not follow.is_checked())
    until(lambda: status(page, AT) != pointed)
    settle(page)  # what the way to the click has asked for
    held = steady(lambda: status(page, AT))
    point(page, 0.9)
    settle(page)
    assert status(page, AT) == held
    assert cut(page) == []


def test_files_are_saved_by_the_browser(show: Show, page: Any) -> None:
    show(TOLERANCE, AT)
    page.get_by_role("tab", name="Export").click()
    for name, begins in (
        ("CSV", b"program,from_ns"),
        ("JSON", b"{"),
        ("PNG curves", b"\x89PNG"),
        ("PNG diagram", b"\x89PNG"),
    ):
        _, content = saved(page, button(page, name))
        assert content[: len(begins)] == begins, content[:40]


@pytest.mark.deep
def test_a_program_is_kept_beside_another(
    show: Show, page: Any, until: Until, steady: Steady, keep: Keep
) -> None:
    show(TOLERANCE, AT)
    button(page, "+ Keep it").click()
    page.get_by_label("Program", exact=True).select_option("make: 2-D halo exchange")
    page.get_by_text(re.compile(r"Within 1 % .* tolerates the most")).wait_for()
    wait_until_still(page, steady)
    keep("beside")
    button(page, "✕ halo-8").click()
    page.get_by_text(re.compile(r"At L = .* the program takes")).wait_for()


@pytest.mark.deep
def test_the_zones_move_with_the_algorithm(
    show: Show, page: Any, until: Until, steady: Steady, keep: Keep
) -> None:
    # A new panel: the test before may have left one with a program that has no allreduce.
    show(TOLERANCE, AT, arguments='"halo-8"')
    before, count = status(page, ANALYSED), len(boxes(page))
    page.get_by_label("allreduce", exact=True).select_option("ring")
    until(lambda: status(page, ANALYSED) != before)
    button(page, "▸ More programs").click()
    page.get_by_label("Draw", exact=True).select_option("every algorithm of allreduce")
    page.get_by_text(re.compile(r"Within 1 % .* tolerates the most")).wait_for()
    until(lambda: len(boxes(page)) == count + 1)
    wait_until_still(page, steady)
    keep("every")


@pytest.mark.deep
def test_measured_run_times_and_bandwidth(
    show: Show, page: Any, steady: Steady, keep: Keep, tmp_path: Path
) -> None:
    runs = tmp_path / "runs.csv"
    runs.write_text("# origin: synthetic\nlatency_us,time_s\n0,0.0012\n20,0.0034\n40,0.006\n")
    show(TOLERANCE, AT)
    button(page, "▸ Measured run times").click()
    with page.expect_file_chooser() as chooser:
        button(page, "Measured run times").click()
    chooser.value.set_files(runs)
    page.get_by_text(re.compile("Predicted and synthetic run times differ by")).wait_for()
    wait_until_still(page, steady)
    keep("measured")
    button(page, "Bandwidth").click()
    page.get_by_text(re.compile(r"At G = .* the program takes")).wait_for()
    button(page, "Measured run times").wait_for(state="hidden")
    wait_until_still(page, steady)
    keep("bandwidth")
    assert cut(page) == []
