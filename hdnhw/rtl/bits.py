"""Expressions that come out as Verilog without width warnings: no zero-width signals, operands of equal width."""

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from operator import or_, xor

from amaranth.hdl import Cat, Const, Mux, Value

UNINITIALIZED = "hdnhw.uninitialized"
"""Attribute of a register that has no initial value in emitted text, and is not read before its first clock edge.

A tool then needs no flip-flop where its input is constant, as it is behind an address that is known; with an initial
value of 0, a constant 1 remains a flip-flop, and one of these for the whole of a fabric, with a load in every router.
"""


def index_width(count: int) -> int:
    """Return the bits of an index below `count`, at least one."""
    return max(1, (count - 1).bit_length())


def equals(value: Value, constant: int) -> Value:
    """Return whether `value` is `constant`."""
    return Cat(bit if constant >> position & 1 else ~bit for position, bit in enumerate(value)).all()


def number_of(chosen: Mapping[int, Value], width: int) -> Value:
    """Return the number of the bit that is set, 0 if none is."""
    return Cat(any_of(each for number, each in chosen.items() if number >> bit & 1) for bit in range(width))


def padded(value: Value, width: int) -> Value:
    """Return `value`, of `width` bits at most, with zeros above it."""
    return value if len(value) == width else Cat(value, Const(0, width - len(value)))


def selected(chosen: Iterable[Value], words: Iterable[Value]) -> Value:
    """Return the word whose bit is set, 0 if none is; all words are of one width."""
    return reduce(or_, (Mux(each, word, 0) for each, word in zip(chosen, words, strict=True)))


def stepped(level: Value, up: Value, down: Value) -> Value:
    """Return a count in thermometer code, as many low bits set as it counts, one `up` and one `down`.

    The caller never takes it beyond its bits. A bit looks at its two neighbors only.
    """
    stays, more, less = up | ~down, up & ~down, ~up
    lower, upper = Cat(Const(1, 1), level[:-1]), Cat(level[1:], Const(0, 1))
    return Cat(bit & stays | lower[i] & more | upper[i] & less for i, bit in enumerate(level))


def counted(level: Value, up: Value, down: Value) -> Value:
    """Return a binary count after one `up` and one `down`, by one adder, in front of which only `down` stands."""
    step = Cat(Const(1, 1), down.replicate(len(level) - 1))
    return Mux(up ^ down, (level + step)[: len(level)], level)


def filled(values: Sequence[Value]) -> list[Value]:
    """Return `values`, the last one repeated up to a power of two: an array of them has a case for every index."""
    return [*values, *[values[-1]] * ((1 << (len(values) - 1).bit_length()) - len(values))]


def chosen_from(values: Sequence[Value], index: Value) -> Value:
    """Return the value at an index, one multiplexer a bit of it; the last value beyond the end."""
    left = list(values)
    for bit in index:
        left = [Mux(bit, left[min(place + 1, len(left) - 1)], left[place]) for place in range(0, len(left), 2)]
    return left[0]


def first_of(bits: Value) -> Value:
    """Return the lowest bit that is set, alone."""
    return Cat(bit & ~bits[:place].any() if place else bit for place, bit in enumerate(bits))


def any_of(bits: Iterable[Value]) -> Value:
    """Return whether any of some bits is set."""
    return reduce(or_, bits, Const(0))


def below(value: Value, constant: int) -> Value:
    """Return whether `value` is less than `constant`."""
    less: Value = Const(0)
    for position, bit in enumerate(value):
        less = ~bit | less if constant >> position & 1 else ~bit & less
    return less if constant >> len(value) == 0 else Const(1)


def equal(one: Value, other: Value) -> Value:
    """Return whether two values are equal, whatever their widths."""
    width = min(len(one), len(other))
    same = one[:width] == other[:width]
    return same if len(one) == len(other) else same & ~Cat(one[width:], other[width:]).any()


def less(one: Value, other: Value) -> Value:
    """Return whether `one` is less than `other`, whatever their widths."""
    width = min(len(one), len(other))
    smaller = one[:width] < other[:width]
    if len(one) == len(other):
        return smaller
    return smaller | other[width:].any() if len(one) == width else smaller & ~one[width:].any()


def add(one: Value, other: Value) -> Value:
    """Return the sum of two values, one bit wider than the wider one."""
    carry: Value = Const(0)
    total = []
    for position in range(max(len(one), len(other))):
        bits = [value[position] for value in (one, other) if position < len(value)]
        total.append(reduce(xor, bits, carry))
        carry = carry & reduce(or_, bits) | (bits[0] & bits[1] if len(bits) == 2 else Const(0))
    return Cat(*total, carry)


def subtract_modulo(one: Value, other: Value, modulus: int) -> Value:
    """Return ``one - other`` modulo `modulus`, for two values of equal width below it."""
    width = len(one)
    difference = one - other
    if modulus != 1 << width:
        difference = Mux(one < other, one - other + modulus, difference)
    return difference[:width]


def after(value: Value, count: int) -> Value:
    """Return the number after `value` of so many, which are numbered in a circle."""
    return (value + 1 if count == 1 << len(value) else Mux(equals(value, count - 1), 0, value + 1))[: len(value)]


def next_flit(flit: Value, packet_length: int) -> Value:
    """Return the code of the flit after `flit`; that of flit 0 is 0.

    Up to 16 flits, if a power of two, are numbered by a de Bruijn sequence, which takes one four-input function where a
    binary counter takes one a bit; readers and writers of a packet buffer only have to number its flits alike.
    """
    width = index_width(packet_length)
    if packet_length == 1:
        return flit
    if packet_length == 2:
        return ~flit
    if packet_length == 1 << width and width <= 4:
        return Cat(flit[-1] ^ flit[-2] ^ ~flit[:-1].any(), flit[:-1])
    return Mux(equals(flit, packet_length - 1), 0, flit + 1)[:width]


def flit_codes(length: int) -> list[int]:
    """Return the codes of a packet's flits, as :func:`next_flit` numbers them.

    Examples
    --------
    >>> flit_codes(8), flit_codes(5)
    ([0, 1, 2, 5, 3, 7, 6, 4], [0, 1, 2, 3, 4])
    """
    width = index_width(length)
    if length != 1 << width or width > 4 or length <= 2:
        return list(range(length))
    codes, top = [0], 1 << width - 1
    while len(codes) < length:
        code = codes[-1]
        low = bool(code & top) ^ bool(code & top >> 1) ^ (code & (top - 1) == 0)
        codes.append((code << 1 & (1 << width) - 1) | low)
    return codes
