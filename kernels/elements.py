"""Elements of contiguous arrays, read and written with a third of the code that numba makes.

Half of what kernels do is ``s[i]`` of one dimension. numba takes the array apart for each, in
memory, with all its strides, and LLVM finds out at length that most of it is not needed. What comes
out is as fast (tests/benchmarks/test_two_node.py).
"""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba.core import types
from numba.core.imputils import lower_builtin


def _place(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """Return the address of an element, or None where numba has to find it itself."""
    array, index = sig.args[:2]
    plain = type(array) is types.Array and array.ndim == 1 and array.layout == "C"
    if not plain or context.enable_boundscheck:
        return None
    if not isinstance(array.dtype, types.Number | types.Boolean):
        return None
    model = context.data_model_manager[array]
    data = builder.extract_value(args[0], model.get_field_position("data"))
    word = types.intp if index.signed else types.uintp
    at = context.cast(builder, args[1], index, word)
    if index.signed and not (isinstance(at, ir.Constant) and at.constant >= 0):
        size = builder.extract_value(args[0], [model.get_field_position("shape"), 0])
        negative = builder.icmp_signed("<", at, at.type(0))
        at = builder.select(negative, builder.add(at, size), at)
    return builder.gep(data, [at])


@lower_builtin(operator.getitem, types.Array, types.Integer)
def _get(context, builder, sig, args):
    from numba.np import arrayobj

    place = _place(context, builder, sig, args)
    if place is None:
        return arrayobj.getitem_arraynd_intp(context, builder, sig, args)
    return arrayobj.load_item(context, builder, sig.args[0], place)


@lower_builtin(operator.setitem, types.Array, types.Integer, types.Any)
def _set(context, builder, sig, args):
    from numba.np import arrayobj

    place = _place(context, builder, sig, args)
    if place is None:
        return arrayobj.setitem_array(context, builder, sig, args)
    array, _, kind = sig.args
    value = context.cast(builder, args[2], kind, array.dtype)
    arrayobj.store_item(context, builder, array, value, place)
    return None
