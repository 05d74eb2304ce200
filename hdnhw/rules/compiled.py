"""A hop rule as one function of two packed addresses: in Python, or as gates of the core."""

from collections.abc import Callable, Mapping
from functools import lru_cache

import numpy as np

from hdnhw.circuits.circuit import Circuit, Term
from hdnhw.core.rule import OPERATIONS, CoreRule
from hdnhw.rules.decision import VC_SHIFT
from hdnhw.rules.hop import HopRule
from hdnhw.rules.table import TableRule
from hdnhw.topology.address import AddressLayout

_FORMATS = {
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

NO_PORT = (1 << VC_SHIFT) - 1
"""No router has so many."""


def statements(
    circuit: Circuit, outputs: list[Term], layout: AddressLayout, formats: Mapping[str, str] = _FORMATS
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


class Gates:
    """A circuit of packed addresses as gates of the core; more may be added, and each is known by its number.

    Attributes
    ----------
    rows : list of tuple of int
        See :meth:`hdnhw.core.rule.CoreRule.of_gates`. The address of a node itself, ``own``, stands for ``cur``.
    numbers : dict of int to int
        The gate of each gate of the circuit.
    constants : list of (int, int, int)
        Gates that stand for fields of the address ``src``, which is the same for all: (gate, offset, mask).
    """

    def __init__(self, circuit: Circuit, outputs: list[Term], layout: AddressLayout) -> None:
        self.rows: list[tuple[int, ...]] = []
        self.numbers: dict[int, int] = {}
        self.constants: list[tuple[int, int, int]] = []
        for index in circuit.needed(outputs):
            gate = circuit.gates[index]
            arguments, value = [self.numbers[place] for place in gate.args], 0
            name = gate.op
            if name == "const":
                value = int(gate.value)
            elif name == "submod":
                value = int(circuit.gates[gate.args[2]].value)
            elif name == "input":
                name, field = str(gate.value)[:3].replace("own", "cur"), layout.fields[int(str(gate.value)[3:])]
                arguments, value = [field.offset], (1 << field.width) - 1
                if name == "src":
                    self.constants.append((len(self.rows), field.offset, value))
                    name = "const"
            self.numbers[index] = self.add(name, *arguments[:2] if name == "submod" else arguments, value=value)

    def add(self, name: str, *arguments: int, value: int = 0) -> int:
        """Add a gate and return its number."""
        self.rows.append((OPERATIONS[name], len(self.rows), *(*arguments, 0, 0, 0)[:3], value))
        return len(self.rows) - 1


@lru_cache(maxsize=64)
def core_rule(rule: HopRule | TableRule, *, strict: bool = False) -> CoreRule:
    """Return a rule in the core, which decides as :func:`interpret_rule` does, for many pairs at a time.

    A `strict` one names port :data:`NO_PORT` where a packet that has not arrived takes none or several.
    """
    arrived = len(rule.network.ports)
    if isinstance(rule, TableRule):
        return CoreRule.of_table(np.ascontiguousarray(rule.table, np.int32), arrived)
    gates = Gates(rule.circuit, [*rule.take, *rule.vc, rule.arrived], AddressLayout(rule.network))
    decision = gates.add("const")
    for port, term in enumerate(rule.take):
        decision = gates.add("select", gates.numbers[term.index], decision, value=port)
    for weight, term in enumerate(rule.vc):
        decision = gates.add("attach", decision, gates.numbers[term.index], value=VC_SHIFT + weight)
    if strict and rule.take:
        taken, *others = (gates.numbers[term.index] for term in rule.take)
        for other in others:
            taken = gates.add("add", taken, other)
        is_one = gates.add("eq", taken, gates.add("const", value=1))
        decision = gates.add("mux", is_one, decision, gates.add("const", value=NO_PORT))
    result = gates.add("select", gates.numbers[rule.arrived.index], decision, value=arrived)
    return CoreRule.of_gates(gates.rows, result)
