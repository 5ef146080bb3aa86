"""Kernels that others call as machine code, which they do not contain.

A helper becomes a part of each kernel that calls it, and is optimised there once more. What is long
and called seldom is better compiled once for all. LLVM then knows it by a name of ours, a symbol,
whose address is told it before it compiles or loads what calls it.
"""

from __future__ import annotations

import copy
from typing import Any

import llvmlite.binding as llvm

_PREFIX = "shared."
_shared: dict[str, tuple[Any, tuple[Any, ...]]] = {}
_provided: set[str] = set()


def share(dispatcher: Any, types: tuple[Any, ...]) -> None:
    """Have kernels call a kernel's code for some types of its arguments by a symbol of its own."""
    symbol = f"{_PREFIX}{dispatcher.py_func.__module__}.{dispatcher.py_func.__qualname__}"
    _shared[symbol] = dispatcher, types
    find_overloads = dispatcher.get_call_template

    def called_by_a_kernel(args: Any, kws: Any) -> Any:
        _provide(symbol)
        dispatcher.disable_compile()
        try:
            return find_overloads(args, kws)
        finally:
            dispatcher.disable_compile(False)

    dispatcher.get_call_template = called_by_a_kernel


def provide_for(code: bytes) -> None:
    """Load or compile the kernels that machine code calls: LLVM ends the process without them."""
    if _PREFIX.encode() in code:
        for symbol in _shared:
            if symbol.encode() + b"\0" in code:
                _provide(symbol)


def _provide(symbol: str) -> None:
    """Load or compile a kernel, and have LLVM find its code by the symbol."""
    if symbol in _provided:
        return
    dispatcher, types = _shared[symbol]
    dispatcher.compile(types)
    compiled, target = dispatcher.overloads[types], dispatcher.targetctx
    address = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)
    llvm.add_symbol(symbol, address)
    called = copy.copy(compiled.fndesc)
    called.mangled_name = symbol
    target.remove_user_function(compiled.entry_point)
    target.insert_user_function(compiled.entry_point, called)
    _provided.add(symbol)
