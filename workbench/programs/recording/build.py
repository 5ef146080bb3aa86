"""The recording library, built once for each MPI and kept."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from workbench.programs.recording.errors import RecordingError

_SOURCES = Path(__file__).resolve().parent / "library"
_NAME = "libworkbench-trace.so"
# Hidden, or a function of ours would stand before one of the program's that has the same name.
_OPTIONS = ("-std=c99", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-pthread")
_COMPILE_S = 120


def build_recorder(mpicc: str | Path, folder: str | Path | None = None) -> Path:
    """Return the path of the recording library for an MPI, and build it where it is not there.

    Args:
        mpicc: the compiler of the MPI.
        folder: where to keep libraries; None takes the user's cache, which ``XDG_CACHE_HOME``
            moves.

    Raises:
        RecordingError: the system is not Linux, or the compiler fails; its words are in it.
    """
    if sys.platform != "linux":
        raise RecordingError(
            f"programs are recorded on Linux, with LD_PRELOAD; this is {sys.platform}; record "
            "there and read the trace here"
        )
    sources = sorted(_SOURCES.glob("*.c"))
    digest = hashlib.sha256(" ".join(_OPTIONS).encode())
    # What the wrapper calls names the MPI and its version; wrappers of two MPIs share a name.
    digest.update(_run([str(mpicc), "-show"]).encode())
    digest.update(str(Path(mpicc).resolve()).encode())
    for source in [*sources, _SOURCES / "trace.h"]:
        digest.update(source.read_bytes())
    place = (_cache() if folder is None else Path(folder)) / digest.hexdigest()[:16]
    library = (place / _NAME).resolve()
    if any(separator in str(library) for separator in " :"):
        raise RecordingError(
            f"the recorder must be kept in a folder without spaces and colons, at which LD_PRELOAD "
            f"is divided; got {place}; set XDG_CACHE_HOME to another"
        )
    if library.exists():
        return library
    place.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place) as scratch:
        built = Path(scratch) / _NAME
        _run([str(mpicc), *_OPTIONS, "-o", str(built), *map(str, sources)])
        # Another process may build the same: whoever is last replaces like with like.
        built.replace(library)
    return library


def _cache() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "interconnect-workbench" / "recorder"


def _run(words: list[str]) -> str:
    try:
        done = subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_COMPILE_S,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RecordingError(
            f"the MPI's compiler must run; {error}; name another MPI with mpirun="
        ) from error
    if done.returncode != 0:
        raise RecordingError(
            f"the recorder must compile with {words[0]}; it ended with status {done.returncode}: "
            f"{done.stderr.strip()[-500:]}; the recorder needs MPI 3.1 and C99"
        )
    return done.stdout
