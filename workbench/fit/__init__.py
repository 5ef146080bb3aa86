"""Fit a network model to the measured curves of a machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy import lazy_exports

if TYPE_CHECKING:
    from workbench.fit.baseline import (
        Baseline as Baseline,
        baseline_table as baseline_table,
        best_effort as best_effort,
        gain as gain,
    )
    from workbench.fit.bolted import Bolted as Bolted
    from workbench.fit.defaults import model_to_fit as model_to_fit
    from workbench.fit.engine_comparison import (
        EngineComparison as EngineComparison,
        EngineRun as EngineRun,
        compare_engines as compare_engines,
    )
    from workbench.fit.engines import DEFAULT_ENGINE as DEFAULT_ENGINE, ENGINES as ENGINES
    from workbench.fit.fitting import fit as fit
    from workbench.fit.initial_guess import first_guess as first_guess
    from workbench.fit.losses import (
        EXCESSIVE_LOSS as EXCESSIVE_LOSS,
        HUBER_DELTA as HUBER_DELTA,
        LOSSES as LOSSES,
        TARGETS as TARGETS,
        Loss as Loss,
        LossTarget as LossTarget,
        huber as huber,
        rmspe as rmspe,
        rmspe_by_target as rmspe_by_target,
        summed as summed,
    )
    from workbench.fit.pareto import ParetoFront as ParetoFront, pareto as pareto
    from workbench.fit.regimes import (
        bolt as bolt,
        errors_by_threshold as errors_by_threshold,
        fit_regimes as fit_regimes,
        split as split,
    )
    from workbench.fit.result import FitResult as FitResult
    from workbench.fit.space import SearchSpace as SearchSpace
    from workbench.fit.store import studies as studies
    from workbench.fit.study import (
        DEFAULT_TRIALS as DEFAULT_TRIALS,
        FitStudy as FitStudy,
        TrialReport as TrialReport,
        study_name as study_name,
    )
    from workbench.fit.to_machine import (
        machine_of_model as machine_of_model,
        to_machine as to_machine,
        write_machines as write_machines,
    )
    from workbench.fit.to_optuna import to_optuna as to_optuna
    from workbench.fit.trials import (
        parameter_importance as parameter_importance,
        stored_trials as stored_trials,
    )
    from workbench.fit.trust.bootstrap import (
        Intervals as Intervals,
        intervals as intervals,
    )
    from workbench.fit.trust.generalise import (
        CrossTarget as CrossTarget,
        HoldOut as HoldOut,
        cross_target as cross_target,
        generalisation_table as generalisation_table,
        hold_out as hold_out,
    )
    from workbench.fit.trust.identify import (
        Identifiability as Identifiability,
        identify as identify,
    )
    from workbench.fit.trust.interval_scan import Interval as Interval
    from workbench.fit.trust.thresholds import settle_thresholds as settle_thresholds
else:
    __getattr__, __dir__ = lazy_exports(__name__)
