"""How sure a simulation is: surrogates of a simulator, its calibration, and what it predicts.

from workbench import uq

box = uq.ParameterBox([uq.UncertainParameter("latency", "s", 1e-7, 1e-5, "log-uniform")])
points = uq.design(box, 64)
surrogate = uq.fit_surrogate(box, points, times)    # what the simulator gave at the points
uq.sobol_indices(surrogate).to_frame()
posterior = uq.calibrate(surrogate, uq.Replicas.of(measured))
uq.predict(posterior, simulator, tests).to_frame()
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy import lazy_exports

if TYPE_CHECKING:
    from workbench.uq.coverage import describe_held, held_share
    from workbench.uq.designs import design
    from workbench.uq.diagnostics import bulk_ess, split_rhat, tail_ess
    from workbench.uq.findings import findings
    from workbench.uq.noise import NOISE_MODELS, HyperParameter, NoiseModel, noise_model
    from workbench.uq.noise_checks import NoiseChecks, check_noise_models
    from workbench.uq.osu import FitPosterior, PushedForward, fit_problem, posterior_of_fit
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
    from workbench.uq.replicas import Replicas
    from workbench.uq.runs import SimulatorRuns, read_runs
    from workbench.uq.shapley import shapley_effects
    from workbench.uq.simulation_based import CalibrationCheck, simulation_based_calibration
    from workbench.uq.sobol import SobolIndices, sobol_indices
    from workbench.uq.surrogate import HoldoutError, Surrogate, fit_surrogate, multi_indices
else:
    __getattr__, __dir__ = lazy_exports(__name__)

__all__ = [
    "NOISE_MODELS",
    "CalibrationCheck",
    "CalibrationProblem",
    "FitPosterior",
    "HoldoutError",
    "HyperParameter",
    "NoiseChecks",
    "NoiseModel",
    "ParameterBox",
    "Posterior",
    "Prediction",
    "PushedForward",
    "Replicas",
    "SimulatorRuns",
    "SobolIndices",
    "Surrogate",
    "UncertainParameter",
    "bulk_ess",
    "calibrate",
    "check_noise_models",
    "describe_held",
    "design",
    "findings",
    "fit_problem",
    "fit_surrogate",
    "held_share",
    "joint_log_score",
    "log_score",
    "multi_indices",
    "noise_model",
    "posterior_of_fit",
    "predict",
    "predict_calibrated",
    "predict_mixture",
    "read_runs",
    "shapley_effects",
    "simulation_based_calibration",
    "sobol_indices",
    "split_rhat",
    "tail_ess",
]
