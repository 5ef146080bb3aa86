"""A lesson in JupyterLab as a student has it: a wrong answer, a right one, a word looked up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.browser.servers import Server

LESSON = "lessons/1-what-a-message-costs.ipynb"
_BELOW_ANSWER = """() => {
  const {content} = window.jupyterapp.shell.currentWidget
  const sources = content.widgets.map(cell => cell.model.sharedModel.source)
  content.activeCellIndex = sources.findIndex(source => source.startsWith('answer = '))
  content.scrollToItem(content.activeCellIndex, 'center')
}"""


def answer(page: Any, text: str, reply: str) -> None:
    """Type an answer into the first cell for one, run it, and wait for the reply."""
    page.evaluate(_BELOW_ANSWER)
    cell = page.locator(".jp-Notebook-cell.jp-mod-active")
    cell.locator(".cm-content").click()
    page.keyboard.press("Control+Home")
    page.keyboard.press("Shift+End")
    page.keyboard.type(f"answer = {text}")
    page.keyboard.press("Shift+Enter")
    page.get_by_text(reply).first.wait_for()


@pytest.mark.deep
def test_a_student_answers_and_looks_up_a_word(
    lab: Server, page: Any, keep: Callable[[str], None]
) -> None:
    watch = lab.open(page, LESSON)
    answer(page, "3.16", "a message went there and came back")
    keep("wrong")
    answer(page, "632 / 400", "the clocks of two nodes differ")
    page.locator("a[href*='cell-id=rendezvous']").first.scroll_into_view_if_needed()
    page.locator("a[href*='cell-id=rendezvous']").first.click()
    heading = page.locator("h2", has_text="rendezvous").first
    heading.wait_for()
    page.wait_for_function(
        "e => e.getBoundingClientRect().top > 0 && e.getBoundingClientRect().top < innerHeight",
        arg=heading.element_handle(),
    )
    keep("glossary")
    assert watch.errors == []
    assert watch.outside == []


@pytest.mark.deep
def test_voila_opens_the_glossary_at_a_word(
    voila: Server, page: Any, keep: Callable[[str], None]
) -> None:
    page.goto(f"{voila.address}/voila/render/glossary.ipynb#cell-id=rendezvous")
    page.wait_for_function(
        "() => Math.abs(document.getElementById('rendezvous')?.getBoundingClientRect().top) < 100"
    )
    keep("glossary-voila")
