"""The recording library, and other C code of the workbench: compiled once for each MPI."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from workbench.errors import WorkbenchError


class RecordingError(WorkbenchError):
    """A program could not be recorded: no MPI, no compiler, it failed, or it left no trace."""


_COMPILE_S = 120


@dataclass(frozen=True)
class Recipe:
    """A file to compile with an MPI's compiler, and its place in the user's cache."""

    what: str  # name in errors, such as ``the recorder``
    name: str  # of the compiled file
    kind: str  # folder within the user's cache
    options: tuple[str, ...]  # of the compiler
    sources: tuple[Path, ...]
    needs: str  # what the compiler must have, for errors
    headers: tuple[Path, ...] = ()  # included by the sources

    def place(self, mpicc: str | Path, folder: str | Path | None = None) -> Path:
        """Return the compiled file's path for an MPI compiler; without ``folder``, in the cache."""
        digest = hashlib.sha256(" ".join(self.options).encode())
        # The compiler that the wrapper calls identifies the MPI and its version; wrappers of two
        # MPIs may share a name.
        digest.update(self._output([str(mpicc), "-show"]).encode())
        digest.update(str(Path(mpicc).resolve()).encode())
        for source in (*self.sources, *self.headers):
            digest.update(source.read_bytes())
        cache_folder = _cache() / self.kind if folder is None else Path(folder)
        return (cache_folder / digest.hexdigest()[:16] / self.name).resolve()

    def make(self, mpicc: str | Path, path: Path) -> None:
        """Compile to ``path``, as returned by ``place``, unless the file is there."""
        if path.exists():
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent) as scratch:
            built = Path(scratch) / self.name
            sources = map(str, self.sources)
            self._output([str(mpicc), *self.options, "-o", str(built), *sources])
            # Another process may build the same file: the last one replaces it with an equal one.
            built.replace(path)

    def _output(self, words: list[str]) -> str:
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
                f"{self.what} must compile with {words[0]}; it ended with status "
                f"{done.returncode}: {done.stderr.strip()[-500:]}; {self.what} needs {self.needs}"
            )
        return done.stdout


def _cache() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "interconnect-workbench"


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
    if sys.platform != "linux":
        raise RecordingError(
            f"programs are recorded on Linux, with LD_PRELOAD; this is {sys.platform}; record "
            "there and read the trace here"
        )
    library = _RECORDER.place(mpicc, folder)
    if any(separator in str(library) for separator in " :"):
        raise RecordingError(
            f"the recorder must be kept in a folder without spaces and colons, at which LD_PRELOAD "
            f"is divided; got {library.parent}; set XDG_CACHE_HOME to another"
        )
    _RECORDER.make(mpicc, library)
    return library
