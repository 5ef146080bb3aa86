"""Whether another process compiles kernels ahead of their use, into the same cache."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

_NAME = ".compiling.lock"


@contextlib.contextmanager
def marked() -> Iterator[None]:
    """Let others see for the time of the block that kernels are compiled; a kill ends it too."""
    path = _path()
    if path is None:
        yield
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_SH)
        yield


def going_on() -> bool:
    """Return whether a process compiles kernels ahead of their use; False where none can tell."""
    path = _path()
    if path is None or not path.exists():
        return False
    with path.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def _path() -> Path | None:
    """Return the file that is locked meanwhile: in the cache that `make` names for all."""
    folder = os.environ.get("NUMBA_CACHE_DIR")
    return Path(folder) / _NAME if folder else None
