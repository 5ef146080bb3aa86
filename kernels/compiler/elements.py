"""Elements of contiguous arrays, read and written with a quarter of the code that numba makes.

Half of what kernels do is ``s[i]`` of one dimension. numba takes the whole array apart for each, in
memory: LLVM gets 31 lines for the reading of an element instead of 7, and finds out at length that
most of it is not needed. What LLVM ends up with is the same, instruction for instruction
(tests/kernels/test_compiling.py).
"""

from __future__ import annotations

import operator
from typing import Any

from numba.core import types
from numba.core.imputils import lower_builtin


def _place(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """Return the address of an element, or None where numba has to find it itself."""
    from numba.np import arrayobj  # loaded with the first compilation: it takes 0.05 s

    array, index = sig.args[:2]
    plain = type(array) is types.Array and array.ndim == 1 and array.layout == "C"
    numbers = isinstance(array.dtype, types.Number | types.Boolean)
    if not plain or not numbers or context.enable_boundscheck:
        return None
    model = context.data_model_manager[array]
    data = builder.extract_value(args[0], model.get_field_position("data"))
    size = builder.extract_value(args[0], [model.get_field_position("shape"), 0])
    at = arrayobj.fix_integer_index(context, builder, index, args[1], size)
    return builder.gep(data, [at])


def _get(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """Compile the reading of an element."""
    from numba.np import arrayobj

    place = _place(context, builder, sig, args)
    if place is None:
        return arrayobj.getitem_arraynd_intp(context, builder, sig, args)
    return arrayobj.load_item(context, builder, sig.args[0], place)


def _set(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """Compile the writing of an element."""
    from numba.np import arrayobj

    place = _place(context, builder, sig, args)
    if place is None:
        return arrayobj.setitem_array(context, builder, sig, args)
    array, _, kind = sig.args
    value = context.cast(builder, args[2], kind, array.dtype)
    arrayobj.store_item(context, builder, array, value, place)
    return None


def compile_elements_briefly() -> None:
    """Have numba compile the elements of arrays of one dimension in this way."""
    lower_builtin(operator.getitem, types.Array, types.Integer)(_get)
    lower_builtin(operator.setitem, types.Array, types.Integer, types.Any)(_set)
