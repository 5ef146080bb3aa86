"""Fit a network model to the measured curves of a machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy import lazy_exports

if TYPE_CHECKING:
    from workbench.fit.baseline import Baseline, baseline_table, best_effort, gain
    from workbench.fit.bolted import Bolted
    from workbench.fit.defaults import model_to_fit
    from workbench.fit.engine_comparison import EngineComparison, EngineRun, compare_engines
    from workbench.fit.engines import DEFAULT_ENGINE, ENGINES
    from workbench.fit.fitting import fit, submit
    from workbench.fit.initial_guess import first_guess
    from workbench.fit.losses import (
        EXCESSIVE_LOSS,
        HUBER_DELTA,
        LOSSES,
        TARGETS,
        Loss,
        LossTarget,
        huber,
        rmspe,
        rmspe_by_target,
        summed,
    )
    from workbench.fit.pareto import ParetoFront, pareto
    from workbench.fit.regimes import bolt, errors_by_threshold, fit_regimes, split, submit_regimes
    from workbench.fit.result import FitResult
    from workbench.fit.space import Dimension, SearchSpace
    from workbench.fit.store import studies
    from workbench.fit.study import DEFAULT_TRIALS, FitStudy, TrialReport, study_name
    from workbench.fit.to_machine import machine_of_model, to_machine, write_machines
    from workbench.fit.to_optuna import to_optuna
    from workbench.fit.trials import parameter_importance, stored_trials
    from workbench.fit.trust.bootstrap import Intervals, intervals, submit_intervals
    from workbench.fit.trust.generalise import (
        CrossTarget,
        HoldOut,
        cross_target,
        generalisation_table,
        hold_out,
    )
    from workbench.fit.trust.identify import Identifiability, identify
    from workbench.fit.trust.interval_scan import Interval
    from workbench.fit.trust.thresholds import settle_thresholds
else:
    __getattr__, __dir__ = lazy_exports(__name__)

__all__ = [
    "DEFAULT_ENGINE",
    "DEFAULT_TRIALS",
    "ENGINES",
    "EXCESSIVE_LOSS",
    "HUBER_DELTA",
    "LOSSES",
    "TARGETS",
    "Baseline",
    "Bolted",
    "CrossTarget",
    "Dimension",
    "EngineComparison",
    "EngineRun",
    "FitResult",
    "FitStudy",
    "HoldOut",
    "Identifiability",
    "Interval",
    "Intervals",
    "Loss",
    "LossTarget",
    "ParetoFront",
    "SearchSpace",
    "TrialReport",
    "baseline_table",
    "best_effort",
    "bolt",
    "compare_engines",
    "cross_target",
    "errors_by_threshold",
    "first_guess",
    "fit",
    "fit_regimes",
    "gain",
    "generalisation_table",
    "hold_out",
    "huber",
    "identify",
    "intervals",
    "machine_of_model",
    "model_to_fit",
    "parameter_importance",
    "pareto",
    "rmspe",
    "rmspe_by_target",
    "settle_thresholds",
    "split",
    "stored_trials",
    "studies",
    "study_name",
    "submit",
    "submit_intervals",
    "submit_regimes",
    "summed",
    "to_machine",
    "to_optuna",
    "write_machines",
]
