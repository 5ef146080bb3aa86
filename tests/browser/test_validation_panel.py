"""Programs that ran, as people look at them: another recording, latency as set, a saved file."""

from __future__ import annotations

import re
from typing import Any

from tests.browser.layout import cut
from tests.browser.panel import Keep, Show, Steady, Until, button, saved, status, wait_until_still

READ = re.compile(r"run times differ by")


def test_a_recording_is_chosen_and_saved(
    show: Show, page: Any, until: Until, steady: Steady, keep: Keep
) -> None:
    show("13-against-reality.ipynb", READ, re.compile("root mean square"))
    panel = page.locator(".workbench-panel").first
    before = status(page, READ)
    panel.get_by_role("button", name="as set", exact=True).click()
    until(lambda: status(page, READ) != before)
    as_set = status(page, READ)
    panel.get_by_label("Recording", exact=True).select_option(index=1)
    until(lambda: status(page, READ) != as_set)
    wait_until_still(page, steady)
    keep("chosen")
    assert panel.locator(".bk-Figure:visible").count() == 3
    assert button(page, "▶ Measure here").is_enabled()
    panel.get_by_role("tab", name="Export").click()
    name, content = saved(page, button(page, "CSV"))
    assert name.endswith("-validation.csv")
    assert b"latency_us,time_s" in content
    assert cut(page) == []
