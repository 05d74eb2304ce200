"""The check of a frame: CRC-32C of its words.

Words come least significant bit first, and the check is sent likewise and inverted, as in RFC 3720.

A step over a word joins about half of all bits of the state in each. So the state is kept *turned*, to a basis in which
a step moves each bit by one place and adds the highest one in some. What a word adds can then be found ahead, in any
time, and so can the check from the last state.

References
----------
J. H. Derby, "High-Speed CRC Computation Using State-Space Transformations", GLOBECOM 2001.
P. Koopman, "32-Bit Cyclic Redundancy Codes for Internet Applications", DSN 2002: distance 6 up to 5243 bits.
"""

from collections.abc import Sequence
from functools import cache, reduce
from itertools import groupby
from operator import xor

from amaranth.hdl import Cat, Const, Value

CHECK_WIDTH = 32
"""Bits of the check."""

GENERATOR = 0x82F63B78
"""Without the term of the highest degree, which is that of bit -1."""

PART = 16
"""Bits of which a sum is found in one cycle."""

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
def _columns(width: int) -> tuple[int, ...]:
    """Return the states that bits of a turned state stand for: each the one before, a word of zeros later."""
    states = [1]
    while len(states) < CHECK_WIDTH:
        states.append(next_state(states[-1], 0, width))
    return tuple(states)


def turned(state: int, width: int) -> int:
    """Return a state as the sum of those that its bits stand for when turned: which, as a set of bits."""
    rows = [(column, 1 << place) for place, column in enumerate(_columns(width))]
    found = 0
    for bit in range(CHECK_WIDTH):
        at, own = next((column, places) for column, places in rows if column >> bit & 1)
        rows = [(c ^ at, p ^ own) if c >> bit & 1 else (c, p) for c, p in rows if p != own]
        if state >> bit & 1:
            state, found = state ^ at, found ^ own
    return found


def _parities(value: Value, columns: Sequence[int]) -> list[Value]:
    """Return the sum of the columns for which a bit of the value is set, as parts to be joined by XOR.

    A part has few enough bits of the value that two lookup tables of four inputs do, one behind the other.
    """
    parts = []
    for begin in range(0, len(value), PART):
        chosen = columns[begin : begin + PART]
        sets = [[place for place, column in enumerate(chosen) if column >> bit & 1] for bit in range(CHECK_WIDTH)]
        parts.append(Cat(_parity(value[begin : begin + PART], own) for own in sets))
    return parts


def _parity(value: Value, places: Sequence[int]) -> Value:
    """Return whether an odd number of bits is set at some places, by parities of fours, which others share."""
    fours = (reduce(xor, (value[place] for place in own)) for _, own in groupby(places, lambda place: place // 4))
    return reduce(xor, fours, Const(0))


def added(word: Value) -> list[Value]:
    """Return what a word adds to the turned state, as parts to be joined by XOR: none depends on the state."""
    width = len(word)
    return _parities(word, [turned(next_state(0, 1 << bit, width), width) for bit in range(width)])


def stepped(state: Value, parts: Sequence[Value], width: int) -> Value:
    """Return the turned state after a word of `width` bits, of which the parts are known."""
    over = turned(next_state(_columns(width)[-1], 0, width), width)
    moved = [state[bit - 1] if bit else Const(0) for bit in range(CHECK_WIDTH)]
    return Cat(
        reduce(xor, (part[bit] for part in parts), each ^ state[-1] if over >> bit & 1 else each)
        for bit, each in enumerate(moved)
    )


def straight(state: Value, width: int) -> list[Value]:
    """Return what a turned state stands for, as parts to be joined by XOR."""
    return _parities(state, _columns(width))


def check_words(width: int) -> int:
    """Return the words of `width` bits that a check takes."""
    return -(-CHECK_WIDTH // width)


def last_state(width: int) -> int:
    """Return the state behind a check that is right, and the zeros that fill its last word."""
    state = 0
    for position in range(check_words(width)):
        state = next_state(state, START >> position * width & ((1 << width) - 1), width)
    return state
