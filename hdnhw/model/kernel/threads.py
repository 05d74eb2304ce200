"""Threads that share the parts of a fabric: where they wait for each other, and who has what.

Threads meet before each slot. What one has written before is there for the others then, and what they read in a slot
was written before it: they need no other order.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from hdnhw.model.kernel.compiled import at, inlined, wide
from hdnhw.model.kernel.state import LINE, Parts

__all__ = ["meet", "seen_gone"]

PATIENCE = 2000
"""How often a thread looks whether the others have come, before it lets others have the processor."""

_word = ir.IntType(64)
_declared: Any = cgutils.get_or_insert_function


def _arrive(_: Any, array: Any) -> Any:
    """Add 1 to the first element of an array; all that was written before is there for whoever sees that."""

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, value=arguments[0]).data
        builder.atomic_rmw("add", data, ir.Constant(_word, 1), "seq_cst")
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


@inlined
def meet(parts: Parts, meeting: int) -> None:
    """Wait until all threads have come to a meeting, which has a number from 1 on."""
    if parts.threads == 1:
        return
    arrive(parts.meetings)
    looks = 0
    while look(parts.meetings) < meeting * parts.threads:
        looks += 1
        if looks > PATIENCE:
            step_back()


@inlined
def seen_gone(parts: Parts, meeting: int, gone: int) -> int:
    """Meet; return how many packets all threads have seen leave or be dropped, of which this one has seen `gone`."""
    if parts.threads == 1:
        return gone
    row = (meeting & 1) * parts.threads
    parts.gone[at((row + parts.thread) * LINE)] = gone
    meet(parts, meeting)
    total = wide(0)
    for thread in range(parts.threads):
        total += parts.gone[at((row + thread) * LINE)]
    return total
