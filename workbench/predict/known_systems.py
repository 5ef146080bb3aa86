"""What is published, or has to be assumed, of systems whose point-to-point data are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from workbench.machines import Library, Source

_TOFU_D = "Ajima et al., The Tofu Interconnect D, 2018"


@dataclass(frozen=True)
class KnownSystem:
    """Parts of a system that two-node benchmarks do not show; None is left to the defaults."""

    engines: int | None = None  # messages that a node's network card moves at full rate at once
    core_Bps: float | None = None  # memory traffic of one core, B/s
    memory_Bps: float | None = None  # memory traffic of a node, B/s
    library: Library = "unknown"
    sources: Mapping[str, tuple[Source, str]] = field(default_factory=dict)


KNOWN_SYSTEMS: Mapping[str, KnownSystem] = MappingProxyType(
    {
        "fugaku": KnownSystem(
            engines=6,
            core_Bps=50e9,
            memory_Bps=1024e9,
            library="fujitsu-mpi",
            sources=MappingProxyType(
                {
                    "library": (
                        "published",
                        "built on Open MPI, whose names of algorithms it keeps; its own choices "
                        "are not published, so that the fastest algorithm is taken",
                    ),
                    "engines": ("published", f"six network interfaces of a node; {_TOFU_D}"),
                    "memory of a node": ("published", "peak of the HBM2 of A64FX, 1024 GB/s"),
                    "core": (
                        "assumed",
                        "a core of A64FX moves 50 GB/s to and from its HBM2",
                    ),
                }
            ),
        ),
        "gke": KnownSystem(
            library="open-mpi",
            sources=MappingProxyType(
                {"library": ("assumed", "Open MPI by the container's paths; no version is printed")}
            ),
        ),
    }
)
"""By the beginning of a system's name."""


def known_system(name: str) -> KnownSystem:
    """Return what is known of a system by its name; nothing where it is unknown."""
    lower = name.lower()
    return next(
        (one for start, one in KNOWN_SYSTEMS.items() if lower.startswith(start)), KnownSystem()
    )
