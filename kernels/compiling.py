"""What numba does again for each kernel, done once, so that kernels compile in less time.

A quarter of the processor time outside LLVM went to it (osu of kernels/two_node: 14.1 s with it,
10.7 s without; `python -m workbench.warmup first --report`). The code that comes out is the same,
instruction for instruction (tests/kernels/test_compiling.py).
"""

from __future__ import annotations

import gc
from types import BuiltinFunctionType
from typing import Any

from numba.core import event, ir, targetconfig
from numba.core.types.functions import BaseFunction

_find_signature = BaseFunction.get_call_type
_NO_VARIABLE, _VARIABLE, _INSTRUCTION, _SEQUENCE, _MAPPING = range(5)
_holds: dict[type, int] = {}
_hashes: dict[type, int] = {}


def _signature_of_call(self: Any, context: Any, args: Any, kws: Any) -> Any:
    """Remember which signature an operator has for some types, as numba asks at each use of it.

    It tries the operator's implementations, for lists, texts and arrays too, until one fits.
    """
    if kws or not isinstance(self.typing_key, BuiltinFunctionType):
        return _find_signature(self, context, args, kws)
    known = self.__dict__.setdefault("_signatures", {})
    key = (context, tuple(args), targetconfig.ConfigStack.top_or_none())
    if key not in known:
        known[key] = _find_signature(self, context, args, kws)
    return known[key]


def _hash_of_options(self: Any) -> int:
    """Return numba's hash, which depends on the names of options alone."""
    kind = type(self)
    if kind not in _hashes:
        _hashes[kind] = hash(tuple(sorted(self.options)))
    return _hashes[kind]


def _same_options(self: Any, other: Any) -> Any:
    """Compare options; those that have been set first, as these are the same most of the time."""
    if not isinstance(other, targetconfig.TargetConfig):
        return NotImplemented
    return self._values == other._values or self.values() == other.values()


def _what_it_holds(kind: type) -> int:
    """Say where values of this type keep variables of the program that is compiled, if anywhere."""
    if issubclass(kind, ir.Var):
        return _VARIABLE
    if issubclass(kind, ir.Inst):
        return _INSTRUCTION
    if issubclass(kind, list | tuple):
        return _SEQUENCE
    return _MAPPING if issubclass(kind, dict) else _NO_VARIABLE


def _variables_in(self: Any, value: Any) -> list[Any]:
    """Return the variables in a part of an instruction."""
    kind = type(value)
    holds = _holds.get(kind)
    if holds is None:
        holds = _holds[kind] = _what_it_holds(kind)
    if holds == _NO_VARIABLE:
        return []
    if holds == _VARIABLE:
        return [value]
    if holds == _INSTRUCTION:
        return list(value.list_vars())
    found: list[Any] = []
    for part in value.values() if holds == _MAPPING else value:
        if _holds.get(type(part)) != _NO_VARIABLE:
            found += _variables_in(self, part)
    return found


class _GarbageLater(event.Listener):
    """Collect no garbage while a kernel is compiled: there is little, and much to look through."""

    def __init__(self) -> None:
        self._depth, self._was_on = 0, False

    def on_start(self, event: Any) -> None:
        if self._depth == 0:
            self._was_on = gc.isenabled()
            gc.disable()
        self._depth += 1

    def on_end(self, event: Any) -> None:
        self._depth -= 1
        if self._depth == 0 and self._was_on:
            gc.enable()


def compile_in_less_time() -> None:
    """Have numba do once what it does again for each kernel, in what is compiled from now on."""
    BaseFunction.get_call_type = _signature_of_call  # type: ignore[method-assign]
    targetconfig.TargetConfig.__hash__ = _hash_of_options
    targetconfig.TargetConfig.__eq__ = _same_options
    ir.Inst._rec_list_vars = _variables_in
    event.register("numba:compile", _GarbageLater())
