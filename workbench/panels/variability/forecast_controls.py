"""The controls of the panel of forecasts."""

from __future__ import annotations

from typing import Any

import ipywidgets as widgets

from workbench.panels import inputs
from workbench.panels.number_field import NumberField
from workbench.panels.slider import Slider
from workbench.panels.style import named
from workbench.panels.variability.blame_controls import source_buttons, world_controls, zone_control
from workbench.panels.variability.blame_state import EMULATED, GENERATED, OWN
from workbench.panels.variability.forecast_state import BEST
from workbench.variability.deviation import DEVIATION_WAYS
from workbench.variability.forecasting.forecast import LEARNERS, MODELS
from workbench.variability.tables.steps import FEATURES

ASKED = ("m", "k", "features", "own_times")
"""Settings of the forecast."""


OF_DEVIATION = ("explaining", "ways", "per_second")
"""Settings of the analysis of deviations."""


def forecast_controls(moment: Slider, views: dict[str, str]) -> dict[str, Any]:
    """Return all controls of the panel, by name; ``views`` by their names on the page."""
    return {
        "source": source_buttons(
            {
                EMULATED: "A program recorded on a link that users share: emulated",
                GENERATED: "Runs on a dragonfly whose users are made up: synthetic",
                OWN: "Steps of runs of your program",
            },
            EMULATED,
        ),
        **world_controls(),
        "view": inputs.ToggleButtons(
            options=list(views.items()),
            value=next(iter(views.values())),
            style={"button_width": "110px"},
        ),
        "run": inputs.Dropdown(options=[("", 0)], value=0, **named("Run", "270px")),
        "at": moment,
        "model": inputs.Dropdown(
            options=[("the best one", BEST), *((name, name) for name in MODELS)],
            value=BEST,
            **named("Model", "270px"),
        ),
        "m": NumberField(
            1,
            1,
            10_000,
            called="steps seen",
            tooltip="Steps that a forecast sees",
            **named("Steps seen, m", "160px"),
        ),
        "k": NumberField(
            1,
            1,
            10_000,
            called="steps ahead",
            tooltip="Steps whose total time is forecast",
            **named("Steps ahead, k", "165px"),
        ),
        "features": inputs.Dropdown(
            options=[("", ())],
            value=(),
            tooltip="app: the job's routers; placement: its nodes; io, sys: other routers",
            **named("Counters", "330px"),
        ),
        "own_times": inputs.Checkbox(
            value=True,
            description="and the times of the steps seen",
            indent=False,
            tooltip="Off: forecasts see counters only, as in the paper",
            layout=widgets.Layout(width="230px"),
        ),
        "explaining": inputs.Dropdown(
            options=[
                ("the job's routers, as in the paper", ("app",)),
                ("all that were read", FEATURES),
            ],
            value=("app",),
            tooltip="Counters that explain; where nodes are says which run it is, if steps are "
            "held out",
            **named("Explained by", "340px"),
        ),
        "ways": inputs.Dropdown(
            options=[
                ("whole runs", DEVIATION_WAYS[:1]),
                ("whole runs, single steps, the paper's way", DEVIATION_WAYS),
            ],
            value=DEVIATION_WAYS[:1],
            tooltip="What is held out of the learning; the last two take three times as long",
            **named("Held out", "380px"),
        ),
        "per_second": inputs.Checkbox(
            value=False,
            description="counters per second",
            indent=False,
            tooltip="What a counter rises by contains the time of the step, which it is to explain",
            layout=widgets.Layout(width="180px"),
        ),
        "models": inputs.Dropdown(
            options=[
                ("ridge: a second", ("ridge",)),
                ("ridge and trees", ("trees", "ridge")),
                ("the network too: up to minutes", LEARNERS),
            ],
            value=("ridge",),
            tooltip="Models that are compared, beside those that learn nothing",
            **named("Models", "280px"),
        ),
        "zone": zone_control(),
    }
