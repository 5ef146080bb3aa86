"""Compiled kernels: arrays in, arrays out. They know no file, no table and no widget."""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from numba import config
from numba.core import caching

_save = caching.IndexDataCacheFile.save


def _save_alone(self, key, data):
    """Save a compiled kernel on disk while no other process saves the same one.

    numba reads the index, adds an entry and writes it back: of two processes that compile a kernel
    for different types each could take the other's code for its own, or lose it.
    """
    with Path(f"{self._index_path}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _save(self, key, data)


caching.IndexDataCacheFile.save = _save_alone

# Read once: one folder's kernels import another's, which must not go into the first one's cache.
_GIVEN = config.CACHE_DIR


@contextmanager
def cache_of_all(folder: Path, *called: Path) -> Iterator[None]:
    """Cache what is compiled meanwhile in a place for this state of all of a folder's files.

    numba compiles a kernel again when its own file has changed, but not when a kernel that it
    calls has changed in another file: it would go on running the old one.

    Args:
        folder: of the kernels.
        called: other folders whose kernels they call.
    """
    digest = hashlib.sha256()
    for each in (folder, *called):
        for path in sorted(each.glob("*.py")):
            digest.update(path.read_bytes())
    before = config.CACHE_DIR
    config.CACHE_DIR = str(_base(folder) / digest.hexdigest()[:16])
    try:
        yield
    finally:
        config.CACHE_DIR = before


def _base(folder: Path) -> Path:
    """Return where caches go: where numba is told to, beside the sources, or in the user's own."""
    if _GIVEN:
        return Path(_GIVEN)
    if os.access(folder, os.W_OK):
        return folder / "__pycache__"
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "interconnect-workbench"
