"""The state of the panel of forecasts, and the Python code that makes what it shows."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from workbench.panels.variability.blame_state import EMULATED_NAME, world_call
from workbench.panels.variability.step_sources import StepSource
from workbench.variability.tables.steps import FEATURES, StepTable
from workbench.variability.world.scene import WorldSettings

BEST = ""
"""Stands for the model with the least error."""


@dataclass(frozen=True)
class ForecastState:
    """The values of the controls; ``run`` is a place from 0, ``at`` a number of steps."""

    source: str
    preset: str
    application: str
    runs: int
    seed: int
    interference: bool
    view: str
    run: int
    at: int
    model: str
    m: int
    k: int
    features: tuple[str, ...]
    own_times: bool
    explaining: tuple[str, ...]
    ways: tuple[str, ...]
    per_second: bool
    models: tuple[str, ...]
    zone: str

    @property
    def settings(self) -> WorldSettings:
        """What the world is made from."""
        return WorldSettings(self.preset, self.application, self.runs, self.seed, self.interference)

    @property
    def asked(self) -> Hashable:
        """What a forecast depends on, besides the steps."""
        return self.m, self.k, self.features, self.own_times

    @property
    def options(self) -> dict[str, Any]:
        """Options of ``workbench.variability.forecast``."""
        return {
            "m": self.m,
            "k": self.k,
            "features": self.features,
            "own_times": self.own_times,
        }


def feature_choices(steps: StepTable) -> list[tuple[str, tuple[str, ...]]]:
    """Return the counters that forecasts may see, one more kind each, as in the paper's ablation.

    The first is what the table has: names on the page and features.
    """
    there = [name for name in FEATURES if name in steps.features]
    if not there:
        return [("no counters", ())]
    growing = [tuple(there[: count + 1]) for count in range(len(there))]
    choices = [(" + ".join(names), names) for names in reversed(growing)]
    return [(f"all: {choices[0][0]}", choices[0][1]), *choices[1:]]


def python_lines(state: ForecastState, source: StepSource, figure: list[str]) -> str:
    """Return Python code for ``steps``, ``found`` and the lines of a figure."""
    lines = ["from workbench import plotting, variability", ""]
    if source.world is not None:
        lines += [f"world = {world_call(source.world.settings)}", "steps = world.steps"]
    elif source.file is None:
        lines.append(f'steps = variability.shipped("{EMULATED_NAME}").steps')
    else:
        zone = f", zone={state.zone!r}" if state.zone != "UTC" else ""
        lines.append(f"steps = {source.file.call('read_steps', zone)}")
    return "\n".join([*lines, *figure])


def forecast_call(state: ForecastState, every: bool = True) -> str:
    """Return the call that makes the forecast; ``every``: with all models, not ridge alone."""
    own = "" if state.own_times else ", own_times=False"
    models = "" if every else ', models=["ridge"]'
    return (
        f"found = variability.forecast(steps, m={state.m}, k={state.k}, "
        f"features={list(state.features)!r}{own}{models})"
    )
