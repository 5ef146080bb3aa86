"""The controls of the panel of blame: where the tables come from, what is shown, who is asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import ipywidgets as widgets

from workbench.panels import inputs
from workbench.panels.number_field import NumberField
from workbench.panels.slider import Even, Slider
from workbench.panels.style import named
from workbench.panels.variability.blame_state import (
    EMULATED,
    GENERATED,
    OWN,
    PERMUTATIONS,
    RUN,
    VIEWS,
)
from workbench.variability.world.application import APPLICATIONS
from workbench.variability.world.machine import PRESETS

FIRST_APPLICATION, FIRST_RUNS = "amg-128", 40

_SOURCES = {GENERATED: "Made-up world", EMULATED: "Emulated link", OWN: "Your tables"}

WORLD = ("preset", "application", "runs", "seed", "interference")
"""Settings of a made-up world."""

FILES = ("zone", "offset_s")
"""Settings of the reading of the user's files."""

ASKED = ("least_nodes", "during_all", "trend", "tau", "permutations")
"""Settings of blame."""

WORLD_IS_MADE = "The world is being made."
WORLD_IS_MISSING = "There is no world yet; press ▶ Generate to make one."


class StepScale(Even):
    """The steps of a run from one to another."""

    def __init__(self, last: int, first: int = 0) -> None:
        super().__init__(first, last, 1, "step")
        self._first = first

    def value_at(self, position: int) -> int:
        """Return the step at a position."""
        return self._first + position

    def read(self, given: Any) -> int:
        """Return the step that is given as a text or a number, or raise a ParameterError."""
        return round(super().read(given))


def step_slider(
    moved: Callable[[], None], name: str = "Step", tooltip: str = "A step of the run"
) -> Slider:
    """Return the slider of the step; ``moved`` is called after each move."""
    return Slider(
        StepScale(0),
        0,
        lambda _: moved(),
        name=name,
        typed_tooltip=tooltip,
        text_width="64px",
        width="min(560px, 98%)",
    )


def world_controls(first_runs: int = FIRST_RUNS) -> dict[str, Any]:
    """Return the controls of a made-up world, by name."""
    presets = [
        (f"{name}: {one.groups} groups, {one.users} users", name) for name, one in PRESETS.items()
    ]
    return {
        "preset": inputs.Dropdown(options=presets, value="small", **named("Machine", "270px")),
        "application": inputs.Dropdown(
            options=[(one.title, name) for name, one in APPLICATIONS.items()],
            value=FIRST_APPLICATION,
            **named("Program", "290px"),
        ),
        "runs": NumberField(first_runs, 10, 1000, step=10, **named("Runs", "110px")),
        "seed": NumberField(0, 0, 2**31 - 1, **named("Seed", "100px")),
        "interference": inputs.Checkbox(
            value=True,
            description="others slow the runs down",
            indent=False,
            tooltip="Off: a null world, where nobody is to blame",
            layout=widgets.Layout(width="210px"),
        ),
    }


def source_buttons(tooltips: Mapping[str, str], value: str) -> Any:
    """Return the buttons for where tables come from, in the order of their tooltips."""
    return inputs.ToggleButtons(
        options=[(_SOURCES[name], name) for name in tooltips],
        value=value,
        tooltips=list(tooltips.values()),
        style={"button_width": "130px"},
    )


def zone_control() -> Any:
    """Return the control of the time zone of the user's files."""
    return inputs.Text(
        "UTC",
        continuous_update=False,
        tooltip="Time zone of times that name none, such as America/Los_Angeles",
        **named("Time zone", "270px"),
    )


def blame_controls(step: Slider) -> dict[str, Any]:
    """Return all controls of the panel, by name."""
    return {
        "source": source_buttons(
            {
                GENERATED: "A dragonfly whose users are made up: synthetic, causes known",
                EMULATED: "A program recorded on a link that users share: emulated, causes known",
                OWN: "Runs and jobs of your machine",
            },
            GENERATED,
        ),
        **world_controls(),
        "view": inputs.ToggleButtons(
            options=list(VIEWS.items()), value=RUN, style={"button_width": "110px"}
        ),
        "run": inputs.Dropdown(options=[("", 0)], value=0, **named("Run", "270px")),
        "step": step,
        "user": inputs.Dropdown(options=[("nobody", "")], value="", **named("Without", "300px")),
        "least_nodes": NumberField(
            0,
            0,
            1_000_000,
            called="nodes of a large job",
            tooltip="Users with a job of so many nodes are asked about; 0: 128, or 1 if few",
            **named("Large job (nodes)", "190px"),
        ),
        "during_all": inputs.Checkbox(
            value=True,
            description="during the whole run",
            indent=False,
            tooltip="Whether large jobs must run from the start of a run to its end",
            layout=widgets.Layout(width="180px"),
        ),
        "trend": inputs.Checkbox(
            value=True,
            description="remove the trend of time",
            indent=False,
            tooltip="Off: users who come while runs get slower may be blamed, as in the paper",
            layout=widgets.Layout(width="190px"),
        ),
        "tau": NumberField(
            1.0,
            0.01,
            100.0,
            tooltip="Mutual information takes runs below so many times the mean as optimal",
            **named("τ (times the mean)", "190px"),
        ),
        "permutations": NumberField(
            PERMUTATIONS, 100, 1_000_000, step=1000, **named("Permutations", "170px")
        ),
        "zone": zone_control(),
        "offset_s": NumberField(
            0.0,
            -1e9,
            1e9,
            tooltip="Added to the times of the job log, if its clock differs from the runs'",
            **named("Jobs' clock, add (s)", "220px"),
        ),
    }
