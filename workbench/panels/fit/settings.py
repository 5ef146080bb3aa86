"""The two rows of settings above the figures: machine and model, and the fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import ipywidgets as widgets

from workbench import tasks
from workbench.fit import DEFAULT_ENGINE, DEFAULT_TRIALS, ENGINES, LOSSES, TARGETS, FitResult
from workbench.models import NetworkModel
from workbench.panels import inputs
from workbench.panels.error_line import ErrorLine, NoteLine
from workbench.panels.fit.fit_run import StoredFit
from workbench.panels.fit.state import HYBRID
from workbench.panels.job_controls import JobControls
from workbench.panels.machine_choice import MachineChoice
from workbench.panels.mute import Mute
from workbench.panels.number_field import NumberField, errors_of
from workbench.panels.session.session import Files
from workbench.panels.style import named, push_button, wrapping_row
from workbench.panels.upload import Upload

KINDS = (
    ("SNAPPR", "snappr"),
    ("SNAPPR + LogP (hybrid)", HYBRID),
    ("LogP", "logp"),
    ("PISCES", "pisces"),
    ("Protocol-aware", "protocol"),
)
VARIANT_NAMES = (("SST/macro, exact", "sstmacro"), ("repaired", "repaired"))
_ENGINE_NAMES = {
    "least-squares": "least squares",
    "tpe": "TPE",
    "tpe-univariate": "TPE, univariate",
    "cma-es": "CMA-ES",
}
ENGINE_NAMES = tuple((_ENGINE_NAMES.get(name, name), name) for name in ENGINES)
READY = "no fit is running"
_OWN_SEARCH = ("the last search", "")
DEFAULT_STUDY = "fits.db"


class Settings:
    """The controls of machine, model and fit, with errors below each row; ``ended`` gets a fit."""

    def __init__(
        self,
        machine: str,
        kind: str,
        uploaded: Callable[[Files], None],
        ended: Callable[[tasks.Job[FitResult]], None],
    ) -> None:
        self._mute = Mute()
        losses = [(name.upper(), name) for name in LOSSES]
        self.controls: dict[str, Any] = {
            "machine": MachineChoice(machine),
            "kind": inputs.Dropdown(options=KINDS, value=kind, **named("Model", "225px")),
            "variant": inputs.Dropdown(
                options=VARIANT_NAMES, value="sstmacro", **named("Variant", "205px")
            ),
            "loss": inputs.Dropdown(options=losses, value="rmsre", **named("Loss", "120px")),
            "target": inputs.Dropdown(options=TARGETS, value="both", **named("Target", "140px")),
            "engine": inputs.Dropdown(
                options=ENGINE_NAMES, value=DEFAULT_ENGINE, **named("Engine", "184px")
            ),
            "trials": NumberField(
                DEFAULT_TRIALS, 1, 1_000_000, step=100, **named("Trials", "120px")
            ),
            "seed": NumberField(0, 0, 2**31 - 1, **named("Seed", "96px")),
            "study": inputs.Text(
                value=DEFAULT_STUDY, continuous_update=False, **named("Study", "116px")
            ),
        }
        self.controls["resumed"] = inputs.Dropdown(
            options=[_OWN_SEARCH], **named("Stored", "330px")
        )
        self.controls["resumed"].tooltip = "Stored searches with these settings: what Resume takes"
        self.controls["held"] = inputs.Text(
            placeholder="such as mtu, nic_credits",
            continuous_update=False,
            **named("Held", "230px"),
        )
        self.controls["held"].tooltip = "Parameters that the fit leaves as the sliders have them"
        self.controls["without"] = inputs.Text(
            placeholder="such as 4KiB, 8KiB",
            continuous_update=False,
            **named("Left out", "230px"),
        )
        self.controls[
            "without"
        ].tooltip = "Message sizes that the fit leaves out; or click points in the figures"
        self.controls["pinned"] = MachineChoice(
            "", first=[("none", "")], label="Compare with", width="250px"
        )
        self.controls[
            "pinned"
        ].tooltip = "Another machine, or another upload, whose measured points are drawn too"
        self.controls["study"].tooltip = "SQLite file that stores every trial; empty: not stored"
        self.machine_error, self.read = ErrorLine(), NoteLine()
        self.upload = Upload(
            "Upload OSU output",
            uploaded,
            self.machine_error,
            width="150px",
            tooltip="What the OSU micro-benchmarks, or others of their kind, printed",
            multiple=True,
            accept=".txt,.out,.log,.dat,.csv",
        )
        self.resume = push_button("↻ Resume", "Continue the last fit up to Trials", "")
        self.work: JobControls[FitResult] = JobControls(
            ("▶ Start", "Start a new fit", "88px"),
            "Stop the fit now and keep the best so far",
            READY,
            lock=self._lock,
            ended=ended,
            width=230,
            free_at_stop=True,
        )
        c = self.controls
        machine_row = wrapping_row(c["machine"], self.upload, c["kind"], c["variant"])
        names = ("loss", "target", "engine", "trials", "seed", "held", "without", "study")
        how = [c[name] for name in names]
        buttons = (self.work.start, self.work.stop_button, self.resume, c["resumed"])
        fit_row = wrapping_row(*how, *buttons, self.work.state)
        self.widget = widgets.VBox(
            [machine_row, self.read, self.machine_error, fit_row, self.work.error]
        )

    @property
    def errors(self) -> list[ErrorLine]:
        """The error lines of the controls."""
        return [self.machine_error, self.work.error, *errors_of(self.controls.values())]

    def observe(self, handler: Callable[[str, Any], None]) -> None:
        """Call the handler with (name, value) of each setting that changes."""

        def heard(name: str, value: Any) -> None:
            if not self._mute.on:
                handler(name, value)

        for name, control in self.controls.items():
            if isinstance(control, MachineChoice):
                control.on_choice(partial(heard, name))
            elif name != "resumed":
                control.observe(lambda change, name=name: heard(name, change["new"]), "value")

    def add_machine(self, text: str, name: str) -> None:
        """Add a machine to the lists and choose it, without calling the handler."""
        self.offer_machine(text, name)
        with self._mute:
            self.controls["machine"].value = name

    def offer_machine(self, text: str, name: str) -> None:
        """Add a machine of this panel alone, such as an uploaded curve, to the lists."""
        for choice in (self.controls["machine"], self.controls["pinned"]):
            choice.add(name, text)

    def say_left_out(self, text: str) -> None:
        """Show which sizes are left out, without calling the handler."""
        self._mute.set(self.controls["without"], text)

    def offer_stored(self, stored: Sequence[StoredFit], chosen: str = "") -> None:
        """List the stored searches that Resume may go on with; hide the list where none is."""
        control = self.controls["resumed"]
        options = [(one.text, one.name) for one in stored] or [_OWN_SEARCH]
        names = [name for _, name in options]
        self._mute.set(control, chosen if chosen in names else names[0], options)
        control.layout.display = "" if stored else "none"

    def offer_variant(self, model: NetworkModel) -> None:
        """Show the list of variants if the model has several."""
        several = len(model.variants) > 1
        self.controls["variant"].layout.display = "" if several else "none"

    def forget_fit(self) -> None:
        """Stop the running fit, and show that none runs."""
        self.work.drop()
        self.work.progress.value = 0.0
        self.work.status.value = READY

    def _lock(self, running: bool) -> None:
        for control in (*self.controls.values(), self.upload, self.resume):
            control.disabled = running
