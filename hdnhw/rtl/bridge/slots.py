"""What the queues of a bridge have in common: where they are in the slots of a router, and their memories."""

from amaranth.hdl import Module, Signal, Value

from hdnhw.rtl.bits import equals, flit_codes, index_width, next_flit

UNCHECKED = {"no_rw_check": 1}
"""Of a memory: nobody reads a word in the cycle in which it is written."""


def phase_counter(m: Module, length: int, *, since: int, name: str) -> Signal:
    """Return the code of the cycles, modulo L, since one in each slot: 0 in cycle `since` after reset.

    See :func:`hdnhw.rtl.bits.next_flit` for the codes.
    """
    phase = Signal(index_width(length), name=name, init=flit_codes(length)[-since % length])
    m.d.sync += phase.eq(next_flit(phase, length))
    return phase


def is_phase(phase: Value, number: int, length: int) -> Value:
    """Return whether it is the cycle with this number, modulo L."""
    return equals(phase, flit_codes(length)[number % length])
