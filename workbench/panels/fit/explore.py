"""A small panel for a first look: a machine, a few parameters, and what one message costs."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import ipywidgets as widgets

from workbench import datasets
from workbench.errors import ConfigurationError
from workbench.measure import OSUCurve
from workbench.models import MODELS, NetworkModel
from workbench.models.parameter import Value
from workbench.panels.controls import ParameterControl
from workbench.panels.fit.picture import CurvePicture
from workbench.panels.live import renew
from workbench.panels.look import panel_box
from workbench.simulate import simulate_osu

FIRST_LOOK = (
    "node.nic.injection.latency",
    "node.nic.ejection.latency",
    "node.nic.injection.bandwidth",
    "node.nic.mtu",
)


class ExplorePanel:
    """Drag a parameter of SNAPPR and see latency and bandwidth move beside a real machine.

    Args:
        machine: name of a shipped machine, see `workbench.datasets.list`.
        keys: the parameters to offer, by SST/macro's key.
        height: height of the figures in pixels.
    """

    def __init__(
        self,
        machine: str = "azure-hb96v3-hdr",
        keys: Sequence[str] = FIRST_LOOK,
        *,
        height: int = 300,
    ) -> None:
        # Callbacks may come from more than one thread of the kernel; one at a time may act.
        self._lock = threading.RLock()
        self._model: NetworkModel = MODELS["snappr"]()
        described = {p.key: p for p in self._model.parameters()}
        self._controls = {key: ParameterControl(described[key], self._changed) for key in keys}
        self._machine = widgets.Dropdown(
            options=[*datasets.list()],
            value=machine,
            description="Machine",
            style={"description_width": "152px"},
            layout=widgets.Layout(width="47%", min_width="330px"),
        )
        self._picture = CurvePicture(datasets.load(machine), height=height, errors=False)
        self._machine.observe(self._machine_changed, "value")
        # Two rows of two: the figures below should be in sight while a slider moves.
        half = widgets.Layout(width="47%", min_width="330px", margin="0 2% 0 0")
        rows = [widgets.VBox([control.widget], layout=half) for control in self._controls.values()]
        sliders = widgets.HBox(rows, layout=widgets.Layout(flex_flow="row wrap", width="100%"))
        head = widgets.VBox([self._machine, sliders])
        self.widget = panel_box([head, self._picture.widget])
        self._redraw()

    @property
    def model(self) -> NetworkModel:
        """The model with the values of the sliders."""
        return self._model

    @property
    def curve(self) -> OSUCurve | None:
        """The simulated curve that is shown."""
        return self._picture.simulated

    def set(self, key: str, value: Value) -> None:
        """Move a slider.

        Args:
            key: SST/macro's dotted key.
            value: SI, or a text with a unit such as ``"300ns"``.

        Raises:
            ParameterError: there is no such parameter, or the value is not accepted.
        """
        with self._lock:
            self._model = self._model.with_values({key: value})
            if key in self._controls:
                self._controls[key].show(self._model.get(key))
            self._redraw()

    def _repr_mimebundle_(self, **options: Any) -> Any:
        renew(self._picture.view)
        return self.widget._repr_mimebundle_(**options)

    def _changed(self, key: str, value: Value) -> None:
        self.set(key, value)

    def _machine_changed(self, change: Any) -> None:
        with self._lock:
            self._redraw(datasets.load(change["new"]))

    def _redraw(self, machine: OSUCurve | None = None) -> None:
        messages: dict[str, str] = {}
        measured = self._picture.measured if machine is None else machine
        curve = None
        try:
            curve = simulate_osu(self._model, measured.sizes.tolist())
        except ConfigurationError as error:
            messages = {key: str(error) for key in error.keys if key in self._controls}
        if machine is not None:
            self._picture.show_machine(machine, curve)
        elif curve is not None:
            self._picture.draw(curve)
        for key, control in self._controls.items():
            control.error.say(messages.get(key, ""))
