"""The state of the fit panel, and the Python code for its curve and its fit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from workbench.fit import DEFAULT_ENGINE, first_guess, model_to_fit
from workbench.measure import OSUCurve
from workbench.models import MODELS, NetworkModel
from workbench.models.parameter import key_named
from workbench.units import write_quantity

HYBRID = "hybrid"
HYBRID_NEGLIGIBLE_SIZE = 512
"""Bytes up to which the hybrid sends over the LogP overlay, as the published study does."""


@dataclass(frozen=True)
class FitState:
    """The state of the controls; fit settings are named as in `workbench.fit.fit`."""

    machine: str
    source: str  # Python expression of measured
    measured: OSUCurve
    kind: str  # snappr, hybrid, logp, pisces or protocol
    model: NetworkModel  # with the sliders' values
    loss: str = "rmsre"
    target: str = "both"
    trials: int = 2000
    seed: int = 0
    study: str = ""  # file of the trials; "": in memory
    size: int = 8192  # of the message in the sentence, bytes
    engine: str = DEFAULT_ENGINE
    held: str = ""  # names of parameters not searched, with commas
    without: str = ""  # message sizes left out of the fit, with commas

    @property
    def held_keys(self) -> tuple[str, ...]:
        """The keys of the parameters that are not searched."""
        names = (name.strip() for name in self.held.split(","))
        return tuple(key_named(name, self.model.parameters()) for name in names if name)


def read_sentence(curve: OSUCurve) -> str:
    """Return what was read, such as ``read 23 sizes of latency and 23 of bandwidth, 3 runs``."""
    counts = [
        f"{int(np.isfinite(values).sum())} of {name}"
        for name, values in (("latency", curve.latency_s), ("bandwidth", curve.bandwidth_Bps))
        if np.isfinite(values).any()
    ]
    counts[0] = counts[0].replace(" of ", " sizes of ")
    statistic = curve.provenance.details.get("statistic", "")
    left = len(curve.notes)
    notes = f"; {left} {'note' if left == 1 else 'notes'} on what was left out" if left else ""
    return f"read {' and '.join(counts)}{statistic and ', '}{statistic}{notes}"


def model_of(
    kind: str, variant: str = "sstmacro", measured: OSUCurve | None = None
) -> NetworkModel:
    """Return the default model of a kind for a curve; a variant it does not have is ignored."""
    # The hybrid is SNAPPR with the LogP overlay for small messages.
    if kind == HYBRID:
        hybrid = model_to_fit("snappr", variant)
        return hybrid.with_values({"node.nic.negligible_size": HYBRID_NEGLIGIBLE_SIZE})
    return model_to_fit(kind, variant if variant in MODELS[kind].variants else "", measured)


def opening_model(kind: str, measured: OSUCurve, variant: str = "sstmacro") -> NetworkModel:
    """Return a kind's model with values guessed from a measured curve."""
    return first_guess(measured, model_of(kind, variant, measured))


def model_expression(model: NetworkModel) -> str:
    """Return the Python expression of a model with parts of the default types."""
    cls = type(model)
    variant = "" if model.variant == cls().variant else f'variant="{model.variant}"'
    default = {p.key: p.value for p in cls().parameters()}
    changed = [
        f'"{p.key}": "{write_quantity(p.value, p.kind)}"'
        for p in model.parameters()
        if p.value != default[p.key]
    ]
    values = f".with_values({{{', '.join(changed)}}})" if changed else ""
    return f"models.{cls.__name__}({variant}){values}"


def curve_line(state: FitState) -> str:
    """Return Python code that computes the displayed curve."""
    return (
        f"from workbench import {_measured_from(state)}, models, simulate\n"
        f"measured = {state.source}\n"
        f"model = {model_expression(state.model)}\n"
        "curve = simulate.simulate_osu(model, sizes=measured.sizes)"
    )


def fit_line(state: FitState) -> str:
    """Return Python code that runs the fit of the controls."""
    study = f', study="{state.study}"' if state.study else ""
    engine = "" if state.engine == DEFAULT_ENGINE else f', engine="{state.engine}"'
    names = ", ".join(f'"{name.strip()}": None' for name in state.held.split(",") if name.strip())
    held = f", fixed={{{names}}}" if names else ""
    without = f', without="{state.without}"' if state.without else ""
    return (
        f"from workbench import {_measured_from(state)}, fit, models\n"
        f"measured = {state.source}\n"
        f"model = {model_expression(state.model)}\n"
        f'result = fit.fit(measured, model, loss="{state.loss}", target="{state.target}", '
        f"trials={state.trials}, seed={state.seed}{engine}{held}{without}{study})"
    )


def _measured_from(state: FitState) -> str:
    """Return the subpackage of workbench that the measurement comes from."""
    return state.source.partition(".")[0]
