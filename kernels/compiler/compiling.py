"""What numba does again for each kernel, done once, so that kernels compile in less time.

A quarter of the processor time outside LLVM went to it (osu of kernels/two_node: 14.1 s with it,
10.7 s without; `python -m workbench.warmup first --report`). The code that comes out is the same,
instruction for instruction (tests/kernels/test_compiling.py).
"""

from __future__ import annotations

import gc
from types import BuiltinFunctionType
from typing import Any

from numba.core import analysis, event, ir, lowering, targetconfig, transforms
from numba.core.postproc import PostProcessor, VariableLifetime
from numba.core.types.functions import BaseFunction
from numba.core.typing.templates import _OverloadFunctionTemplate

_find_signature = BaseFunction.get_call_type
_find_implementation = _OverloadFunctionTemplate._get_impl
_post_process = PostProcessor.run
_give_entry_variables = ir.FunctionIR.get_block_entry_vars
_make_wrapper_for_c = lowering.BaseLower.create_cfunc_wrapper
_NO_VARIABLE, _VARIABLE, _INSTRUCTION, _SEQUENCE, _MAPPING = range(5)
_holds: dict[type, int] = {}
_hashes: dict[type, int] = {}
_defaults: dict[type, dict[str, Any]] = {}
_INHERITED = ("nrt", "fastmath", "error_model", "forceinline")
"""Options that numba's own functions take over from the kernel that calls them."""


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


def _values_of_options(self: Any) -> dict[str, Any]:
    """Return all options; those that are set, after the defaults, which are those of the class."""
    kind = type(self)
    if kind not in _defaults:
        _defaults[kind] = {name: option.default for name, option in self.options.items()}
    return {**_defaults[kind], **self._values}


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


def _implementation(self: Any, args: Any, kws: Any) -> Any:
    """Find numba's own function for some types, which other options of the caller do not change.

    numba compiles it again for each combination of all options.
    """
    flags = targetconfig.ConfigStack.top_or_none()
    if flags is None:
        return _find_implementation(self, args, kws)
    inherited = type(flags)()
    for name in _INHERITED:
        setattr(inherited, name, getattr(flags, name))
    with targetconfig.ConfigStack().enter(inherited):
        return _find_implementation(self, args, kws)


def _post_process_without_liveness(
    self: Any, emit_dels: bool = False, extend_lifetimes: bool = False
) -> None:
    """Find out which variables are live only where it is asked: for generators and objects.

    numba does so after each of six passes.
    """
    program = self.func_ir
    if program.is_generator:
        _post_process(self, emit_dels, extend_lifetimes)
        return
    program.blocks = transforms.canonicalize_cfg(program.blocks)
    program.variable_lifetime = VariableLifetime(program.blocks)
    program.block_entry_vars.clear()
    program.generator_info = None
    if emit_dels:
        self._insert_var_dels(extend_lifetimes=extend_lifetimes)


def _entry_variables(self: Any, block: Any) -> Any:
    """Return the variables that are live where a block begins."""
    if block not in self.block_entry_vars:
        lifetime = self.variable_lifetime
        live = analysis.compute_live_variables(
            lifetime.cfg, self.blocks, lifetime.usedefs.defmap, lifetime.deadmaps.combined
        )
        for offset, each in self.blocks.items():
            self.block_entry_vars[each] = live[offset]
    return _give_entry_variables(self, block)


def _wrapper_for_c(self: Any) -> None:
    """Make no function that C could call of a kernel: Python and kernels call others."""
    if not self.fndesc.modname.startswith("kernels."):
        _make_wrapper_for_c(self)


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
    targetconfig.TargetConfig.values = _values_of_options
    _OverloadFunctionTemplate._get_impl = _implementation
    PostProcessor.run = _post_process_without_liveness
    ir.FunctionIR.get_block_entry_vars = _entry_variables
    lowering.BaseLower.create_cfunc_wrapper = _wrapper_for_c
    ir.Inst._rec_list_vars = _variables_in
    event.register("numba:compile", _GarbageLater())
