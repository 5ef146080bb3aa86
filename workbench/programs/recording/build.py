"""The recording library, compiled once for each MPI."""

from __future__ import annotations

from pathlib import Path

from workbench.mpi import MPIError, Recipe, build_preloaded


class RecordingError(MPIError):
    """A program could not be recorded: no MPI, no compiler, it failed, or it left no trace."""


_SOURCES = Path(__file__).resolve().parent / "library"
_RECORDER = Recipe(
    "the recorder",
    "libworkbench-trace.so",
    "recorder",
    # Hidden, or a function of ours would stand before one of the program's that has the same name.
    ("-std=c99", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-pthread"),
    tuple(sorted(_SOURCES.glob("*.c"))),
    "MPI 3.1 and C99",
    headers=(_SOURCES / "trace.h",),
    includes_other_calls=True,
)


def build_recorder(mpicc: str | Path, folder: str | Path | None = None) -> Path:
    """Return the path of the recording library for an MPI, and build it where it is not there.

    Args:
        mpicc: the compiler of the MPI.
        folder: where to keep libraries; None takes the user's cache, which ``XDG_CACHE_HOME``
            moves.

    Raises:
        RecordingError: the system is not Linux, or the compiler fails; its words are in it.
    """
    return build_preloaded(_RECORDER, mpicc, folder, RecordingError)
