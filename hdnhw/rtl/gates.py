"""The operations of a circuit on Amaranth values: how hardware reads what :mod:`hdnhw.routing.circuit` holds."""

from collections.abc import Callable, Mapping
from operator import and_, invert, or_

from amaranth.hdl import Const, Mux, Value

from hdnhw.rtl.bits import below, equals, subtract_modulo

__all__ = ["OPERATIONS"]


def _subtract_modulo(a: Value, b: Value, n: Const) -> Value:
    if not isinstance(a, Const):
        return subtract_modulo(a, b, n.value)
    assert a.value == 0, "a constant from which is subtracted is 0"
    negative = -b if n.value == 1 << len(b) else Mux(b.any(), n.value - b, 0)
    return negative[: len(b)]


OPERATIONS: Mapping[str, Callable[..., Value]] = {
    "and": and_,
    "or": or_,
    "not": invert,
    "eq": lambda a, b: equals(a, b.value) if isinstance(b, Const) else a == b,
    "lt": lambda a, b: below(a, b.value) if isinstance(b, Const) else a < b,
    "submod": _subtract_modulo,
    "odd": lambda a: a[0],
    "mux": Mux,
}
"""Operation -> what it gives on values; constants are ``Const``."""
