"""A session that is saved in JupyterLab is opened in Voilà, as a file and as a link."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.browser.panel import Keep, Steady, Until, button, saved, slider, status
from tests.browser.servers import Server

NOTEBOOK = "01-fit-a-machine.ipynb"
SAID = re.compile("8 KiB message: .* simulated")
LINK = 'input[aria-label="link"]'


def said(page: Any) -> str:
    return status(page, SAID)


def choose_file(page: Any, file: Path) -> None:
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Open session").click()
    chooser.value.set_files(file)


@pytest.mark.deep
def test_a_state_saved_in_jupyterlab_is_opened_in_voila(
    lab: Server, voila: Server, page: Any, steady: Steady, until: Until, keep: Keep, tmp_path: Path
) -> None:
    lab_page = page.context.new_page()
    watch = lab.open(lab_page, NOTEBOOK)
    lab_page.get_by_text(SAID).first.wait_for()
    panel = lab_page.locator(".workbench-panel")
    first = said(lab_page)
    panel.get_by_label("Machine", exact=True).select_option(index=1)
    until(lambda: said(lab_page) != first)
    slider(lab_page, "injection latency").focus()
    for _ in range(12):
        lab_page.keyboard.press("ArrowRight")
    wanted = steady(lambda: said(lab_page))
    button(lab_page, "Save session").scroll_into_view_if_needed()
    name, content = saved(lab_page, button(lab_page, "Save session"))
    assert name == "FitPanel-session.json" and json.loads(content)["panel"] == "FitPanel"
    button(lab_page, "Copy link").click()
    link = lab_page.locator(LINK).input_value()
    served = lab_page.url.partition("/lab/")[0]
    assert link.startswith(f"{served}/voila/render/{NOTEBOOK}?session=")
    assert watch.errors == []
    # The keys undo the slider's move, as one step, and do it again.
    slider(lab_page, "injection latency").focus()
    lab_page.keyboard.press("Control+z")
    until(lambda: said(lab_page) != wanted)
    lab_page.keyboard.press("Control+Shift+z")
    until(lambda: said(lab_page) == wanted)
    lab_page.close()

    # All of the notebook: its further cells set the panel to other values.
    voila.open(page, NOTEBOOK, whole=True)
    page.get_by_text(SAID).first.wait_for()
    assert said(page) == first
    file = tmp_path / name
    file.write_bytes(content)
    broken = tmp_path / "broken.json"
    broken.write_bytes(content[:-9])
    choose_file(page, broken)
    page.get_by_role("alert").get_by_text("cut short").wait_for()
    assert said(page) == first
    choose_file(page, file)
    until(lambda: said(page) == wanted)
    keep("voila-file")

    query = link.partition("?")[2]
    page.goto(f"{voila.address}/voila/render/{NOTEBOOK}?{query}", wait_until="commit")
    page.get_by_text(SAID).first.wait_for()
    assert said(page) == wanted
    keep("voila-link")
    page.goto(f"{voila.address}/voila/render/{NOTEBOOK}?{query[:-20]}", wait_until="commit")
    page.get_by_role("alert").get_by_text("cut short").wait_for()
    assert said(page) == first
