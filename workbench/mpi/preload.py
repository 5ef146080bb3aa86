"""Libraries of ours that stand between a program and its MPI, loaded with LD_PRELOAD."""

from __future__ import annotations

import sys
from pathlib import Path

from workbench.errors import WorkbenchError
from workbench.mpi.recipe import Recipe

_SHARED = Path(__file__).resolve().parent / "library"


def interposed(
    what: str,
    name: str,
    kind: str,
    sources: Path,  # folder of its C code
    local_calls: tuple[str, ...],  # that it has code for
) -> Recipe:
    """Return the recipe of a library that stands between a program and its MPI."""
    return Recipe(
        what,
        name,
        kind,
        # Hidden, or a function of ours would stand before one of the program's of the same name.
        # -O2 compiles twice as long, and a recorded call takes as long (0.4 µs, make bench).
        ("-std=c99", "-O1", "-fPIC", "-shared", "-fvisibility=hidden", "-pthread"),
        (_SHARED / "entries.c", *sorted(sources.glob("*.c"))),
        "MPI 3.1 and C99",
        headers=(_SHARED / "interposed.h", *sorted(sources.glob("*.h"))),
        local_calls=local_calls,
    )


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
