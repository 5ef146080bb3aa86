"""A line for an error message beside or below a control, and one for what went well."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from typing import Any

import ipywidgets as widgets

from workbench.errors import WorkbenchError
from workbench.plotting.theme import DONE, ERROR, SMALL

_DONE_STYLE = f"color:{DONE};font-size:12px;line-height:1.3"
_ERROR_STYLE = f"color:{ERROR};font-size:12px;line-height:1.3;white-space:normal"


def error_line(message: str) -> str:
    """Return a plain message as HTML for a line beside a control, "" for an empty message."""
    return (
        f'<div role="alert" style="{_ERROR_STYLE}">{html.escape(message)}</div>' if message else ""
    )


class NoteLine(widgets.HTML):  # type: ignore[misc]
    """A line that says what was done, in green; it takes no space while empty."""

    def __init__(self) -> None:
        super().__init__(layout=widgets.Layout(display="none", margin="0 0 4px 4px"))

    def say(self, message: str, details: Sequence[str] = ()) -> None:
        """Show a message, with lines that open below it, or hide the line where it is empty."""
        text = f'<span role="status" style="{_DONE_STYLE}">{html.escape(message)}</span>'
        if details:
            rows = "".join(f"<li>{html.escape(one)}</li>" for one in details)
            text = f'<details style="{SMALL}"><summary>{text}</summary><ul>{rows}</ul></details>'
        self.value = text if message else ""
        self.layout.display = "" if message else "none"


class ErrorLine(widgets.HTML):  # type: ignore[misc]
    """A line for an error message that takes no space while empty."""

    def __init__(self) -> None:
        super().__init__(layout=widgets.Layout(display="none", margin="0 0 4px 4px"))
        self.message = ""

    def say(self, message: str) -> None:
        """Show `message`, or hide the line where it is empty."""
        if message != self.message:
            self.message = message
            self.value = error_line(message)
            self.layout.display = "" if message else "none"

    def guard(self, action: Callable[[], Any]) -> None:
        """Run an action of a control and show its error here."""
        try:
            action()
        except WorkbenchError as error:
            self.say(str(error))
