"""LogGPS's parameters in a panel: a machine that gives them, and a slider for each."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import partial
from typing import Any

import ipywidgets as widgets

from workbench import machines
from workbench.errors import ParameterError
from workbench.measure.curve import byte_label
from workbench.models import LogGPS
from workbench.models.loggps import LOGGPS, parse_loggps
from workbench.models.parameter import INT32_MAX
from workbench.panels.error_line import ErrorLine
from workbench.panels.machine_choice import MachineChoice
from workbench.panels.settings import Setting
from workbench.panels.slider import Scale, Slider
from workbench.panels.style import choose
from workbench.parameters import Parameter
from workbench.simulate.picoseconds import PicosecondCosts
from workbench.units import format_quantity

LOGGOPSIM = LogGPS(L=2.5e-6, o=1.5e-6, g=1e-6, G=6e-9, O=0.0, S=65535)
"""LogGOPSim's defaults."""

DEFAULTS_NAME = "loggopsim"
"""Their entry in the list of machines."""

OWN = ""
"""The entry of the user's own parameters in the list of machines."""

TIMES = {"L_us": -6, "o_us": -6, "g_us": -6, "G_ns": -9, "O_ns": -9}
"""The power of ten of a setting's unit, for times in seconds."""

_FIRST = (("own values", OWN), ("LogGOPSim's defaults", DEFAULTS_NAME))
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


class LogGPSChoice:
    """A machine, and sliders for the six parameters; ``changed`` is called after a user's change.

    ``machine`` is a name or a file; ``loggopsim`` stands for LogGOPSim's defaults.
    """

    def __init__(self, machine: str, changed: Callable[[], None]) -> None:
        self.model, self.machine = parameters_of(machine)
        self._changed = changed
        self.error = ErrorLine()
        self.list = MachineChoice(machine, first=_FIRST, label="Machine", width="330px")
        self.rows = {
            name: Slider(
                scale,
                getattr(self.model, name),
                partial(self._moved, name),
                name=f"{name}  {words}",
                typed_tooltip=f"Type {words} ({name}) with its unit, such as "
                f"{scale.text(scale.value_at(scale.last // 2))}",
                name_width="144px",
                text_width="96px",
            )
            for scale in SCALES
            for name, words in [(scale.about.key, scale.about.description.partition(":")[0])]
        }
        self.settings = {
            "machine": Setting(self.list, get=lambda: self.machine, restore=self._restore),
            "model": Setting(
                get=lambda: self.model,
                take=self.take,
                save=lambda: {letter: getattr(self.model, letter) for letter in self.rows},
                restore=lambda held: self.take(LogGPS(**held)),
            ),
            **{name: self._time(name, power) for name, power in TIMES.items()},
            "S_bytes": Setting(
                self.rows["S"],
                get=lambda: self.model.S,
                take=lambda size: self.take(self.model.replace(S=size)),
                session="no",
            ),
        }
        self.list.on_choice(self._chosen)

    @property
    def errors(self) -> list[ErrorLine]:
        """The error lines of the controls."""
        return [self.error, *(row.error for row in self.rows.values())]

    def sliders(self, *columns: str, least: int = 380) -> Any:
        """Return the sliders of some letters, those of a text one below the other.

        ``least`` is a column's width in pixels, below which the columns stand one below the other.
        """
        layout = widgets.Layout(flex=f"1 1 {least}px", width="auto", margin="0 14px 0 0")
        made = [
            widgets.VBox([self.rows[letter].widget for letter in letters], layout=layout)
            for letters in columns
        ]
        return widgets.HBox(made, layout=widgets.Layout(flex_flow="row wrap", width="100%"))

    def take(self, model: LogGPS) -> None:
        """Set the parameters, as own values rather than a machine's."""
        PicosecondCosts.of(model)  # the error of parameters too large for a replay
        for name, row in self.rows.items():
            row.show(getattr(model, name))
        self._own(model)

    def _time(self, name: str, power: int) -> Setting:
        letter = name[0]
        return Setting(
            self.rows[letter],
            get=lambda: getattr(self.model, letter) * 10.0**-power,
            take=lambda value: self.take(
                self.model.replace(**{letter: seconds_of(letter, value, power)})
            ),
            session="no",
        )

    def _restore(self, machine: str) -> None:
        if machine == OWN:
            self._own(self.model)
        else:
            choose(self.list, "machine", machine)

    def _chosen(self, machine: str) -> None:
        if machine == OWN:
            return
        self.model, self.machine = parameters_of(machine)
        self.error.say("")
        for name, row in self.rows.items():
            row.show(getattr(self.model, name))
        self._changed()

    def _moved(self, name: str, value: float) -> None:
        model = self.model.replace(**{name: value})
        PicosecondCosts.of(model)
        self._own(model)

    def _own(self, model: LogGPS) -> None:
        self.error.say("")
        self.model, self.machine = model, OWN
        self.list.value = OWN
        self._changed()


def parameters_of(machine: str) -> tuple[LogGPS, str]:
    """Return the parameters of a machine or of ``loggopsim``, and the name that gave them."""
    if machine == DEFAULTS_NAME:
        return LOGGOPSIM, OWN
    return machines.load(machine).loggps, machine


def seconds_of(name: str, value: Any, power: int) -> float:
    """Return a number times 10^power, or a text with a unit, in s without rounding error."""
    if isinstance(value, str):
        return parse_loggps(name.partition("_")[0], value)
    try:
        return float(Decimal(repr(float(value))).scaleb(power))
    except (TypeError, ValueError, InvalidOperation):
        raise ParameterError(f"{name} must be a number; got {value!r}", key=name) from None


def python_of(model: LogGPS, machine: str) -> tuple[str, str]:
    """Return a subpackage of workbench, and the expression with it for parameters of a machine."""
    if machine:
        return "machines", f'machines.load("{machine}").loggps'
    values = ", ".join(f"{letter}={getattr(model, letter)!r}" for letter in LOGGPS)
    return "models", f"models.LogGPS({values})"


def short_model(model: LogGPS) -> str:
    """Return the parameters in a few words: ``L 2.50 µs, o 1.50 µs, …``."""
    plain = model.replace(errors={})
    return ", ".join(f"{name} {plain.text(name)}" for name in LOGGPS)
