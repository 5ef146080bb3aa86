"""Sliders for L, o, g, G, O and S, logarithmic with zero at the left end, and typed values."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import ipywidgets as widgets

from workbench.measure.curve import byte_label
from workbench.models import LogGPS
from workbench.models.loggps import parse_loggps
from workbench.models.parameter import INT32_MAX
from workbench.panels.error_line import ErrorLine
from workbench.panels.slider import Scale, Slider
from workbench.units import format_quantity

_STEPS_PER_DECADE = 40  # a step of 6 %: 240 from 1 ns to 1 ms
_ALL = "all"


@dataclass(frozen=True)
class LogGPSScale(Scale):
    """The range of a parameter: logarithmic with 0 at the left end, S in powers of two."""

    name: str  # LogGPS letter
    words: str
    per_byte: bool
    low: float  # smallest value above 0; s, s/B or B
    high: float

    @property
    def last(self) -> int:
        """The last position; position 0 is the value 0."""
        if self.name == "S":
            return 1 + math.ceil(math.log2(self.high / self.low))
        return 1 + round(_STEPS_PER_DECADE * math.log10(self.high / self.low))

    def value_at(self, position: int) -> float:
        """Return the value at a position in s, s/B or B."""
        if position == 0:
            return 0
        if self.name == "S":
            return min(1 << (position - 1), INT32_MAX)
        return float(f"{self.low * 10 ** ((position - 1) / _STEPS_PER_DECADE):.3g}")

    def position(self, value: float) -> int:
        """Return the position nearest to a value in s, s/B or B, which may be off the slider."""
        if value <= 0:
            return 0
        value = min(max(value, self.low), self.high)
        if self.name == "S":
            return 1 + round(math.log2(value / self.low))
        return 1 + round(_STEPS_PER_DECADE * math.log10(value / self.low))

    def text(self, value: float) -> str:
        """Return a value as the row shows it: ``2.50 µs``, ``0.04 ns/B``, ``64 KiB``, ``all``."""
        if self.name == "S":
            return _ALL if value >= INT32_MAX else byte_label(int(value))
        if value == 0:
            return "0"
        return f"{value * 1e9:.3g} ns/B" if self.per_byte else format_quantity(value, "time")

    def read(self, given: str) -> float:
        """Return the value of a text in s, s/B or B, or raise a ParameterError."""
        return parse_loggps(self.name, given)

    def unusual(self, value: float) -> str:
        """Return a warning where a nonzero value lies outside the slider, else ""."""
        if not value or self.low * (1 - 1e-9) <= value <= self.high * (1 + 1e-9):
            return ""
        return (
            f"{self.text(value)} lies outside the slider, {self.text(self.low)} to "
            f"{self.text(self.high)}; check its unit"
        )


SCALES = (
    LogGPSScale("L", "latency", False, 1e-9, 1e-2),
    LogGPSScale("o", "overhead", False, 1e-9, 1e-3),
    LogGPSScale("g", "gap", False, 1e-9, 1e-3),
    LogGPSScale("G", "gap per byte", True, 1e-12, 1e-7),
    LogGPSScale("O", "overhead per byte", True, 1e-13, 1e-7),
    LogGPSScale("S", "eager up to", False, 1, INT32_MAX),
)


class LogGPSSliders:
    """Sliders for six LogGPS parameters; ``changed`` gets them after a user's change."""

    def __init__(self, model: LogGPS, changed: Callable[[LogGPS], None]) -> None:
        self._model, self._changed = model, changed
        self.rows = {
            scale.name: Slider(
                scale,
                getattr(model, scale.name),
                partial(self._take, scale.name),
                name=f"{scale.name}  {scale.words}",
                typed_tooltip=f"Type {scale.words} ({scale.name}) with its unit, such as "
                f"{scale.text(scale.value_at(scale.last // 2))}",
                name_width="144px",
                text_width="96px",
            )
            for scale in SCALES
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
