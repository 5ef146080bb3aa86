"""Machines: a fitted model, LogGPS and what else is known, in one file for every analysis."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy import lazy_exports

if TYPE_CHECKING:
    from workbench.machines.known import OWN, keep, load, names, own, shipped
    from workbench.machines.machine import LIBRARIES, PARTS, KnownPart, Library, Machine, Source
    from workbench.machines.rules import (
        LINKS,
        fabric_of,
        links_of,
        loggps_of,
        loggps_of_curve,
        wires_of,
    )
else:
    __getattr__, __dir__ = lazy_exports(__name__)

__all__ = [
    "LIBRARIES",
    "LINKS",
    "OWN",
    "PARTS",
    "KnownPart",
    "Library",
    "Machine",
    "Source",
    "fabric_of",
    "keep",
    "links_of",
    "load",
    "loggps_of",
    "loggps_of_curve",
    "names",
    "own",
    "shipped",
    "wires_of",
]
