"""Which mutants are no change: next states and outputs are equal for all states and inputs.

A module is read once, with an input for each mutant; registers and memories are cut, and registers left out from which
no way leads to an output. What a mutant changes is built again beside the original, where equal gates are one gate.
Random states and inputs tell most mutants apart; of the others, a SAT solver says.
"""

import heapq
import random
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Mapping, Sequence

import z3

from hdnhw.fpga.harness import ports_of
from hdnhw.proofs.netlist import Net, Netlist
from tests.mutants.schemata import NUMBER, Mutant, with_mutants

PATTERNS = 4096
"""Random states and inputs."""


class Gates(ABC):
    """Gates of two inputs, each made once.

    A gate is twice its number, and 1 more if it is inverted; 0 is the constant.
    """

    def __init__(self) -> None:
        self._made: dict[tuple[int, int], int] = {}

    def both(self, first: int, second: int) -> int:
        """Return the gate that is 1 where both are."""
        low, high = sorted((first, second))
        if low == 0 or low ^ high == 1:
            return 0
        if low == 1 or low == high:
            return high
        if (low, high) not in self._made:
            self._made[low, high] = self._new_gate(low, high)
        return self._made[low, high]

    @abstractmethod
    def _new_gate(self, low: int, high: int) -> int:
        """Return a gate that there is not yet."""


class _Values(Gates):
    """Gates with their values for random inputs."""

    def __init__(self) -> None:
        super().__init__()
        self._rng = random.Random(1)
        self._all = (1 << PATTERNS) - 1
        self._values, self._terms = [0], [z3.BoolVal(False)]
        self._reads: list[tuple[int, int] | tuple[()]] = [()]

    def new_input(self) -> int:
        return self._new((), self._rng.getrandbits(PATTERNS), z3.FreshBool())

    def _new_gate(self, low: int, high: int) -> int:
        return self._new((low, high), self.value(low) & self.value(high), z3.And(self.term(low), self.term(high)))

    def reads(self, number: int) -> tuple[int, int] | tuple[()]:
        """Return the gates that a gate reads, by its number."""
        return self._reads[number]

    def value(self, gate: int) -> int:
        """Return what a gate is for each pattern, a bit each."""
        value = self._values[gate >> 1]
        return value ^ self._all if gate & 1 else value

    def term(self, gate: int) -> z3.BoolRef:
        term = self._terms[gate >> 1]
        return z3.Not(term) if gate & 1 else term

    def _new(self, reads: tuple[int, int] | tuple[()], value: int, term: z3.BoolRef) -> int:
        self._reads.append(reads)
        self._values.append(value)
        self._terms.append(term)
        return 2 * (len(self._values) - 1)


class _Circuit:
    """A module with an input for each mutant, as gates; all mutants are off."""

    def __init__(self, text: str, module: str) -> None:
        netlist = Netlist(text, module, [NUMBER])
        outputs = [port.name for port in ports_of(text, module) if not port.is_input]
        self.switches = netlist.names[NUMBER]
        self._logic: dict[Net, list[Net]] = {}
        registers: dict[Net, Net] = {}
        self.seen: set[Net] = {net for name in outputs for net in netlist.names[name]}
        for net, (kind, reads) in netlist.sources.items():
            if kind == "register":
                registers[net] = reads[0]
            elif kind in ("and", "not"):
                self._logic[net] = reads
            else:
                self.seen.update(reads)
        self.gates = _Values()
        self._gold: dict[Net, int] = {"0": 0, "1": 1, **dict.fromkeys(self.switches, 0)}
        self._readers: dict[Net, list[Net]] = defaultdict(list)
        self._place: dict[Net, int] = {}
        for net in self._ordered():
            self._place[net] = len(self._place)
            self._gold[net] = self._gate(net, {})
            for one in self._logic[net]:
                self._readers[one].append(net)
        self._see_next_states(registers)

    def _see_next_states(self, registers: Mapping[Net, Net]) -> None:
        """See what registers are next, but of those from which no way leads to what is seen, with all mutants off."""
        states = {self._known(net) >> 1: following for net, following in registers.items()}
        stack = [self._known(net) >> 1 for net in self.seen]
        reached = set(stack)
        while stack:
            gate = stack.pop()
            before = [one >> 1 for one in self.gates.reads(gate)]
            if gate in states:
                self.seen.add(states[gate])
                before = [self._known(states[gate]) >> 1]
            stack += set(before) - reached
            reached.update(before)

    def _ordered(self) -> list[Net]:
        """Return the gates, each after what it reads; what is no gate is an input."""
        order: dict[Net, None] = {}
        stack = sorted(self._logic, key=str)
        while stack:
            net = stack[-1]
            waiting = [one for one in self._logic[net] if one in self._logic and one not in order]
            if waiting and net not in order:
                stack += waiting
            else:
                order[stack.pop()] = None
        return list(order)

    def _gate(self, net: Net, changed: Mapping[Net, int]) -> int:
        reads = [changed[one] if one in changed else self._known(one) for one in self._logic[net]]
        return reads[0] ^ 1 if len(reads) == 1 else self.gates.both(*reads)

    def _known(self, net: Net) -> int:
        if net not in self._gold:
            self._gold[net] = self.gates.new_input()
        return self._gold[net]

    def differences(self, switch: Net) -> list[tuple[int, int]]:
        """Return the gates of what is seen, of the original and of a mutant, where these are not the same."""
        changed: dict[Net, int] = {switch: 1}
        waiting = [(self._place[reader], reader) for reader in self._readers[switch]]
        while waiting:
            _, net = heapq.heappop(waiting)
            gate = self._gate(net, changed)
            if net not in changed and gate != self._gold[net]:
                changed[net] = gate
                for one in self._readers[net]:
                    heapq.heappush(waiting, (self._place[one], one))
        return [(self._gold[net], gate) for net, gate in changed.items() if net in self.seen]


def equivalent_mutants(text: str, mutants: Sequence[Mutant]) -> set[int]:
    """Return the numbers of those mutants of emitted Verilog that compute the same as the original."""
    with_all = with_mutants(text, mutants, bits=True)
    circuits = {module: _Circuit(with_all, module) for module in sorted({one.module for one in mutants})}
    return {one.number for one in mutants if _is_equal(circuits[one.module], one.number)}


def _is_equal(circuit: _Circuit, number: int) -> bool:
    gates, differences = circuit.gates, circuit.differences(circuit.switches[number])
    if any(gates.value(gold) != gates.value(gate) for gold, gate in differences):
        return False
    solver = z3.SolverFor("QF_FD")
    solver.add(z3.Or(*(gates.term(gold) != gates.term(gate) for gold, gate in differences)))
    return bool(solver.check() == z3.unsat)
