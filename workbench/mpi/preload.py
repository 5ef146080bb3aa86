"""Libraries of ours that stand between a program and its MPI, loaded with LD_PRELOAD."""

from __future__ import annotations

import sys
from pathlib import Path

from workbench.errors import WorkbenchError
from workbench.mpi.recipe import Recipe


def build_preloaded(
    recipe: Recipe,
    mpicc: str | Path,
    folder: str | Path | None,  # where to keep it; None is the user's cache
    error: type[WorkbenchError],  # raised where it cannot be loaded
) -> Path:
    """Return the path of a library for LD_PRELOAD, built for an MPI where it is not there."""
    if sys.platform != "linux":
        raise error(
            f"{recipe.what} is loaded into programs on Linux, with LD_PRELOAD; this is "
            f"{sys.platform}; run them there"
        )
    library = recipe.place(mpicc, folder)
    if any(separator in str(library) for separator in " :"):
        raise error(
            f"{recipe.what} must be kept in a folder without spaces and colons, at which "
            f"LD_PRELOAD is divided; got {library.parent}; set XDG_CACHE_HOME to another"
        )
    recipe.make(mpicc, library)
    return library


def preload(library: Path, before: str | None) -> str:
    """Return a value of LD_PRELOAD that loads a library before what it loads already."""
    return f"{library}:{before}" if before else str(library)
