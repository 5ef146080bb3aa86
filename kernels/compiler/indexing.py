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
from numba.core import event, types


def _index_as_it_is(context: Any, builder: Any, kind: Any, index: Any, size: Any) -> Any:
    """Return an access' index for LLVM, as numba does but for those of kernels."""
    from numba.cpython.slicing import fix_index

    if not kind.signed:
        return context.cast(builder, index, kind, types.uintp)
    word = context.cast(builder, index, kind, types.intp)
    in_kernel = context.fndesc is not None and context.fndesc.modname.startswith("kernels.")
    if in_kernel and not isinstance(index, ir.Constant):
        return word
    return fix_index(builder, word, size)


class _BeforeCompiling(event.Listener):
    """Change numba's arrays when the first kernel is compiled: to load them takes 0.05 s."""

    def on_start(self, event: Any) -> None:
        from numba.np import arrayobj

        arrayobj.fix_integer_index = _index_as_it_is

    def on_end(self, event: Any) -> None:
        pass


def take_indices_as_they_are() -> None:
    """Have numba compile the accesses of kernels without a look at their indices' signs."""
    event.register("numba:compile", _BeforeCompiling())
