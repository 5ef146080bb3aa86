"""A form for the answer to an exercise, on pages whose cells cannot be edited."""

from __future__ import annotations

import re
from typing import Any

import ipywidgets as widgets

from workbench.panels import inputs
from workbench.panels.style import named, panel_box, push_button, wrapping_row
from workbench.teaching import Feedback, InOrder, OneOf, check, progress
from workbench.teaching.answers import Amount, AnswerKind
from workbench.teaching.progress import ProgressTable
from workbench.teaching.registry import find_exercise

_CHOOSE = "choose …"
# Not 1,580, which may be a thousand times as much.
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,(\d{1,2}|\d{4,})")


# What this page shows of the progress.
_tables: list[Any] = []


class AnswerForm:
    """A field, a button that checks what is in it, and the answer to that, for an exercise.

    Until the first answer it hides the outputs of the page's cells that have the exercise's tag,
    such as ``after-1-1``, as they show what is asked.
    """

    def __init__(self, number: str) -> None:
        self._number = number
        self._kind = find_exercise(number).kind
        self._field = _field_of(self._kind)
        self._button = push_button("Check", f"check the answer to exercise {number}", "primary")
        self._said = widgets.HTML()
        self._hiding = widgets.HTML(_hiding(number), layout=widgets.Layout(display="none"))
        # The field says what is new when Enter is pressed or it is left, as for the button.
        self._judged = ""
        self._field.observe(lambda _: self._check_once(), "value")
        self._button.on_click(lambda _: self._check_once())
        row = wrapping_row(self._field, self._button)
        self.widget = panel_box([row, self._said, self._hiding])

    @property
    def answer(self) -> Any:
        """The answer in the field; ``...`` if the field is empty."""
        return _read(self._field.value, self._kind)

    @answer.setter
    def answer(self, text: str) -> None:
        self._field.value = text

    def check(self) -> Feedback:
        """Check what is in the field, show whether it is right or a hint, and return that."""
        self._judged, answer = self._field.value, self.answer
        if answer is ...:
            found = Feedback(self._number, "not answered", f"The answer is {self._kind.wanted()}.")
        else:
            found = check(self._number, answer)
        if found.verdict in ("right", "hint"):
            self._hiding.value = ""
            for table in _tables:
                table.value = progress()._repr_html_()
        self._said.value = found._repr_html_()
        return found

    def _check_once(self) -> None:
        """Check what is in the field, if it is not what was checked last: each check is a try."""
        if not self._field.value or self._field.value != self._judged:
            self.check()


def offer_answer_forms() -> None:
    """Show a form, from now on, for an exercise that is not answered, and progress as it grows."""
    from IPython.core.getipython import get_ipython

    shell = get_ipython()
    if shell is not None and shell.display_formatter is not None:
        show: Any = shell.display_formatter.format

        def form_for(found: Feedback, include: Any = None, exclude: Any = None) -> Any:
            """Return the form for an exercise that is not answered; None leaves others alone."""
            if found.verdict != "not answered":
                return None
            return show(AnswerForm(found.exercise).widget, include, exclude)

        def growing(table: ProgressTable, include: Any = None, exclude: Any = None) -> Any:
            _tables.append(widgets.HTML(table._repr_html_()))
            return show(_tables[-1], include, exclude)

        shell.display_formatter.mimebundle_formatter.for_type(Feedback, form_for)
        shell.display_formatter.mimebundle_formatter.for_type(ProgressTable, growing)


def _hiding(number: str) -> str:
    """Return the style that hides what the page shows after an exercise."""
    cell = f".celltag_after-{number.replace('.', '-')}"
    text = f"Answer exercise {number} to see what is here: any number will do."
    return (
        f"<style>{cell} .jp-Cell-outputWrapper {{ display: none; }}"
        f'{cell}::after {{ content: "{text}"; font-style: italic; }}</style>'
    )


def _field_of(kind: AnswerKind) -> Any:
    """Return an empty control for a kind of answer."""
    if isinstance(kind, OneOf):
        options = [(_CHOOSE, ""), *((option, option) for option in kind.options)]
        return inputs.Dropdown(options=options, value="", **named("Answer", "320px"))
    hint = ", ".join(sorted(kind.options)) if isinstance(kind, InOrder) else kind.wanted()
    return inputs.Text(placeholder=hint, continuous_update=False, **named("Answer", "320px"))


def _read(text: str, kind: AnswerKind) -> Any:
    """Return the typed text as an answer for ``check``: a number, a name, or names in order."""
    typed = text.strip()
    if isinstance(kind, Amount) and _DECIMAL_COMMA.fullmatch(typed):
        typed = typed.replace(",", ".")
    if not typed:
        return ...
    if isinstance(kind, InOrder):
        return [name.strip() for name in typed.split(",")]
    if isinstance(kind, OneOf):
        return typed
    try:
        return float(typed)
    except ValueError:
        return typed
