"""Indices of kernels are never negative, so nothing is compiled for negative ones.

Python counts a negative index from the array's end, and so does numba: each access compares its
index with 0, adds the length and chooses, and accesses that find the next one's index wait for all
that in turn. Without it replays take 15 to 25 % less time, packing for sweeps 25 %
(tests/benchmarks/test_loggops.py, test_sweep.py).

This holds for functions of ``kernels`` alone, and not for an index that is a number in their text.
With ``NUMBA_BOUNDSCHECK=1``, as in ``make deep``, a negative index in them is an error.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.np import arrayobj

_fix_index = arrayobj.fix_integer_index


def _index_as_it_is(context: Any, builder: Any, kind: Any, index: Any, size: Any) -> Any:
    """Return an access' index for LLVM, as numba does but for those of kernels."""
    in_kernel = context.fndesc is not None and context.fndesc.modname.startswith("kernels.")
    if not in_kernel or not kind.signed or isinstance(index, ir.Constant):
        return _fix_index(context, builder, kind, index, size)
    return context.cast(builder, index, kind, types.intp)


def take_indices_as_they_are() -> None:
    """Have numba compile the accesses of kernels without a look at their indices' signs."""
    arrayobj.fix_integer_index = _index_as_it_is
