"""The recording library, compiled once for each MPI."""

from __future__ import annotations

from pathlib import Path

from workbench.mpi import MPIError, build_preloaded, interposed


class RecordingError(MPIError):
    """A program could not be recorded: no MPI, no compiler, it failed, or it left no trace."""


_RECORDER = interposed(
    "the recorder",
    "libworkbench-trace.so",
    "recorder",
    Path(__file__).resolve().parent / "library",
    ("Init", "Init_thread", "Finalize", "Abort"),
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
