"""Compiled kernels: arrays in, arrays out. No files, tables or widgets."""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from numba import config, jit, njit, types, version_info
from numba.core import caching
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.typing.templates import _OverloadFunctionTemplate

from kernels.compiler.compiling import compile_in_less_time
from kernels.compiler.elements import compile_elements_briefly
from kernels.compiler.indexing import take_indices_as_they_are
from kernels.compiler.loading import load_only_machine_code

KNOWN_NUMBA = (0, 68)
"""Whose internals are known; another version compiles and loads kernels in its own way, slower."""

_finalize = JITCodeLibrary.finalize
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
if version_info.short == KNOWN_NUMBA:
    compile_in_less_time()
    take_indices_as_they_are()
    compile_elements_briefly()
    load_only_machine_code()


class _HelperLibrary(JITCodeLibrary):
    """A helper's code, which is made into machine code with each kernel that contains it.

    It is optimised on its own, without the helpers that it calls: these are linked into the kernel
    only. Linked into each other, they were optimised again for every caller above them, a third of
    the time to compile osu of kernels/two_node (21.4 to 14.1 s, `python -m workbench.warmup first
    --report`); kernels are as fast either way (tests/benchmarks/test_two_node.py).
    """

    def finalize(self) -> None:
        self._raise_if_finalized()
        self._optimize_final_module()
        self._finalize_dynamic_globals()
        self._finalized = True


def _callers_first(library: JITCodeLibrary) -> list[JITCodeLibrary]:
    """Return all that is to be linked into a kernel's code; LLVM leaves out what none yet calls."""
    found: dict[JITCodeLibrary, None] = {}

    def visit(caller: JITCodeLibrary) -> None:
        for each in reversed(dict.fromkeys(caller._linking_libraries)):
            if each not in found:
                if isinstance(each, _HelperLibrary):
                    visit(each)
                found[each] = None

    visit(library)
    return list(reversed(found))


def _finalize_kernel(self: JITCodeLibrary) -> None:
    """Link a kernel's code with that of its helpers, and of those that these call."""
    self._linking_libraries = _callers_first(self)
    _finalize(self)


JITCodeLibrary.finalize = _finalize_kernel


class _PartCompiler(Compiler):
    """Compile a function as far as a kernel needs it: a third of the time goes without the rest."""

    def __init__(self, typingctx, targetctx, library, args, return_type, flags, locals):
        flags = flags.copy()
        flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
        super().__init__(typingctx, targetctx, library, args, return_type, flags, locals)

    def compile_extra(self, func):
        target = self.state.targetctx
        self.state.library = _HelperLibrary(target.codegen(), func.__qualname__)
        entry_point = object()  # by which numba finds the code that a call needs
        compiled = super().compile_extra(func)._replace(entry_point=entry_point)
        target.insert_user_function(entry_point, compiled.fndesc, [compiled.library])
        return compiled


class _HelperCompiler(_PartCompiler):
    """Compile a helper of ours."""

    def compile_extra(self, func):
        compiled = super().compile_extra(func)
        returned = compiled.signature.return_type
        models = self.state.targetctx.data_model_manager
        if not self.state.flags.nrt and models[returned].contains_nrt_meminfo():
            raise TypeError(
                f"{func.__qualname__} returns {returned}, so its arrays must be counted: "
                "write @helper(_nrt=True)"
            )
        return compiled


def _part(function: Any, compiler: type[_PartCompiler], options: dict[str, Any]) -> Any:
    """Return a dispatcher whose functions become parts of kernels."""
    dispatcher = jit(pipeline_class=compiler, **options)(function)

    def add_overload(compiled: Any) -> None:
        dispatcher.overloads[tuple(compiled.signature.args)] = compiled

    dispatcher.add_overload = add_overload
    return dispatcher


_decorator_of_numba = _OverloadFunctionTemplate._get_jit_decorator


def _decorate_as_part(self: Any) -> Callable[..., Any]:
    """Return the decorator of numba's own functions, by which they become parts of kernels too.

    numba makes machine code of each, and two more functions by which Python and C may call it.
    """
    decorator = _decorator_of_numba(self)

    def with_options(**options: Any) -> Callable[[Any], Any]:
        if decorator is not jit or options.get("cache"):
            found: Callable[[Any], Any] = decorator(**options)
            return found
        return lambda function: _part(function, _PartCompiler, options)

    return with_options


if version_info.short == KNOWN_NUMBA:
    _OverloadFunctionTemplate._get_jit_decorator = _decorate_as_part


def helper(signature: str | None = None, **options: Any) -> Callable[[Any], Any]:
    """Compile a function that kernels call, as a part of each kernel that calls it.

    A kernel's entry in the cache contains the code of all its helpers, which have none of their
    own. Python may call a helper too, as tests do: it is compiled once more for that.

    Arrays are not counted in and out at each call, which is half of the code that numba makes of a
    helper; so it returns numbers. One that allocates, or returns arrays, is told ``_nrt=True``.

    Args:
        signature: of numba, such as ``"i8(i8[::1], i8)"``, which spares kernels to find the types
            of each call; without it the helper is compiled for the types of its arguments, a
            constant's being that of its kind of number.
        options: of ``numba.njit``.
    """
    options.setdefault("_nrt", False)

    def decorate(function: Any) -> Any:
        if config.DISABLE_JIT:
            return function
        dispatcher = _part(function, _HelperCompiler, options)
        find_overloads = dispatcher.get_call_template
        folder = config.CACHE_DIR
        standing_alone: list[Any] = []

        def called_by_a_kernel(args: Any, kws: Any) -> Any:
            if signature is None:
                return find_overloads(tuple(map(types.unliteral, args)), kws)
            if not dispatcher.overloads:
                dispatcher.compile(signature)
            dispatcher.disable_compile()
            try:
                return find_overloads(args, kws)
            finally:
                dispatcher.disable_compile(False)

        def called_by_python(*_: Any) -> Any:
            if not standing_alone:
                types = [] if signature is None else [signature]
                with _cache_in(folder):
                    standing_alone.append(njit(*types, cache=True, **options)(function))
            return standing_alone[0]  # which numba calls then, with the same arguments

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
    digest.update(Path(__file__).read_bytes())
    for each in (Path(__file__).with_name("compiler"), folder, *called):
        for path in sorted(each.glob("*.py")):
            digest.update(path.read_bytes())
    with _cache_in(str(_base(folder) / digest.hexdigest()[:16])):
        yield


@contextmanager
def _cache_in(folder: str) -> Iterator[None]:
    """Have numba cache in a folder what is decorated meanwhile."""
    before = config.CACHE_DIR
    config.CACHE_DIR = folder
    try:
        yield
    finally:
        config.CACHE_DIR = before


def _base(folder: Path) -> Path:
    """Return where caches go: where numba is told to, beside the sources, or in the user's own."""
    if _GIVEN:
        return Path(_GIVEN)
    checkout = Path(__file__).parents[1]
    if (checkout / "Makefile").is_file() and os.access(checkout, os.W_OK):
        return checkout / ".cache" / "numba"  # where `make` compiles all of them
    if os.access(folder, os.W_OK):
        return folder / "__pycache__"
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "interconnect-workbench"
