"""Compile the conditions of a schedule to machine code: one function of the send and three packed addresses."""

from collections.abc import Callable
from typing import cast

from hdnhw.collectives.schedule import Schedule
from hdnhw.rules.circuit import Term
from hdnhw.rules.compiled import FORMATS, statements
from hdnhw.topology.address import AddressLayout

__all__ = ["SENDS", "compile_sends", "interpret_sends"]

Sends = Callable[[int, int, int, int], int]

SENDS = "FunctionType(int64(int64, int64, int64, int64))"
"""Numba type of what :func:`compile_sends` returns."""

_FORMATS = FORMATS | {
    "eq": "int({} == {})",
    "lt": "int({} < {})",
    "submod": "{0} - {1} + {2} * int({0} < {1})",
    "mux": "{2} + {0} * ({1} - {2})",
}
"""Without branches: conditions of many gates compile three times as fast, and run no slower."""


def compile_sends(schedule: Schedule) -> Sends:
    """Return :func:`interpret_sends` as a Numba C function: kernels that call it are compiled once for all."""
    from hdnhw.kernels.compiling import compiled_text

    return cast(Sends, compiled_text(_text(schedule), "int64(int64, int64, int64, int64)"))


def interpret_sends(schedule: Schedule) -> Sends:
    """Return a function ``sends(number, own, src, dst)``: whether a node sends a message, all addresses packed.

    The sends of all steps are numbered one after the other.
    """
    namespace: dict[str, Sends] = {}
    exec(_text(schedule), namespace)
    return namespace["sends"]


def _text(schedule: Schedule) -> str:
    """Return the source of the function that :func:`interpret_sends` returns."""
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
    return "\n".join(lines)
