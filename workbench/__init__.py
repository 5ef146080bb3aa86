"""Interconnect Workbench: fit network models to machines, replay programs, see the answer move.

Nothing heavy is imported here. Each name below is loaded when it is first used, so that
``import workbench`` stays well under a tenth of a second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy import lazy_exports

if TYPE_CHECKING:
    from workbench import (
        datasets as datasets,
        fit as fit,
        measure as measure,
        models as models,
        panels as panels,
        papers as papers,
        placement as placement,
        plotting as plotting,
        programs as programs,
        simulate as simulate,
        study as study,
        tasks as tasks,
        teaching as teaching,
        tolerance as tolerance,
        topology as topology,
        tune as tune,
        units as units,
    )
    from workbench.catalogue import Catalogue as Catalogue
    from workbench.diagnosis import (
        Diagnosis as Diagnosis,
        InstallationCheck as InstallationCheck,
        doctor as doctor,
    )
    from workbench.measure import OSUCurve as OSUCurve
    from workbench.models import (
        PISCES as PISCES,
        SNAPPR as SNAPPR,
        LogGPS as LogGPS,
        LogP as LogP,
        Protocol as Protocol,
        read_ini as read_ini,
    )
    from workbench.programs import ExecutionGraph as ExecutionGraph, Program as Program
    from workbench.provenance import Provenance as Provenance
    from workbench.simulate import simulate_osu as simulate_osu
else:
    __getattr__, __dir__ = lazy_exports(__name__)

__version__ = "0.1.0"
