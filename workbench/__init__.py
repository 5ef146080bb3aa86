"""Interconnect Workbench: fit network models to machines, replay programs, see the answer move.

Nothing heavy is imported here. Each name below is loaded when it is first used, so that
``import workbench`` stays well under a tenth of a second.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workbench import (
        datasets,
        fit,
        jobs,
        measure,
        models,
        panels,
        plotting,
        programs,
        sensitivity,
        simulate,
        study,
        topology,
        tune,
        units,
    )
    from workbench.catalogue import Catalogue
    from workbench.diagnosis import Diagnosis, Finding, doctor
    from workbench.measure import OSUCurve
    from workbench.models import PISCES, SNAPPR, LogGPS, LogP, Protocol, read_ini
    from workbench.programs import ExecutionGraph, Program
    from workbench.provenance import Provenance
    from workbench.simulate import simulate_osu

__version__ = "0.1.0"

__all__ = [
    "PISCES",
    "SNAPPR",
    "Catalogue",
    "Diagnosis",
    "ExecutionGraph",
    "Finding",
    "LogGPS",
    "LogP",
    "OSUCurve",
    "Program",
    "Protocol",
    "Provenance",
    "__version__",
    "datasets",
    "doctor",
    "fit",
    "jobs",
    "measure",
    "models",
    "panels",
    "plotting",
    "programs",
    "read_ini",
    "sensitivity",
    "simulate",
    "simulate_osu",
    "study",
    "topology",
    "tune",
    "units",
]

_HOME = {
    "Catalogue": "workbench.catalogue",
    "Diagnosis": "workbench.diagnosis",
    "ExecutionGraph": "workbench.programs",
    "Finding": "workbench.diagnosis",
    "LogGPS": "workbench.models",
    "LogP": "workbench.models",
    "OSUCurve": "workbench.measure",
    "PISCES": "workbench.models",
    "Program": "workbench.programs",
    "Protocol": "workbench.models",
    "Provenance": "workbench.provenance",
    "SNAPPR": "workbench.models",
    "doctor": "workbench.diagnosis",
    "read_ini": "workbench.models",
    "simulate_osu": "workbench.simulate",
}


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
    elif name in __all__:
        value = import_module(f"workbench.{name}")
    else:
        from workbench.suggestions import did_you_mean

        raise AttributeError(
            f"workbench has no attribute {name!r}{did_you_mean(name, __all__)}; it has "
            f"{', '.join(sorted(__all__))}"
        )
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
