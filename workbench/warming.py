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
        # Another process shows it already, or there is no cache to write to.
        with contextlib.suppress(Timeout, OSError):
            Path(lock.lock_file).parent.mkdir(parents=True, exist_ok=True)
            stack.enter_context(lock.acquire(blocking=False))
        yield


def going_on() -> bool:
    """Return whether a process compiles kernels ahead of their use; False where none can tell."""
    lock = _lock()
    if not Path(lock.lock_file).exists():
        return False
    try:
        with lock.acquire(blocking=False):
            return False
    except Timeout:
        return True
    except OSError:
        return False


def _lock() -> FileLock:
    """Return the lock that is held meanwhile, in the cache; numba is not imported for it."""
    folder = os.environ.get("NUMBA_CACHE_DIR")
    source = Path(__file__).parents[1] / "kernels"
    return FileLock((Path(folder) if folder else source / "__pycache__") / _NAME)
