"""The packets of the self-test: every bit follows from source, destination and sequence number.

The head flit is, from the least significant bit: destination address, source address, sequence number, and the
sequence number again, complemented every other time, up to the flit's width. Every later flit is :func:`mix` of the
one before, which loses nothing: one wrong bit anywhere is seen.
"""

from amaranth.hdl import Cat, Const, Value

from hdnhw.machine.flit import FlitFormat
from hdnhw.support.errors import SpecError

LFSR_WIDTH = 24
LFSR_TAPS = 0xE10000
"""Galois taps of x^24 + x^23 + x^22 + x^17 + 1, which is primitive."""

SHIFT, ROTATION = 3, 5


class HeadFormat:
    """Field positions of a head flit of the self-test.

    Attributes
    ----------
    address_width, flit_width : int
        Bits.
    sequence_width : int
        Bits of the sequence number, at most 8.

    Raises
    ------
    SpecError
        If source and destination do not fit into the head flit.
    """

    def __init__(self, flits: FlitFormat) -> None:
        self.address_width, self.flit_width = flits.address_width, flits.flit_width
        if self.flit_width < 2 * self.address_width:
            raise SpecError(
                f"flit width must be at least {2 * self.address_width} for the self-test, not {self.flit_width}"
            )
        self.sequence_width = min(8, self.flit_width - 2 * self.address_width)

    def pack(self, dst: Value, src: Value, sequence: Value) -> Value:
        """Return the head flit; `sequence` has ``sequence_width`` bits."""
        spare = self.flit_width - 2 * self.address_width
        copies = -(-spare // self.sequence_width) if spare else 0
        fill = Cat(~sequence if copy & 1 else sequence for copy in range(copies))
        return Cat(dst, src, fill[:spare])

    def dst(self, head: Value) -> Value:
        """Return the destination of a head flit."""
        return head[: self.address_width]

    def repack(self, head: Value) -> Value:
        """Return what the head flit should be, by its own destination, source and sequence number."""
        start = 2 * self.address_width
        src = head[self.address_width : start]
        return self.pack(self.dst(head), src, head[start : start + self.sequence_width])


def mix(flit: Value) -> Value:
    """Return the flit that follows `flit`: x ^ x << 3, rotated left by 5, complemented; one to one for every width."""
    width = len(flit)
    shifted = flit ^ Cat(Const(0, min(SHIFT, width)), flit)[:width]
    return ~shifted.rotate_left(ROTATION % width)


def lfsr_step(state: Value) -> Value:
    """Return the next state of a generator of random bits, of ``LFSR_WIDTH`` bits; 0 is no state."""
    return state[1:] ^ (state[0].replicate(LFSR_WIDTH) & LFSR_TAPS)
