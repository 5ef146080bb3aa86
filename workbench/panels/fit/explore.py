"""A small panel for a first look: a machine, a few parameters, and the cost of one message.

What a slider holds is an attribute:

    panel = ExplorePanel()
    panel.injection_latency = "300ns"        # or 3e-7, or panel.set("node.nic...", ...)
    panel.machine = "llnl-dane-omnipath"
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import ipywidgets as widgets

from workbench import datasets, tasks
from workbench.errors import ConfigurationError
from workbench.measure import OSUCurve
from workbench.models import MODELS, NetworkModel
from workbench.models.parameter import key_named
from workbench.panels import inputs
from workbench.panels.error_line import ErrorLine
from workbench.panels.fit.curve_view import CurveView
from workbench.panels.fit.simulation_job import EARLIER, SimulationJob
from workbench.panels.job_controls import error_text
from workbench.panels.live_view import LiveView
from workbench.panels.panel import Panel
from workbench.panels.parameter_controls import by_attribute, parameter_control
from workbench.panels.session.stateful import drawn_once
from workbench.panels.style import choose
from workbench.parameters import Value

FIRST_KEYS = (
    "node.nic.injection.latency",
    "node.nic.ejection.latency",
    "node.nic.injection.bandwidth",
    "node.nic.mtu",
)
_UNITS = (
    "Type a value with its unit, such as 500 ns, 12.5 GB/s or 100 Gbit/s; a size alone is in "
    "bytes. SNAPPR is here as SST/macro has it: messages of up to 512 B cross the network once. "
    "The panel of notebook 01 begins without that, as the published fits do, so that equal values "
    "give longer times of small messages there."
)


class ExplorePanel(Panel[OSUCurve | None]):
    """Drag a parameter of SNAPPR and see latency and bandwidth move beside a real machine.

    Args:
        machine: name of a shipped machine, see `workbench.datasets.list`.
        keys: the parameters to offer, by SST/macro's key.
        height: height of the figures in pixels.
    """

    def __init__(
        self,
        machine: str = "azure-hb96v3-hdr",
        keys: Sequence[str] = FIRST_KEYS,
        *,
        height: int = 300,
    ) -> None:
        super().__init__()
        self._model: NetworkModel = MODELS["snappr"]()
        self._values: tuple[NetworkModel, dict[str, Value]] | None = None
        described = {p.key: p for p in self._model.parameters()}
        self._parameters = {key: parameter_control(described[key], self.set) for key in keys}
        self._machine = inputs.Dropdown(
            options=[*datasets.list()],
            value=machine,
            description="Machine",
            style={"description_width": "152px"},
            layout=widgets.Layout(width="47%", min_width="330px"),
        )
        self._moved = ""
        self._error = ErrorLine()
        self._measured = datasets.load(machine)
        self._picture = CurveView(self._measured, height=height, errors=False)
        self._simulating = SimulationJob(
            lambda curve: self._picture.draw(self._measured, curve),
            self._refuse,
            lambda stale: self._picture.mark_stale(stale, self._measured),
            self._ticker.start,
        )
        self._machine.observe(self._machine_changed, "value")
        # Two rows of two: the figures below should be in sight while a slider moves.
        half = widgets.Layout(width="47%", min_width="330px", margin="0 2% 0 0")
        rows = [
            widgets.VBox([control.widget], layout=half) for control in self._parameters.values()
        ]
        sliders = widgets.HBox(rows, layout=widgets.Layout(flex_flow="row wrap", width="100%"))
        units = widgets.HTML(f'<div style="font-size:12px">{_UNITS}</div>')
        head = widgets.VBox([self._machine, sliders, units, self._error, self._simulating.widget])
        self.widget = self._boxed([head, self._picture.widget])
        self._simulate()

    @property
    def model(self) -> NetworkModel:
        """The model with the values of the sliders."""
        return self._model

    @property
    def curve(self) -> OSUCurve | None:
        """The displayed simulated curve."""
        return self._picture.simulated

    @property
    def controls(self) -> Mapping[str, Any]:
        """The controls of the settings, by name."""
        parameters = by_attribute(self._parameters.values())
        return {"machine": self._machine, **self._picture.controls, **parameters}

    def set(self, key: str, value: Value) -> None:
        """Move a slider; a long simulation runs in the background.

        Args:
            key: SST/macro's dotted key, or the attribute path with dots or underscores.
            value: SI, or a text with a unit such as ``"300ns"``.

        Raises:
            ParameterError: there is no such parameter, or the value is not accepted.
        """
        self._moved = key_named(key, self._model.parameters())
        self._model = self._model.with_values({self._moved: value})
        if self._moved in self._parameters:
            self._parameters[self._moved].show(self._model.get(self._moved))
        self._simulate()

    def stop(self) -> None:
        """Stop the running simulation; the curves remain those of the earlier values."""
        self._simulating.stop()

    def _setting_names(self) -> tuple[str, ...]:
        return ("machine", *by_attribute(self._parameters.values()))

    def _saved_names(self) -> tuple[str, ...]:
        # Also parameters without a slider, which `set` may have moved.
        return ("machine", *self._picture.controls, *self._parameter_values())

    def _saved(self, name: str) -> Any:
        own = name in ("machine", *self._picture.controls)
        return self.controls[name].value if own else self._parameter_values()[name]

    def _parameter_values(self) -> dict[str, Value]:
        """Return the model's values by attribute."""
        if self._values is None or self._values[0] is not self._model:
            held = {p.attribute: p.value for p in self._model.parameters()}
            self._values = self._model, held
        return self._values[1]

    def _restore(self, name: str, value: Any) -> None:
        if name in self._picture.controls:
            choose(self.controls[name], name, value)
        else:
            self._set(name, value)

    def _set(self, name: str, value: Any) -> None:
        if name == "machine":
            super()._set(name, value)
        else:
            self.set(name, value)

    def _live_views(self) -> tuple[LiveView, ...]:
        return (self._picture.view,)

    def _outcome(self) -> OSUCurve | None:
        return self.curve

    def _refresh(self) -> bool:
        return self._simulating.refresh()

    def _errors(self) -> list[ErrorLine]:
        return [self._error, *(control.error for control in self._parameters.values())]

    def _jobs(self) -> list[tasks.Job[Any] | None]:
        return [self._simulating.job]

    def _machine_changed(self, change: Any) -> None:
        self._measured = datasets.load(change["new"])
        self._simulate()

    @drawn_once
    def _simulate(self) -> None:
        """Simulate the sliders' model at the machine's sizes."""
        self._error.say("")
        for control in self._parameters.values():
            control.say("")
        self._simulating.begin(self._model, self._measured.sizes.tolist())

    def _refuse(self, error: BaseException) -> None:
        """Show an error at the sliders it names, else at the one that moved, else above."""
        keys = [key for key in getattr(error, "keys", ()) if key in self._parameters]
        if not keys and self._moved in self._parameters and isinstance(error, ConfigurationError):
            keys = [self._moved]
        for key in keys:
            self._parameters[key].say(f"{error}; {EARLIER}")
        if not keys:
            self._error.say(f"{error_text(error)}; {EARLIER}")
