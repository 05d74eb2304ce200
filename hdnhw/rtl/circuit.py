"""Circuits of addresses (:mod:`hdnhw.circuits.circuit`) as logic."""

from collections.abc import Callable, Mapping, Sequence
from operator import and_, invert, or_

from amaranth.hdl import Const, Module, Mux, Signal, Value

from hdnhw.circuits.circuit import Circuit, Term
from hdnhw.rtl.bits import add, below, equal, equals, less, number_of, subtract_modulo
from hdnhw.topology.address import AddressLayout


def _equal(a: Value, b: Value) -> Value:
    if isinstance(a, Const):
        a, b = b, a
    return equals(a, b.value) if isinstance(b, Const) else equal(a, b)


def _less(a: Value, b: Value) -> Value:
    if isinstance(a, Const):
        return ~below(b, a.value + 1)
    return below(a, b.value) if isinstance(b, Const) else less(a, b)


def _difference(a: Value, b: Value, n: Const) -> Value:
    width = (n.value - 1).bit_length()
    if not isinstance(a, Const) and not isinstance(b, Const):
        if len(a) == len(b):
            return subtract_modulo(a, b, n.value)
        return Mux(less(a, b), a - b + n.value, a - b)[:width]
    bits = len(b if isinstance(a, Const) else a)  # a number may have fewer than a digit
    digits = range(min(n.value, 1 << bits))
    if isinstance(a, Const):
        results = {(a.value - digit) % n.value: equals(b, digit) for digit in digits}
    else:
        results = {(digit - b.value) % n.value: equals(a, digit) for digit in digits}
    return number_of(results, width)


OPERATIONS: Mapping[str, Callable[..., Value]] = {
    "and": and_,
    "or": or_,
    "not": invert,
    "eq": _equal,
    "lt": _less,
    "add": add,
    "submod": _difference,
    "odd": lambda a: a[0],
    "mux": Mux,
}
"""What each gate is."""


def elaborate_circuit(
    m: Module, circuit: Circuit, outputs: Sequence[Term], addresses: Mapping[str, Value], layout: AddressLayout
) -> list[Value]:
    """Add the gates that `outputs` need to a module and return their values.

    Parameters
    ----------
    m : Module
    circuit : Circuit
        With inputs such as ``own0``: a name of `addresses` and the position of a digit.
    outputs : sequence of Term
    addresses : dict of str to Value
        Packed addresses by names of three letters.
    layout : AddressLayout
    """

    def digit(name: str) -> Value:
        field = layout.fields[int(name[3:])]
        return addresses[name[:3]][field.offset : field.offset + field.width]

    def gate(operation: Callable[..., Value]) -> Callable[..., Value]:
        def add(*args: Value) -> Value:
            value = operation(*args)
            wire = Signal(value.shape(), name="gate")
            m.d.comb += wire.eq(value)
            return wire

        return add

    operations = {name: gate(operation) for name, operation in OPERATIONS.items()}
    return circuit.run(outputs, digit, operations, Const)
