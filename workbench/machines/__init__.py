"""Machines: a fitted model, LogGPS and what else is known, in one file for every analysis."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy import lazy_exports

if TYPE_CHECKING:
    from workbench.machines.known import (
        OWN as OWN,
        keep as keep,
        load as load,
        names as names,
        own as own,
        shipped as shipped,
    )
    from workbench.machines.machine import (
        LIBRARIES as LIBRARIES,
        PARTS as PARTS,
        KnownPart as KnownPart,
        Library as Library,
        Machine as Machine,
        Source as Source,
    )
    from workbench.machines.rules import (
        LINKS as LINKS,
        fabric_of as fabric_of,
        links_of as links_of,
        loggps_of as loggps_of,
        loggps_of_curve as loggps_of_curve,
        wires_of as wires_of,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)
