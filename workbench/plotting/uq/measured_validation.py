"""A model of a collective beside measured replicas: fit, sensitivity, posterior, prediction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bokeh.models import LayoutDOM

from workbench.plotting.grid import heading, sentence, stacked
from workbench.plotting.uq.posterior import plot_posterior
from workbench.plotting.uq.prediction import plot_prediction
from workbench.plotting.uq.problem import plot_calibration_problem
from workbench.plotting.uq.sobol import plot_sobol
from workbench.uq.coverage import describe_held

if TYPE_CHECKING:
    from workbench.uq.collectives import MeasuredValidation


def plot_measured_validation(study: MeasuredValidation) -> LayoutDOM:
    """Return (A) replicas and nominal times, (B) Sobol' indices, (C) posterior, (D) prediction.

    Args:
        study: of ``workbench.uq.collectives.validate_measured``.
    """
    compared, replicas = study.compare(), study.problem.replicas
    origin = study.problem.provenance
    return stacked(
        heading(
            f"{study.problem.title}: {study.calibration.model}",
            "points: measured replicas; lines and intervals: simulated"
            + ("" if origin is None else f"; {origin.caption()}"),
        ),
        heading("A: measured replicas and nominal times; the surrogate's hold-out error", ""),
        plot_calibration_problem(study.problem),
        heading("B: which parameters the time of each test depends on", ""),
        plot_sobol(study.sobol(), list(replicas.tests)),
        heading("C: the parameters that all replicas allow", ""),
        plot_posterior(study.posterior),
        heading(
            "D: the largest number of nodes, predicted from the others",
            f"calibrated to {len(study.fewer.tests)} tests by {study.fewer.model}",
        ),
        plot_prediction(compared, replicas),
        sentence(describe_held(compared, replicas, "held-out")),
    )
