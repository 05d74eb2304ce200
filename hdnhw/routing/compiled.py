"""Compile a hop rule to machine code: one function of two packed addresses."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import cast

from hdnhw.routing.circuit import Circuit, Term
from hdnhw.routing.hop import HopRule
from hdnhw.topology.address import AddressLayout

__all__ = ["FORMATS", "ROUTE", "VC_SHIFT", "compile_rule", "interpret_rule", "statements"]

ROUTE = "FunctionType(int64(int64, int64))"
"""Numba type of a compiled rule, so that kernels are compiled once for every network."""

VC_SHIFT = 8
"""A compiled rule returns ``port | vc << VC_SHIFT``; the port number of an arrival is the number of ports."""

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


@lru_cache(maxsize=16)
def compile_rule(rule: HopRule) -> Callable[[int, int], int]:
    """Return :func:`interpret_rule` as a Numba C function: kernels that call it are compiled once for every network."""
    from numba import cfunc

    return cast(Callable[[int, int], int], cfunc("int64(int64, int64)")(interpret_rule(rule)))


def interpret_rule(rule: HopRule) -> Callable[[int, int], int]:
    """Return a rule as a function ``route(cur, dst)`` of packed addresses.

    The result is ``port | vc << VC_SHIFT``, with port ``len(network.ports)`` where the packet has arrived.
    """
    outputs = [*rule.take, *rule.vc, rule.arrived]
    body = statements(rule.circuit, outputs, AddressLayout(rule.network))
    parts = [f"(g{term.index} * {port})" for port, term in enumerate(rule.take)]
    parts += [f"(g{term.index} << {VC_SHIFT + weight})" for weight, term in enumerate(rule.vc)]
    lines = [
        "def route(cur, dst):",
        *(f"    {line}" for line in body),
        f"    return {len(rule.take)} if g{rule.arrived.index} else {' | '.join(parts)}",
    ]
    namespace: dict[str, Callable[[int, int], int]] = {}
    exec("\n".join(lines), namespace)
    return namespace["route"]
