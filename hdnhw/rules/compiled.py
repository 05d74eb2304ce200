"""Compile a hop rule to machine code: one function of two packed addresses."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, cast

from hdnhw.rules.circuit import Circuit, Term
from hdnhw.rules.decision import VC_SHIFT
from hdnhw.rules.hop import HopRule
from hdnhw.rules.table import TableRule
from hdnhw.topology.address import AddressLayout

__all__ = ["FORMATS", "compile_rule", "interpret_rule", "statements"]

FORMATS = {
    "and": "{} & {}",
    "or": "{} | {}",
    "not": "1 - {}",
    "eq": "1 if {} == {} else 0",
    "lt": "1 if {} < {} else 0",
    "add": "{} + {}",
    "submod": "{0} - {1} if {0} >= {1} else {0} - {1} + {2}",
    "odd": "{} & 1",
    "mux": "{1} if {0} else {2}",
}
"""Python of each operation, with branches: the fastest for a hop rule."""


def statements(
    circuit: Circuit, outputs: list[Term], layout: AddressLayout, formats: Mapping[str, str] = FORMATS
) -> list[str]:
    """Return Python statements that compute `outputs`, gate n as ``gn``; inputs are fields of packed addresses.

    The input ``cur3`` is field 3 of the variable ``cur``: names of addresses have three letters.
    """
    lines = []
    for index in circuit.needed(outputs):
        gate = circuit.gates[index]
        if gate.op == "const":
            text = str(gate.value)
        elif gate.op == "input":
            side, position = str(gate.value)[:3], int(str(gate.value)[3:])
            field = layout.fields[position]
            text = f"({side} >> {field.offset}) & {(1 << field.width) - 1}"
        else:
            text = formats[gate.op].format(*(f"g{argument}" for argument in gate.args))
        lines.append(f"g{index} = {text}")
    return lines


def compile_rule(rule: HopRule | TableRule) -> Callable[[int, int], int]:
    """Return :func:`interpret_rule` as a Numba C function: kernels that call it are compiled once for every network."""
    if isinstance(rule, TableRule):
        return _table_in_memory(rule)
    from hdnhw.kernels.compiling import compiled_text

    return cast(Callable[[int, int], int], compiled_text(_text(rule), "int64(int64, int64)"))


@lru_cache(maxsize=16)
def _table_in_memory(rule: TableRule) -> Callable[[int, int], int]:
    """Return a function that reads the table of a rule where it lies, which is as long there as the rule is."""
    from numba import carray, cfunc, types  # type: ignore[attr-defined]
    from numba.extending import intrinsic, overload

    def typed_pointer(_context: Any, _address: Any) -> Any:
        def cast_address(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))

        return types.CPointer(types.int32)(types.int64), cast_address

    pointer: Any = intrinsic(typed_pointer)

    def entry(place: int) -> int:
        return int(entries[place])

    def in_memory(place: int) -> Any:
        return carray(pointer(address), (size,))[place]

    @overload(entry)
    def _entry_in_memory(place: int) -> Any:
        return in_memory if isinstance(place, types.Integer) else None

    entries = rule.table.reshape(-1)
    address, size, row, arrived = entries.ctypes.data, entries.size, rule.table.shape[1], len(rule.network.ports)

    def route(cur: int, dst: int) -> int:
        place = dst * row + cur
        return entry(place) if place < size else arrived

    return cast(Callable[[int, int], int], cfunc("int64(int64, int64)")(route))


def interpret_rule(rule: HopRule | TableRule) -> Callable[[int, int], int]:
    """Return a rule as a function ``route(cur, dst)`` of packed addresses.

    The result is ``port | vc << VC_SHIFT``, with port ``len(network.ports)`` where the packet has arrived.
    """
    if isinstance(rule, TableRule):
        table = rule.table
        return lambda cur, dst: int(table[dst, cur]) if dst < len(table) else len(rule.network.ports)
    namespace: dict[str, Callable[[int, int], int]] = {}
    exec(_text(rule), namespace)
    return namespace["route"]


def _text(rule: HopRule) -> str:
    """Return the source of the function that :func:`interpret_rule` returns."""
    outputs = [*rule.take, *rule.vc, rule.arrived]
    body = statements(rule.circuit, outputs, AddressLayout(rule.network))
    parts = [f"(g{term.index} * {port})" for port, term in enumerate(rule.take)]
    parts += [f"(g{term.index} << {VC_SHIFT + weight})" for weight, term in enumerate(rule.vc)]
    lines = [
        "def route(cur, dst):",
        *(f"    {line}" for line in body),
        f"    return {len(rule.take)} if g{rule.arrived.index} else {' | '.join(parts)}",
    ]
    return "\n".join(lines)
