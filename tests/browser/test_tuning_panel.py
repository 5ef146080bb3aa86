"""Tuning as people do it: another heuristic, a mistake, going on, comparing, files."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.browser.layout import cut
from tests.browser.panel import Keep, Show, Steady, Until, button, picture, saved, wait_until_still

TUNE = "08-tune-a-component.ipynb"
SPENT = re.compile("budget of [0-9]+ runs is spent")


def headline(page: Any) -> str:
    return str(page.locator(".workbench-panel [role=status]").first.inner_text())


def test_another_heuristic_is_compared(
    show: Show, page: Any, until: Until, steady: Steady, keep: Keep
) -> None:
    show(TUNE, SPENT)
    keep("opened")
    assert cut(page) == []
    assert "better than the default" in headline(page)
    panel = page.locator(".workbench-panel")
    drawn = panel.locator(".bk-Figure").first
    before = picture(drawn)
    panel.get_by_label("Heuristic", exact=True).select_option(label="random")
    button(page, "▶ Start").click()
    until(lambda: picture(drawn) != before)
    panel.get_by_role("tab", name="Compare").click()
    page.get_by_text("Of 2 experiments").wait_for()
    panel.get_by_label("Over", exact=True).select_option(label="time of the runs")
    wait_until_still(page, steady)
    keep("over-time")


def test_files_are_saved_by_the_browser(show: Show, page: Any) -> None:
    show(TUNE, SPENT)
    panel = page.locator(".workbench-panel")
    panel.get_by_role("tab", name="Export").click()
    expected = [b"number,", b"workbench TuningResult", b"\x89PNG", b"\x89PNG"]
    buttons = panel.get_by_role("button", name=re.compile("^(CSV|JSON|PNG .*)$")).all()
    assert len(buttons) == len(expected)
    for one, begins in zip(buttons, expected, strict=True):
        _, content = saved(page, one)
        assert begins in content[:200], content[:60]


def test_a_mistake_and_going_on(show: Show, page: Any, until: Until, keep: Keep) -> None:
    show(TUNE, SPENT)
    panel = page.locator(".workbench-panel")
    field = panel.locator("input[placeholder^='runs=']")
    field.fill("runs=0")
    page.keyboard.press("Enter")
    page.get_by_role("alert").filter(has_text="runs must be").wait_for()
    keep("mistake")
    field.fill("runs=2")
    page.keyboard.press("Enter")
    until(lambda: page.get_by_role("alert").filter(visible=True).count() == 0)
    button(page, "Resume").click()
    page.get_by_role("alert").filter(has_text="raise the budget").wait_for()
    panel.get_by_label("Budget (runs)", exact=True).fill("70")
    page.keyboard.press("Enter")
    button(page, "Resume").click()
    page.get_by_text("budget of 70 runs is spent").first.wait_for()
    panel.get_by_role("tab", name="Parameters").click()
    page.get_by_text("76 configurations").last.wait_for()
    keep("parameters")


@pytest.mark.deep
def test_a_program_runs_here(
    show: Show, page: Any, until: Until, steady: Steady, keep: Keep
) -> None:
    show(TUNE, SPENT)
    panel = page.locator(".workbench-panel")
    panel.get_by_label("Tune", exact=True).select_option(label="run here: sort")
    page.get_by_text("3 parameters, 90 configurations").first.wait_for()
    values = panel.get_by_label("Values", exact=True)
    values.fill("cutoff=8,many")
    page.keyboard.press("Enter")
    page.get_by_role("alert").filter(has_text="cutoff must").wait_for()
    keep("values")
    values.fill("cutoff=8,16 heap=false")
    page.keyboard.press("Enter")
    page.get_by_text("3 parameters, 10 configurations").first.wait_for()
    runner, nodes, words = (
        panel.get_by_label(n, exact=True) for n in ("Run by", "Nodes", "Options of srun")
    )
    runner.select_option(label="Slurm jobs")
    nodes.wait_for()
    assert not words.is_visible()
    keep("slurm")
    runner.select_option(label="steps of a Slurm allocation")
    words.wait_for()
    nodes.fill("none")
    page.keyboard.press("Enter")
    page.get_by_role("alert").filter(has_text="nodes must be a whole number").wait_for()
    keep("steps")
    nodes.fill("")
    page.keyboard.press("Enter")
    runner.select_option(label="processes here")
    words.wait_for(state="hidden")
    panel.get_by_label("Budget (runs)", exact=True).fill("1000")
    page.keyboard.press("Enter")
    button(page, "▶ Start").click()
    page.get_by_text(re.compile("^1[0-9] of 1000 runs")).first.wait_for()
    keep("running")
    button(page, "■ Stop").click()
    page.get_by_text("Resume continues").first.wait_for()
    panel.get_by_role("tab", name="Runs").click()
    page.get_by_text(re.compile("sorted [0-9]+|in [0-9.]+ ms")).first.wait_for()
    page.mouse.wheel(0, 400)
    wait_until_still(page, steady)
    keep("stopped")
