"""A typed number: a value out of range is reported below it, and the last accepted one stays.

The bounded fields of ipywidgets turn 99999 into the largest number they take, and 3.7 into 3 or
37, in the browser, without a message. This one receives the typed text and checks it here.
"""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Real
from typing import Any

import ipywidgets as widgets
import traitlets

from workbench.errors import ParameterError
from workbench.panels import inputs
from workbench.panels.error_line import ErrorLine
from workbench.panels.mute import Mute

REFUSED = "workbench-refused"
"""CSS class of a field with an invalid entry, for its frame."""


class NumberField(widgets.Box):  # type: ignore[misc]
    """A typed number with its name before it; shows an error for a value out of range."""

    value: Any = traitlets.TraitType(0)  # last accepted number
    disabled = traitlets.Bool(False)

    def __init__(
        self,
        value: float,  # an int: whole numbers only
        least: float,
        most: float,
        *,
        step: float = 1,
        description: str = "",
        called: str = "",  # in messages; "": description
        tooltip: str = "",  # the range is added
        layout: Any = None,
        style: Any = None,
        disabled: bool = False,
    ) -> None:
        self.step = step
        self._whole, self._called, self._about = isinstance(value, int), called, tooltip
        self._mute = Mute()
        self.error = ErrorLine()
        # A line of its own in a row that wraps: the other controls of the row stay in place.
        self.error.layout.flex = "1 0 100%"
        self.typed: Any = inputs.FloatText(  # also holds an invalid number
            step=step,
            description=description,
            style=style or {},
            layout=widgets.Layout(width="100%", margin="0"),
        )
        super().__init__([self.typed], layout=layout or widgets.Layout())
        self.layout.overflow = "visible"
        self._bound(least, most)
        self.value = value
        self.disabled = disabled
        self.typed.observe(self._heard, "value")
        self.layout.observe(lambda _: self._hidden(), "display")

    @property
    def rule(self) -> str:
        """The accepted range in words."""
        kind = "a whole number" if self._whole else "a number"
        return f"{kind} from {_plain(self.least)} to {_plain(self.most)}"

    def forget(self) -> None:
        """Discard a refused number, and show the value."""
        self._show(self.value)

    def limit(self, least: float, most: float) -> None:
        """Set another range; a value outside moves to the nearest end."""
        self._bound(least, most)
        if not least <= self.value <= most:
            self.value = self.nearest(self.value)
        elif self.error.message:
            self._judge(self.typed.value)

    def nearest(self, value: float) -> float:
        """Return the nearest accepted number."""
        return min(max(value, self.least), self.most)

    def check(self, value: Any, name: str = "") -> float:
        """Return a number as the field would hold it; ``name`` is for the error message."""
        number = isinstance(value, Real) and not isinstance(value, bool)
        if number and self.least <= value <= self.most:
            if not self._whole:
                return float(value)
            if int(value) == value:
                return int(value)
        name = name or self.name
        raise ParameterError(f"{name} must be {self.rule}; got {value!r}", key=name)

    @property
    def description(self) -> str:
        """The name before it."""
        return str(self.typed.description)

    @description.setter
    def description(self, text: str) -> None:
        self.typed.description = text

    @property
    def name(self) -> str:
        """The name in error messages."""
        return self._called or self.description

    def _bound(self, least: float, most: float) -> None:
        self.least, self.most = least, most
        self.typed.tooltip = (
            f"{self._about}; {self.rule}" if self._about else self.rule.capitalize()
        )

    def _heard(self, change: Any) -> None:
        if not self._mute.on:
            self._judge(change["new"])

    def _judge(self, typed: float) -> None:
        """Accept a typed number, or show why it is refused."""
        try:
            number = self.check(typed)
        except ParameterError:
            self.error.say(
                f"{self.name} must be {self.rule}; got {_plain(typed)}; "
                f"the value stays {_plain(self.value)} until a valid one is typed"
            )
            self.typed.add_class(REFUSED)
            return
        self.value = number

    # Not an observer: setting the present value again also replaces an invalid entry.
    @traitlets.validate("value")
    def _accept(self, proposal: Any) -> float:
        number = self.check(proposal["value"])
        self._show(number)
        return number

    def _show(self, number: float) -> None:
        self.error.say("")
        self.typed.remove_class(REFUSED)
        self._mute.set(self.typed, number)

    def _hidden(self) -> None:
        # A hidden field cannot show its error.
        if self.layout.display == "none":
            self.forget()

    @traitlets.observe("disabled")
    def _disable(self, change: Any) -> None:
        self.typed.disabled = change["new"]


def errors_of(controls: Iterable[Any]) -> list[ErrorLine]:
    """Return the error lines of the number fields among some controls."""
    return [control.error for control in controls if isinstance(control, NumberField)]


def check_all(controls: Iterable[Any]) -> None:
    """Raise a ParameterError if a number field among the controls holds a refused number."""
    refused = [c.name for c in controls if isinstance(c, NumberField) and c.error.message]
    if refused:
        names = " and ".join(refused)
        raise ParameterError(f"correct {names} first; nothing was started")


def _plain(value: float) -> str:
    return f"{value:,.15g}"
