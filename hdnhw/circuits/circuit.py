"""Small combinational circuits over digits: the one form in which a routing rule is written down.

A rule is built once as a :class:`Circuit`. The model compiles it (:mod:`hdnhw.rules.compiled`), the RTL elaborates
it, the prover reads it as a formula, and :meth:`Circuit.run` interprets it on plain integers; none of them restates it.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast


@dataclass(frozen=True)
class Gate:
    """One gate.

    Attributes
    ----------
    op : str
        ``const``, ``input``, ``and``, ``or``, ``not``, ``eq``, ``lt``, ``add``, ``sub``, ``submod`` (a - b modulo the
        constant n, for a and b below n), ``odd`` or ``mux`` (condition, if 1, if 0). Truth values are 0 and 1.
    args : tuple of int
        Indices of the gates it reads, each smaller than its own.
    value : int or str
        The constant, or the input's name.
    """

    op: str
    args: tuple[int, ...]
    value: int | str = 0


INTEGER_OPERATIONS: Mapping[str, Callable[..., Any]] = {
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "not": lambda a: 1 - a,
    "eq": lambda a, b: int(a == b),
    "lt": lambda a, b: int(a < b),
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "submod": lambda a, b, n: (a - b) % n,
    "odd": lambda a: a & 1,
    "mux": lambda condition, a, b: a if condition else b,
}


_TERM_OPERATIONS: Mapping[str, Callable[..., Any]] = {
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "not": lambda a: ~a,
    "eq": lambda a, b: a.eq(b),
    "lt": lambda a, b: a.lt(b),
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "submod": lambda a, b, n: a.submod(b, n.low),
    "odd": lambda a: a.odd(),
    "mux": lambda condition, a, b: condition.mux(a, b),
}
"""For :meth:`Circuit.run`: on terms, of any circuit."""


class Term:
    """The output of one gate, with the operators from which circuits are written."""

    __slots__ = ("circuit", "high", "index", "low")

    def __init__(self, circuit: "Circuit", index: int, low: int, high: int) -> None:
        self.circuit, self.index, self.low, self.high = circuit, index, low, high

    @property
    def constant(self) -> int | None:
        """The value if it is the same for every input, else None."""
        return self.low if self.low == self.high else None

    def __and__(self, other: "Term") -> "Term":
        if self.constant is not None:
            return other if self.constant else self
        if other.constant is not None:
            return other & self
        return self if self.index == other.index else self.circuit.gate("and", (self, other), 0, 1)

    def __or__(self, other: "Term") -> "Term":
        if self.constant is not None:
            return self if self.constant else other
        if other.constant is not None:
            return other | self
        return self if self.index == other.index else self.circuit.gate("or", (self, other), 0, 1)

    def __invert__(self) -> "Term":
        if self.constant is not None:
            return self.circuit.constant(1 - self.constant)
        gate = self.circuit.gates[self.index]
        if gate.op == "not":
            return self.circuit.term(gate.args[0])
        return self.circuit.gate("not", (self,), 0, 1)

    def eq(self, other: "Term") -> "Term":
        """Return whether both have the same value."""
        if self.index == other.index:
            return self.circuit.constant(1)
        if self.high < other.low or other.high < self.low:
            return self.circuit.constant(0)
        if other.constant is not None and (self.low, self.high) == (0, 1):
            return self if other.constant else ~self
        return self.circuit.gate("eq", (self, other), 0, 1)

    def lt(self, other: "Term") -> "Term":
        """Return whether this value is the smaller one."""
        if self.high < other.low or self.low >= other.high:
            return self.circuit.constant(int(self.high < other.low))
        return self.circuit.gate("lt", (self, other), 0, 1)

    def __add__(self, other: "Term") -> "Term":
        if self.constant == 0:
            return other
        if other.constant == 0:
            return self
        return self.circuit.gate("add", (self, other), self.low + other.low, self.high + other.high)

    def __sub__(self, other: "Term") -> "Term":
        return self.circuit.gate("sub", (self, other), self.low - other.high, self.high - other.low)

    def submod(self, other: "Term", n: int) -> "Term":
        """Return this value minus the other, modulo `n`; both must be below `n`."""
        if other.constant == 0:
            return self
        if self.constant is not None and other.constant is not None:
            return self.circuit.constant((self.constant - other.constant) % n)
        return self.circuit.gate("submod", (self, other, self.circuit.constant(n)), 0, n - 1)

    def odd(self) -> "Term":
        """Return the value modulo 2."""
        return self if (self.low, self.high) == (0, 1) else self.circuit.gate("odd", (self,), 0, 1)

    def mux(self, one: "Term", zero: "Term") -> "Term":
        """Return `one` where this term is 1 and `zero` where it is 0."""
        if self.constant is not None:
            return one if self.constant else zero
        if one.index == zero.index:
            return one
        if (min(one.low, zero.low), max(one.high, zero.high)) == (0, 1):
            if one.constant is not None:
                return self | zero if one.constant else ~self & zero
            if zero.constant is not None:
                return ~self | one if zero.constant else self & one
        return self.circuit.gate("mux", (self, one, zero), min(one.low, zero.low), max(one.high, zero.high))


class Circuit:
    """Gates in an order in which each reads only earlier ones; equal gates are shared."""

    def __init__(self) -> None:
        self.gates: list[Gate] = []
        self._terms: list[Term] = []
        self._known: dict[Gate, Term] = {}

    def _add(self, gate: Gate, low: int, high: int) -> Term:
        if gate not in self._known:
            term = Term(self, len(self.gates), low, high)
            self.gates.append(gate)
            self._terms.append(term)
            self._known[gate] = term
        return self._known[gate]

    def term(self, index: int) -> Term:
        """Return the output of gate `index`."""
        return self._terms[index]

    def constant(self, value: int) -> Term:
        """Return a constant."""
        return self._add(Gate("const", (), value), value, value)

    def input(self, name: str, radix: int) -> Term:
        """Return the input `name`, whose value is 0 to ``radix - 1``; the radix of a name must not change."""
        term = self._add(Gate("input", (), name), 0, radix - 1)
        if term.high != radix - 1:
            raise ValueError(f"input {name} must have radix {term.high + 1}, not {radix}")
        return term

    def gate(self, op: str, args: Iterable[Term], low: int, high: int) -> Term:
        """Return the output of a gate whose value lies between `low` and `high`."""
        return self._add(Gate(op, tuple(argument.index for argument in args)), low, high)

    def all_of(self, terms: Iterable[Term]) -> Term:
        """Return the conjunction of `terms`, 1 for none."""
        result = self.constant(1)
        for term in terms:
            result = result & term
        return result

    def any_of(self, terms: Iterable[Term]) -> Term:
        """Return the disjunction of `terms`, 0 for none."""
        result = self.constant(0)
        for term in terms:
            result = result | term
        return result

    def restated(self, term: Term, inputs: Callable[[str], Term]) -> Term:
        """Return a term of another circuit in this one, with terms of this one for its inputs, by their names."""
        (result,) = term.circuit.run([term], inputs, _TERM_OPERATIONS, self.constant)
        return cast(Term, result)

    def needed(self, outputs: Iterable[Term]) -> list[int]:
        """Return the indices of the gates that `outputs` depend on, ascending."""
        marked = {term.index for term in outputs}
        for index in reversed(range(len(self.gates))):
            if index in marked:
                marked.update(self.gates[index].args)
        return sorted(marked)

    def run(
        self,
        outputs: Iterable[Term],
        inputs: Callable[[str], Any],
        operations: Mapping[str, Callable[..., Any]] = INTEGER_OPERATIONS,
        constant: Callable[[int], Any] = int,
    ) -> list[Any]:
        """Evaluate `outputs`, on integers by default or on any values that `operations` understands."""
        wanted = list(outputs)
        values: dict[int, Any] = {}
        for index in self.needed(wanted):
            gate = self.gates[index]
            if gate.op == "const":
                values[index] = constant(int(gate.value))
            elif gate.op == "input":
                values[index] = inputs(str(gate.value))
            else:
                values[index] = operations[gate.op](*(values[argument] for argument in gate.args))
        return [values[term.index] for term in wanted]
