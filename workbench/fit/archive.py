"""Fit results as JSON: every number exactly, every array as a list, nothing executable."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from workbench.errors import ParameterError, ParseError
from workbench.fit.engines import DEFAULT_ENGINE, find_engine
from workbench.fit.losses import find_target
from workbench.fit.space import SearchSpace
from workbench.jsonfile import read_json
from workbench.measure import OSUCurve, Spread
from workbench.models import NetworkModel, read_ini
from workbench.provenance import Provenance

if TYPE_CHECKING:
    from workbench.fit.result import FitResult

FORMAT = "workbench fit result"
VERSION = 1

_QUARTILES = ("minimum", "p25", "median", "p75", "maximum")


def to_dict(result: FitResult) -> dict[str, Any]:
    """Return the result as values that JSON can hold; a number that is not finite is a text."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "model": {
            "name": result.model.name,
            "variant": result.model.variant,
            "ini": result.model.to_ini(),
        },
        "measured": curve_to_dict(result.measured),
        "simulated": None if result.simulated is None else curve_to_dict(result.simulated),
        "loss": result.loss,
        "target": result.target,
        "space": result.space.to_dict(),
        "rmspe": {name: _plain(value) for name, value in result.rmspe.items()},
        "losses": [_plain(value) for value in result.losses.tolist()],
        "seed": result.seed,
        "seconds": result.seconds,
        "success": result.success,
        "message": result.message,
        "engine": result.engine,
    }


def read(path: Path) -> FitResult:
    """Return the result in a file that ``FitResult.save`` wrote."""
    from workbench.fit.result import FitResult

    values = read_json(path, "a fit result", form=FORMAT, version=VERSION)
    try:
        model = _model(values["model"])
        simulated = values["simulated"]
        return FitResult(
            model=model,
            measured=curve_from_dict(values["measured"]),
            simulated=None if simulated is None else curve_from_dict(simulated),
            loss=str(values["loss"]),
            target=find_target(values["target"]),
            space=SearchSpace.from_dict(values["space"], model),
            rmspe={name: float(values["rmspe"][name]) for name in _TARGETS},
            losses=_array(values["losses"]),
            seed=int(values["seed"]),
            seconds=float(values["seconds"]),
            success=bool(values["success"]),
            message=str(values["message"]),
            # Files written when there was but one engine do not name it.
            engine=find_engine(values.get("engine", DEFAULT_ENGINE)),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        what = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise ParseError(
            f"the fit result is damaged: {what}; save it again from the fit", source=path.name
        ) from error


_TARGETS = ("joint", "latency", "bandwidth")


def curve_to_dict(curve: OSUCurve) -> dict[str, Any]:
    """Return a curve as values that JSON can hold; a point that was not measured is None."""
    return {
        "name": curve.name,
        "sizes": curve.sizes.tolist(),
        "latency_s": _points(curve.latency_s),
        "bandwidth_Bps": _points(curve.bandwidth_Bps),
        "provenance": curve.provenance.to_dict(),
        "latency_spread": _spread_to_dict(curve.latency_spread),
        "bandwidth_spread": _spread_to_dict(curve.bandwidth_spread),
        "notes": list(curve.notes),
    }


def curve_from_dict(values: Mapping[str, Any]) -> OSUCurve:
    """Return the curve that ``curve_to_dict`` wrote."""
    return OSUCurve(
        name=str(values["name"]),
        sizes=np.array(values["sizes"], dtype=np.int64),
        latency_s=_array(values["latency_s"]),
        bandwidth_Bps=_array(values["bandwidth_Bps"]),
        provenance=Provenance.from_dict(values["provenance"]),
        latency_spread=_spread_from_dict(values["latency_spread"]),
        bandwidth_spread=_spread_from_dict(values["bandwidth_spread"]),
        notes=tuple(str(note) for note in values["notes"]),
    )


def _model(values: Mapping[str, Any]) -> NetworkModel:
    model = read_ini(values["ini"]).replace(variant=values["variant"])
    if model.name != values["name"]:
        raise ParameterError(f"the .ini holds {model.name}, not {values['name']}", key="model")
    return model


def _spread_to_dict(spread: Spread | None) -> dict[str, Any] | None:
    if spread is None:
        return None
    quartiles = {name: _points(getattr(spread, name)) for name in _QUARTILES}
    return {**quartiles, "count": spread.count.tolist()}


def _spread_from_dict(values: Mapping[str, Any] | None) -> Spread | None:
    if values is None:
        return None
    quartiles = {name: _array(values[name]) for name in _QUARTILES}
    return Spread(**quartiles, count=np.array(values["count"], dtype=np.int64))


def _points(values: Any) -> list[float | None]:
    return [None if math.isnan(value) else value for value in values.tolist()]


def _array(values: Any) -> Any:
    return np.array([math.nan if value is None else float(value) for value in values])


def _plain(value: float) -> float | str:
    return value if math.isfinite(value) else str(value)
