"""What a message costs: SST/macro's models with their MPI and .ini, and Protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.lazy import lazy_exports

if TYPE_CHECKING:
    from workbench.models.base import (
        LogPOverlay as LogPOverlay,
        NetworkModel as NetworkModel,
        SSTMacroModel as SSTMacroModel,
    )
    from workbench.models.ini import (
        MODELS as MODELS,
        SSTMACRO_MODELS as SSTMACRO_MODELS,
        IniReading as IniReading,
        find_model as find_model,
        inspect_ini as inspect_ini,
        read_ini as read_ini,
    )
    from workbench.models.loggps import LogGPS as LogGPS
    from workbench.models.logp import LogP as LogP
    from workbench.models.memory import (
        LogPMemory as LogPMemory,
        Memory as Memory,
        NullMemory as NullMemory,
        Processor as Processor,
        SnapprMemory as SnapprMemory,
    )
    from workbench.models.mpi import MPIProtocol as MPIProtocol
    from workbench.models.overheads import (
        OverheadTable as OverheadTable,
        overhead_at as overhead_at,
    )
    from workbench.models.parameter import ModelParameter as ModelParameter
    from workbench.models.pisces import PISCES as PISCES
    from workbench.models.protocol import Protocol as Protocol
    from workbench.models.snappr import SNAPPR as SNAPPR
    from workbench.parameters import Value as Value
else:
    __getattr__, __dir__ = lazy_exports(__name__)
