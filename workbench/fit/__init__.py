"""Fit a network model to the measured curves of a machine."""

from __future__ import annotations

from workbench.fit.compare import EngineComparison, compare_engines
from workbench.fit.engines import DEFAULT_ENGINE, ENGINES
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
from workbench.fit.study import DEFAULT_TRIALS, FitStudy, TrialReport, study_name

__all__ = [
    "DEFAULT_ENGINE",
    "DEFAULT_TRIALS",
    "ENGINES",
    "EXCESSIVE_LOSS",
    "HUBER_DELTA",
    "LOSSES",
    "TARGETS",
    "Dimension",
    "EngineComparison",
    "FitResult",
    "FitStudy",
    "Loss",
    "SearchSpace",
    "Target",
    "TrialReport",
    "compare_engines",
    "fit",
    "huber",
    "rmspe",
    "rmspe_by_target",
    "study_name",
    "submit",
]
