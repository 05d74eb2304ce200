"""Rules in the core: a program of gates, or a table, that decides for many packets at a time."""

import weakref
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hdnhw.core import Function, Number, Pointer, array_of

Words = npt.NDArray[np.int32]

OPERATIONS: Mapping[str, int] = {
    name: number
    for number, name in enumerate(
        (
            *("const", "cur", "dst", "and", "or", "not", "eq", "lt"),
            *("add", "sub", "submod", "odd", "mux", "select", "attach"),
        )
    )
}
"""Numbers of operations, as ``hdnhw/core/src/rule.hpp`` has them."""

GATE_WORDS = 6
"""Operation, register of the result, those of three arguments, and a constant."""

_of_gates = Function("rule_of_gates", array_of(np.int32), Number, Number, Number, result=Pointer)
_of_table = Function("rule_of_table", array_of(np.int32), Number, Number, Number, result=Pointer)
_free = Function("rule_free", Pointer)
_decide = Function("rule_decide", Pointer, array_of(np.int32), array_of(np.int32), Number, array_of(np.int32))


class CoreRule:
    """A rule of packed addresses.

    Attributes
    ----------
    pointer : int
        Of the rule in the core, which lives as long as this object.
    """

    def __init__(self, pointer: int, kept: Any) -> None:
        self.pointer, self._kept = pointer, kept
        weakref.finalize(self, _free, pointer)

    @classmethod
    def of_gates(cls, gates: Sequence[Sequence[int]], result: int) -> "CoreRule":
        """Return a rule that is computed by gates, rows of :data:`GATE_WORDS` words; gate n writes register n.

        Registers are used again here as soon as nothing reads what they hold.
        """
        rows, registers, last = assigned(gates, result)
        return cls(_of_gates(rows, len(rows), registers, last), rows)

    @classmethod
    def of_table(cls, table: Words, arrived: int) -> "CoreRule":
        """Return a rule that is a table of decisions, axes (target, node): packets for others have arrived."""
        return cls(_of_table(table, *table.shape, arrived), table)

    def decide(self, cur: npt.ArrayLike, dst: npt.ArrayLike) -> Words:
        """Return the :mod:`~hdnhw.rules.decision` for each pair of packed addresses, which are broadcast."""
        own, target = np.broadcast_arrays(np.asarray(cur, np.int32), np.asarray(dst, np.int32))
        decisions = np.empty(own.shape, np.int32)
        _decide(self.pointer, np.ascontiguousarray(own), np.ascontiguousarray(target), own.size, decisions)
        return decisions


def assigned(gates: Sequence[Sequence[int]], result: int) -> tuple[Words, int, int]:
    """Return gates whose registers are few, how many these are, and the register of the result."""
    reads = [_read_by(gate) for gate in gates]
    last = {result: len(gates)}
    for number, places in enumerate(reads):
        for place in places:
            register = gates[number][place]
            last[register] = max(last.get(register, 0), number)
    rows = np.array(gates, np.int32).reshape(-1, GATE_WORDS)
    free: list[int] = []
    where: dict[int, int] = {}
    used = 0
    for number, places in enumerate(reads):
        ended = {gates[number][place] for place in places if last[gates[number][place]] == number}
        for place in places:
            rows[number, place] = where[gates[number][place]]
        free += [where.pop(register) for register in sorted(ended)]
        if not free:
            free.append(used)
            used += 1
        where[number] = rows[number, 1] = free.pop()
    return rows, used, where[result]


def _read_by(gate: Sequence[int]) -> tuple[int, ...]:
    """Return the places of a gate that name registers that it reads."""
    name = list(OPERATIONS)[gate[0]]
    if name in ("const", "cur", "dst"):
        return ()
    return {"not": (2,), "odd": (2,), "mux": (2, 3, 4)}.get(name, (2, 3))
