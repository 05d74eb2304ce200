"""The conditions of a schedule as programs of gates, which the core evaluates for many messages at a time."""

import numpy as np

from hdnhw.collectives.schedule import Schedule
from hdnhw.core.rule import assigned
from hdnhw.rules.compiled import Gates
from hdnhw.topology.address import AddressLayout

MOST_SENDS = 31
"""Of a program: its result has a bit for each."""


class Conditions:
    """When nodes send, step by step; the sends of all steps are numbered one after the other.

    Attributes
    ----------
    gates : ndarray of int32, shape (gates, 6)
        Of all programs; see :meth:`hdnhw.core.rule.CoreRule.of_gates`.
    programs : ndarray of int64, shape (programs, 7)
        First gate, gates, registers, register of the result, step, first send, sends.
    """

    def __init__(self, schedule: Schedule) -> None:
        layout, rows, programs, constants = AddressLayout(schedule.network), [], [], []
        total, number = 0, 0
        for place, step in enumerate(schedule.steps):
            for first in range(0, len(step.sends), MOST_SENDS):
                conditions = [send.when for send in step.sends[first : first + MOST_SENDS]]
                made = Gates(schedule.circuit, conditions, layout)
                result = made.numbers[conditions[0].index]
                for bit, term in enumerate(conditions[1:], start=1):
                    result = made.add("attach", result, made.numbers[term.index], value=bit)
                own, registers, last = assigned(made.rows, result)
                rows.append(own)
                constants += [(total + gate, offset, mask) for gate, offset, mask in made.constants]
                programs.append((total, len(own), registers, last, place, number, len(conditions)))
                total, number = total + len(own), number + len(conditions)
        self.gates = np.concatenate(rows) if rows else np.zeros((0, 6), np.int32)
        self.programs = np.array(programs, np.int64)
        self._constants = np.array(constants, np.int64).reshape(-1, 3).T

    def let_source_be(self, address: int) -> None:
        """Ask from now on about messages of the node with a packed address."""
        gate, offset, mask = self._constants
        self.gates[gate, -1] = address >> offset & mask
