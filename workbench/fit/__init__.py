"""Fit a network model to the measured curves of a machine."""

from __future__ import annotations

from workbench.fit.fitting import fit, submit
from workbench.fit.losses import (
    EXCESSIVE_LOSS,
    HUBER_DELTA,
    LOSSES,
    TARGETS,
    Loss,
    Target,
    huber,
    rmspe,
    rmspe_by_target,
)
from workbench.fit.result import FitResult
from workbench.fit.space import Dimension, SearchSpace
from workbench.fit.study import DEFAULT_TRIALS, FitStudy, TrialReport

__all__ = [
    "DEFAULT_TRIALS",
    "EXCESSIVE_LOSS",
    "HUBER_DELTA",
    "LOSSES",
    "TARGETS",
    "Dimension",
    "FitResult",
    "FitStudy",
    "Loss",
    "SearchSpace",
    "Target",
    "TrialReport",
    "fit",
    "huber",
    "rmspe",
    "rmspe_by_target",
    "submit",
]
