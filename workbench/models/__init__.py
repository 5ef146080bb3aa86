"""What a message costs: SST/macro's models with their MPI and .ini, and Protocol."""

from __future__ import annotations

from workbench.models.base import LogPOverlay, NetworkModel, SSTMacroModel
from workbench.models.ini import (
    MODELS,
    SSTMACRO_MODELS,
    IniReading,
    find_model,
    inspect_ini,
    read_ini,
)
from workbench.models.loggps import LogGPS
from workbench.models.logp import LogP
from workbench.models.memory import LogPMemory, Memory, NullMemory, Processor, SnapprMemory
from workbench.models.mpi import MPIProtocol
from workbench.models.overheads import OverheadTable, overhead_at
from workbench.models.parameter import ModelParameter, Value
from workbench.models.pisces import PISCES
from workbench.models.protocol import Protocol
from workbench.models.snappr import SNAPPR

__all__ = [
    "MODELS",
    "PISCES",
    "SNAPPR",
    "SSTMACRO_MODELS",
    "IniReading",
    "LogGPS",
    "LogP",
    "LogPMemory",
    "LogPOverlay",
    "MPIProtocol",
    "Memory",
    "ModelParameter",
    "NetworkModel",
    "NullMemory",
    "OverheadTable",
    "Processor",
    "Protocol",
    "SSTMacroModel",
    "SnapprMemory",
    "Value",
    "find_model",
    "inspect_ini",
    "overhead_at",
    "read_ini",
]
