"""Lines of the cache asked for ahead, so that the processor reads several at a time."""

from __future__ import annotations

from llvmlite import ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic

from kernels import helper


@intrinsic
def _instruction(typing_context, array, index):
    """Return LLVM's prefetch of an array's element, for reading, into the fastest cache."""
    del typing_context

    def generate(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        place = builder.bitcast(builder.gep(data, [arguments[1]]), cgutils.voidptr_t)
        word = ir.IntType(32)
        wanted = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, word, word, word])
        function = cgutils.get_or_insert_function(builder.module, wanted, "llvm.prefetch.p0i8")
        builder.call(function, [place, word(0), word(3), word(1)])
        return context.get_dummy_value()

    return types.void(array, index), generate


@helper(_nrt=False)
def prefetch(array, index):
    """Have the processor read the line of an element, without waiting for it.

    Args:
        array: contiguous; its elements are counted as if it had one dimension.
        index: which; one beyond the array does no harm.
    """
    if not config.DISABLE_JIT:
        _instruction(array, index)
