"""The check bits of a flit: a cyclic redundancy check of Hamming distance 4, as sets of data bits to be joined by XOR.

A flit is the polynomial whose coefficient of x^i is its bit i. Its check bits are the remainder of that polynomial
times x^c, c their number, by the generator, and then inverted: a channel whose wires all stand at 0, or all at 1,
carries no good flit. Up to three wrong bits of a flit and its check bits are always seen, and c or fewer side by side;
of all patterns together one in 2^c is not.

References
----------
P. Koopman, "Best CRC Polynomials", users.ece.cmu.edu/~koopman/crc: 0x83 has distance 4 up to 119 data bits, the most
with 8 check bits; 0x8810 up to 32751 with 16. They are written here without the leading term.
"""

from functools import cache
from operator import index

_GENERATORS = ((119, 8, 0x07), (32751, 16, 0x1021))
"""Most data bits, check bits, and the generator without its leading term."""


def _generator(flit_width: int) -> tuple[int, int]:
    """Return the check bits of a flit and the generator without its leading term."""
    for most, width, low in _GENERATORS:
        if 1 <= index(flit_width) <= most:
            return width, low
    raise ValueError(f"flit width must be 1 to {_GENERATORS[-1][0]} bits, not {flit_width}")


def check_width(flit_width: int) -> int:
    """Return how many check bits a flit of `flit_width` bits has.

    Examples
    --------
    >>> [check_width(width) for width in (1, 32, 119, 120, 1024)]
    [8, 8, 8, 16, 16]
    """
    return _generator(flit_width)[0]


@cache
def check_sets(flit_width: int) -> tuple[tuple[int, ...], ...]:
    """Return for each check bit the data bits whose parity it is the inverse of.

    Examples
    --------
    >>> check_sets(8)[0]
    (0, 6, 7)
    """
    width, low = _generator(flit_width)
    sets: list[list[int]] = [[] for _ in range(width)]
    remainder = low  # of x^(position + width)
    for position in range(flit_width):
        for bit in range(width):
            if remainder >> bit & 1:
                sets[bit].append(position)
        remainder = (remainder << 1) ^ ((1 << width | low) if remainder >> (width - 1) else 0)
    return tuple(map(tuple, sets))


def check_of(flit: int, flit_width: int) -> int:
    """Return the check bits of a flit.

    Examples
    --------
    >>> hex(check_of(0x0, 32)), hex(check_of(0x1, 32))
    ('0xff', '0xf8')
    """
    parities = [sum(flit >> position & 1 for position in own) & 1 for own in check_sets(flit_width)]
    return sum((1 - parity) << bit for bit, parity in enumerate(parities))
