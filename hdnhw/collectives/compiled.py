"""Compile the conditions of a schedule to machine code: one function of the send and three packed addresses."""

from collections.abc import Callable
from functools import lru_cache

from hdnhw.collectives.schedule import Schedule
from hdnhw.rules.circuit import Term
from hdnhw.rules.compiled import FORMATS, statements
from hdnhw.topology.address import AddressLayout

__all__ = ["SENDS", "compile_sends"]

SENDS = "FunctionType(int64(int64, int64, int64, int64))"
"""Numba type of what :func:`compile_sends` returns."""

_FORMATS = FORMATS | {
    "eq": "int({} == {})",
    "lt": "int({} < {})",
    "submod": "{0} - {1} + {2} * int({0} < {1})",
    "mux": "{2} + {0} * ({1} - {2})",
}
"""Without branches: conditions of many gates compile three times as fast, and run no slower."""


@lru_cache(maxsize=4)
def compile_sends(schedule: Schedule) -> Callable[[int, int, int, int], int]:
    """Return a compiled ``sends(number, own, src, dst)``: whether a node sends a message, all addresses packed.

    The sends of all steps are numbered one after the other. It is a Numba C function: kernels that call it are compiled
    once for every schedule.
    """
    from numba import cfunc

    layout = AddressLayout(schedule.network)
    conditions: dict[int, list[int]] = {}
    for number, send in enumerate(send for step in schedule.steps for send in step.sends):
        conditions.setdefault(send.when.index, []).append(number)
    lines = ["def sends(number, own, src, dst):"]
    for index, numbers in conditions.items():
        term: Term = schedule.circuit.term(index)
        lines.append(f"    if {' or '.join(f'number == {number}' for number in numbers)}:")
        lines += [f"        {line}" for line in statements(schedule.circuit, [term], layout, _FORMATS)]
        lines.append(f"        return g{index}")
    lines.append("    return 0")
    namespace: dict[str, Callable[[int, int, int, int], int]] = {}
    exec("\n".join(lines), namespace)
    return cfunc("int64(int64, int64, int64, int64)")(namespace["sends"])
