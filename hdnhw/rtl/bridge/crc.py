"""The check of a frame: CRC-32C of its words, as sets of bits to be joined by XOR.

Words come least significant bit first, and the check is sent likewise and inverted, as in RFC 3720.

References
----------
P. Koopman, "32-Bit Cyclic Redundancy Codes for Internet Applications", DSN 2002: distance 6 up to 5243 bits.
"""

from functools import cache, reduce
from operator import xor

from amaranth.hdl import Cat, Value

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
def _sets(width: int) -> tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]:
    """Return for each bit of the next state the bits of the state, and those of the word, whose parity it is."""
    of_state = [next_state(1 << bit, 0, width) for bit in range(CHECK_WIDTH)]
    of_word = [next_state(0, 1 << bit, width) for bit in range(width)]
    return tuple(
        tuple(tuple(place for place, sums in enumerate(each) if sums >> bit & 1) for each in (of_state, of_word))
        for bit in range(CHECK_WIDTH)
    )


def stepped_check(state: Value, word: Value) -> Value:
    """Return the state after a word."""
    return Cat(
        reduce(xor, [*(state[place] for place in own), *(word[place] for place in others)])
        for own, others in _sets(len(word))
    )


def check_words(width: int) -> int:
    """Return the words of `width` bits that a check takes."""
    return -(-CHECK_WIDTH // width)


def last_state(width: int) -> int:
    """Return the state behind a check that is right, and the zeros that fill its last word."""
    state = 0
    for position in range(check_words(width)):
        state = next_state(state, START >> position * width & ((1 << width) - 1), width)
    return state
