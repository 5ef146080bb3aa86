"""The panels of variability as people use them: a user left out, a step, a table of one's own."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from tests.browser.layout import cut
from tests.browser.panel import Keep, Show, Until, button, slider, status

BLAME, FORECAST = "11-who-slowed-my-job.ipynb", "12-forecast-the-next-steps.ipynb"
TOOK = re.compile("took .* the mean of")
AFTER = re.compile("^After .* steps of")


def test_a_user_is_left_out_and_the_step_moves(
    show: Show, page: Any, until: Until, keep: Keep
) -> None:
    show(BLAME, TOOK, arguments="runs=12")
    panel = page.locator(".workbench-panel").first
    panel.get_by_label("Without", exact=True).select_option(index=1)
    until(lambda: "; without user-" in status(page, TOOK))
    said = status(page, TOOK)
    slider(page, "Step").focus()
    page.keyboard.press("ArrowLeft")
    until(lambda: status(page, TOOK) != said)
    keep("without")
    assert cut(page) == []
    button(page, "Your tables").click()
    panel.get_by_text("Upload a table of runs").wait_for()


def test_the_next_steps_of_a_table_are_forecast(
    show: Show, page: Any, until: Until, keep: Keep, tmp_path: Path
) -> None:
    show(FORECAST, AFTER)
    panel = page.locator(".workbench-panel").first
    button(page, "■ Stop").click()
    said = status(page, AFTER)
    assert "run r049" in said
    slider(page, "Steps passed").focus()
    page.keyboard.press("ArrowRight")
    until(lambda: status(page, AFTER) != said)
    keep("forecast")
    assert cut(page) == []
    table = tmp_path / "steps.csv"
    rows = [f"r{run},{step},{1 + run / 10 + step % 3},7" for run in range(8) for step in range(12)]
    table.write_text("\n".join(["run,iteration,what,RT_RB_STL", *rows]))
    button(page, "Your tables").click()
    with page.expect_file_chooser() as chooser:
        panel.get_by_role("button", name=re.compile("Upload steps")).click()
    chooser.value.set_files(table)
    panel.get_by_text("choose above which column is time_s").wait_for()
    panel.get_by_label("time_s", exact=True).select_option(label="what")
    until(lambda: "run r7" in status(page, AFTER))
    keep("own")
