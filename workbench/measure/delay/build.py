"""The delay library, compiled once for each MPI."""

from __future__ import annotations

from pathlib import Path

from workbench.mpi import MPIError, build_preloaded, interposed


class DelayError(MPIError):
    """A program could not be run with delayed messages, or left no report of them."""


_LIBRARY = interposed(
    "the delay library",
    "libworkbench-delay.so",
    "delay",
    Path(__file__).resolve().parent / "library",
    ("Init", "Init_thread", "Finalize", "Comm_get_attr", "Request_get_status"),
)


def build_delay_library(mpicc: str | Path, folder: str | Path | None = None) -> Path:
    """Return the path of the delay library for an MPI, and build it where it is not there.

    Args:
        mpicc: the compiler of the MPI.
        folder: where to keep libraries; None takes the user's cache, which ``XDG_CACHE_HOME``
            moves.

    Raises:
        MPIError: the compiler fails; its words are in it.
        DelayError: the system is not Linux, or the folder's name has a space or colon.
    """
    return build_preloaded(_LIBRARY, mpicc, folder, DelayError)
