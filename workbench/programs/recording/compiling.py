"""C of ours that is compiled once for each MPI and kept."""

from __future__ import annotations

import hashlib
import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from workbench.programs.recording.errors import RecordingError

_COMPILE_S = 120


@dataclass(frozen=True)
class Recipe:
    """What is compiled, and how.

    Attributes:
        what: how an error calls it, such as ``the recorder``.
        name: name of the file that is made.
        kind: folder of the user's cache that it is kept in.
        options: words for the compiler.
        sources: files to compile.
        headers: files that these include.
        needs: what the compiler must have.
    """

    what: str
    name: str
    kind: str
    options: tuple[str, ...]
    sources: tuple[Path, ...]
    needs: str
    headers: tuple[Path, ...] = ()

    def place(self, mpicc: str | Path, folder: str | Path | None = None) -> Path:
        """Return the path of what is made with an MPI's compiler.

        Args:
            mpicc: the compiler.
            folder: where to keep it; None takes the user's cache, which ``XDG_CACHE_HOME`` moves.

        Raises:
            RecordingError: the compiler fails; its words are in it.
        """
        digest = hashlib.sha256(" ".join(self.options).encode())
        # What the wrapper calls names the MPI and its version; wrappers of two MPIs share a name.
        digest.update(self._said([str(mpicc), "-show"]).encode())
        digest.update(str(Path(mpicc).resolve()).encode())
        for source in (*self.sources, *self.headers):
            digest.update(source.read_bytes())
        kept = _cache() / self.kind if folder is None else Path(folder)
        return (kept / digest.hexdigest()[:16] / self.name).resolve()

    def make(self, mpicc: str | Path, path: Path) -> None:
        """Compile it where it is not there.

        Args:
            mpicc: the compiler.
            path: what ``place`` gave.

        Raises:
            RecordingError: the compiler fails; its words are in it.
        """
        if path.exists():
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent) as scratch:
            built = Path(scratch) / self.name
            sources = map(str, self.sources)
            self._said([str(mpicc), *self.options, "-o", str(built), *sources])
            # Another process may build the same: whoever is last replaces like with like.
            built.replace(path)

    def _said(self, words: list[str]) -> str:
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
