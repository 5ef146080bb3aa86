"""A slider with the typed value and its unit beside it, and an error below.

The slider is a view of the value and no more: what is typed is kept exactly, also between the
slider's steps and beyond its ends.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import ipywidgets as widgets

from workbench.errors import ParameterError
from workbench.measure.curve import byte_label
from workbench.panels import inputs
from workbench.panels.error_line import ErrorLine
from workbench.panels.mute import Mute
from workbench.panels.number_field import REFUSED
from workbench.units import parse_typed_quantity


class Scale(ABC):
    """The values at a slider's positions, 0 to ``last``, and how they are written and read."""

    @property
    @abstractmethod
    def last(self) -> int:
        """The last position."""

    @abstractmethod
    def value_at(self, position: int) -> Any:
        """Return the value at a position."""

    @abstractmethod
    def position(self, value: Any) -> int:
        """Return the position nearest to a value, which may lie beyond the ends."""

    @abstractmethod
    def text(self, value: Any) -> str:
        """Return a value with its unit."""

    @abstractmethod
    def read(self, given: Any) -> Any:
        """Return the value of a typed text or a number, or raise a ParameterError."""

    def unusual(self, value: Any) -> str:
        """Return a warning about a value, else ""."""
        return ""


class Slider:
    """A slider, its typed value and its error line; ``changed`` gets each value a user chooses."""

    def __init__(
        self,
        scale: Scale,
        value: Any,
        changed: Callable[[Any], None],
        *,
        name: str,
        tooltip: str = "",
        typed_tooltip: str = "",
        name_width: str = "initial",
        text_width: str = "88px",
        width: str = "100%",
    ) -> None:
        self.scale, self._changed, self._value = scale, changed, value
        self._mute, self._refused = Mute(), False
        self.error = ErrorLine()
        # Whole positions, since a browser sends back rounded values: a fraction would arrive as a
        # move by the user.
        self.input: Any = inputs.IntSlider(
            min=0,
            max=scale.last,
            readout=False,
            continuous_update=True,
            description=name,
            tooltip=tooltip,
            style={"description_width": name_width},
            layout=widgets.Layout(flex="1 1 auto", min_width="60px", width="auto"),
        )
        self.text: Any = inputs.Text(
            continuous_update=False,
            layout=widgets.Layout(width=text_width, flex="0 0 auto"),
            tooltip=typed_tooltip,
        )
        row = widgets.HBox(
            [self.input, self.text], layout=widgets.Layout(align_items="center", width="100%")
        )
        row.add_class("workbench-slider")
        self.widget = widgets.VBox([row, self.error], layout=widgets.Layout(width=width))
        self.show(value)
        self.input.observe(lambda change: self._moved(change["new"]), "value")
        self.text.observe(lambda change: self._typed(change["new"]), "value")

    @property
    def value(self) -> Any:
        """The value."""
        return self._value

    @property
    def enabled(self) -> bool:
        """Whether the slider accepts input."""
        return not self.input.disabled

    @enabled.setter
    def enabled(self, value: bool) -> None:
        self.input.disabled = self.text.disabled = not value

    def say(self, message: str) -> None:
        """Show a message, after the warning about an unusual value if there is one."""
        self.error.say(". ".join(one for one in (self.scale.unusual(self._value), message) if one))

    def show(self, value: Any) -> None:
        """Show a value that was set elsewhere, without calling back."""
        self._value = value
        self.say("")
        self._write()

    def offer(self, scale: Scale, value: Any) -> None:
        """Show another scale and a value on it, without calling back."""
        self.scale = scale
        with self._mute:
            self.input.max = scale.last
        self.show(value)

    def take(self, given: Any) -> None:
        """Set a value, or a text with a unit, as the user would."""
        self._accept(self.scale.read(given))

    def _moved(self, position: int) -> None:
        if not self._mute.on:
            self._guarded(lambda: self._accept(self.scale.value_at(position), moved=True))

    def _typed(self, text: str) -> None:
        if self._mute.on:
            return
        if text != self.scale.text(self._value):
            self._guarded(lambda: self.take(text))
        elif self._refused:
            # The text says less than the value has; what was typed back changes nothing.
            self.say("")
            self._mark(False)

    def _guarded(self, action: Callable[[], None]) -> None:
        """Run an action of the user, and show its error below."""
        try:
            action()
        except ParameterError as error:
            held = self.scale.text(self._value)
            self.error.say(f"{error}; the value stays {held} until a valid one is typed")
            self._mark(True)

    def _accept(self, value: Any, *, moved: bool = False) -> None:
        before, self._value = self._value, value
        self.say("")
        try:
            # The figures first: the text would make the page lay itself out before them.
            self._changed(value)
        except ParameterError:
            self._value = before
            raise
        self._write(slider=not moved)

    def _write(self, *, slider: bool = True) -> None:
        self._mark(False)
        with self._mute:
            self.text.value = self.scale.text(self._value)
            if slider:
                self.input.value = self.scale.position(self._value)

    def _mark(self, refused: bool) -> None:
        """Frame the typed text if it was refused."""
        self._refused = refused
        (self.text.add_class if refused else self.text.remove_class)(REFUSED)


class Listed(Scale):
    """Some sizes in bytes, ascending; ``name`` is for messages."""

    def __init__(self, sizes: Sequence[int], name: str) -> None:
        self._sizes, self._name = tuple(sizes), name

    @property
    def last(self) -> int:
        """The last position."""
        return len(self._sizes) - 1

    def value_at(self, position: int) -> int:
        """Return the size at a position."""
        return self._sizes[position]

    def position(self, value: Any) -> int:
        """Return the position of the nearest size."""
        return min(range(len(self._sizes)), key=lambda at: abs(self._sizes[at] - value))

    def text(self, value: Any) -> str:
        """Return a size with its unit."""
        return byte_label(value)

    def read(self, given: Any) -> int:
        """Return the size that is given as a text or a number, or raise a ParameterError."""
        size = given
        if isinstance(given, str):
            size = parse_typed_quantity(given, "bytes", name=self._name)
        if size not in self._sizes:
            raise ParameterError(
                f"{self._name} must be one of the measured sizes, {self._sizes[0]} to "
                f"{self._sizes[-1]} B; got {given!r}",
                key=self._name,
            )
        return int(size)


class Even(Scale):
    """Numbers from ``least`` to ``most`` by steps; ``name`` is for messages."""

    def __init__(self, least: float, most: float, step: float, name: str) -> None:
        self._least, self._most, self._step, self._name = least, most, step, name

    @property
    def last(self) -> int:
        """The last position."""
        return round((self._most - self._least) / self._step)

    def value_at(self, position: int) -> float:
        """Return the number at a position."""
        return float(f"{self._least + position * self._step:.12g}")

    def position(self, value: float) -> int:
        """Return the position nearest to a number."""
        return round((value - self._least) / self._step)

    def text(self, value: Any) -> str:
        """Return a number as it is typed."""
        return f"{value:.12g}"

    def read(self, given: Any) -> float:
        """Return the number that is given as a text or a number, or raise a ParameterError."""
        try:
            number = float(given)
        except (TypeError, ValueError):
            number = math.nan
        if not self._least <= number <= self._most:
            raise ParameterError(
                f"{self._name} must be a number from {self._least:g} to {self._most:g}; "
                f"got {given}",
                key=self._name,
            )
        return number
