"""What can go wrong when a program is recorded."""

from __future__ import annotations

from workbench.errors import WorkbenchError


class RecordingError(WorkbenchError):
    """A program could not be recorded: no MPI, no compiler, it failed, or it left no trace."""
