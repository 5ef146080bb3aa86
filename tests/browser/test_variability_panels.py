"""The panels of variability as people use them: a user left out, a step, a forecast."""

from __future__ import annotations

import re
from typing import Any

from tests.browser.layout import cut
from tests.browser.panel import Keep, Show, Until, button, slider, status
from tests.browser.showing import stop

BLAME, FORECAST = "11-who-slowed-my-job.ipynb", "12-forecast-the-next-steps.ipynb"
TOOK = re.compile("took .* the mean of")
AFTER = re.compile("^After .* steps of")


def test_a_user_is_left_out_and_the_step_moves(
    show: Show, page: Any, until: Until, keep: Keep
) -> None:
    # The causes, which take longer than all else here, are not waited for.
    options = {"arguments": 'application="umt-128", runs=10'}
    show(BLAME, TOOK, **options, quiet=lambda: stop(page))
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


def test_the_next_steps_are_forecast(show: Show, page: Any, until: Until, keep: Keep) -> None:
    # The other models, which take longer than all else here, are not waited for.
    show(FORECAST, AFTER, quiet=lambda: stop(page))
    panel = page.locator(".workbench-panel").first
    said = status(page, AFTER)
    assert "run r049" in said
    slider(page, "Steps passed").focus()
    page.keyboard.press("ArrowRight")
    until(lambda: status(page, AFTER) != said)
    keep("forecast")
    assert cut(page) == []
    button(page, "Your tables").click()
    panel.get_by_role("button", name=re.compile("Upload steps")).wait_for()
