"""Arrays without owner for Numba's kernels.

Numba counts references to arrays with atomic operations, some at each unpacking of a tuple: fifty times the work of
putting a packet into a queue. A borrowed array is the same memory without a count.
"""

from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

__all__ = ["borrow"]


_null: Any = cgutils.get_null_value


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
