"""Compiled kernels: arrays in, arrays out. No files, tables or widgets."""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from numba import config, njit
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


def helper(signature: str, **options: Any) -> Callable[[Any], Any]:
    """Compile a function that kernels call, or load it from the cache, when it is first needed.

    ``numba.njit`` does that when the file is imported. A kernel from the cache contains the code
    of all its helpers: importing them one by one would take most of a second of each process.

    Args:
        signature: of numba, such as ``"i8(i8[::1], i8)"``.
        options: of ``numba.njit``.
    """

    def decorate(function: Any) -> Any:
        dispatcher = njit(**options)(function)
        if dispatcher is function:  # NUMBA_DISABLE_JIT
            return function
        find_overloads = dispatcher.get_call_template

        def compile_once() -> None:
            if not dispatcher.overloads:
                dispatcher.compile(signature)
                dispatcher.disable_compile()

        def called_by_a_kernel(args: Any, kws: Any) -> Any:
            compile_once()
            return find_overloads(args, kws)

        def called_by_python(*_: Any) -> Any:
            compile_once()
            return dispatcher  # which numba calls then, with the same arguments

        dispatcher.get_call_template = called_by_a_kernel
        dispatcher._compile_for_args = called_by_python
        return dispatcher

    return decorate


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
