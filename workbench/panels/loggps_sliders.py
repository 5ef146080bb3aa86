"""Sliders for L, o, g, G, O and S, logarithmic with zero at the left end, and typed values."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ipywidgets as widgets

from workbench.errors import ParameterError
from workbench.measure.curve import byte_label
from workbench.models import LogGPS
from workbench.models.loggps import read_loggps
from workbench.panels.controls import ErrorLine
from workbench.units import format_quantity

_STEPS_PER_DECADE = 40
_ALL_EAGER = 2**31 - 1
_ALL = "all"


@dataclass(frozen=True)
class Scale:
    """The range of a parameter's slider."""

    name: str  # LogGPS letter
    words: str
    per_byte: bool
    low: float  # smallest value above 0; s, s/B or B
    high: float


SCALES = (
    Scale("L", "latency", False, 1e-9, 1e-2),
    Scale("o", "overhead", False, 1e-9, 1e-3),
    Scale("g", "gap", False, 1e-9, 1e-3),
    Scale("G", "gap per byte", True, 1e-12, 1e-7),
    Scale("O", "overhead per byte", True, 1e-13, 1e-7),
    Scale("S", "eager up to", False, 1, _ALL_EAGER),
)


class LogGPSSliders:
    """Sliders for six LogGPS parameters; ``changed`` gets them after a user's change."""

    def __init__(self, model: LogGPS, changed: Callable[[LogGPS], None]) -> None:
        self._model, self._changed = model, changed
        self.rows = {
            scale.name: _Row(scale, getattr(model, scale.name), self._take) for scale in SCALES
        }
        half = widgets.Layout(flex="1 1 380px", width="auto", margin="0 14px 0 0")
        columns = (("L", "o", "g"), ("G", "O", "S"))
        self.widget = widgets.HBox(
            [widgets.VBox([self.rows[n].widget for n in names], layout=half) for names in columns],
            layout=widgets.Layout(flex_flow="row wrap", width="100%"),
        )

    @property
    def model(self) -> LogGPS:
        """The parameters that the sliders hold."""
        return self._model

    @property
    def errors(self) -> list[ErrorLine]:
        """The error lines of the rows."""
        return [row.error for row in self.rows.values()]

    def show(self, model: LogGPS) -> None:
        """Show other parameters without calling back."""
        self._model = model
        for name, row in self.rows.items():
            row.show(getattr(model, name))

    def _take(self, name: str, value: float) -> None:
        self._model = self._model.replace(**{name: value})
        self._changed(self._model)


class _Row:
    """A parameter's row: letter and name, slider, typed value, and an error below."""

    def __init__(self, scale: Scale, value: float, taken: Callable[[str, float], None]) -> None:
        self._scale, self._taken, self._value = scale, taken, value
        self._echo = False
        self.error = ErrorLine()
        self.slider: Any = widgets.IntSlider(
            min=0,
            max=last_position(scale),
            readout=False,
            continuous_update=True,
            description=f"{scale.name}  {scale.words}",
            style={"description_width": "144px"},
            layout=widgets.Layout(flex="1 1 auto", min_width="60px", width="auto"),
        )
        self.text: Any = widgets.Text(
            continuous_update=False,
            layout=widgets.Layout(width="96px", flex="0 0 auto"),
            tooltip=f"Type {scale.words} ({scale.name}) with its unit, such as "
            f"{worded(scale, value_at(scale, last_position(scale) // 2))}",
        )
        line = widgets.HBox(
            [self.slider, self.text], layout=widgets.Layout(align_items="center", width="100%")
        )
        self.widget = widgets.VBox([line, self.error])
        self.show(value)
        self.slider.observe(self._moved, "value")
        self.text.observe(self._typed, "value")

    def show(self, value: float) -> None:
        self._value = value
        self._echo = True
        try:
            self.error.say(_unusual(self._scale, value))
            self.text.value = worded(self._scale, value)
            self.slider.value = position(self._scale, value)
        finally:
            self._echo = False

    def _moved(self, change: Any) -> None:
        if not self._echo:
            self._accept(value_at(self._scale, int(change["new"])), moved=True)

    def _typed(self, change: Any) -> None:
        if self._echo or change["new"] == worded(self._scale, self._value):
            return
        try:
            self._accept(read_loggps(self._scale.name, change["new"]))
        except ParameterError as error:
            self.error.say(str(error))

    def _accept(self, value: float, *, moved: bool = False) -> None:
        self._taken(self._scale.name, value)
        self._value = value
        self._echo = True
        try:
            self.error.say(_unusual(self._scale, value))
            self.text.value = worded(self._scale, value)
            if not moved:
                self.slider.value = position(self._scale, value)
        finally:
            self._echo = False


def last_position(scale: Scale) -> int:
    """Return the index of a slider's last position; position 0 is the value 0."""
    if scale.name == "S":
        return 1 + math.ceil(math.log2(scale.high / scale.low))
    return 1 + round(_STEPS_PER_DECADE * math.log10(scale.high / scale.low))


def value_at(scale: Scale, place: int) -> float:
    """Return the value at a position: S in powers of two, others on a logarithmic scale."""
    if place == 0:
        return 0
    if scale.name == "S":
        return min(1 << (place - 1), _ALL_EAGER)
    return float(f"{scale.low * 10 ** ((place - 1) / _STEPS_PER_DECADE):.3g}")


def position(scale: Scale, value: float) -> int:
    """Return the position nearest to a value in s, s/B or B, which may be off the slider."""
    if value <= 0:
        return 0
    value = min(max(value, scale.low), scale.high)
    if scale.name == "S":
        return 1 + round(math.log2(value / scale.low))
    return 1 + round(_STEPS_PER_DECADE * math.log10(value / scale.low))


def worded(scale: Scale, value: float) -> str:
    """Return a value as the row shows it: ``2.50 µs``, ``0.04 ns/B``, ``64 KiB``, ``all``."""
    if scale.name == "S":
        return _ALL if value >= _ALL_EAGER else byte_label(int(value))
    if value == 0:
        return "0"
    return f"{value * 1e9:.3g} ns/B" if scale.per_byte else format_quantity(value, "time")


def _unusual(scale: Scale, value: float) -> str:
    """Return a warning where a nonzero value lies outside the slider, else ""."""
    if not value or scale.low * (1 - 1e-9) <= value <= scale.high * (1 + 1e-9):
        return ""
    return (
        f"{worded(scale, value)} lies outside the slider, {worded(scale, scale.low)} to "
        f"{worded(scale, scale.high)}; check its unit"
    )
