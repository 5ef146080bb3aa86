"""How sure a simulation is: surrogates of a simulator, its calibration, and what it predicts.

from workbench import uq

box = uq.ParameterBox([uq.UncertainParameter("latency", "s", 1e-7, 1e-5, "log-uniform")])
points = uq.design(box, 64)
surrogate = uq.fit_surrogate(box, points, times)    # what the simulator gave at the points
plan = uq.DesignPlan("mine", box, 64, holdout=20)   # or: each run is kept through a kill
surrogate = uq.evaluate_design(plan, "runs.db", model=simulator, tests=tests).surrogate()
uq.sobol_indices(surrogate).to_frame()
posterior = uq.calibrate(surrogate, uq.Replicas.of(measured))
uq.predict(posterior, simulator, tests).to_frame()
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy import lazy_exports

if TYPE_CHECKING:
    from workbench.uq import carry
    from workbench.uq.carried_on import CarriedOn, LogGPSPosterior
    from workbench.uq.coverage import describe_held, held_share
    from workbench.uq.design_models import DESIGN_MODELS, DesignModel, named_model
    from workbench.uq.design_plan import DesignPlan
    from workbench.uq.designs import design
    from workbench.uq.diagnostics import bulk_ess, split_rhat, tail_ess
    from workbench.uq.evaluation import (
        DesignProgress,
        evaluate_design,
        read_design,
        submit_design,
    )
    from workbench.uq.findings import findings
    from workbench.uq.noise import NOISE_MODELS, HyperParameter, NoiseModel, noise_model
    from workbench.uq.noise_checks import NoiseChecks, check_noise_models
    from workbench.uq.osu import FitPosterior, fit_problem, posterior_of_fit
    from workbench.uq.parameters import ParameterBox, UncertainParameter
    from workbench.uq.posterior import Posterior, calibrate
    from workbench.uq.prediction import (
        Prediction,
        joint_log_score,
        log_score,
        predict,
        predict_calibrated,
        predict_mixture,
    )
    from workbench.uq.problem import CalibrationProblem
    from workbench.uq.program_times import ProgramTimes
    from workbench.uq.pushed import (
        PosteriorOrigin,
        PushedComparison,
        PushedCrossover,
        PushedCurves,
        PushedForward,
    )
    from workbench.uq.replicas import Replicas
    from workbench.uq.runs import SimulatorRuns, read_runs
    from workbench.uq.shapley import shapley_effects
    from workbench.uq.shipped_designs import (
        DesignComparison,
        design_comparison,
        shipped_design,
        shipped_designs,
    )
    from workbench.uq.simulation_based import CalibrationCheck, simulation_based_calibration
    from workbench.uq.simulator_calibration import SimulatorCalibration, calibrate_simulator
    from workbench.uq.sobol import SobolIndices, sobol_indices
    from workbench.uq.surrogate import HoldoutError, Surrogate, fit_surrogate, multi_indices
    from workbench.uq.surrogate_choice import SurrogateChoice, choose_surrogate
    from workbench.uq.surrogate_slice import SurrogateSlice, worst_slice
else:
    __getattr__, __dir__ = lazy_exports(__name__)

__all__ = [
    "DESIGN_MODELS",
    "NOISE_MODELS",
    "CalibrationCheck",
    "CalibrationProblem",
    "CarriedOn",
    "DesignComparison",
    "DesignModel",
    "DesignPlan",
    "DesignProgress",
    "FitPosterior",
    "HoldoutError",
    "HyperParameter",
    "LogGPSPosterior",
    "NoiseChecks",
    "NoiseModel",
    "ParameterBox",
    "Posterior",
    "PosteriorOrigin",
    "Prediction",
    "ProgramTimes",
    "PushedComparison",
    "PushedCrossover",
    "PushedCurves",
    "PushedForward",
    "Replicas",
    "SimulatorCalibration",
    "SimulatorRuns",
    "SobolIndices",
    "Surrogate",
    "SurrogateChoice",
    "SurrogateSlice",
    "UncertainParameter",
    "bulk_ess",
    "calibrate",
    "calibrate_simulator",
    "carry",
    "check_noise_models",
    "choose_surrogate",
    "describe_held",
    "design",
    "design_comparison",
    "evaluate_design",
    "findings",
    "fit_problem",
    "fit_surrogate",
    "held_share",
    "joint_log_score",
    "log_score",
    "multi_indices",
    "named_model",
    "noise_model",
    "posterior_of_fit",
    "predict",
    "predict_calibrated",
    "predict_mixture",
    "read_design",
    "read_runs",
    "shapley_effects",
    "shipped_design",
    "shipped_designs",
    "simulation_based_calibration",
    "sobol_indices",
    "split_rhat",
    "submit_design",
    "tail_ess",
    "worst_slice",
]
