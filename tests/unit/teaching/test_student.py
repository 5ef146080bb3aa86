from __future__ import annotations

import pytest

from tests.cases import for_each
from workbench.errors import ParameterError
from workbench.teaching import ParameterDraw, student


def test_a_name_draws_the_same_on_every_machine_and_release() -> None:
    """Recorded once: a class must get its numbers again next year."""
    draw = ParameterDraw("Ada", "1.1")
    assert [draw.one_of(range(1000)) for _ in range(4)] == [282, 716, 78, 488]
    assert ParameterDraw("ada", "1.1").one_of(range(1000)) == 282
    assert ParameterDraw("Ada", "1.2").one_of(range(1000)) != 282


def test_without_a_name_the_first_options_are_drawn() -> None:
    draw = ParameterDraw("", "1.1")
    assert [draw.one_of("abc"), draw.one_of("xyz")] == ["a", "x"]
    assert draw.some_of("abcd", 3) == ("a", "b", "c")


def test_every_option_is_drawn_by_someone_and_none_twice() -> None:
    drawn = [ParameterDraw(f"student {n}", "1.1").some_of("abcde", 3) for n in range(100)]
    assert {first for first, *_ in drawn} == set("abcde")
    assert all(len(set(each)) == 3 for each in drawn)


def test_a_name_is_kept_and_the_environment_may_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert student(" Ada ").name == "Ada"
    assert student().name == "Ada"
    assert "parameters of Ada" in repr(student())
    assert "that everyone has" in repr(student(""))
    monkeypatch.setenv("WORKBENCH_STUDENT", "Grace")
    assert student().name == "", "a name that was taken off stays off"


@for_each("name", [3, "a\nb", "a" * 81])
def test_a_name_is_a_short_text_of_one_line(name: object) -> None:
    with pytest.raises(ParameterError, match="one line and at most 80 characters"):
        student(name)  # type: ignore[arg-type]
