"""What can go wrong with an emulated cluster."""

from __future__ import annotations

from workbench.errors import WorkbenchError


class ClusterError(WorkbenchError):
    """The system does not allow an emulated cluster, or a part of it failed."""
