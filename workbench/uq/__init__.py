"""How sure a simulation is: surrogates of a simulator, its calibration, and what it predicts.

from workbench import uq

box = uq.ParameterBox([uq.Parameter("latency", "s", 1e-7, 1e-5, log=True)])
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
    from workbench.parameters import Parameter as Parameter
    from workbench.uq import carry as carry
    from workbench.uq.calibrated_runs import (
        CalibratedRuns as CalibratedRuns,
        calibrate_runs as calibrate_runs,
        read_replicas as read_replicas,
        runs_for as runs_for,
    )
    from workbench.uq.carried_on import CarriedOn as CarriedOn, LogGPSPosterior as LogGPSPosterior
    from workbench.uq.coverage import describe_held as describe_held, held_share as held_share
    from workbench.uq.design_models import (
        DESIGN_MODELS as DESIGN_MODELS,
        DesignModel as DesignModel,
        named_model as named_model,
    )
    from workbench.uq.design_plan import DesignPlan as DesignPlan
    from workbench.uq.designs import design as design
    from workbench.uq.diagnostics import (
        bulk_ess as bulk_ess,
        split_rhat as split_rhat,
        tail_ess as tail_ess,
    )
    from workbench.uq.evaluation import (
        evaluate_design as evaluate_design,
        read_design as read_design,
    )
    from workbench.uq.findings import findings as findings
    from workbench.uq.noise import (
        NOISE_MODELS as NOISE_MODELS,
        HyperParameter as HyperParameter,
        NoiseModel as NoiseModel,
        noise_model as noise_model,
    )
    from workbench.uq.noise_checks import (
        NoiseChecks as NoiseChecks,
        check_noise_models as check_noise_models,
    )
    from workbench.uq.osu import (
        FitPosterior as FitPosterior,
        fit_problem as fit_problem,
        posterior_of_fit as posterior_of_fit,
    )
    from workbench.uq.parameters import ParameterBox as ParameterBox
    from workbench.uq.posterior import Posterior as Posterior, calibrate as calibrate
    from workbench.uq.prediction import (
        Prediction as Prediction,
        joint_log_score as joint_log_score,
        log_score as log_score,
        predict as predict,
        predict_calibrated as predict_calibrated,
        predict_draws as predict_draws,
        predict_mixture as predict_mixture,
    )
    from workbench.uq.problem import CalibrationProblem as CalibrationProblem
    from workbench.uq.program_times import ProgramTimes as ProgramTimes
    from workbench.uq.pushed import (
        PosteriorOrigin as PosteriorOrigin,
        PushedComparison as PushedComparison,
        PushedCrossover as PushedCrossover,
        PushedCurves as PushedCurves,
        PushedForward as PushedForward,
    )
    from workbench.uq.replicas import Replicas as Replicas
    from workbench.uq.runs import SimulatorRuns as SimulatorRuns, read_runs as read_runs
    from workbench.uq.shapley import shapley_effects as shapley_effects
    from workbench.uq.shipped_designs import (
        DesignComparison as DesignComparison,
        design_comparison as design_comparison,
        shipped_design as shipped_design,
        shipped_designs as shipped_designs,
    )
    from workbench.uq.simulation_based import (
        CalibrationCheck as CalibrationCheck,
        simulation_based_calibration as simulation_based_calibration,
    )
    from workbench.uq.simulator_calibration import (
        SimulatorCalibration as SimulatorCalibration,
        calibrate_simulator as calibrate_simulator,
    )
    from workbench.uq.sobol import SobolIndices as SobolIndices, sobol_indices as sobol_indices
    from workbench.uq.surrogate import (
        HoldoutError as HoldoutError,
        Surrogate as Surrogate,
        fit_surrogate as fit_surrogate,
        multi_indices as multi_indices,
    )
    from workbench.uq.surrogate_choice import (
        SurrogateChoice as SurrogateChoice,
        choose_surrogate as choose_surrogate,
    )
    from workbench.uq.surrogate_slice import (
        SurrogateSlice as SurrogateSlice,
        worst_slice as worst_slice,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)
