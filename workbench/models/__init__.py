"""What a message costs: SNAPPR, LogP and PISCES with their MPI, and SST/macro's .ini in and out."""

from __future__ import annotations

from workbench.models.base import VARIANTS, LogPOverlay, NetworkModel, Variant
from workbench.models.ini import MODELS, IniReading, inspect_ini, read_ini
from workbench.models.logp import LogP
from workbench.models.memory import LogPMemory, Memory, NullMemory, Processor, SnapprMemory
from workbench.models.parameter import Parameter, Value
from workbench.models.pisces import PISCES
from workbench.models.protocol import MPIProtocol
from workbench.models.snappr import SNAPPR

__all__ = [
    "MODELS",
    "PISCES",
    "SNAPPR",
    "VARIANTS",
    "IniReading",
    "LogP",
    "LogPMemory",
    "LogPOverlay",
    "MPIProtocol",
    "Memory",
    "NetworkModel",
    "NullMemory",
    "Parameter",
    "Processor",
    "SnapprMemory",
    "Value",
    "Variant",
    "inspect_ini",
    "read_ini",
]
