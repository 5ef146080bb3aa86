"""Controls made from a model's own parameters: slider, typed value with its unit, error beside it.

The slider is a view of the value and no more: what is typed is kept exactly, also between the
slider's steps and beyond its ends.
"""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Iterable
from typing import Any

import ipywidgets as widgets

from workbench.errors import ParameterError, WorkbenchError
from workbench.models import NetworkModel, Parameter
from workbench.models.parameter import Value, key_named
from workbench.plotting.theme import ERROR
from workbench.units import format_quantity

Changed = Callable[[str, Value], None]

_EXPECTED = {
    "time": "a time with its unit, such as 500 ns",
    "bandwidth": "a rate with its unit, such as 12.5 GB/s or 100 Gbit/s",
    "bytes": "a size, such as 4096, 64 kB or 64 KiB; a number alone is in bytes",
    "frequency": "a frequency with its unit, such as 2.1 GHz",
    "count": "a whole number",
    "number": "a number",
    "flag": "true or false",
    "choice": "one of the names",
}
_STEPS_PER_DECADE = 50
_LINEAR_STEPS = 100
_ERROR_STYLE = f"color:{ERROR};font-size:12px;line-height:1.3;white-space:normal"


def error_line(message: str) -> str:
    """Return a plain message as HTML for a line beside a control, "" for an empty message."""
    return (
        f'<div role="alert" style="{_ERROR_STYLE}">{html.escape(message)}</div>' if message else ""
    )


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


class ParameterControl:
    """A parameter's row: slider or choice, typed value, error; ``changed`` gets (key, SI value)."""

    def __init__(self, described: Parameter, changed: Changed) -> None:
        self.described = described
        self._changed = changed
        self._echo = self._mistyped = False
        self._value: Value = described.value
        self.error = ErrorLine()
        self.text = widgets.Text(
            continuous_update=False,
            layout=widgets.Layout(width="88px", flex="0 0 auto"),
            tooltip=f"Type {_EXPECTED[described.kind]}. {described.description}",
        )
        self.input = self._make_input()
        self.text.observe(self._typed, "value")
        self.input.observe(self._moved, "value")
        wide = described.kind in ("flag", "choice")
        shown = [self.input] if wide else [self.input, self.text]
        row = widgets.HBox(shown, layout=widgets.Layout(align_items="center", width="100%"))
        self.widget = widgets.VBox([row, self.error])
        self.show(described.value)

    @property
    def value(self) -> Value:
        """The value in SI units."""
        return self._value

    @property
    def enabled(self) -> bool:
        """Whether the control accepts input."""
        return not self.input.disabled

    @enabled.setter
    def enabled(self, value: bool) -> None:
        self.input.disabled = self.text.disabled = not value

    def say(self, message: str) -> None:
        """Show a message, after the warning about an unusual value if there is one."""
        said = (self.described.unusual(self._value), message)
        self.error.say(". ".join(one for one in said if one))

    def show(self, value: Value) -> None:
        """Show a value in SI units that was set elsewhere, without calling back."""
        self._value = value
        self.say("")
        self._echo = True
        try:
            self.text.value = format_quantity(value, self.described.kind)
            self.input.value = self._to_input(value)
        finally:
            self._echo = False

    def _make_input(self) -> Any:
        described = self.described
        about: dict[str, Any] = {
            "description": described.name,
            "tooltip": f"{described.key}: {described.description}",
            "style": {"description_width": "152px"},
            "layout": widgets.Layout(flex="1 1 auto", min_width="60px", width="auto"),
        }
        if described.kind == "flag":
            return widgets.Checkbox(indent=True, **about)
        if described.kind == "choice":
            return widgets.Dropdown(options=described.choices, value=str(described.value), **about)
        # Whole positions, since a browser sends back what it rounds: a fraction would come home
        # as a move that nobody made.
        return widgets.IntSlider(
            min=0, max=_last_position(described), readout=False, continuous_update=True, **about
        )

    def _to_input(self, value: Value) -> Any:
        if self.described.kind in ("flag", "choice"):
            return value
        return _position(self.described, float(value))

    def _from_input(self, position: Any) -> Value:
        if self.described.kind in ("flag", "choice"):
            return position  # type: ignore[no-any-return]
        return _value_at(self.described, int(position))

    def _moved(self, change: Any) -> None:
        if self._echo:
            return
        self._accept(self._from_input(change["new"]), from_input=True)

    def _typed(self, change: Any) -> None:
        if self._echo:
            return
        if change["new"] == format_quantity(self._value, self.described.kind):
            # Three digits say less than the value has; what was typed back changes nothing.
            if self._mistyped:
                self.say("")
            self._mistyped = False
            return
        try:
            value = self.described.coerce(change["new"])
        except ParameterError as error:
            self._mistyped = True
            self.error.say(str(error))
            return
        self._accept(value)

    def _accept(self, value: Value, *, from_input: bool = False) -> None:
        self._value = value
        self._mistyped = False
        self.say("")
        # The figures first: the readout's message would make the page lay itself out before them.
        self._changed(self.described.key, value)
        self._echo = True
        try:
            self.text.value = format_quantity(value, self.described.kind)
            if not from_input:
                self.input.value = self._to_input(value)
        finally:
            self._echo = False


