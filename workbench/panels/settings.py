"""A setting of a panel, said once: its control, its attribute, and what a session keeps of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from workbench.errors import ParameterError
from workbench.panels import inputs
from workbench.panels.error_line import ErrorLine
from workbench.panels.mute import Mute
from workbench.panels.style import choose, named

_T = TypeVar("_T")


@dataclass(frozen=True)
class Setting:
    """One thing that a user sets, by a control or as an attribute of the panel.

    A control's trait ``value`` is the setting, and its options or range say what is accepted.
    Where a control holds more or less than the setting, functions read and set it.
    """

    control: Any = None  # None where the setting has none, or shares one
    get: Callable[[], Any] | None = None  # None: the control's value
    take: Callable[[Any], object] | None = None  # sets it as the user would; None: in the control
    save: Callable[[], Any] | None = None  # returns it as JSON can hold it; None: the value
    restore: Callable[[Any], object] | None = None  # sets what was saved; None: as take does
    # When a session, and undo, sets it: what chooses among results waits for the jobs.
    session: Literal["at once", "after jobs", "no"] = "at once"
    attribute: bool = True  # whether the panel has it as an attribute

    def value(self) -> Any:
        """Return the value."""
        return self.control.value if self.get is None else self.get()

    def set(self, name: str, value: Any) -> None:
        """Set it as the user would; ``name`` is for the error message."""
        if self.take is None:
            choose(self.control, name, value)
        else:
            self.take(value)


class Written(inputs.Text, Generic[_T]):
    """A line of text that stands for a value; ``changed`` is called once a user changes it.

    A text that cannot be read is reported below, and the last value stays.
    """

    def __init__(
        self,
        held: _T,
        read: Callable[[str], _T],  # or raises a ParameterError
        write: Callable[[_T], str],
        changed: Callable[[], None],
        *,
        name: str,
        placeholder: str = "",
    ) -> None:
        super().__init__(
            write(held), continuous_update=False, placeholder=placeholder, **named(name, "100%")
        )
        self.held, self.error = held, ErrorLine()
        self._read, self._write, self._changed = read, write, changed
        self._muted = Mute()
        self.observe(lambda change: self._typed(change["new"]), "value")

    def take(self, held: _T) -> None:
        """Set the value, and write it."""
        self.held = held
        self.error.say("")
        self._muted.set(self, self._write(held))
        self._changed()

    def _typed(self, text: str) -> None:
        if self._muted.on:
            return
        try:
            held = self._read(text)
        except ParameterError as error:
            self.error.say(str(error))
            return
        self.take(held)
