"""Which mutants are no change in any state that a run from reset can come to, whatever comes in.

A module and its copy with a mutant have the same inputs and read the same from memories; what they give, and what they
do with memories, must never differ: then the memories do not, either. ABC proves that, or finds a run in which it does.
Inputs that are constant at all instances, as addresses are, have the values of one of these, any one.
"""

import re
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from threading import Lock

from hdnhw.fpga.abc import prove_outputs
from hdnhw.fpga.harness import ports_of
from hdnhw.proofs.netlist import Net, Netlist
from hdnhw.support.processes import Budget
from tests.mutants.equivalence import Gates
from tests.mutants.schemata import NUMBER, Mutant, with_mutants

_INITIAL = re.compile(r"^  reg (?:\[\d+:0\] )?\\?(\S+) +?= \d+'h([0-9a-f]+);", re.MULTILINE)


class _Aig(Gates):
    """Gates, with inputs and registers, as AIGER has them."""

    def __init__(self) -> None:
        super().__init__()
        self._gates: list[tuple[int, int] | None] = [None]
        self._following: dict[int, int] = {}

    def new_input(self) -> int:
        self._gates.append(None)
        return 2 * len(self._gates) - 2

    def _new_gate(self, low: int, high: int) -> int:
        self._gates.append((low, high))
        return 2 * len(self._gates) - 2

    def differ(self, first: int, second: int) -> int:
        return self.choose(first, second ^ 1, second)

    def choose(self, chosen: int, first: int, second: int) -> int:
        return self.both(self.both(chosen, first) ^ 1, self.both(chosen ^ 1, second) ^ 1) ^ 1

    def new_constant(self) -> int:
        """Return an input that keeps the value of the first cycle."""
        began, kept = self.new_input(), self.new_input()
        constant = self.choose(began, kept, self.new_input())
        self.follow(began, 1)
        self.follow(kept, constant)
        return constant

    def follow(self, register: int, following: int) -> None:
        """Make what :meth:`new_input` has returned a register, and say what it is next; it begins as 0."""
        self._following[register] = following

    def write(self, outputs: Sequence[int], path: Path) -> None:
        """Write what some outputs depend on, in the binary format."""
        found = self._behind(outputs)
        inputs = [one for one in found if self._gates[one >> 1] is None and one not in self._following]
        registers = [one for one in found if one in self._following]
        gates = [one for one in found if self._gates[one >> 1] is not None]
        number = {0: 0} | {one: 2 * place for place, one in enumerate([*inputs, *registers, *gates], 1)}

        def literal(gate: int) -> int:
            return number[gate & ~1] | gate & 1

        head = f"aig {len(found)} {len(inputs)} {len(registers)} {len(outputs)} {len(gates)}\n"
        lines = [literal(self._following[one]) for one in registers] + [literal(one) for one in outputs]
        binary = bytearray()
        for one in gates:
            reads = self._gates[one >> 1]
            assert reads is not None
            low, high = sorted(map(literal, reads))
            binary += _delta(number[one] - high) + _delta(high - low)
        path.write_bytes((head + "".join(f"{line}\n" for line in lines)).encode() + binary)

    def _behind(self, outputs: Iterable[int]) -> list[int]:
        """Return all that outputs depend on, each gate after what it reads."""
        found, stack = {0}, [one & ~1 for one in outputs]
        while stack:
            gate = stack.pop()
            if gate not in found:
                found.add(gate)
                stack += [one & ~1 for one in self._gates[gate >> 1] or (self._following.get(gate, 0),)]
        return sorted(found - {0})


def _delta(number: int) -> bytes:
    """Return a number as AIGER writes differences: seven bits a byte, the lowest first."""
    parts = []
    while number > 127:
        parts.append(number & 127 | 128)
        number >>= 7
    return bytes([*parts, number])


