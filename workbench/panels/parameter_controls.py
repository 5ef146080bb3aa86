"""Controls made from a model's own parameters: a slider or a choice, its error beside it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import ipywidgets as widgets

from workbench.models import ModelParameter, NetworkModel
from workbench.models.parameter import key_named
from workbench.panels import inputs
from workbench.panels.error_line import ErrorLine
from workbench.panels.mute import Mute
from workbench.panels.slider import Scale, Slider
from workbench.parameters import Value
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
_STEPS_PER_DECADE = 50  # a step of 4.7 %
_LINEAR_STEPS = 100  # a step of 1 % of the range
_NAME_WIDTH = "152px"


class ParameterScale(Scale):
    """The range of a parameter: sizes by powers of two, others evenly or by decades."""

    def __init__(self, described: ModelParameter) -> None:
        self._described = described
        self._low, self._high = float(described.low), float(described.high)
        self._sizes = described.log and described.kind == "bytes"
        self._whole = described.kind in ("bytes", "count")
        # A power of two that takes about a hundred steps from end to end.
        self._step = 1 << max(0, int((self._high - self._low) / 100).bit_length() - 1)

    @property
    def last(self) -> int:
        """The last position."""
        if self._sizes:
            return math.ceil(math.log2(self._high / self._low))
        if self._described.log:
            return round(_STEPS_PER_DECADE * math.log10(self._high / self._low))
        if self._whole:
            return math.ceil((self._high - self._low) / self._step)
        return _LINEAR_STEPS

    def value_at(self, position: int) -> Value:
        """Return the SI value at a position."""
        low, high = self._low, self._high
        if self._sizes:
            value = low * 2.0**position
        elif self._described.log:
            value = low * 10.0 ** (position / _STEPS_PER_DECADE)
        elif self._whole:
            value = low + position * self._step
        else:
            value = low + (high - low) * position / _LINEAR_STEPS
        value = min(value, high)
        return round(value) if self._whole else float(f"{value:.3g}")

    def position(self, value: Any) -> int:
        """Return the position nearest to an SI value, which may lie beyond the ends."""
        low, high = self._low, self._high
        inside = min(max(float(value), low), high)
        if self._sizes:
            return round(math.log2(inside / low))
        if self._described.log:
            return round(_STEPS_PER_DECADE * math.log10(inside / low))
        if self._whole:
            return round((inside - low) / self._step)
        return round(_LINEAR_STEPS * (inside - low) / (high - low))

    def text(self, value: Any) -> str:
        """Return a value with its unit, to three digits."""
        return format_quantity(value, self._described.kind)

    def read(self, given: Any) -> Value:
        """Return the SI value of a text or a number, or raise a ParameterError."""
        return self._described.coerce(given)

    def unusual(self, value: Any) -> str:
        """Return a warning about a value outside the range, else ""."""
        return self._described.unusual(value)


class ParameterSlider(Slider):
    """A parameter's row: slider, typed value, error; ``changed`` gets (key, SI value)."""

    def __init__(self, described: ModelParameter, changed: Changed) -> None:
        self.described = described
        super().__init__(
            ParameterScale(described),
            described.value,
            partial(changed, described.key),
            name=described.name,
            tooltip=f"{described.key}: {described.description}",
            typed_tooltip=f"Type {_EXPECTED[described.kind]}. {described.description}",
            name_width=_NAME_WIDTH,
        )


class ParameterChoice:
    """A parameter's row: a flag or a list, and its error; ``changed`` gets (key, value)."""

    def __init__(self, described: ModelParameter, changed: Changed) -> None:
        self.described = described
        self._changed = changed
        self._mute = Mute()
        self.error = ErrorLine()
        about: dict[str, Any] = {
            "description": described.name,
            "tooltip": f"{described.key}: {described.description}",
            "style": {"description_width": _NAME_WIDTH},
            "layout": widgets.Layout(flex="1 1 auto", min_width="60px", width="auto"),
        }
        self.input: Any = (
            inputs.Checkbox(value=bool(described.value), indent=True, **about)
            if described.kind == "flag"
            else inputs.Dropdown(options=described.choices, value=str(described.value), **about)
        )
        row = widgets.HBox([self.input], layout=widgets.Layout(align_items="center", width="100%"))
        self.widget = widgets.VBox([row, self.error])
        self.input.observe(lambda change: self._chosen(change["new"]), "value")

    @property
    def value(self) -> Value:
        """The value."""
        value: Value = self.input.value
        return value

    @property
    def enabled(self) -> bool:
        """Whether the control accepts input."""
        return not self.input.disabled

    @enabled.setter
    def enabled(self, value: bool) -> None:
        self.input.disabled = not value

    def say(self, message: str) -> None:
        """Show a message."""
        self.error.say(message)

    def show(self, value: Value) -> None:
        """Show a value that was set elsewhere, without calling back."""
        self.say("")
        self._mute.set(self.input, value)

    def _chosen(self, value: Value) -> None:
        if not self._mute.on:
            self.say("")
            self.error.guard(lambda: self._changed(self.described.key, value))


ParameterControl = ParameterSlider | ParameterChoice


def parameter_control(described: ModelParameter, changed: Changed) -> ParameterControl:
    """Return the control of a parameter; ``changed`` gets (key, SI value)."""
    choice = described.kind in ("flag", "choice")
    return ParameterChoice(described, changed) if choice else ParameterSlider(described, changed)


class ParameterControls:
    """All parameters of a model, grouped by section; ``changed`` gets (key, SI value)."""

    def __init__(self, model: NetworkModel, changed: Changed) -> None:
        self._changed = changed
        self.widget = inputs.Accordion()
        self.controls: dict[str, ParameterControl] = {}
        self.rebuild(model)

    @property
    def by_name(self) -> dict[str, ParameterControl]:
        """The controls by the parameters' attributes, such as ``logp_bandwidth``."""
        return by_attribute(self.controls.values())

    def rebuild(self, model: NetworkModel) -> None:
        """Show a model, with new controls where it has other parameters."""
        described = model.parameters()
        if [p.key for p in described] == list(self.controls):
            self.show(model)
            return
        self.controls = {p.key: parameter_control(p, self._changed) for p in described}
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
        """Return the dotted key for a key, an attribute path or that path with underscores."""
        return key_named(name, (control.described for control in self.controls.values()))

    def enable(self) -> None:
        """Enable the parameters that have an effect with the present flags."""
        for control in self.controls.values():
            flag = self.controls.get(control.described.unless)
            control.enabled = flag is None or bool(flag.value)


def by_attribute(controls: Iterable[ParameterControl]) -> dict[str, ParameterControl]:
    """Return controls by their parameters' attributes."""
    return {control.described.attribute: control for control in controls}
