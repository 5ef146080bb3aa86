"""Parts of kernels that are compiled by themselves, and that kernels call by their address.

A helper is compiled into each kernel that calls it. What few runs need is better compiled and
loaded when one needs it: a kernel gets the address of its code as a number, which may be anything
where it is not called. Since PISCES is no part of `osu` of kernels/two_node, a fresh machine
compiles a third less for its first picture (`python -m workbench.warmup first --report`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from numba import config, njit
from numba.core import cgutils, sigutils, types
from numba.core.types.containers import StarArgTuple
from numba.extending import intrinsic


def apart(signature: str, **options: Any) -> Callable[[Any], Any]:
    """Compile a function by itself, for kernels that call it as ``function(address, ...)``.

    Python gets the address from ``function.address()``, which compiles it or takes it from the
    cache. Uncompiled, it is called as if it were in place, whatever its address.

    Args:
        signature: of numba, without the address.
        options: of ``numba.njit``.
    """
    arguments, returned = sigutils.normalize_signature(signature)

    def decorate(function: Any) -> Any:
        call: Any
        if config.DISABLE_JIT:
            call, find = (lambda _, *given: function(*given)), (lambda: 0)
        else:
            kernel = njit(cache=True, nogil=True, **options)(function)
            call = _call_by_address(arguments, returned)
            find = cache(lambda: _find(kernel, arguments))
        call.address = find
        return call

    return decorate


def _find(kernel: Any, arguments: tuple[Any, ...]) -> int:
    """Return the address of a kernel's code, which is compiled or loaded for that."""
    kernel.compile(arguments)
    compiled = kernel.overloads[arguments]
    address: int = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)
    return address


def _call_by_address(arguments: tuple[Any, ...], returned: Any) -> Any:
    """Return a call of a function of these types, as numba calls one whose name it knows."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        address, given = values[0], cgutils.unpack_tuple(builder, values[1])
        convention = context.call_conv
        kind = convention.get_function_type(returned, arguments)
        code = builder.inttoptr(address, kind.as_pointer())
        status, result = convention.call_function(builder, code, returned, arguments, given)
        with cgutils.if_unlikely(builder, status.is_error):
            convention.return_status_propagate(builder, status)
        return result

    @intrinsic
    def call(typing_context, address, *given):
        del typing_context, given
        return returned(types.intp, StarArgTuple.from_types(arguments)), generate

    return call
