"""The form for an answer checks what was typed, as a cell with ``check`` does."""

from __future__ import annotations

from pathlib import Path

import pytest
from IPython.core.interactiveshell import InteractiveShell

from workbench.panels import answer_form
from workbench.panels.answer_form import AnswerForm, offer_answer_forms
from workbench.teaching import InOrder, OneOf, check, lesson, progress, student
from workbench.teaching.exercise import Exercise
from workbench.teaching.registry import COURSE


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("WORKBENCH_PROGRESS", raising=False)
    student("")


def an_exercise(*kinds: type) -> Exercise:
    """Return the course's first exercise whose answer is of one of some kinds."""
    each = (one for number in COURSE for one in lesson(number).exercises)
    return next(one for one in each if isinstance(one.kind, kinds))


def typed(exercise: Exercise) -> str:
    """Return the right answer as a student types it."""
    right = exercise.solve(exercise.drawn())
    return ", ".join(right) if isinstance(exercise.kind, InOrder) else str(right)


@pytest.mark.parametrize("number", ["1.1", an_exercise(OneOf).number, an_exercise(InOrder).number])
def test_what_is_typed_is_judged_as_in_a_cell(number: str) -> None:
    exercise = next(one for one in lesson(int(number[0])).exercises if one.number == number)
    form = AnswerForm(number)
    form.answer = typed(exercise)
    assert form.check().right
    assert "Right." in form._said.value


def test_a_wrong_amount_gets_the_hint_of_its_mistake() -> None:
    form = AnswerForm("1.1")
    form.answer = "632"
    found = form.check()
    assert found.verdict == "hint"
    assert found == check("1.1", 632)


def test_an_empty_field_is_told_what_is_wanted_and_counts_as_no_try() -> None:
    form = AnswerForm("1.1")
    assert form.answer is ...
    form._button.click()
    assert "The answer is a number in µs." in form._said.value
    assert "1.1" not in repr(progress())


def test_leaving_the_field_for_the_button_is_one_try() -> None:
    form = AnswerForm("1.1")
    form.answer = "632"  # as the page sends it when the field is left
    form._button.click()
    tries = progress().to_frame().set_index("exercise")["tries"]
    assert tries["1.1"] == 1


def test_words_where_a_number_belongs_are_no_answer() -> None:
    form = AnswerForm("1.1")
    form.answer = "three"
    assert form.check().verdict == "unreadable"


def test_it_takes_the_place_of_the_sentence_where_forms_are_offered() -> None:
    shell = InteractiveShell.instance()
    try:
        formatter = shell.display_formatter
        assert (
            "application/vnd.jupyter.widget-view+json" not in formatter.format(check("1.1", ...))[0]
        )
        offer_answer_forms()
        assert "application/vnd.jupyter.widget-view+json" in formatter.format(check("1.1", ...))[0]
        assert "text/html" in formatter.format(check("1.1", 632))[0]
    finally:
        InteractiveShell.clear_instance()


def test_a_decimal_comma_is_read_and_one_of_thousands_is_not() -> None:
    form = AnswerForm("1.1")
    form.answer = "1,58"
    assert form.check().right
    form.answer = "1,580"
    assert form.check().verdict == "unreadable"


def test_what_shows_the_answer_is_hidden_until_a_try_and_the_progress_grows() -> None:
    shell = InteractiveShell.instance()
    try:
        offer_answer_forms()
        form = AnswerForm("1.1")
        shell.display_formatter.format(progress())
        form.answer = "three"
        form.check()
        assert ".celltag_after-1-1 .jp-Cell-outputWrapper" in form._hiding.value
        assert "no exercise" in answer_form._tables[-1].value
        form.answer = "632"
        form.check()
        assert form._hiding.value == ""
        assert "0 of 7 exercises right" in answer_form._tables[-1].value
    finally:
        InteractiveShell.clear_instance()
