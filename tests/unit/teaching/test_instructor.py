"""The instructor's page: a section for each lesson that has its minutes, and code that runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cases import for_each
from tests.source_trees import ROOT
from workbench.teaching import lesson
from workbench.teaching.registry import COURSE

PAGE = (ROOT / "notebooks" / "lessons" / "instructor.md").read_text("utf-8")


@for_each("number", COURSE)
def test_each_lesson_has_its_section(number: int) -> None:
    found = lesson(number)
    sections = re.split(r"^## ", PAGE, flags=re.M)
    (section,) = [text for text in sections if text.startswith(f"Lesson {number}: {found.title}\n")]
    minutes = [int(each) for each in re.findall(r"^\| (\d+) \|", section, re.M)]
    assert minutes == [part.minutes for part in found.parts]
    assert "*Usual misunderstandings*" in section
    assert "*Prepare:*" in section


def test_the_slides_are_written_as_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = next(
        code for code in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL) if "slides" in code
    )
    monkeypatch.chdir(tmp_path)
    exec(code, {})
    page = (tmp_path / "slides.html").read_text("utf-8")
    assert "A measured machine" in page
    assert not re.search(r"<(script|link)[^>]*(src|href)=[\"']https?:", page)
