"""Sliders for L, o, g, G, O and S, logarithmic with zero at the left end, and typed values."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import ipywidgets as widgets

from workbench.measure.curve import byte_label
from workbench.models import LogGPS
from workbench.models.loggps import LOGGPS, parse_loggps
from workbench.models.parameter import INT32_MAX
from workbench.panels.error_line import ErrorLine
from workbench.panels.slider import Scale, Slider
from workbench.parameters import Parameter
from workbench.units import format_quantity

_STEPS_PER_DECADE = 40  # a step of 6 %: 240 from 1 ns to 1 ms
_ALL = "all"


@dataclass(frozen=True)
class LogGPSScale(Scale):
    """The range of a parameter: logarithmic with 0 at the left end, S in powers of two."""

    about: Parameter  # its bounds above 0; s, s/B or B

    @property
    def last(self) -> int:
        """The last position; position 0 is the value 0."""
        if self.about.unit == "B":
            return 1 + math.ceil(math.log2(self.about.high / self.about.low))
        return 1 + round(_STEPS_PER_DECADE * math.log10(self.about.high / self.about.low))

    def value_at(self, position: int) -> float:
        """Return the value at a position in s, s/B or B."""
        if position == 0:
            return 0
        if self.about.unit == "B":
            return min(1 << (position - 1), INT32_MAX)
        return float(f"{self.about.low * 10 ** ((position - 1) / _STEPS_PER_DECADE):.3g}")

    def position(self, value: float) -> int:
        """Return the position nearest to a value in s, s/B or B, which may be off the slider."""
        if value <= 0:
            return 0
        value = self.about.clip(value)
        if self.about.unit == "B":
            return 1 + round(math.log2(value / self.about.low))
        return 1 + round(_STEPS_PER_DECADE * math.log10(value / self.about.low))

    def text(self, value: float) -> str:
        """Return a value as the row shows it: ``2.50 µs``, ``0.04 ns/B``, ``64 KiB``, ``all``."""
        if self.about.unit == "B":
            return _ALL if value >= INT32_MAX else byte_label(int(value))
        if value == 0:
            return "0"
        if self.about.unit == "s/B":
            return f"{value * 1e9:.3g} ns/B"
        return format_quantity(value, "time")

    def read(self, given: str) -> float:
        """Return the value of a text in s, s/B or B, or raise a ParameterError."""
        return parse_loggps(self.about.key, given)

    def unusual(self, value: float) -> str:
        """Return a warning where a nonzero value lies outside the slider, else ""."""
        low, high = self.about.low, self.about.high
        if not value or low * (1 - 1e-9) <= value <= high * (1 + 1e-9):
            return ""
        return (
            f"{self.text(value)} lies outside the slider, {self.text(low)} to {self.text(high)}; "
            "check its unit"
        )


SCALES = tuple(map(LogGPSScale, LOGGPS.values()))


class LogGPSSliders:
    """Sliders for six LogGPS parameters; ``changed`` gets them after a user's change."""

    def __init__(self, model: LogGPS, changed: Callable[[LogGPS], None]) -> None:
        self._model, self._changed = model, changed
        self.rows = {
            name: Slider(
                scale,
                getattr(model, name),
                partial(self._take, name),
                name=f"{name}  {words}",
                typed_tooltip=f"Type {words} ({name}) with its unit, such as "
                f"{scale.text(scale.value_at(scale.last // 2))}",
                name_width="144px",
                text_width="96px",
            )
            for scale in SCALES
            for name, words in [(scale.about.key, scale.about.description.partition(":")[0])]
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
