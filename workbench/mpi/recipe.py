"""C code of the workbench, compiled once for each MPI with that MPI's own compiler."""

from __future__ import annotations

import hashlib
import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from workbench.mpi import calls
from workbench.mpi.errors import MPIError

_COMPILE_S = 120  # s; mpicc takes 1.4 s for collective.c: this ends only a compiler that hangs


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
    # Of a library that stands before an MPI: local calls that it has code for; see `calls`.
    local_calls: tuple[str, ...] | None = None

    def place(self, mpicc: str | Path, folder: str | Path | None = None) -> Path:
        """Return the compiled file's path for an MPI compiler; without ``folder``, in the cache."""
        digest = hashlib.sha256(" ".join((*self.options, *(self.local_calls or ()))).encode())
        # The compiler that the wrapper calls identifies the MPI and its version; wrappers of two
        # MPIs may share a name.
        digest.update(self._output([str(mpicc), "-show"]).encode())
        digest.update(str(Path(mpicc).resolve()).encode())
        made = () if self.local_calls is None else (Path(calls.__file__),)
        for source in (*self.sources, *self.headers, *made):
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
            words = [str(mpicc), *self.options, f"-I{scratch}", "-o", str(built)]
            words += [f"-I{header.parent}" for header in self.headers]
            if self.local_calls is not None:
                declared = self._output([str(mpicc), "-E", "-P", "-include", "mpi.h", "-xc", "-"])
                listed = calls.calls(declared, self.local_calls)
                (Path(scratch) / "mpi_calls.h").write_text(listed)
            self._output([*words, *map(str, self.sources)])
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
            raise MPIError(
                f"the MPI's compiler must run; {error}; name another MPI with mpirun="
            ) from error
        if done.returncode != 0:
            raise MPIError(
                f"{self.what} must compile with {words[0]}; it ended with status "
                f"{done.returncode}: {done.stderr.strip()[-500:]}; {self.what} needs {self.needs}"
            )
        return done.stdout


def _cache() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "interconnect-workbench"
