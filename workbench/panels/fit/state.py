"""What the fit panel shows, as a value, and the functions from it to results and to Python."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.fit import DEFAULT_ENGINE, first_guess
from workbench.measure import OSUCurve
from workbench.models import MODELS, NetworkModel
from workbench.models.parameter import key_named
from workbench.units import write_quantity

HYBRID = "hybrid"
HYBRID_NEGLIGIBLE_SIZE = 512
"""Bytes up to which the hybrid sends over the LogP overlay, as the published study does."""


@dataclass(frozen=True)
class FitState:
    """Everything the panel's controls hold.

    Attributes:
        machine: name of the machine whose curve is drawn.
        source: Python expression that gives this curve.
        measured: the curve itself.
        kind: ``snappr``, ``hybrid``, ``logp``, ``pisces`` or ``protocol``.
        model: the model with the values of the sliders.
        loss, target, trials, seed, engine: settings of the fit, as `workbench.fit.fit` names them.
        study: file the trials are kept in; empty to keep them in memory.
        held: names of parameters that a fit leaves as the sliders have them, with commas between.
        size: message size the sentence under the curves is about, bytes.
    """

    machine: str
    source: str
    measured: OSUCurve
    kind: str
    model: NetworkModel
    loss: str = "rmsre"
    target: str = "both"
    trials: int = 2000
    seed: int = 0
    study: str = ""
    size: int = 8192
    engine: str = DEFAULT_ENGINE
    held: str = ""

    @property
    def held_keys(self) -> tuple[str, ...]:
        """Keys of the parameters that a fit leaves as they are.

        Raises:
            ParameterError: a name is no parameter of the model.
        """
        names = (name.strip() for name in self.held.split(","))
        return tuple(key_named(name, self.model.parameters()) for name in names if name)


def model_of(kind: str, variant: str = "sstmacro") -> NetworkModel:
    """Return the model a kind starts with.

    Args:
        kind: ``snappr``, ``hybrid`` (SNAPPR with the LogP overlay for small messages), ``logp``
            ``pisces`` or ``protocol``.
        variant: ``sstmacro`` or ``repaired``; a model that has no such variant has its own.
    """
    if kind == HYBRID:
        hybrid = MODELS["snappr"](variant=variant)
        return hybrid.with_values({"node.nic.negligible_size": HYBRID_NEGLIGIBLE_SIZE})
    model = MODELS[kind]
    return model(variant=variant) if variant in model.variants else model()


def opening_model(kind: str, measured: OSUCurve, variant: str = "sstmacro") -> NetworkModel:
    """Return the model of a kind that the panel opens with beside a machine.

    Args:
        kind: as for ``model_of``.
        measured: the machine.
        variant: as for ``model_of``.
    """
    return first_guess(measured, model_of(kind, variant))


def model_expression(model: NetworkModel) -> str:
    """Return Python that builds the model: its class, and the values that are not defaults.

    Args:
        model: a model whose parts are of the default types, as a panel makes them.
    """
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
    """Return the Python that computes the curve which is shown.

    Args:
        state: what the panel holds.
    """
    return (
        f"from workbench import {_measured_from(state)}, models, simulate\n"
        f"measured = {state.source}\n"
        f"model = {model_expression(state.model)}\n"
        "curve = simulate.simulate_osu(model, sizes=measured.sizes)"
    )


def fit_line(state: FitState) -> str:
    """Return the Python that runs the fit which the controls describe.

    Args:
        state: what the panel holds.
    """
    study = f', study="{state.study}"' if state.study else ""
    engine = "" if state.engine == DEFAULT_ENGINE else f', engine="{state.engine}"'
    names = ", ".join(f'"{name.strip()}": None' for name in state.held.split(",") if name.strip())
    held = f", fixed={{{names}}}" if names else ""
    return (
        f"from workbench import {_measured_from(state)}, fit, models\n"
        f"measured = {state.source}\n"
        f"model = {model_expression(state.model)}\n"
        f'result = fit.fit(measured, model, loss="{state.loss}", target="{state.target}", '
        f"trials={state.trials}, seed={state.seed}{engine}{held}{study})"
    )


def _measured_from(state: FitState) -> str:
    """Return the part of workbench that the measurement comes from."""
    return state.source.partition(".")[0]
