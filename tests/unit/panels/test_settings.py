from __future__ import annotations

from typing import Any

import pytest

from workbench.errors import ParameterError
from workbench.panels import inputs
from workbench.panels.layout import Fold
from workbench.panels.session.stateful import Stateful
from workbench.panels.settings import Setting, Written
from workbench.panels.visible import visible_widgets


class Sized(Stateful):
    """A list, a number of its own that a session holds in other units, and a choice of a result."""

    def __init__(self) -> None:
        super().__init__()
        self.list: Any = inputs.Dropdown(options=[("small", 1), ("large", 9)])
        self.seconds, self.row = 0.5, 3

    def _all_settings(self) -> dict[str, Setting]:
        return {
            "size": Setting(self.list),
            "wait_ms": Setting(
                get=lambda: 1000 * self.seconds,
                take=lambda ms: setattr(self, "seconds", ms / 1000),
                save=lambda: self.seconds,
                restore=lambda seconds: setattr(self, "seconds", seconds),
            ),
            "row": Setting(
                get=lambda: self.row,
                take=lambda row: setattr(self, "row", row),
                session="after jobs",
                attribute=False,
            ),
            "shown": Setting(get=lambda: True, session="no"),
        }


def test_a_setting_is_the_value_of_its_control_or_what_its_functions_say() -> None:
    one = Sized()
    assert one._setting_names() == ("size", "wait_ms", "shown")
    one._set("size", 9)
    one._set("wait_ms", 250)
    assert (one._get("size"), one.list.value) == (9, 9)
    assert (one._get("wait_ms"), one.seconds) == (250, 0.25)
    with pytest.raises(ParameterError, match=r"2 is not a known size; known are 1, 9") as refused:
        one._set("size", 2)
    assert (refused.value.key, one.list.value) == ("size", 9)


def test_a_session_holds_what_is_saved_and_sets_what_chooses_among_results_last() -> None:
    one, other = Sized(), Sized()
    one.seconds, one.row, one.list.value = 2.0, 7, 9
    session = one._session()
    assert session.settings == {"size": 9, "wait_ms": 2.0, "row": 7}
    assert other._load(session) == ()
    assert (other.seconds, other.list.value, other.row) == (2.0, 9, 3)
    assert other._apply_late() == []
    assert other.row == 7


def test_a_written_value_is_read_once_typed_and_the_last_one_stays_where_that_fails() -> None:
    def read(text: str) -> int:
        if not text.isdigit():
            raise ParameterError(f"a count must be a whole number; got {text!r}")
        return int(text)

    told: list[int] = []
    field: Written[int] = Written(3, read, str, lambda: told.append(field.held), name="Count")
    assert (field.value, field.description) == ("3", "Count")
    field.value = "007"
    assert (field.held, field.value, told) == (7, "7", [7])
    field.value = "many"
    assert (field.held, field.error.message) == (7, "a count must be a whole number; got 'many'")
    field.take(8)
    assert (field.value, field.error.message, told) == ("8", "", [7, 8])


def test_a_fold_shows_its_controls_once_its_title_is_pressed() -> None:
    inside = inputs.Checkbox()
    fold = Fold("More", inside)
    head = fold.children[0]
    for shown, text in ((False, "▸ More"), (True, "▾ More"), (False, "▸ More")):
        assert (inside in visible_widgets(fold), head.description) == (shown, text)
        head.click()