class ParameterControls:
    """All parameters of a model, grouped by section; ``changed`` gets (key, SI value)."""

    def __init__(self, model: NetworkModel, changed: Changed) -> None:
        self._changed = changed
        self.widget = widgets.Accordion()
        self.controls: dict[str, ParameterControl] = {}
        self.rebuild(model)

    @property
    def by_name(self) -> dict[str, ParameterControl]:
        """The controls by the last words of the parameters' paths."""
        return by_last_word(self.controls.values())

    def rebuild(self, model: NetworkModel) -> None:
        """Show a model, with new controls where it has other parameters."""
        described = model.parameters()
        if [p.key for p in described] == list(self.controls):
            self.show(model)
            return
        self.controls = {p.key: ParameterControl(p, self._changed) for p in described}
        sections: dict[str, list[Any]] = {}
        for p in described:
            sections.setdefault(p.section, []).append(self.controls[p.key].widget)
        opened = self.widget.selected_index
        self.widget.selected_index = None
        self.widget.children = [
            widgets.VBox(rows, layout=widgets.Layout(padding="0")) for rows in sections.values()
        ]
        self.widget.titles = tuple(sections)
        self.widget.selected_index = 0 if opened is None else min(opened, len(sections) - 1)
        self.enable()

    def show(self, model: NetworkModel) -> None:
        """Show the values of a model with the same parameters, and clear the errors."""
        for p in model.parameters():
            control = self.controls[p.key]
            if control.value != p.value:
                control.show(p.value)
        self.say({})
        self.enable()

    def say(self, errors: dict[str, str]) -> None:
        """Show each message beside the control of its key, and clear the others."""
        for key, control in self.controls.items():
            control.say(errors.get(key, ""))

    def key_of(self, name: str) -> str:
        """Return the dotted key for a key, an attribute path or its last word."""
        return key_named(name, (control.described for control in self.controls.values()))

    def enable(self) -> None:
        """Enable the parameters that have an effect with the present flags."""
        for control in self.controls.values():
            flag = self.controls.get(control.described.unless)
            control.enabled = flag is None or bool(flag.value)


def by_last_word(controls: Iterable[ParameterControl]) -> dict[str, ParameterControl]:
    """Return controls by the last words of their parameters' paths."""
    return {control.described.path.rpartition(".")[2]: control for control in controls}


def _last_position(described: Parameter) -> int:
    """Return the index of a slider's last position."""
    low, high = float(described.low), float(described.high)
    if described.log and described.kind == "bytes":
        return math.ceil(math.log2(high / low))
    if described.log:
        return round(_STEPS_PER_DECADE * math.log10(high / low))
    if described.kind in ("bytes", "count"):
        return math.ceil((high - low) / _whole_step(described))
    return _LINEAR_STEPS


def _value_at(described: Parameter, position: int) -> Value:
    """Return the SI value at a slider's position: sizes by powers of two, others evenly."""
    low, high = float(described.low), float(described.high)
    if described.log and described.kind == "bytes":
        value = low * 2.0**position
    elif described.log:
        value = low * 10.0 ** (position / _STEPS_PER_DECADE)
    elif described.kind in ("bytes", "count"):
        value = low + position * _whole_step(described)
    else:
        value = low + (high - low) * position / _LINEAR_STEPS
    value = min(value, high)
    return round(value) if described.kind in ("bytes", "count") else float(f"{value:.3g}")


def _position(described: Parameter, value: float) -> int:
    """Return the slider's position nearest to a value, which may lie beyond its ends."""
    low, high = float(described.low), float(described.high)
    value = min(max(value, low), high)
    if described.log and described.kind == "bytes":
        return round(math.log2(value / low))
    if described.log:
        return round(_STEPS_PER_DECADE * math.log10(value / low))
    if described.kind in ("bytes", "count"):
        return round((value - low) / _whole_step(described))
    return round(_LINEAR_STEPS * (value - low) / (high - low))


def _whole_step(described: Parameter) -> int:
    """Return a power of two that takes about a hundred steps from end to end."""
    return 1 << max(0, int((described.high - described.low) / 100).bit_length() - 1)
