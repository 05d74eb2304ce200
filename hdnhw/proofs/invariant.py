"""Inductive invariants of rigs: what holds at first, and after each cycle if it held before, and leaves no claim open.

ABC finds them; z3, another solver, checks them on the circuit that is made of the text anew. Of a rig whose claims and
hints follow from themselves some cycles before, no more is an invariant than how many these are.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Invariant = Mapping[str, Any]
"""``registers``: their names; ``clauses``: each numbers of registers, from 1 on, one of which is 1 at least, or 0 where
its number is negative. Or ``steps`` alone: what must hold follows from itself in so many cycles before."""

MOST_STEPS = 8
"""Cycles from which something may follow, at most."""


@dataclass(frozen=True)
class Circuit:
    """A circuit in AIGER, whose registers are 0 at first.

    Attributes
    ----------
    inputs : int
    following : tuple of int
        Of each register, the literal of its next value.
    outputs : tuple of int
        Their literals.
    gates : tuple of (int, int)
        The literals that each gate joins by AND.
    """

    inputs: int
    following: tuple[int, ...]
    outputs: tuple[int, ...]
    gates: tuple[tuple[int, int], ...]


def read_circuit(path: Path) -> Circuit:
    """Read a circuit in binary AIGER."""
    head, rest = path.read_bytes().split(b"\n", 1)
    inputs, registers, outputs, gates = (int(size) for size in head.split()[2:6])
    lines = rest.split(b"\n", registers + outputs)
    numbers, found = _numbers(lines[-1], 2 * gates), []
    for gate in range(gates):
        left = 2 * (1 + inputs + registers + gate) - numbers[2 * gate]
        found.append((left, left - numbers[2 * gate + 1]))
    literals = [int(line.split()[0]) for line in lines[:-1]]
    return Circuit(inputs, tuple(literals[:registers]), tuple(literals[registers:]), tuple(found))


def _numbers(text: bytes, count: int) -> list[int]:
    """Return numbers of seven bits a byte, the lowest first."""
    found, place = [], 0
    for _ in range(count):
        value, shift = 0, 0
        while text[place] & 0x80:
            value |= (text[place] & 0x7F) << shift
            place, shift = place + 1, shift + 7
        found.append(value | text[place] << shift)
        place += 1
    return found


def _names(circuit: Path, count: int) -> list[tuple[str, bool]]:
    """Return what each register of a circuit is called, its number if nothing, and whether it is kept inverted."""
    found: dict[int, tuple[str, bool]] = {}
    for line in circuit.with_name("rig.map").read_text().splitlines():
        kind, *rest = line.split()
        if kind in ("latch", "invlatch"):
            found.setdefault(int(rest[0]), (f"{rest[2]}[{rest[1]}]", kind == "invlatch"))
    return [found.get(place, (f"#{place}", False)) for place in range(count)]


def named_invariant(circuit: Path, forbidden: str) -> Invariant:
    """Return an invariant with names of registers.

    Parameters
    ----------
    circuit : Path
        In AIGER, with ``rig.map`` beside it.
    forbidden : str
        What it forbids, in the PLA of :func:`hdnhw.fpga.abc.find_invariant`.
    """
    count = len(read_circuit(circuit).following)
    names, cubes = _names(circuit, count), _cubes(forbidden, count)
    used = sorted({place for cube in cubes for place, value in enumerate(cube) if value != "-"})
    number = {place: count for count, place in enumerate(used, 1)}

    def literal(place: int, value: str) -> int:
        return number[place] if (value == "0") != names[place][1] else -number[place]

    clauses = [
        " ".join(str(literal(place, value)) for place, value in enumerate(cube) if value != "-") for cube in cubes
    ]
    return {"registers": [names[place][0] for place in used], "clauses": clauses}


def check_invariant(path: Path, invariant: Invariant, outputs: Sequence[int]) -> str:
    """Check that an invariant proves outputs of a circuit to be 0 for all time; return what does not hold, or nothing.

    Parameters
    ----------
    path : Path
        The circuit in AIGER, with ``rig.map`` beside it.
    invariant : mapping
    outputs : sequence of int
        Those that are assumed to be 0 in a cycle, to show it of the next one.
    """
    import z3

    circuit, clauses = read_circuit(path), []
    if "steps" in invariant:
        return _check_steps(circuit, invariant["steps"], outputs)
    names = _names(path, len(circuit.following))
    places = {name: (place, inverted) for place, (name, inverted) in enumerate(names)}
    try:
        for clause in invariant["clauses"]:
            known = [(places[invariant["registers"][abs(one) - 1]], one > 0) for one in map(int, clause.split())]
            clauses.append([(place, is_set != inverted) for (place, inverted), is_set in known])
        asked = [circuit.outputs[output] for output in outputs]
    except (KeyError, IndexError, TypeError, ValueError, AttributeError):
        return "it names registers or claims that the text does not have"
    if any(all(is_set for _, is_set in clause) for clause in clauses):
        return "it does not hold at first"
    solver = z3.SolverFor("QF_FD")
    registers = [z3.Bool(f"r{number}") for number in range(len(circuit.following))]
    value = _cycle(solver, circuit, registers, 0)
    for clause in clauses:
        solver.add(z3.Or([registers[place] if is_set else z3.Not(registers[place]) for place, is_set in clause]))
    wrong = [value(output) for output in asked]
    if solver.check(z3.Or(wrong)) != z3.unsat:
        return "it leaves a claim open"
    solver.add(z3.Not(z3.Or(wrong)))
    after = [[value(circuit.following[place] ^ (not is_set)) for place, is_set in clause] for clause in clauses]
    solver.add(z3.Or([z3.Not(z3.Or(clause)) for clause in after]))
    return "" if solver.check() == z3.unsat else "it does not hold in the cycle after one in which it does"


def _check_steps(circuit: Circuit, steps: Any, outputs: Sequence[int]) -> str:
    """Check that outputs of a circuit are 0 in its first cycles, and in one if they are in so many before."""
    import z3

    known = all(type(output) is int and 0 <= output < len(circuit.outputs) for output in outputs)
    if type(steps) is not int or not 0 < steps <= MOST_STEPS or not known:
        return "it names registers or claims that the text does not have"
    for is_first in (True, False):
        solver = z3.SolverFor("QF_FD")
        values = [z3.BoolVal(False) if is_first else z3.Bool(f"r{number}") for number in range(len(circuit.following))]
        for cycle in range(steps if is_first else steps + 1):
            value = _cycle(solver, circuit, values, cycle)
            wrong = [value(circuit.outputs[output]) for output in outputs]
            if (is_first or cycle == steps) and any(solver.check(one) != z3.unsat for one in wrong):
                return f"it does not hold {'at first' if is_first else 'in the cycle after some in which it does'}"
            solver.add([z3.Not(one) for one in wrong])
            values = [value(literal) for literal in circuit.following]
    return ""


def _cycle(solver: Any, circuit: Circuit, registers: Sequence[Any], cycle: int) -> Callable[[int], Any]:
    """Give a solver the gates of a circuit in one cycle; return what gives the values of its literals."""
    import z3

    inputs = (z3.Bool(f"i{cycle}.{number}") for number in range(circuit.inputs))
    values = [z3.BoolVal(False), *inputs, *registers]

    def value(literal: int) -> Any:
        return z3.Not(values[literal >> 1]) if literal & 1 else values[literal >> 1]

    for left, right in circuit.gates:
        gate = z3.Bool(f"g{cycle}.{len(values)}")
        solver.add(gate == z3.And(value(left), value(right)))
        values.append(gate)
    return value


def _cubes(text: str, registers: int) -> list[str]:
    """Return what clauses of an invariant of ABC, in PLA, forbid: a 0, 1 or - for each register."""
    names = re.search(r"^\.ilb (.*)", text, re.MULTILINE)
    places = [int(name.removeprefix("lo")) for name in names[1].split()] if names else []
    found = []
    for line in re.findall(r"^([01-]+) 1$", text, re.MULTILINE):
        cube = ["-"] * registers
        for place, one in zip(places, line, strict=True):
            cube[place] = one
        found.append("".join(cube))
    return found
