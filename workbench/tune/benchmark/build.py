"""The benchmark in C, compiled once for each MPI and kept."""

from __future__ import annotations

import hashlib
import os
import subprocess
import tempfile
from pathlib import Path

from workbench.programs.recording import RecordingError

_SOURCE = Path(__file__).resolve().parent / "collective.c"
_OPTIONS = ("-std=c99", "-O2")
_COMPILE_S = 120


def build_benchmark(mpicc: str | Path, folder: str | Path | None = None) -> Path:
    """Return the path of the benchmark for an MPI, and compile it where it is not there.

    Args:
        mpicc: the compiler of the MPI.
        folder: where to keep it; None takes the user's cache, which ``XDG_CACHE_HOME`` moves.

    Raises:
        RecordingError: the compiler fails; its words are in it.
    """
    digest = hashlib.sha256(" ".join(_OPTIONS).encode())
    digest.update(_compiled([str(mpicc), "-show"]).encode())
    digest.update(str(Path(mpicc).resolve()).encode())
    digest.update(_SOURCE.read_bytes())
    place = (_cache() if folder is None else Path(folder)) / digest.hexdigest()[:16]
    program = (place / "collective").resolve()
    if program.exists():
        return program
    place.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place) as scratch:
        built = Path(scratch) / "collective"
        _compiled([str(mpicc), *_OPTIONS, "-o", str(built), str(_SOURCE)])
        # Another process may build the same: whoever is last replaces like with like.
        built.replace(program)
    return program


def _cache() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "interconnect-workbench" / "benchmark"


def _compiled(words: list[str]) -> str:
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
            f"the benchmark must compile with {words[0]}; it ended with status {done.returncode}: "
            f"{done.stderr.strip()[-500:]}; it needs MPI 2 and C99"
        )
    return done.stdout
