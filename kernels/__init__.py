"""Compiled kernels: arrays in, arrays out. No files, tables or widgets.

What Python calls is ``@kernel(cache=True, nogil=True)``; what kernels call is ``@helper``, which
Python may call too, uncompiled.
"""

from __future__ import annotations

import functools
import hashlib
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock
from numba import config, njit, typeof
from numba.extending import register_jitable

_HERE = Path(__file__).parent
_SOURCES = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(_HERE.rglob("*.py"))))

helper = register_jitable(_nrt=False, no_cfunc_wrapper=True)
"""Decorates what kernels call: it allocates nothing, and C does not call it."""

part = njit(inline="always")
"""Decorates a helper that stands in a kernel once, as whose text it is compiled.

What it calls is then optimised once less.
"""

inlined = register_jitable(_nrt=False, no_cfunc_wrapper=True, forceinline=True)
"""Decorates a helper that LLVM puts into its callers: they compile longer and run faster."""


def kernel(*, cache: bool, nogil: bool) -> Callable[[Any], Any]:
    """Compile a function when Python first calls it with arguments of some types.

    As ``numba.njit``, with three differences. One process at a time compiles a kernel: of two that
    save it for different types, each could take the other's code for its own. What was compiled
    from other sources is deleted, while numba sees changes only in the kernel's own file. And where
    no cache can be written a kernel is compiled without one.
    """

    def decorate(function: Any) -> Any:
        if config.DISABLE_JIT:
            return function
        try:
            compiled = njit(cache=cache, nogil=nogil)(function)
        except RuntimeError as error:
            if "no locator available" not in str(error):
                raise
            _warn_once()
            return njit(nogil=nogil)(function)
        folder = Path(compiled.stats.cache_path)
        ready: set[Any] = set()

        @functools.wraps(function)
        def call(*args: Any) -> Any:
            kinds = tuple(map(_kind, args))
            if kinds not in ready:
                types = tuple(map(typeof, args))
                with FileLock(folder / f".{function.__module__}.{function.__name__}.lock"):
                    _forget_other_sources(folder)
                    compiled.compile(types)
                    _forget_other_sources(folder)  # of a process that began meanwhile
                ready.add(kinds)
            return compiled(*args)

        return call

    return decorate


def cache_folder() -> Path | None:
    """Return where the kernels of this folder's files are cached, None where none can be."""
    try:
        return Path(njit(cache=True)(_kind).stats.cache_path)
    except RuntimeError:
        return None


def _kind(argument: Any) -> Any:
    """Return a key that differs for arguments of different numba types; quicker than `typeof`."""
    if isinstance(argument, np.ndarray):
        flags = argument.flags
        return argument.dtype, argument.ndim, flags.c_contiguous, flags.writeable
    if isinstance(argument, tuple):
        return type(argument), *map(_kind, argument)
    return type(argument)


def _forget_other_sources(folder: Path) -> None:
    """Delete a cache's kernels if they were compiled from sources that are not these."""
    note = folder / "kernels.sha256"
    with FileLock(folder / ".kernels.lock"):
        if note.exists() and note.read_text() == _SOURCES.hexdigest():
            return
        for compiled in folder.glob("*.nb[ic]"):
            compiled.unlink()
        note.write_text(_SOURCES.hexdigest())


@functools.cache
def _warn_once() -> None:
    warnings.warn(
        "no folder for compiled kernels can be written, so each process compiles them anew, which "
        "takes up to minutes; let NUMBA_CACHE_DIR name a folder that can be written",
        stacklevel=4,
    )
