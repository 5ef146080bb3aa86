"""Black-box tuning of real components: SHAMan's method, its experiments stored and resumed."""

from __future__ import annotations

from workbench.tune.component import Component, Parameter, components, read_components
from workbench.tune.experiment_yaml import ExperimentSettings, read_experiment
from workbench.tune.invocation import Invocation
from workbench.tune.space import Choices, Configuration, Grid, Range, TuningSpace, Value
from workbench.tune.target import Computed, OSULatency, OutputRegex, Target, TargetError, WallTime

__all__ = [
    "Choices",
    "Component",
    "Computed",
    "Configuration",
    "ExperimentSettings",
    "Grid",
    "Invocation",
    "OSULatency",
    "OutputRegex",
    "Parameter",
    "Range",
    "Target",
    "TargetError",
    "TuningSpace",
    "Value",
    "WallTime",
    "components",
    "read_components",
    "read_experiment",
]
