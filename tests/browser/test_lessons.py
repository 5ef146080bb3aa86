"""A lesson in JupyterLab as a student has it: a wrong answer, a right one, a word looked up."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.browser.servers import ROOT, Server
from tests.browser.test_workshop import render, running

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


@contextlib.contextmanager
def busy_processors() -> Iterator[None]:
    """Let two processes compute as fast as they can."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def questions(lesson: str) -> int:
    """Return the number of exercises of a lesson, each of which has a form on a page of Voilà."""
    cells = json.loads((ROOT / "notebooks" / f"{lesson}.ipynb").read_text("utf-8"))["cells"]
    asked = [cell for cell in cells if "solution" not in cell["metadata"].get("tags", [])]
    return sum("check(" in "".join(c["source"]) for c in asked if c["cell_type"] == "code")


@pytest.mark.deep
@pytest.mark.timeout(0)
@pytest.mark.parametrize(
    ("lesson", "times"), [("lessons/1-what-a-message-costs", 50), ("lessons/4-which-network", 10)]
)
def test_a_page_of_a_class_shows_all_its_forms_on_a_busy_machine(
    lesson: str, times: int, page: Any, until: Callable[..., float]
) -> None:
    wanted = questions(lesson)
    forms = page.get_by_role("button", name="Check", exact=True)
    assert wanted >= 6
    with running(ROOT / "notebooks") as server, busy_processors():
        page.goto(f"{server.address}/?token={server.token}")
        for _ in range(times):
            page.goto(render(server, lesson))
            until(lambda: forms.count() == wanted)
        page.goto("about:blank")
