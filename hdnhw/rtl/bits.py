"""Expressions that come out as Verilog without width warnings: no zero-width signals, operands of equal width."""

from collections.abc import Iterable, Mapping
from functools import reduce
from operator import or_

from amaranth.hdl import Cat, Const, Mux, Value

__all__ = ["any_of", "below", "equals", "index_width", "next_flit", "number_of", "subtract_modulo", "widened"]


def index_width(count: int) -> int:
    """Return the bits of an index below `count`, at least one."""
    return max(1, (count - 1).bit_length())


def equals(value: Value, constant: int) -> Value:
    """Return whether `value` is `constant`."""
    return Cat(bit if constant >> position & 1 else ~bit for position, bit in enumerate(value)).all()


def number_of(chosen: Mapping[int, Value], width: int) -> Value:
    """Return the number of the bit that is set, 0 if none is."""
    return Cat(any_of(each for number, each in chosen.items() if number >> bit & 1) for bit in range(width))


def any_of(bits: Iterable[Value]) -> Value:
    """Return whether any of some bits is set."""
    return reduce(or_, bits, Const(0))


def below(value: Value, constant: int) -> Value:
    """Return whether `value` is less than `constant`."""
    less: Value = Const(0)
    for position, bit in enumerate(value):
        less = ~bit | less if constant >> position & 1 else ~bit & less
    return less if constant >> len(value) == 0 else Const(1)


def subtract_modulo(one: Value, other: Value, modulus: int) -> Value:
    """Return ``one - other`` modulo `modulus`, for two values of equal width below it."""
    width = len(one)
    difference = one - other
    if modulus != 1 << width:
        difference = Mux(one < other, one - other + modulus, difference)
    return difference[:width]


def widened(one: Value, other: Value) -> tuple[Value, Value]:
    """Return two unsigned values with as many bits as the wider one has."""
    width = max(len(one), len(other))
    if len(one) < width:
        return Cat(one, Const(0, width - len(one))), other
    return one, other if len(other) == width else Cat(other, Const(0, width - len(other)))


def next_flit(flit: Value, packet_length: int) -> Value:
    """Return the code of the flit after `flit`; that of flit 0 is 0.

    Up to 16 flits, if a power of two, are numbered by a de Bruijn sequence, which takes one four-input function where a
    binary counter takes one a bit; readers and writers of a packet slot only have to number its flits alike.
    """
    width = index_width(packet_length)
    if packet_length == 1:
        return flit
    if packet_length == 2:
        return ~flit
    if packet_length == 1 << width and width <= 4:
        return Cat(flit[-1] ^ flit[-2] ^ ~flit[:-1].any(), flit[:-1])
    return Mux(equals(flit, packet_length - 1), 0, flit + 1)[:width]
