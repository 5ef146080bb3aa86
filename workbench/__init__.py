"""Interconnect Workbench: fit network models to machines, replay programs, see the answer move.

Nothing heavy is imported here. Each name below is loaded when it is first used, so that
``import workbench`` stays well under a tenth of a second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy import lazy_exports

if TYPE_CHECKING:
    from workbench import (
        datasets,
        fit,
        jobs,
        measure,
        models,
        panels,
        papers,
        plotting,
        programs,
        sensitivity,
        simulate,
        study,
        teaching,
        topology,
        tune,
        units,
    )
    from workbench.catalogue import Catalogue
    from workbench.diagnosis import Diagnosis, InstallationCheck, doctor
    from workbench.measure import OSUCurve
    from workbench.models import PISCES, SNAPPR, LogGPS, LogP, Protocol, read_ini
    from workbench.programs import ExecutionGraph, Program
    from workbench.provenance import Provenance
    from workbench.simulate import simulate_osu
else:
    __getattr__, __dir__ = lazy_exports(__name__)

__version__ = "0.1.0"

__all__ = [
    "PISCES",
    "SNAPPR",
    "Catalogue",
    "Diagnosis",
    "ExecutionGraph",
    "InstallationCheck",
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
    "papers",
    "plotting",
    "programs",
    "read_ini",
    "sensitivity",
    "simulate",
    "simulate_osu",
    "study",
    "teaching",
    "topology",
    "tune",
    "units",
]