class _Pair:
    """A module with an input for each mutant, and what a copy of it has to be compared with."""

    def __init__(self, text: str, module: str) -> None:
        netlist = Netlist(text, module, [NUMBER])
        self.switches = netlist.names[NUMBER]
        begins = dict(_INITIAL.findall(text))
        self._begins = {
            net: int(begins[name], 16) >> place & 1
            for name, bits in netlist.names.items()
            if name in begins
            for place, net in enumerate(bits)
        }
        self._reads: dict[Net, list[Net]] = {}
        outputs = [port.name for port in ports_of(text, module) if not port.is_input]
        self._seen = {net for name in outputs for net in netlist.names[name]}
        for net, (kind, reads) in netlist.sources.items():
            if kind in ("and", "not") or (kind == "register" and net in self._begins):
                self._reads[net] = reads
            else:
                self._seen.update(reads)
        self._kinds = {net: kind for net, (kind, _) in netlist.sources.items()}
        self._aig = _Aig()
        self._gold: dict[Net, int] = {"0": 0, "1": 1, **dict.fromkeys(self.switches, 0)}
        self._place(netlist, _constant_pins(text, module))
        self._build(self._reads, self._gold)

    def _place(self, netlist: Netlist, instances: Sequence[Mapping[str, int]]) -> None:
        """Let the pins that are constant at some instances be those of one of them; the others are inputs there."""
        pins = sorted({name for pins in instances for name in pins})
        self._gold |= {net: self._aig.new_input() for name in pins for net in netlist.names[name]}
        if len(instances) < 2:
            return
        number = [self._aig.new_constant() for _ in range((len(instances) - 1).bit_length())]
        for place, constants in enumerate(instances):
            here = 1
            for bit, chosen in enumerate(number):
                here = self._aig.both(here, chosen ^ 1 ^ (place >> bit & 1))
            for name, value in constants.items():
                for bit, net in enumerate(netlist.names[name]):
                    self._gold[net] = self._aig.choose(here, value >> bit & 1, self._gold[net])

    @cached_property
    def _readers(self) -> Mapping[Net, list[Net]]:
        readers: dict[Net, list[Net]] = defaultdict(list)
        for net, reads in self._reads.items():
            for one in reads:
                readers[one].append(net)
        return readers

    def _build(self, nets: Iterable[Net], known: dict[Net, int]) -> None:
        """Add some nets, registers first, to those that are known; what nothing drives is an input."""
        nets = set(nets)
        registers = [net for net in nets if self._kinds[net] == "register"]
        for net in registers:
            known[net] = self._aig.new_input() | self._begins[net]
        for net in nets:
            self._add(net, known)
        for net in registers:
            self._aig.follow(known[net] & ~1, known[self._reads[net][0]] ^ self._begins[net])

    def _add(self, net: Net, known: dict[Net, int]) -> None:
        stack = [net, *self._reads[net]]
        while stack:
            here = stack[-1]
            if here in known:
                stack.pop()
            elif here in self._gold:
                known[here] = self._gold[here]
            elif here not in self._reads:
                known[here] = self._gold[here] = self._aig.new_input()
            elif waiting := [one for one in self._reads[here] if one not in known]:
                stack += waiting
            else:
                reads = [known[one] for one in self._reads[here]]
                known[here] = reads[0] ^ 1 if len(reads) == 1 else self._aig.both(*reads)

    def write(self, switch: Net, path: Path) -> bool:
        """Write a circuit whose outputs are 1 where a mutant differs in what is seen; return whether there is any."""
        reached: set[Net] = set()
        stack = [switch]
        while stack:
            new = [net for net in self._readers.get(stack.pop(), ()) if net not in reached]
            reached.update(new)
            stack += new
        copy: dict[Net, int] = {switch: 1}
        gold, self._gold = self._gold, {net: gate for net, gate in self._gold.items() if net not in reached}
        self._build(reached, copy)
        self._gold = gold
        outputs = [self._aig.differ(gold[net], copy[net]) for net in sorted(self._seen & reached, key=str)]
        outputs = [one for one in outputs if one]
        if outputs:
            self._aig.write(outputs, path)
        return bool(outputs)


def _constant_pins(text: str, module: str) -> list[dict[str, int]]:
    """Return the constant pins of each instance of a module, by name."""
    instances = re.findall(rf"^  {re.escape(module)} \S+ \((.*?)\);$", text, re.MULTILINE | re.DOTALL)
    return [
        {name: int(value, 16) for name, value in re.findall(r"\.(\w+)\(\d+'h([0-9a-f]+)\)", pins)} for pins in instances
    ]


def never_different(
    text: str, mutants: Sequence[Mutant], numbers: Sequence[int], *, seconds: float, workers: int
) -> set[int]:
    """Return those numbers of mutants of emitted Verilog that never give anything else than the original.

    Parameters
    ----------
    text : str
    mutants : sequence of Mutant
    numbers : sequence of int
        Of these, which to look at.
    seconds : float
        Of CPU time, for each; one that is not proved in them counts as different.
    workers : int
        Proofs at a time.
    """
    chosen = [one for one in mutants if one.number in set(numbers)]
    if not chosen:
        return set()
    with_all = with_mutants(text, chosen, bits=True)
    pairs = {module: _Pair(with_all, module) for module in sorted({one.module for one in chosen})}
    lock = Lock()

    def is_same(one: Mutant) -> bool:
        pair = pairs[one.module]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "pair.aig"
            with lock:
                differs = pair.write(pair.switches[one.number], path)
            verdict = prove_outputs(path, budget=Budget(seconds)) if differs else None
        return not differs or (verdict is not None and verdict.proved)

    with ThreadPoolExecutor(workers) as pool:
        return {one.number for one, same in zip(chosen, pool.map(is_same, chosen), strict=True) if same}
