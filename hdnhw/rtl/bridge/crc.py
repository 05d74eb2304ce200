"""The check of a frame: CRC-32C of its words, as sets of bits to be joined by XOR.

Words come least significant bit first, and the check is sent likewise and inverted, as in RFC 3720.

References
----------
P. Koopman, "32-Bit Cyclic Redundancy Codes for Internet Applications", DSN 2002: distance 6 up to 5243 bits.
"""

from functools import cache, reduce
from operator import xor

from amaranth.hdl import Cat, Module, Signal, Value

from hdnhw.rtl.bits import padded

CHECK_WIDTH = 32
"""Bits of the check."""

GENERATOR = 0x82F63B78
"""Without the term of the highest degree, which is that of bit -1."""

START = (1 << CHECK_WIDTH) - 1
"""State before the first word."""


def next_state(state: int, word: int, width: int) -> int:
    """Return the state after a word of `width` bits.

    Examples
    --------
    >>> state = START
    >>> for byte in b"123456789":
    ...     state = next_state(state, byte, 8)
    >>> hex(state ^ START)
    '0xe3069283'
    """
    for position in range(width):
        wrong = (state ^ word >> position) & 1
        state = state >> 1 ^ (GENERATOR if wrong else 0)
    return state


@cache
def _sets(width: int) -> tuple[tuple[int, ...], ...]:
    """Return for each bit of the next state whose parity it is: of the bits of state and word, added."""
    own = [next_state(1 << bit, 0, width) for bit in range(CHECK_WIDTH)]
    steps = own + [next_state(0, 1 << bit, width) for bit in range(CHECK_WIDTH, width)]
    return tuple(tuple(place for place, step in enumerate(steps) if step >> bit & 1) for bit in range(CHECK_WIDTH))


def stepped_check(m: Module, state: Value, word: Value) -> Value:
    """Return the state after a word."""
    width = max(CHECK_WIDTH, len(word))
    mixed = Signal(width, name="mixed")
    m.d.comb += mixed.eq(padded(state, width) ^ padded(word, width))
    return Cat(reduce(xor, (mixed[place] for place in own)) for own in _sets(len(word)))


def check_words(width: int) -> int:
    """Return the words of `width` bits that a check takes."""
    return -(-CHECK_WIDTH // width)


def last_state(width: int) -> int:
    """Return the state behind a check that is right, and the zeros that fill its last word."""
    state = 0
    for position in range(check_words(width)):
        state = next_state(state, START >> position * width & ((1 << width) - 1), width)
    return state
