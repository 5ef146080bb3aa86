"""Whether another process compiles kernels ahead of their use, into the same cache."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

_NAME = ".compiling.lock"


@contextlib.contextmanager
def marked() -> Iterator[None]:
    """Let others see for the time of the block that kernels are compiled; a kill ends it too."""
    lock = _lock()
    with contextlib.ExitStack() as stack:
        if lock is not None:
            Path(lock.lock_file).parent.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(Timeout):  # another process shows it already
                stack.enter_context(lock.acquire(blocking=False))
        yield


def going_on() -> bool:
    """Return whether a process compiles kernels ahead of their use; False where none can tell."""
    lock = _lock()
    if lock is None or not Path(lock.lock_file).exists():
        return False
    try:
        lock.acquire(blocking=False)
    except Timeout:
        return True
    lock.release()
    return False


def _lock() -> FileLock | None:
    """Return the lock that is held meanwhile: in the cache that `make` names for all."""
    folder = os.environ.get("NUMBA_CACHE_DIR")
    return FileLock(Path(folder) / _NAME) if folder else None
