"""What can go wrong with an MPI of this machine."""

from __future__ import annotations

from workbench.errors import WorkbenchError


class MPIError(WorkbenchError):
    """There is no MPI or compiler, code of ours did not compile, or an MPI program failed."""
