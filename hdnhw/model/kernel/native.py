"""What machine code has and Python has not, for Numba's kernels: see :mod:`hdnhw.model.kernel.compiled`.

Numba counts references to arrays with atomic operations, some at each unpacking of a tuple: fifty times the work of
putting a packet into a queue. A borrowed array is the same memory without a count.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.cpython.unsafe import numbers
from numba.extending import intrinsic

__all__ = ["arrive", "borrow", "look", "prefetch", "step_back", "trailing_zeros"]


trailing_zeros: Any = numbers.trailing_zeros  # an intrinsic: called without the context that its type asks for

_null: Any = cgutils.get_null_value
_declared: Any = cgutils.get_or_insert_function
_long = ir.IntType(64)


def _disown(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    if isinstance(kind, types.Array):
        array = context.make_array(kind)(context, builder, value=value)
        array.meminfo, array.parent = _null(array.meminfo.type), _null(array.parent.type)
        return array._getvalue()
    if not isinstance(kind, types.BaseTuple):
        return value
    kinds: Any = kind
    members = [
        _disown(context, builder, member, builder.extract_value(value, position))
        for position, member in enumerate(kinds)
    ]
    return context.make_tuple(builder, kind, members)


def _borrow(_: Any, value: Any) -> Any:
    """Return an array, or a tuple of such and other values, of which Numba does not count the references.

    Somebody else must hold the arrays as long as the result is used: arguments of a compiled function are held by its
    caller, arrays made in it are not.
    """

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _disown(context, builder, signature.args[0], arguments[0])

    return value(value), code


borrow: Any = intrinsic(_borrow)

_TO_WRITE, _KEEP, _DATA = 1, 3, 1
_pointer, _word = ir.IntType(8).as_pointer(), ir.IntType(32)


def _prefetch(_: Any, array: Any, __: Any) -> Any:
    """Ask for the line of the cache that holds an element of a flat array; the element need not exist."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, value=arguments[0]).data
        address = builder.bitcast(builder.gep(data, [arguments[1]]), _pointer)
        kind = ir.FunctionType(ir.VoidType(), (_pointer, _word, _word, _word))
        function = _declared(builder.module, kind, "llvm.prefetch.p0i8")
        builder.call(function, [address, *(_word(flag) for flag in (_TO_WRITE, _KEEP, _DATA))])
        return context.get_dummy_value()

    return types.void(array, types.int64), code


prefetch: Any = intrinsic(_prefetch)


def _arrive(_: Any, array: Any) -> Any:
    """Add 1 to the first element of an array; all that was written before is there for whoever sees that."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, value=arguments[0]).data
        builder.atomic_rmw("add", data, ir.Constant(_long, 1), "seq_cst")
        return context.get_dummy_value()

    return types.void(array), code


def _look(_: Any, array: Any) -> Any:
    """Return the first element of an array, and see all that was written before it was."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, value=arguments[0]).data
        return builder.load_atomic(data, "seq_cst", 8)

    return types.int64(array), code


def _step_back(_: Any) -> Any:
    """Let others have the processor."""

    def code(context: Any, builder: Any, _: Any, __: Any) -> Any:
        kind = ir.FunctionType(ir.IntType(32), ())
        builder.call(_declared(builder.module, kind, "sched_yield"), [])
        return context.get_dummy_value()

    return types.void(), code


arrive: Any = intrinsic(_arrive)
look: Any = intrinsic(_look)
step_back: Any = intrinsic(_step_back)
