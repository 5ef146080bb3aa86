"""A form for the answer to an exercise, on pages whose cells cannot be edited."""

from __future__ import annotations

from typing import Any

import ipywidgets as widgets

from workbench.panels import inputs
from workbench.panels.style import named, panel_box, push_button, wrapping_row
from workbench.teaching import Feedback, InOrder, OneOf, check
from workbench.teaching.answers import AnswerKind
from workbench.teaching.registry import find_exercise

_CHOOSE = "choose …"


class AnswerForm:
    """A field, a button that checks what is in it, and the answer to that, for an exercise."""

    def __init__(self, number: str) -> None:
        self._number = number
        self._kind = find_exercise(number).kind
        self._field = _field_of(self._kind)
        self._button = push_button("Check", f"check the answer to exercise {number}", "primary")
        self._said = widgets.HTML()
        # The field says what is new when Enter is pressed or it is left, as for the button.
        self._judged = ""
        self._field.observe(lambda _: self._check_once(), "value")
        self._button.on_click(lambda _: self._check_once())
        self.widget = panel_box([wrapping_row(self._field, self._button), self._said])

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
        self._said.value = found._repr_html_()
        return found

    def _check_once(self) -> None:
        """Check what is in the field, if it is not what was checked last: each check is a try."""
        if not self._field.value or self._field.value != self._judged:
            self.check()


def offer_answer_forms() -> None:
    """Show a form, from now on, instead of the sentence that an exercise is not answered."""
    from IPython.core.getipython import get_ipython

    shell = get_ipython()
    if shell is not None and shell.display_formatter is not None:
        show: Any = shell.display_formatter.format

        def form_for(found: Feedback, include: Any = None, exclude: Any = None) -> Any:
            """Return the form for an exercise that is not answered; None leaves others alone."""
            if found.verdict != "not answered":
                return None
            return show(AnswerForm(found.exercise).widget, include, exclude)

        shell.display_formatter.mimebundle_formatter.for_type(Feedback, form_for)


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
