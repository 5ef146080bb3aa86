"""Fits whose truth is known: to a model's own curve with noise, with the model as the found one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from workbench.fit import FitResult, SearchSpace
from workbench.fit.losses import rmspe_by_target
from workbench.measure import OSUCurve
from workbench.models import NetworkModel
from workbench.provenance import Provenance
from workbench.simulate import simulate_osu
from workbench.uq import FitPosterior

SIZES = tuple(2**k for k in range(0, 23, 2))
NOISE = 0.02


def measured(truth: NetworkModel, seed: int) -> OSUCurve:
    """Return the curve of a model with lognormal noise."""
    rng = np.random.default_rng(seed)
    curve = simulate_osu(truth, SIZES)
    factors = np.exp(NOISE * rng.standard_normal((2, len(curve))))
    return OSUCurve(
        name="made up",
        sizes=curve.sizes,
        latency_s=curve.latency_s * factors[0],
        bandwidth_Bps=curve.bandwidth_Bps * factors[1],
        provenance=Provenance("synthetic", "a model with noise"),
    )


def fitted(truth: NetworkModel, keys: tuple[str, ...], seed: int) -> FitResult:
    """Return the truth as a fit to its curve with noise: as near to the best as a search gets."""
    curve = measured(truth, seed)
    space = SearchSpace.for_model(truth)
    for key in space.keys:
        if key not in keys:
            space = space.fix(key)
    simulated = simulate_osu(truth, SIZES)
    return FitResult(
        model=truth,
        measured=curve,
        simulated=simulated,
        loss="rmspe",
        target="both",
        space=space,
        rmspe=rmspe_by_target(simulated, curve),
        losses=np.array([rmspe_by_target(simulated, curve)["joint"]]),
        seed=0,
        seconds=0.0,
        success=True,
        message="1 trial",
    )


def as_fitted(posterior: FitPosterior) -> FitPosterior:
    """Return a posterior whose only draw is the fitted model."""
    values = [[float(posterior.result.values[key]) for key in posterior.keys]]
    return replace(
        posterior,
        values=np.array(values),
        hyper=posterior.hyper[:1],
        times=posterior.times[:1],
        weights=np.ones(1),
    )
