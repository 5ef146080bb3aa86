"""The answer to an answer: right, or a hint; it prints itself as text and in a notebook."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from typing import Literal

AnswerVerdict = Literal["right", "hint", "not answered", "unreadable"]

_TITLES: dict[AnswerVerdict, str] = {
    "right": "Right.",
    "hint": "Not yet.",
    "not answered": "",
    "unreadable": "Not an answer yet.",
}


@dataclass(frozen=True)
class Feedback:
    """The answer to an answer.

    Attributes:
        exercise: number of the exercise.
        verdict: ``right``, ``hint``, ``not answered`` or ``unreadable``.
        text: the explanation, the hint, or what an answer must be; never the answer.
        mistake: name of the typical mistake that matches, empty where none does.
        note: what went wrong beside the answer: the progress could not be kept.
        folded: whether a notebook shows the explanation of a right answer only after a click.
    """

    exercise: str
    verdict: AnswerVerdict
    text: str
    mistake: str = ""
    note: str = ""
    folded: bool = False

    @property
    def right(self) -> bool:
        """Whether the answer is right."""
        return self.verdict == "right"

    def __repr__(self) -> str:
        parts = (_TITLES[self.verdict], self.text, self.note)
        return f"{self.exercise}: {' '.join(filter(None, parts))}"

    def _repr_html_(self) -> str:
        from workbench.plotting import palette

        colours = {"right": palette.GREEN, "hint": palette.ORANGE}
        colour = colours.get(self.verdict, palette.FAINT)
        style = f"border-left:.3em solid {colour};padding:.2em .8em;max-width:60em"
        if self.folded and self.right:
            # JupyterLab opens a folded output when its cell runs, but leaves this closed.
            summary = f"<summary>{self.exercise} Why the solution is right</summary>"
            return f'<details style="{style}">{summary}{with_code(self.text)}</details>'
        title = f"<b>{self.exercise} {_TITLES[self.verdict]}</b> "
        note = f"<br>{with_code(self.note)}" if self.note else ""
        return f'<div role="status" style="{style}">{title}{with_code(self.text)}{note}</div>'


def with_code(text: str) -> str:
    """Return a text as HTML, with what stands in backquotes as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text, quote=False))
